"""The Excel and Parquet files of a workspace: types, doubts, evidence, completeness."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from sliders import Workspace
from sliders.audit import export_excel, export_parquet
from sliders.documents import Document
from sliders.extraction import Cell, Grounding, Row
from sliders.schema import Column, Schema, Table
from sliders.store import Catalog, Database, Task
from sliders.values import ColumnType, Scalar
from tests.audit.world import harbour, listed, put, words_of

TABLE = Table(
    "visits",
    (
        Column("name", description="The name of the guest."),
        Column("day", ColumnType.DATE),
        Column("at", ColumnType.DATETIME),
        Column("paid", ColumnType.BOOLEAN),
        Column("cost", ColumnType.NUMBER, currency="EUR"),
    ),
    row="a visit",
)
SAID = (
    {"name": "=1+1", "day": "2021-05-03", "at": "2021-05-03T14:30", "paid": True, "cost": 12.5},
    {"name": "Ada", "day": "1815-12-10", "at": None, "paid": False, "cost": -3},
)


def visits(path: Path, said: tuple[dict[str, Scalar], ...] = SAID) -> Path:
    with Database(path) as database:
        catalog = Catalog(database)
        catalog.schemas.save(Schema((TABLE,)), "test")
        document = Document("d", "guests.txt", "Guests came.", "Guests", (), ())
        chunk = put(catalog, document)
        words = words_of(document, "came")
        rows = [
            Row(
                f"r{number}",
                "visits",
                "d",
                chunk,
                number,
                tuple(
                    Cell(column, value, "came", Grounding.EXACT, words)
                    for column, value in values.items()
                    if value is not None
                ),
            )
            for number, values in enumerate(said)
        ]
        catalog.extractions.save(rows, [Task("visits", TABLE.column_names, chunk)])
        catalog.tables.materialise("visits")
    return path


def book(path: Path, target: Path) -> Any:
    with Database(path, write=False) as database:
        return openpyxl.load_workbook(export_excel(Catalog(database), target))


def lines(sheet: Any) -> list[dict[str, Any]]:
    head, *rest = sheet.iter_rows(values_only=True)
    return [dict(zip(head, line, strict=True)) for line in rest]


def test_values_have_the_types_of_a_workbook(tmp_path: Path) -> None:
    sheet = book(visits(tmp_path / "w.db"), tmp_path / "a.xlsx")["visits"]
    first, second = lines(sheet)
    assert (first["day"], first["at"]) == (datetime(2021, 5, 3), datetime(2021, 5, 3, 14, 30))
    assert (first["paid"], second["paid"], first["cost"]) == (True, False, 12.5)
    assert second["day"] == "1815-12-10"  # Excel has no dates before 1900
    assert (sheet["A2"].value, sheet["A2"].data_type) == ("=1+1", "s")
    assert sheet.freeze_panes == "A2" and sheet.auto_filter.ref == "A1:H3"
    assert (
        sheet.page_setup.orientation == "landscape" and sheet.sheet_properties.pageSetUpPr.fitToPage
    )
    assert sheet["A1"].comment.text == "The name of the guest"
    assert sheet["E1"].comment.text == "EUR"


def test_a_doubted_value_is_coloured_and_says_why(tmp_path: Path) -> None:
    path = listed(tmp_path / "w.db", [("a.txt", "It was blue.", "was blue")])
    sheet = book(path, tmp_path / "a.xlsx")["notes"]
    head = [cell.value for cell in sheet[1]]
    words, place = (sheet.cell(2, head.index(name) + 1) for name in ("words", "place"))
    assert words.comment.text == "was blue" and words.fill.fill_type == "solid"
    assert place.comment is None and place.fill.fill_type is None


def test_each_value_has_a_line_of_evidence(tmp_path: Path) -> None:
    found = lines(book(harbour(tmp_path / "w.db"), tmp_path / "a.xlsx")["evidence"])
    [damage] = [line for line in found if line["column"] == "damage"]
    assert (damage["value"], damage["words"]) == (4600, "4,600")
    assert (damage["document"], damage["page"], damage["row_id"]) == ("report.pdf", 2, "r0")
    assert {line["column"] for line in found} == {"ship", "people", "damage", "grave", "port"}
    [port] = [line for line in found if line["column"] == "port"]
    assert (port["value"], port["how"], port["reason"]) == ("Bergen", "correction", "a correction")


def test_it_says_how_complete_it_is(tmp_path: Path) -> None:
    made = book(harbour(tmp_path / "w.db"), tmp_path / "a.xlsx")
    columns = {line["column"]: line for line in lines(made["completeness"])}
    assert (columns["port"]["values"], columns["port"]["not stated"]) == (0, 2)
    assert columns["grave"]["unverified"] == 1 and columns["people"]["ungrounded"] == 1
    documents = {line["document"]: line["rows"] for line in lines(made["documents"])}
    assert documents == {"report.pdf": 1, "note.txt": 1, "quiet.txt": 0}


def test_sheets_of_the_workbook_do_not_hide_a_table_of_their_name(tmp_path: Path) -> None:
    path = visits(tmp_path / "w.db")
    with Database(path) as database:
        catalog = Catalog(database)
        catalog.schemas.save(
            Schema((TABLE, Table("evidence", (Column("name"),), row="a proof"))), "test"
        )
        catalog.tables.materialise("evidence")
    names = book(path, tmp_path / "a.xlsx").sheetnames
    assert len(names) == 5 and names[-1] == "completeness"
    assert "evidence" in names and any(n.startswith("evidence_") for n in names)


def test_a_workbook_may_be_written_again(tmp_path: Path) -> None:
    path = visits(tmp_path / "w.db")
    assert book(path, tmp_path / "a.xlsx").sheetnames == book(path, tmp_path / "a.xlsx").sheetnames


@pytest.mark.parametrize(
    ("column", "kind", "first"),
    [
        ("day", "date32[day]", date(2021, 5, 3)),
        ("paid", "bool", True),
        ("at", "timestamp[us]", datetime(2021, 5, 3, 14, 30)),
        ("cost", "double", 12.5),
    ],
)
def test_parquet_columns_are_typed(tmp_path: Path, column: str, kind: str, first: object) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with Database(visits(tmp_path / "w.db"), write=False) as database:
        [path] = export_parquet(Catalog(database), tmp_path / "files")
    read = parquet.read_table(path).column(column)
    assert (str(read.type), read.to_pylist()[0]) == (kind, first)


def test_a_parquet_column_with_half_a_date_stays_text(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    half = ({**SAID[0], "day": "2021-05"}, SAID[1])
    with Database(visits(tmp_path / "w.db", half), write=False) as database:
        [path] = export_parquet(Catalog(database), tmp_path / "files")
    assert parquet.read_table(path).column("day").to_pylist() == ["2021-05", "1815-12-10"]


def test_the_workspace_writes_a_workbook(tmp_path: Path) -> None:
    with Workspace(harbour(tmp_path / "w.db")) as ws:
        [path] = ws.export(tmp_path / "all.xlsx")
    assert openpyxl.load_workbook(path).sheetnames == [
        "incidents",
        "evidence",
        "documents",
        "completeness",
    ]
