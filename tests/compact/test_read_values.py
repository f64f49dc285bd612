"""Reading as a small model does it: typed values that code finds in the text, words asked for
once, odds of one token.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from sliders.compact import read_compact
from sliders.errors import ModelRefusal
from sliders.extraction import Absence, Extraction, How
from sliders.llm import COMPACT, Request, Response
from sliders.llm.testing import FunctionModel, truncated
from sliders.schema import Column, Table
from sliders.values import ColumnType
from tests.extraction.passages import BOOLEAN, INTEGER, asked_for, source_of

TEXT = "Merrow\n\nThe ferry takes 20 cars and was built in Arden in 1911. Nobody ever liked her."
FERRY = Table(
    "ferries",
    (Column("name"), Column("cars", INTEGER), Column("town")),
    row="a ferry",
    grain="document",
)
LIKED = Column("liked", BOOLEAN, "Was she liked?", reading="judged")
KIND = Column(
    "kind", ColumnType.CATEGORY, "What kind?", values=("ferry", "tug", "yacht"), reading="judged"
)


async def read(
    table: Table, reply: Callable[[Request], Any], text: str = TEXT
) -> tuple[Extraction, list[Request]]:
    """What is read, and the requests."""
    model = FunctionModel(reply, dialect=COMPACT)
    [found] = await read_compact([source_of(text, start=100)], asked_for(table), model)
    return found, list(model.history)


def fields(request: Request) -> set[str]:
    return set((request.json_schema or {}).get("properties", ()))


def table_of(*columns: Column, grain: Any = "document") -> Table:
    return Table("ferries", columns, row="a ferry", grain=grain)


async def test_typed_values_are_found_in_the_text() -> None:
    found, asked = await read(
        FERRY, lambda request: {"name": "Merrow", "cars": 20, "town": "arden"}
    )
    (row,) = found.rows
    assert [cell.value for cell in row.cells] == ["Merrow", 20, "arden"] and len(asked) == 1
    for cell, printed in zip(row.cells, ("Merrow", "20", "Arden"), strict=True):
        assert cell.span is not None and cell.model == "function" and cell.prompt_hash
        assert (
            TEXT[cell.span.start - 100 : cell.span.end - 100] == cell.printed
            and printed in cell.printed
        )


async def test_a_date_that_may_be_read_two_ways_stays_unread() -> None:
    table = table_of(Column("sold", ColumnType.DATE, "When was she sold?"))
    text = "Sold on 03/04/1911 to a miller."
    found, asked = await read(table, lambda request: {"sold": "03/04/1911"}, text)
    assert found.rows[0].cells[0].absence is Absence.NOT_PARSED and len(asked) == 1


async def test_words_are_asked_once_for_the_values_that_the_text_prints_nowhere() -> None:
    def reply(request: Request) -> Any:
        if fields(request) == {"name", "cars", "town"}:
            return {"name": "Merrow", "cars": 19, "town": "Brill"}
        assert fields(request) == {"cars", "town"}, "only what was not found"
        return {"cars": "20 cars", "town": "in the town of Brill"}

    found, asked = await read(FERRY, reply)
    name, cars, town = found.rows[0].cells
    assert len(asked) == 2 and name.stands
    assert (cars.value, cars.stands, bool(cars.doubt)) == (19, True, True), (
        "its words print another number"
    )
    assert (town.value, town.absence) == ("Brill", Absence.UNGROUNDED)


async def test_null_is_not_stated_and_an_unfit_value_did_not_parse() -> None:
    table = table_of(Column("name"), Column("built", ColumnType.DATE))
    found, _ = await read(table, lambda request: {"name": None, "built": "early"})
    name, built = found.rows[0].cells
    assert name.absence is Absence.NOT_STATED and built.absence is Absence.NOT_PARSED


async def test_a_value_that_the_model_was_not_sure_of_enters_unverified() -> None:
    said = {"name": "Merrow", "cars": 20, "town": None}
    told = Response(json.dumps(said), said, sureness={"name": -0.1, "cars": -0.9, "town": -2.0})
    found, asked = await read(FERRY, lambda request: told)
    name, cars, town = found.rows[0].cells
    assert (name.doubt, cars.value, cars.stands, town.doubt) == (
        "",
        20,
        True,
        "",
    ) and "41%" in cars.doubt
    assert asked[0].told and len(asked) == 1


async def test_each_row_of_a_list_is_as_sure_as_its_own_values() -> None:
    rows = [{"name": "Merrow", "cars": 20}, {"name": "Tern", "cars": 35}]
    told = Response(
        json.dumps({"rows": rows}), {"rows": rows}, sureness={"cars": -0.1, "cars#1": -0.8}
    )
    found, _ = await read(PAIR, lambda request: told, PROSE)
    assert [bool(row.cells[0].doubt) for row in found.rows] == [False, True]


async def test_a_judged_column_is_one_token_with_its_odds() -> None:
    found, asked = await read(table_of(LIKED), lambda request: {"yes": -2.0, "no": -0.2})
    (cell,) = found.rows[0].cells
    assert (cell.value, cell.how, cell.doubt) == (False, How.JUDGED, "")
    assert dict(cell.odds) == {"yes": -2.0, "no": -0.2}
    assert asked[0].choices == ("yes", "no") and asked[0].max_tokens == 1
    content = asked[0].messages[-1].content
    assert content.index("Nobody ever liked her") < content.index("Was she liked?"), (
        "the document first: one prefix"
    )


async def test_a_judged_category_is_one_of_its_values() -> None:
    found, _ = await read(table_of(KIND), lambda request: {"ferry": -0.1, "tug": -3.0})
    (cell,) = found.rows[0].cells
    assert cell.value == "ferry" and set(dict(cell.odds)) == {"ferry", "tug", "yacht"}


async def test_values_that_begin_alike_are_chosen_by_letter() -> None:
    column = Column(
        "fate",
        ColumnType.CATEGORY,
        "Which?",
        values=("damaged badly", "damaged a bit"),
        reading="judged",
    )
    found, asked = await read(table_of(column), lambda request: {"A": -3.0, "B": -0.1})
    assert asked[0].choices == ("A", "B") and found.rows[0].cells[0].value == "damaged a bit"
    assert "damaged badly" in asked[0].messages[-1].content


async def test_a_server_without_odds_gives_an_unverified_word() -> None:
    found, _ = await read(table_of(LIKED), lambda request: "no")
    (cell,) = found.rows[0].cells
    assert (cell.value, cell.odds, bool(cell.doubt)) == (False, (), True)


async def test_stated_and_judged_columns_keep_their_order() -> None:
    def reply(request: Request) -> Any:
        return {"yes": -1.0, "no": -0.5} if request.choices else {"name": "Merrow", "cars": 20}

    found, asked = await read(table_of(Column("name"), LIKED, Column("cars", INTEGER)), reply)
    assert [cell.column for cell in found.rows[0].cells] == ["name", "liked", "cars"] and len(
        asked
    ) == 2


async def test_a_failed_call_fails_its_cells_and_keeps_the_others() -> None:
    def reply(request: Request) -> Any:
        return {"yes": -1.0, "no": -0.5} if request.choices else ModelRefusal("broken")

    found, _ = await read(table_of(Column("name"), LIKED), reply)
    name, liked = found.rows[0].cells
    assert name.absence is Absence.CALL_FAILED and "broken" in name.detail and liked.stands
    assert found.failed("ferries")


async def test_records_are_read_line_by_line_at_their_places() -> None:
    text = "".join(f"[L{n:02}] The ferry number{n} takes {n + 10} cars.\n" for n in range(6))

    def reply(request: Request) -> Any:
        line = request.messages[-1].content.split("<document>")[1].split("</document>")[0]
        number = int(line.split("number")[1].split()[0])
        assert line.count("ferry") == 1, "one record a call"
        return {"name": f"number{number}", "cars": number + 10}

    found, asked = await read(
        table_of(Column("name"), Column("cars", INTEGER), grain="many"), reply, text
    )
    assert [row.cells[0].value for row in found.rows] == [f"number{n}" for n in range(6)] and len(
        asked
    ) == 6
    assert len({row.id for row in found.rows}) == 6
    for row in found.rows:
        for cell in row.cells:
            assert (
                cell.span is not None
                and text[cell.span.start - 100 : cell.span.end - 100] == cell.printed
            )


PAIR = table_of(Column("cars", INTEGER), Column("name"), grain="many")
MANY = table_of(Column("cars", INTEGER), Column("name"), Column("town"), grain="many")
PROSE = (
    "The ferry Merrow takes 20 cars. The ferry Tern takes 35 cars. Of the ferry Auk nobody knows."
)


def listing(rows: list[dict[str, Any]]) -> Callable[[Request], Any]:
    """Replies with the rows, each with the columns that are asked for."""

    def reply(request: Request) -> Any:
        shape: Any = request.json_schema
        return {
            "rows": [
                {name: row[name] for name in shape["properties"]["rows"]["items"]["properties"]}
                for row in rows
            ]
        }

    return reply


async def test_a_list_in_prose_is_read_in_one_reply_with_the_name_first() -> None:
    rows = [
        {"name": name, "cars": cars, "town": None}
        for name, cars in (("Merrow", 20), ("Tern", 35), ("Auk", None))
    ]
    found, asked = await read(MANY, listing(rows), PROSE)
    assert [tuple(c.value for c in row.cells[:2]) for row in found.rows] == [
        (20, "Merrow"),
        (35, "Tern"),
        (None, "Auk"),
    ]
    (shape,) = (
        request.json_schema["properties"]["rows"]["items"]["properties"]
        for request in asked
        if request.json_schema
    )
    assert list(shape) == ["name", "cars", "town"] and shape["name"]["minLength"] == 1


async def test_a_page_that_lists_nothing_is_asked_once() -> None:
    found, asked = await read(MANY, listing([]), PROSE)
    assert found.rows == () and len(asked) == 1 and found.refusals == ()


async def test_a_judgement_in_a_list_is_kept_with_the_odds_of_its_own_row() -> None:
    rows = [
        {"name": "Merrow", "liked": True, "kind": "ferry"},
        {"name": "Tern", "liked": False, "kind": None},
        {"name": "Auk", "liked": None, "kind": "tug"},
    ]
    listed = Response(
        json.dumps({"rows": rows}),
        {"rows": rows},
        odds={"name": 9.0, "liked": 2.0, "liked#1": -1.0, "kind": 3.0},
    )
    found, asked = await read(
        table_of(Column("name"), LIKED, KIND, grain="many"), lambda request: listed, PROSE
    )
    liked, kinds = ([row.cells[n] for row in found.rows] for n in (1, 2))
    assert asked[0].told and [c.value for c in liked] == [True, False, None]
    for cell, preferred in zip(liked[:2], (2.0, -1.0), strict=True):
        yes, no = (dict(cell.odds)[said] for said in ("yes", "no"))
        assert cell.how is How.JUDGED and yes - no == pytest.approx(preferred)
    assert liked[2].absence is Absence.NOT_STATED
    assert (
        kinds[0].value == "ferry"
        and "no odds" in kinds[0].doubt
        and kinds[1].absence is Absence.NOT_STATED
    )


async def test_a_loop_is_cut_and_recorded() -> None:
    rows = [{"name": name, "cars": cars} for name, cars in (("Merrow", 20), ("Tern", 35))]
    stopped = Response(
        json.dumps({"rows": rows * 4}, separators=(",", ":"))[:-2],
        {"rows": rows * 4},
        "length",
        salvaged=True,
    )
    found, asked = await read(PAIR, lambda request: stopped, PROSE * 8)
    assert asked[0].enough is not None and asked[0].enough(stopped.text), (
        "so that a server of our own stops it"
    )
    assert [row.cells[1].value for row in found.rows] == ["Merrow", "Tern"] and len(asked) == 1
    (refusal,) = found.refusals
    assert "loop" in refusal.reason and "6" in refusal.subject and not found.failed("ferries")


async def test_equal_rows_that_the_model_ended_itself_are_rows() -> None:
    found, _ = await read(PAIR, lambda request: {"rows": [{"name": "Tern", "cars": 35}] * 6}, PROSE)
    assert len(found.rows) == 6 and found.refusals == ()


async def test_a_cut_list_is_asked_again_in_halves() -> None:
    lines = [f"The ferry number{n} takes {n + 10} cars on each of her ways." for n in range(24)]
    text = "\n".join(lines)

    def reply(request: Request) -> Any:
        shown = [n for n, line in enumerate(lines) if line in request.messages[-1].content]
        return (
            {"rows": [{"name": f"number{n}", "cars": n + 10} for n in shown]}
            if len(shown) < 10
            else truncated()
        )

    found, _ = await read(PAIR, reply, text)
    assert [row.cells[1].value for row in found.rows] == [
        f"number{n}" for n in range(24)
    ] and found.refusals == ()


@pytest.mark.parametrize("table", [FERRY, MANY])
async def test_a_refused_reply_loses_nothing_silently(table: Table) -> None:
    found, _ = await read(table, lambda request: ModelRefusal("broken"), PROSE)
    assert found.failed("ferries") and all(
        c.absence is Absence.CALL_FAILED for row in found.rows for c in row.cells
    )


async def test_a_number_under_a_note_of_a_scale_is_in_doubt() -> None:
    """Whether "in thousands" holds for a column without a unit, code cannot know."""
    text = "It is 210 metres long.\n\nAccount, in thousands of euros\n\nCost     3,120\n"
    table = table_of(
        Column("cost", ColumnType.NUMBER, "What did it cost?"), Column("length", ColumnType.NUMBER)
    )
    found, _ = await read(table, lambda _: {"cost": 3120, "length": 210}, text)
    cost, length = found.rows[0].cells
    assert cost.value == 3120 and cost.doubt.endswith("in thousands of euros") and not length.doubt


@pytest.mark.parametrize(("said", "value"), [(4.6, 4_600_000), (4_600_000, 4_600_000)])
async def test_a_figure_copied_without_its_printed_scale_gets_it(said: float, value: int) -> None:
    text = "Dunmarrow Bridge is 210 metres long and cost 4.6 million euros."
    table = table_of(
        Column("cost", ColumnType.NUMBER, "What did it cost?"), Column("length", ColumnType.NUMBER)
    )
    words = {"cost": "4.6 million euros"}
    found, _ = await read(
        table,
        lambda request: words if fields(request) == {"cost"} else {"cost": said, "length": 210},
        text,
    )
    assert [cell.value for cell in found.rows[0].cells] == [value, 210]
