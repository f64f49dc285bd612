"""The rows of one table in memory, for reconciliation: made from extracted rows, or from plain
columns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from sliders.errors import RepairError
from sliders.extraction.cell import Cell, Row, Scalar
from sliders.reconcile.repairs import CellSource, DocumentSource
from sliders.store.materialise import enters

_NOTHING = CellSource()
_EMPTY: Mapping[str, Any] = MappingProxyType({})
Kind = Literal["table", "prose", ""]
Lines = Sequence[tuple[int, int, int]]


@dataclass(slots=True)
class MemoryRelation:
    """Rows in memory, column by column, with the source of each cell.

    Args:
        columns: the values by column name; all columns have one length.
        row_ids: the id of each row; "r0", "r1" ... when left out.
        document_ids: the document id of each row; one document for all rows when left out.
        chunk_ids: the chunk id of each row.
        documents: the documents by id.
        sources: the source of a cell, by (row id, column).
        quote: returns the words around a cell, by row id and column. It reads the page, so it is
            called only for cells in doubt.
        starts: where the words of each cell begin in the document's text, by column; -1 for none.
        readings: the name of the model call that gave each row, and of the chunk that it read.
        lists_of: returns the lines of a document's lists and grids, by document id: start, end,
            number of the list.
    """

    columns: Mapping[str, Sequence[Scalar]]
    row_ids: Sequence[str] = ()
    document_ids: Sequence[str] = ()
    chunk_ids: Sequence[str] = ()
    documents: Mapping[str, DocumentSource] = field(default_factory=dict)
    sources: Mapping[tuple[str, str], CellSource] = field(default_factory=dict)
    quote: Callable[[str, str], str] | None = None
    starts: Mapping[str, Sequence[int]] = field(default_factory=dict)
    readings: Sequence[str] = ()
    lists_of: Callable[[str], Lines] | None = None

    def __post_init__(self) -> None:
        size = len(next(iter(self.columns.values()), ()))
        self.row_ids = self.row_ids or [f"r{i}" for i in range(size)]
        self.document_ids = self.document_ids or [""] * size
        self.chunk_ids = self.chunk_ids or self.document_ids
        self.documents, self.sources = self.documents or {}, self.sources or {}
        self.readings = self.readings or self.chunk_ids
        lengths = {
            len(self.row_ids),
            len(self.document_ids),
            len(self.chunk_ids),
            *map(len, self.columns.values()),
        }
        if len(lengths) > 1:
            raise RepairError(
                f"the columns have different lengths {sorted(lengths)}; give every "
                "row a value or None"
            )

    def column(self, name: str) -> Sequence[Scalar]:
        """Returns the values of a column; None in every row for a column that no row
        was asked for.
        """
        return self.columns[name] if name in self.columns else [None] * len(self.row_ids)

    def source(self, index: int, column: str) -> CellSource:
        """Returns the source of one cell: its printed words, unit, page and section."""
        found = self.sources.get((self.row_ids[index], column), _NOTHING)
        if self.quote is None or found is _NOTHING:
            return found
        return replace(found, quote=self.quote(self.row_ids[index], column) or found.quote)


def relation_of(
    rows: Iterable[Row],
    columns: Sequence[str],
    documents: Mapping[str, DocumentSource] = _EMPTY,
    sections: Mapping[str, str] = _EMPTY,
    kinds: Mapping[str, frozenset[str]] = _EMPTY,
    unverified: bool = False,
    quote: Callable[[str, str], str] | None = None,
    key: Sequence[str] = (),
    lists_of: Callable[[str], Lines] | None = None,
) -> MemoryRelation:
    """Returns the relation of extracted rows. Cells whose values the data table does not show count
    as empty.

    Args:
        sections: the path of headings, by chunk id.
        kinds: the kinds of block in a chunk (table, paragraph ...), by chunk id.
        unverified: True when the table also shows values whose words were not found or not parsed.
        quote: returns the sentence of a cell, by row id and column; its printed words when left
            out.
        key: the table's key; the cells of its columns tell which call gave the row.
        lists_of: returns the lines of a document's lists and grids.
    """
    kept = list(rows)
    values: dict[str, list[Scalar]] = {name: [None] * len(kept) for name in columns}
    starts: dict[str, list[int]] = {name: [-1] * len(kept) for name in columns}
    sources: dict[tuple[str, str], CellSource] = {}
    kind_of = {chunk: _kind_of(several) for chunk, several in kinds.items()}
    for index, row in enumerate(kept):
        section, kind = sections.get(row.chunk_id, ""), kind_of.get(row.chunk_id, "")
        for cell in _standing(row, values, unverified):
            values[cell.column][index] = cell.value
            if cell.span is not None and cell.span.document_id == row.document_id:
                starts[cell.column][index] = cell.span.start
            sources[row.id, cell.column] = _cell_source(cell, section, kind)
    chunks, readings = [row.chunk_id for row in kept], [_reading(row, key) for row in kept]
    ids = [row.id for row in kept], [row.document_id for row in kept], chunks
    return MemoryRelation(values, *ids, documents, sources, quote, starts, readings, lists_of)


def _standing(row: Row, columns: Collection[str], unverified: bool) -> Iterator[Cell]:
    """Yields the cells of these columns whose values the data table shows."""
    for cell in row.cells:
        if cell.column in columns and cell.value is not None and enters(cell, unverified):
            yield cell


def _cell_source(cell: Cell, section: str, kind: Kind) -> CellSource:
    """Returns the source of a cell, as far as the cell itself tells."""
    return CellSource(
        printed=cell.printed,
        quote=cell.printed,
        section=section,
        page=cell.span.page if cell.span else None,
        unit=cell.unit,
        scale=cell.scale,
        grounding=cell.grounding,
        rationale=cell.rationale,
        kind=kind,
        how=cell.how,
        doubt=cell.doubt,
    )


def _reading(row: Row, key: Sequence[str]) -> str:
    """Returns the name of a reading: the chunk of a row, and the call that gave it."""
    cells = [cell for cell in row.cells if cell.value is not None]
    call = next((cell.call_id for cell in sorted(cells, key=lambda c: c.column not in key)), "")
    return f"{row.chunk_id}\x1f{call}"


def _kind_of(kinds: frozenset[str]) -> Kind:
    """Returns "table" for a chunk of tables alone, "prose" for a chunk of prose alone, and "" for
    any other. Headings and captions count as neither.
    """
    told = kinds - {"heading", "caption"}
    if not told or ("table" in told and len(told) > 1):
        return ""
    return "table" if "table" in told else "prose"
