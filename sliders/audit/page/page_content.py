"""The content of an audit page as frozen values; `plain` turns them into JSON.

A *reading* is a value that the model read in one document. A table's value can have several.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from sliders.extraction.cell import Scalar
from sliders.llm.model import Usage


@dataclass(frozen=True, slots=True)
class TextPlace:
    """Characters `start` to `end` of a document, with their page number. `document` is an id."""

    document: str
    start: int
    end: int
    page: int | None = None


@dataclass(frozen=True, slots=True)
class ShownSource:
    """One reading of a value.

    Args:
        document: the document's id.
        value: the value that was read.
        printed: the words of the document that it rests on.
        how: how the value follows from the words: "stated", "computed" or "judged".
        found: how the words were found in the text.
        agrees: True when the table shows this value.
        places: where the words stand.
        reason: the model's reason.
        odds: the probability of a judged value, in words.
        doubt: why the value is unverified; "" when it is verified.
        model: the model that read it.
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
    """A change of a value by a repair or a person: the earlier values, the new value, the kind of
    change, its reason and its author.
    """

    before: tuple[Scalar, ...]
    after: Scalar
    kind: str
    reason: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class ShownValue:
    """One value of a table, with its readings and its changes.

    Args:
        shown: the value that the table shows; None for an empty cell.
        sources: its readings.
        changes: what repairs and people changed.
        empty: why the cell is empty; "" when it is not.
        conflict: the open conflict about the value; "" when there is none.
        name: the canonical form, when the document prints the name in another form.
        named: why the two forms are one name.
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
    """A row of a data table on the page.

    Args:
        behind: the numbers of the answers (from 0) that rest on this row.
        of: how many extracted rows were merged into this row.
    """

    id: str
    document: str
    values: tuple[ShownValue, ...]
    behind: tuple[int, ...] = ()
    of: int = 1


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column with its definition, and the counts of its values, its judged values and its
    unverified values.
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
    """A data table. `total` is the number of all its rows, `rows` are the rows on the page,
    `history` says which repairs changed it.
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
    """A heading, paragraph or table inside a passage. `start` and `end` are characters of the
    document. `rows` gives the characters (start, end) of each cell below `header`.
    """

    kind: str
    start: int
    end: int
    level: int = 0
    header: tuple[str, ...] = ()
    rows: tuple[tuple[tuple[int, int], ...], ...] = ()


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A stretch of a document's text that begins at character `start`."""

    start: int
    text: str
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """The parts of a document that the page shows. `pages` are pairs of a page number and the first
    character of that page.
    """

    name: str
    title: str = ""
    characters: int = 0
    superseded: bool = False
    pages: tuple[tuple[int, int], ...] = ()
    passages: tuple[ShownPassage, ...] = ()


@dataclass(frozen=True, slots=True)
class Silent:
    """A document without a value, and why; `id` is "" when its text is not on the page."""

    name: str
    reasons: tuple[str, ...]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation of an answer: the value, its words, and the row of the answer's result (from 0)
    that rests on it.
    """

    column: str
    value: ShownValue
    quote: str = ""
    result_row: int | None = None


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """An answer as it was stored (`Answer.to_dict`), and its citations."""

    kept: Mapping[str, Any]
    citations: tuple[Cited, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownDifference:
    """A difference between two runs in one place.

    Args:
        what: "answer", "value", or the change of a row ("new row").
        of: the question or the document.
        place: the table, or table and column; "" for an answer.
        before: the content in the first run.
        after: the content in the second run.
        because: the cause of the change.
        at: the numbers of the table, row and column on the page; None when the page does not hold
            them.
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
    """The differences between the runs `before` and `after`. `differences` holds at most some
    hundred of `total`; `same` lists the questions with equal answers.
    """

    before: int
    after: int
    differences: tuple[ShownDifference, ...]
    total: int
    same: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditPage:
    """The whole content of a page. `stages` gives the usage of each stage of the run, `notes` say
    what was left out.
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
    """Returns a value of this module as plain JSON. Fields that are None, "" or () are left out."""
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
