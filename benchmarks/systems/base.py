"""What a system is asked and what it returns. Standard library only: peers load it in
their own environments.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

SHORT_ANSWER = (
    "Answer with the bare value only: a number, a name, a date as YYYY-MM-DD, yes or no, a JSON "
    'list, or a JSON list of rows. If the text does not hold the answer, write "not found".'
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as a system sees it: nothing of the gold answer."""

    id: str
    question: str


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer of a system and what it cost. `seconds` is wall time, `cost` USD;
    `error` is set when it failed.

    `range_low` and `range_high` are what the system says that a number could be, `doubts` how many
    doubts stand beside it.
    """

    id: str
    status: str
    value: Any = None
    text: str = ""
    sql: str = ""
    citations: list[dict[str, Any]] = field(default_factory=list)
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    phase: str = "cold"
    error: str = ""
    range_low: float | None = None
    range_high: float | None = None
    doubts: int = 0


@dataclass(frozen=True, slots=True)
class Task:
    """One run: documents, questions, the endpoint, and the phases asked for
    ("cold", "warm", "batch").
    """

    documents: tuple[Path, ...]
    questions: tuple[Asked, ...]
    base_url: str
    model: str
    work: Path
    mode: str = "cold"
    options: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """One line for a child process."""
        return json.dumps(asdict(self), default=str, ensure_ascii=False)

    @staticmethod
    def from_json(line: str) -> Task:
        """The task of a line that `to_json` wrote."""
        data = json.loads(line)
        data["documents"] = tuple(Path(p) for p in data["documents"])
        data["questions"] = tuple(Asked(**q) for q in data["questions"])
        data["work"] = Path(data["work"])
        return Task(**data)


def bare_value(text: str) -> Any:
    """The value of a short textual answer: a JSON literal where it is one, else the words
    after the last "Answer:".
    """
    words = text.strip()
    if "answer:" in words.lower():
        words = words[words.lower().rindex("answer:") + len("answer:") :].strip()
    words = words.strip("`").removeprefix("json").strip().strip("*").strip()
    try:
        return json.loads(words)
    except ValueError:
        return words


def answered(
    asked: Asked, text: str, seconds: float, sql: str = "", phase: str = "cold"
) -> Answered:
    """An answer out of a model's words; "not found" is an abstention."""
    value = bare_value(text)
    refused = isinstance(value, str) and value.casefold().strip(" .") in {
        "",
        "not found",
        "null",
        "none",
        "n/a",
    }
    return Answered(
        asked.id,
        "not_found" if refused or value is None else "answered",
        None if refused else value,
        text,
        sql,
        seconds=round(seconds, 3),
        phase=phase,
    )


PREPARED = Answered("", "prepared")  # what came before it (a warm-up, say) is not counted


def serve(run: Callable[[Task], Iterator[Answered]]) -> int:
    """Body of a system script: one task on standard input, one JSON line a
    question on standard output.

    After each line it waits for one from the harness, which has then read its counters. An
    exception ends the script with a non-zero code and its traceback; the harness reports
    the rest as failing.
    """
    task = Task.from_json(sys.stdin.readline())
    started = time.perf_counter()
    for answer in run(task):
        sys.stdout.write("@@" + json.dumps(asdict(answer), default=str, ensure_ascii=False) + "\n")
        sys.stdout.flush()
        sys.stdin.readline()
    sys.stderr.write(f"done in {time.perf_counter() - started:.1f} s\n")
    return 0
