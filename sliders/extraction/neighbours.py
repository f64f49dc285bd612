"""What stands right beside a value in its text: the second designation in brackets, the place before its region.

"MX-77B (MX-77)" is one designation, of which a small model copies either half. Where most rows print one column right
before another, "Merrow, Vorland", the words before the second one are the first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import permutations

from sliders.extraction.cell import Cell, Grounding, Row, Span
from sliders.schema.types import ColumnType, Table

_FEWEST_ROWS, _SHARE = 8, 0.6


def with_neighbours(rows: Sequence[Row], table: Table, text: Callable[[Span], str]) -> list[Row]:
    """The rows whose words go on beside them, each with only those cells.

    Args:
        rows: all rows of a table with one row a document.
        text: the characters of the document at a span.
    """
    names = [c.name for c in table.columns if c.type is ColumnType.TEXT]
    changed: dict[str, dict[str, Cell]] = {}
    for row in rows:
        for name in names:
            cell = row.cell(name)
            if cell is not None and cell.stands and (whole := _to_abbreviation(cell, text) or _with_alias(cell, text)):
                changed.setdefault(row.id, {})[name] = whole
    for row_id, cell in _before(rows, names, text):
        changed.setdefault(row_id, {})[cell.column] = cell
    return [replace(row, cells=tuple(changed[row.id].values())) for row in rows if row.id in changed]


def _to_abbreviation(cell: Cell, text: Callable[[Span], str]) -> Cell | None:
    """A name without what follows the abbreviation that its text defines for it ("Old Merrow Ferry (OMF) night service")."""
    found = re.match(r"(.+?) \(([A-Z]{3,8})\) [a-z]", cell.printed)
    if found is None or cell.span is None:
        return None
    initials = "".join(word[0] for word in found[1].split() if word[0].isupper())
    if not initials.endswith(found[2]):
        return None
    return _at(cell, replace(cell.span, end=cell.span.start + found.end(1)), text, "up to its abbreviation")


_DESIGNATION = r"(?=[\w‑–-]*\d)[\w‑–-]{2,12}"
_SECOND = re.compile(rf" \(({_DESIGNATION}|[A-Z]+-[A-Z]+)\)")
_FIRST = re.compile(rf"(?<![\w‑–-])({_DESIGNATION}|[A-Z]{{2,5}}) \($")
_AROUND = 16


def _with_alias(cell: Cell, text: Callable[[Span], str]) -> Cell | None:
    """A designation with its other form: "(MX-77)" behind it, or the one in whose brackets it stands."""
    span = cell.span
    if span is None or cell.grounding is Grounding.DERIVED or re.search(r"[\s()]", cell.printed):
        return None
    if not re.search(r"\d|-", cell.printed) or not re.fullmatch(r"[\w‑–-]+", cell.printed):
        return None
    behind = text(replace(span, start=span.end, end=span.end + _AROUND))
    if found := _SECOND.match(behind):
        return _at(cell, replace(span, end=span.end + found.end()), text, "with its other form in brackets")
    before = text(replace(span, start=max(0, span.start - _AROUND), end=span.start))
    if behind.startswith(")") and (found := _FIRST.search(before)):
        start = span.start - (len(before) - found.start(1))
        return _at(cell, replace(span, start=start, end=span.end + 1), text, "with its other form before the brackets")
    return None


def _at(cell: Cell, span: Span, text: Callable[[Span], str], how: str) -> Cell:
    words = text(span)
    return replace(
        cell, value=" ".join(words.split()), printed=words, span=span, grounding=Grounding.EXACT, absence=None, detail=how
    )


def _before(rows: Sequence[Row], names: Sequence[str], text: Callable[[Span], str]) -> Iterator[tuple[str, Cell]]:
    """Cells that never stand before the column that most others stand before: the one name that does in their text.

    Each text is read once to see which pairs stand so, and once more where some do.
    """
    pairs = list(permutations(names, 2)) if len(rows) >= _FEWEST_ROWS else []
    both, beside = Counter[tuple[str, str]](), dict[tuple[str, str], set[str]]((pair, set()) for pair in pairs)
    for row in rows if pairs else ():
        whole = _whole(row, text)
        for pair, a, b in _held(row, pairs):
            both[pair] += 1
            if a.stands and f"{a.printed}, {b.printed}" in whole:
                beside[pair].add(row.id)
    usual = [p for p in pairs if both[p] >= _FEWEST_ROWS and len(beside[p]) >= _SHARE * both[p]]
    for row in rows if usual else ():
        whole = _whole(row, text)
        for pair, a, b in _held(row, [pair for pair in usual if row.id not in beside[pair]]):
            found = list(re.finditer(rf"{_NAME}, {re.escape(b.printed)}(?!\w)", whole))
            if len({match[1] for match in found}) == 1:
                span = Span(row.document_id, found[0].start(1), found[0].end(1), b.span.page if b.span else None)
                yield row.id, _at(a, span, text, f"it stands before {pair[1]}, as in most documents")


def _whole(row: Row, text: Callable[[Span], str]) -> str:
    return text(Span(row.document_id, 0, _LONGEST))


def _held(row: Row, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], Cell, Cell]]:
    """The pairs of columns that a row was asked for, with their cells, where the second one stands."""
    for pair in pairs:
        a, b = row.cell(pair[0]), row.cell(pair[1])
        if a is not None and b is not None and b.stands:
            yield pair, a, b


_LONGEST = 20_000
_NAME = r"(?<![\w.’'-])(?<![A-Z]\w[ ])((?:[A-Z][\w.’'-]*[ ])*[A-Z][\w’'-]*)"
