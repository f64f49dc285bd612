"""Joins over documents: right rows in every order, matching by canonical forms, two kinds of documents in one workspace."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from benchmarks.optimizer_joins import push_down
from sliders.executor import linking
from sliders.executor.linking import canonical_forms, matcher
from sliders.executor.query import run_query
from sliders.executor.querying import query_frame

from .query_double import TOWNS, PatternReader, ship_text, town_text, truth, workspace

SQL = (
    "SELECT s.ship, t.population FROM ships s JOIN towns t ON s.port = t.town "
    "WHERE t.population >= 4000 AND s.length > 25"
)
WANTED = {
    (truth(n)["ship"], 1000 * (n % 5 + 1)) for n in range(20) if 1000 * (n % 5 + 1) >= 4000 and 20 + n > 25
}  # fmt: skip


def test_a_join_gives_the_rows_that_belong_together(tmp_path: Path) -> None:
    with workspace(tmp_path, towns=True) as ws:
        result = asyncio.run(run_query(ws.session, SQL, reader=PatternReader()))
    assert set(result.rows) == WANTED


def test_the_transformed_join_reads_no_more_than_push_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with workspace(tmp_path, towns=True) as ws:
        # Every ship is long enough: a filter that keeps all is where push-down is at its worst.
        sql = SQL.replace("t.population >= 4000", "t.population > 4500").replace("s.length > 25", "s.length > 0")
        ours = asyncio.run(run_query(ws.session, sql, reader=PatternReader(), reuse=False)).tokens
        monkeypatch.setattr(linking, "_adaptive", push_down)
        pushed = asyncio.run(run_query(ws.session, sql, reader=PatternReader(), reuse=False)).tokens
    assert ours <= pushed


def test_a_table_joined_with_itself(tmp_path: Path) -> None:
    sql = (
        "SELECT a.ship, b.ship FROM ships a JOIN ships b ON a.port = b.port "
        "WHERE a.length = 20 AND b.length BETWEEN 21 AND 31"
    )
    with workspace(tmp_path) as ws:
        result = asyncio.run(run_query(ws.session, sql, reader=PatternReader()))
    assert set(result.rows) == {("Nautilus0", "Nautilus5"), ("Nautilus0", "Nautilus10")}


def test_three_tables(tmp_path: Path) -> None:
    sql = (
        "SELECT a.ship, t.population, b.ship FROM ships a JOIN towns t ON a.port = t.town JOIN ships b ON b.port = t.town "
        "WHERE a.length = 21 AND b.length = 26"
    )
    with workspace(tmp_path, towns=True) as ws:
        result = asyncio.run(run_query(ws.session, sql, reader=PatternReader()))
    assert result.rows == (("Nautilus1", 2000, "Nautilus6"),)


def test_no_partner_means_nothing_more_is_read(tmp_path: Path) -> None:
    with workspace(tmp_path, towns=True) as ws:
        sql = SQL.replace(">= 4000", "> 90000")
        result = asyncio.run(run_query(ws.session, sql, reader=PatternReader()))
    assert result.rows == ()


def test_a_join_means_the_same_in_tables_that_are_read_and_in_those_that_stand(tmp_path: Path) -> None:
    sql = "SELECT s.ship FROM ships s JOIN towns t ON s.port = t.town WHERE t.population = 7 AND s.length > 0"
    with workspace(tmp_path, towns=True) as ws:
        ws.add_text(town_text("GOOLE", 7), "town_capital.txt")
        ws.add_text(ship_text(20).replace("Arden", "Goole"), "ship_of_goole.txt")
        first, again = (asyncio.run(query_frame(ws.session, sql, reader=PatternReader())) for _ in range(2))
    assert list(first["ship"]) == list(again["ship"]) == []
    assert any("'GOOLE'" in note and "'Goole'" in note for note in first.attrs["notes"])


def test_names_join_in_their_canonical_forms() -> None:
    forms = canonical_forms(["Acme, Inc.", "ACME Inc", "Doe, Jane", "Jane Doe", "Other", None])
    assert forms["Acme, Inc."] == forms["ACME Inc"]
    assert forms["Doe, Jane"] == forms["Jane Doe"]
    assert forms["Other"] == "Other" and None not in forms
    matches = matcher([*TOWNS, "Acme, Inc."])
    assert matches("arden") and matches("ACME INC") and not matches("Acme Ltd of Elsewhere") and not matches(None)
