"""A question and samples to a table: proposals are repaired, merged with what stands, and never touch pinned parts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sliders.llm.testing import ScriptedModel
from sliders.schema.induction import Induction, complete_table, induce_schema
from sliders.schema.types import Column, ColumnType, Schema, Table

SAMPLE = "Log of the ferry Merrow. Captain Ada Lund sailed with barley on 3 May 1998."


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Bags of words as unit vectors: texts without a common word are orthogonal."""
    words = sorted({word for text in texts for word in text.split()})
    rows = np.array([[float(text.split().count(word)) for word in words] for text in texts], dtype=np.float32)
    norms: NDArray[np.float32] = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.maximum(norms, 1e-9)).astype(np.float32)


def proposal(*columns: tuple[str, str, str], row: str = "a sailing", several: bool = False) -> dict[str, Any]:
    parts = [{"asked": asked, "name": name, "type": kind} for asked, name, kind in columns]
    return {"columns": parts, "row": row, "in_document": "several" if several else "one"}


def induce(question: str, *replies: Any, schema: Schema | None = None, **options: Any) -> Induction:
    model = ScriptedModel(list(replies))
    return asyncio.run(induce_schema(question, [SAMPLE], schema or Schema(), model, embed, **options))


def test_columns_come_from_the_parts_of_the_question() -> None:
    found = induce("Which captain carried barley?", proposal(("captain", "captain", "text"), ("barley", "cargo", "text")))
    assert found.table.column_names == ("captain", "cargo")
    assert (found.table.grain, found.needed) == ("document", ("captain", "cargo"))


@pytest.mark.parametrize("name", ["count", "total", "number", "number_of_documents", "rank", "sailing_count", "average"])
def test_what_sql_must_compute_is_no_column(name: str) -> None:
    found = induce("How many sailings carried barley?", proposal(("barley", "cargo", "text"), ("how many", name, "integer")))
    assert found.table.column_names == ("cargo",)
    assert any(issue.action == "dropped" for issue in found.issues)


def test_a_question_for_a_sum_is_asked_of_each_thing_where_nothing_but_the_sum_was_seen() -> None:
    total = proposal(("total", "total", "integer"))
    found = induce("How many barrels were lost in total?", total, proposal(("barrels lost", "barrels_lost", "integer")))
    assert found.table.column_names == ("barrels_lost",)
    seen = proposal(("barrels lost", "barrels_lost", "integer"), ("total", "total", "integer"))
    assert induce("How many barrels were lost in total?", seen).table.column_names == ("barrels_lost",)


def test_a_name_that_no_column_covers_is_asked_for_once_more() -> None:
    found = induce(
        "How much cargo did Orla Finch carry?",
        proposal(("cargo", "cargo_tons", "number")),
        proposal(("Orla Finch", "captain", "text")),
    )
    assert found.table.column_names == ("cargo_tons", "captain")


def test_a_proper_name_is_never_held_by_an_identifier() -> None:
    found = induce("How many sailings are about Merrow?", proposal(("Merrow", "ferry_id", "integer")))
    assert [(c.name, c.type) for c in found.table.columns] == [("name", ColumnType.TEXT)]


def test_what_is_near_a_place_is_not_the_place() -> None:
    found = induce("Which ferries are near Hull Pier?", proposal(("near Hull Pier", "location", "text")))
    assert found.table.column_names == ("near",)


def test_what_most_questions_count_is_the_row() -> None:
    others = ["How many of the sailings were late?", "How many sailings carried oats?"]
    found = induce(
        "How many sailings left Hull?", proposal(("left Hull", "port", "text"), row="a ferry"), others=others
    )
    assert (found.table.name, found.table.row) == ("sailings", "a sailing")


def test_several_rows_are_believed_only_when_a_sample_names_them() -> None:
    asked = proposal(("captain", "captain", "text"), row="a captain", several=True)
    one = induce("Who was captain?", asked, {"names": ["Ada Lund"]})
    three = induce("Who was captain?", asked, {"names": ["Ada Lund", "Merrow", "barley"]})
    invented = induce("Who was captain?", asked, {"names": ["Jon Berg", "Per Dahl", "Tom Lie"]})
    assert [t.table.grain for t in (one, three, invented)] == ["document", "many", "document"]


