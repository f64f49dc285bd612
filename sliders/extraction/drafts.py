"""The rows of a model's reply before they are stored: each cell is checked, and all rows are
compared with the printed grids (tables) that they were read from.

A *finding* is a sentence that says what is wrong with a cell. A *refusal* records why a part of the
reply did not become a row or cell.
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
from sliders.llm.replies import by_name
from sliders.schema.types import Column
from sliders.sentences import Sentences

say = Sentences("extraction")


@dataclass(slots=True)
class Draft:
    """A row of a reply: its checked cells by column, and the cells as the model gave them."""

    asked: Asked
    ordinal: int
    cells: dict[str, Checked]
    given: dict[str, Mapping[str, Any]]

    def column(self, name: str) -> Column:
        """Returns the column of that name."""
        return next(c for c in self.asked.columns if c.name == name)


@dataclass(slots=True)
class Drafts:
    """The rows of a reply over one text.

    Args:
        source: the text.
        asked: the tables and columns that were asked for.
        rows: the rows with their cells.
        refusals: why parts of the reply did not become rows or cells.
        homeless: rows for a table that nobody asked for, with the table's name.
    """

    source: Source
    asked: Sequence[Asked]
    rows: list[Draft] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    homeless: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)
    _taken: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, items: Iterable[Mapping[str, Any]]) -> None:
        """Takes rows as the model gave them, checks each cell, and compares all rows with the
        grids. Names of tables and columns are matched as in SQL, without regard to case.
        """
        tables = {a.table.name: a for a in self.asked}
        for number, item in enumerate(items, len(self.rows) + 1):
            table = str(item.get("table", ""))
            only = self.asked[0] if len(self.asked) == 1 else None
            wanted = tables.get(by_name(table, tables) or "") or only
            if wanted is None:
                self.homeless.append((table, item.get("cells") or {}))
                continue
            name = wanted.table.name
            columns = {c.name: c for c in wanted.columns}
            given, strange = _by_column(_with_false(item), columns)
            for unknown in strange:
                self.refuse(f"row {number}", say("no_column", name=name, unknown=unknown), name)
            draft = Draft(wanted, self._counts.get(name, 0), {}, given)
            self._counts[name] = draft.ordinal + 1
            idle = frozenset(by_name(c, columns) or "" for c in item.get("does_not_apply") or ())
            self._check(draft, columns, idle)
            _ask_back(draft, strange)
            self.rows.append(draft)
        self.compare_with_grids()

    def refuse(self, subject: str, reason: str, table: str = "", *, fatal: bool = False) -> None:
        """Records why a part of the reply does not become a row or cell; `fatal` when the chunk has
        to be asked again.
        """
        self.refusals.append(Refusal(self.source.chunk.id, subject, reason, table, fatal))

    def _check(self, draft: Draft, columns: Mapping[str, Column], idle: Collection[str]) -> None:
        """Checks the cells of a row. `_taken` holds where the words of each column ended in the
        rows before, so that two rows with the same words get two places.

        Args:
            idle: the columns that do not apply to the row; a value that the model gives anyway is
                kept.
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
            printed = draft.given[name].get("words") or draft.given[name].get("value")
            same = (f"{draft.asked.table.name}.{name}", str(printed))
            checked = check_cell(
                self.source, column, draft.given[name], near, self._taken.get(same, 0)
            )
            draft.cells[name] = checked
            if checked.cell.span is not None:
                near.append(self.local(checked.cell.span))
                self._taken[same] = near[-1][1]

    def local(self, span: Span) -> tuple[int, int]:
        """Returns a place of the document as a place of the source's text."""
        return span.start - self.source.offset, span.end - self.source.offset

    def near(self, draft: Draft, but: str) -> list[tuple[int, int]]:
        """Returns the places of the other cells of a row."""
        return [
            self.local(c.cell.span)
            for n, c in draft.cells.items()
            if n != but and c.cell.span is not None
        ]

    def compare_with_grids(self) -> None:
        """Sets a finding at every value that a grid prints in another row."""
        for one in misplaced(self.source, self._read()):
            cells = self.rows[one.row].cells
            if not cells[one.column].finding:
                cells[one.column] = Checked(
                    replace(cells[one.column].cell, doubt=one.finding), one.finding
                )

    def unread(self) -> list[Unread]:
        """Returns the lines of grids that gave no row although they look like lines that did."""
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
        """Returns the cells with a finding, except cells that the model itself called doubtful."""
        return [
            (draft, name)
            for draft in self.rows
            for name, checked in draft.cells.items()
            if checked.finding
            and not (checked.cell.stands and draft.given[name].get("sure") is False)
        ]

    def kept(self, call_id: str, model: str, prompt_hash: str) -> tuple[Row, ...]:
        """Returns the rows to be stored; their cells name the call that gave them."""
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


def _by_column(
    cells: Mapping[str, Any], columns: Collection[str]
) -> tuple[dict[str, Mapping[str, Any]], dict[str, Mapping[str, Any]]]:
    """Returns the cells that the model gave for the columns, and the cells under names that no
    column has.
    """
    given: dict[str, Mapping[str, Any]] = {}
    strange: dict[str, Mapping[str, Any]] = {}
    for name, said in cells.items():
        column = by_name(name, columns)
        held = given if column is not None and column not in given else strange
        held[column or name] = said if isinstance(said, Mapping) else {"value": said}
    return given, strange


def _with_false(item: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the cells of a row, with a false one for each column that the row lists as false."""
    false = {"value": False, "words": [], "how": "judged", "why": say("listed_false")}
    return dict.fromkeys(item.get("false") or (), false) | dict(item.get("cells") or {})


def value_of(cell: object) -> Any:
    """Returns the value of a cell of a reply. A cell is either the bare value or a mapping with the
    value and its words.
    """
    return cell.get("value") if isinstance(cell, Mapping) else cell


def _ask_back(draft: Draft, strange: Mapping[str, Mapping[str, Any]]) -> None:
    """Sets a finding at the columns without a cell when the reply has cells under unknown names.
    Without a better reply these columns are unknown, which is not the same as "not stated".
    """
    values = {name: value_of(cell) for name, cell in strange.items()}
    said = {name: value for name, value in values.items() if value is not None}
    told = ", ".join(f"{name} {value!r}" for name, value in said.items())
    for name, checked in draft.cells.items():
        if said and name not in draft.given and checked.cell.absence is Absence.NOT_STATED:
            finding = say("is_it_this_column", told=told, name=name)
            cell = Cell(name, absence=Absence.NOT_PARSED, detail=finding)
            draft.given[name], draft.cells[name] = {}, Checked(cell, finding)


def new_row(source: Source, table: str, ordinal: int, cells: Iterable[Cell]) -> Row:
    """Returns a row of the source's chunk."""
    identity = row_id(table, source.chunk.id, source.offset, ordinal)
    return Row(identity, table, source.chunk.document_id, source.chunk.id, ordinal, tuple(cells))


def row_id(table: str, chunk_id: str, offset: int, ordinal: int) -> str:
    """Returns the stable id of a row: the same place and reply give the same id."""
    return hashlib.sha256(f"{table}\x1f{chunk_id}\x1f{offset}\x1f{ordinal}".encode()).hexdigest()[
        :16
    ]
