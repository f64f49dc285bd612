"""Companion columns: what stands beside a value in a data table, only where any row has it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sliders.audit import check_audit, export_audit, export_csv
from sliders.errors import StoreError
from sliders.extraction import Absence, Cell
from sliders.schema import Column, Schema
from sliders.store import (
    COMPANIONS,
    Catalog,
    DataRow,
    Derivation,
    Relation,
    RelationColumn,
    lineage_of,
)
from sliders.values import ColumnType

from .samples import DOCUMENT, ORDERS, SCHEMA, chunks_of, grounded, rows_of

WHY = "the reader is not sure"


def doubt_pieces(catalog: Catalog, doubt: str = WHY, bound: str = "about") -> None:
    row = rows_of(DOCUMENT)[0]
    pieces = replace(
        next(cell for cell in row.cells if cell.column == "pieces"), doubt=doubt, bound=bound
    )
    catalog.extractions.save([replace(row, cells=(pieces,))])


def names(catalog: Catalog) -> list[str]:
    return list(catalog.tables.read("orders")[0])


def test_a_table_without_doubts_has_no_companions(filled: Catalog) -> None:
    version = filled.tables.materialise("orders")
    assert version.companions == ()
    assert names(filled) == [*ORDERS.column_names, "document", "document_id", "row_id"]


def test_doubt_and_bound_of_a_cell_stand_beside_its_value(filled: Catalog) -> None:
    doubt_pieces(filled)
    version = filled.tables.materialise("orders")
    assert [(c.companion_of, c.role, c.sql_name) for c in version.companions] == [
        ("pieces", "bound", "pieces_bound"),
        ("pieces", "doubt", "pieces_doubt"),
    ]
    assert filled.database.query(
        "SELECT pieces, pieces_bound, pieces_doubt FROM orders ORDER BY row_id"
    ) == [
        (12, "about", WHY),
        (None, None, None),
    ]
    assert filled.schemas.relation("orders").companions == version.companions
    assert filled.extractions.rows("orders")[0].cell("pieces").bound == "about"  # type: ignore[union-attr]


def test_a_companion_goes_when_its_cause_goes(filled: Catalog) -> None:
    doubt_pieces(filled)
    filled.tables.materialise("orders")
    doubt_pieces(filled, "", "")
    assert filled.tables.materialise("orders").companions == ()
    assert "pieces_doubt" not in names(filled)


def test_an_empty_cell_with_a_doubt_makes_no_companion(filled: Catalog) -> None:
    empty = Cell("pieces", absence=Absence.NOT_STATED, doubt=WHY)
    filled.extractions.save([replace(rows_of(DOCUMENT)[0], cells=(empty,))])
    assert filled.tables.materialise("orders").companions == ()


def test_unverified_values_say_why_they_are(filled: Catalog) -> None:
    said = Cell("pieces", 99, "99", absence=Absence.UNGROUNDED, detail="no such words")
    filled.extractions.save([replace(rows_of(DOCUMENT)[0], cells=(said,))])
    assert filled.tables.materialise("orders").companions == ()
    filled.tables.materialise("orders", unverified=True)
    assert filled.database.query("SELECT pieces, pieces_doubt FROM orders WHERE pieces = 99") == [
        (99, "ungrounded: no such words")
    ]


def test_a_column_of_the_user_keeps_its_name(filled: Catalog) -> None:
    own = Column("pieces_doubt", ColumnType.TEXT, "what the buyer doubts")
    filled.schemas.save(Schema((replace(ORDERS, columns=(*ORDERS.columns, own)),)))
    doubt_pieces(filled)
    row = rows_of(DOCUMENT)[0]
    filled.extractions.save(
        [replace(row, cells=(grounded("pieces_doubt", "Northwind", "Northwind"),))]
    )
    filled.tables.materialise("orders")
    assert (
        filled.schemas.relation("orders").companion("pieces", "doubt").sql_name == "pieces_doubt_2"
    )
    assert filled.database.query(
        "SELECT pieces_doubt, pieces_doubt_2 FROM orders WHERE pieces = 12"
    ) == [("Northwind", WHY)]


def test_names_of_companions_are_distinct_and_fit() -> None:
    long = "n" * 59
    shape = tuple(
        RelationColumn(name, name, "TEXT")
        for name in (f"{long}one", f"{long}two", "x", "x_doubt", "X_doubt_2")
    )
    relation = Relation("t", "t", shape, longest=63)
    made = [relation.companion(c.name, role) for c in shape for role in COMPANIONS]
    taken = [c.sql_name.lower() for c in (*shape, *made)]
    assert len(set(taken)) == len(taken)
    assert max(len(name.encode()) for name in taken) <= 63
    with pytest.raises(StoreError, match="no column 'y'"):
        relation.companion("y", "doubt")


def test_a_repair_gives_canonical_forms_and_drops_empty_companions(
    filled: Catalog, tmp_path: Path
) -> None:
    doubt_pieces(filled)
    parent = filled.tables.materialise("orders")
    relation = filled.schemas.relation("orders")
    canonical = [relation.companion("customer", "canonical"), relation.companion("price", "bound")]
    rows = filled.tables.rows_of(parent)
    made = [
        DataRow(
            r.row_id,
            r.document,
            r.document_id,
            {**r.values, "customer_canonical": "Northwind Traders"},
        )
        for r in rows
    ]
    told = [
        Derivation("customer_canonical", "Northwind Traders", "canonicalize", "a person said so")
    ]
    version = filled.tables.create_version(
        "orders", made, operation="canonicalize", companions=canonical, derived=told
    )
    assert {c.sql_name for c in version.companions} == {
        "customer_canonical",
        "pieces_bound",
        "pieces_doubt",
    }
    assert (
        filled.database.value("SELECT customer_canonical FROM orders WHERE pieces = 12")
        == "Northwind Traders"
    )
    assert check_audit(export_audit(filled, tmp_path / "audit.db")).problems == ()
    (path,) = export_csv(filled, tmp_path / "csv")
    assert "customer_canonical" in path.read_text(encoding="utf-8").splitlines()[0].split(",")
    filled.tables.undo("orders", parent.version)
    assert filled.schemas.relation("orders").companions == parent.companions


def test_a_doubt_or_a_form_that_no_cell_says_is_a_problem(filled: Catalog, tmp_path: Path) -> None:
    doubt_pieces(filled)
    parent = filled.tables.materialise("orders")
    relation = filled.schemas.relation("orders")
    rows = filled.tables.rows_of(parent)
    made = [
        replace(
            r,
            values={
                **r.values,
                "pieces_doubt": r.values["pieces"] and "invented",
                "customer_canonical": "Elsewhere",
            },
        )
        for r in rows
    ]
    filled.tables.create_version(
        "orders", made, operation="repair", companions=[relation.companion("customer", "canonical")]
    )
    problems = check_audit(export_audit(filled, tmp_path / "audit.db")).problems
    assert len([p for p in problems if "'invented'" in p]) == 1
    assert any("'Elsewhere'" in p for p in problems)


def test_a_value_that_ocr_read_says_so_with_its_score(catalog: Catalog) -> None:
    scanned = replace(
        DOCUMENT,
        pages=(replace(DOCUMENT.pages[0], scores=(("12", 0.91), ("1250", 0.5))), DOCUMENT.pages[1]),
    )
    catalog.documents.add(scanned)
    assert catalog.documents.get(scanned.id).pages == scanned.pages
    catalog.chunks.save(scanned.id, chunks_of(scanned))
    catalog.schemas.save(SCHEMA, "the first")
    for _ in range(2):
        catalog.extractions.save(catalog.extractions.rows("orders") or rows_of(scanned)[:1])
    catalog.tables.materialise("orders")
    assert catalog.database.query("SELECT pieces_doubt, price_doubt FROM orders") == [
        ("read by OCR, score 0.91", "read by OCR, score 0.50")
    ]
    told = {one.column: one.doubt for one in lineage_of(catalog, f"{scanned.id}-r0")}
    assert told["pieces"] == "read by OCR, score 0.91"
