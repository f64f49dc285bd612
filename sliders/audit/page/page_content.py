"""What stands on an audit page, as frozen values; `plain` is their JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from sliders.extraction.cell import Scalar
from sliders.llm.model import Usage


@dataclass(frozen=True, slots=True)
class TextPlace:
    """Characters `start` to `end` of a document (its id), and their page."""

    document: str
    start: int
    end: int
    page: int | None = None


@dataclass(frozen=True, slots=True)
class ShownSource:
    """One reading of a value: in which document, resting on which words, and why.

    `agrees`: it is the value shown.
    """

    document: str
    value: Scalar
    printed: str = ""
    how: str = "stated"
    found: str = ""
    agrees: bool = True
    places: tuple[TextPlace, ...] = ()
    reason: str = ""
    odds: str = ""
    doubt: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A value that a repair or a person put in the place of others."""

    before: tuple[Scalar, ...]
    after: Scalar
    kind: str
    reason: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class ShownValue:
    """One value of a table with its readings and changes; `empty` says why there is none,
    `conflict` what is open.

    `name` is the canonical form of a name that is printed in another one, `named` why it is one.
    """

    shown: Scalar = None
    sources: tuple[ShownSource, ...] = ()
    changes: tuple[ShownChange, ...] = ()
    empty: str = ""
    conflict: str = ""
    name: str = ""
    named: str = ""


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row of a data table; `behind` numbers the answers (from 0) that it stands behind, `of` the
    rows merged into it.
    """

    id: str
    document: str
    values: tuple[ShownValue, ...]
    behind: tuple[int, ...] = ()
    of: int = 1


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column with its definition, and how many values it has, of them judged
    and unverified ones.
    """

    name: str
    type: str
    description: str = ""
    unit: str = ""
    reading: str = "stated"
    allowed: tuple[str, ...] = ()
    values: int = 0
    judged: int = 0
    unverified: int = 0


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A data table; `total` counts all its rows, `rows` are those on the page, `history`
    says what repairs did.
    """

    name: str
    columns: tuple[ShownColumn, ...]
    rows: tuple[ShownRow, ...]
    total: int
    meaning: str = ""
    description: str = ""
    grain: str = ""
    history: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, paragraph or table of a passage; `rows` are [start, end] of the
    cells, below `header`.
    """

    kind: str
    start: int
    end: int
    level: int = 0
    header: tuple[str, ...] = ()
    rows: tuple[tuple[tuple[int, int], ...], ...] = ()


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A stretch of a document's text, from the character `start` on."""

    start: int
    text: str
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A document as far as the page needs it; `pages` are pairs of a number and
    its first character.
    """

    name: str
    title: str = ""
    characters: int = 0
    superseded: bool = False
    pages: tuple[tuple[int, int], ...] = ()
    passages: tuple[ShownPassage, ...] = ()


@dataclass(frozen=True, slots=True)
class Silent:
    """A document that gave no value, and why; `id` is empty where its text is not on the page."""

    name: str
    reasons: tuple[str, ...]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation of an answer: the value, its words, and the result row (from 0)
    that it stands behind.
    """

    column: str
    value: ShownValue
    quote: str = ""
    result_row: int | None = None


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """An answer as it was kept (`Answer.to_dict`), and its citations."""

    kept: Mapping[str, Any]
    citations: tuple[Cited, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownDifference:
    """What differs between two runs in one place; `at` numbers the table, row and column of the
    page that hold it now.
    """

    what: str
    of: str
    place: str
    before: Any
    after: Any
    because: str
    at: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """What changed between the runs `before` and `after`: at most some hundred of `total`, and the
    questions answered alike.
    """

    before: int
    after: int
    differences: tuple[ShownDifference, ...]
    total: int
    same: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditPage:
    """All of a page. `stages` say what each stage of the run cost, `notes` what was
    left out of the page.
    """

    workspace: str
    run: int
    kind: str
    status: str
    question: str
    started: str
    model: str
    error: str = ""
    answers: tuple[ShownAnswer, ...] = ()
    tables: tuple[ShownTable, ...] = ()
    documents: Mapping[str, ShownDocument] = field(default_factory=dict)
    document_count: int = 0
    silent: tuple[Silent, ...] = ()
    stages: tuple[tuple[str, Usage], ...] = ()
    notes: tuple[str, ...] = ()
    compared: ComparedRuns | None = None


def plain(item: Any) -> Any:
    """Plain JSON of a value of this file; what is None, an empty text or an
    empty tuple is left out.
    """
    if is_dataclass(item):
        named = ((part.name, getattr(item, part.name)) for part in fields(item))
        return {
            name: plain(value)
            for name, value in named
            if value is not None and value not in ("", ())
        }
    if isinstance(item, Mapping):
        return {name: plain(value) for name, value in item.items()}
    return [plain(value) for value in item] if isinstance(item, tuple | list) else item
