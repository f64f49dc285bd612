"""The search for the words that the model copied, in the text (contract 2).

Tried in turn: the very words; the words in normal form (case, white space, quotes, dashes, accents,
hyphens at line ends); fragments of a quote with gaps ("A ... B"); the words without commas, for
lines that were joined; without hyphens, for words that were broken; and an alignment that forgives
a slip inside a longer word. It never forgives a missing or added word, or a slip in a digit, a
number word or a month. A place counts only if it starts and ends at whole tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from rapidfuzz import fuzz

from sliders.extraction.cell import Grounding
from sliders.values.cldr import months
from sliders.values.folding import Normalized, normalize
from sliders.values.scripts import script_of, unspaced
from sliders.values.vocabulary import GROUPS, ORDINALS, POWERS, TENS, UNITS

THRESHOLD = 90.0
"""The least similarity of a fuzzy match, in percent of rapidfuzz's indel ratio."""
_ALIKE = 70.0
"""The least similarity of a misspelt word to the printed word, in percent."""
_MOST_PLACES = 500
_MOST_WORDS = 200
_FRAGMENT_GAP = 2_000


@cache
def _guarded() -> frozenset[str]:
    """Words in which no slip is forgiven: number words and the names of months."""
    return frozenset(
        {*UNITS, *TENS, *POWERS, *GROUPS, *ORDINALS} | {name for name in months() if len(name) > 2}
    )


@lru_cache(maxsize=32)
def _body(text: str) -> Normalized:
    return normalize(text)


@dataclass(frozen=True, slots=True)
class Grounded:
    """The place of printed words: characters `start` to `end` (exclusive) of the text, both -1
    where there is none.

    `count` is the number of places that were found; more than one means that the choice
    among them was made here.
    """

    status: Grounding = Grounding.NONE
    start: int = -1
    end: int = -1
    count: int = 0


NOWHERE = Grounded()


Spans = Sequence[tuple[int, int]]


def find(words: str, text: str, near: Spans = (), *, fuzzy: bool = True) -> Grounded:
    """Finds the place of quoted words in a text.

    Args:
        words: the words as the model copied them.
        text: the text in which they are searched, a chunk's or a whole document's.
        near: the places of the row's other cells in the same text. Of several places, the one
            nearest to them that does not overlap them is taken; without `near`, the first.
        fuzzy: True allows the last, forgiving step.
    """
    words = words.strip()
    if not words or not text:
        return NOWHERE
    status, places = _printed(words, text)
    if places:
        return chosen(status, places, near)
    if (gapped := _fragments(words, text, near)) is not None:
        return Grounded(Grounding.NORMALIZED, *gapped, 1)
    for form in (_loosened, _unhyphened):
        if places := _original(form(words).text.strip(), form(text)):
            return chosen(Grounding.NORMALIZED, places, near)
    body = _body(text)
    found = _misspelt(normalize(words).text, body.text) if fuzzy else None
    if found is None:
        return NOWHERE
    return Grounded(Grounding.FUZZY, body.origin(found[0]), body.origin(found[1] - 1) + 1, 1)


def equal_places(words: str, text: str) -> list[tuple[int, int]]:
    """Every place where a text prints words, in any typesetting."""
    return _printed(words.strip(), text)[1]


def _printed(words: str, text: str) -> tuple[Grounding, list[tuple[int, int]]]:
    if places := _places(words, text):
        return Grounding.EXACT, places
    bodies = (_body, _unbarred) if "|" in text else (_body,)
    tried = (
        _original(form, body(text))
        for body in bodies
        for form in _forms(words if body is _body else _spaced(words))
    )
    return Grounding.NORMALIZED, next((places for places in tried if places), [])


def _original(needle: str, body: Normalized) -> list[tuple[int, int]]:
    return [
        (body.origin(start), body.origin(end - 1) + 1) for start, end in _places(needle, body.text)
    ]


_BARS = re.compile(r"(?<=[^\s|\\])[^\S\n]*\|(?:[^\S\n]*\|)*[^\S\n]*(?=[^\s|])")
"""Characters between two filled cells of one row."""


def _spaced(text: str) -> str:
    return _BARS.sub(
        lambda match: " " * len(match[0]), text.strip(" |") if "\n" not in text else text
    )


@lru_cache(maxsize=32)
def _unbarred(text: str) -> Normalized:
    """The normal form with blanks for the bars inside a row: a model quotes the cells "| 400 | CHF
    |" as "400 CHF".
    """
    return normalize(_BARS.sub(lambda match: " " * len(match[0]), text))


_HYPHEN = r"(?<=[^\W\d_])[-‐‑](?:\s*\n\s*)?(?=[^\W\d_])"
_LOOSE, _HYPHENS = re.compile(rf"{_HYPHEN}|(?<!\d)[,;]|[,;](?!\d)"), re.compile(_HYPHEN)


@lru_cache(maxsize=64)
def _loosened(text: str) -> Normalized:
    """The normal form with blanks for commas, and for hyphens between letters: a model joins the
    lines of an address in its own way.
    """
    return normalize(_LOOSE.sub(lambda match: " " * len(match[0]), text))


@lru_cache(maxsize=64)
def _unhyphened(text: str) -> Normalized:
    """Normal form without hyphens between letters: at the end of a printed line nobody knows
    whether one is the word's own ("inter-national", "longterm").
    """
    return normalize(_HYPHENS.sub(lambda match: "\u00ad" * len(match[0]), text))


def _forms(printed: str) -> Iterator[str]:
    """Yields the normal form, then the form without the quotes and the full stop that a model puts
    around its copy.
    """
    form = normalize(printed).text.strip()
    bare = form.strip("'").rstrip(".,;:").strip("' ")
    yield form
    if bare and bare != form:
        yield bare


