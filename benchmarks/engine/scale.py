"""The whole pipeline over real documents with the scripted model: minutes, memory, size, and a warm
question afterwards.
"""

from __future__ import annotations

import math
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import sliders
from benchmarks.engine.server import Server
from benchmarks.engine.stages import MODEL
from sliders.engine import silent
from sliders.progress import Progress

COLD = "How many judgments state the case name, the judge, the hearing date and the judgment date?"
AGAIN = "How many judgments state a judge and a judgment date?"
_LINE_SECONDS = 20.0


class _Clock:
    """When each stage was last seen at work, from the progress that the engine reports."""

    def __init__(self, shown: bool, watch: Callable[[Progress], None] = silent) -> None:
        self.seconds: dict[str, float] = {}
        self._shown, self._last, self._line, self._watch = shown, time.perf_counter(), 0.0, watch

    def __call__(self, progress: Progress) -> None:
        self._watch(progress)
        now = time.perf_counter()
        self.seconds[progress.stage] = self.seconds.get(progress.stage, 0.0) + now - self._last
        self._last = now
        if self._shown and now - self._line > _LINE_SECONDS:
            self._line = now
            print(
                f"{progress.stage} {progress.done}/{progress.total}, {peak_mb():.0f} MB",
                file=sys.stderr,
            )


def peak_mb() -> float:
    """The most memory that this process held so far, in MB (the kernel counts kibibytes)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def scale(
    files: Sequence[Path],
    workspace: Path,
    latency: float = 0.2,
    slots: int = 64,
    shown: bool = False,
    executor: str = "local",
    watch: Callable[[Progress], None] = silent,
) -> dict[str, float]:
    """Add the files to a new workspace and ask one question over all of them;
    run it in a process of its own.

    `watch` is told of progress as it comes.
    """
    clock = _Clock(shown, watch)
    began, processor = time.perf_counter(), time.process_time()
    with Server(latency) as server:
        with _open(workspace, server, slots, clock, executor) as ws:
            ws.add(files)
            added = time.perf_counter()
            answer = ws.ask(COLD)
            asked = time.perf_counter()
            database = ws.session.catalog.database
            counts = {
                name: database.value(f"SELECT count(*) FROM {relation}")
                for name, relation in _COUNTED.items()
            }
        counted = server.counts()
    characters = sum(path.stat().st_size for path in files)
    return {
        "minutes": (time.perf_counter() - began) / 60,
        "peak_mb": peak_mb(),
        "db_mb": workspace.stat().st_size / 1e6,
        "tokens": characters / 4,
        "add_s": added - began,
        "ask_s": asked - added,
        **{f"stage_s.{name}": seconds for name, seconds in clock.seconds.items()},
        "cpu_s": time.process_time() - processor,
        "calls": counted["calls"],
        "most_in_flight": counted["most_in_flight"],
        "answered": float(answer.value is not None),
        **{name: float(count) for name, count in counts.items()},
    }


_COUNTED = {
    "documents": "sl_documents",
    "chunks": "sl_chunks",
    "rows": "sl_rows",
    "cells": "sl_cells",
    "decisions": "sl_decisions",
}


def warm(workspace: Path, slots: int = 64) -> dict[str, float]:
    """Questions over the tables that stand, in a process that starts with them.

    Returns:
        `warm_s`: a new question over the known columns in an open workspace, without the
            model's own seconds;
        `warm_same_s`: the first question again; `warm_open_s`: opening the file and the first
            question of the process.
    """
    with Server(0.0) as server:
        began = time.perf_counter()
        with _open(workspace, server, slots, _Clock(False)) as ws:
            first = _outside(ws, COLD)
            opened = time.perf_counter() - began
            calls = server.counts()[
                "calls"
            ]  # of hints and SQL: another port is another server, so the cache does not hold it
            same = _outside(ws, COLD)
            again = server.counts()["calls"] - calls
            new = _outside(ws, AGAIN)
    return {
        "warm_s": new,
        "warm_same_s": same,
        "warm_first_s": first,
        "warm_open_s": opened,
        "warm_first_calls": calls,
        "warm_same_calls": again,
        "warm_peak_mb": peak_mb(),
    }


def _outside(ws: Any, question: str) -> float:
    began = time.perf_counter()
    answer = ws.ask(question)
    return time.perf_counter() - began - float(answer.usage.seconds)


def _open(
    path: Path, server: Server, slots: int, clock: _Clock, executor: str = "local"
) -> sliders.Workspace:
    path.parent.mkdir(parents=True, exist_ok=True)
    return sliders.Workspace(
        path,
        model=MODEL,
        base_url=server.base_url,
        api_key="scripted",
        concurrency=slots,
        report=clock,
        executor=executor,
        documents_per_call=1,  # what is measured is the engine: many calls
    )


def exponent(runs: Sequence[Mapping[str, float]], of: str = "minutes") -> float:
    """The power of the number of tokens by which a figure grows: the least-squares
    slope of both logarithms.

    Raises:
        ValueError: fewer than two sizes.
    """
    if len({run["tokens"] for run in runs}) < 2:
        raise ValueError("growth needs runs of two sizes at least")
    sizes = [math.log(run["tokens"]) for run in runs]
    costs = [math.log(run[of]) for run in runs]
    middle, mean = sum(sizes) / len(sizes), sum(costs) / len(costs)
    above = sum((x - middle) * (y - mean) for x, y in zip(sizes, costs, strict=True))
    return above / sum((x - middle) ** 2 for x in sizes)
