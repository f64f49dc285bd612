"""Columns that are parts of one phrase ("Maxi 77" is a maker and a model), and words that two columns claim.

A small model gives the whole phrase to the first column and a neighbour's words to the second. Where other rows show
that the two columns stand side by side in the text, code parts the phrase; words that two columns claim go to the one
whose other values look like them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, permutations

from sliders.extraction.cell import Cell, Row, Span
from sliders.schema.types import ColumnType, Table

_FEWEST_ROWS, _FEWEST_SIDE_BY_SIDE, _CLEAR, _SHARED_AT_MOST, _ROUNDS = 8, 3, 0.5, 0.6, 2


def parted(rows: Sequence[Row], table: Table, text: Callable[[Span], str]) -> list[Row]:
    """The rows of which a phrase is parted or claimed words are given to their column, each with only those cells.

    Args:
        rows: all rows of a table with one row a document.
        text: the characters of the document at a span.
    """
    names = [c.name for c in table.columns if c.type is ColumnType.TEXT]
    settled = {row.id: {n: c for n in names if (c := row.cell(n)) is not None} for row in rows}
    changed: dict[str, dict[str, Cell]] = {}
    for one, other in combinations(names, 2):
        for row_id, cell in _disowned(settled, one, other):
            settled[row_id][cell.column] = changed.setdefault(row_id, {})[cell.column] = cell
    for first, second in [*permutations(names, 2)] * _ROUNDS:
        for row_id, cells in _split(settled, first, second, text):
            settled[row_id] |= cells
            changed.setdefault(row_id, {}).update(cells)
    for first, second in permutations(names, 2):
        for row_id, cell in _overlapped(settled, first, second):
            settled[row_id][first] = changed.setdefault(row_id, {})[first] = cell
    for name in names:
        for row_id, cells in _with_number(settled, name, text):
            changed.setdefault(row_id, {}).update(cells)
    return [replace(row, cells=tuple(changed[row.id].values())) for row in rows if row.id in changed]


Settled = dict[str, dict[str, Cell]]
"""Row id -> column -> cell."""


def _disowned(rows: Settled, one: str, other: str) -> list[tuple[str, Cell]]:
    """Cells that hold the words of another column, emptied: the words look like that column's other values."""
    both = [(i, r[one], r[other]) for i, r in rows.items() if _stands(r.get(one)) and _stands(r.get(other))]
    shared = [(i, a, b) for i, a, b in both if a.printed == b.printed]
    if not shared or len(both) < _FEWEST_ROWS or len(shared) > _SHARED_AT_MOST * len(both):
        return []
    places = {i for i, _, _ in shared}
    shapes = {
        n: Counter(shape(r[n].printed) for i, r in rows.items() if i not in places and _stands(r.get(n))) for n in (one, other)
    }
    out = []
    for row_id, a, b in shared:
        share = {c.column: shapes[c.column][shape(c.printed)] / max(1, shapes[c.column].total()) for c in (a, b)}
        owner, loser = (a, b) if share[a.column] > share[b.column] else (b, a)
        clear = share[owner.column] >= _CLEAR and share[loser.column] <= _CLEAR * share[owner.column]
        if clear or (share[owner.column] and not share[loser.column]):
            reason = f"{loser.printed!r} is {owner.column}, as its values in the other rows show"
            out.append((row_id, loser.emptied(reason)))
    return out