def _places(needle: str, text: str) -> list[tuple[int, int]]:
    """Every place of `needle` that starts and ends at whole tokens. Places inside another number
    count only when there is no other place.
    """
    strong: list[tuple[int, int]] = []
    weak: list[tuple[int, int]] = []
    if not needle:
        return strong
    start = text.find(needle)
    while start >= 0 and len(strong) < _MOST_PLACES:
        end = start + len(needle)
        if _whole(needle, text, start, end):
            touched = _touches(needle, text, start, end)
            if touched is not None:
                (weak if touched else strong).append((start, end))
        start = text.find(needle, start + 1)
    return strong or weak[:_MOST_PLACES]


def _whole(needle: str, text: str, start: int, end: int) -> bool:
    before = start > 0 and _joined(text[start - 1], needle[0])
    return not (before or (end < len(text) and _joined(needle[-1], text[end])))


def _joined(left: str, right: str) -> bool:
    """True when two neighbouring characters belong to one token. A script without blanks has no
    such pairs, and an Arabic prefix may touch its number.
    """
    if not (left.isalnum() and right.isalnum()) or unspaced(left) or unspaced(right):
        return False
    return not (script_of(left) == "Arabic" and right.isdigit())


def _touches(needle: str, text: str, start: int, end: int) -> bool | None:
    """True when the place is part of an identifier or a date ("9" in "DC-9", "11" in "11/12").

    None when it is part of another number: "569" in "1,569", "5" in "-5".
    """
    touched = False
    if needle[0].isdigit() and start > 0:
        before, further = text[start - 1], text[start - 2] if start > 1 else " "
        if (before in ".,'’" and further.isdigit()) or (before in "-−" and further in " \n\t(|"):
            return None
        touched = before in ".,/:'’-−–" and further.isalnum()
    if needle[-1].isdigit() and end + 1 < len(text) and text[end + 1].isdigit():
        if text[end] in ".,'’":
            return None
        touched = touched or text[end] in "/:-–"
    return touched


def chosen(status: Grounding, places: Spans, near: Spans) -> Grounded:
    """Returns, of several places, the one nearest to the spans `near` that does not overlap them;
    without `near`, the first.
    """
    start, end = min(places, key=lambda place: _distance(place, near)) if near else places[0]
    return Grounded(status, start, end, len(places))


def _overlaps(place: tuple[int, int], spans: Spans) -> bool:
    return any(place[0] < end and start < place[1] for start, end in spans)


def _distance(place: tuple[int, int], near: Spans) -> tuple[bool, int, int]:
    """Order of preference: not on another cell's words, then the least sum of gaps to
    them, then the first.
    """
    start, end = place
    gaps = [max(start - other_end, other_start - end, 0) for other_start, other_end in near]
    return _overlaps(place, near), sum(min(gap, _FRAGMENT_GAP) for gap in gaps), start


_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.{3}|…)\s*\]|\.{3,}|…)\s*")


def _fragments(printed: str, text: str, near: Spans) -> tuple[int, int] | None:
    """The tightest span that holds all fragments of "A ... B" in their order."""
    parts = [part for part in _ELLIPSIS.split(printed) if part.strip()]
    if not 2 <= len(parts) <= 8:
        return None
    body = _body(text)
    places = [_places(normalize(part).text.strip(), body.text) for part in parts]
    spans = []
    for start, end in places[0]:
        for following in places[1:]:
            after = next(
                (place for place in following if end <= place[0] <= end + _FRAGMENT_GAP), None
            )
            if after is None:
                break
            end = after[1]
        else:
            spans.append((body.origin(start), body.origin(end - 1) + 1))
    if not spans:
        return None
    return min(
        spans,
        key=lambda span: (_distance(span, near)[1] if near else 0, span[1] - span[0], span[0]),
    )


_TOKEN = re.compile(r"-?\d\w*(?:['.,:/-]\w+)*|[^\W_]+")


@lru_cache(maxsize=32)
def _tokens(text: str) -> tuple[list[str], list[tuple[int, int]]]:
    """The words and numbers of a text, and their places."""
    found = list(_TOKEN.finditer(text))
    return [match[0] for match in found], [match.span() for match in found]


def _misspelt(needle: str, text: str) -> tuple[int, int] | None:
    """The most similar place that has the same words in the same order, some of them misspelt."""
    said = _TOKEN.findall(needle)
    words, spans = _tokens(text)
    if not said or len(said) > _MOST_WORDS or sum(map(str.isalpha, needle)) < 4:
        return None
    known = set(words)
    anchor = max((word for word in said if word in known), key=len, default=None)
    if anchor is None and len(said) > 1:
        return None
    offset = 0 if anchor is None else said.index(anchor)
    best, place = THRESHOLD, None
    for at, word in enumerate(words):
        first, last = at - offset, at - offset + len(said)
        if (
            (word == anchor or anchor is None)
            and first >= 0
            and last <= len(words)
            and _alike(said, words[first:last])
        ):
            score = fuzz.ratio(" ".join(said), " ".join(words[first:last]))
            if score >= best and (place is None or score > best):
                best, place = score, (spans[first][0], spans[last - 1][1])
    return place


def _alike(said: Sequence[str], printed: Sequence[str]) -> bool:
    """True when each word is the printed one or a slip of it; digits, number words and months allow
    no slip.
    """
    return all(
        a == b
        or (
            a[0] == b[0]
            and a.isalpha()
            and b.isalpha()
            and not {a, b} & _guarded()
            and fuzz.ratio(a, b) >= _ALIKE
        )
        for a, b in zip(said, printed, strict=True)
    )