def test_a_later_question_extends_the_table_that_stands() -> None:
    standing = Schema((Table("sailings", (Column("cargo"),), row="a sailing", grain="document"),))
    found = induce("Which captain?", proposal(("captain", "captain", "text")), schema=standing)
    assert [t.column_names for t in found.schema.tables] == [("cargo", "captain")]
    assert found.needed == ("captain",)


def test_a_bare_name_is_the_name_that_the_table_has() -> None:
    standing = Schema((Table("sailings", (Column("ferry_name"),), row="a sailing", grain="document"),))
    found = induce("Which name?", proposal(("name", "name", "text")), schema=standing)
    assert found.table.column_names == ("ferry_name",)


def test_pinned_tables_are_never_changed() -> None:
    pinned = Schema((Table("sailings", (Column("cargo", pinned=True),), pinned=True),))
    found = induce("Which captain?", schema=pinned)  # no reply in the script: a call would fail
    assert found.schema == pinned


def test_two_roles_of_one_name_take_the_words_of_the_question() -> None:
    found = induce("Who was the winner and who the loser?", proposal(("winner", "team", "text"), ("loser", "team", "text")))
    assert found.table.column_names == ("winner", "loser")


def test_a_question_about_things_in_the_documents_gets_a_row_for_each() -> None:
    asked = proposal(("captain", "captain", "text"), ("tons", "tons", "number"), row="a sailing")
    several = induce("Which captain carried most tons?", asked, {"names": ["Ada Lund", "Merrow", "barley"]})
    assert (several.table.name, several.table.grain, several.table.column_names) == ("captains", "many", ("captain", "tons"))
    event = proposal(("captain", "captain", "text"), ("sailing", "sailing", "text"), ("tons", "tons", "number"), row="a sailing")
    told = induce("Which captain carried most tons in the sailing?", event, {"names": ["Ada Lund", "Merrow", "barley"]})
    assert told.table.column_names == ("captain", "tons")  # each sailing is a document
    one = induce("Which captain carried most tons?", asked, {"names": ["Ada Lund"]})
    assert (one.table.grain, one.table.column_names) == ("document", ("captain", "tons"))


def test_a_row_that_takes_part_in_another_event_is_one_of_several() -> None:
    asked = proposal(("captain", "captain", "text"), ("tons", "tons", "number"), row="a captain")
    names = {"names": ["Ada Lund", "Merrow", "barley"]}
    several = induce("How many times did a captain carry 30 or more tons?", asked, names)
    assert (several.table.name, several.table.grain, several.table.column_names) == ("captains", "many", ("captain", "tons"))
    one = induce("Which captain carried most tons?", asked)  # no reply in the script: nothing is probed
    assert one.table.grain == "document"


def test_what_a_standing_list_is_about_stays_in_it() -> None:
    captains = Table("captains", (Column("captain"), Column("tons", ColumnType.NUMBER)), row="a captain", grain="many")
    asked = proposal(("captain", "captain", "text"), ("tons", "tons", "number"), row="a sailing")
    standing = Schema((Table("sailings", (Column("port"),), row="a sailing", grain="document"), captains))
    found = induce("List the captains who carried 30 or more tons.", asked, schema=standing)  # nothing is probed
    assert [t.column_names for t in found.schema.tables] == [("port",), ("captain", "tons")]
    assert found.table.name == "captains"
    several = {**asked, "in_document": "several"}
    told = induce("How many times did a captain carry 30 or more tons?", several, schema=standing)
    assert told.table.name == "captains"
    assert told.schema.table("sailings").column_names == ("port",)


def test_rows_of_a_list_get_the_group_that_the_question_speaks_of() -> None:
    asked = proposal(("captain", "captain", "text"), ("tons", "tons", "number"), row="a captain", several=True)
    names = {"names": ["Ada Lund", "Merrow", "barley"]}
    question = "Did any captain carry 30 or more tons for a company that lost? How many such trips are there?"
    assert induce(question, asked, names).table.column_names == ("captain", "tons", "company")
    plain = induce("How many captains carried 30 or more tons for the company?", asked, names)
    assert "company" not in plain.table.column_names


