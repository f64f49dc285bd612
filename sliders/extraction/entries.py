"""What a text that lists things says of each: its own words, and those that belong to none of them.

A small model that reads twelve entries at once mixes them up; shown one beside what holds for all, it does not. Which words
are an entry's own is seen from where the names stand alone, so that it holds for tables, lists and running text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sliders.chunks.sentences import sentence_spans
from sliders.extraction.ground import everywhere

_BLANK = re.compile(r"\n[ \t]*\n\s*")
_LONG_LINE = 200
"""Characters from which on a line is running text and is read sentence by sentence."""
_ABOVE = 300
"""Characters of the common words right above an entry (a heading, a table's header) that are shown with it once more."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The words of one thing: `own`, which stand between `start` and `end` of the text, and what stands right `above` them."""

    own: str
    above: str
    start: int
    end: int


@dataclass(slots=True)
class _Unit:
    """A line or sentence of a block and whose it is; `heads` where the block is hardly more than names."""

    start: int
    end: int
    block: int
    owners: frozenset[int] = frozenset()
    heads: bool = False


@dataclass(slots=True)
class _Run:
    """Blocks that follow a block of nothing but names: theirs, up to the next name."""

    owners: frozenset[int]
    block: int
    below: list[_Unit] = field(default_factory=list)

    @property
    def blocks(self) -> int:
        """How many they are."""
        return self.below[-1].block - self.block if self.below else 0


def entries_of(text: str, names: Sequence[str]) -> tuple[str, list[Entry | None]]:
    """The words of the text that belong to none of the names, and the entry of each; None where its name is printed nowhere.

    A line, or a sentence of running text, belongs to the names in it, and to those before it where it has none, down to the
    next blank line; below a name that stands by itself, down to the next name.
    """
    units = list(_units(text, _named(text, names)))
    _give_below(units)
    common = _words(text, [unit for unit in units if not unit.owners])
    return common, [_entry(text, units, number) for number in range(len(names))]


def _named(text: str, names: Sequence[str]) -> list[tuple[int, int, int]]:
    """The places of the names with the name's number; not those inside a longer name."""
    places = [(start, end, number) for number, name in enumerate(names) for start, end in everywhere(name, text)]
    return [p for p in places if not any(o[0] <= p[0] and p[1] <= o[1] and o[1] - o[0] > p[1] - p[0] for o in places)]


def _units(text: str, places: Sequence[tuple[int, int, int]]) -> Iterator[_Unit]:
    for block, (first, last) in enumerate(_blocks(text)):
        inside = [p for p in places if first <= p[0] < last]
        heads = last - first < 2 * sum(end - start for start, end, _ in inside)
        owners: frozenset[int] = frozenset()
        for start, end in _lines(text, first, last, [at for at, _, _ in inside]):
            owners = frozenset(number for at, _, number in inside if start <= at < end) or owners
            yield _Unit(start, end, block, owners, heads)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for gap in _BLANK.finditer(text):
        yield at, gap.start()
        at = gap.end()
    yield at, len(text)


def _lines(text: str, first: int, last: int, names: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The lines of a block; the sentences of one that is long or holds several names."""
    at = first
    while at < last:
        end = text.find("\n", at, last) + 1 or last
        running = end - at > _LONG_LINE or sum(at <= name < end for name in names) > 1
        yield from sentence_spans(text, at, end) if running else [(at, end)]
        at = end


def _give_below(units: Sequence[_Unit]) -> None:
    """Give the blocks below a name that stands by itself to it; to the last one as many as another has at the most."""
    runs: list[_Run] = []
    under: _Run | None = None
    for unit in units:
        if unit.owners:
            under = _Run(unit.owners, unit.block) if unit.heads else None
            runs += [under] if under else []
        elif under:
            under.below.append(unit)
    most = max((run.blocks for run in runs[:-1]), default=1)
    for number, run in enumerate(runs, 1):
        for unit in run.below:
            if number < len(runs) or unit.block <= run.block + most:
                unit.owners = run.owners


def _entry(text: str, units: Sequence[_Unit], number: int) -> Entry | None:
    own = [at for at, unit in enumerate(units) if number in unit.owners]
    if not own:
        return None
    last = next((at for at in range(own[0] - 1, -1, -1) if not units[at].owners), -1)
    first = last
    while first > 0 and not units[first - 1].owners and units[last].end - units[first - 1].start <= _ABOVE:
        first -= 1
    above = units[first : last + 1] if last >= 0 else []
    mine = [units[at] for at in own]
    return Entry(_words(text, mine), _words(text, above)[-_ABOVE:], mine[0].start, mine[-1].end)


def _words(text: str, units: Sequence[_Unit]) -> str:
    """The words of the units as they are printed, those that follow each other in one piece."""
    pieces: list[list[int]] = []
    for unit in units:
        if pieces and not text[pieces[-1][1] : unit.start].strip():
            pieces[-1][1] = unit.end
        else:
            pieces.append([unit.start, unit.end])
    return "\n".join(text[start:end].strip() for start, end in pieces)
