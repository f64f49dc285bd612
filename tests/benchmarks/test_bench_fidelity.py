"""The fidelity benchmark: the perfect reader finds words, speaks the reply shapes,
and harm is counted.
"""

from __future__ import annotations

import json

import pandas as pd
import pytest

from benchmarks.fidelity import gold
from benchmarks.fidelity.__main__ import totals
from benchmarks.fidelity.cases import cases
from benchmarks.fidelity.reader import PerfectReader
from benchmarks.fidelity.run import Tally, normal_sql, tally_cells
from benchmarks.fidelity.sight import Eyes
from benchmarks.fidelity.words import places, sentence
from benchmarks.scoring import Prediction, score_answer
from sliders.llm import Message, Request

WORLDS = {world.name: world for world in cases()}


def asked(prompt: str, *properties: str) -> Request:
    return Request(
        "stage",
        (Message("user", prompt),),
        json_schema={"properties": {key: {} for key in properties}},
    )


def reading(table: gold.FactTable, text: str) -> str:
    lines = "\n".join(f"- {name} (text): {name}" for name in table.columns)
    return f"Table {table.name}: rows\n{lines}\n\n<document>\n{text}\n</document>"


@pytest.mark.parametrize(
    ("text", "value", "found"),
    [
        ("sold for 1,577 in all", 1577, "1,577"),
        ("sold for 1.577 in all", 1577, "1.577"),
        ("it cost 141,3 million", 141.3, "141,3"),
        ("killed Forty-two people", 42, "Forty-two"),
        ("signed on March 4, 2020.", "2020-03-04", "March 4, 2020"),
        ("signed on 17.09.2019.", "2019-09-17", "17.09.2019"),
        ("in new\nyork city", "New York", "new\nyork"),
        ("on 16 of 160", 16, "16"),
        ("nothing at all", 3, ""),
        ("yes, it is", True, ""),
    ],
)
def test_words_of_a_value_are_found_as_they_are_printed(
    text: str, value: gold.Scalar, found: str
) -> None:
    assert [text[a:b] for a, b in places(text, value)][:1] == ([found] if found else [])


def test_a_sentence_is_the_one_around_a_place() -> None:
    text = "First one. Second of two! Third."
    start, end = sentence(text, (18, 20))
    assert text[start:end] == "Second of two!"


@pytest.mark.parametrize("world", WORLDS.values(), ids=lambda world: world.name)
def test_the_sql_of_a_case_gives_its_answer_and_its_words_stand_in_its_text(
    world: gold.World,
) -> None:
    connection = gold.database(world.tables)
    for question, sql in world.questions:
        value = gold.rows_value(connection.execute(sql).fetchall())
        assert score_answer(question, Prediction("answered", value)).right
    for table in world.tables:
        for row in table.rows:
            assert all(
                words in world.documents[row.document]
                for fact in row.facts.values()
                for words in fact.words
            )


def test_there_are_sixty_cases_with_names_of_their_own() -> None:
    assert len(WORLDS) == len(cases()) >= 60


def test_equal_lines_are_read_at_places_of_their_own() -> None:
    rows = WORLDS["equal_receipt_lines"].tables[0].rows
    assert len({row.facts["item"].place for row in rows}) == 4


@pytest.mark.parametrize("world", WORLDS.values(), ids=lambda world: world.name)
def test_the_reader_gives_every_row_of_a_document(world: gold.World) -> None:
    reader = PerfectReader(world)
    for name, text in world.documents.items():
        for table in world.tables:
            said = reader.reply(asked(reading(table, text), "rows"))["rows"]
            wanted = [row for row in table.rows if row.document == name]
            assert [set(r["cells"]) for r in said] == [set(row.facts) for row in wanted]
            assert all(cell["words"] for r in said for cell in r["cells"].values())


def test_the_reader_says_how_and_why_where_it_is_not_stated() -> None:
    world = WORLDS["computed_over_two_phrases"]
    text = world.documents["d1.txt"]
    (row,) = PerfectReader(world).reply(asked(reading(world.tables[0], text), "rows"))["rows"]
    cell = {
        "value": 10,
        "words": ["the pilot", "all nine passengers"],
        "how": "computed",
        "why": "1 + 9",
    }
    assert row["cells"] == {"flight": {"value": "Flight 7", "words": ["Flight 7"]}, "killed": cell}


def test_a_doubted_cell_is_given_again_as_it_was() -> None:
    world = WORLDS["price_in_cents_and_thousands"]
    reader = PerfectReader(world)
    reader.reply(asked(reading(world.tables[0], world.documents["d1.txt"]), "rows"))
    line = (
        "1. price (the price) of the row with item stamp: value 0.85, words ['85 cents']. Found: "
        "the words say 85"
    )
    assert reader.reply(asked(line, "cells")) == {
        "cells": [{"number": 1, "how": "stated", "value": 0.85, "words": ["85 cents"]}]
    }