def test_what_happened_to_counted_rows_is_so_or_not() -> None:
    found = induce("How many of the sailings ended in fog?", proposal(("fog", "fog", "integer")))
    assert found.table.columns[0].type is ColumnType.BOOLEAN
    weighed = induce("How many of the sailings state the cargo?", proposal(("cargo", "cargo", "integer")))
    assert weighed.table.columns[0].type is ColumnType.INTEGER


def test_what_became_of_one_thing_a_document_is_so_or_not() -> None:
    asked, question = proposal(("lamps broken", "lamp_broken", "integer")), "How many lamps were broken?"
    texts = ["The lantern was broken.", "On the quay a lamp was badly broken.", "All was well."]
    assert induce(question, asked, texts=texts).table.columns[0].type is ColumnType.BOOLEAN
    counted = [*texts, "In the storm 12 lamps were broken."]
    assert induce(question, asked, texts=counted).table.columns[0].type is ColumnType.INTEGER
    assert induce(question, asked, texts=texts[1:]).table.columns[0].type is ColumnType.INTEGER


def test_that_a_figure_is_stated_is_no_fact() -> None:
    asked = proposal(("barley", "barley_tons", "number"), ("state a figure", "log_type", "text"))
    assert induce("What is the mean of barley in the logs that state a figure?", asked).table.column_names == ("barley_tons",)


def test_a_code_behind_its_participle_is_named_after_it() -> None:
    asked = proposal(("keepers", "keeper", "text"), ("the boat registered HL-204", "boat", "text"))
    found = induce("Which keepers left in the boat registered HL-204?", asked)
    assert "registration" in found.table.column_names


def test_a_list_does_not_repeat_the_facts_of_its_document() -> None:
    whole = (Column("harbour"), Column("weather"), Column("pilot"))
    standing = Schema((Table("logs", whole, row="a log", grain="document"),))
    asked = proposal(
        ("captain", "captain", "text"), ("tons", "tons", "number"), ("harbour", "harbour", "text"),
        ("weather", "weather", "text"), row="a captain", several=True,
    )  # fmt: skip
    names = {"names": ["Ada Lund", "Merrow", "barley"]}
    found = induce("Which captain carried most tons to the harbour?", asked, names, schema=standing)
    assert found.table.column_names == ("captain", "tons", "harbour")


def test_the_year_of_the_only_date_is_no_column() -> None:
    standing = Schema((Table("sailings", (Column("left_on", ColumnType.DATE),), row="a sailing", grain="document"),))
    found = induce("Which calendar year has the most sailings?", proposal(("calendar year", "year", "integer")), schema=standing)
    assert (found.table.column_names, found.needed) == (("left_on",), ("left_on",))


@pytest.mark.parametrize(
    ("name", "date"), [("year_left", "date_left"), ("month_returned", "date_returned"), ("month", "date_left")]
)
def test_a_part_of_a_date_is_taken_from_the_date_that_it_belongs_to(name: str, date: str) -> None:
    dates = (Column("date_left", ColumnType.DATE), Column("date_returned", ColumnType.DATE))
    standing = Schema((Table("sailings", dates, row="a sailing", grain="document"),))
    near = {"year left": "date left", "month returned": "date returned", "month": "date left"}

    def same(texts: Sequence[str]) -> NDArray[np.float32]:
        return embed([near.get(text, text) for text in texts])

    model = ScriptedModel([proposal((name, name, "integer"))])
    found = asyncio.run(induce_schema(f"In which {name}?", [SAMPLE], standing, model, same))
    assert (found.table.column_names, found.needed) == (("date_left", "date_returned"), (date,))


def test_an_age_between_two_dates_is_counted_by_sql() -> None:
    dates = (Column("date_of_birth", ColumnType.DATE), Column("death_date", ColumnType.DATE))
    standing = Schema((Table("captains", dates, row="a captain", grain="document"),))
    found = induce("Who died at the highest age?", proposal(("age", "age", "integer")), schema=standing)
    assert (found.table.column_names, found.needed) == (("date_of_birth", "death_date"), ("date_of_birth", "death_date"))


