"""The result of reading a chunk, the functions by which a model reads chunks, and the joining of
new columns with the rows that are known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sliders.extraction.asking import Refusal
from sliders.extraction.cell import Absence, Cell, Row, Scalar
from sliders.extraction.grid_rows import Unread
from sliders.extraction.prompt import Asked
from sliders.extraction.source import Source
from sliders.llm.model import Model, Request


@dataclass(frozen=True, slots=True)
class CodeChange:
    """A value that code put in the place of the model's value, because nobody could be asked again:
    the cell, both values, and the reason. The values are the same where a second model was asked.
    """

    table: str
    column: str
    before: Scalar
    value: Scalar
    reason: str

    @property
    def told(self) -> str:
        """The change in words."""
        if self.value == self.before:
            return self.reason
        return f"{self.before!r} became {self.value!r}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Extraction:
    """The result of reading one chunk: rows of the tables that were asked for, parts of the reply
    that were refused, and values that code changed.

    `missed` are lines of its grids that gave no row although they look like lines that did.
    """

    chunk_id: str
    rows: tuple[Row, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    changes: tuple[CodeChange, ...] = ()
    missed: tuple[Unread, ...] = ()

    def failed(self, table: str) -> bool:
        """True when a part of the chunk is unread for a table, so that its rows may be missing."""
        return any(r.fatal and r.table in ("", table) for r in self.refusals)

    def failure(self, table: str) -> str:
        """Why a part of the chunk is unread for a table; "" when all is read."""
        return "; ".join(r.reason for r in self.refusals if r.fatal and r.table in ("", table))

    def of(self, table: str) -> tuple[Row, ...]:
        """The rows of one table."""
        return tuple(row for row in self.rows if row.table == table)

    def __add__(self, other: Extraction) -> Extraction:
        return Extraction(
            self.chunk_id,
            (*self.rows, *other.rows),
            (*self.refusals, *other.refusals),
            (*self.changes, *other.changes),
            (*self.missed, *other.missed),
        )


class ReadChunks(Protocol):
    """Reads rows of all asked tables out of parts of different documents; see `read_chunks`."""

    async def __call__(
        self, sources: Sequence[Source], asked: Sequence[Asked], model: Model, expected: int = 0
    ) -> list[Extraction]: ...


@dataclass(frozen=True, slots=True)
class ChunkReader:
    """The functions by which a model of one dialect reads chunks.

    `read` returns the rows. `requests` builds the calls that it makes over texts when nothing is
    asked again, given the usual tokens of the reply. `bare` builds a request without text and
    columns, to measure its size. `one_call` is True when the input alone decides the first call, so
    that equal inputs make equal first calls.
    """

    read: ReadChunks
    requests: Callable[[Sequence[str], Sequence[Asked], int], list[Request]]
    bare: Callable[[], Request]
    one_call: bool


def joined(
    rows: Sequence[Row],
    known: Sequence[Row],
    identity: Sequence[str],
    asked: Sequence[str],
    *,
    whole: bool = True,
    key: Sequence[str] = (),
) -> tuple[Row, ...]:
    """Returns rows with the new columns joined to the known rows. Rows are matched by their
    identifying cells, equal ones by the place of their words, then by order; rows without a match
    are new. Rows that nothing identifies (entries of a list) are matched by place.

    Args:
        asked: the new columns.
        whole: True when the whole chunk was read: known rows that did not come back do not state
            the new columns.
        key: the table's key. When it is asked for again, known rows that did not come back count as
            never asked.
    """
    free = list(known)
    taken = {row.id for row in known}
    out = []
    for row in rows:
        matches = [k for k in free if _same(row, k, identity) or (not identity and k.id == row.id)]
        match = next(
            (k for k in matches if _one_place(row, k, identity)), next(iter(matches), None)
        )
        if match is None:
            identifier = row.id + "+"
            while identifier in taken:  # an earlier reading had rows of its own
                identifier += "+"
            taken.add(identifier)
            out.append(replace(row, id=identifier))
            continue
        free.remove(match)
        out.append(replace(match, cells=tuple(c for c in row.cells if c.column in asked)))
    out += [_not_told(row, asked, key) for row in free] if whole else []
    return tuple(out)


def _not_told(row: Row, asked: Sequence[str], key: Sequence[str]) -> Row:
    """Returns a row that did not come back from a reading of its whole chunk; its new cells
    say so.
    """
    superseded = {c.column for c in row.cells if c.absence is Absence.NOT_ASKED}
    gone = bool(key) and superseded.intersection(asked).issuperset(key)
    names = dict.fromkeys([*asked, *(c.column for c in row.cells)]) if gone else asked
    absence = Absence.NOT_ASKED if gone else Absence.NOT_STATED
    return replace(row, cells=tuple(Cell(name, absence=absence) for name in names))


def _same(row: Row, other: Row, identity: Sequence[str]) -> bool:
    pairs = [
        (a.value, b.value) for name in identity if (a := row.cell(name)) and (b := other.cell(name))
    ]
    told = [(a, b) for a, b in pairs if a is not None and b is not None]
    return bool(told) and all(a == b for a, b in told)


def _one_place(row: Row, other: Row, identity: Sequence[str]) -> bool:
    """True when the words of all identifying cells stand at the same places."""
    pairs = [
        (a.span, b.span) for name in identity if (a := row.cell(name)) and (b := other.cell(name))
    ]
    return bool(pairs) and all(a is not None and a == b for a, b in pairs)
