"""The storage of extracted rows and their cells: to lines of `sl_rows` and `sl_cells`, and back.

*Keys* are the integers that stand for ids and names in the database. *Work* is a table's columns
that a chunk was asked for together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Select, Subquery, and_, bindparam, case, exists, select

from sliders.documents.ocr_words import score_of
from sliders.errors import StoreError
from sliders.extraction.cell import Absence, Cell, Grounding, How, Row, Span
from sliders.schema.types import Table as SchemaTable
from sliders.store import codec
from sliders.store.database import Database
from sliders.store.layout import (
    ASKED,
    CURRENT,
    cells,
    chunks,
    columns,
    documents,
    origins,
    pages,
    rows,
    tables,
)
from sliders.store.layout_columns import among

_KEY = {
    "table": select(tables.c.key).where(tables.c.name == bindparam("name")),
    "document": select(documents.c.key).where(documents.c.id == bindparam("name")),
    "chunk": select(chunks.c.key).where(chunks.c.id == bindparam("name")),
}
_COLUMNS = select(columns.c.name, columns.c.key).where(columns.c.table_key == bindparam("table"))
_SCANS = (
    select(pages.c.number, pages.c.scores)
    .join(documents, documents.c.key == pages.c.document_key)
    .where(documents.c.id == bindparam("name"), pages.c.scores.is_not(None))
)
_BY_OCR = "read by OCR, score "
_SAID = ("call_id", "model", "prompt_hash")
_ORIGIN = select(origins.c.key).where(*(origins.c[name] == bindparam(name) for name in _SAID))
OF_ROWS = (
    rows.join(tables, tables.c.key == rows.c.table_key)
    .join(documents, documents.c.key == rows.c.document_key)
    .join(chunks, chunks.c.key == rows.c.chunk_key)
)
_ROW = ("id", "key", "table_name", "document_id", "chunk_id", "ordinal")
_CELL_TO_DOCUMENT = ("value", "kind", "printed", "grounding")
_CELL_FROM_START = tuple(
    "start stop page unit scale absence detail rationale how odds doubt parts bound".split()
)
_WANTED = {
    "table": tables.c.name == bindparam("table"),
    "current": and_(CURRENT, ASKED),
    "documents": among(documents.c.id, "documents"),
    "rows": among(rows.c.id, "rows"),
    "odds": exists().where(cells.c.row_key == rows.c.key, cells.c.odds.is_not(None)),
}


@cache
def cells_of(*wanted: str, ordered: bool) -> Select[Any]:
    """Returns the SQL for rows with their cells, in document order; `rows_of` reads its lines.

    Args:
        wanted: conditions on the rows, any of: "table" (of one table), "current" (of current
            documents), "documents" (of listed documents), "rows" (listed rows), "odds" (with odds
            in a cell).
        ordered: True sorts the cells too. A join of PostgreSQL loses the order of the rows, a join
            of SQLite keeps it.
    """
    r = _in_order(wanted)
    elsewhere = documents.alias()
    c = cells.c
    other_document = case(
        (c.start.is_(None), None), (c.document_key.is_(None), r.c.document_id), else_=elsewhere.c.id
    )
    found = (
        select(
            *(r.c[name] for name in _ROW),
            columns.c.name,
            *(c[name] for name in _CELL_TO_DOCUMENT),
            other_document,
            *(c[name] for name in _CELL_FROM_START),
            *(origins.c[name] for name in _SAID),
        )
        .outerjoin_from(r, cells, c.row_key == r.c.key)
        .outerjoin(columns, columns.c.key == c.column_key)
        .outerjoin(elsewhere, elsewhere.c.key == c.document_key)
        .outerjoin(origins, origins.c.key == c.origin_key)
    )
    by_row = (r.c.d, r.c.position, r.c.ordinal, r.c.key, c.column_key)
    return found.order_by(*by_row) if ordered else found


def _in_order(wanted: Sequence[str]) -> Subquery:
    """Returns the wanted rows in document order, for `cells_of`."""
    # Rows are put in order before their cells are joined: sorting a million rows is cheap, sorting
    # their cells is not. The LIMIT keeps SQLite from merging the two steps.
    order = (documents.c.key.label("d"), chunks.c.position, rows.c.ordinal, rows.c.key)
    return (
        select(
            rows.c.id,
            rows.c.key,
            tables.c.name.label("table_name"),
            documents.c.id.label("document_id"),
            chunks.c.id.label("chunk_id"),
            rows.c.ordinal,
            *order[:2],
        )
        .select_from(OF_ROWS)
        .where(*(_WANTED[name] for name in wanted))
        .order_by(*order)
        .limit(2**62)
        .subquery("r")
    )


_STATED = How.STATED
_GROUNDINGS = {grounding.value: grounding for grounding in Grounding}
_HOWS = {how.value: how for how in How}
_ABSENCES = {absence.value: absence for absence in Absence}
Works = dict[tuple[str, tuple[str, ...]], int]
"""The keys of work, by table and columns."""


@dataclass(frozen=True, slots=True)
class Known:
    """The definitions and keys that stay the same for one version of the schema: of tables, columns
    and work.
    """

    version: int
    schema: dict[str, SchemaTable]
    tables: dict[str, int] = field(default_factory=dict)
    columns: dict[str, dict[str, int]] = field(default_factory=dict)
    works: Works = field(default_factory=dict)


class Keys:
    """The integer keys of the names in a row; each name is looked up once."""

    def __init__(self, database: Database, known: Known) -> None:
        self._database = database
        self.known = known
        self._keys: dict[str, dict[str, int]] = {"table": known.tables, "document": {}, "chunk": {}}
        self._scans: dict[str, dict[int, dict[str, float]]] = {}
        self.origins: dict[tuple[str, str, str], int] = {}
        self.touched: set[int] = set()
        self.encode = database.engine.encode if database.on_server else None

    def key(self, kind: str, name: str) -> int:
        """Returns the key of a "table", "document" or "chunk".

        Raises:
            StoreError: the workspace has no such table, document or chunk.
        """
        known = self._keys[kind]
        if name not in known:
            key = self._database.value(_KEY[kind], {"name": name})
            if key is None:
                raise StoreError(
                    f"an extracted row names {kind} {name!r}, which is not in the "
                    "workspace; save it first"
                )
            known[name] = int(key)
        return known[name]

    def columns(self, table: str) -> dict[str, int]:
        known = self.known.columns
        if table not in known:
            known[table] = dict(self._database.query(_COLUMNS, {"table": self.key("table", table)}))
        return known[table]

    def doubt(self, cell: Cell) -> str:
        """Returns why a cell is unverified; "" when it is verified. Words of a page that OCR read
        are always unverified.
        """
        if cell.span is None or cell.span.page is None or _BY_OCR in cell.doubt:
            return cell.doubt
        document, page = cell.span.document_id, cell.span.page
        if document not in self._scans:
            found = self._database.query(_SCANS, {"name": document})
            self._scans[document] = {number: dict(codec.load(words)) for number, words in found}
        if page not in self._scans[document]:
            return cell.doubt
        score = score_of(self._scans[document][page], cell.printed)
        return "; ".join(filter(None, [cell.doubt, f"{_BY_OCR}{score:.2f}"]))

    def origin(self, said: tuple[str, str, str]) -> int | None:
        if not any(said):
            return None
        key = self._database.value(_ORIGIN, said)
        if key is None:
            # Another writer may have been first.
            self._database.add_many(origins, [said], _SAID, there="skip")
            key = self._database.value(_ORIGIN, said)
        self.origins[said] = int(key)
        return self.origins[said]


def cell_lines(row: Row, key: int, keys: Keys) -> Iterator[tuple[Any, ...]]:
    """Yields the lines of `sl_cells` for one row. This is the hot loop of an extraction. Raises
    StoreError: a cell's column is not in the table.
    """
    columns, encode = keys.columns(row.table), keys.encode
    for cell in row.cells:
        column = columns.get(cell.column)
        if column is None:
            raise StoreError(
                f"row {row.id!r} has a cell for column {cell.column!r}, which table "
                f"{row.table!r} does not have; add the column to the schema, or leave out the cell"
            )
        value, kind = cell.value, None
        if type(value) is not str and value is not None:
            value, kind = codec.encode_scalar(value)
        if encode is not None and value is not None:
            value = encode(value)
        place = _NOWHERE if cell.span is None else _place(cell.span, row.document_id, keys)
        said = (cell.call_id, cell.model, cell.prompt_hash)
        yield (
            key,
            column,
            value,
            kind,
            cell.printed or None,
            cell.grounding.value,
            *place,
            cell.unit or None,
            cell.scale or None,
            cell.absence.value if cell.absence is not None else None,
            cell.detail or None,
            cell.rationale or None,
            keys.origins.get(said) or keys.origin(said),
            None if cell.how is _STATED else cell.how.value,
            codec.dump(cell.odds) if cell.odds else None,
            (cell.doubt if cell.span is None else keys.doubt(cell)) or None,
            codec.encode_parts(cell.parts, row.document_id) if cell.parts else None,
            cell.bound or None,
        )


_NOWHERE = (None, None, None, None)


def _place(span: Span, row_document: str, keys: Keys) -> tuple[int | None, int, int, int | None]:
    """Returns a span as it is stored: the key of its document (None when that is the row's), start,
    end, page.
    """
    other = span.document_id != row_document
    document = keys.key("document", span.document_id) if other else None
    return document, span.start, span.end, span.page


def rows_of(lines: Iterator[tuple[Any, ...]]) -> Iterator[Row]:
    for _, group in groupby(lines, itemgetter(1)):
        listed = list(group)
        identifier, _, table, document_id, chunk_id, ordinal = listed[0][:6]
        cells = tuple(_cell(line[6:], document_id) for line in listed if line[6] is not None)
        yield Row(identifier, table, document_id, chunk_id, ordinal, cells)


def _cell(line: tuple[Any, ...], row_document: str) -> Cell:
    column, value, kind, printed, grounding, document_id, start, stop, page, unit, scale = line[:11]
    absence, detail, rationale, how, odds, doubt, parts, bound, call_id, model, prompt_hash = line[
        11:
    ]
    return Cell(  # by place: a million of them are read
        column,
        value if kind is None else codec.decode_scalar(value, kind),
        printed or "",
        _GROUNDINGS[grounding],
        None if start is None else Span(document_id, start, stop, page),
        unit or "",
        scale or "",
        _ABSENCES[absence] if absence else None,
        detail or "",
        rationale or "",
        _HOWS[how] if how else _STATED,
        tuple(map(tuple, codec.load(odds))) if odds else (),
        doubt or "",
        codec.decode_parts(parts, row_document) if parts else (),
        call_id or "",
        model or "",
        prompt_hash or "",
        bound or "",
    )