def test_different_things_are_counted_in_the_column_that_names_them() -> None:
    found = induce("How many different ports occur?", proposal(("different ports", "distinct_ports", "integer")))
    assert [(c.name, c.type) for c in found.table.columns] == [("ports", ColumnType.TEXT)]
    both = induce("How many different ports occur?", proposal(("ports", "port", "text"), ("different ports", "n", "integer")))
    assert both.table.column_names == ("port",)


def test_a_number_of_the_counted_rows_is_no_column() -> None:
    parts = proposal(("how many logs", "log_number", "integer"), ("calm sea", "sea_state", "text"))
    found = induce("In how many logs was the sea calm?", parts)
    assert found.table.column_names == ("sea_state",)
    asked = induce("What is the log number of the trip with a calm sea?", parts)
    assert "log_number" in asked.table.column_names


def test_what_the_counted_things_happen_in_is_no_column() -> None:
    parts = proposal(("a storm", "storm", "text"), ("houses fell", "houses_fell", "integer"))
    found = induce("How many reports describe a storm in which houses fell?", parts)
    assert found.table.column_names == ("houses_fell",)
    told = proposal(("describes a storm", "storm", "text"), ("houses fell", "houses_fell", "integer"))
    assert induce("How many reports describe a storm in which houses fell?", told).table.column_names == ("houses_fell",)
    named = induce("How many reports name a storm and the houses that fell?", parts)
    assert "storm" in named.table.column_names


def test_a_name_that_lost_the_verb_of_the_question_gets_it_back() -> None:
    storm = "How many reports describe a storm in which at least one person was injured?"
    found = induce(storm, proposal(("at least one person was injured", "storm", "text")))
    assert [(c.name, c.type) for c in found.table.columns] == [("people_injured", ColumnType.INTEGER)]
    fire = "How many people were injured in the fire of a hotel?"
    found = induce(fire, proposal(("people", "guests", "integer"), ("a hotel", "hotel", "text")))
    assert found.table.column_names == ("people_injured", "hotel")
    kept = induce(fire, proposal(("people", "guests", "integer"), ("people were injured", "injured", "integer")))
    assert "guests" in kept.table.column_names
    ships = induce("How many ships were repaired in a port?", proposal(("ships", "ships", "integer"), ("a port", "port", "text")))
    assert "people_repaired" not in ships.table.column_names and "repaired" not in ships.table.column_names


def test_what_one_document_counts_beyond_a_bound_is_a_number_with_its_bound() -> None:
    question = "How many berths had a length above 40 feet on 3 May 1998?"
    found = induce(question, proposal(("berths", "berth", "text"), ("3 May 1998", "day", "date")))
    berths = found.table.columns[0]
    assert (berths.name, berths.type, berths.description) == (
        "berths",
        ColumnType.INTEGER,
        "berths; berths had a length above 40",
    )


def test_a_number_keeps_the_words_that_stand_around_it_in_the_question() -> None:
    first = induce("How many boats above a load of 3?", proposal(("load", "load", "number")))
    assert first.table.columns[0].description == ""
    asked = proposal(("load", "load", "number"))
    found = induce("What was the daily 3-hour load per 1,000 in the north?", asked, schema=first.schema)
    assert found.table.columns[0].description == "load; daily 3-hour load per 1,000"
    assert induce("What is the total load?", asked).table.columns[0].description == ""
    bound = proposal(("3,000 new loads", "new_loads", "integer"))
    assert induce("How many of the logs give 3,000 new loads?", bound).table.columns[0].description == ""
    after = proposal(("loads", "loads", "integer"))
    assert induce("How many of the logs give loads?", after).table.columns[0].description == ""


def test_a_short_name_that_no_text_prints_means_the_longer_column() -> None:
    long = Column("new_registered_private_berths", ColumnType.INTEGER)
    standing = Schema((Table("logs", (long,), row="a log", grain="document"),))
    question, text = "How many new berths of the week?", "12 new registered private berths"
    asked = proposal(("new berths of the week", "new_berths", "integer"), row="a log")
    found = induce(question, asked, schema=standing, texts=[text] * 3)
    assert found.table.column_names == ("new_registered_private_berths",)
    printed = induce(question, asked, schema=standing, texts=[f"{text}, 14 new berths"] * 3)
    assert printed.table.column_names == ("new_registered_private_berths", "new_berths")


