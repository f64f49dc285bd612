"""Words for rows of a data table: their documents, their places, and the commands that
name them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sliders.answer.doubts import command_of, plain
from sliders.engine.corrections import document_names
from sliders.engine.session import Session
from sliders.engine.tables_read import TableRead
from sliders.extraction.cell import Cell, Row, Scalar
from sliders.reconcile.human_corrections import DOCUMENT

_NAMED = 4


class RowWords:
    """The words for the rows of one table.

    Args:
        rows: extracted rows by id.
        sources: the extracted rows behind each merged row.
        shown: the current values by row and SQL column name.
    """

    def __init__(
        self,
        session: Session,
        read: TableRead,
        rows: Mapping[str, Row],
        sources: Mapping[str, Sequence[str]],
        shown: Mapping[str, Mapping[str, Scalar]],
    ) -> None:
        self._read, self._rows, self._sources, self._shown = read, rows, sources, shown
        self._names = document_names(session.catalog)

    def extracted(self, row_id: str) -> list[Row]:
        """Returns the extracted rows behind a current row."""
        return [
            self._rows[source]
            for source in self._sources.get(row_id, (row_id,))
            if source in self._rows
        ]

    def document_ids(self, row_id: str) -> list[str]:
        """Returns the ids of the documents that a row was read from."""
        return list(dict.fromkeys(row.document_id for row in self.extracted(row_id)))

    def documents(self, row_id: str) -> list[str]:
        """Returns the names of the documents that a row was read from."""
        return [self.document(document) for document in self.document_ids(row_id)]

    def document(self, document_id: str) -> str:
        """Returns the name of a document."""
        return str(self._names.get(document_id, {}).get(DOCUMENT[0], document_id))

    def conditions(self, row_id: str, but: str = "") -> list[tuple[str, Scalar]]:
        """Returns pairs (column, value) by which a command finds a row: its document, and its key
        when the document may have several rows; all its values when a part of its key is empty.
        `but` is a column to leave out.
        """
        table, relation = self._read.table, self._read.relation
        values = self._shown.get(row_id, {})
        keyed = table.key and all(
            values.get(relation.sql_name(name)) is not None for name in table.key
        )
        names = (
            table.key
            if keyed
            else dict.fromkeys([*table.key, *(column.name for column in self._read.columns)])
        )
        told = [
            (n, v)
            for n in names
            if n != but and (v := values.get(relation.sql_name(n))) is not None
        ]
        documents = self.documents(row_id)
        home: list[tuple[str, Scalar]] = [(DOCUMENT[0], documents[0])] if documents else []
        return home if home and table.grain == "document" else [*home, *told[:_NAMED]]

    def row(self, row_id: str, but: str = "") -> str:
        """Returns a row in words: its values, or its document when it has none. `but` is a column
        to leave out.
        """
        key = ", ".join(
            plain(value) for name, value in self.conditions(row_id, but) if name != DOCUMENT[0]
        )
        return (
            f"the row {key}" if key else f"the row of {', '.join(self.documents(row_id)) or row_id}"
        )

    def place(self, row_id: str, column: str = "", cells: Sequence[Cell] = ()) -> str:
        """Returns the place of a value in words: document, page, table and column, row."""
        page = next(
            (
                cell.span.page
                for cell in cells
                if cell.span is not None and cell.span.page is not None
            ),
            None,
        )
        where = ", ".join(self.documents(row_id)) + (f", page {page}" if page is not None else "")
        named = (
            f"{self._read.relation.relation}.{column}" if column else self._read.relation.relation
        )
        key = ", ".join(
            plain(value) for name, value in self.conditions(row_id, column) if name != DOCUMENT[0]
        )
        return "; ".join(filter(None, [where, f"{named} of {key}" if key else named]))

    def setting(self, row_id: str, column: str, value: Scalar) -> str:
        """Returns the command that decides a value; "VALUE" stands for a value that the user must
        fill in.
        """
        told = "VALUE" if value is None else plain(value)
        return command_of(
            "set-value", self._read.table.name, column, told, where=self.conditions(row_id, column)
        )

    def joining(self, row_id: str, other: str) -> str:
        """Returns the command that decides whether two rows are one thing."""
        sides = {"where": self.conditions(row_id), "other": self.conditions(other)}
        if sides["where"] == sides["other"]:
            return f"sliders why {row_id}"
        return (
            command_of("merge", self._read.table.name, **sides) + "  # or split, where they are two"
        )
