"""Where the words that the model copied stand in the text (contract 2).

Tried in turn: the very words; the words in normal form (case, white space, quotes, dashes, accents, hyphens at line
ends); fragments of a quote with gaps ("A ... B"); the words without commas, for lines that were joined; and an alignment
that forgives a slip inside a longer word, but never a word more or less, nor one in a digit, a number word or a month. A
place counts only if it starts and ends at whole tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from sliders.extraction.cell import Grounding
from sliders.words import GROUPS, MONTHS, ORDINALS, POWERS, TENS, UNITS, Normalized, normalize

THRESHOLD = 90.0
"""Least similarity of a fuzzy match, in percent of rapidfuzz's indel ratio."""

_MOST_PLACES = 500
_WHOLE_SEARCH = 4_000
_MOST_WINDOWS = 48
_FRAGMENT_GAP = 2_000
_GUARDED = frozenset({*UNITS, *TENS, *POWERS, *GROUPS, *ORDINALS} | {m for m in MONTHS if len(m) > 2})
_ALIKE = 70.0
"""Least similarity of a misspelt word to the one that is printed."""


@lru_cache(maxsize=32)
def _body(text: str) -> Normalized:
    return normalize(text)


@dataclass(frozen=True, slots=True)
class Grounded:
    """The place of printed words: characters `start` to `end` (exclusive) of the text, both -1 where there is none.

    `count` is the number of places that were found; more than one means that the choice among them was made here.
    """

    status: Grounding = Grounding.NONE
    start: int = -1
    end: int = -1
    count: int = 0


NOWHERE = Grounded()


def find(words: str, text: str, near: Sequence[tuple[int, int]] = (), *, fuzzy: bool = True) -> Grounded:
    """Finds the place of quoted words in a text; spans are characters of that text.

    Args:
        words: the words as the model copied them.
        text: the text that they are said to stand in, a chunk's or a whole document's.
        near: spans of the same row's other cells; of several places the one nearest to them is taken, not one that
            overlaps them if there is another; without them the first.
        fuzzy: whether the last, forgiving step may be tried.
    """
    words = words.strip()
    if not words or not text:
        return NOWHERE
    if places := _places(words, text):
        return chosen(Grounding.EXACT, places, near)
    body = _body(text)
    for form in _forms(words):
        if places := _original(form, body):
            return chosen(Grounding.NORMALIZED, places, near)
    if (gapped := _fragments(words, text, near)) is not None:
        return Grounded(Grounding.NORMALIZED, *gapped, 1)
    for loosened in (_unhyphenated, _unmarked):
        if places := _original(loosened(words).text.strip(), _loosened(text, loosened)):
            return chosen(Grounding.NORMALIZED, places, near)
    found = _aligned(normalize(words).text.strip(), body) if fuzzy else None
    return NOWHERE if found is None else Grounded(Grounding.FUZZY, *found, 1)


def _original(needle: str, body: Normalized) -> list[tuple[int, int]]:
    return [(body.origin(start), body.origin(end - 1) + 1) for start, end in _places(needle, body.text)]


@lru_cache(maxsize=64)
def _loosened(text: str, form: Callable[[str], Normalized]) -> Normalized:
    return form(text)


def _forms(printed: str) -> Iterator[str]:
    """The normal form, and without the quotes and full stop that a model puts around its copy."""
    form = normalize(printed).text.strip()
    bare = form.strip("'").rstrip(".,;:").strip("' ")
    yield form
    if bare and bare != form:
        yield bare


_HYPHEN = re.compile(r"(?<=[^\W\d_])[-‐‑](?:\s*\n\s*)?(?=[^\W\d_])")


def _unhyphenated(text: str) -> Normalized:
    """Normal form with hyphens between letters as blanks: "kid-friendly" and "kid friendly" are the same."""
    return normalize(_HYPHEN.sub(lambda match: " " * len(match[0]), text))


_COMMA = re.compile(r"(?<!\d)[,;]|[,;](?!\d)")


def _unmarked(text: str) -> Normalized:
    """Normal form with commas as blanks: a model joins the lines of an address with commas of its own."""
    return normalize(_COMMA.sub(" ", text))


def _places(needle: str, text: str) -> list[tuple[int, int]]:
    """Every place of `needle` that starts and ends at whole tokens; weak ones only where there is no other."""
    strong: list[tuple[int, int]] = []
    weak: list[tuple[int, int]] = []
    if not needle:
        return strong
    numeric = needle[0].isdigit() or needle[-1].isdigit()
    start = text.find(needle)
    while start >= 0 and len(strong) < _MOST_PLACES:
        end = start + len(needle)
        if _whole(needle, text, start, end):
            if numeric and _inside_number(needle, text, start, end):
                if not _changes_number(needle, text, start, end):
                    weak.append((start, end))
            else:
                strong.append((start, end))
        start = text.find(needle, start + 1)
    return strong or weak[:_MOST_PLACES]


def _whole(needle: str, text: str, start: int, end: int) -> bool:
    before = start > 0 and _joined(text[start - 1], needle[0])
    return not (before or (end < len(text) and _joined(needle[-1], text[end])))


def _joined(left: str, right: str) -> bool:
    """Whether two neighbours belong to one token; scripts without spaces have no such tokens."""
    return left.isalnum() and right.isalnum() and not ("\u2e80" <= left <= "\u9fff" or "\u2e80" <= right <= "\u9fff")


_MARKS = ".,/:'’"


