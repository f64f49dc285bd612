"""Rows as typed cells, each with the words that it was read from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

Scalar = str | int | float | bool | None


class Grounding(str, Enum):
    """How a value was found in the text."""

    EXACT = "exact"
    NORMALIZED = "normalized"
    FUZZY = "fuzzy"
    DERIVED = "derived"
    NONE = "none"

    @property
    def trusted(self) -> bool:
        """Whether a cell grounded so may enter a table that answers questions."""
        return self is not Grounding.NONE


class Absence(str, Enum):
    """Why a cell is empty (contract 4); no empty cell is without one."""

    NOT_STATED = "not stated"
    GATED_OUT = "gated out"
    PRUNED = "pruned"
    NOT_ASKED = "not asked"
    UNGROUNDED = "ungrounded"
    NOT_PARSED = "did not parse"
    CALL_FAILED = "call failed"


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` (exclusive) of a document's text, and the page that holds the first one."""

    document_id: str
    start: int
    end: int
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of one row. `printed` is as it stands on the page, `value` is typed (dates ISO, booleans bool).

    For a derived value `printed` keeps the source words and `rationale` how the value follows from them. `value` is None
    exactly when `absence` is set; `detail` then says more ("'n/a' is not a date").
    """

    column: str
    value: Scalar = None
    printed: str = ""
    grounding: Grounding = Grounding.NONE
    span: Span | None = None
    unit: str = ""
    scale: str = ""
    absence: Absence | None = None
    detail: str = ""
    rationale: str = ""
    call_id: str = ""
    model: str = ""
    prompt_hash: str = ""

    @property
    def stands(self) -> bool:
        """Whether it has a value and a place in the text."""
        return self.absence is None and self.span is not None

    def emptied(self, reason: str) -> Cell:
        """The cell without its value and words, and why."""
        return replace(
            self, value=None, printed="", span=None, grounding=Grounding.NONE, absence=Absence.NOT_STATED, detail=reason
        )


@dataclass(frozen=True, slots=True)
class Row:
    """One extracted row of `table`, read from one chunk. `id` is stable: the same reply gives the same id."""

    id: str
    table: str
    document_id: str
    chunk_id: str
    ordinal: int
    cells: tuple[Cell, ...]

    def cell(self, column: str) -> Cell | None:
        """The cell of that column, None when it was never asked."""
        for cell in self.cells:
            if cell.column == column:
                return cell
        return None


def with_changed(rows: Sequence[Row], changed: Iterable[Row]) -> list[Row]:
    """The rows, each changed cell in its place; `changed` rows may have those cells only."""
    new: dict[str, dict[str, Cell]] = {}
    for row in changed:
        new.setdefault(row.id, {}).update({cell.column: cell for cell in row.cells})
    return [
        replace(row, cells=tuple(own.get(c.column, c) for c in row.cells)) if (own := new.get(row.id)) else row for row in rows
    ]