def test_the_reader_proposes_the_tables_of_the_questions() -> None:
    world = WORLDS["join_of_two_tables"]
    reply = PerfectReader(world).reply(
        asked(f"Questions:\n1. {world.questions[0][0].question}", "tables")
    )
    assert [table["name"] for table in reply["tables"]] == ["teams", "players"]
    assert reply["needs"] == [
        {"question": 1, "columns": ["teams.team", "teams.city", "players.team", "players.goals"]}
    ]
    assert reply["not_covered"] == [] and json.dumps(reply)


def test_the_reader_writes_the_sql_of_the_question_asked_last() -> None:
    world = WORLDS["over_is_not_at_least"]
    reader = PerfectReader(world)
    prompt = "\n".join(question.question for question, _ in world.questions[:2])
    assert reader.reply(asked(prompt, "sql"))["sql"] == world.questions[1][1]
    assert list(reader.statements) == [world.questions[1][0].question]


def test_a_document_is_known_by_its_text_however_it_is_laid_out() -> None:
    eyes = Eyes(
        {
            "a": "Sales      4,500      4,100\nof Birch Ltd in Oslo",
            "b": "Sales   9   8\nof Alder Ltd in Oslo",
        }
    )
    sight = eyes.look("| Sales | 4,500 | 4,100 |\nof BIRCH Ltd in Oslo")
    assert sight is not None and sight.document == "a" and sight.shows((0, 27))
    assert eyes.look("something else") is None


def frame(*rows: tuple[str, str, float]) -> dict[str, pd.DataFrame]:
    return {"lines": pd.DataFrame(rows, columns=["document", "item", "price"])}


def test_harm_is_counted() -> None:
    world = WORLDS["equal_receipt_lines"]
    reader = PerfectReader(world)
    reader.reply(asked(reading(world.tables[0], world.documents["d1.txt"]), "rows"))
    coffee, cake = ("/x/d1.txt", "Coffee", 2.5), ("/x/d1.txt", "Cake", 3.0)
    assert tally_cells(world, reader, frame(coffee, coffee, coffee, cake)).whole
    merged = tally_cells(world, reader, frame(coffee, cake))
    assert (merged.cells, merged.cells_kept, merged.rows_lost) == (8, 4, 2)
    changed = tally_cells(
        world, reader, frame(coffee, coffee, coffee, ("/x/d1.txt", "Cake", 30.0), cake)
    )
    assert (changed.cells_kept, changed.rows_lost, changed.rows_extra) == (8, 0, 1)
    assert tally_cells(world, reader, {}).rows_lost == 4


def test_only_counts_are_shown_of_a_secret_set() -> None:
    tally = Tally(cells=4, cells_kept=3, harm=["a value"])
    assert "harm" not in tally.as_dict(secret=True) and tally.as_dict(secret=False)["harm"] == [
        "a value"
    ]
    assert tally.as_dict(secret=True)["cells_kept_share"] == 0.75


def test_statements_are_equal_but_for_dialect() -> None:
    assert normal_sql('select COUNT(*) from "People" where age>30') == normal_sql(
        "SELECT count(*) FROM people WHERE age > 30"
    )
    assert normal_sql("SELECT a FROM t WHERE age > 30") != normal_sql(
        "SELECT a FROM t WHERE age >= 30"
    )


def test_a_part_tells_rows_whose_key_it_prints() -> None:
    world = WORLDS["quarters"]
    reader = PerfectReader(world, split=True)
    table, text = world.tables[0], world.documents["d1.txt"]
    part = text[text.index("9 in") :]
    (third, fourth) = reader.reply(asked(reading(table, part), "rows"))["rows"]
    assert [row["cells"]["quarter"]["value"] for row in (third, fourth)] == ["Q3 2022", "Q4 2022"]
    assert reader.reply(asked(reading(table, text[: text.index("10 in")]), "rows")) == {"rows": []}
    assert reader.model.dialect.chunk_tokens < 20


def test_totals_are_flat_and_keep_split_apart() -> None:
    one = {
        "cells": 10,
        "cells_kept": 9,
        "rows_lost": 1,
        "rows_extra": 0,
        "questions": 2,
        "answers_right": 2,
    }
    found = totals({"a": {"pinned": one, "split": one}, "b": {"pinned": {**one, "cells_kept": 10}}})
    assert (found["cells_kept"], found["rows_lost"], found["answers_right"]) == (0.95, 2, 1.0)
    assert (found["split.cells_kept"], found["split.rows_lost"], found["split.rows_extra"]) == (
        0.9,
        1,
        0,
    )
