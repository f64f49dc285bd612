"""The process that asks the questions of sets over one checkout:
`python -m benchmarks.economy.child CHECKOUT EVALS SET...`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from benchmarks.checkout import use_package_of

READING = "extract"
_COMPACT: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":")}


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

    def over(
        self, reply: Callable[[Any], Any], count: Callable[[str], int]
    ) -> Callable[[Any], Any]:
        """The replies of a reader, each call counted with its tokens."""

        def counted(request: Any) -> Any:
            prompt = "\n".join(message.content for message in request.messages)
            said = reply(request)
            text = said if isinstance(said, str) else json.dumps(said, **_COMPACT)
            self.count(request.stage, prompt, count(prompt), count(text))
            return said

        return counted

    def figures(self) -> dict[str, Any]:
        """The counts, by the names of the figures."""
        return {
            "calls": sum(self.calls.values()),
            "tokens": sum(self.prompt_tokens.values()) + sum(self.reply_tokens.values()),
            "calls_by_stage": self.calls,
            "prompt_tokens_by_stage": self.prompt_tokens,
            "reply_tokens_by_stage": self.reply_tokens,
            "repeated_characters": self.repeated,
            "compared_characters": self.compared,
        }


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
    from sliders.llm import FULL, token_counter
    from sliders.llm.testing import FunctionModel

    count = token_counter("gpt-4o")
    reader, meter = PerfectReader(world), Meter()
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in world.documents]
        for path, text in zip(files, world.documents.values(), strict=True):
            path.write_text(text, encoding="utf-8")
        reply = meter.over(reader.reply, count)
        model = FunctionModel(reply, name="perfect-reader", context_tokens=128_000, dialect=FULL)
        with sliders.Workspace(Path(folder, "workspace.db"), model=model) as workspace:
            workspace.add([str(path) for path in files])
            asked = [question.question for question, _ in world.questions]
            answers = workspace.ask_many(asked)
            parts, read = _parts(workspace)
    return meter.figures() | {
        "set": world.name,
        "questions": len(asked),
        "answered": sum(a.status == "answered" for a in answers),
        "parts": parts,
        "parts_read": read,
        "document_tokens": sum(map(count, world.documents.values())),
    }


def measure_reports(
    sliders: Any, evals: Path, facts: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """All questions asked together over the annual reports (or those of `facts`), with a reader
    that answers from its prompts alone: as for a world, the pages, and the gold values whose part
    was shown.
    """
    from benchmarks.economy.reports import FOLDER, NAME, ReportsReader, load
    from sliders.llm import token_counter
    from sliders.llm.testing import FunctionModel

    facts, meter, count = facts or load(), Meter(), token_counter("gpt-4o")
    reader = ReportsReader(facts)
    reply = meter.over(reader.reply, count)
    model = FunctionModel(reply, name="reports-reader", context_tokens=128_000)
    with (
        tempfile.TemporaryDirectory() as folder,
        sliders.Workspace(Path(folder, "workspace.db"), model=model) as workspace,
    ):
        workspace.add([str(evals / FOLDER / f"{name}.pdf") for name in facts["documents"]])
        answers = workspace.ask_many([one["text"] for one in facts["questions"]])
        parts, read = _parts(workspace)
        stored = workspace.session.catalog.documents
        texts = [stored.text(document.id) for document in stored.all()]
        ((pages,),) = workspace.session.catalog.database.query("SELECT COUNT(*) FROM sl_pages")
    missed = reader.missed()
    return meter.figures() | {
        "set": NAME,
        "questions": len(answers),
        "answered": sum(answer.status == "answered" for answer in answers),
        "parts": parts,
        "parts_read": read,
        "document_tokens": sum(map(count, texts)),
        "pages": pages,
        "gold_values": sum(map(len, facts["documents"].values())),
        "missed": missed,
    }


def measure_queries(sliders: Any) -> dict[str, Any]:
    """SQL over the advisories, one query after the other, with the perfect reader."""
    from benchmarks.economy.queries import DESCRIBE, NAME, QUERIES, expected, world
    from benchmarks.fidelity.reader import PerfectReader
    from sliders.llm import FULL, token_counter
    from sliders.llm.testing import FunctionModel

    of, meter, count = world(), Meter(), token_counter("gpt-4o")
    reply = meter.over(PerfectReader(of).reply, count)
    model = FunctionModel(reply, name="perfect-reader", context_tokens=128_000, dialect=FULL)
    with (
        tempfile.TemporaryDirectory() as folder,
        sliders.Workspace(Path(folder, "workspace.db"), model=model) as workspace,
    ):
        for name, text in of.documents.items():
            workspace.add_text(text, name)
        frames = [workspace.query(query, describe=DESCRIBE) for query in QUERIES]
        parts, read = _parts(workspace)
    found = [sorted(frame.itertuples(index=False, name=None)) for frame in frames]
    return meter.figures() | {
        "set": NAME,
        "questions": len(QUERIES),
        "answered": sum(a == b for a, b in zip(found, expected(), strict=True)),
        "parts": parts,
        "parts_read": read,
        "document_tokens": sum(map(count, of.documents.values())),
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
    from benchmarks.economy.queries import NAME as QUERIES
    from benchmarks.economy.reports import NAME as REPORTS
    from benchmarks.fidelity.gold import suite_world

    for name in argv[2:]:
        if name == QUERIES:
            figures = measure_queries(sliders)
        elif name == REPORTS:
            figures = measure_reports(sliders, Path(argv[1]))
        else:
            figures = measure(sliders, suite_world(Path(argv[1], name), True))
        print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
