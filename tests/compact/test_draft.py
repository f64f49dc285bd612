"""The compact dialect: one question a call, its own words first, each column a plain
question to one document.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sliders.compact import draft_prompt, drafted, induce_by_drafts
from sliders.errors import ModelRefusal
from sliders.llm import COMPACT, Request
from sliders.llm.testing import ScriptedModel, truncated
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType
from tests.schema.helpers import ROW, SAMPLES, ask, ask_compact, compact, embed, facts

LATE = compact(
    "SELECT COUNT(*) FROM sailings WHERE late = TRUE", ("late", "Was the ferry late?", "yes/no")
)
CARGO = compact(
    "SELECT cargo FROM sailings WHERE tons > 3",
    ("cargo", "What did it carry?", "text"),
    ("tons", "How many tons?", "number"),
)


def asked_for_facts(request: Request, row: str = "sailing") -> bool:
    """Whether a request asks for what must be known of one row before the SQL."""
    members = (request.json_schema or {})["properties"]
    of = members["columns"]["items"]["properties"].get("of", {}).get("enum")
    told = f"One row of the table is a {row}." in request.messages[-1].content
    return told and next(iter(members)) == "columns" and of == [f"one {row}"]


def facts_were_asked_for_second(model: ScriptedModel) -> bool:
    first, second = model.history[:2]
    return asked_for_facts(second) and not asked_for_facts(first)


def test_a_column_is_a_plain_question_and_a_judgement_is_marked() -> None:
    found, _ = ask_compact("How many were late?", LATE)
    column = found.schema.table("sailings").column("late")
    assert (column.description, column.type, column.reading) == (
        "Was the ferry late?",
        ColumnType.BOOLEAN,
        "judged",
    )
    assert (
        found.needs == {"How many were late?": ("sailings.late",)}
        and found.schema.tables[0].grain == "document"
    )


def test_each_question_is_a_call_and_the_tables_grow() -> None:
    found, model = ask(["How many were late?", "What was carried?"], LATE, CARGO, dialect=COMPACT)
    assert (
        len(model.history) == 3
        and "Was the ferry late?" not in model.history[2].messages[-1].content
    )
    assert found.schema.table("sailings").column_names == ("late", "cargo", "tons")
    assert found.needs["What was carried?"] == ("sailings.cargo", "sailings.tons")


def test_questions_asked_together_are_about_one_row_and_a_question_alone_says_its_own() -> None:
    _, model = ask(["How many were late?", "What was carried?"], LATE, CARGO, dialect=COMPACT)
    row, *questions = model.history
    assert "- How many were late?\n- What was carried?" in row.messages[-1].content
    assert all(
        "One row of the table is a sailing." in request.messages[-1].content
        for request in questions
    )
    _, model = ask_compact("How many were late?", LATE)
    assert (
        len(model.history) == 1
        and "One row of the table" not in model.history[0].messages[-1].content
    )


def test_who_watches_is_told_of_each_question_that_is_through_also_of_one_that_failed() -> None:
    model, through = (
        ScriptedModel([ROW, ModelRefusal("no"), CARGO], dialect=COMPACT, context_tokens=32768),
        list[int](),
    )
    both = ["How many were late?", "What was carried?"]
    asyncio.run(induce_by_drafts(both, SAMPLES, Schema(), model, embed, progress=through.append))
    assert through == [1, 2]


@pytest.mark.parametrize("failed", [ModelRefusal("no"), truncated("{"), {}])
def test_without_a_row_in_common_each_question_says_its_own(failed: Any) -> None:
    model = ScriptedModel([failed, LATE, CARGO], dialect=COMPACT, context_tokens=32768)
    found = asyncio.run(
        induce_by_drafts(
            ["How many were late?", "What was carried?"], SAMPLES, Schema(), model, embed
        )
    )
    assert not any(
        "One row of the table" in request.messages[-1].content for request in model.history
    )
    assert found.schema.table("sailings").column_names == ("late", "cargo", "tons")


def test_an_apostrophe_within_a_name_is_doubled_in_the_draft() -> None:
    priced = compact(
        "SELECT tons FROM sailings WHERE cargo = 'Miller's oats'",
        ("tons", "How many tons of cargo?", "number"),
        ("cargo", "What cargo is it?", "text"),
    )
    found, model = ask_compact("How many tons of Miller's oats are cargo?", priced)
    assert sum(request.json_schema is not None for request in model.history) == 1
    assert found.schema.table("sailings").column_names == ("tons", "cargo")
    assert "'Miller''s oats'" in next(iter(found.drafts.values()))


def test_columns_that_its_sql_does_not_use_are_no_part_of_the_proposal() -> None:
    extra = compact(
        "SELECT COUNT(*) FROM sailings WHERE late",
        ("late", "Was it late?", "yes/no"),
        ("sailings", "How many?", "integer"),
    )
    found, model = ask_compact("How many were late?", extra)
    assert found.schema.tables[0].column_names == ("late",) and len(model.history) == 1


def test_a_question_that_counts_rows_alone_needs_what_names_them_and_no_made_up_column() -> None:
    counted = compact(
        "SELECT COUNT(*) FROM sailings", ("count", "How many sailings are there?", "integer")
    )
    found, model = ask_compact("How many sailings are there?", counted)
    assert found.schema.tables[0].column_names == ("name",) and len(model.history) == 1


def test_what_its_sql_names_and_nothing_describes_is_asked_for_again() -> None:
    short = compact(
        "SELECT captain FROM sailings WHERE late = TRUE", ("late", "Was it late?", "yes/no")
    )
    whole = compact(
        "SELECT captain FROM sailings WHERE late = TRUE",
        ("late", "Was it late?", "yes/no"),
        ("captain", "Who led it?", "text"),
    )
    found, model = ask_compact("Whose ferry was late?", short, facts(whole))
    assert facts_were_asked_for_second(model)
    assert found.schema.tables[0].column_names == ("late", "captain") and not found.uncovered
    found, _ = ask_compact("Whose ferry was late?", short, facts(short))
    assert "sailings.captain" in found.uncovered["Whose ferry was late?"]


def test_a_column_that_stands_need_not_be_described_again() -> None:
    short = compact(
        "SELECT tons FROM trips WHERE late = TRUE", ("tons", "How many tons?", "number")
    )
    found, model = ask(["How many were late?", "How heavy?"], LATE, short, dialect=COMPACT)
    assert len(model.history) == 3 and found.needs["How heavy?"] == (
        "sailings.tons",
        "sailings.late",
    )


def test_a_statement_that_does_not_parse_leaves_the_columns() -> None:
    proposal = drafted(
        compact("SELECT ((", ("late", "Was it late?", "yes/no"), row="one sailing"),
        "Late?",
        Schema(),
    )
    assert proposal.tables[0].column_names == ("late",) and proposal.tables[0].name == "one_sailing"


def test_aliases_are_no_columns() -> None:
    sql = "SELECT port, document, COUNT(*) AS n FROM sailings GROUP BY port ORDER BY n DESC LIMIT 1"
    assert drafted(
        compact(sql, ("port", "Which port?", "text")), "Which port?", Schema()
    ).needs == {1: ("sailings.port",)}


def test_the_structure_of_the_documents_decides_the_grain() -> None:
    found, _ = ask_compact("How many were late?", LATE, grain="many")
    assert found.schema.tables[0].grain == "many"
    assert drafted({**LATE, "in_document": "several"}, "Late?", Schema()).tables[0].grain == "many"
    assert (
        drafted({**LATE, "in_document": "several"}, "Late?", Schema(), "document").tables[0].grain
        == "document"
    )


def test_lists_of_records_are_one_table() -> None:
    shops = compact("SELECT food FROM shops", ("food", "What is served?", "text"), row="a shop")
    found, _ = ask(
        ["How many were late?", "Which food?"], LATE, shops, dialect=COMPACT, grain="many"
    )
    assert [t.column_names for t in found.schema.tables] == [("late", "food")]
    assert found.needs["Which food?"] == ("sailings.food",)


def test_one_failed_question_leaves_the_others() -> None:
    asked = ["How many were late?", "What was carried?"]
    for replies, failed in (
        ([LATE, truncated()], asked[1]),
        ([ModelRefusal("no"), CARGO], asked[0]),
    ):
        found, _ = ask(asked, *replies, dialect=COMPACT)
        assert found.uncovered.keys() == {failed} and len(found.issues) == 1 and found.schema.tables
    with pytest.raises(ModelRefusal):
        ask(asked, ModelRefusal("no"), ModelRefusal("no"), dialect=COMPACT)


def test_a_column_for_words_that_nobody_asked_is_left_out() -> None:
    sql = "SELECT COUNT(*) FROM sailings WHERE late = TRUE AND captain = 'Ada Lund'"
    reply = compact(sql, ("late", "Was it late?", "yes/no"), ("captain", "Who led it?", "text"))
    for column, words in zip(reply["columns"], ("were late", "led by Ada Lund"), strict=True):
        column["asked"] = words
    assert drafted(reply, "How many were late?", Schema()).needs == {1: ("sailings.late",)}
    reply["columns"][0]["asked"] = "of the late ones"  # a small model copies most of the words
    assert drafted(reply, "How many of the ships were late?", Schema()).needs == {
        1: ("sailings.late",)
    }


def test_words_with_another_ending_are_words_of_the_question() -> None:
    reply = compact(
        "SELECT captain FROM sailings WHERE late = 1",
        ("captain", "Who led?", "text"),
        ("late", "Late?", "yes/no"),
    )
    reply["columns"][0]["asked"], reply["columns"][1]["asked"] = "captain", "late"
    assert drafted(reply, "Which captains were late?", Schema()).tables[0].column_names == (
        "captain",
        "late",
    )
    reply["columns"][0]["asked"] = "a to"  # short words begin too many others
    assert drafted(reply, "Were the total amounts late?", Schema()).tables[0].column_names == (
        "late",
    )


def test_a_statement_over_columns_that_stand_takes_none_of_those_that_it_does_not_use() -> None:
    counted = compact(
        "SELECT COUNT(*) FROM sailings WHERE cargo = 'oats'",
        ("sailings", "How many sailings?", "integer"),
    )
    found, _ = ask(["What was carried?", "How many with oats?"], CARGO, counted, dialect=COMPACT)
    assert found.schema.table("sailings").column_names == ("cargo", "tons")
    assert found.needs["How many with oats?"] == ("sailings.cargo",) and not found.uncovered


def test_the_prompt_is_few_shot_and_the_question_stands_last() -> None:
    request = draft_prompt("How many were late?", SAMPLES, Schema())
    assert (
        request.messages[-1].content.endswith("How many were late?")
        and "Ada Lund" in request.messages[-1].content
    )
    assert request.json_schema is not None and len(request.messages) > 6


def test_stated_columns_of_other_questions_are_shown_and_judgements_are_not() -> None:
    columns = (
        Column("captain", description="Who led it?"),
        Column("late", ColumnType.BOOLEAN, "Was it late?", reading="judged"),
    )
    shown = (
        draft_prompt("Who sailed?", SAMPLES, Schema((Table("sailings", columns),)))
        .messages[-1]
        .content
    )
    assert "captain (text): Who led it?" in shown and "Was it late?" not in shown


def test_a_reply_without_columns_is_refused() -> None:
    with pytest.raises(ModelRefusal):
        drafted([], "Late?", Schema())


def test_facts_are_asked_of_the_row_that_all_questions_have_in_common() -> None:
    short = compact(
        "SELECT captain FROM sailings", ("late", "Was it late?", "yes/no"), row="a captain"
    )
    led = compact("SELECT captain FROM sailings", ("captain", "Who led it?", "text"))
    found, model = ask(
        ["How many were late?", "Who led it?"], LATE, short, facts(led), dialect=COMPACT
    )
    assert [asked_for_facts(request) for request in model.history[1:]] == [False, False, True]
    assert "sailings.captain" in found.needs["Who led it?"] and not found.uncovered


def test_a_question_alone_is_asked_for_the_facts_of_the_row_that_it_said_itself() -> None:
    short = compact("SELECT captain FROM ports", ("late", "Was it late?", "yes/no"), row="a port")
    _, model = ask_compact("Who led it?", short, facts(CARGO, "one port"))
    assert asked_for_facts(model.history[1], "port")


def test_one_name_told_twice_is_one_column() -> None:
    twice = compact(
        "SELECT port FROM sailings WHERE port = 'Tarn' OR port = 'Brill'",
        ("port", "From which port?", "text"),
        ("port", "Which port is it?", "text"),
    )
    found, model = ask_compact("Is it Tarn or Brill?", twice)
    assert sum(request.json_schema is not None for request in model.history) == 1
    assert found.schema.tables[0].column("port").description == "From which port?"


def test_of_two_proposals_with_as_many_faults_the_one_that_is_no_guess_stands() -> None:
    first = compact(
        "SELECT fare FROM sailings WHERE cargo > 1", ("fare", "What did it cost?", "number")
    )
    second = compact(
        "SELECT price FROM sailings WHERE cargo > 1", ("price", "What did it cost?", "number")
    )
    found, model = ask_compact("What was the fare?", first, facts(second))
    assert facts_were_asked_for_second(model) and "fare" in found.schema.tables[0].column_names


def test_what_the_first_proposal_lacks_is_taken_from_the_second_and_no_more() -> None:
    first = compact(
        "SELECT fare FROM sailings ORDER BY day", ("fare", "What did it cost?", "number")
    )
    second = compact(
        "SELECT day FROM trips WHERE port = 1",
        ("day", "On which day?", "date"),
        ("port", "To where?", "integer"),
    )
    found, model = ask_compact("What was the fare?", first, facts(second))
    assert facts_were_asked_for_second(model)
    assert found.schema.tables[0].column_names == ("fare", "day")
    assert found.needs["What was the fare?"] == ("sailings.fare", "sailings.day")


def test_yes_and_no_of_one_question_and_of_its_opposite_are_two_columns() -> None:
    liked = compact(
        "SELECT COUNT(*) FROM sailings WHERE liked = 1", ("liked", "Was the trip liked?", "yes/no")
    )
    disliked = compact(
        "SELECT COUNT(*) FROM sailings WHERE disliked = 1",
        ("disliked", "Was the trip disliked?", "yes/no"),
    )
    again = compact(
        "SELECT COUNT(*) FROM sailings WHERE enjoyed = 1",
        ("enjoyed", "was the trip liked?", "yes/no"),
    )
    found, _ = ask(
        ["How many liked?", "How many disliked?", "How many enjoyed?"],
        liked,
        disliked,
        again,
        dialect=COMPACT,
    )
    assert found.schema.tables[0].column_names == ("liked", "disliked")