def shape(words: str) -> str:
    """How words begin, as runs of letters, figures and marks: "S302" is "A9", "New York" is "Aa"."""
    kinds = "".join("9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in " ".join(words.split()))
    return re.sub(r"(.)\1+", r"\1", kinds)[:_SHAPE]


_SHAPE = 2


def _split(rows: Settled, first: str, second: str, text: Callable[[Span], str]) -> list[tuple[str, dict[str, Cell]]]:
    """Phrases of `first` that go on with what other rows have as `second`, parted."""
    both = [(r[first], r[second]) for r in rows.values() if _stands(r.get(first)) and _stands(r.get(second))]
    beside = [(a, b) for a, b in both if _side_by_side(a.span, b.span)]
    coded = [b for _, b in beside if re.search(r"\d", b.printed)]
    if len(beside) < _FEWEST_SIDE_BY_SIDE or len(coded) < _CLEAR * len(beside):
        return []
    known = {a.printed for a, _ in beside if not re.search(r"\d", a.printed)}
    out = []
    for row_id, row in rows.items():
        a, b = row.get(first), row.get(second)
        if a is not None and b is not None and _stands(a) and (cut := _cut_at(a.printed, known - {a.printed})):
            out.append((row_id, _at_cut(a, b, cut, text)))
    return out


def _overlapped(rows: Settled, first: str, second: str) -> list[tuple[str, Cell]]:
    """Cells of `first` that end with the very characters of a `second` that other rows have, too, without them."""
    values = Counter(b.printed for r in rows.values() if _stands(b := r.get(second)) and b is not None)
    out = []
    for row_id, row in rows.items():
        a, b = row.get(first), row.get(second)
        if a is None or b is None or a.span is None or b.span is None or not (_stands(a) and _stands(b)):
            continue
        ends = a.span.end == b.span.end and a.span.start < b.span.start
        if ends and a.printed.endswith(f" {b.printed}") and values[b.printed] >= _FEWEST_SIDE_BY_SIDE:
            out.append((row_id, _part(a, a, 0, len(a.printed) - len(b.printed) - 1)))
    return out


def _at_cut(a: Cell, b: Cell, cut: int, text: Callable[[Span], str]) -> dict[str, Cell]:
    """The first cell up to the cut; the second from there, unless it stands on words of its own."""
    cells = {a.column: _part(a, a, 0, len(a.printed[:cut].rstrip()))}
    tail = a.printed[cut:].strip()
    if not _stands(b) or b.printed in tail:
        cells[b.column] = _part(b, a, cut, len(a.printed.rstrip()))
    elif _side_by_side(a.span, b.span) and a.span is not None and b.span is not None:
        span = replace(b.span, start=a.span.start + cut)
        cells[b.column] = replace(b, value=text(span), printed=text(span), span=span, detail=_HOW)
    return cells


def _with_number(rows: Settled, column: str, text: Callable[[Span], str]) -> list[tuple[str, dict[str, Cell]]]:
    """Values of a column of codes that stop before their figure ("Optima" of "Optima 98"), with it."""
    cells = [(i, c) for i, r in rows.items() if (c := r.get(column)) is not None and _stands(c)]
    coded = [c for _, c in cells if re.search(r"\d", c.printed)]
    if len(cells) < _FEWEST_ROWS or len(coded) < _SHARED_AT_MOST * len(cells):
        return []
    out = []
    for row_id, cell in cells:
        if cell.span is None or re.search(r"\d", cell.printed):
            continue
        behind = text(replace(cell.span, start=cell.span.end, end=cell.span.end + _LONGEST_CODE))
        if found := re.match(r" [A-Z]*-?\d[\w/-]*", behind):
            span = replace(cell.span, end=cell.span.end + found.end())
            out.append((row_id, {column: replace(cell, value=text(span), printed=text(span), span=span, detail=_HOW)}))
    return out


_LONGEST_CODE = 16
_HOW = "parted as the other rows have it"


def _cut_at(words: str, known: set[str]) -> int:
    """Where the second part begins: behind a value that other rows have, else at the first word with a figure; 0: nowhere."""
    heads = [k for k in known if words.startswith(f"{k} ")]
    if heads:
        cut = len(max(heads, key=len)) + 1
        forms = list(_LEGAL_FORM.finditer(words, cut))
        cut = forms[-1].end() if forms else cut
        return cut if cut < len(words) else 0
    found = re.search(r"(?<=\s)\S*\d", words)
    return found.start() if found else 0


_LEGAL_FORM = re.compile(
    r"\b(?:Company|Co\.?|Corporation|Corp\.?|Incorporated|Inc\.?|Limited|Ltd\.?|LLC|GmbH|AG|S\.?A\.?)(?=\s|$)\s*"
)


def _side_by_side(a: Span | None, b: Span | None) -> bool:
    return a is not None and b is not None and b.start - a.end == 1  # a comma would end the phrase


def _part(cell: Cell, source: Cell, start: int, end: int) -> Cell:
    """The cell on a part of the words of `source`."""
    assert source.span is not None
    words = source.printed[start:end]
    span = replace(source.span, start=source.span.start + start, end=source.span.start + end)
    return replace(
        cell, value=words, printed=words, span=span, grounding=source.grounding, absence=None, rationale="", detail=_HOW
    )


def _stands(cell: Cell | None) -> bool:
    return cell is not None and cell.stands