def _inside_number(needle: str, text: str, start: int, end: int) -> bool:
    """Whether the place touches more of a number, a date, an identifier or a sign: "9" in "DC-9", "11" in "11/12"."""
    left = (
        needle[0].isdigit()
        and start > 0
        and text[start - 1] in f"{_MARKS}-−–"
        and start > 1
        and text[start - 2].isalnum()
    )
    sign = (
        needle[0].isdigit() and start > 0 and text[start - 1] in "-−" and (start == 1 or text[start - 2] in " \n\t(|")
    )
    right = needle[-1].isdigit() and end + 1 < len(text) and text[end] in f"{_MARKS}-–" and text[end + 1].isdigit()
    return left or sign or right


def _changes_number(needle: str, text: str, start: int, end: int) -> bool:
    """Whether the place is a part of a longer number, or loses a sign: "569" in "1,569", "5" in "-5"."""
    if needle[0].isdigit() and start > 0:
        before = text[start - 1]
        if before in ".,'’" and start > 1 and text[start - 2].isdigit():
            return True
        if before in "-−" and (start == 1 or text[start - 2] in " \n\t(|"):
            return True
    return needle[-1].isdigit() and end + 1 < len(text) and text[end] in ".,'’" and text[end + 1].isdigit()


def chosen(status: Grounding, places: Sequence[tuple[int, int]], near: Sequence[tuple[int, int]]) -> Grounded:
    """Of several places the first, or the one nearest to the spans `near` and not on them."""
    start, end = min(places, key=lambda place: _distance(place, near)) if near else places[0]
    return Grounded(status, start, end, len(places))


def _distance(place: tuple[int, int], near: Sequence[tuple[int, int]]) -> tuple[bool, int, int]:
    """Order of preference: not on another cell's words, then the least sum of gaps to them, then the first."""
    start, end = place
    gaps = [max(start - other_end, other_start - end, 0) for other_start, other_end in near]
    overlaps = any(start < other_end and other_start < end for other_start, other_end in near)
    return overlaps, sum(min(gap, _FRAGMENT_GAP) for gap in gaps), start


_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.{3}|…)\s*\]|\.{3,}|…)\s*")


def _fragments(printed: str, text: str, near: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The tightest span that holds all fragments of "A ... B" in their order."""
    parts = [part for part in _ELLIPSIS.split(printed) if part.strip()]
    if not 2 <= len(parts) <= 8:
        return None
    body = _body(text)
    places = [_places(normalize(part).text.strip(), body.text) for part in parts]
    spans = []
    for start, end in places[0]:
        for following in places[1:]:
            after = next((place for place in following if end <= place[0] <= end + _FRAGMENT_GAP), None)
            if after is None:
                break
            end = after[1]
        else:
            spans.append((body.origin(start), body.origin(end - 1) + 1))
    if not spans:
        return None
    return min(spans, key=lambda span: (_distance(span, near)[1] if near else 0, span[1] - span[0], span[0]))


_TOKEN = re.compile(r"\w+(?:['.,:/-]\w+)*")


def _guarded_tokens(text: str) -> list[str]:
    """The tokens that a fuzzy match must have alike: those with digits, number words, months."""
    tokens: list[str] = []
    for token in _TOKEN.findall(text):
        for part in [token] if any(char.isdigit() for char in token) else re.findall(r"[^\W_]+", token):
            if any(char.isdigit() for char in part) or part in _GUARDED:
                tokens.append(part)
    return tokens


def _same_words(needle: str, window: str) -> bool:
    """Whether two texts have the same words in the same order, some of them misspelt: none more, none less."""
    said, printed = (re.findall(r"[^\W_]+", text) for text in (needle, window))
    return len(said) == len(printed) and all(
        a == b or (a[0] == b[0] and fuzz.ratio(a, b) >= _ALIKE) for a, b in zip(said, printed, strict=True)
    )


def _aligned(needle: str, body: Normalized) -> tuple[int, int] | None:
    """The best fuzzy place of a needle with enough letters, in original characters; None below the threshold."""
    if sum(char.isalpha() for char in needle) < 4 or len(needle) > _WHOLE_SEARCH:
        return None
    guarded = _guarded_tokens(needle)
    if any(token not in body.text for token in guarded):
        return None
    best: tuple[float, int, int] | None = None
    for start, end in _windows(needle, body.text):
        window = body.text[start:end]
        alignment = fuzz.partial_ratio_alignment(needle, window, score_cutoff=THRESHOLD - 10)
        if alignment is None or alignment.dest_end <= alignment.dest_start:
            continue
        place = _at_tokens(body.text, start + alignment.dest_start, start + alignment.dest_end)
        score = fuzz.ratio(needle, body.text[place[0] : place[1]])
        found = body.text[slice(*place)]
        if score < THRESHOLD or (best is not None and score <= best[0]):
            continue
        if _guarded_tokens(found) == guarded and _same_words(needle, found):
            best = (score, *place)
    if best is None:
        return None
    return body.origin(best[1]), body.origin(best[2] - 1) + 1


def _windows(needle: str, text: str) -> Iterator[tuple[int, int]]:
    """Stretches to align in: all of a short text; in a long one only around the needle's longest words, at most 48."""
    if len(text) <= _WHOLE_SEARCH:
        yield 0, len(text)
        return
    words = sorted(set(re.findall(r"\w{4,}", needle)), key=len, reverse=True)[:4]
    taken: set[int] = set()
    for word in words:
        before = needle.find(word)
        start = text.find(word)
        while start >= 0 and len(taken) < _MOST_WINDOWS:
            begin = max(0, start - before - len(needle) // 4 - 8)
            if begin // max(16, len(needle) // 2) not in taken:
                taken.add(begin // max(16, len(needle) // 2))
                yield begin, min(len(text), begin + len(needle) + len(needle) // 2 + 24)
            start = text.find(word, start + 1)


def _at_tokens(text: str, start: int, end: int) -> tuple[int, int]:
    """Moves both ends to token boundaries, outward, and off white space and marks at the edges."""
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
        end += 1
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
