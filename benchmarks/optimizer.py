"""The optimizer: tokens a query and F1 of its rows, against scanning everything, plain
retrieval and other orders.

    python -m benchmarks.optimizer [--evals DIR] [--queries 60] [--json FILE]
    python -m benchmarks.optimizer --model local [--base-url URL] [--sample 10] [--documents 8]
        [--minutes 30]

A gold-backed double answers (`gold_reader.py`), so order and cost are measured exactly. Tokens are
those of the segments that are sent, the sample included; every query starts from nothing. Queries
are drawn with a fixed seed. With `--model` a model answers a few queries over a few documents of
each suite, and the same queries run with the double beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.optimizer_joins import join_queries, joins_measured
from benchmarks.optimizer_model import measure_model
from benchmarks.optimizer_orders import (
    OrderPolicy,
    by_average_cost,
    by_selectivity,
    exhaustive,
    ordered,
    shuffled,
    true_selectivities,
)
from benchmarks.optimizer_queries import BenchQuery, draw, holds, matching, row_f1
from benchmarks.optimizer_suites import JOIN, LONG, SUITES, Suite, open_suite
from sliders.engine import description_vector, run_query
from sliders.query import And, Filter, order, parse_query

SEED = 20
TOP = 3


def strategies(suite: Suite, query: BenchQuery) -> dict[str, tuple[OrderPolicy | None, bool]]:
    """The engine under each order, and whether it asks for attributes one by one;
    only ours asks for them together.
    """
    known = true_selectivities(suite.tables[query.tables[0]], query.sql)
    return {
        "selectivity order": (by_selectivity, True),
        "average-cost order": (by_average_cost, True),
        "random order": (shuffled(query.seed), True),
        "exhaustive best order": (exhaustive(known), True),
        "ours, one attribute a call": (None, True),
        "ours": (None, False),
    }


async def measure(suite: Suite, query: BenchQuery) -> dict[str, tuple[int, float, int]]:
    """Tokens, F1 and calls by strategy."""
    gold = suite.tables[query.tables[0]]
    wanted = matching(gold, query.sql)
    found = {
        "scan everything": await scan(suite, query, None),
        "plain retrieval": await scan(suite, query, TOP),
    }
    measured = {
        name: (tokens, row_f1(rows, wanted), calls) for name, (tokens, rows, calls) in found.items()
    }
    for name, (policy, one_by_one) in strategies(suite, query).items():
        reader = suite.reader()
        with ordered(policy, one_by_one):
            result = await run_query(reader.of(suite.workspace), query.sql, reuse=False)
        measured[name] = (reader.tokens, row_f1(result.rows, wanted), reader.calls)
    return measured


async def scan(
    suite: Suite, query: BenchQuery, top: int | None
) -> tuple[int, list[tuple[Any, ...]], int]:
    """Every attribute of every document: from all of its text in one call, or each from its
    `top` nearest segments.
    """
    gold, reader, rows = suite.tables[query.tables[0]], suite.reader(), []
    use = parse_query(query.sql, [gold.table]).tables[0]
    for document_id in suite.index.entries:
        document = suite.workspace.session.catalog.documents.get(document_id)
        values: dict[str, Any] = {}
        columns = [gold.table.column(name) for name in use.attributes]
        if top is None:
            every = list(range(len(suite.index.sizes(document_id))))
            found = reader.cells(
                document, gold.table, columns, suite.index.places(document_id, every)
            )
            values = {cell.column: cell.value for cell in found}
        for column in columns if top is not None else ():
            near = suite.index.vectors(document_id) @ description_vector(
                suite.index.embedder, gold.table, column
            )
            chosen = sorted(np.argsort(-near, kind="stable")[:top].tolist())
            found = reader.cells(
                document, gold.table, [column], suite.index.places(document_id, chosen)
            )
            values[column.name] = found[0].value
        if any(value is not None for value in values.values()) and holds(use.where, values):
            rows.append(tuple(values[name] for name in use.select))
    return reader.tokens, rows, reader.calls


def planning_ms(filters: int = 10, documents: int = 2_000) -> float:
    """Milliseconds that ordering a document's filters takes, costs from its
    own segments included.
    """
    generator = np.random.default_rng(SEED)
    leaves = [Filter(f"a{n} = {n}", (f"a{n}",)) for n in range(filters)]
    tree = And(tuple(leaves))
    shares = {
        leaf.key: float(p) for leaf, p in zip(leaves, generator.uniform(size=filters), strict=True)
    }
    centres = [generator.normal(size=(3, 384)).astype(np.float32) for _ in leaves]
    vectors = generator.normal(size=(40, 384)).astype(np.float32)
    from sliders.query import expected_tokens, rounds
    from sliders.retrieval import distances_to

    began = time.perf_counter()
    for _ in range(documents):
        costs = {}
        for leaf, centre in zip(leaves, centres, strict=True):
            sequence = np.argsort(distances_to(vectors, centre), kind="stable")
            plan = rounds([50] * len(sequence), 1.0)
            costs[leaf.key] = expected_tokens(plan, 0.9, [1 - 0.5**u for u in plan.upto], 0)
        order(tree, lambda leaf: shares[leaf.key], lambda leaf: costs[leaf.key])  # noqa: B023
    return (time.perf_counter() - began) * 1000 / documents


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--evals", type=Path, default=Path(os.environ.get("SLIDERS_EVALS", "evals"))
    )
    parser.add_argument(
        "--cache", type=Path, default=Path(tempfile.gettempdir()) / "sliders-optimizer"
    )
    parser.add_argument("--queries", type=int, default=60, help="over all suites with one table")
    parser.add_argument("--suites", nargs="*", default=list(SUITES))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--each", action="store_true", help="print every query")
    parser.add_argument("--model", help="ask a model, not the double: a name, or local")
    parser.add_argument("--base-url", help="the server of the model")
    parser.add_argument("--sample", type=int, default=10, help="queries with a model")
    parser.add_argument(
        "--documents", type=int, default=8, help="documents of a suite with a model"
    )
    parser.add_argument(
        "--minutes", type=float, default=30.0, help="with a model: no further query after so long"
    )
    arguments = parser.parse_args()
    if arguments.model:
        figures = measure_model(
            arguments.evals,
            [name for name in arguments.suites if name != JOIN],
            arguments.sample,
            arguments.documents,
            arguments.minutes,
            seed=SEED,
            model=arguments.model,
            **({"base_url": arguments.base_url} if arguments.base_url else {}),
        )
    else:
        figures = asyncio.run(run(arguments))
    for name, value in figures.items():
        print(f"{name:32} {value:,.4g}" if isinstance(value, float) else f"{name:32} {value:,}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")


async def run(arguments: argparse.Namespace) -> dict[str, float]:
    """All figures."""
    results: list[tuple[BenchQuery, dict[str, tuple[int, float, int]]]] = []
    single = [name for name in arguments.suites if name != JOIN]
    figures: dict[str, float] = {}
    for number, name in enumerate(single):
        suite = open_suite(name, arguments.evals, arguments.cache)
        with suite.workspace:
            gold = next(iter(suite.tables.values()))
            count = arguments.queries // len(single)
            for query in draw(name, gold, count, random.Random(SEED + number)):
                measured = await measure(suite, query)
                results.append((query, measured))
                if arguments.each:
                    print(query.group, query.sql)
                    print("   ", {k: (t, round(f, 3)) for k, (t, f, _) in measured.items()})
    if results:
        figures |= summary(results)
    if JOIN in arguments.suites:
        suite = open_suite(JOIN, arguments.evals, arguments.cache)
        with suite.workspace:
            joined = await joins_measured(
                suite, join_queries(suite, random.Random(SEED)), arguments.each
            )
        figures |= joined
    figures["plan_ms_per_document"] = planning_ms()
    figures["queries"] = len(results) + int(figures.get("join_queries", 0))
    return figures


def summary(
    results: Sequence[tuple[BenchQuery, dict[str, tuple[int, float, int]]]],
) -> dict[str, float]:
    """Tables on the terminal, and the flat figures."""
    names = list(results[0][1])
    print(
        f"{'mean tokens a query (F1)':28}"
        + "".join(f"{suite[:20]:>24}" for suite in SUITES if suite != JOIN)
    )
    for name in names:
        line = ""
        for suite in SUITES:
            part = [m[name] for q, m in results if q.suite == suite]
            if part:
                tokens, score = (
                    statistics.mean(t for t, _, _ in part),
                    statistics.mean(f for _, f, _ in part),
                )
                line += f"{tokens:>15,.0f} ({score:.3f})"
        print(f"{name:28}{line}")
    for group in dict.fromkeys(q.group for q, _ in results):
        part = [m for q, m in results if q.group == group]
        means = {name: statistics.mean(m[name][0] for m in part) for name in names}
        print(group, {name: round(value) for name, value in means.items()})

    def total(name: str, suites: Sequence[str]) -> float:
        return sum(m[name][0] for q, m in results if q.suite in suites)

    every = list(SUITES)
    short = [s for s in SUITES if s != LONG]
    loss = [m["scan everything"][1] - m["ours"][1] for _, m in results]
    figures = {
        "ours_vs_exhaustive": total("ours, one attribute a call", every)
        / total("exhaustive best order", every),
        "fused_vs_unfused": total("ours", every) / total("ours, one attribute a call", every),
        "f1_loss_vs_scan": statistics.mean(loss),
        "f1_loss_retrieval": statistics.mean(
            m["scan everything"][1] - m["plain retrieval"][1] for _, m in results
        ),
    }
    if any(q.suite == LONG for q, _ in results):
        figures["long_vs_scan"] = total("ours", [LONG]) / total("scan everything", [LONG])
    if any(q.suite in short for q, _ in results):
        figures["short_vs_scan"] = total("ours", short) / total("scan everything", short)
    for name in ("plain retrieval", "selectivity order", "average-cost order", "random order"):
        figures[f"ours_vs_{name.replace(' ', '_').replace('-', '_')}"] = total(
            "ours, one attribute a call", every
        ) / total(name, every)
    return figures


if __name__ == "__main__":
    main()
