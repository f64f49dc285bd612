"""A number that the text prints before the very words of its column ("214 new registered berths" for `new_berths`)."""

from __future__ import annotations

import re

from sliders.chunks.sentences import sentence_spans
from sliders.extraction.coerce import CoerceContext, Coerced, coerce
from sliders.extraction.lexicon import stem
from sliders.extraction.numbers import numbers_in
from sliders.schema.names import spoken_name
from sliders.schema.types import Column, ColumnType

_EXTRA_WORDS = 4
"""So many words may stand between the words of a column ("new harbour-side berths of the town")."""

_PLAIN = frozenset(stem(w) for w in "number total count amount of the a all in on for and".split())
_FEWEST_WORDS = 2
_STOP = re.compile(r"[.;:()\n](?=\s|$)|,(?=\s)")
_BOUND = re.compile(r"\b(?:over|above|under|below|more than|less than|fewer than|at least|at most)\s+\d[\d ]*\b")
_BELOW = re.compile(r"\b(?:below|under|less|fewer|most)\b")


def stated_amount(column: Column, text: str, context: CoerceContext) -> tuple[int, int, Coerced] | None:
    """Span and value of the number that stands before the words of a column wherever the text has them.

    A column that counts things beyond a bound ("berths with more than 40 feet") is told by what is counted and the
    bound. None for a column of one word, which may be part of anything, and where two numbers are told.
    """
    if column.type not in (ColumnType.INTEGER, ColumnType.NUMBER):
        return None
    if rate := _RATE.search(column.description):
        return _stated_rate(column, text, context, rate[1])
    if (behind := _behind_its_words(column, text, context)) is not None:
        return behind
    words, bound = _telling(column)
    if len(words) + len(bound) < _FEWEST_WORDS:
        return None
    found: list[tuple[int, int, Coerced]] = []
    every = [n for n in numbers_in(text) if n.plain]
    for number in every:
        after = text[number.end : number.end + 160]
        stop = _STOP.search(after)
        after = after[: stop.start()] if stop else after
        if not _says(after, words, bound, bool(_BELOW.search(column.description or spoken_name(column.name)))):
            continue
        parsed = coerce(number.text, column, context=context)
        if parsed.value is None:
            return None
        found.append((number.start, number.end, parsed))
    return found[0] if found and len({p.value for _, _, p in found}) == 1 else None


def _behind_its_words(column: Column, text: str, context: CoerceContext) -> tuple[int, int, Coerced] | None:
    """The number right behind all words of a column's name ("the 7-day mean of 31" for `mean_7d`), where it is one."""
    words = {stem(w) for part in spoken_name(column.name).split() for w in _spelt(part)} - _PLAIN
    if len(words) < _FEWEST_WORDS:
        return None
    found: list[tuple[int, int, Coerced]] = []
    for number in (n for n in numbers_in(text) if n.plain):
        before = text[max(0, number.start - _BEFORE) : number.start]
        link = _LINK.search(before)
        said = re.findall(r"[^\W\d_]+|\d+", before[: link.start()])[-len(words) :] if link else []
        if {stem(w.lower()) for w in said} == words:
            found.append((number.start, number.end, coerce(number.text, column, context=context)))
    return found[0] if found and len({p.value for _, _, p in found}) == 1 and found[0][2].value is not None else None


_BEFORE = 100
_LINK = re.compile(
    r"\s*(?:[:=]|\b(?:of|is|was|stands at|stood at|amounts to|amounted to|totals|totalled)\b)(?:\s+(?:currently|now))?\s*$"
)
_SHORT = {"d": "day", "w": "week", "m": "month", "y": "year", "h": "hour"}


def _spelt(part: str) -> list[str]:
    """A span of time that a name abbreviates, in full: "7d" is "7 day"."""
    short = re.fullmatch(r"(\d+)([dwmyh])", part)
    return [short[1], _SHORT[short[2]]] if short else [part]


def _stated_rate(column: Column, text: str, context: CoerceContext, unit: str) -> tuple[int, int, Coerced] | None:
    """The number per so many in the sentences that have all words of the column, where they tell one."""
    asked = _tokens(_RATE.sub("", column.asked))
    found: list[tuple[int, int, Coerced]] = []
    for start, end in sentence_spans(text):
        said = _tokens(text[start:end])
        if not all(any(word == w or (len(word) >= _ALIKE and w.startswith(word[:_ALIKE])) for w in said) for word in asked):
            continue
        for number in numbers_in(text[start:end]):
            if number.plain and re.match(rf"[^.;\d]{{0,30}}(?:\bper|/)\s*{re.escape(unit)}(?!\d)", text[start + number.end :]):
                parsed = coerce(number.text, column, context=context)
                found.append((start + number.start, start + number.end, parsed))
    return found[0] if found and len({p.value for _, _, p in found}) == 1 and found[0][2].value is not None else None


_RATE = re.compile(r" ?\bper ([\d,.]*\d)$")
_ALIKE = 5
"""So many letters make two forms of a word alike ("national", "nationwide")."""


def _tokens(words: str) -> list[str]:
    return [stem(w.lower()) for w in re.findall(r"[^\W\d_]+|\d+", words)]


def _telling(column: Column) -> tuple[frozenset[str], tuple[str, ...]]:
    """Stems of the words that must follow the number, and the bounds among them."""
    named = spoken_name(column.name) if column.pinned and _BOUND.search(spoken_name(column.name)) else ""
    bound = tuple(n.text.replace(",", "") for n in numbers_in(column.asked or named) if n.plain)[:1]
    words = [w for w in _BOUND.sub(" ", spoken_name(column.name)).split() if stem(w) not in _PLAIN]
    return frozenset(stem(w) for w in words), bound


def _says(after: str, words: frozenset[str], bound: tuple[str, ...], below: bool) -> bool:
    """Whether the words behind a number are those of the column, with few others between them and no other number."""
    tokens = re.findall(r"[<>≤≥]|[^\W\d_]+|\d[\d,.]*", after)
    if bound:
        return _bounded(tokens, words, bound[0], below)
    open_words, room = set(words), len(words) + _EXTRA_WORDS
    for place, token in enumerate(tokens[:room]):
        open_words.discard(stem(token.lower()))
        if not open_words:
            return True
        if place == 0 and len(open_words) == len(words):
            return False  # the first word behind the number is already another thing
    return False


def _bounded(tokens: list[str], words: frozenset[str], bound: str, below: bool) -> bool:
    heads = [stem(t.lower()) for t in tokens[:2]]
    at = next((i for i, t in enumerate(tokens) if t[0].isdigit()), -1)
    if at < 0 or tokens[at].replace(",", "").rstrip(".") != bound or not words & set(heads):
        return False
    before = " ".join(tokens[:at])
    said_below = bool(re.search(r"[<≤]", before) or _BELOW.search(before.lower()))
    return said_below == below
