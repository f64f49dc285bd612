"""Joins over documents: right rows in every order, matching by canonical forms, two kinds of
documents in one workspace.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from benchmarks.optimizer_joins import push_down
from sliders.engine import canonical_forms, matcher, query_frame, run_query
from sliders.engine import query_joins as linking
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType
from tests.ships import PORTS, SHIPS, SegmentReader, ship_text, town_text, truth, workspace_of_ships

SQL = (
    "SELECT s.ship, t.population FROM ships s JOIN towns t ON s.port = t.town "
    "WHERE t.population >= 4000 AND s.length > 25"
)
WANTED = {
    (truth(n)["ship"], 1000 * (n % 5 + 1))
    for n in range(20)
    if 1000 * (n % 5 + 1) >= 4000 and 20 + n > 25
}


def test_a_join_gives_the_rows_that_belong_together(tmp_path: Path) -> None:
    with workspace_of_ships(tmp_path, towns=True) as ws:
        result = asyncio.run(run_query(SegmentReader().of(ws), SQL))
    assert set(result.rows) == WANTED


def test_the_transformed_join_reads_no_more_than_push_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workspace_of_ships(tmp_path, towns=True) as ws:
        # Every ship is long enough: a filter that keeps all is where push-down is at its worst.
        sql = SQL.replace("t.population >= 4000", "t.population > 4500").replace(
            "s.length > 25", "s.length > 0"
        )
        ours = asyncio.run(run_query(SegmentReader().of(ws), sql, reuse=False)).tokens
        monkeypatch.setattr(linking, "_adaptive", push_down)
        pushed = asyncio.run(run_query(SegmentReader().of(ws), sql, reuse=False)).tokens
    assert ours <= pushed


def test_a_table_joined_with_itself(tmp_path: Path) -> None:
    sql = (
        "SELECT a.ship, b.ship FROM ships a JOIN ships b ON a.port = b.port "
        "WHERE a.length = 20 AND b.length BETWEEN 21 AND 31"
    )
    with workspace_of_ships(tmp_path) as ws:
        result = asyncio.run(run_query(SegmentReader().of(ws), sql))
    assert set(result.rows) == {("Nautilus0", "Nautilus5"), ("Nautilus0", "Nautilus10")}


def test_three_tables(tmp_path: Path) -> None:
    sql = (
        "SELECT a.ship, t.population, b.ship FROM ships a JOIN towns t ON a.port = t.town JOIN "
        "ships b ON b.port = t.town WHERE a.length = 21 AND b.length = 26"
    )
    with workspace_of_ships(tmp_path, towns=True) as ws:
        result = asyncio.run(run_query(SegmentReader().of(ws), sql))
    assert result.rows == (("Nautilus1", 2000, "Nautilus6"),)


def test_no_partner_means_nothing_more_is_read(tmp_path: Path) -> None:
    with workspace_of_ships(tmp_path, towns=True) as ws:
        sql = SQL.replace(">= 4000", "> 90000")
        result = asyncio.run(run_query(SegmentReader().of(ws), sql))
    assert result.rows == ()


def test_a_join_means_the_same_in_tables_that_are_read_and_in_those_that_stand(
    tmp_path: Path,
) -> None:
    sql = (
        "SELECT s.ship FROM ships s JOIN towns t ON s.port = t.town WHERE t.population = 7 "
        "AND s.length > 0"
    )
    with workspace_of_ships(tmp_path, towns=True) as ws:
        ws.add_text(town_text("GOOLE", 7), "town_capital.txt")
        ws.add_text(ship_text(20).replace("Arden", "Goole"), "ship_of_goole.txt")
        first, again = (asyncio.run(query_frame(SegmentReader().of(ws), sql)) for _ in range(2))
    assert list(first["ship"]) == list(again["ship"]) == []
    assert any("'GOOLE'" in note and "'Goole'" in note for note in first.attrs["notes"])


def test_names_join_in_their_canonical_forms() -> None:
    forms = canonical_forms(["Acme, Inc.", "ACME Inc", "Doe, Jane", "Jane Doe", "Other", None])
    assert forms["Acme, Inc."] == forms["ACME Inc"]
    assert forms["Doe, Jane"] == forms["Jane Doe"]
    assert forms["Other"] == "Other" and None not in forms
    matches = matcher([*PORTS, "Acme, Inc."])
    assert (
        matches("arden")
        and matches("ACME INC")
        and not matches("Acme Ltd of Elsewhere")
        and not matches(None)
    )


def test_documents_join_by_their_exact_names(tmp_path: Path) -> None:
    """Two tables of the same documents, two of whose names differ in punctuation only."""
    measures = Table(
        "measures",
        (Column("length", ColumnType.INTEGER, "how long she measures in metres"),),
        grain="document",
    )
    sql = (
        "SELECT s.ship, m.length FROM ships s JOIN measures m ON s.{0} = m.{0} WHERE s.launched > "
        "1900 AND m.length < 60"
    )
    with workspace_of_ships(tmp_path, ships=0, schema=False) as ws:
        ws.session.catalog.schemas.save(Schema((SHIPS, measures)), "test")
        for number, name in ((1, "log 1.txt"), (2, "log-1.txt"), (31, "log_31.txt")):
            ws.add_text(ship_text(number), name)
        for key in ("document", "document_id"):
            for _ in range(2):  # read, then known
                result = asyncio.run(run_query(SegmentReader().of(ws), sql.format(key)))
                assert sorted(result.rows) == [
                    ("Nautilus1", 21),
                    ("Nautilus2", 22),
                    ("Nautilus31", 51),
                ]
        joined = "a.document = b.document AND a.port = b.port"
        named = f"SELECT a.ship, b.ship FROM ships a JOIN ships b ON {joined} WHERE a.length < 60"
        result = asyncio.run(run_query(SegmentReader().of(ws), named))
        assert sorted(result.rows) == [
            (ship, ship) for ship in ("Nautilus1", "Nautilus2", "Nautilus31")
        ]
        other = "SELECT a.ship FROM ships a JOIN ships b ON a.document = b.ship WHERE a.length < 60"
        assert asyncio.run(run_query(SegmentReader().of(ws), other)).rows == ()
