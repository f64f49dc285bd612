"""A date or number with two readings: the collection's habit settles it, or the cell is doubted and
both readings are tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import sliders
from benchmarks.fidelity.gold import Fact, FactRow, FactTable, World
from benchmarks.fidelity.reader import PerfectReader
from benchmarks.fidelity.run import schema_of
from benchmarks.suites import GoldQuestion
from sliders.answer import Answer, value_of_words
from sliders.schema import Table, row_noun

DAY, MONEY = {"type": "date"}, {"type": "number", "currency": "EUR"}


def asked(
    folder: Path,
    texts: Sequence[str],
    column: Mapping[str, Any],
    cells: Sequence[tuple[Any, str] | None],
    sql: str,
) -> tuple[Answer, list[str], list[str]]:
    """The answer over one row a document, the doubts of its cells and the cells
    that were sent back.
    """
    documents = {f"d{number}.txt": text for number, text in enumerate(texts)}
    facts = [{"given": Fact(cell[0], (cell[1],))} if cell else {} for cell in cells]
    rows = tuple(FactRow(name, said) for name, said in zip(documents, facts, strict=True))
    table = FactTable(
        "notes", {"given": {"description": "what is given", **column}}, rows, "document", "a note"
    )
    question = "What is given?"
    reader = PerfectReader(
        World("notes", documents, (table,), ((GoldQuestion("n", question, ("",), "number"), sql),))
    )
    for name, text in documents.items():
        (folder / name).write_text(text, encoding="utf-8")
    with sliders.Workspace(folder / "w.db", model=reader.model) as ws:
        ws.add([str(folder / name) for name in documents])
        ws.pin_schema(schema_of(reader.world))
        answer = ws.ask(question)
        stored = ws.session.catalog.extractions.rows("notes")
    return (
        answer,
        [cell.doubt for row in stored for cell in row.cells if cell.doubt],
        [name for name, _ in reader.doubted],
    )


DAYS_FIRST = ["Paid on 25/03/2023.", "Paid on 14/06/2023.", "Paid on 30/01/2023."]
COMMAS = [
    "Es kostet 12,50 EUR oder 99,10 EUR.",
    "Es kostet 8,20 EUR oder 1.400,50 EUR.",
    "Es kostet 3,75 EUR oder 4,25 EUR.",
]


def test_the_collections_order_of_dates_settles_one_that_shows_none(tmp_path: Path) -> None:
    cells = [None, None, None, ("2024-04-03", "03/04/2024")]
    answer, doubts, again = asked(
        tmp_path, [*DAYS_FIRST, "Paid on 03/04/2024."], DAY, cells, "SELECT MAX(given) FROM notes"
    )
    assert (answer.value, answer.status, doubts, again) == ("2024-04-03", "answered", [], [])


def test_a_date_in_the_other_order_than_the_collections_is_found(tmp_path: Path) -> None:
    cells = [None, None, None, ("2024-03-04", "03/04/2024")]
    _, doubts, again = asked(
        tmp_path, [*DAYS_FIRST, "Paid on 03/04/2024."], DAY, cells, "SELECT MAX(given) FROM notes"
    )
    assert doubts and again == ["given"]


@pytest.mark.parametrize("value", ["2024-04-03", "2024-03-04"])
def test_a_date_whose_order_nothing_shows_is_doubted_without_a_second_call(
    tmp_path: Path, value: str
) -> None:
    sql = "SELECT COUNT(*) FROM notes WHERE given >= '2024-04-01'"
    answer, doubts, again = asked(
        tmp_path, ["Paid on 03/04/2024."], DAY, [(value, "03/04/2024")], sql
    )
    assert len(doubts) == 1 and "day-month or month-day" in doubts[0] and not again
    assert answer.range is not None and (answer.range.low, answer.range.high) == (0, 1)


def test_a_date_whose_order_shows_itself_is_not_doubted(tmp_path: Path) -> None:
    answer, doubts, again = asked(
        tmp_path,
        ["Paid on 25/04/2024."],
        DAY,
        [("2024-04-25", "25/04/2024")],
        "SELECT given FROM notes",
    )
    assert (answer.value, answer.status, doubts, again) == ("2024-04-25", "answered", [], [])


def test_the_collections_decimal_mark_settles_a_number_of_one_separator(tmp_path: Path) -> None:
    cells = [None, None, None, (1234, "1.234 EUR")]
    answer, doubts, again = asked(
        tmp_path, [*COMMAS, "Total: 1.234 EUR"], MONEY, cells, "SELECT SUM(given) FROM notes"
    )
    assert (answer.value, answer.status, doubts, again) == (1234, "answered", [], [])


def test_a_number_in_the_other_reading_than_the_collections_is_found(tmp_path: Path) -> None:
    cells = [None, None, None, (1.234, "1.234 EUR")]
    _, doubts, again = asked(
        tmp_path, [*COMMAS, "Total: 1.234 EUR"], MONEY, cells, "SELECT SUM(given) FROM notes"
    )
    assert doubts and again == ["given"]


@pytest.mark.parametrize("value", [1234, 1.234])
def test_a_number_whose_mark_nothing_shows_is_doubted_without_a_second_call(
    tmp_path: Path, value: float
) -> None:
    answer, doubts, again = asked(
        tmp_path,
        ["Total: 1.234 EUR"],
        MONEY,
        [(value, "1.234 EUR")],
        "SELECT SUM(given) FROM notes",
    )
    assert len(doubts) == 1 and "decimal mark" in doubts[0] and not again
    assert answer.range is not None and answer.range.low <= 1.234 and answer.range.high >= 1234


@pytest.mark.parametrize(
    ("text", "value", "words"),
    [
        ("Total: 1,577 EUR", 1577, "1,577 EUR"),
        ("Total: 1.234,50 EUR", 1234.5, "1.234,50 EUR"),
        ("Total: 12.50 EUR", 12.5, "12.50 EUR"),
        ("Die Summe der Beträge ist 1.234 EUR und wurde von der Bank gezahlt.", 1234, "1.234 EUR"),
    ],
)
def test_a_number_that_is_read_in_one_way_is_not_doubted(
    tmp_path: Path, text: str, value: float, words: str
) -> None:
    answer, doubts, again = asked(
        tmp_path, [text], MONEY, [(value, words)], "SELECT SUM(given) FROM notes"
    )
    assert (answer.value, answer.status, doubts, again) == (value, "answered", [], [])


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("около 40 млн рублей", "около 40 млн рублей"),
        ("40 млн рублей", 40_000_000),
        ("3 人", "3 人"),
        ("约40", "约40"),
        ("40", 40),
        ("$1.5 million", 1_500_000),
        ("≈40", "≈40"),
        ("28,9 Mio. Euro", 28_900_000),
        ("3億円", 300_000_000),
        ("12 %", 12),
        ("40.", 40),
    ],
)
def test_an_answer_is_a_number_only_where_all_its_words_are_understood(
    answer: str, value: object
) -> None:
    assert value_of_words(answer) == value


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Unfallbericht\n\nAm 3. März 2021 stürzte ein Kran um.", "Unfallbericht"),
        ("# 事故报告\n\n二〇二四年三月五日发生事故。", "事故报告"),
        ("# Отчёт\n\nКран упал 3 марта.", "Отчёт"),
        ("# تقرير\n\nسقطت الرافعة.", "تقرير"),
        ("事故調査報告書\n\n3月5日に発生した。", "事故調査報告書"),
        ("# Crane accident in Hull\n\nA crane fell.", "Crane accident in Hull"),
        ("A crane fell over on the quay.", "d"),
    ],
)
def test_a_title_of_any_script_names_its_document(tmp_path: Path, text: str, title: str) -> None:
    (tmp_path / "d.md").write_text(text, encoding="utf-8")
    with sliders.Workspace(tmp_path / "w.db", model=None) as ws:
        ws.add([str(tmp_path / "d.md")])
        assert [document.title for document in ws.session.catalog.documents.all()] == [title]


@pytest.mark.parametrize(
    ("row", "noun"),
    [
        ("IP address", "IP address"),
        ("US state", "US state"),
        ("TV show", "TV show"),
        ("a barn", "barn"),
        ("an IP address", "IP address"),
        ("the mill", "mill"),
        ("", "mill years"),
        ("事故", "事故"),
    ],
)
def test_a_rows_noun_loses_its_article_only(row: str, noun: str) -> None:
    assert row_noun(Table("mill_years", (), row=row)) == noun
