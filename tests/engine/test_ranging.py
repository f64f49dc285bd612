"""The range of an answer comes from the cells under it, over a copy: the
workspace stays as it is.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sliders
from sliders.answer import Answer
from sliders.compact import NOT_TOLD, TOLD
from sliders.engine import Need, TableRead, TableVariations, answer_need, near_cut
from sliders.errors import ModelRefusal, StoreError
from sliders.extraction import Absence, Cell, Grounding, How, Row
from sliders.llm import COMPACT, Request, Response, Usage
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Schema, Table
from sliders.store import (
    ConflictSide,
    CopiedTables,
    OpenConflict,
    Task,
    TrialChange,
    Unsettled,
)
from sliders.values import ColumnType, Scalar

LIKED = Column("liked", ColumnType.BOOLEAN, "Is the film liked?", reading="judged", pinned=True)
PRICE = Column("price", ColumnType.INTEGER, "The price", pinned=True)
TABLE = Table("reviews", (LIKED, PRICE), row="a review", grain="document", pinned=True)
MARKS = [2, 30, 4, 33, 1, 29, 3, 31, 5, 28, 2, 32]


def answered(
    place: str | Path,
    sql: str,
    marks: list[int],
    prices: list[int | None],
    unsure: int | None = None,
) -> tuple[Answer, sliders.Workspace]:
    def reply(request: Request) -> Any:
        content = request.messages[-1].content
        if request.choices:
            return {"yes": -6.0 + int(content.split("mark ")[1].split(".")[0]) / 10, "no": -0.1}
        if request.stage == "answer":
            return sql
        price = content.split("costs ")[1].split(".")[0] if "costs " in content else None
        said = {"price": int(price) if price else None}
        return Response(
            json.dumps(said), said, sureness={"price": -1.0 if price == str(unsure) else -0.01}
        )

    ws = sliders.Workspace(
        place, model=FunctionModel(reply, dialect=COMPACT), embedder=HashEmbedder()
    )
    for number, (mark, price) in enumerate(zip(marks, prices, strict=True)):
        told = f" It costs {price}." if price else ""
        ws.add_text(f"Review {number}. It gets the mark {mark}.{told}", f"{number:02}.txt")
    ws.pin_schema(Schema((TABLE,)))
    ws.extract()
    need = Need("How many?", {"reviews": ("liked", "price")})
    ws.session.models = ws.session.models.for_run()
    return asyncio.run(answer_need(ws.session, need, "", Usage())), ws


COUNT = "SELECT COUNT(*) FROM reviews WHERE liked = 1"


def test_clear_judgements_give_a_point(place: str | Path) -> None:
    answer, ws = answered(place, COUNT, MARKS, [None] * 12)
    ws.close()
    assert answer.value == 6 and answer.range is not None and answer.range.is_point


def test_judgements_near_the_cut_move_the_count_both_ways(place: str | Path) -> None:
    answer, ws = answered(place, COUNT, [*MARKS[:-2], 14, 20], [None] * 12)
    with ws:
        assert answer.range is not None and answer.value == 6
        assert (answer.range.low, answer.range.high) == (5, 7)
        assert {m.kind for m in answer.range.moves} == {"value"}
        assert answer.to_dict()["range"]["low"] == 5
        assert (
            len(ws.tables["reviews"]) == 12 and sum(map(bool, ws.tables["reviews"]["liked"])) == 6
        )


def test_empty_values_move_a_sum_by_the_extremes_of_their_column(place: str | Path) -> None:
    prices: list[int | None] = [10, 20, None, *[30] * 9]
    answer, ws = answered(place, "SELECT SUM(price) FROM reviews", MARKS, prices)
    ws.close()
    assert answer.value == 300 and answer.range is not None
    assert (answer.range.low, answer.range.high) == (300, 330)
    assert [(m.kind, m.count) for m in answer.range.moves] == [("missing", 1)]


def test_tied_rows_are_in_the_range(place: str | Path) -> None:
    sql = "SELECT price FROM reviews WHERE price IS NOT NULL ORDER BY liked DESC LIMIT 1"
    answer, ws = answered(place, sql, MARKS, [10, 20, 30, 40, 50, 60, 70, 80, 90, 15, 25, 35])
    ws.close()
    assert answer.range is not None
    assert (answer.range.low, answer.range.high) == (15, 80)
    assert "choice" in {m.kind for m in answer.range.moves}


def test_a_value_that_a_person_set_is_not_doubted(place: str | Path) -> None:
    _, ws = answered(place, COUNT, [*MARKS[:-2], 14, 20], list(range(1, 13)))
    with ws:
        for where, liked in (({"price": 11}, False), ({"document": "11.txt"}, True)):
            ws.set_value("reviews", "liked", liked, where)
        ws.reconcile()
        ws.session.models = ws.session.models.for_run()
        again = asyncio.run(
            answer_need(ws.session, Need("How many?", {"reviews": ("liked", "price")}), "", Usage())
        )
    assert again.range is not None and again.range.is_point


def test_text_answers_have_no_range(place: str | Path) -> None:
    answer, ws = answered(
        place, "SELECT document FROM reviews WHERE price = 10", MARKS, [10, *[20] * 11]
    )
    ws.close()
    assert answer.value == "00.txt" and answer.range is None


PRICES: list[int | None] = [10, 20, 30, 40, 50, 60, 70, 80, 90, 15, 25, 35]


@pytest.mark.parametrize(
    ("sql", "effects"),
    [
        ("SELECT MAX(price) FROM reviews", []),
        ("SELECT MIN(price) FROM reviews", ["10 would be 15"]),
        ("SELECT document FROM reviews WHERE price = 30", []),
        ("SELECT document FROM reviews WHERE price < 15", ["00.txt would be nothing"]),
    ],
)
def test_a_value_in_doubt_is_a_doubt_where_the_answer_rests_on_it(
    place: str | Path, sql: str, effects: list[str]
) -> None:
    answer, ws = answered(place, sql, MARKS, PRICES, unsure=10)
    ws.close()
    assert (answer.status, answer.complete, answer.completeness.unverified_cells) == (
        "answered",
        True,
        1,
    )
    assert [doubt.effect for doubt in answer.doubts] == effects
    for doubt in answer.doubts:
        assert (doubt.kind, doubt.place) == (
            "value",
            "00.txt; reviews.price",
        ) and "price 10" in doubt.thing
        assert doubt.command == "sliders set-value reviews price --where document=00.txt 10"


def test_a_number_that_the_reader_was_not_sure_of_may_be_any_of_its_column(
    place: str | Path,
) -> None:
    answer, ws = answered(place, "SELECT SUM(price) FROM reviews", MARKS, PRICES, unsure=10)
    ws.close()
    assert answer.value == 525 and answer.range is not None
    assert (answer.range.low, answer.range.high) == (515, 605)


VERDICT = Column(
    "verdict",
    ColumnType.CATEGORY,
    "What the critic thinks",
    values=("good", "bad"),
    reading="judged",
    pinned=True,
)


def test_judgements_that_a_named_model_is_not_sure_of_move_the_count_both_ways(
    place: str | Path,
) -> None:
    sql = "SELECT COUNT(*) FROM reviews WHERE verdict = 'good'"

    def reply(request: Request) -> Any:
        if request.stage == "answer":
            return {"action": "answer", "sql": sql, "reason": "counted"}
        words = request.messages[-1].content.split("Critic: ")[1].split(".")[0]
        cell = {
            "value": words.split()[0],
            "words": [words],
            "how": "judged",
            "why": "so it says",
            "sure": "perhaps" not in words,
        }
        return {"rows": [{"table": "reviews", "cells": {"verdict": cell}}]}

    with sliders.Workspace(place, model=FunctionModel(reply), embedder=HashEmbedder()) as ws:
        for number, words in enumerate(["good", "good perhaps", "bad", "bad perhaps", "bad"]):
            ws.add_text(f"Critic: {words}. Number {number}.", f"{number}.txt")
        ws.pin_schema(
            Schema((Table("reviews", (VERDICT,), row="a review", grain="document", pinned=True),))
        )
        ws.extract()
        answer = asyncio.run(
            answer_need(
                ws.session, Need("How many are good?", {"reviews": ("verdict",)}), "", Usage()
            )
        )
    assert answer.value == 2 and answer.range is not None
    assert (answer.range.low, answer.range.high) == (1, 3)
    assert (answer.status, answer.completeness.unverified_cells, len(answer.doubts)) == (
        "answered",
        2,
        2,
    )


def test_the_copy_is_caged_and_changes_are_taken_back(place: str | Path) -> None:
    _, ws = answered(place, COUNT, MARKS, [None] * 12)
    with ws:
        relation = ws.session.catalog.schemas.relation("reviews")
        ids = list(ws.tables["reviews"]["row_id"])
        with CopiedTables(ws.session.catalog.database, [relation]) as sandbox:
            every = "SELECT COUNT(*), SUM(liked) FROM reviews"
            assert sandbox.run(every).rows == ((12, 6),)
            changes = [
                TrialChange("reviews", ids[0], {"liked": True}),
                TrialChange("reviews", ids[1], None),
                TrialChange("reviews", "new", {"liked": True}),
            ]
            with sandbox.changed(changes):
                assert sandbox.run(every).rows == ((12, 7),)
            assert sandbox.run(every).rows == ((12, 6),)
            with pytest.raises(StoreError):
                sandbox.run("DELETE FROM reviews")
        with pytest.raises(StoreError, match="more than 5 rows"):
            CopiedTables(ws.session.catalog.database, [relation], largest=5)


def told(row: int, lean: float, value: int, *, stands: bool = True) -> Row:
    absence = None if stands else Absence.NOT_STATED
    odds = ((TOLD, lean), (NOT_TOLD, 0.0))
    cell = Cell("price", value, str(value), Grounding.EXACT, absence=absence, odds=odds)
    return Row(str(row), "reviews", "d", "c", row, (cell,))


def doubted(path: Path, column: Column, rows: Sequence[Row]) -> dict[str, tuple[str, list[Scalar]]]:
    """Why values of a workspace with these rows may be other ones, and the other ones, by row."""
    named = Column("name", description="Which review it is")
    table = Table("reviews", (named, column), row="a review", pinned=True)
    with sliders.Workspace(path, model=FunctionModel(str), embedder=HashEmbedder()) as ws:
        ws.add_text("Some reviews.", "reviews.txt")
        ws.pin_schema(Schema((table,)))
        catalog = ws.session.catalog
        [chunk] = catalog.chunks.all()
        placed = [
            replace(
                row,
                document_id=chunk.document_id,
                chunk_id=chunk.id,
                cells=(Cell("name", f"Review {row.id}"), *row.cells),
            )
            for row in rows
        ]
        catalog.extractions.save(placed, [Task("reviews", table.column_names, chunk.id)])
        catalog.tables.materialise("reviews")
        read = TableRead(table, catalog.schemas.relation("reviews"), (column,))
        every = TableVariations(ws.session, read, f"SELECT {column.name} FROM reviews").every()
        found = [(v.kind, [state for option in v.options for state in option]) for v in every]
    return {
        states[0][0].row_id: (kind, [value for _, value in states])
        for kind, states in found
        if states[0][0].column == column.name
    }


def test_stated_values_near_the_cut_of_what_is_told_may_be_otherwise(tmp_path: Path) -> None:
    rows = [told(n, 5.0 + n, 10) for n in range(4)] + [
        told(8, 1.2, 40),
        told(9, 0.8, 50, stands=False),
    ]
    rows += [told(20 + n, -5.0 - n, 60, stands=False) for n in range(4)]
    near = near_cut(rows, PRICE)
    assert {cell.value for cell in near} == {40, 50}
    others = doubted(tmp_path / "d.db", PRICE, rows)
    assert others["8"] == ("value", [None])
    assert others["9"] == ("value", [50])
    assert not others.keys() & {"0", "1", "2", "3"}


def ships(tmp_path: Path, sql: str, same: Callable[[Request], Any]) -> Answer:
    """The answer of a statement over documents that each name a ship and its port; `same`:
    whether two names are one.
    """
    columns = (
        Column("ship", description="Name", pinned=True),
        Column("port", description="Port", pinned=True),
    )
    table = Table("ships", columns, row="a ship", grain="document", key=("ship",), pinned=True)

    def reply(request: Request) -> Any:
        if request.stage == "reconcile":
            return same(request)
        if request.stage == "answer":
            return sql
        words = request.messages[-1].content.split("The ship ")[1].split(".")[0].split(" lies in ")
        return {"ship": words[0], "port": words[1]}

    with sliders.Workspace(
        tmp_path / "s.db", model=FunctionModel(reply, dialect=COMPACT), embedder=HashEmbedder()
    ) as ws:
        for number, (ship, port) in enumerate(
            (("Aurora", "Rotterdam"), ("Borealis", "Roterdam"), ("Cygnus", "Bergen"))
        ):
            ws.add_text(f"Log {number}. The ship {ship} lies in {port}.", f"{number}.txt")
        ws.pin_schema(Schema((table,)))
        ws.extract()
        ws.session.models = ws.session.models.for_run()
        return asyncio.run(
            answer_need(ws.session, Need("How many?", {"ships": ("ship", "port")}), "", Usage())
        )


def nobody_tells(request: Request) -> Any:
    raise ModelRefusal("not now")


def two_names(request: Request) -> Any:
    return dict(zip(request.choices, (-5.0, -0.1), strict=True))


def test_names_that_may_be_one_move_a_distinct_count(tmp_path: Path) -> None:
    answer = ships(tmp_path, "SELECT COUNT(DISTINCT port) FROM ships", nobody_tells)
    assert answer.value == 3 and answer.range is not None
    assert (answer.range.low, answer.range.high) == (2, 3)
    assert [(m.kind, m.count) for m in answer.range.moves] == [("same", 1)]
    assert answer.status == "answered" and [doubt.kind for doubt in answer.doubts] == ["same"]
    assert "'Rotterdam'" in answer.doubts[0].thing and "'Roterdam'" in answer.doubts[0].thing


@pytest.mark.parametrize(
    "sql",
    ["SELECT COUNT(DISTINCT port) FROM ships", "SELECT COUNT(*) FROM ships WHERE port = 'Bergen'"],
)
def test_names_that_were_told_apart_or_are_not_counted_move_nothing(
    tmp_path: Path, sql: str
) -> None:
    answer = ships(tmp_path, sql, two_names if "DISTINCT" in sql else nobody_tells)
    assert (
        answer.range is not None
        and answer.range.is_point
        and answer.status == "answered"
        and not answer.doubts
    )


def test_sides_of_an_open_contradiction_may_be_one_row(tmp_path: Path) -> None:
    _, ws = answered(tmp_path / "w.db", COUNT, MARKS, list(range(12)))
    with ws:
        table, ids = ws.schema.tables[0], list(ws.tables["reviews"]["row_id"])
        sides = (ConflictSide(0, (ids[0],), "00.txt"), ConflictSide(1, (ids[1],), "01.txt"))
        open_one = OpenConflict("reviews", "price", (), "open", sides)
        ws.session.catalog.open_questions.keep("reviews", Unsettled((open_one,)))
        read = TableRead(table, ws.session.catalog.schemas.relation("reviews"), table.columns)
        [doubt] = TableVariations(ws.session, read, "SELECT sum(price) FROM reviews").one_thing()
    gone = [place.row_id for option in doubt.options for place, _ in option]
    assert (doubt.kind, doubt.count, sorted(gone)) == ("same", 1, sorted(ids[:2]))


def leaning(*marks: float) -> list[Row]:
    return [
        Row(str(n), "reviews", "d", "c", n, (Cell("liked", m > 0, odds=(("yes", m), ("no", 0.0))),))
        for n, m in enumerate(marks)
    ]


def test_the_wider_the_sides_the_more_values_lie_near_the_cut() -> None:
    apart = leaning(-6, -5.8, -5.5, -5.2, 0.9, 5.1, 5.4, 5.8, 6)
    assert near_cut(leaning(-6, -5.8, -5.5, -5.2, 5.1, 5.4, 5.8, 6), LIKED) == frozenset()
    assert near_cut(apart, LIKED) == frozenset()
    mixed = leaning(-3, -1.5, -0.4, -2, 0.3, 1.4, 2.2, 3)
    assert {cell.odds[0][1] for cell in near_cut(mixed, LIKED)} >= {-0.4, 0.3}


def test_a_category_with_a_likely_next_choice_may_be_that_one(tmp_path: Path) -> None:
    kind = Column("kind", ColumnType.CATEGORY, "Its kind", reading="judged", values=("a", "b", "c"))

    def row(number: int, choice: str, a: float, b: float, c: float) -> Row:
        cell = Cell("kind", choice, how=How.JUDGED, odds=(("a", a), ("b", b), ("c", c)))
        return Row(str(number), "reviews", "d", "c", number, (cell,))

    rows = [
        row(n, choice, *odds)
        for n, (choice, odds) in enumerate(
            [("a", (-0.01, -9.0, -9.0)), ("b", (-9.0, -0.01, -9.0)), ("c", (-9.0, -9.0, -0.01))] * 4
        )
    ]
    near = near_cut([*rows, close := row(20, "a", -0.4, -1.2, -9.0)], kind)
    assert near == frozenset(close.cells)
    others = doubted(tmp_path / "d.db", kind, [*rows, close])
    assert others == {"20": ("value", ["b", None])}


def test_without_a_cut_a_value_that_is_hardly_told_is_in_doubt() -> None:
    rows = [told(n, 8.0 + n, 10) for n in range(4)] + [told(9, 1.0, 40)]
    assert {cell.value for cell in near_cut(rows, PRICE)} == {40}


def test_a_document_that_was_read_and_gave_no_row_could_have_been_one(tmp_path: Path) -> None:
    _, ws = answered(tmp_path / "w.db", COUNT, MARKS, [None] * 12)
    with ws:
        ws.add_text("An empty page.", "quiet.txt")
        [quiet] = [d.id for d in ws.session.catalog.documents.all() if d.name == "quiet.txt"]
        ws.session.catalog.extractions.save(
            [], [Task("reviews", TABLE.column_names, ws.session.catalog.chunks.of(quiet)[0].id)]
        )
        ws.session.models = ws.session.models.for_run()
        again = asyncio.run(
            answer_need(ws.session, Need("How many?", {"reviews": ("liked", "price")}), "", Usage())
        )
    assert again.range is not None and (again.range.low, again.range.high) == (6, 7)
    assert [(m.kind, m.count) for m in again.range.moves] == [("missing", 1)]


def test_an_empty_amount_may_be_any_of_its_own_currency(tmp_path: Path) -> None:
    """Of 90,000 yen nothing follows for an amount in euros."""
    table = Table(
        "bills",
        (Column("total", ColumnType.NUMBER, pinned=True), Column("currency", pinned=True)),
        row="a bill",
        grain="document",
        pinned=True,
    )
    paid = [(100, "EUR"), (250, "EUR"), (90000, "JPY"), (None, "EUR")]
    double = FunctionModel(lambda _: ModelRefusal("nobody is asked"))
    with sliders.Workspace(tmp_path / "w.db", model=double, embedder=HashEmbedder()) as ws:
        ws.pin_schema(Schema((table,)))
        for number, (total, currency) in enumerate(paid):
            ws.add_text(f"Bill {number}. It says {total} {currency}.", f"{number}.txt")
            document = ws.session.catalog.documents.all()[-1].id
            chunk = ws.session.catalog.chunks.of(document)[0].id
            cells = (
                Cell("total", total, str(total), absence=None if total else Absence.NOT_STATED),
                Cell("currency", currency, currency, grounding=Grounding.EXACT),
            )
            row = Row(f"r{number}", "bills", document, chunk, 0, cells)
            task = Task("bills", table.column_names, chunk)
            ws.session.catalog.extractions.save([row], [task])
        ws.session.catalog.tables.materialise("bills", unverified=True)
        sql = "SELECT SUM(total) FROM bills WHERE currency = 'EUR'"
        reads = TableRead(table, ws.session.catalog.schemas.relation("bills"), tuple(table.columns))
        found = list(TableVariations(ws.session, reads, sql).every())
    (missing,) = (one for one in found if one.kind == "missing")
    assert {value for option in missing.options for _, value in option} == {100, 250}


def test_rows_that_nobody_settled_may_be_one(tmp_path: Path) -> None:
    _, ws = answered(tmp_path / "w.db", COUNT, MARKS, list(range(12)))
    with ws:
        liked = [
            r
            for r, yes in zip(*(ws.tables["reviews"][c] for c in ("row_id", "liked")), strict=True)
            if yes
        ]
        left = Unsettled(left_open=((liked[0], liked[1]),))
        ws.session.catalog.open_questions.keep("reviews", left)
        ws.session.models = ws.session.models.for_run()
        again = asyncio.run(
            answer_need(ws.session, Need("How many?", {"reviews": ("liked", "price")}), "", Usage())
        )
    assert again.range is not None and (again.range.low, again.range.high) == (5, 6)
    assert [(m.kind, m.count) for m in again.range.moves] == [("same", 1)]
