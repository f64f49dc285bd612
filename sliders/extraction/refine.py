"""From the words that a model copied to the words that a cell should hold: deterministic, and only ever shorter.

A small model copies a little too much ("Maxi 77" for the maker), a neighbour's words, or the field's own name;
code can see most of that (overlapping spans, the same span twice).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sliders.extraction.cell import Grounding
from sliders.extraction.dates import dates_in
from sliders.extraction.grounding import ground
from sliders.extraction.numbers import numbers_in
from sliders.schema.names import spoken_name
from sliders.schema.types import Column, ColumnType

_EMPTY = frozenset({"", "null", "none", "n/a", "na", "nil", "not stated", "not given", "unknown", "not specified", "-"})
_LOOSE = frozenset(
    [
        "the",
        "a",
        "an",
        "of",
        "with",
        "in",
        "at",
        "near",
        "by",
        "and",
        "or",
        "is",
        "are",
        "was",
        "were",
        "located",
        "situated",
        "serving",
        "to",
        "from",
        "on",
        "for",
        "has",
        "have",
        "had",
        "its",
        "his",
        "her",
        "their",
        "this",
        "that",
        "as",
    ]
)
_TRIM = " \t\n,;:.-–—|"


@dataclass(frozen=True, slots=True)
class Candidate:
    """Words that the model gave for a column, with their place in the text that it read (start is -1 when ungrounded)."""

    column: Column
    words: str
    start: int = -1
    end: int = -1
    grounding: Grounding = Grounding.NONE
    places: int = 0

    @property
    def grounded(self) -> bool:
        """Whether the words were found."""
        return self.start >= 0


def refine(mentions: Sequence[tuple[Column, str]], text: str) -> dict[str, list[Candidate]]:
    """Candidates by column name, best first, for one row read from `text`.

    Empty words and words that only name their field are dropped.
    """
    candidates = _grounded([(c, w) for c, w in mentions if not _says_nothing(c, w)], text)
    candidates = [_edges_trimmed(c, text) for c in candidates]
    candidates = _without_neighbours(candidates, text)
    found: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda c: not c.grounded):
        rivals = found.setdefault(candidate.column.name, [])
        if all((r.start, r.end, r.words) != (candidate.start, candidate.end, candidate.words) for r in rivals):
            rivals.append(candidate)
    return _one_owner_a_span(found)


def _says_nothing(column: Column, words: str) -> bool:
    said = words.strip(_TRIM + "\"'").lower()
    return said in _EMPTY or said == spoken_name(column.name) or said in spoken_name(column.name).split()


def _grounded(mentions: Sequence[tuple[Column, str]], text: str) -> list[Candidate]:
    """Each mention at its place; a value with several places goes to the one nearest to the row's other values."""
    first = [(column, words, ground(words, text)) for column, words in mentions]
    anchors = [(g.start, g.end) for _, _, g in first if g.start >= 0 and g.count == 1]
    out = []
    for column, words, found in first:
        place = ground(words, text, hints=anchors) if found.count > 1 and anchors else found
        if place.start < 0 and (same := _same_value(column, words, text)) is not None:
            out.append(Candidate(column, words, *same, Grounding.NORMALIZED, 1))
            continue
        out.append(Candidate(column, words, place.start, place.end, place.status, place.count))
    return out


def _same_value(column: Column, words: str, text: str) -> tuple[int, int] | None:
    """The place of the same number or date in another notation: a small model rewrites "23,648" as "23648".

    Figures below 100 are left out: they stand for anything.
    """
    if column.type in (ColumnType.DATE, ColumnType.DATETIME):
        dates = [d for d in dates_in(words) if d.day is not None]
        if len(dates) != 1:
            return None
        wanted = (dates[0].year, dates[0].month, dates[0].day)
        printed = dates_in(text, day_first=True)
        found = [(d.start, d.end) for d in printed if (d.year, d.month, d.day) == wanted]
        if not found and _ISO_DATE.search(words):  # rewritten with day and month swapped; code parses the printed words
            found = [(d.start, d.end) for d in printed if (d.year, d.day, d.month) == wanted]
        return found[0] if found else None
    if column.type not in (ColumnType.INTEGER, ColumnType.NUMBER):
        return None
    numbers = numbers_in(words)
    if len(numbers) != 1 or numbers[0].value < 100:
        return None
    same = [n for n in numbers_in(text) if numbers[0].value in (n.value, n.alternative) and not n.attached]
    return (same[0].start, same[0].end) if same else None


