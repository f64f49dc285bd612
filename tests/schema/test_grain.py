"""How many rows a document fills is seen in documents, and said where they are of two minds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from sliders.compact import Kind, induce_by_drafts, kinds, with_naming
from sliders.llm import COMPACT
from sliders.llm.testing import ScriptedModel
from sliders.schema import Column, Grain, Schema, Table, row_noun
from tests.schema.helpers import ROW, SAMPLES, compact, embed

FARES = compact("SELECT SUM(fare) FROM sailings", ("fare", "What did it cost?", "number"))
LATE = compact(
    "SELECT COUNT(*) FROM sailings WHERE late = 1", ("late", "Was it late?", "yes/no"), several=True
)
OWNER = compact(
    "SELECT owner FROM companies", ("owner", "Who owns the company?", "text"), row="a company"
)


def table(row: str, grain: Grain) -> Table:
    return Table("sailings", (Column("fare"), Column("late")), row, grain=grain)


def things(*numbers: int, of: str = "thing") -> list[list[str]]:
    """Names that documents list, so many each."""
    return [[f"{of} {n}" for n in range(number)] for number in numbers]


@pytest.mark.parametrize(
    ("told", "said", "seen"),
    [
        ([4, 4, 3], ["document", "document"], "many"),
        ([1, 1, 4], ["many", "many"], "document"),
        ([], ["many"], "document"),
        ([2, 2, 1], ["many", "document", "many"], "many"),
        ([2, 2, 1], ["many", "document"], "document"),
    ],
)
def test_documents_decide_and_where_they_do_not_most_questions_do(
    told: list[int], said: list[Grain], seen: Grain
) -> None:
    async def rows_told(_: Sequence[Table]) -> list[list[list[str]]]:
        return [things(*told)]

    found = asyncio.run(kinds([table("a sailing", grain) for grain in said], rows_told))
    assert found == {"sailing": Kind(seen, "sailings", "a sailing")}


def test_each_kind_of_row_is_listed_once_by_its_name_first() -> None:
    listed: list[Table] = []

    async def rows_told(asked: Sequence[Table]) -> list[list[list[str]]]:
        listed.extend(asked)
        return [things(5), things(1, of="company")]

    seen = asyncio.run(
        kinds(
            [
                table("a sailing", "document"),
                table("a company", "many"),
                table("a sailing", "many"),
            ],
            rows_told,
        )
    )
    assert {noun: kind.grain for noun, kind in seen.items()} == {
        "sailing": "many",
        "company": "document",
    }
    assert [(t.row, t.column_names) for t in listed] == [
        ("a sailing", ("name", "fare", "late")),
        ("a company", ("name", "fare", "late")),
    ]


def test_nouns_for_which_documents_list_the_same_things_are_one_kind_of_row() -> None:
    trips = Table("trips", (Column("speed"),), "a trip", grain="document")
    captains = Table("captains", (Column("age"),), "a captain", grain="many")

    async def rows_told(_: Sequence[Table]) -> list[list[list[str]]]:
        return [
            things(4, 6, of="trip"),
            [["trip 1", "trip 2", "trip 9"], ["trip 5"]],
            things(4, 4, of="captain"),
        ]

    seen = asyncio.run(kinds([table("a sailing", "many"), trips, captains], rows_told))
    assert (
        seen["trip"] == seen["sailing"] == Kind("many", "sailings", "a sailing")
        and seen["captain"].table == "captains"
    )


def test_questions_that_call_one_row_by_several_nouns_share_a_table() -> None:
    async def rows_told(asked: Sequence[Table]) -> list[list[list[str]]]:
        return [things(4, 4) for _ in asked]

    speed = compact(
        "SELECT trip FROM trips ORDER BY speed DESC",
        ("trip", "What is the name of the sailing?", "text"),
        ("speed", "How fast was it?", "number"),
        row="a trip",
    )
    questions = ["What did all cost?", "Which was the fastest?"]
    model = ScriptedModel([ROW, FARES, speed], dialect=COMPACT, context_tokens=32768)
    found = asyncio.run(
        induce_by_drafts(questions, SAMPLES, Schema(), model, embed, rows_told=rows_told)
    )
    assert [t.name for t in found.schema.tables] == ["sailings"]
    assert found.needs[questions[1]] == ("sailings.name", "sailings.speed")
    assert found.drafts[questions[1]] == "SELECT name FROM sailings ORDER BY speed DESC"


def test_a_table_of_several_rows_a_document_names_them_and_each_question_needs_the_name() -> None:
    async def rows_told(asked: Sequence[Table]) -> list[list[list[str]]]:
        return [
            things(4, 4) if row_noun(one) == "sailing" else things(1, 1, of="company")
            for one in asked
        ]

    questions = ["What did all cost?", "How many were late?", "Who owns it?"]
    model = ScriptedModel([ROW, FARES, LATE, OWNER], dialect=COMPACT, context_tokens=32768)
    found = asyncio.run(
        induce_by_drafts(questions, SAMPLES, Schema(), model, embed, rows_told=rows_told)
    )
    sailings, companies = found.schema.tables
    assert (sailings.grain, sailings.column_names) == ("many", ("name", "fare", "late"))
    assert sailings.column("name").description == "What is the name of the sailing?"
    assert (companies.grain, companies.column_names) == ("document", ("owner",))
    assert [found.needs[q] for q in questions] == [
        ("sailings.name", "sailings.fare"),
        ("sailings.name", "sailings.late"),
        ("companies.owner",),
    ]


def test_a_text_that_is_called_as_the_row_is_names_it() -> None:
    columns = (
        Column("fare"),
        Column("sailing", description="Which was the dearest sailing?"),
        Column("captain"),
    )
    named = with_naming(Table("sailings", columns, "a sailing", grain="many"))
    assert named.column_names == ("sailing", "fare", "captain")
    assert named.columns[0].description == "What is the name of the sailing?"
    assert with_naming(replace(named, grain="document")).columns == named.columns
