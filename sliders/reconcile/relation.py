"""A relation in memory, built from extracted rows or from plain columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from sliders.errors import RepairError
from sliders.extraction.cell import Cell, Row, Scalar
from sliders.reconcile.values import CellSource, DocumentSource
from sliders.store.tables import enters

_NOTHING = CellSource()


class MemoryRelation:
    """Rows by column, with what the page says of their cells.

    Args:
        columns: values by column name, all of one length.
        row_ids: identifiers, unique; numbered when not given.
        document_ids: the document of each row; one unnamed document when not given.
        sources: by (row id, column); cells without an entry have an empty source.
        quote: the words around a cell, by row id and column; asked only for cells in doubt, since it reads the page.
    """

    def __init__(
        self,
        columns: Mapping[str, Sequence[Scalar]],
        row_ids: Sequence[str] | None = None,
        document_ids: Sequence[str] | None = None,
        chunk_ids: Sequence[str] | None = None,
        documents: Mapping[str, DocumentSource] | None = None,
        sources: Mapping[tuple[str, str], CellSource] | None = None,
        quote: Callable[[str, str], str] | None = None,
    ) -> None:
        self._quote = quote
        size = len(next(iter(columns.values()))) if columns else 0
        self._columns = columns
        self.row_ids: Sequence[str] = row_ids if row_ids is not None else [f"r{i}" for i in range(size)]
        self.document_ids: Sequence[str] = document_ids if document_ids is not None else [""] * size
        self.chunk_ids: Sequence[str] = chunk_ids if chunk_ids is not None else self.document_ids
        self.documents: Mapping[str, DocumentSource] = documents or {}
        self._sources = sources or {}
        lengths = {len(self.row_ids), len(self.document_ids), len(self.chunk_ids), *map(len, columns.values())}
        if len(lengths) > 1:
            raise RepairError(f"the columns have different lengths {sorted(lengths)}; give every row a value or None")

    def column(self, name: str) -> Sequence[Scalar]:
        """Values of a column; a column that no row was asked for is empty in every row."""
        return self._columns[name] if name in self._columns else [None] * len(self.row_ids)

    def source(self, index: int, column: str) -> CellSource:
        """What the page says of one cell."""
        found = self._sources.get((self.row_ids[index], column), _NOTHING)
        if self._quote is None or found is _NOTHING:
            return found
        return replace(found, quote=self._quote(self.row_ids[index], column) or found.quote)


def relation_of(
    rows: Iterable[Row],
    columns: Sequence[str],
    documents: Mapping[str, DocumentSource] | None = None,
    sections: Mapping[str, str] | None = None,
    table_chunks: frozenset[str] = frozenset(),
    unverified: bool = False,
    quote: Callable[[str, str], str] | None = None,
) -> MemoryRelation:
    """The relation of extracted rows: the values that stand in the data table, all others count as empty.

    Args:
        rows: rows of one table.
        columns: names of the table's columns.
        documents: documents by identifier.
        sections: heading path by chunk id.
        table_chunks: ids of the chunks that hold a table and no prose.
        unverified: the table also shows values that were not found in the text or did not parse.
        quote: the sentence of a cell, by row id and column; its printed words when left out.
    """
    kept = list(rows)
    values: dict[str, list[Scalar]] = {name: [None] * len(kept) for name in columns}
    sources: dict[tuple[str, str], CellSource] = {}
    for index, row in enumerate(kept):
        kind: Literal["table", "prose"] = "table" if row.chunk_id in table_chunks else "prose"
        for cell in row.cells:
            if cell.column not in values or cell.value is None or not enters(cell, unverified):
                continue
            values[cell.column][index] = cell.value
            sources[row.id, cell.column] = _source_of(cell, (sections or {}).get(row.chunk_id, ""), kind)
    return MemoryRelation(
        values, [row.id for row in kept], [row.document_id for row in kept], [row.chunk_id for row in kept],
        documents, sources, quote,
    )  # fmt: skip


def _source_of(cell: Cell, section: str, kind: Literal["table", "prose"]) -> CellSource:
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
