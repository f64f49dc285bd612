"""Headings, list items and paragraphs in plain lines, by how they are set. A missed heading costs
less than a false one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sliders.documents.document import ElementKind
from sliders.values.han import han_part
from sliders.values.scripts import is_cased

_MAX_HEADING = 90
_LONG_LINE = 200
_WRAPPED = 60
_PROSE = 80
_MAX_CASELESS = 30

_MARKDOWN = re.compile(r"(#{1,6})\s+(\S.*)")
_DIVISION = re.compile(r"[^\W\d_]{3,} (?:[IVXLC]+|\d{1,3}|[A-Z])")
_NUMBERED_PART = re.compile(
    r"[^\W\d_]{3,}\s+(?:(?:[IVXLC]{2,}|\d{1,3}[A-Z]?)(?:\s*[.:)–—]|\s+-)|[A-Z](?:\s*[:–—]|\s+-))[\s–—-]*(.+)"
)
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})(?:[.)]?\s+|[、．]\s*)([^\W\d_][^.!?。！？]*)")
_ENDS = ".,;。，；、।،؛"
_RULE = re.compile(r"[=\-_*~─━]{3,}\s*")
_DIGITS = re.compile(r"\d+")
_ITEM = re.compile(
    r"[ \t]*(?:[•●▪◦‣·∙*\-–]|\d{1,3}[.)]|\((?:\d{1,3}|[a-z]{1,4})\)|\[[^\]\s]{1,24}\])[ \t]+\S"
)
_BULLET = re.compile(r"[ \t]*[•●▪◦‣∙][ \t]*\S")
_KEYED = re.compile(r"([A-Z][\w ]{0,20}):\s+\S")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a block: the lines `first` to `last` (inclusive), their kind, and the level of a
    heading.
    """

    kind: ElementKind
    first: int
    last: int
    level: int = 0


def shape_of(line: str) -> str:
    """The shape of a line: its lower-case text with "#" for each number, so that lines that differ
    only in their numbers have one shape.
    """
    return _DIGITS.sub("#", line).strip().lower()


def furniture_of(pages: Sequence[Sequence[str]]) -> frozenset[str]:
    """The shapes of running headers and footers: lines at the top or bottom of at least half the
    pages (three or more).
    """
    shapes: Counter[str] = Counter()
    for lines in pages:
        shapes.update(
            {shape_of(line) for line in ([*lines[:3], *lines[-3:]] if len(lines) > 6 else lines)}
        )
    return frozenset(shape for shape, times in shapes.items() if times >= max(3, len(pages) / 2))


def heading_level(line: str, below: str = "") -> int:
    """Returns the depth of a line that looks like a heading ("Item 7. Risks", "# Title", "2.1
    Data", "RISK FACTORS"), else 0.

    A numbered line is no heading when the line `below` is about as long: then it begins a paragraph
    ("Figure 3. The lamps of ...").
    """
    line = line.strip()
    if not 2 <= len(line) <= _MAX_HEADING:
        return 0
    if match := _MARKDOWN.fullmatch(line):
        return len(match[1])
    if (match := _NUMBERED_PART.fullmatch(line)) and line[0].isupper() and _names_a_part(match[1]):
        return 2 if 4 * len(line) <= 3 * len(below.strip()) or not below else 0
    if "   " in line or line[-1] in _ENDS or line.count("|") > 1:
        return 0
    if level := han_part(line):
        return level
    if (match := _NUMBERED.fullmatch(line)) and _begins(match[2]):
        return min(match[1].count(".") + 2, 6) if len(match[2].split()) <= 10 else 0
    return 0 if not _is_capitals(line) else 1 if _DIVISION.fullmatch(line) else 2


def is_title_like(line: str) -> bool:
    """A short line in title case without end mark: a heading if it stands
    alone above running text.
    """
    line = line.strip()
    words = line.split()
    if (
        not 1 <= len(words) <= 9
        or len(line) > 70
        or "   " in line
        or line[-1] in _ENDS + ":!?：！？"
        or not _begins(line)
    ):
        return False
    if any(ch.isdigit() for ch in line):
        return False
    if not is_cased(line):
        return len(line) <= _MAX_CASELESS and not any(mark in line for mark in _ENDS)
    long = [w for w in words if len(w) > 3]
    return bool(long) and sum(w[0].isupper() for w in long) * 3 >= len(long) * 2