_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def _edges_trimmed(candidate: Candidate, text: str) -> Candidate:
    """Without the field's own name and loose small words at the edges ("customer rating of 3 out of 5")."""
    if not candidate.grounded or candidate.column.type is ColumnType.BOOLEAN:
        return candidate
    span = text[candidate.start : candidate.end]
    tokens = [(m.start(), m.end(), m.group()) for m in re.finditer(r"\S+", span)]
    own = set(spoken_name(candidate.column.name).split())
    low, high = 0, len(tokens)
    while high - low > 1 and _is_loose(tokens[low][2], own):
        low += 1
    while high - low > 1 and _is_loose(tokens[high - 1][2], own):
        high -= 1
    if candidate.column.type is not ColumnType.TEXT and (low, high) != (0, len(tokens)):
        return candidate  # "five of the six" must stay whole: numbers and dates are parsed from the phrase
    return _cut(candidate, text, candidate.start + tokens[low][0], candidate.start + tokens[high - 1][1])


def _is_loose(token: str, own: set[str]) -> bool:
    bare = token.strip(_TRIM)
    return bare in _LOOSE or (bare.lower() in own and bare.islower())


def _cut(candidate: Candidate, text: str, start: int, end: int) -> Candidate:
    """The candidate on a shorter span, without punctuation at its edges but with closing brackets and full points of
    abbreviations."""
    while start < end and text[start] in _TRIM:
        start += 1
    while end > start and text[end - 1] in _TRIM and not _ends_abbreviation(text, start, end):
        end -= 1
    if start >= end:
        return candidate
    if candidate.column.type is ColumnType.TEXT and (other := _OTHER_NAME.search(text, start, end)) and other.start() > start:
        end = other.start()
    if text[start] == "(" and text[end - 1] == ")" and candidate.column.type is ColumnType.TEXT:
        start, end = start + 1, end - 1
    return replace(candidate, start=start, end=end, words=text[start:end])


_OTHER_NAME = re.compile(
    r"\s*\((?:[\w.: ]*\d{5,}[-\w]*\)?"  # a registration number
    r"|(?:doing business as|d/b/a|dba|formerly|formerly known as|also known as|a/k/a|aka)\b[^()]*\)?)$"
)


def _ends_abbreviation(text: str, start: int, end: int) -> bool:
    return (
        text[end - 1] == "." and re.search(r"(?:\b[A-Za-z]|Inc|Corp|Co|Ltd|Jr|Sr|St)\.$", text[start:end]) is not None
    )


def _without_neighbours(candidates: Sequence[Candidate], text: str) -> list[Candidate]:
    """Where one text span holds another column's span, the longer keeps the rest ("Hull, Yorkshire")."""
    out = list(candidates)
    for i, outer in enumerate(out):
        if not outer.grounded or outer.column.type is not ColumnType.TEXT:
            continue
        for inner in out:
            if inner.column.name == outer.column.name or not inner.grounded:
                continue
            outer = _rest(outer, inner, text) if _holds(outer, inner) else _without_place(outer, inner, text)
        out[i] = outer
    return out


def _holds(outer: Candidate, inner: Candidate) -> bool:
    inside = outer.start <= inner.start and inner.end <= outer.end
    return inside and inner.end - inner.start < outer.end - outer.start


def _without_place(outer: Candidate, inner: Candidate, text: str) -> Candidate:
    """Words whose part behind a comma is another column's value, printed elsewhere, too ("Hull, Yorkshire")."""
    tail = f", {inner.words}"
    if inner.column.type not in (ColumnType.TEXT, ColumnType.CATEGORY) or not outer.words.endswith(tail):
        return outer
    return _edges_trimmed(_cut(outer, text, outer.start, outer.end - len(tail)), text)


def _rest(outer: Candidate, inner: Candidate, text: str) -> Candidate:
    before, after = text[outer.start : inner.start].strip(_TRIM), text[inner.end : outer.end].strip(_TRIM)
    if before and not after:
        return _edges_trimmed(_cut(outer, text, outer.start, inner.start), text)
    if after and not before:
        return _edges_trimmed(_cut(outer, text, inner.end, outer.end), text)
    return outer  # in the middle: the words around it belong together


_MANY_FIELDS, _CLAUSE = 3, 30


def _one_owner_a_span(found: Mapping[str, list[Candidate]]) -> dict[str, list[Candidate]]:
    """A span that two columns of the row claim goes to the column that has nothing else, else to the first."""
    owners: dict[tuple[int, int], list[str]] = {}
    for name, candidates in found.items():
        for candidate in candidates:
            if candidate.grounded and candidate.places == 1:
                owners.setdefault((candidate.start, candidate.end), []).append(name)
    out = {name: list(candidates) for name, candidates in found.items()}
    for span, names in owners.items():
        if len(names) < 2:
            continue
        if len(names) >= _MANY_FIELDS and span[1] - span[0] >= _CLAUSE:  # a whole clause for every field says nothing
            for name in names:
                out[name] = [c for c in out[name] if (c.start, c.end) != span]
            continue
        keeper = min(names, key=lambda n: (len(out[n]) > 1, names.index(n)))
        for name in names:
            if name != keeper and len(out[name]) > 1:
                out[name] = [c for c in out[name] if (c.start, c.end) != span]
    return out
