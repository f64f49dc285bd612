"""Rows take the names of their documents' files only where most files are named after their rows."""

from __future__ import annotations

from dataclasses import replace

from sliders.extraction.cell import Cell, Grounding, Row, Span
from sliders.extraction.titles import dated, titled
from sliders.schema.types import Column, ColumnType, Table

TABLE = Table("persons", (Column("name"),), row="a person", grain="document")
PEOPLE = {
    "Carla_Reyes.txt": "Carla Maria Reyes Ibarra",
    "Jon_Vik.txt": "Jon Vik",
    "Housni_Sayed.txt": "Hosni Sayed",
    "Zoë_Brandt.txt": "Zoë Brandt-Holm",
    "Ada_Lund.txt": "Ada Lund",
    "The_Mask_artist.txt": "Per Olsen",
}


def rows(people: dict[str, str]) -> list[Row]:
    return [
        Row(file, "persons", file, f"{file}:0", 0, (Cell("name", said, said, Grounding.EXACT, Span(file, 0, len(said), 1)),))
        for file, said in people.items()
    ]


def test_a_long_or_misspelt_form_becomes_the_usual_name_and_keeps_its_printed_words() -> None:
    changed = {row.id: row.cells[0] for row in titled(rows(PEOPLE), TABLE, {f: f for f in PEOPLE})}
    assert {file: cell.value for file, cell in changed.items()} == {
        "Carla_Reyes.txt": "Carla Reyes",
        "Housni_Sayed.txt": "Housni Sayed",
        "Zoë_Brandt.txt": "Zoë Brandt",
    }
    assert changed["Carla_Reyes.txt"].printed == "Carla Maria Reyes Ibarra"
    assert changed["Carla_Reyes.txt"].grounding is Grounding.DERIVED


def test_numbered_files_name_nothing() -> None:
    files = {f: f"report_{n}.txt" for n, f in enumerate(PEOPLE)}
    assert titled(rows(PEOPLE), TABLE, files) == []


def test_nothing_changes_where_few_files_are_named_after_their_rows() -> None:
    people = dict(PEOPLE) | {f"Minutes_of_May_{n}.txt": "Ina Berg" for n in "abcdef"}
    assert titled(rows(people), TABLE, {f: f for f in people}) == []


def test_a_date_is_that_of_the_file_where_most_rows_have_it() -> None:
    table = Table("reports", (Column("day", ColumnType.DATE),), row="a report", grain="document")
    days = {f"daily_2021-05-0{n}.txt": f"2021-05-0{n}" for n in range(1, 8)} | {"daily_2021-05-08.txt": "2021-05-07"}
    read = [
        Row(file, "reports", file, f"{file}:0", 0, (Cell("day", day, day, Grounding.EXACT, Span(file, 0, 10, 1)),))
        for file, day in days.items()
    ]
    (changed,) = dated(read, table, {f: f for f in days})
    assert (changed.id, changed.cells[0].value, changed.cells[0].printed) == ("daily_2021-05-08.txt", "2021-05-08", "2021-05-07")
    born = [replace(row, cells=(replace(row.cells[0], value="1990-01-01"),)) for row in read]
    assert dated(born, table, {f: f for f in days}) == []
