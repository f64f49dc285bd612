"""Rows and their cells as lines of `sl_rows` and `sl_cells`, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sliders.errors import StoreError
from sliders.extraction.cell import Absence, Cell, Grounding, How, Row, Span
from sliders.schema.types import Table
from sliders.store import codec
from sliders.store.database import Database

INSERT_CELL = "INSERT OR REPLACE INTO sl_cells VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
CELLS = """SELECT r.id, r.key, r.table_name, r.document_id, r.chunk_id, r.ordinal, k.name, c.value, c.kind, c.printed,
    c.grounding, CASE WHEN c.start IS NULL THEN NULL WHEN c.document_key IS NULL THEN r.document_id ELSE cd.id END,
    c.start, c.stop, c.page, c.unit, c.scale, c.absence, c.detail, c.rationale,
    c.how, c.odds, c.doubt, c.parts, o.call_id, o.model, o.prompt_hash
    FROM ({rows}) r LEFT JOIN sl_cells c ON c.row_key = r.key LEFT JOIN sl_columns k ON k.key = c.column_key
    LEFT JOIN sl_documents cd ON cd.key = c.document_key LEFT JOIN sl_origins o ON o.key = c.origin_key"""
# Rows are put in order before their cells are joined: sorting a million rows is cheap, sorting their cells is not. The
# LIMIT keeps SQLite from merging the two steps.
ROWS = """SELECT r.id, r.key, t.name AS table_name, d.id AS document_id, ch.id AS chunk_id, r.ordinal FROM sl_rows r
    JOIN sl_tables t ON t.key = r.table_key JOIN sl_documents d ON d.key = r.document_key
    JOIN sl_chunks ch ON ch.key = r.chunk_key WHERE {where} ORDER BY d.key, ch.position, r.ordinal, r.key LIMIT -1"""

_STATED = How.STATED
_GROUNDINGS = {grounding.value: grounding for grounding in Grounding}


@dataclass(frozen=True, slots=True)
class Known:
    """What stays the same while a version of the schema stands: definitions, keys of tables, columns and work."""

    version: int
    schema: dict[str, Table]
    tables: dict[str, int] = field(default_factory=dict)
    columns: dict[str, dict[str, int]] = field(default_factory=dict)
    works: dict[tuple[str, tuple[str, ...]], int] = field(default_factory=dict)


class Keys:
    """Integer keys of the texts that rows name, looked up once."""

    def __init__(self, database: Database, known: Known) -> None:
        self._database = database
        self.known = known
        self.works: dict[tuple[str, tuple[str, ...]], int] = {}
        self._tables = known.tables
        self._documents: dict[str, int] = {}
        self._chunks: dict[str, int] = {}
        self._columns = known.columns
        self.origins: dict[tuple[str, str, str], int] = {}
        self.touched: set[int] = set()

    def _key(self, kind: str, sql: str, name: str) -> int:
        key = self._database.value(sql, (name,))
        if key is None:
            raise StoreError(f"an extracted row names {kind} {name!r}, which is not in the workspace; save it first")
        return int(key)

    def table(self, name: str) -> int:
        if name not in self._tables:
            self._tables[name] = self._key("table", "SELECT key FROM sl_tables WHERE name = ?", name)
        return self._tables[name]

    def document(self, name: str) -> int:
        if name not in self._documents:
            self._documents[name] = self._key("document", "SELECT key FROM sl_documents WHERE id = ?", name)
        return self._documents[name]

    def chunk(self, name: str) -> int:
        if name not in self._chunks:
            self._chunks[name] = self._key("chunk", "SELECT key FROM sl_chunks WHERE id = ?", name)
        return self._chunks[name]

    def columns(self, table: str) -> dict[str, int]:
        if table not in self._columns:
            sql = "SELECT name, key FROM sl_columns WHERE table_key = ?"
            self._columns[table] = {name: int(key) for name, key in self._database.query(sql, (self.table(table),))}
        return self._columns[table]

    def no_column(self, row: Row, cell: Cell) -> int:
        raise StoreError(
            f"row {row.id!r} has a cell for column {cell.column!r}, which table {row.table!r} does not have"
        )

    def origin(self, said: tuple[str, str, str]) -> int | None:
        if not any(said):
            return None
        key = self._database.value("SELECT key FROM sl_origins WHERE call_id = ? AND model = ? AND prompt_hash = ?", said)
        if key is None:
            key = self._database.insert("INSERT INTO sl_origins (call_id, model, prompt_hash) VALUES (?,?,?)", said)
        self.origins[said] = int(key)
        return self.origins[said]


def cell_lines(row: Row, key: int, keys: Keys) -> Iterator[tuple[Any, ...]]:
    """The lines of `sl_cells` for one row; the hot loop of an extraction."""
    columns = keys.columns(row.table)
    for cell in row.cells:
        value, kind = cell.value, None
        if type(value) is not str and value is not None:
            value, kind = codec.encode_scalar(value)
        span, elsewhere, start, stop, page = cell.span, None, None, None, None
        if span is not None:
            start, stop, page = span.start, span.end, span.page
            if span.document_id != row.document_id:
                elsewhere = keys.document(span.document_id)
        said = (cell.call_id, cell.model, cell.prompt_hash)
        yield (
            key, columns[cell.column] if cell.column in columns else keys.no_column(row, cell), value, kind,
            cell.printed or None, cell.grounding.value, elsewhere, start, stop, page, cell.unit or None,
            cell.scale or None, cell.absence.value if cell.absence is not None else None, cell.detail or None,
            cell.rationale or None, keys.origins.get(said) or keys.origin(said),
            None if cell.how is _STATED else cell.how.value, codec.encode_odds(cell.odds) if cell.odds else None,
            cell.doubt or None, codec.encode_parts(cell.parts, row.document_id) if cell.parts else None,
        )  # fmt: skip


def rows_of(lines: Iterator[tuple[Any, ...]]) -> Iterator[Row]:
    identity: tuple[Any, ...] | None = None
    cells: list[Cell] = []
    for line in lines:
        if identity is not None and line[1] != identity[1]:
            yield _row(identity, cells)
            cells = []
        identity = line[:6]
        if line[6] is not None:
            cells.append(_cell(line[6:], line[3]))
    if identity is not None:
        yield _row(identity, cells)


def _row(identity: tuple[Any, ...], cells: list[Cell]) -> Row:
    identifier, _, table, document_id, chunk_id, ordinal = identity
    return Row(identifier, table, document_id, chunk_id, ordinal, tuple(cells))


def _cell(line: tuple[Any, ...], row_document: str) -> Cell:
    column, value, kind, printed, grounding, document_id, start, stop, page, unit, scale = line[:11]
    absence, detail, rationale, how, odds, doubt, parts, call_id, model, prompt_hash = line[11:]
    return Cell(  # by place: a million of them are read
        column,
        value if kind is None else codec.decode_scalar(value, kind),
        printed or "",
        _GROUNDINGS[grounding],
        None if start is None else Span(document_id, start, stop, page),
        unit or "",
        scale or "",
        Absence(absence) if absence else None,
        detail or "",
        rationale or "",
        How(how) if how else _STATED,
        codec.decode_odds(odds) if odds else (),
        doubt or "",
        codec.decode_parts(parts, row_document) if parts else (),
        call_id or "",
        model or "",
        prompt_hash or "",
    )
