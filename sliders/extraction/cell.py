"""Rows as typed cells, each with the words that it was read from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sliders.values.expected import Scalar as Scalar


class Grounding(str, Enum):
    """How a value was found in the text."""

    EXACT = "exact"
    NORMALIZED = "normalized"
    FUZZY = "fuzzy"
    DERIVED = "derived"
    NONE = "none"


class How(str, Enum):
    """The relation of a value to its words: they print it (stated), it follows from several words
    (computed), or a reader decided it (judged).
    """

    STATED = "stated"
    COMPUTED = "computed"
    JUDGED = "judged"


class Absence(str, Enum):
    """The reason why a cell is empty (contract 4); every empty cell has one. When a column does not
    apply, no value is missing.
    """

    NOT_STATED = "not stated"
    DOES_NOT_APPLY = "does not apply"
    GATED_OUT = "gated out"
    PRUNED = "pruned"
    NOT_ASKED = "not asked"
    UNGROUNDED = "ungrounded"
    NOT_PARSED = "did not parse"
    CALL_FAILED = "call failed"


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` (exclusive) of a document's text, and the page that
    holds the first one.
    """

    document_id: str
    start: int
    end: int
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of one row. `printed` is its text on the page, `value` is typed (dates as ISO text,
    booleans as bool).

    A cell with an `absence` does not enter tables that answer questions. When its words were not
    found or did not parse, `value` keeps the model's value for the audit, and `detail` explains
    ("'n/a' is not a date"). `rationale` is the reason of a judgement, or the arithmetic of a
    computed value; `parts` are the places of its further words. `odds` are the natural
    log-probabilities of the choices of a judged value, before any cut; empty when they were not
    measured. A cell with a `doubt` enters tables, but is unverified; the doubt says why. `bound` is
    the word before a number that is not exact: "<", "<=", ">", ">=", "about", "between".
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
    how: How = How.STATED
    odds: tuple[tuple[str, float], ...] = ()
    doubt: str = ""
    parts: tuple[Span, ...] = ()
    call_id: str = ""
    model: str = ""
    prompt_hash: str = ""
    bound: str = ""

    @property
    def stands(self) -> bool:
        """True when its value enters the tables that answer questions."""
        return self.absence is None


@dataclass(frozen=True, slots=True)
class Row:
    """One extracted row of `table`, read from one chunk.

    `id` is stable: the same reply gives the same id.
    """

    id: str
    table: str
    document_id: str
    chunk_id: str
    ordinal: int
    cells: tuple[Cell, ...]

    def cell(self, column: str) -> Cell | None:
        """The cell of a column, None when the row was never asked for it."""
        for cell in self.cells:
            if cell.column == column:
                return cell
        return None