def test_the_name_of_one_person_is_no_kind_of_row() -> None:
    found = induce("Who is the oldest?", proposal(("oldest", "birth_date", "date"), row="Ada Lund"))
    assert (found.table.name, found.table.row) == ("persons", "a person")


@pytest.mark.parametrize(
    ("question", "part", "column"),
    [
        ("How many people were rescued?", ("rescued", "passengers", "text"), ("people_rescued", ColumnType.INTEGER)),
        (
            "In how many storms was the pier flooded?",
            ("flooded", "pier_flooded", "integer"),
            ("pier_flooded", ColumnType.BOOLEAN),
        ),
    ],
)
def test_an_outcome_counts_people_or_is_so_or_not(
    question: str, part: tuple[str, str, str], column: tuple[str, ColumnType]
) -> None:
    found = induce(question, proposal(part, ("storm", "storm_name", "text")))
    assert next((c.name, c.type) for c in found.table.columns) == column


def test_a_word_that_a_question_used_for_a_column_is_that_column() -> None:
    captain = Column("captain", description="captain; skipper")
    standing = Schema((Table("sailings", (captain,), row="a sailing", grain="document"),))
    found = induce("Who was skipper?", proposal(("skipper", "skipper", "text")), schema=standing)
    assert found.table.column_names == ("captain",)


def test_columns_copied_from_the_schema_instead_of_the_question_are_asked_again() -> None:
    standing = Schema((Table("sailings", (Column("tons_lost", ColumnType.INTEGER),), row="a sailing", grain="document"),))
    copied = proposal(("tons_lost", "tons_lost", "integer"))
    found = induce("Which captain was late?", copied, proposal(("captain", "captain", "text")), schema=standing)
    assert found.needed == ("captain",)


def test_a_standing_name_is_not_taken_for_another_fact() -> None:
    standing = Schema((Table("sailings", (Column("new_losses", ColumnType.INTEGER),), row="a sailing", grain="document"),))
    found = induce("Were there new late passages?", proposal(("new late passages", "new_losses", "integer")), schema=standing)
    assert found.table.column_names == ("new_losses", "new_late_passages")


def test_numbers_that_a_document_states_of_counted_things_are_kept_and_its_name_is_not() -> None:
    columns = (("number of berths", "berths", "integer"), ("report", "report_name", "text"), ("harbour", "harbour", "text"))
    found = induce("How many berths has the harbour?", proposal(*columns, row="a report"))
    assert found.table.column_names == ("berths", "harbour")


def test_rows_without_a_name_are_no_rows() -> None:
    asked = proposal(("depth", "depth", "number"), row="a berth", several=True)
    found = induce("What is the depth?", asked, {"names": ["Ada Lund", "Merrow", "barley"]})
    assert found.table.grain == "document"


MANY = {"row": "On 3 May 1998, a ferry left with 20 tons of barley", "rows_per_document": "many"}
NAMES = {"names": ["Ada Lund", "Merrow", "barley"]}


@pytest.mark.parametrize(
    ("table", "replies", "row", "grain"),
    [
        (Table("sailings", (Column("cargo"), Column("port"))), [MANY], "a sailing", "document"),
        (Table("captains", (Column("captain"), Column("tons"))), [MANY, NAMES], "a captain", "many"),
        (Table("captains", (Column("captain"),)), [MANY, {"names": ["Ada Lund"]}], "a captain", "document"),
        (Table("entries", (Column("cargo"),)), [{"row": "an entry", "rows_per_document": "one"}], "an entry", "document"),
    ],
)
def test_a_pinned_table_has_several_rows_a_document_only_where_a_column_and_a_sample_show_them(
    table: Table, replies: list[Any], row: str, grain: str
) -> None:
    found = asyncio.run(complete_table(table, [SAMPLE], ScriptedModel(replies)))
    assert (found.row, found.grain, found.columns) == (row, grain, table.columns)


