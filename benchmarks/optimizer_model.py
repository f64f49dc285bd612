"""A sample of queries with a model in the place of the double: what it finds, what it is sent,
and how long it takes.
"""

from __future__ import annotations

import asyncio
import random
import re
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.optimizer_queries import BenchQuery, draw, matching, row_f1
from benchmarks.optimizer_suites import SUITES, Suite, open_suite
from sliders.engine import QueryOutcome, run_query
from sliders.llm import Model


def measure_model(
    evals: Path,
    suites: Sequence[str],
    count: int,
    documents: int,
    minutes: float,
    *,
    seed: int,
    model: str | Model,
    **settings: Any,
) -> dict[str, float]:
    """F1 of rows and tokens of segments, with the model and with the double, over
    `count` queries in all.

    Args:
        suites: data sets, with about as many queries each.
        documents: of each data set; few, since a model on a small machine reads slowly.
        minutes: no further query is begun after so long; those done count.
        settings: of the workspaces, `base_url` for instance.
    """
    began, results = time.monotonic(), list[tuple[float, float, int, int, int]]()
    for number, name in enumerate(suites):
        share = count // len(suites) + (number < count % len(suites))
        with tempfile.TemporaryDirectory() as folder:
            suite = open_suite(
                name, evals, Path(folder), documents=documents, model=model, **settings
            )
            with suite.workspace:
                table = next(iter(suite.tables.values()))
                for query in draw(
                    name, table, share, random.Random(seed + list(SUITES).index(name))
                ):
                    if (time.monotonic() - began) / 60 < minutes:
                        results.append(asyncio.run(_one(suite, query)))
    if not results:
        return {"model_queries": 0}
    scores, gold, sent, expected, whole = zip(*results, strict=True)
    return {
        "model_queries": len(results),
        "model_f1": statistics.mean(scores),
        "double_f1": statistics.mean(gold),
        "model_vs_scan": sum(sent) / sum(whole),
        "double_vs_scan": sum(expected) / sum(whole),
        "model_seconds_per_query": (time.monotonic() - began) / len(results),
    }


async def _one(suite: Suite, query: BenchQuery) -> tuple[float, float, int, int, int]:
    """F1 with the model and with the double, tokens with each, and those of all documents."""
    wanted = matching(suite.tables[query.tables[0]], query.sql)
    session = suite.workspace.session
    double = await run_query(suite.reader().of(suite.workspace), query.sql, reuse=False)
    began = time.monotonic()
    found = await run_query(session, query.sql, reuse=False)
    scores = [
        row_f1(plain(result), [tuple(map(_plain, row)) for row in wanted])
        for result in (found, double)
    ]
    print(
        f"{suite.name} {query.sql}\n    F1 {scores[0]:.2f} (double {scores[1]:.2f}), "
        f"{found.tokens} tokens (double {double.tokens}) of {found.whole_tokens}, "
        f"{time.monotonic() - began:.0f} s",
        flush=True,
    )
    return scores[0], scores[1], found.tokens, double.tokens, found.whole_tokens


def plain(result: QueryOutcome) -> list[tuple[object, ...]]:
    """Rows without differences of case, white space and final points."""
    return [tuple(map(_plain, row)) for row in result.rows]


def _plain(value: object) -> object:
    if isinstance(value, str):
        return re.sub(r"\s+", " ", value).strip(" .").casefold()
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
