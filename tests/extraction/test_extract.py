"""Rows out of a chunk in the full dialect: every row of a reply is a row or a recorded refusal."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from sliders.errors import ModelRefusal, ModelUnavailable
from sliders.extraction import (
    Absence,
    Asked,
    Cell,
    Extraction,
    Row,
    Source,
    joined,
    new_row,
    read_chunks,
    read_prompt,
)
from sliders.llm import Request, Response
from sliders.llm.testing import FunctionModel, ScriptedModel, truncated
from sliders.retrieval import ChunkContext
from sliders.schema import Column, Table

from .passages import FERRIES, INTEGER, NUMBER, QUAYS, asked_for, chunk_of, row, said, source_of

TEXT = "The ferry Merrow takes 20 cars. The ferry Tern takes 35 cars. Quay North is 4 m deep."
MERROW = row("ferries", name=said("Merrow", "Merrow"), cars=said(20, "20 cars"))
TERN = row("ferries", name=said("Tern", "Tern"), cars=said(35, "35 cars"))
NORTH = row("quays", quay=said("North", "Quay North"), depth=said(4, "4 m"))


async def read(
    text: str, *replies: Any, tables: tuple[Table, ...] = (FERRIES,)
) -> tuple[Extraction, ScriptedModel]:
    model = ScriptedModel(list(replies))
    (found,) = await read_chunks([source_of(text)], asked_for(*tables), model)
    return found, model


def values(found: Extraction, table: str = "ferries") -> list[tuple[Any, ...]]:
    return [tuple(cell.value for cell in each.cells) for each in found.of(table)]


async def test_one_call_fills_all_tables() -> None:
    found, model = await read(TEXT, {"rows": [MERROW, NORTH, TERN]}, tables=(FERRIES, QUAYS))
    assert len(model.history) == 1 and found.refusals == ()
    assert values(found) == [("Merrow", 20), ("Tern", 35)] and values(found, "quays") == [
        ("North", 4)
    ]
    assert len({each.id for each in found.rows}) == 3
    assert [each.ordinal for each in found.of("ferries")] == [0, 1]
    assert all(c.model == "scripted" and c.prompt_hash for each in found.rows for c in each.cells)


async def test_the_same_reply_gives_the_same_rows() -> None:
    first, _ = await read(TEXT, {"rows": [MERROW, TERN]})
    again, _ = await read(TEXT, {"rows": [MERROW, TERN]})
    assert first.rows == again.rows


async def test_a_column_that_is_left_out_is_not_stated() -> None:
    found, _ = await read(TEXT, {"rows": [row("ferries", name=said("Merrow", "Merrow"))]})
    cell = found.rows[0].cell("cars")
    assert cell is not None and cell.absence is Absence.NOT_STATED


async def test_a_row_of_an_unknown_table_is_a_refusal_and_the_others_stay() -> None:
    found, _ = await read(
        TEXT,
        {"rows": [row("boats", name=said("Merrow", "Merrow")), TERN, NORTH]},
        {"cells": [], "new_rows": []},
        tables=(FERRIES, QUAYS),
    )
    assert len(found.rows) == 2
    (refusal,) = found.refusals
    assert "boats" in refusal.reason and not refusal.fatal
    assert not found.failed("ferries") and not found.failed("quays")


async def test_an_unknown_column_is_a_refusal_and_its_row_stays() -> None:
    found, _ = await read(
        TEXT, {"rows": [row("ferries", name=said("Tern", "Tern"), crew=said(5, "35 cars"))]}
    )
    assert values(found) == [("Tern", None)]
    assert "crew" in found.refusals[0].reason and not found.failed("ferries")


@pytest.mark.parametrize(("table", "column"), [("FERRIES", "CARS"), ("Ferries ", "cars_")])
async def test_names_are_matched_as_sql_does(table: str, column: str) -> None:
    cells = {"Name": said("Tern", "Tern"), column: said(35, "35 cars")}
    reply = {"rows": [{"table": table, "cells": cells}]}
    found, model = await read(TEXT, reply, tables=(FERRIES, QUAYS))
    assert values(found) == [("Tern", 35)] and not found.refusals and len(model.history) == 1


async def test_a_name_that_matches_nothing_is_asked_back_once() -> None:
    strange = row("ferries", name=said("Tern", "Tern"), capacity=said(35, "35 cars"))
    again = {"cells": [{"number": 1, "value": 35, "words": ["35 cars"], "how": "stated"}]}
    found, model = await read(TEXT, {"rows": [strange]}, again)
    assert values(found) == [("Tern", 35)] and len(model.history) == 2
    assert "capacity 35" in model.history[1].messages[-1].content
    found, _ = await read(TEXT, {"rows": [strange]}, {"cells": []})
    cell = found.rows[0].cell("cars")
    assert cell is not None and cell.absence is Absence.NOT_PARSED and "capacity" in cell.detail


async def test_a_row_of_no_table_is_asked_back_once_and_else_not_known() -> None:
    tables = (FERRIES, QUAYS)
    boat = {**TERN, "table": "boats"}
    again = {"cells": [], "new_rows": [TERN]}
    found, model = await read(TEXT, {"rows": [boat]}, again, tables=tables)
    assert values(found) == [("Tern", 35)] and not found.failed("ferries")
    assert "boats" in model.history[1].messages[-1].content
    found, _ = await read(TEXT, {"rows": [boat]}, {"cells": [], "new_rows": [boat]}, tables=tables)
    assert found.failed("ferries") and not found.rows


async def test_odd_cells_cost_no_row() -> None:
    odd = {"name": "Merrow", "cars": {"value": [20, 35], "words": "20 cars"}}
    odd["name"] = {"value": "Merrow", "words": []}
    pieces = row(
        "ferries",
        name={"value": "Tern", "words": "Tern"},
        cars={"value": 35, "words": ["35 cars"], "how": "counted"},
    )
    found, _ = await read(
        TEXT, {"rows": [{"table": "ferries", "cells": odd}, pieces]}, {"cells": []}
    )
    assert values(found)[1] == ("Tern", 35) and len(found.rows) == 2
    name, cars = found.rows[0].cells
    assert (name.absence, name.value) == (Absence.UNGROUNDED, "Merrow"), "no words were given"
    assert cars.absence is Absence.NOT_PARSED


async def test_a_row_without_cells_is_a_row() -> None:
    found, _ = await read(TEXT, {"rows": [row("ferries")]})
    assert values(found) == [(None, None)]


async def test_equal_rows_are_two_rows_at_two_places() -> None:
    text = "Receipt\nTea 2.50\nTea 2.50\nCake 4.00"
    lines = Table("lines", (Column("item"), Column("price", NUMBER)), row="a line")
    tea = row("lines", item=said("Tea", "Tea"), price=said(2.5, "2.50"))
    found, _ = await read(text, {"rows": [tea, tea]}, tables=(lines,))
    spans = [tuple(c.span for c in each.cells) for each in found.rows]
    assert len(found.rows) == 2 and spans[0] != spans[1]
    assert all(
        low and text[low.start : low.end] in ("Tea", "2.50") for pair in spans for low in pair
    )


async def test_findings_are_asked_once_more_and_change_the_cell() -> None:
    wrong = row("ferries", name=said("Merrow", "Merrow"), cars=said(35, "20 cars"))
    fixed = {"cells": [{"number": 1, **said(20, "20 cars")}]}
    found, model = await read(TEXT, {"rows": [wrong, TERN]}, fixed)
    assert values(found) == [("Merrow", 20), ("Tern", 35)]
    assert all(not c.doubt for each in found.rows for c in each.cells)
    asked = model.history[1].messages[-1].content
    assert "cars" in asked and "Merrow" in asked and "20" in asked, (
        "the finding, and which row it is of"
    )
    assert len(model.history) == 2


async def test_a_cell_that_is_given_again_keeps_its_doubt_and_is_not_asked_a_third_time() -> None:
    wrong = row("ferries", name=said("Merrow", "Merrow"), cars=said(21, "20 cars"))
    found, model = await read(
        TEXT, {"rows": [wrong]}, {"cells": [{"number": 1, **said(21, "20 cars")}]}
    )
    cell = found.rows[0].cell("cars")
    assert cell is not None and (cell.value, bool(cell.doubt), cell.stands) == (21, True, True)
    assert len(model.history) == 2


@pytest.mark.parametrize(
    "again",
    [
        ModelRefusal("no"),
        {"cells": []},
        {"cells": [{"number": 0, "value": 9}, {"number": 7, "value": 9}]},
    ],
)
async def test_a_second_asking_that_gives_nothing_changes_nothing(again: Any) -> None:
    wrong = row("ferries", name=said("Merrow", "Merrow"), cars=said(21, "20 cars"))
    found, _ = await read(TEXT, {"rows": [wrong]}, again)
    assert values(found) == [("Merrow", 21)] and not found.failed("ferries")


async def test_a_value_can_be_taken_back() -> None:
    wrong = row("ferries", name=said("Merrow", "Merrow"), cars=said(99, "ninety-nine cars"))
    found, _ = await read(TEXT, {"rows": [wrong]}, {"cells": [{"number": 1, "value": None}]})
    cell = found.rows[0].cell("cars")
    assert cell is not None and cell.absence is Absence.NOT_STATED and cell.value is None
    assert "99" in cell.detail and "not in the text" in cell.detail, (
        "what was given first, and why it was doubted"
    )


def lines(count: int) -> str:
    return "".join(f"Ferry number{n} takes {n + 10} cars on its way.\n" for n in range(count))


def reader(request: Request) -> Any:
    """Reads such lines, and is cut where there are more than ten of them."""
    found = re.findall(r"Ferry (\w+) takes (\d+) cars", request.messages[-1].content)
    rows = [
        row("ferries", name=said(name, name), cars=said(int(cars), f"{cars} cars"))
        for name, cars in found
    ]
    return {"rows": rows} if len(rows) <= 10 else truncated()


async def test_a_cut_reply_is_asked_again_in_halves_and_no_row_is_lost_or_doubled() -> None:
    model = FunctionModel(reader)
    source = source_of(lines(40), start=500)
    (found,) = await read_chunks([source], asked_for(FERRIES), model)
    assert [v[0] for v in values(found)] == [f"number{n}" for n in range(40)]
    assert len({each.id for each in found.rows}) == 40 and found.refusals == ()
    for each in found.rows:
        cell = each.cell("name")
        assert cell is not None and cell.span is not None
        assert source.text[cell.span.start - 500 : cell.span.end - 500] == cell.value


async def test_halves_are_read_under_the_card_the_headings_and_the_header_of_their_table() -> None:
    table = "| Item | 2020 | 2021 |\n| --- | --- | --- |\n" + "".join(
        f"| part {n} | {n} | {n + 1} |\n" for n in range(60)
    )
    shown: list[str] = []

    def reply(request: Request) -> Any:
        shown.append(request.messages[-1].content)
        return truncated() if "part 9 " in shown[-1] and "part 50 " in shown[-1] else {"rows": []}

    chunk = replace(
        chunk_of(table, number=3),
        context=ChunkContext("Report", ("Sales",), captions=("in thousands",)),
    )
    source = replace(Source.of(chunk), card="Aldous Pier")
    await read_chunks([source], asked_for(FERRIES), FunctionModel(reply))
    assert len(shown) == 3
    above = ("From: Aldous Pier", "Section: Sales", "in thousands", "| Item | 2020 | 2021 |")
    assert all(text.count(said) == 1 for text in shown for said in above)


async def test_a_reply_that_stays_cut_is_a_failed_chunk() -> None:
    asked, model = asked_for(FERRIES, QUAYS), FunctionModel(lambda request: truncated())
    (found,) = await read_chunks([source_of(lines(40))], asked, model)
    assert found.rows == () and found.failed("ferries") and found.failed("quays")


async def test_a_salvaged_reply_keeps_its_whole_rows_and_the_chunk_is_asked_again_later() -> None:
    cut = Response("", {"rows": [MERROW]}, salvaged=True)
    found, _ = await read(TEXT, cut)
    assert values(found) == [("Merrow", 20)] and found.failed("ferries")


async def test_a_failed_call_is_a_refusal_and_no_server_is_an_error() -> None:
    found, _ = await read(TEXT, ModelRefusal("nothing of use"))
    assert (
        found.rows == ()
        and found.failed("ferries")
        and "nothing of use" in found.refusals[0].reason
    )
    with pytest.raises(ModelUnavailable):
        await read(TEXT, ModelUnavailable("no server"))


async def test_three_years_of_one_table_are_three_rows() -> None:
    text = (
        "| | 2020 | 2021 | 2022 |\n|---|---|---|---|\n| Net sales | 410 | 455 | 512 |\n"
        "| Q3 | 101 | 110 | 120 |"
    )
    sales = Table(
        "sales",
        (Column("year", INTEGER), Column("quarter", INTEGER), Column("sales", NUMBER)),
        row="a period",
    )
    years = [
        row("sales", year=said(year, str(year)), sales=said(amount, str(amount)))
        for year, amount in ((2020, 410), (2021, 455), (2022, 512))
    ]
    quarter = row("sales", year=said(2022, "2022"), quarter=said(3, "Q3"), sales=said(120, "120"))
    found, model = await read(text, {"rows": [*years, quarter]}, tables=(sales,))
    assert values(found, "sales") == [
        (2020, None, 410),
        (2021, None, 455),
        (2022, None, 512),
        (2022, 3, 120),
    ]
    assert len(model.history) == 1, "nothing is doubted"


async def test_twenty_counts_of_one_passage_stay_apart() -> None:
    text = " ".join(f"Village {n} counts {n * 7 + 3} souls." for n in range(20))
    villages = Table("villages", (Column("village"), Column("souls", INTEGER)), row="a village")
    given = [
        row(
            "villages",
            village=said(f"Village {n}", f"Village {n}"),
            souls=said(n * 7 + 3, f"{n * 7 + 3} souls"),
        )
        for n in range(20)
    ]
    found, model = await read(text, {"rows": given}, tables=(villages,))
    assert values(found, "villages") == [(f"Village {n}", n * 7 + 3) for n in range(20)]
    places = [each.cell("souls").span.start for each in found.rows]  # type: ignore[union-attr]
    assert places == sorted(places) and len(set(places)) == 20 and len(model.history) == 1


async def test_a_long_column_name_goes_to_the_model_and_back() -> None:
    name = "number_of_passengers_who_were_on_board_when_the_ferry_left"
    table = Table("sailings", (Column(name, INTEGER),), row="a sailing")
    found, model = await read(
        "She left with 15 passengers.",
        {"rows": [row("sailings", **{name: said(15, "15 passengers")})]},
        tables=(table,),
    )
    assert values(found, "sailings") == [(15,)] and name in model.history[0].messages[-1].content


# new columns on rows that stand


def test_new_cells_join_their_rows_and_others_become_rows_of_their_own() -> None:
    source = source_of(TEXT)

    def of(ordinal: int, **cells: Any) -> Row:
        return new_row(
            source, "ferries", ordinal, [Cell(name, value) for name, value in cells.items()]
        )

    known = [of(0, name="Merrow"), of(1, name="Tern"), of(2, name="Auk")]
    told = [of(0, name="Tern", cars=35), of(1, name="Gull", cars=9), of(2, name="Merrow", cars=20)]
    found = {
        each.id: {c.column: c for c in each.cells}
        for each in joined(told, known, ["name"], ["cars"])
    }
    assert found[known[0].id]["cars"].value == 20 and found[known[1].id]["cars"].value == 35
    assert found[known[2].id]["cars"].absence is Absence.NOT_STATED
    (new,) = [cells for key, cells in found.items() if key not in {each.id for each in known}]
    assert (new["name"].value, new["cars"].value) == ("Gull", 9)


def test_what_is_asked_stands_in_the_prompt() -> None:
    request = read_prompt(
        ["The text."], [Asked(FERRIES, FERRIES.columns[1:])], 10, ["How many cars?"]
    )
    content = request.messages[-1].content
    assert "cars (integer)" in content and "- name (" not in content
    assert "How many cars?" in content and "The text." in content
