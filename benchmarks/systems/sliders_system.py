"""`sliders` itself: cold, warm, batch, and the cells run with a pinned schema."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.systems.base import PREPARED, Answered, Asked, Task, serve
from sliders.errors import SlidersError
from sliders.llm import Usage
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType

# What a bug in the measured package can raise: reported as a failure of that question,
# never as a wrong answer.
CRASHES = (
    SlidersError,
    OSError,
    ValueError,
    LookupError,
    RuntimeError,
    TypeError,
    AttributeError,
    ArithmeticError,
)


def _open(path: Path, model: str, base_url: str) -> Any:
    import sliders

    options: dict[str, Any] = {"base_url": base_url} if base_url else {}
    if base_url and model == "local":
        options["concurrency"] = 1  # the embedded model's server has one slot
    return sliders.Workspace(path, model=model or None, **options)


def plain(value: Any) -> Any:
    """A value as JSON holds it: frames become rows, numpy scalars numbers, dates ISO text."""
    if isinstance(value, pd.DataFrame):
        return [[plain(cell) for cell in row] for row in value.to_numpy().tolist()]
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value.item() if hasattr(value, "item") else value


def _citation(citation: Any) -> dict[str, Any]:
    return {name: plain(getattr(citation, name, None)) for name in ("document", "page", "quote")}


def _minus(after: Usage, before: Usage) -> Usage:
    return Usage(
        after.calls - before.calls,
        after.cached_calls - before.cached_calls,
        after.prompt_tokens - before.prompt_tokens,
        after.completion_tokens - before.completion_tokens,
        after.seconds - before.seconds,
        after.cost - before.cost,
    )


def _as_answered(asked: Asked, answer: Any, usage: Usage, seconds: float, phase: str) -> Answered:
    return Answered(
        id=asked.id,
        status=str(getattr(answer.status, "value", answer.status)),
        value=plain(answer.value),
        text=str(answer.text or ""),
        sql=str(answer.sql or ""),
        citations=[_citation(c) for c in answer.citations or ()],
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        seconds=round(seconds, 3),
        cost=usage.cost,
        phase=phase,
        range_low=answer.range.low if getattr(answer, "range", None) else None,
        range_high=answer.range.high if getattr(answer, "range", None) else None,
        doubts=len(getattr(answer, "doubts", ())),
    )


def _failure(
    asked: Asked, error: BaseException, usage: Usage, seconds: float, phase: str
) -> Answered:
    said = f"{type(error).__name__}: {error}"
    return Answered(
        asked.id,
        "failed",
        text=said,
        error=said,
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        seconds=round(seconds, 3),
        cost=usage.cost,
        phase=phase,
    )


def pinned(schema: Mapping[str, Any]) -> Schema:
    """The schema value of `benchmarks.cells.pinned_schema`, every part pinned."""
    return Schema(
        tuple(
            Table(
                name=table["name"],
                columns=tuple(
                    Column(c["name"], ColumnType(c["type"]), pinned=True) for c in table["columns"]
                ),
                grain=table["grain"],
                pinned=True,
            )
            for table in schema["tables"]
        )
    )


@dataclass(slots=True)
class SlidersSystem:
    """Drives `sliders.Workspace`; `opener` is replaced by tests.

    Every question of one document set shares one workspace file in `work`, so the same call goes
    on where it stopped.
    """

    model: str = "local"
    base_url: str = ""
    work: Path = Path("benchmarks/out/work")
    opener: Callable[[Path, str, str], Any] = _open
    usage: Usage = field(default_factory=Usage)

    def _workspace(self, name: str) -> Any:
        self.work.mkdir(parents=True, exist_ok=True)
        return self.opener(self.work / f"{name}.db", self.model, self.base_url)

    def answers(
        self,
        documents: Sequence[Path],
        questions: Sequence[Asked],
        mode: str = "warm",
        name: str = "answers",
    ) -> Iterator[Answered]:
        """Answers in order: "warm" all in one workspace (the first is cold), "cold" one
        each, "batch" at once.
        """
        if mode == "cold":
            for i, asked in enumerate(questions):
                yield from self._one_workspace(documents, [asked], f"{name}-{i}", "cold")
        else:
            yield from self._one_workspace(documents, questions, name, mode)

    def _one_workspace(
        self, documents: Sequence[Path], questions: Sequence[Asked], name: str, mode: str
    ) -> Iterator[Answered]:
        started = time.perf_counter()
        try:
            workspace = self._workspace(name)
        except CRASHES as error:
            yield from (_failure(q, error, Usage(), 0.0, mode) for q in questions)
            return
        with workspace as ws:
            try:
                ws.add([str(d) for d in documents])
            except CRASHES as error:
                yield from (_failure(q, error, Usage(), 0.0, mode) for q in questions)
                return
            if mode == "batch":
                yield from self._batch(ws, questions, started)
                return
            for i, asked in enumerate(questions):
                yield self._ask(
                    ws,
                    asked,
                    started if i == 0 else time.perf_counter(),
                    "cold" if i == 0 else "warm",
                )

    def _ask(self, ws: Any, asked: Asked, started: float, phase: str) -> Answered:
        try:
            answer = ws.ask(asked.question)
        except CRASHES as error:
            self.usage += ws.usage
            return _failure(asked, error, ws.usage, time.perf_counter() - started, phase)
        self.usage += ws.usage
        return _as_answered(asked, answer, ws.usage, time.perf_counter() - started, phase)

    def _batch(self, ws: Any, questions: Sequence[Asked], started: float) -> Iterator[Answered]:
        try:
            answers = ws.ask_many([q.question for q in questions])
        except CRASHES as error:
            yield from (_failure(q, error, Usage(), 0.0, "batch") for q in questions)
            return
        used = ws.usage  # of the last run, as the package counts it
        self.usage += used
        share = (time.perf_counter() - started) / max(1, len(questions))
        own = sum((answer.usage for answer in answers), Usage())
        shared = _minus(used, own) if used.tokens > own.tokens else Usage()
        for i, (asked, answer) in enumerate(
            zip(questions, answers, strict=True)
        ):  # the first one carries what all share
            yield _as_answered(
                asked, answer, answer.usage + shared if i == 0 else answer.usage, share, "batch"
            )

    def tables(
        self, documents: Sequence[Path], schema: Mapping[str, Any], name: str = "cells"
    ) -> tuple[dict[str, pd.DataFrame], Usage, float]:
        """The tables of a pinned schema, what they cost, and the seconds.

        Raises:
            SlidersError: as the package does.
        """
        started = time.perf_counter()
        with self._workspace(name) as ws:
            ws.add([str(d) for d in documents])
            ws.pin_schema(pinned(schema))
            ws.extract()
            found = {}
            for table in schema["tables"]:
                if table["name"] in set(ws.tables):
                    found[table["name"]] = ws.tables[table["name"]]
            used = ws.usage
        self.usage += used
        return found, used, time.perf_counter() - started


def run(task: Task) -> Iterator[Answered]:
    """Body of the script that `benchmarks.compare` starts."""
    system = SlidersSystem(task.model, task.base_url, task.work)
    if task.mode == "warm":
        # A first pass pays for extraction. The measured one knows the tables but not the
        # answers: calls are kept by address, so at another address of the same proxy every
        # answering call is made again.
        list(system.answers(task.documents, task.questions, "warm"))
        yield PREPARED
        system.base_url = task.base_url.removesuffix("/v1") + "/again/v1"
    yield from system.answers(task.documents, task.questions, task.mode)


if __name__ == "__main__":
    raise SystemExit(serve(run))
