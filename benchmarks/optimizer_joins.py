"""Joins in the optimizer's benchmark: ours against filter push-down and against the best plan with
known selectivities.
"""

from __future__ import annotations

import random
from contextlib import nullcontext
from typing import TYPE_CHECKING
from unittest.mock import patch

from benchmarks.optimizer_queries import BenchQuery, condition, holds, row_f1
from sliders.engine import Running, run_query
from sliders.engine import query_joins as linking
from sliders.query import NextJoin, leaves, parse_query

if TYPE_CHECKING:
    from benchmarks.optimizer_suites import Suite

_COUNT = 12
_CITY_FILTERS = (("state",), ("population",), ("state", "population"))


def join_queries(suite: Suite, random_: random.Random) -> list[BenchQuery]:
    """Joins with filters on both tables, as in the paper's example; those with an empty
    result are drawn again.
    """
    teams, cities = suite.tables["teams"], suite.tables["cities"]
    queries: list[BenchQuery] = []
    while len(queries) < _COUNT:
        parts = ["t." + condition(teams, "team", random_, False)]
        parts += [
            "c." + condition(cities, name, random_, False) for name in random_.choice(_CITY_FILTERS)
        ]
        where = " AND ".join(parts)
        sql = (
            "SELECT t.team, c.population FROM teams t JOIN cities c ON t.city = "
            f"c.city WHERE {where}"
        )
        if gold_rows(suite, sql) and selective(suite, sql):
            queries.append(BenchQuery(suite.name, sql, "join", ("teams", "cities"), len(queries)))
    return queries


def selective(suite: Suite, sql: str) -> bool:
    """Whether every filter drops at least half of its table: a filter that keeps all is none."""
    query = parse_query(sql, [table.table for table in suite.tables.values()])
    return all(
        2 * sum(leaf.truth(row) is True for row in suite.tables[use.table].rows.values())
        <= len(suite.tables[use.table].rows)
        for use in query.tables
        for leaf in leaves(use.where)
    )


def gold_rows(suite: Suite, sql: str) -> list[tuple[object, ...]]:
    """The rows that the join should give."""
    query = parse_query(sql, [table.table for table in suite.tables.values()])
    one, two = query.use("t"), query.use("c")
    return [
        (left["team"], right["population"])
        for left in suite.tables["teams"].rows.values()
        if holds(one.where, left)
        for right in suite.tables["cities"].rows.values()
        if left["city"] == right["city"] and holds(two.where, right)
    ]


async def joins_measured(suite: Suite, queries: list[BenchQuery], each: bool) -> dict[str, float]:
    """Tokens after the sample, which all plans share, and F1."""
    spent = {"push-down": 0, "ours": 0, "best": 0}
    sampled, scores = 0, []
    for query in queries:
        wanted = gold_rows(suite, query.sql)
        row = {}
        for name, start in (("push-down", ""), ("ours", ""), ("from t", "t"), ("from c", "c")):
            with (
                patch.object(linking, "_adaptive", push_down)
                if name == "push-down"
                else nullcontext()
            ):
                result = await _run(suite, query.sql, start)
            row[name] = result.tokens - result.sample_tokens
            if name == "ours":
                scores.append(row_f1(result.rows, wanted))
                sampled += result.sample_tokens
        spent["push-down"] += row["push-down"]
        spent["ours"] += row["ours"]
        spent["best"] += min(row["from t"], row["from c"])
        if each:
            print(query.sql, row, round(scores[-1], 3))
    return {
        "join_vs_pushdown": spent["ours"] / max(1, spent["push-down"]),
        "join_vs_optimal": spent["ours"] / max(1, spent["best"]),
        "join_f1": sum(scores) / len(scores),
        "join_sample_tokens": sampled / len(queries),
        "join_tokens": spent["ours"] / len(queries),
        "join_queries": len(queries),
    }


async def push_down(running: Running) -> None:
    """Plan 1: every table is filtered alone, then the join attributes are read."""
    for use in running.query.tables:
        running.accepted[use.alias] = await running.filter_all(use.alias, use.where)
        await running.complete(
            use.alias, running.accepted[use.alias], running.query.keys(use.alias)
        )


async def _run(suite: Suite, sql: str, start: str):  # type: ignore[no-untyped-def]
    """Runs a join; with `start` the first table is given, not chosen."""
    chosen = linking.first_join
    if start:
        linking.first_join = lambda edges, sides: NextJoin(start, "", 0.0)
    try:
        return await run_query(suite.reader().of(suite.workspace), sql, reuse=False)
    finally:
        linking.first_join = chosen
