"""A small world for the tests of the store, written by hand."""

from __future__ import annotations

from sliders.documents import Document, Element, Page, TableCell, TableGrid
from sliders.extraction import Absence, Cell, Grounding, Row, Span
from sliders.retrieval import Chunk, ChunkContext
from sliders.schema import Column, Schema, Table
from sliders.store import Catalog, DataRow, Derivation, TableVersion
from sliders.values import ColumnType, Scalar

TEXT = "Orders\n\nNorthwind bought 12 lamps for 1,250 dollars.\n\nItem: vase; Price: 40\n"


def span_of(words: str, document: Document | None = None) -> Span:
    text = document.text if document else TEXT
    start = text.index(words)
    page = 2 if 0 < text.rfind("Item") <= start else 1
    return Span(document.id if document else "doc-1", start, start + len(words), page)


def document(identifier: str, name: str, text: str = TEXT) -> Document:
    heading, rest = text.index("\n"), text.rindex("Item")
    price = text.index("40")
    grid = TableGrid(
        ("Item", "Price"),
        ((TableCell("vase", rest + 6, rest + 10), TableCell("$40", price, price + 2)),),
    )
    return Document(
        id=identifier,
        name=name,
        text=text,
        title="Orders",
        elements=(
            Element("heading", 0, heading, level=1, page=1),
            Element("paragraph", heading + 2, rest - 2, page=1),
            Element("table", rest, len(text) - 1, page=2, grid=grid, row_starts=(rest,)),
        ),
        pages=(Page(1, 0, rest), Page(2, rest, len(text))),
        media_type="text/markdown",
        source="/somewhere/" + name,
        modified=12.5,
        warnings=("page 3 has no text: needs OCR",),
    )


DOCUMENT = document("doc-1", "orders.md")


def chunks_of(source: Document) -> list[Chunk]:
    middle = source.text.rindex("Item")
    context = ChunkContext(source.title, ("Orders",), 1, 1, ("a caption",))
    other = ChunkContext("Another title", (), 2, 2)
    return [
        Chunk(
            f"{source.id}/0",
            source.id,
            0,
            0,
            middle,
            source.text[:middle],
            12,
            context,
            frozenset({"paragraph"}),
        ),
        Chunk(
            f"{source.id}/1",
            source.id,
            1,
            middle,
            len(source.text),
            source.text[middle:],
            7,
            other,
            frozenset({"table", "caption"}),
        ),
    ]


ORDERS = Table(
    "orders",
    (
        Column("customer", description="who bought"),
        Column("pieces", ColumnType.INTEGER),
        Column("price", ColumnType.NUMBER, unit="USD", additive=True),
        Column("paid", ColumnType.BOOLEAN),
    ),
    row="one order",
    key=("customer",),
)
SCHEMA = Schema((ORDERS,))


def grounded(column: str, value: Scalar, words: str, source: Document = DOCUMENT) -> Cell:
    return Cell(
        column,
        value,
        words,
        Grounding.EXACT,
        span_of(words, source),
        unit="USD" if column == "price" else "",
        call_id="call-1",
        model="double",
        prompt_hash="abc",
    )


def rows_of(source: Document) -> list[Row]:
    first = Row(
        f"{source.id}-r0",
        "orders",
        source.id,
        f"{source.id}/0",
        0,
        (
            grounded("customer", "Northwind", "Northwind", source),
            grounded("pieces", 12, "12", source),
            grounded("price", 1250, "1,250", source),
            Cell("paid", absence=Absence.NOT_STATED),
        ),
    )
    second = Row(
        f"{source.id}-r1",
        "orders",
        source.id,
        f"{source.id}/1",
        0,
        (
            Cell(
                "customer",
                printed="Contoso",
                absence=Absence.UNGROUNDED,
                detail="the words are not in the text",
            ),
            grounded("price", 40, "40", source),
            Cell(
                "paid",
                True,
                "vase",
                Grounding.DERIVED,
                span_of("vase", source),
                rationale="vases are paid at once",
                call_id="call-2",
                model="double",
                prompt_hash="abc",
            ),
        ),
    )
    return [first, second]


def fill(catalog: Catalog) -> Catalog:
    """One document, its chunks, the schema and two extracted rows."""
    catalog.documents.add(DOCUMENT)
    catalog.chunks.save(DOCUMENT.id, chunks_of(DOCUMENT))
    catalog.schemas.save(SCHEMA, "test")
    catalog.extractions.save(rows_of(DOCUMENT))
    return catalog


MERGED = DataRow(
    "doc-1-r0",
    "orders.md",
    "doc-1",
    {"customer": "Northwind", "pieces": 12, "price": 1290.0, "paid": True},
    ("doc-1-r0", "doc-1-r1"),
)


def merge(catalog: Catalog, *derived: Derivation) -> TableVersion:
    """The two rows of `fill` as one."""
    return catalog.tables.create_version(
        "orders", [MERGED], operation="merge", sql="MERGE", reason="one customer", derived=derived
    )