def _begins(line: str) -> bool:
    """True when a line begins like a heading: with a capital, or with a letter of a script without
    capitals.
    """
    return line[0].isupper() or (line[0].isalpha() and not is_cased(line[0]))


def split_block(
    lines: Sequence[str], follows: str, furniture: frozenset[str] = frozenset()
) -> Iterator[Piece]:
    """The pieces of lines without a blank one between them; `follows` is the text of the block
    after them.

    Args:
        furniture: shapes of running headers and footers, which are no headings.
    """
    at = 0
    while (
        at < len(lines)
        and shape_of(lines[at]) not in furniture
        and (level := _opening_level(lines, at, follows))
    ):
        yield Piece("heading", at, at, level)
        at += 1
        if at < len(lines) and _RULE.fullmatch(lines[at]):
            at += 1
    if at < len(lines):
        yield from _split_body(lines, at)


def _opening_level(lines: Sequence[str], at: int, follows: str) -> int:
    line = lines[at]
    if len(line) > 400:
        return 0
    below = lines[at + 1] if at + 1 < len(lines) else ""
    if below and _RULE.fullmatch(below) and below[0] in "=-" and len(line.strip()) <= _MAX_HEADING:
        return (1 if below[0] == "=" else 2) if any(ch.isalpha() for ch in line) else 0
    level = heading_level(line, below)
    after = below or follows
    if level and after.strip():
        if (
            _is_capitals(line)
            and below
            and (_is_capitals(below) or not _has_prose(lines[at + 1 :]))
        ):
            return 0
        if _ITEM.match(line) and below and _ITEM.match(below):
            return 0
        return level
    alone = at == 0 and len(lines) == 1
    least = _PROSE if is_cased(line) else _PROSE // 2
    if alone and len(follows.strip()) >= least and is_title_like(line) and not _ITEM.match(line):
        return 2
    return 0


def _has_prose(lines: Sequence[str]) -> bool:
    return any(len(line.strip()) >= 40 and any(ch.islower() for ch in line[:200]) for line in lines)


def _split_body(lines: Sequence[str], at: int) -> Iterator[Piece]:
    items = [i for i in range(at, len(lines)) if _ITEM.match(lines[i]) or _BULLET.match(lines[i])]
    if len(items) >= 2 or (items and _BULLET.match(lines[items[0]])):
        yield from _split_items(lines, at, set(items))
        return
    if _same_key(lines[at:]):
        yield from (Piece("list_item", i, i) for i in range(at, len(lines)))
        return
    yield from _paragraphs(lines, at, len(lines) - 1)


def _split_items(lines: Sequence[str], at: int, items: set[int]) -> Iterator[Piece]:
    first = at
    in_item = at in items
    for i in range(at + 1, len(lines) + 1):
        over = i == len(lines)
        if not over and i not in items and (not in_item or _continues(lines[i - 1], lines[i])):
            continue
        if in_item:
            yield Piece("list_item", first, i - 1)
        else:
            yield from _paragraphs(lines, first, i - 1)
        first, in_item = i, i in items


def _continues(above: str, line: str) -> bool:
    return len(above) >= _WRAPPED or line.lstrip()[:1].islower()


def _same_key(lines: Sequence[str]) -> bool:
    if len(lines) < 3:
        return False
    keys = {match[1] if (match := _KEYED.match(line)) else "" for line in lines}
    return len(keys) == 1 and "" not in keys


def _paragraphs(lines: Sequence[str], first: int, last: int) -> Iterator[Piece]:
    """One paragraph, or one per line where lines are longer than anybody wraps them."""
    begin = first
    for i in range(first, last):
        ends = lines[i].rstrip()[-1:] in ".!?:;\"'”’)…]" or not lines[i + 1].lstrip()[:1].islower()
        if len(lines[i]) > _LONG_LINE and ends:
            yield Piece("paragraph", begin, i)
            begin = i + 1
    yield Piece("paragraph", begin, last)


def _names_a_part(rest: str) -> bool:
    words = rest.split()
    return (
        0 < len(words) <= 14
        and (words[0][0].isupper() or words[0][0] in "“\"'(")
        and not rest.endswith((",", ";"))
    )


def _is_capitals(line: str) -> bool:
    line = line.strip()
    letters = sum(ch.isalpha() for ch in line)
    if (
        letters < 4
        or len(line) > _MAX_HEADING
        or any(ch.islower() for ch in line)
        or not is_cased(line)
    ):
        return False
    return letters * 10 >= len(line.replace(" ", "")) * 8
