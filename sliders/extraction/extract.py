"""Rows out of one chunk, for all tables that want it: ask, check, ask once more with what the check found (contracts 1 to 4)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sliders.errors import ModelError, ModelUnavailable, TruncatedReply
from sliders.extraction.cell import Absence, Cell, Row, Scalar, Span
from sliders.extraction.check import Checked, check_cell, quoted
from sliders.extraction.prompt import Asked, chunk_document, read_prompt, recheck_prompt
from sliders.extraction.source import Source
from sliders.llm.model import Model, Request, Response, Usage
from sliders.schema.types import Column

_DEEPEST = 4
_MOST_FINDINGS = 24


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call, a row or a cell that gave nothing usable: which chunk, which table ("" for all), what, and why."""

    chunk_id: str
    subject: str
    reason: str
    table: str = ""
    fatal: bool = True
    """Some of the chunk is not known, so that it is asked again on the next run."""


@dataclass(frozen=True, slots=True)
class Change:
    """A value that code put in the place of a reader's, because nobody could be asked again: of which cell, and why."""

    table: str
    column: str
    before: Scalar
    value: Scalar
    reason: str

    @property
    def told(self) -> str:
        """The change in words."""
        return f"{self.before!r} became {self.value!r}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one chunk gave: rows of the tables that were asked for, what was refused, and what code changed."""

    chunk_id: str
    rows: tuple[Row, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    tokens: int = 0
    changes: tuple[Change, ...] = ()

    def failed(self, table: str) -> bool:
        """Whether some of the chunk is not known for a table."""
        return any(r.fatal and r.table in ("", table) for r in self.refusals)

    def of(self, table: str) -> tuple[Row, ...]:
        """The rows of one table."""
        return tuple(row for row in self.rows if row.table == table)

    def __add__(self, other: Extraction) -> Extraction:
        return Extraction(
            self.chunk_id, (*self.rows, *other.rows), (*self.refusals, *other.refusals), self.tokens + other.tokens,
            (*self.changes, *other.changes),
        )


async def generate(request: Request, model: Model) -> Response | ModelError:
    """The reply, or the error as a value: a failed call costs its chunk and no other.

    Raises ModelUnavailable: no server, no key: every other chunk would fail alike.
    """
    try:
        return await model.generate(request)
    except ModelUnavailable:
        raise
    except ModelError as error:
        return error


def paid_for(reply: Response | ModelError) -> int:
    """The tokens of a reply, or of a call that failed."""
    return reply.usage.tokens if isinstance(reply.usage, Usage) else 0


async def read_chunk(source: Source, asked: Sequence[Asked], model: Model, depth: int = 0) -> Extraction:
    """All rows of all tables asked, in the full dialect; a reply that was cut is asked again in halves."""
    document = chunk_document(source.chunk, source.card)
    request = read_prompt(document, asked, model.count_tokens(document), source.questions, whole=source.is_whole)
    reply = await generate(request, model)
    spent = paid_for(reply)
    if isinstance(reply, TruncatedReply) or (isinstance(reply, Response) and reply.finish_reason == "length"):
        halves = source.halves() if depth < _DEEPEST else ()
        if halves:
            parts = [await read_chunk(half, asked, model, depth + 1) for half in halves]
            return Extraction(source.chunk.id, tokens=spent) + parts[0] + parts[1]
    if isinstance(reply, ModelError):
        return Extraction(source.chunk.id, refusals=(Refusal(source.chunk.id, "reply", str(reply)),), tokens=spent)
    drafts, refusals = _drafts(source, asked, reply)
    findings = [(d, name) for d in drafts for name, checked in d.cells.items() if checked.finding][:_MOST_FINDINGS]
    if findings:
        spent += await _recheck(source, document, findings, model)
    rows = tuple(_row(source, draft, reply.call_id, model.name, request.prompt_hash) for draft in drafts)
    if reply.salvaged:
        refusals.append(Refusal(source.chunk.id, "reply", "rows that were cut or of another shape were left out"))
    return Extraction(source.chunk.id, rows, tuple(refusals), spent)


@dataclass(slots=True)
class _Draft:
    """A row on its way: the checked cells by column, and what the model gave for them."""

    asked: Asked
    ordinal: int
    cells: dict[str, Checked]
    given: dict[str, Mapping[str, Any]]


def _drafts(source: Source, asked: Sequence[Asked], reply: Response) -> tuple[list[_Draft], list[Refusal]]:
    """Every row of the reply, or the recorded reason why it is none."""
    by_name = {a.table.name: a for a in asked}
    drafts: list[_Draft] = []
    refusals: list[Refusal] = []
    counts: dict[str, int] = {}
    taken: dict[tuple[str, str], int] = {}
    for number, item in enumerate((reply.data or {}).get("rows", ()), 1):
        table = str(item.get("table", ""))
        wanted = by_name.get(table) or (asked[0] if len(asked) == 1 else None)
        if wanted is None:
            refusals.append(_slight(source, f"row {number}", f"there is no table {table!r}"))
            continue
        name = wanted.table.name
        columns = {c.name: c for c in wanted.columns}
        given = {k: v if isinstance(v, Mapping) else {"value": v} for k, v in dict(item.get("cells") or {}).items()}
        for unknown in given.keys() - columns.keys():
            refusals.append(_slight(source, f"row {number}", f"table {name} has no column {unknown!r} to fill", name))
        draft = _Draft(wanted, counts.get(name, 0), {}, {k: v for k, v in given.items() if k in columns})
        counts[name] = draft.ordinal + 1
        _check(source, draft, columns, taken)
        drafts.append(draft)
    return drafts, refusals


def _slight(source: Source, subject: str, reason: str, table: str = "") -> Refusal:
    return Refusal(source.chunk.id, subject, reason, table, fatal=False)


def _check(source: Source, draft: _Draft, columns: Mapping[str, Column], taken: dict[tuple[str, str], int]) -> None:
    """Check the cells of a row; `taken` is where a column's words of the rows before end: rows that say the same are two."""
    near: list[tuple[int, int]] = []
    for name, column in columns.items():
        if name not in draft.given:
            draft.cells[name] = Checked(Cell(name, absence=Absence.NOT_STATED))
            continue
        same = (f"{draft.asked.table.name}.{name}", str(draft.given[name].get("words")))
        checked = check_cell(source, column, draft.given[name], near, taken.get(same, 0))
        draft.cells[name] = checked
        if checked.cell.span is not None:
            near.append(_local(source, checked.cell.span))
            taken[same] = near[-1][1]


def _local(source: Source, span: Span) -> tuple[int, int]:
    return span.start - source.offset, span.end - source.offset


async def _recheck(source: Source, document: str, findings: Sequence[tuple[_Draft, str]], model: Model) -> int:
    """Ask once more for the cells that a check doubts, and take what comes back; tokens spent.

    A cell that is given again as it was keeps its doubt; a failed call changes nothing.
    """
    lines = [f"{number}. {_described(draft, name)}" for number, (draft, name) in enumerate(findings, 1)]
    reply = await generate(recheck_prompt(document, lines), model)
    if isinstance(reply, ModelError):
        return paid_for(reply)
    for item in (reply.data or {}).get("cells", ()):
        number = item.get("number")
        if not isinstance(number, int) or not 1 <= number <= len(findings):
            continue
        draft, name = findings[number - 1]
        column = next(c for c in draft.asked.columns if c.name == name)
        near = [_local(source, c.cell.span) for n, c in draft.cells.items() if n != name and c.cell.span is not None]
        again, before = check_cell(source, column, item, near), draft.given[name].get("value")
        if item.get("value") is None:
            again = replace(again, cell=replace(again.cell, detail=f"taken back: {before!r}; {draft.cells[name].finding}"))
        draft.cells[name] = again
    return reply.usage.tokens


def _described(draft: _Draft, name: str) -> str:
    column = next(c for c in draft.asked.columns if c.name == name)
    others = (c.cell for n, c in draft.cells.items() if n != name)
    row = ", ".join(f"{c.column} {c.value!r}" for c in others if c.value is not None and c.absence is None)
    given = draft.given[name]
    said = f"value {given.get('value')!r}, words {quoted(given)!r}"
    return f"{name} ({column.description}) of the row with {row or 'no other cell'}: {said}. Found: {draft.cells[name].finding}"


def _row(source: Source, draft: _Draft, call_id: str, model: str, prompt_hash: str) -> Row:
    cells = tuple(
        replace(checked.cell, call_id=call_id, model=model, prompt_hash=prompt_hash) for checked in draft.cells.values()
    )
    return new_row(source, draft.asked.table.name, draft.ordinal, cells)


def new_row(source: Source, table: str, ordinal: int, cells: Iterable[Cell]) -> Row:
    """A row of the source's chunk."""
    identity = row_id(table, source.chunk.id, source.offset, ordinal)
    return Row(identity, table, source.chunk.document_id, source.chunk.id, ordinal, tuple(cells))


def row_id(table: str, chunk_id: str, offset: int, ordinal: int) -> str:
    """The stable identifier of a row: the same place and reply give the same one."""
    return hashlib.sha256(f"{table}\x1f{chunk_id}\x1f{offset}\x1f{ordinal}".encode()).hexdigest()[:16]


def joined(
    rows: Sequence[Row], known: Sequence[Row], identity: Sequence[str], asked: Sequence[str], *, whole: bool = True,
    key: Sequence[str] = (),
) -> tuple[Row, ...]:  # fmt: skip
    """New columns on the rows that stand: matched by their identifying cells, of equal ones by the place of their words, then in
    order; others become rows of their own.

    Only where the `whole` chunk was read, rows that it does not tell of again do not state the new columns; where the `key` is
    among these and was superseded, they are no things of the table any more, and count as never asked.
    Rows that nothing identifies (entries of a list, a table whose first columns are new) are matched by their place.
    """
    free = list(known)
    taken = {row.id for row in known}
    out = []
    for row in rows:
        matches = [k for k in free if _same(row, k, identity) or (not identity and k.id == row.id)]
        match = next((k for k in matches if _one_place(row, k, identity)), next(iter(matches), None))
        if match is None:
            identifier = row.id + "+"
            while identifier in taken:  # an earlier reading had rows of its own
                identifier += "+"
            taken.add(identifier)
            out.append(replace(row, id=identifier))
            continue
        free.remove(match)
        out.append(replace(match, cells=tuple(c for c in row.cells if c.column in asked)))
    for row in free if whole else ():  # asked and not told of: the cells say so
        superseded = {c.column for c in row.cells if c.absence is Absence.NOT_ASKED}
        gone = bool(key) and superseded.intersection(asked).issuperset(key)
        names = dict.fromkeys([*asked, *(c.column for c in row.cells)]) if gone else asked
        absence = Absence.NOT_ASKED if gone else Absence.NOT_STATED
        out.append(replace(row, cells=tuple(Cell(name, absence=absence) for name in names)))
    return tuple(out)


def _same(row: Row, other: Row, identity: Sequence[str]) -> bool:
    pairs = [(a.value, b.value) for name in identity if (a := row.cell(name)) and (b := other.cell(name))]
    told = [(a, b) for a, b in pairs if a is not None and b is not None]
    return bool(told) and all(a == b for a, b in told)


def _one_place(row: Row, other: Row, identity: Sequence[str]) -> bool:
    """Whether the words of all identifying cells stand at one place."""
    pairs = [(a.span, b.span) for name in identity if (a := row.cell(name)) and (b := other.cell(name))]
    return bool(pairs) and all(a is not None and a == b for a, b in pairs)
