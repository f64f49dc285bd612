"""Cuts a document into chunks: by structure first, sized in tokens, never through a
sentence or a table row.

The text is cut into pieces (a paragraph, a table, or, where one is too large, its sentences or
rows), a heading is tied to what follows, and sections are packed from the top of the outline down:
a section that fits is never cut, neighbours that fit together share a chunk (SLIDERS,
contextualized chunking).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from sliders.documents.document import Document, Element
from sliders.errors import SettingsError
from sliders.retrieval.chunk import Chunk
from sliders.retrieval.context import Outline, blocks_of, parts_of

CountTokens = Callable[[str], int]

# Longer than this many characters a token, a text is taken to be over the limit without counting
# it: tokenizers may be slow on a line of 100 MB, and splitting it does no harm.
_MAX_CHARS_PER_TOKEN = 24
_USUAL_CHARS_PER_TOKEN = 3
_SPACE = re.compile(r"\s+")


class _Unit(NamedTuple):
    """A span that is not cut further: a piece with the headings or captions before it.

    `level` is the heading depth or 0.
    """

    start: int
    end: int
    tokens: int
    level: int = 0


@dataclass(frozen=True, slots=True)
class _ChunkLimits:
    text: str
    max_tokens: int
    count: CountTokens

    def tokens(self, start: int, end: int) -> int:
        """Tokens of the span; a span that is surely too long is estimated, not counted."""
        if end - start > _MAX_CHARS_PER_TOKEN * self.max_tokens:
            return max(self.max_tokens + 1, (end - start) // _USUAL_CHARS_PER_TOKEN)
        return self.count(self.text[start:end])


def chunk_document(
    document: Document, *, max_tokens: int, count_tokens: CountTokens
) -> tuple[Chunk, ...]:
    """Returns chunks that cover `document.text` exactly, each of at most `max_tokens` tokens of
    text (context not counted).

    A table row or sentence is cut (at white space) only if it alone exceeds the limit, a word only
    if the word alone exceeds it.

    Args:
        max_tokens: limit of a chunk's text in tokens; at least 1.
        count_tokens: number of tokens of a text for the model in use.

    Raises:
        SettingsError: `max_tokens` is below 1.
    """
    if max_tokens < 1:
        raise SettingsError(
            f"max_tokens is {max_tokens}: a chunk needs room for text; give 1 or more (500 to 2000)"
        )
    if not document.text:
        return ()
    limits = _ChunkLimits(document.text, max_tokens, count_tokens)
    whole = limits.tokens(0, len(document.text))
    if whole <= max_tokens:
        spans: Sequence[tuple[int, int, int]] = [(0, len(document.text), whole)]
    else:
        units = list(_units(document, limits))
        spans = [
            span
            for first, last in _pack(units, 0, len(units), max_tokens)
            for span in _settle(units[first:last], limits)
        ]
    outline = Outline(document)
    return tuple(_chunk(document, outline, position, span) for position, span in enumerate(spans))


def _chunk(
    document: Document, outline: Outline, position: int, span: tuple[int, int, int]
) -> Chunk:
    start, end, tokens = span
    return Chunk(
        id=f"{document.id}:{start}-{end}",
        document_id=document.id,
        position=position,
        start=start,
        end=end,
        text=document.text[start:end],
        tokens=tokens,
        context=outline.context(start, end),
        kinds=outline.kinds(start, end),
    )


def _units(document: Document, limits: _ChunkLimits) -> Iterator[_Unit]:
    """The units of the document in order. Headings, and captions and words before a table, belong
    to the unit after them.
    """
    held: _Unit | None = None
    blocks = blocks_of(document)
    for number, (start, end, element) in enumerate(blocks):
        tokens = max(1, limits.tokens(start, end))
        kind = element.kind if element else "paragraph"
        follower = blocks[number + 1][2] if number + 1 < len(blocks) else None
        level = max(1, element.level) if element and kind == "heading" else 0
        introduces = kind == "caption" or limits.text[start:end].rstrip().endswith(":")
        tied = kind == "heading" or (
            introduces and follower is not None and follower.kind == "table"
        )
        waiting = held.tokens if held else 0
        whole = _Unit(start, end, tokens, level)
        if tied and tokens + waiting <= limits.max_tokens // 2:
            held = _joined(held, whole)
            continue
        room = limits.max_tokens - waiting
        for unit in (whole,) if tokens <= room else _split(start, end, element, limits, room):
            if held and held.tokens + unit.tokens > limits.max_tokens:
                yield held
                held = None
            yield _joined(held, unit)
            held = None
    if held:
        yield held


def _joined(before: _Unit | None, unit: _Unit) -> _Unit:
    return (
        _Unit(before.start, unit.end, before.tokens + unit.tokens, before.level) if before else unit
    )


def _split(
    start: int, end: int, element: Element | None, limits: _ChunkLimits, room: int
) -> Iterator[_Unit]:
    """Yields the parts of a block that is too large: rows (of a table) or sentences; parts that are
    still too large are cut at white space.

    `room` is the limit in tokens without the headings that belong to the block; only parts that are
    cut at white space keep it.
    """
    rows = element is not None and bool(element.row_starts)
    for low, high in parts_of(limits.text, start, end, element):
        # An estimate may round a short sentence down to nothing.
        tokens = max(1, limits.tokens(low, high))
        if tokens <= limits.max_tokens:
            yield _Unit(low, high, tokens)
        elif rows:
            yield from _split(low, high, None, limits, room)
        else:
            yield from _cut(low, high, limits, room)


def _cut(start: int, end: int, limits: _ChunkLimits, room: int) -> Iterator[_Unit]:
    """Yields the parts of one sentence over the limit: cut after a line, else after a word, else
    between characters.
    """
    at = start
    while at < end:
        width = max(1, room * _USUAL_CHARS_PER_TOKEN)
        while True:
            stop = end if at + width >= end else _white_space_before(limits.text, at, at + width)
            tokens = limits.count(limits.text[at:stop])
            if tokens <= room or stop - at <= 1:
                break
            width = (stop - at) // 2
        yield _Unit(at, stop, tokens)
        at = stop


def _white_space_before(text: str, start: int, limit: int) -> int:
    """Returns the place to cut in the second half of `text[start:limit]`: after a line, else after
    a blank, else at `limit`.
    """
    middle = start + (limit - start) // 2
    line = text.rfind("\n", middle, limit)
    if line > start:
        return line + 1
    last = limit
    for match in _SPACE.finditer(text, middle, limit):
        last = match.end()
    return last


def _pack(units: Sequence[_Unit], low: int, high: int, max_tokens: int) -> list[tuple[int, int]]:
    """Groups of units: sections of the highest level in `units[low:high]`
    first, then what is below.
    """
    if sum(unit.tokens for unit in units[low:high]) <= max_tokens:
        return [(low, high)]
    levels = [unit.level for unit in units[low + 1 : high] if unit.level]
    if not levels:
        return _greedy([(number, number + 1) for number in range(low, high)], units, max_tokens)
    top = min(levels)
    starts = [low, *(n for n in range(low + 1, high) if units[n].level == top), high]
    parts: list[tuple[int, int]] = []
    for first, last in pairwise(starts):
        parts.extend(_pack(units, first, last, max_tokens))
    return _greedy(parts, units, max_tokens)


def _greedy(
    parts: Sequence[tuple[int, int]], units: Sequence[_Unit], max_tokens: int
) -> list[tuple[int, int]]:
    """Joins neighbouring groups while they fit."""
    groups: list[tuple[int, int]] = []
    room = 0
    for first, last in parts:
        tokens = sum(unit.tokens for unit in units[first:last])
        if groups and tokens <= room:
            groups[-1] = (groups[-1][0], last)
            room -= tokens
        else:
            groups.append((first, last))
            room = max_tokens - tokens
    return groups


def _settle(units: Sequence[_Unit], limits: _ChunkLimits) -> Iterator[tuple[int, int, int]]:
    """Yields the span of a group with its exact tokens. A group that is too large, since tokens of
    parts do not simply add up, is divided.
    """
    start, end = units[0].start, units[-1].end
    tokens = limits.tokens(start, end)
    if tokens <= limits.max_tokens:
        yield start, end, tokens
    elif len(units) > 1:
        for unit in units:
            yield from _settle([unit], limits)
    else:
        yield from (
            (part.start, part.end, part.tokens)
            for part in _cut(start, end, limits, limits.max_tokens)
        )
