"""The process that asks the questions of sets over one checkout:
`python -m benchmarks.economy.child CHECKOUT EVALS SET...`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from benchmarks.checkout import use_package_of

READING = "extract"


@dataclass(slots=True)
class Meter:
    """What the requests of one set took: calls, prompt tokens and generated tokens by stage.

    `repeated` and `compared` are characters of reading prompts: those equal to the prompt
    before, and all of them.
    """

    calls: dict[str, int] = field(default_factory=dict)
    prompt_tokens: dict[str, int] = field(default_factory=dict)
    reply_tokens: dict[str, int] = field(default_factory=dict)
    repeated: int = 0
    compared: int = 0
    last: str = ""

    def count(self, stage: str, prompt: str, prompt_tokens: int, reply_tokens: int) -> None:
        """Add one call."""
        self.calls[stage] = self.calls.get(stage, 0) + 1
        self.prompt_tokens[stage] = self.prompt_tokens.get(stage, 0) + prompt_tokens
        self.reply_tokens[stage] = self.reply_tokens.get(stage, 0) + reply_tokens
        if stage == READING:
            if self.last:
                self.repeated += equal_characters(self.last, prompt)
                self.compared += len(prompt)
            self.last = prompt


def equal_characters(before: str, prompt: str) -> int:
    """Characters of the lines that a prompt shares with the one before it, in their order."""
    old, new = before.splitlines(keepends=True), prompt.splitlines(keepends=True)
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return sum(len(line) for block in blocks for line in new[block.b : block.b + block.size])


def measure(sliders: Any, world: Any) -> dict[str, Any]:
    """All questions of a world asked together with the perfect reader: the meter's counts and what
    was read of the documents.
    """
    from benchmarks.fidelity.reader import PerfectReader
    from sliders.llm import token_counter
    from sliders.llm.testing import FunctionModel

    reader, meter, count = PerfectReader(world), Meter(), token_counter("gpt-4o")

    def reply(request: Any) -> Any:
        prompt = "\n".join(message.content for message in request.messages)
        said = reader.reply(request)
        text = (
            said
            if isinstance(said, str)
            else json.dumps(said, ensure_ascii=False, separators=(",", ":"))
        )
        meter.count(request.stage, prompt, count(prompt), count(text))
        return said

    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in world.documents]
        for path, text in zip(files, world.documents.values(), strict=True):
            path.write_text(text, encoding="utf-8")
        model = FunctionModel(reply, name="perfect-reader", context_tokens=128_000)
        with sliders.Workspace(Path(folder, "workspace.db"), model=model) as workspace:
            workspace.add([str(path) for path in files])
            asked = [question.question for question, _ in world.questions]
            answers = workspace.ask_many(asked)
            parts, read = _parts(workspace)
    tokens = sum(meter.prompt_tokens.values()) + sum(meter.reply_tokens.values())
    return {
        "set": world.name,
        "questions": len(asked),
        "answered": sum(a.status == "answered" for a in answers),
        "calls": sum(meter.calls.values()),
        "tokens": tokens,
        "calls_by_stage": meter.calls,
        "prompt_tokens_by_stage": meter.prompt_tokens,
        "reply_tokens_by_stage": meter.reply_tokens,
        "repeated_characters": meter.repeated,
        "compared_characters": meter.compared,
        "parts": parts,
        "parts_read": read,
        "document_tokens": sum(map(count, world.documents.values())),
    }


def _parts(workspace: Any) -> tuple[int, int]:
    """Parts of the documents, and those that a reader was shown for a table."""
    database = workspace.session.catalog.database
    (parts,) = database.query("SELECT COUNT(*) FROM sl_chunks WHERE active = 1")[0]
    (read,) = database.query("SELECT COUNT(DISTINCT chunk_key) FROM sl_tasks WHERE state = 'done'")[
        0
    ]
    return parts, read


def main(argv: Sequence[str]) -> None:
    """Print a JSON line for each set."""
    sliders = use_package_of(Path(argv[0]).resolve())
    from benchmarks.fidelity.gold import suite_world

    for name in argv[2:]:
        print(json.dumps(measure(sliders, suite_world(Path(argv[1], name), True))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