def test_counted_things_that_bear_names_of_their_own_get_the_column_that_names_them() -> None:
    year = proposal(("opened", "year_opened", "integer"), row="a lock")
    texts = ["# Saltmere Lock\nSaltmere Lock opened in 1999.", "The Orchard Lock opened in 2004.", "Tow Path. A path."]
    question = "How many locks opened after 2000?"
    assert induce(question, year, texts=texts).table.column_names == ("lock_name", "year_opened")

    compound = ["Saltmere Footbridge opened in 1999.", "The Orchard Bridge opened in 2004."]
    footbridges = induce("How many bridges opened after 2000?", year, texts=compound)
    assert footbridges.table.column_names == ("bridge_name", "year_opened")

    alike = ["Canal Lock Survey. Form of the Old Lock: it opened in 1999.", "Form of the Old Lock: opened in 2004."]
    assert induce(question, year, texts=alike).table.column_names == ("year_opened",)


@pytest.mark.parametrize(
    ("question", "asked", "name", "kind"),
    [
        ("Which ferry has the EAN-13 4006381333931?", ("EAN-13", "ean", "number"), "ean_13", ColumnType.TEXT),
        ('Who launched "People of the Sea"?', ("builder", "builder", "text"), "launched_by", ColumnType.TEXT),
        ('Who launched "Otter"?', ("launched", "launcher", "text"), "launcher", ColumnType.TEXT),
        ("Who drowned in the storm?", ("keeper", "keeper", "text"), "keeper", ColumnType.TEXT),
    ],
)
def test_identifiers_and_agents_are_named_as_the_question_says(
    question: str, asked: tuple[str, str, str], name: str, kind: ColumnType
) -> None:
    title = question.split('"')[1] if '"' in question else "harbour"
    table = induce(question, proposal(asked, (title, "title", "text"))).table
    assert (table.columns[0].name, table.columns[0].type) == (name, kind)


def test_a_compared_number_of_listed_names_gets_a_column_that_counts_them() -> None:
    question = "How many ferries have more than one captain?"
    table = induce(question, proposal(("captain", "captain", "text"))).table
    assert table.column_names == ("captain", "captain_count")
    known = Schema((Table("ferries", (Column("captain"),), row="a ferry", grain="document"),))
    number = proposal(("more than one captain", "captain", "integer"), row="a ferry")
    assert induce(question, number, schema=known).needed == ("captain_count",)
    assert induce("Which captain sailed?", proposal(("captain", "captain", "text"))).table.column_names == ("captain",)


@pytest.mark.parametrize(
    ("asked", "proposed", "name"),
    [
        ("new registered berths", "berths", "new_registered_berths"),
        ("number of new berths", "berths", "new_berths"),
        ("more than 200 new berths", "berths", "new_berths"),
        ("highest harbour fee", "fee", "harbour_fee"),
        ("number of berths", "berths", "berths"),
        ("average depth", "depth", "depth"),
        ("depth of the basin", "depth", "depth"),
    ],
)
def test_a_number_is_named_by_all_of_the_words_that_tell_it(asked: str, proposed: str, name: str) -> None:
    found = induce(f"Which harbour has the {asked}?", proposal(("harbour", "harbour", "text"), (asked, proposed, "integer")))
    assert found.table.column_names == ("harbour", name)


def test_a_figure_that_a_report_states_is_no_column() -> None:
    asked = proposal(("depth", "depth", "number"), ("figure", "figure", "text"))
    assert induce("What is the average depth in the reports that state a figure?", asked).table.column_names == ("depth",)


@pytest.mark.parametrize(
    ("question", "kept"),
    [("What is the average depth in metres?", ("depth",)), ("Which unit had the greatest depth?", ("depth", "unit"))],
)
def test_the_unit_of_a_number_is_no_column_of_its_own(question: str, kept: tuple[str, ...]) -> None:
    asked = proposal(("depth", "depth", "number"), ("metres", "unit", "text"), row="a berth")
    assert induce(question, asked, {"names": []}).table.column_names == kept
