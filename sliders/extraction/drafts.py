"""The rows of a reply on their way to be kept: checked cell by cell, and against the grids that
they were read from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sliders.extraction.asking import Refusal
from sliders.extraction.cell import Absence, Cell, Row, Span
from sliders.extraction.check import Checked, check_cell
from sliders.extraction.grid_rows import ReadRow, Unread, misplaced, unread
from sliders.extraction.prompt import Asked
from sliders.extraction.source import Source
from sliders.schema.types import Column
from sliders.sentences import Sentences

say = Sentences("extraction")


@dataclass(slots=True)
class Draft:
    """A row on its way: the checked cells by column, and what the model gave for them."""

    asked: Asked
    ordinal: int
    cells: dict[str, Checked]
    given: dict[str, Mapping[str, Any]]

    def column(self, name: str) -> Column:
        """The column of that name."""
        return next(c for c in self.asked.columns if c.name == name)


@dataclass(slots=True)
class Drafts:
    """The rows of one text: `rows` with their cells, `refusals` with the recorded reason
    why something is none.
    """

    source: Source
    asked: Sequence[Asked]
    rows: list[Draft] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)
    _taken: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, items: Iterable[Mapping[str, Any]]) -> None:
        """Take rows as the model gave them, each cell checked, all of them against the
        grids that they stand in.
        """
        by_name = {a.table.name: a for a in self.asked}
        for number, item in enumerate(items, len(self.rows) + 1):
            table = str(item.get("table", ""))
            wanted = by_name.get(table) or (self.asked[0] if len(self.asked) == 1 else None)
            if wanted is None:
                self._refuse(f"row {number}", say("no_table", table=table))
                continue
            name = wanted.table.name
            columns = {c.name: c for c in wanted.columns}
            given = {
                k: v if isinstance(v, Mapping) else {"value": v}
                for k, v in dict(item.get("cells") or {}).items()
            }
            for unknown in given.keys() - columns.keys():
                self._refuse(f"row {number}", say("no_column", name=name, unknown=unknown), name)
            draft = Draft(
                wanted,
                self._counts.get(name, 0),
                {},
                {k: v for k, v in given.items() if k in columns},
            )
            self._counts[name] = draft.ordinal + 1
            self._check(draft, columns, frozenset(item.get("does_not_apply") or ()))
            self.rows.append(draft)
        self.compare_with_grids()

    def _refuse(self, subject: str, reason: str, table: str = "") -> None:
        self.refusals.append(Refusal(self.source.chunk.id, subject, reason, table, fatal=False))

    def _check(self, draft: Draft, columns: Mapping[str, Column], idle: Collection[str]) -> None:
        """Check the cells of a row; `_taken` is where a column's words of the rows before end:
        rows that say the same are two.

        Args:
            idle: the columns that do not apply to the row; a value that is given
                all the same stands.
        """
        near: list[tuple[int, int]] = []
        for name, column in columns.items():
            if name not in draft.given or (name in idle and draft.given[name].get("value") is None):
                draft.cells[name] = Checked(
                    Cell(
                        name, absence=Absence.DOES_NOT_APPLY if name in idle else Absence.NOT_STATED
                    )
                )
                continue
            same = (f"{draft.asked.table.name}.{name}", str(draft.given[name].get("words")))
            checked = check_cell(
                self.source, column, draft.given[name], near, self._taken.get(same, 0)
            )
            draft.cells[name] = checked
            if checked.cell.span is not None:
                near.append(self.local(checked.cell.span))
                self._taken[same] = near[-1][1]

    def local(self, span: Span) -> tuple[int, int]:
        """A place of the document as one of the source's text."""
        return span.start - self.source.offset, span.end - self.source.offset

    def near(self, draft: Draft, but: str) -> list[tuple[int, int]]:
        """Where the other cells of a row stand."""
        return [
            self.local(c.cell.span)
            for n, c in draft.cells.items()
            if n != but and c.cell.span is not None
        ]

    def compare_with_grids(self) -> None:
        """Put a finding at every value that a grid prints in another row."""
        for one in misplaced(self.source, self._read()):
            cells = self.rows[one.row].cells
            if not cells[one.column].finding:
                cells[one.column] = Checked(
                    replace(cells[one.column].cell, doubt=one.finding), one.finding
                )

    def unread(self) -> list[Unread]:
        """The lines of grids that look like those that were read and gave no row."""
        return list(unread(self.source, self._read()))

    def _read(self) -> list[ReadRow]:
        return [
            ReadRow(
                draft.asked.table,
                {c.name: c for c in draft.asked.columns},
                {n: c.cell for n, c in draft.cells.items()},
            )
            for draft in self.rows
        ]

    def findings(self) -> list[tuple[Draft, str]]:
        """The cells that a check speaks against, but those that their reader called doubtful:
        that is known already.
        """
        return [
            (draft, name)
            for draft in self.rows
            for name, checked in draft.cells.items()
            if checked.finding
            and not (checked.cell.stands and draft.given[name].get("sure") is False)
        ]

    def kept(self, call_id: str, model: str, prompt_hash: str) -> tuple[Row, ...]:
        """The rows, their cells with the call that gave them."""
        return tuple(
            new_row(
                self.source,
                draft.asked.table.name,
                draft.ordinal,
                (
                    replace(checked.cell, call_id=call_id, model=model, prompt_hash=prompt_hash)
                    for checked in draft.cells.values()
                ),
            )
            for draft in self.rows
        )


def new_row(source: Source, table: str, ordinal: int, cells: Iterable[Cell]) -> Row:
    """A row of the source's chunk."""
    identity = row_id(table, source.chunk.id, source.offset, ordinal)
    return Row(identity, table, source.chunk.document_id, source.chunk.id, ordinal, tuple(cells))


def row_id(table: str, chunk_id: str, offset: int, ordinal: int) -> str:
    """The stable identifier of a row: the same place and reply give the same one."""
    return hashlib.sha256(f"{table}\x1f{chunk_id}\x1f{offset}\x1f{ordinal}".encode()).hexdigest()[
        :16
    ]
