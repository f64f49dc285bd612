from __future__ import annotations

from dataclasses import replace

import pytest

from sliders.errors import RepairError, StoreError
from sliders.extraction import Absence, Cell, How
from sliders.schema import Column, Schema
from sliders.store import Catalog, DataRow, Derivation

from .samples import DOCUMENT, ORDERS, TEXT, document, grounded, merge, rows_of


def contents(catalog: Catalog) -> list[tuple[object, ...]]:
    return catalog.database.query("SELECT * FROM orders ORDER BY row_id")


EXTRACTED = [
    ("Northwind", 12, 1250.0, None, "orders.md", "doc-1", "doc-1-r0"),
    (None, None, 40.0, 1, "orders.md", "doc-1", "doc-1-r1"),
]


def test_only_cells_that_stand_enter_the_table(filled: Catalog) -> None:
    said = (
        Cell("pieces", 99, "99", absence=Absence.UNGROUNDED),
        Cell("customer", "Contoso", "Con", absence=Absence.NOT_PARSED),
        Cell("price", "a lot", "a lot", absence=Absence.NOT_PARSED),
    )
    filled.extractions.save([replace(rows_of(DOCUMENT)[1], cells=said)])
    assert filled.extractions.rows("orders")[1].cells[:3] == (said[1], said[0], said[2])
    version = filled.tables.materialise("orders")
    assert (version.version, version.rows, version.operation) == (1, 2, "extract")
    without = [EXTRACTED[0], (None, None, None, *EXTRACTED[1][3:])]
    assert contents(filled) == without
    filled.tables.materialise("orders", unverified=True)
    assert contents(filled)[1][:3] == (
        "Contoso",
        99,
        None,
    )  # words have no place in a number column
    filled.tables.materialise("orders")
    assert contents(filled) == without


def test_a_judged_value_without_words_enters(filled: Catalog) -> None:
    judged = Cell("paid", False, how=How.JUDGED, odds=(("yes", -2.0), ("no", -0.1)))
    filled.extractions.save([replace(rows_of(DOCUMENT)[0], cells=(judged,))])
    filled.tables.materialise("orders")
    assert contents(filled)[0][3] == 0


def test_table_is_made_again_only_when_something_changed(filled: Catalog) -> None:
    first = filled.tables.materialise("orders")
    assert filled.tables.materialise("orders") == first
    repaired = merge(filled)
    assert filled.tables.materialise("orders") == repaired
    other = Schema((ORDERS, replace(ORDERS, name="other")))
    filled.schemas.save(other)
    assert filled.tables.materialise("orders") == repaired
    filled.schemas.save(Schema((replace(ORDERS, columns=(*ORDERS.columns, Column("colour"))),)))
    assert filled.tables.materialise("orders").version == 3
    filled.extractions.save([replace(rows_of(DOCUMENT)[0], cells=(grounded("pieces", 13, "12"),))])
    assert filled.tables.materialise("orders").version == 4
    filled.documents.add(document("doc-2", "orders.md", TEXT + "More.\n"))
    assert filled.tables.materialise("orders").rows == 0


def test_undo_and_redo_show_each_version_as_it_was(filled: Catalog) -> None:
    first = filled.tables.materialise("orders")
    second = merge(filled)
    merged = [("Northwind", 12, 1290.0, 1, "orders.md", "doc-1", "doc-1-r0")]
    assert contents(filled) == merged
    assert (second.parent, second.reason, second.rows, second.sql) == (
        first.version,
        "one customer",
        1,
        "MERGE",
    )
    assert filled.tables.sources("orders", "doc-1-r0") == ("doc-1-r0", "doc-1-r1")
    filled.tables.undo("orders", 1)
    assert contents(filled) == EXTRACTED
    assert filled.tables.sources("orders", "doc-1-r0") == ("doc-1-r0",)
    filled.tables.undo("orders", 2)
    assert contents(filled) == merged
    assert [v.version for v in filled.tables.versions("orders")] == [1, 2]
    with pytest.raises(StoreError, match="its versions are: 1, 2"):
        filled.tables.undo("orders", 9)


def test_version_from_rows(filled: Catalog) -> None:
    filled.tables.materialise("orders")
    values = {"customer": "Northwind Ltd", "pieces": 12, "price": 1250.0, "paid": True}
    row = DataRow("doc-1-r0", "orders.md", "doc-1", values, ("doc-1-r0", "doc-1-r1"))
    derived = [
        Derivation(
            "customer", "Northwind Ltd", "canonical", "longest form", source_value="Northwind"
        )
    ]
    filled.tables.create_version("orders", [row], operation="canonicalize", derived=derived)
    assert contents(filled) == [("Northwind Ltd", 12, 1250.0, 1, "orders.md", "doc-1", "doc-1-r0")]
    assert filled.tables.sources("orders", "doc-1-r0") == ("doc-1-r0", "doc-1-r1")
    assert filled.tables.sources("orders", "nothing") == ()


VALUES = {"customer": "Northwind", "pieces": 12, "price": 1250.0, "paid": None}
GOOD = DataRow("doc-1-r0", "orders.md", "doc-1", VALUES)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([replace(GOOD, values={"customer": "Northwind", "price": 1})], "loses pieces, paid"),
        ([GOOD, GOOD], "gives row 'doc-1-r0' twice"),
        ([replace(GOOD, row_id="invented")], "'invented', which was never extracted"),
        ([replace(GOOD, sources=("invented",))], "'invented', which was never"),
    ],
)
def test_bad_repair_is_refused_and_leaves_no_trace(
    filled: Catalog, rows: list[DataRow], words: str
) -> None:
    filled.tables.materialise("orders")
    objects = filled.database.names()
    with pytest.raises(RepairError, match=words):
        filled.tables.create_version("orders", rows, operation="repair")
    assert contents(filled) == EXTRACTED
    assert filled.database.names() == objects
    assert len(filled.tables.versions("orders")) == 1


def test_missing_tables_get_a_sentence(filled: Catalog) -> None:
    with pytest.raises(RepairError, match="fill it first"):
        filled.tables.create_version("orders", [GOOD], operation="repair")
    with pytest.raises(StoreError, match="no table 'nothing'"):
        filled.tables.materialise("nothing")
