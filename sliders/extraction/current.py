"""Of several states of one number, the present one ("from 655 on 15 May to 3,395 on 15 June; now 3,901 on 28 June")."""

from __future__ import annotations

import re

from sliders.chunks.sentences import sentence_spans
from sliders.extraction.dates import PrintedDate, dates_in
from sliders.extraction.lexicon import stem
from sliders.extraction.numbers import Number, numbers_in
from sliders.schema.names import spoken_name
from sliders.schema.types import Column

_FEWEST_WORDS = 2
_NOW = re.compile(r"\b(?:current(?:ly)?|now|at present|today)\b", re.IGNORECASE)
_ON = re.compile(r"[^.;\d]{0,24}?\b(?:on|as of|by|at|until)\s*$")


def current_amount(
    column: Column, text: str, start: int, end: int, dates: frozenset[str] = frozenset()
) -> tuple[int, int] | None:
    """The span of the present number, where the words at `start` to `end` are an earlier one beside it; else None.

    An earlier number has an earlier date beside it, or any date where the sentence speaks of now and has one number
    without a date. The sentence has the column's words, or the present date is one of `dates`, those of the row.
    """
    words = {stem(w) for w in spoken_name(column.name).split()}
    if len(words) < _FEWEST_WORDS or words & _EARLIER:
        return None
    spans = sentence_spans(text)
    for place, (first, last) in enumerate(spans):
        said = {stem(w.lower()) for w in re.findall(r"[^\W\d_]+", text[first:last])}
        stop = spans[place + 1][1] if place + 1 < len(spans) else last
        if not first <= start or end > stop:
            continue
        wanted = None if words <= said else dates
        found = _latest(text, first, stop, start, end, wanted) or _now(text, first, last, start, end, wanted)
        if found := found or _to(text, first, last, start, end):
            return found
    return None


_EARLIER = frozenset(
    stem(w) for w in ("previous", "earlier", "former", "initial", "first", "prior", "increase", "change", "rise")
)


def _dated(text: str, first: int, last: int) -> list[tuple[Number, PrintedDate | None]]:
    """The numbers of a part of a text that belong to no date, each with the date that stands right behind it."""
    part = text[first:last]
    dates = [d for d in dates_in(part) if d.full]
    numbers = [n for n in numbers_in(part) if n.plain and not any(d.start < n.end and n.start < d.end for d in dates)]
    return [(n, next((d for d in dates if d.start > n.end and _ON.fullmatch(part[n.end : d.start])), None)) for n in numbers]


def _latest(text: str, first: int, last: int, start: int, end: int, wanted: frozenset[str] | None) -> tuple[int, int] | None:
    """The number of the latest date; `wanted` None takes any, else it has to be one of these."""
    states = [(n, d) for n, d in _dated(text, first, last) if d is not None]
    chosen = [d for n, d in states if first + n.start < end and start < first + n.end]
    if not chosen or len({d.iso for _, d in states}) != len(states):
        return None
    number, date = max(states, key=lambda state: state[1].iso)
    later = date.iso > chosen[0].iso and (wanted is None or date.iso in wanted)
    return (first + number.start, first + number.end) if later else None


def _to(text: str, first: int, last: int, start: int, end: int) -> tuple[int, int] | None:
    """The second number of "rose from 655 in May to 3,517", where the first is at `start`."""
    if not re.search(r"\bfrom\s*$", text[first:start]) or not _CHANGED.search(text[first:start]):
        return None
    later = [n for n in numbers_in(text[first:last]) if n.plain and first + n.start > end]
    reached = [n for n in later if re.search(r"\bto\s*$", text[end : first + n.start])]
    return (first + reached[0].start, first + reached[0].end) if reached else None


_CHANGED = re.compile(
    r"\b(?:increas|decreas|ris|rose|grow|grew|fall|fell|drop|declin|climb|soar|go|went|gone|shr[aiu]nk)\w*", re.IGNORECASE
)


def _now(text: str, first: int, last: int, start: int, end: int, wanted: frozenset[str] | None) -> tuple[int, int] | None:
    states = _dated(text, first, last)
    bare = [n for n, d in states if d is None]
    chosen = [d for n, d in states if d is not None and first + n.start < end and start < first + n.end]
    earlier = chosen and (wanted is None or any(date > chosen[0].iso for date in wanted))
    if not earlier or len(bare) != 1 or not _NOW.search(text[first:last]):
        return None
    return first + bare[0].start, first + bare[0].end
