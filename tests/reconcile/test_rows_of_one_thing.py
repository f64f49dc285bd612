"""A row is a thing: what is read of it from several parts, for several questions, comes together,
and nothing else does.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sliders import Workspace
from sliders.llm import COMPACT, FULL, Dialect
from sliders.reconcile import MemoryRelation, reconcile_table
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Table
from tests.worlds import LISTS, Reader, parts

DIALECTS = pytest.mark.parametrize("dialect", [FULL, COMPACT], ids=["full", "compact"])


def opened(place: str | Path, reader: Reader, texts: dict[str, str]) -> Workspace:
    ws = Workspace(place, model=reader.model, embedder=HashEmbedder())
    for name, text in texts.items():
        ws.add_text(
            f"Report of the year\n\n{text}", name
        )  # a title of its own, so that no line is one
    return ws


def pinned(name: str, key: list[str], columns: dict[str, str], **more: Any) -> dict[str, Any]:
    """A schema of one table with a key."""
    listed = [{"name": column, "type": kind} for column, kind in columns.items()]
    return {
        "tables": [
            {
                "name": name,
                "row": "an entry",
                "grain": "many",
                "key": key,
                "columns": listed,
                **more,
            }
        ]
    }


def cells(ws: Workspace, table: str, *columns: str) -> list[tuple[Any, ...]]:
    """Rows of a table as it stands, sorted."""
    frame = ws.tables[table][list(columns)]
    return sorted(
        (tuple(None if pd.isna(v) else v for v in row) for row in frame.itertuples(index=False)),
        key=str,
    )


REVENUE = "year: 2020; revenue: 100\nyear: 2021; revenue: 110\nyear: 2022; revenue: 120"
SPENT = "year: 2020; spent: 7\nyear: 2021; spent: 8\nyear: 2022; spent: 9"


@DIALECTS
def test_a_later_column_is_read_with_its_key(tmp_path: Path, dialect: Dialect) -> None:
    reader = Reader(LISTS, naming=["year"], dialect=dialect)
    with opened(tmp_path / "w.db", reader, {"report.txt": parts(REVENUE, SPENT)}) as ws:
        ws.pin_schema(pinned("amounts", ["year"], {"year": "integer", "revenue": "number"}))
        ws.extract()
        ws.pin_schema(
            pinned("amounts", ["year"], {"year": "integer", "revenue": "number", "spent": "number"})
        )
        ws.extract()
        assert cells(ws, "amounts", "year", "revenue", "spent") == [
            (2020, 100, 7),
            (2021, 110, 8),
            (2022, 120, 9),
        ]


def test_a_later_column_of_a_table_without_a_key_is_read_with_its_first_columns(
    tmp_path: Path,
) -> None:
    reader = Reader(LISTS, naming=["year"])
    with opened(tmp_path / "w.db", reader, {"report.txt": parts(REVENUE, SPENT)}) as ws:
        ws.pin_schema(pinned("amounts", [], {"year": "integer", "revenue": "number"}))
        ws.extract()
        ws.pin_schema(
            pinned("amounts", [], {"year": "integer", "revenue": "number", "spent": "number"})
        )
        ws.extract()
        assert all(year is not None for (year,) in cells(ws, "amounts", "year"))


def test_two_later_columns_leave_every_cell(tmp_path: Path) -> None:
    columns = {"year": "integer", "revenue": "number", "spent": "number", "staff": "integer"}
    text = parts(REVENUE, SPENT + "\n" + SPENT.replace("spent", "staff"))
    with opened(tmp_path / "w.db", Reader(LISTS, naming=["year"]), {"report.txt": text}) as ws:
        for number in (2, 3, 4):
            ws.pin_schema(pinned("amounts", ["year"], dict(list(columns.items())[:number])))
            ws.extract()
        assert cells(ws, "amounts", *columns) == [
            (2020, 100, 7, 7),
            (2021, 110, 8, 8),
            (2022, 120, 9, 9),
        ]


@DIALECTS
def test_an_empty_cell_is_never_filled_from_another_row(tmp_path: Path, dialect: Dialect) -> None:
    text = (
        "country: Canada; city: Banff; people: 8\ncountry: Canada; city: Tofino; people: 2\n"
        "city: Bergen; people: 290"
    )
    columns = {"city": "text", "country": "text", "people": "integer"}
    with opened(tmp_path / "w.db", Reader(LISTS, dialect=dialect), {"cities.txt": text}) as ws:
        ws.pin_schema(pinned("cities", ["country", "city"], columns))
        ws.extract()
        assert cells(ws, "cities", *columns) == [
            ("Banff", "Canada", 8),
            ("Bergen", None, 290),
            ("Tofino", "Canada", 2),
        ]


def test_rows_of_one_certain_key_are_one_row_whose_contradicted_cell_is_open(
    tmp_path: Path,
) -> None:
    texts = {"a.txt": "firm: Orla; staff: 5; city: Cork", "b.txt": "firm: Orla; staff: 7"}
    columns = {"firm": "text", "staff": "integer", "city": "text"}
    schema = pinned("firms", ["firm"], columns, key_scope="collection")
    with opened(tmp_path / "w.db", Reader(LISTS), texts) as ws:
        ws.pin_schema(schema)
        ws.extract()
        assert cells(ws, "firms", *columns) == [("Orla", 5, "Cork")] and len(ws.conflicts()) == 1
        assert {side.value for side in ws.conflicts()[0].candidates} == {5, 7}


BILL = "\n".join(
    [
        "bill: B7; item: Room; amount: 145.00",
        "bill: B7; item: Breakfast; amount: 18.50",
        "bill: B7; item: Room; amount: 145.00",
        "bill: B7; item: Breakfast; amount: 18.50",
        "bill: B7; item: City tax; amount: 12.00",
    ]
)
ITEMS = {"bill": "text", "item": "text", "amount": "number"}


def summed(ws: Workspace, table: str, column: str) -> float:
    return float(ws.tables[table][column].sum())


@DIALECTS
def test_equal_lines_of_one_bill_are_several_things(tmp_path: Path, dialect: Dialect) -> None:
    texts = {"bill.txt": BILL, "other.txt": "bill: B8; item: Bar; amount: 9"}
    with opened(tmp_path / "w.db", Reader(LISTS, dialect=dialect), texts) as ws:
        ws.pin_schema(pinned("lines", ["bill", "item"], ITEMS))
        ws.extract()
        assert len(ws.tables["lines"]) == 6 and summed(ws, "lines", "amount") == 348
        assert not ws.conflicts()


def test_equal_lines_of_one_grid_are_several_things_where_its_parts_are_read_apart(
    tmp_path: Path,
) -> None:
    said = "said: so | and said at such length that the grid is cut between two of its lines |"
    other = [f"| item: Extra {n}; amount: 1; {said}" for n in range(220)]
    room = "| item: Room; amount: 145 | a night |"
    grid = "\n".join(["| line | note |", "| --- | --- |", room, *other, room])
    with opened(tmp_path / "w.db", Reader(LISTS), {"bill.md": grid}) as ws:
        assert len({chunk for chunk, _ in ws.session.catalog.chunks.places()}) > 1
        ws.pin_schema(pinned("lines", ["item"], {"item": "text", "amount": "number"}))
        ws.extract()
        assert summed(ws, "lines", "amount") == 510


def test_halves_of_one_year_are_one_row_and_years_of_two_firms_are_two(tmp_path: Path) -> None:
    texts = {
        "a.txt": parts("year: 2021; revenue: 110; profit: 5", "year: 2021; profit: 5; spent: 8"),
        "b.txt": parts("year: 2021; revenue: 90; profit: 4", "year: 2021; profit: 4; spent: 7"),
    }
    columns = {"year": "integer", "revenue": "number", "profit": "number", "spent": "number"}
    with opened(tmp_path / "w.db", Reader(LISTS), texts) as ws:
        ws.pin_schema(pinned("amounts", ["year"], columns))
        ws.extract()
        assert cells(ws, "amounts", *columns) == [(2021, 110, 5, 8), (2021, 90, 4, 7)]
        (version,) = [
            v for v in ws.session.catalog.tables.versions("amounts") if v.operation == "reconcile"
        ]
        assert "merged_into" in version.sql and not ws.verify()
        ws.undo("amounts")
        assert len(ws.tables["amounts"]) == 4, "no cell is lost"


def test_a_key_that_reaches_over_the_collection_brings_two_reports_together(tmp_path: Path) -> None:
    texts = {
        "a.txt": "firm: Orla; year: 2021; revenue: 110",
        "b.txt": "firm: Orla; year: 2021; revenue: 110; spent: 8",
    }
    columns = {"firm": "text", "year": "integer", "revenue": "number", "spent": "number"}
    for scope, rows in (("collection", 1), ("document", 2)):
        with opened(tmp_path / f"{scope}.db", Reader(LISTS), texts) as ws:
            ws.pin_schema(pinned("amounts", ["firm", "year"], columns, key_scope=scope))
            ws.extract()
            assert len(ws.tables["amounts"]) == rows
            assert ws.schema.tables[0].key_scope == scope


def test_halves_of_one_document_join_and_another_document_contradicts_them(tmp_path: Path) -> None:
    halves = parts("firm: Orla; revenue: 5; staff: 3", "firm: Orla; spent: 1")
    texts = {"a.txt": halves, "b.txt": "firm: Orla; revenue: 6; staff: 4"}
    columns = {"firm": "text", "revenue": "number", "staff": "integer", "spent": "number"}
    with opened(tmp_path / "w.db", Reader(LISTS), texts) as ws:
        ws.pin_schema(pinned("firms", ["firm"], columns, key_scope="collection"))
        ws.extract()
        assert cells(ws, "firms", *columns) == [("Orla", 5, 3, 1)] and {
            c.column for c in ws.conflicts()
        } == {"revenue", "staff"}


def test_rows_of_one_key_that_contradict_each_other_in_two_parts_are_an_open_conflict(
    tmp_path: Path,
) -> None:
    text = parts(
        "year: 2021; revenue: 110; profit: 5; staff: 3",
        "year: 2021; revenue: 120; profit: 5; staff: 3",
    )
    columns = {"year": "integer", "revenue": "number", "profit": "number", "staff": "integer"}
    with opened(tmp_path / "w.db", Reader(LISTS), {"a.txt": text}) as ws:
        ws.pin_schema(pinned("amounts", ["year"], columns))
        ws.extract()
        assert [conflict.column for conflict in ws.conflicts()] == ["revenue"]


RECEIPTS = {"a.txt": "who: Ada; amount: 45.00", "b.txt": "who: Ada; amount: 45.00; note: second"}
TOTAL = {"What was paid in total?": "SELECT SUM(amount) FROM receipts"}


def table_of(key: list[str], columns: dict[str, str], **more: Any) -> dict[str, Any]:
    """A table as the schema stage proposes it."""
    listed = [{"name": name, "type": kind, "description": name} for name, kind in columns.items()]
    return {
        "name": "receipts",
        "row": "a receipt",
        "rows_per_document": "several",
        "key": key,
        "columns": listed,
        **more,
    }


def agent(scope: str) -> Any:
    """What the agent says of a key; nothing of any group."""
    return lambda prompt: (
        {"key": ["who"], "scope": scope, "reason": "said"}
        if "how far the key reaches" in prompt
        else None
    )


def paid(tmp_path: Path, proposed: dict[str, Any], settles: Any = None) -> Any:
    reader = Reader(LISTS, sql=TOTAL, tables=[proposed], settles=settles)
    with opened(tmp_path / "w.db", reader, RECEIPTS) as ws:
        return ws.ask(next(iter(TOTAL))), reader, len(ws.tables["receipts"])


WHO = {"who": "text", "amount": "number"}


def test_receipts_of_two_documents_are_two_whoever_they_are_of(tmp_path: Path) -> None:
    answer, _, rows = paid(tmp_path, table_of(["who"], WHO), agent("document"))
    assert (answer.value, answer.status, rows) == (90, "answered", 2) and not answer.doubts


def test_a_merge_over_documents_that_nobody_made_certain_is_a_doubt(tmp_path: Path) -> None:
    answer, _, rows = paid(tmp_path, table_of(["who"], WHO, key_scope="collection"))
    assert rows == 1 and (answer.range.low, answer.range.high) == (45, 90)
    (doubt,) = answer.doubts
    assert (
        doubt.kind == "same"
        and "90" in doubt.effect
        and "a.txt" in doubt.command
        and "b.txt" in doubt.command
    )


def test_a_merge_over_documents_that_the_agent_is_sure_of_is_none(tmp_path: Path) -> None:
    answer, reader, rows = paid(
        tmp_path, table_of(["who"], WHO, key_scope="collection"), agent("collection")
    )
    assert (
        (answer.value, answer.status, rows) == (45, "answered", 1)
        and not answer.doubts
        and answer.range.is_point
    )
    assert len(reader.asked("reconcile")) == 1


def test_the_agent_may_say_that_a_key_of_the_schema_ends_with_its_document(tmp_path: Path) -> None:
    answer, _, rows = paid(
        tmp_path, table_of(["who"], WHO, key_scope="collection"), agent("document")
    )
    assert (answer.value, rows) == (90, 2) and not answer.doubts


def test_a_doubted_merge_is_settled_by_a_person(tmp_path: Path) -> None:
    reader = Reader(LISTS, sql=TOTAL, tables=[table_of(["who"], WHO, key_scope="collection")])
    for verb, value in (("merge", 45), ("split", 90)):
        with opened(tmp_path / f"{verb}.db", reader, RECEIPTS) as ws:
            assert ws.ask(next(iter(TOTAL))).doubts
            sides = ({"document": "a.txt", "who": "Ada"}, {"document": "b.txt", "who": "Ada"})
            getattr(ws, verb)("receipts", *sides)
            answer = ws.ask(next(iter(TOTAL)))
            assert answer.value == value and not answer.doubts


LAB = (
    "patient: Haddad; time: 08:00; ldl: 3.1\npatient: Moss; ldl: 3.9\n"
    "patient: Moss; ldl: 2.9; note: corrected"
)
TAKEN = {"patient": "text", "time": "text", "ldl": "number"}
MEAN = {"What is the mean LDL?": "SELECT AVG(ldl) FROM samples"}


def lab(
    place: Path, text: str, dialect: Dialect = FULL, settles: Any = None
) -> tuple[Any, list[Any]]:
    reader = Reader(LISTS, sql=MEAN, dialect=dialect, settles=settles)
    with opened(place / "w.db", reader, {"lab.txt": text}) as ws:
        ws.pin_schema(pinned("samples", ["patient", "time"], TAKEN))
        return ws.ask(next(iter(MEAN))), ws.conflicts()


@DIALECTS
def test_rows_that_lack_a_part_of_their_key_and_contradict_each_other_are_a_question(
    tmp_path: Path, dialect: Dialect
) -> None:
    answer, conflicts = lab(tmp_path, LAB, dialect)
    assert [(c.column, {s.value for s in c.candidates}) for c in conflicts] == [("ldl", {3.9, 2.9})]
    assert answer.doubts and answer.range.low < answer.value < answer.range.high


def test_rows_with_their_whole_key_are_no_question(tmp_path: Path) -> None:
    text = LAB.replace("Moss; ldl: 3.9", "Moss; time: 08:00; ldl: 3.9").replace(
        "Moss; ldl: 2", "Moss; time: 09:00; ldl: 2"
    )
    answer, conflicts = lab(tmp_path, text)
    assert not conflicts and not answer.doubts and answer.range.is_point


def test_the_agent_closes_the_question_of_rows_without_their_whole_key(tmp_path: Path) -> None:
    def apart(prompt: str) -> Any:
        said = {
            "group": 1,
            "operation": "apart",
            "column": "",
            "statements": [],
            "reason": "two samples",
        }
        return {"looks": [], "repairs": [said]}

    answer, conflicts = lab(tmp_path, LAB, settles=apart)
    assert not conflicts and not answer.doubts and answer.range.is_point


def test_a_grid_of_years_that_is_cut_between_its_lines_keeps_one_row_a_year() -> None:
    """The key stands in one place, the head of the grid; that the figures stand in two lines makes
    no year another one.
    """
    table = Table(
        "amounts", (Column("year"), Column("revenue"), Column("profit")), key=("year",), pinned=True
    )
    starts = {"year": [10, 10], "revenue": [40, -1], "profit": [-1, 80]}
    relation = MemoryRelation(
        {"year": ["2021", "2021"], "revenue": ["5", None], "profit": [None, "1"]},
        ["r0", "r1"],
        ["d", "d"],
        ["c0", "c1"],
        starts=starts,
        lists_of=lambda _: [(0, 30, 1), (30, 60, 1), (60, 90, 1)],
    )
    result = asyncio.run(reconcile_table(table, relation))
    assert result.rows == 1
    apart = replace(relation, starts={**starts, "year": [35, 65]})
    assert asyncio.run(reconcile_table(table, apart)).rows == 2, (
        "two lines of one grid, each with its own year"
    )


BONUSES = parts(
    "no: B17; person: Okafor; bonus: 300\nno: B22; person: Lindt; bonus: 450",
    "person: Okafor; bonus: 300",
)
PAID = {"What was paid in bonuses?": "SELECT SUM(bonus) FROM bonuses"}
BONUS = {"person": "text", "no": "text", "bonus": "number"}


def bonuses(tmp_path: Path, text: str, dialect: Dialect = FULL, settles: Any = None) -> Any:
    with opened(
        tmp_path / "w.db",
        Reader(LISTS, sql=PAID, dialect=dialect, settles=settles),
        {"memo.txt": text},
    ) as ws:
        ws.pin_schema(pinned("bonuses", ["no"], BONUS))
        return ws.ask(next(iter(PAID)))


@DIALECTS
def test_a_row_without_its_key_that_repeats_another_one_is_a_question(
    tmp_path: Path, dialect: Dialect
) -> None:
    answer = bonuses(tmp_path, BONUSES, dialect)
    assert answer.value == 1050 and answer.range.low == 750
    (doubt,) = answer.doubts
    assert (
        doubt.kind == "same"
        and "sliders merge bonuses" in doubt.command
        and "no=B17" in doubt.command
    )


@pytest.mark.parametrize(("operation", "value"), [("apart", 1050), ("deduplicate", 750)])
def test_the_agent_says_whether_a_row_without_its_key_is_another_one(
    tmp_path: Path, operation: str, value: float
) -> None:
    def said(prompt: str) -> Any:
        rows = dict((number == "B17", row) for row, number in ROWS.findall(prompt))
        sql = [f"UPDATE rows SET merged_into = '{rows[True]}' WHERE row_id = '{rows[False]}'"]
        told = {
            "group": 1,
            "operation": operation,
            "column": "",
            "statements": sql[: operation != "apart"],
            "reason": "told",
        }
        return {"looks": [], "repairs": [told]}

    answer = bonuses(tmp_path, BONUSES, settles=said)
    assert answer.value == value and not answer.doubts and answer.range.is_point


ROWS = re.compile(r'row_id (\S+): \{[^}]*?(?:"no": "(B\d+)"[^}]*)?\}')


@pytest.mark.parametrize(("verb", "value"), [("merge", 750), ("split", 1050)])
def test_a_person_says_whether_a_row_without_its_key_is_another_one(
    tmp_path: Path, verb: str, value: float
) -> None:
    with opened(tmp_path / "w.db", Reader(LISTS, sql=PAID), {"memo.txt": BONUSES}) as ws:
        ws.pin_schema(pinned("bonuses", ["no"], BONUS))
        assert ws.ask(next(iter(PAID))).doubts
        getattr(ws, verb)("bonuses", {"no": "B17"}, {"person": "Okafor", "bonus": 300})
        answer = ws.ask(next(iter(PAID)))
        assert answer.value == value and not answer.doubts and not ws.conflicts()


@pytest.mark.parametrize(
    "again",
    ["person: Lindt; bonus: 300", "bonus: 300", "person: Okafor"],
    ids=["other", "figure", "name"],
)
def test_a_row_without_its_key_that_shares_one_value_is_no_question(
    tmp_path: Path, again: str
) -> None:
    answer = bonuses(tmp_path, BONUSES.replace("\nperson: Okafor; bonus: 300", f"\n{again}"))
    assert not answer.doubts and answer.range.low == answer.value


def test_lines_of_one_part_are_different_things_with_and_without_a_key(tmp_path: Path) -> None:
    answer = bonuses(tmp_path, "no: B17; person: Okafor; bonus: 300\nperson: Okafor; bonus: 300")
    assert answer.value == 600 and not answer.doubts and answer.range.is_point


def test_a_row_that_does_not_tell_its_key_is_counted(tmp_path: Path) -> None:
    columns = [{"name": n, "type": kind, "description": n} for n, kind in BONUS.items()]
    proposed = {
        "name": "bonuses",
        "row": "a bonus",
        "rows_per_document": "several",
        "key": ["no"],
        "columns": columns,
    }
    counted = {"How many bonuses are there?": "SELECT COUNT(no) + SUM(no IS NULL) FROM bonuses"}
    text = (
        "no: B17; person: Okafor; bonus: 300\nperson: Moss; bonus: 90\n"
        "no: B22; person: Lindt; bonus: 450"
    )
    with opened(
        tmp_path / "w.db", Reader(LISTS, sql=counted, tables=[proposed]), {"memo.txt": text}
    ) as ws:
        answer = ws.ask(next(iter(counted)))
        assert answer.value == 3 and not answer.doubts


CLUBS = {
    "a.txt": "club: Chorale; head: Moreau; members: 41\nclub: Voile; head: Perrin; members: 60",
    "b.txt": "club: Chorale; head: Lefevre; members: 46\nclub: Voile; head: Perrin; members: 60",
}
MEMBERS = {
    "How many members are there?": "SELECT SUM(members) FROM clubs",
    "Who heads it?": "SELECT head FROM clubs WHERE members < 50",
}


def test_one_of_two_contradictions_of_a_thing_is_decided_and_nothing_counts_twice(
    tmp_path: Path,
) -> None:
    with opened(tmp_path / "w.db", Reader(LISTS, sql=MEMBERS), CLUBS) as ws:
        columns = {"club": "text", "head": "text", "members": "integer"}
        ws.pin_schema(pinned("clubs", ["club"], columns, key_scope="collection"))
        before = ws.ask(next(iter(MEMBERS)))
        assert (before.range.low, before.range.high) == (101, 106) and before.doubts
        ws.set_value("clubs", "members", 46, {"club": "Chorale"})
        after = ws.ask(next(iter(MEMBERS)))
        assert after.value == 106 and not after.doubts
        assert [doubt.kind for doubt in ws.ask("Who heads it?").doubts] == ["conflict"]


INVOICE = (
    "no: RE-118; pos: 1; work: Hedge; amount: 240\nno: RE-118; pos: 2; work: Leaves; amount: 85"
)
LINES = {"no": "text", "pos": "integer", "work": "text", "amount": "number"}


def filed(
    tmp_path: Path, second: str, settles: Any = None, dialect: Dialect = FULL
) -> tuple[Any, Reader]:
    reader = Reader(
        LISTS, sql=TOTAL, tables=[table_of(["no", "pos"], LINES)], settles=settles, dialect=dialect
    )
    with opened(tmp_path / "w.db", reader, {"scan.txt": INVOICE, "mail.txt": second}) as ws:
        return ws.ask(next(iter(TOTAL))), reader


def test_an_invoice_that_is_filed_twice_is_a_doubt_until_the_agent_says_what_it_is(
    tmp_path: Path,
) -> None:
    answer, _ = filed(
        tmp_path,
        INVOICE + "\nsent by mail",
        settles=lambda prompt: {"key": ["what"], "scope": "", "reason": ""},
    )
    assert (
        answer.value == 650
        and answer.range.low == 325
        and {doubt.kind for doubt in answer.doubts} == {"same"}
    )


@pytest.mark.parametrize(("scope", "value"), [("collection", 325), ("document", 650)])
def test_the_agent_says_once_whether_an_invoice_is_filed_twice(
    tmp_path: Path, scope: str, value: float
) -> None:
    def said(prompt: str) -> Any:
        return {"key": ["no", "pos"], "scope": scope, "reason": "said"}

    answer, reader = filed(tmp_path, INVOICE + "\nsent by mail", said)
    assert (
        answer.value == value
        and not answer.doubts
        and answer.range.is_point
        and len(reader.asked("reconcile")) == 1
    )


def test_a_single_line_that_is_filed_twice_is_asked_about_though_nothing_varies(
    tmp_path: Path,
) -> None:
    line, one = (
        "no: RE-118; pos: 1; work: Hedge; amount: 240",
        {"key": ["no", "pos"], "scope": "collection", "reason": "one"},
    )
    reader = Reader(
        LISTS, sql=TOTAL, tables=[table_of(["no", "pos"], LINES)], settles=lambda _: one
    )
    with opened(
        tmp_path / "w.db", reader, {"scan.txt": line, "mail.txt": line + "; sent: again"}
    ) as ws:
        assert ws.ask(next(iter(TOTAL))).value == 240


def test_two_invoices_of_equal_lines_are_two(tmp_path: Path) -> None:
    answer, reader = filed(tmp_path, INVOICE.replace("118", "164"))
    assert answer.value == 650 and not answer.doubts and not reader.asked("reconcile")
