"""Join values are looked for where they are printed: documents without them cost nothing, and
nothing wrong is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sliders.engine import Ranking, TableRun, bind, prepare, run_query, sought
from sliders.engine.query_candidates import _kinds_differ
from sliders.engine.query_run import _open
from sliders.retrieval import HashEmbedder, seed_evidence

from .query_double import PatternReader, truth, workspace

SQL = (
    "SELECT s.ship, t.population FROM ships s JOIN towns t ON s.port = t.town WHERE t.town = 'Eye' "
    "AND s.length > 0"
)
AT_EYE = {(truth(n)["ship"], 5000) for n in range(20) if truth(n)["port"] == "Eye"}


def test_only_documents_that_print_a_join_value_are_read_for_it(tmp_path: Path) -> None:
    reader = PatternReader()
    with workspace(tmp_path, towns=True) as ws:
        result = asyncio.run(run_query(ws.session, SQL, reuse=False, reader=reader))
        reasons = [
            d.reason for d in ws.session.catalog.journal.decisions() if d.verdict == "not read"
        ]
    assert set(result.rows) == AT_EYE
    late = {
        trace.document
        for trace in result.explanation.traces
        if trace.table == "ships"
        and trace.verdict != "sampled"
        and trace.tokens
        and trace.document.startswith("ship")
    }
    assert late <= {f"ship_{n:02}.txt" for n in range(20) if truth(n)["port"] == "Eye"}
    assert any("print none of the join values that port must have" in reason for reason in reasons)


def test_a_document_left_out_by_a_join_is_not_said_to_state_nothing(tmp_path: Path) -> None:
    with workspace(tmp_path, towns=True) as ws:
        asyncio.run(run_query(ws.session, SQL, reader=PatternReader()))
        result = asyncio.run(
            run_query(
                ws.session, "SELECT ship, port FROM ships WHERE length > 0", reader=PatternReader()
            )
        )
    assert set(result.rows) == {(truth(n)["ship"], truth(n)["port"]) for n in range(20)}


def test_a_chain_of_joins_on_one_attribute_gives_all_rows(tmp_path: Path) -> None:
    sql = (
        "SELECT a.ship, b.ship, c.ship FROM ships a JOIN ships b ON a.port = b.port JOIN ships c "
        "ON b.port = c.port WHERE a.length = 20 AND b.length = 25 AND c.length BETWEEN 26 AND 31"
    )
    with workspace(tmp_path, towns=True) as ws:
        result = asyncio.run(run_query(ws.session, sql, reader=PatternReader()))
    assert result.rows == (("Nautilus0", "Nautilus5", "Nautilus10"),)


@pytest.fixture
def ships(tmp_path: Path) -> Iterator[TableRun]:
    """A run over ships, with its sample read."""
    with workspace(tmp_path, towns=True) as ws:
        bound = bind(ws.session, "SELECT ship, port FROM ships", {})
        run = _open(ws.session, *bound, PatternReader(), reuse=False).runs["ships"]
        asyncio.run(prepare(run))
        yield run


@pytest.mark.parametrize(
    ("values", "looked_for"),
    [
        (["Eye", "Corfe"], True),
        ([], False),
        ([1900, 1901], False),  # a number is printed in many ways
    ],
)
def test_only_names_are_looked_for_by_their_words(
    ships: TableRun, values: list[str | int], looked_for: bool
) -> None:
    assert (sought(ships, "port", values) is not None) == looked_for


def test_an_attribute_stated_in_other_words_is_not_looked_for(ships: TableRun) -> None:
    owner = next(owner for owner, values in ships.known.items() if values.get("port"))
    ships.known[owner]["port"] = "Elsewhere"
    assert sought(ships, "port", ["Eye"]) is None
    ships.known.clear()
    assert (
        sought(ships, "port", ["Eye"]) is None
    )  # no value is known yet: nothing says how they are printed


def test_in_a_join_kinds_are_told_apart_although_partners_are_near_each_other() -> None:
    # Two towns and two clubs; a town and its club share their place's name, which weighs
    # more than their kinds.
    kind, place = np.eye(4)[:2], np.eye(4)[2:]
    vectors = {f"{k}{p}": (0.5 * kind[k] + 0.8 * place[p]) for k in (0, 1) for p in (0, 1)}
    vectors["02"] = kind[0]
    entries = {
        name: SimpleNamespace(document=vector / np.linalg.norm(vector))
        for name, vector in vectors.items()
    }
    run: Any = SimpleNamespace(index=SimpleNamespace(entries=entries))
    towns, clubs = ["00", "02"], ["10", "11"]
    assert _kinds_differ(run, towns, clubs)
    assert not _kinds_differ(run, ["00", "11"], ["10", "01"])  # no two kinds


def test_a_ranking_of_some_segments_keeps_the_order_and_the_nearest() -> None:
    seed = seed_evidence("port", np.asarray(HashEmbedder().embed(["port"]))[0])
    ranking = Ranking((3, 1, 0, 2), 3, (10, 10, 10, 10), seed, (0.0, 0.0))
    few = ranking.only(frozenset({0, 2}))
    assert (few.sequence, few.within) == ((3, 0, 2), 2)
    assert ranking.only(frozenset()).sequence == ()
