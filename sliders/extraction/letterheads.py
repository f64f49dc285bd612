"""Values that run over the lines of a letterhead: an address, a name whose legal form stands on the next line.

A small model copies one line of them, or the telephone number after them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from sliders.schema.names import spoken_name
from sliders.schema.types import Column, ColumnType

Place = tuple[int, int]
"""Characters start to end (exclusive) of a text."""

_LONGEST_LINE, _USUAL_LINE, _MOST_LINES = 80, 60, 4
_OTHER = re.compile(
    r"\b(?:tel|telephone|phone|mobile|fax|e-?mail|www|http|gst|vat|tax|reg|registration|id|invoice|receipt|date|time|"
    r"company no|co\.? no)\b|@|^\s*[(\[]?\d[\d-]*[A-Z]?[)\]]?\s*$|\d{1,2}:\d\d",
    re.IGNORECASE,
)
_OPENING = re.compile(r"\s*(?:(?:no|lot|unit|level|suite|floor|block|blk|p\.?o\.? box)\b|\d{1,4}[a-z]?\b)", re.IGNORECASE)
_NUMBERED = re.compile(r"^\s*(?:[^\s()]*\)\s*|\([^()]*\d[^()]*\)\s*|\d{5,}-[A-Z]\s+)")
_POSTCODE = re.compile(r"(?<![\w-])\d{4,6}(?![\w-])")
_LEGAL_END = re.compile(
    r"\b(?:sdn\.? bhd|s/b|inc|incorporated|corp|corporation|company|ltd|limited|llc|llp|plc|gmbh|ag|s\.?a|b\.?v|pty)\.?$",
    re.IGNORECASE,
)


def whole_block(column: Column, text: str, place: Place, taken: Sequence[Place]) -> Place:
    """The span of the whole address or name that the words at `place` are a part of; `place` where nothing shows it.

    Args:
        taken: places of the other values of the row.
    """
    words = set(spoken_name(column.name).split())
    if column.type is not ColumnType.TEXT or not words & (_NAMED | {"address"}) or not _is_form(text, place):
        return place
    return _address(text, place, taken) if "address" in words else _name(text, place)


_NAMED = frozenset("company business vendor supplier seller shop store merchant employer organisation organization firm".split())


def _is_form(text: str, place: Place) -> bool:
    lines = [len(line) for line in text.splitlines() if line.strip()]
    start, end = _line(text, place[0])
    return bool(lines) and median(lines) <= _USUAL_LINE and end - start <= _LONGEST_LINE


def _line(text: str, at: int) -> Place:
    end = text.find("\n", at)
    return text.rfind("\n", 0, at) + 1, len(text) if end < 0 else end


def _address(text: str, place: Place, taken: Sequence[Place]) -> Place:
    start, end = place
    if led := _NUMBERED.match(text[start:end]):
        start += led.end()
    if other := _OTHER.search(text, start, end):
        end = other.start()
    free = max((e for s, e in taken if s <= start < e or _line(text, start)[0] <= s < start), default=_line(text, start)[0])
    if not _NUMBERED.match(text[_line(text, start)[0] : start + 1]) and not _OTHER.search(text[free:start]):
        start = free
    for _ in range(_MOST_LINES):
        above = _line(text, max(0, start - 2)) if start and text[start - 1] == "\n" else (0, 0)
        if not _continues(text[slice(*above)], text[slice(*_line(text, start))]) or _overlaps(above, taken):
            break
        start = above[0]
    end = _to_end(text, end, taken)
    while start < end and text[start] in " \n,;:.-":
        start += 1
    while end > start and text[end - 1] in " \n,;:-":
        end -= 1
    return start, end


def _continues(above: str, line: str) -> bool:
    """Whether an address goes on from the line above."""
    if not above.strip() or _OTHER.search(above) or _LEGAL_END.search(above.strip()) or len(above) > _LONGEST_LINE:
        return False
    if _OPENING.match(above) or above.rstrip().endswith(","):
        return True
    return not _OPENING.match(line) and bool(re.search(r"[\d,]", above))


def _to_end(text: str, end: int, taken: Sequence[Place]) -> int:
    """The end of the line, and the lines of the post code where they are still to come."""
    last = _line(text, max(0, end - 1))
    if not _OTHER.search(text[end : last[1]]) and not _overlaps((end, last[1]), taken):
        end = last[1]
    for _ in range(_MOST_LINES - 1):
        below = _line(text, end + 1) if end < len(text) and text[end] == "\n" else (0, 0)
        more = text[slice(*below)]
        wanted = text[:end].rstrip().endswith(",") or (_POSTCODE.search(more) and not _POSTCODE.search(text[slice(*last)]))
        if not more.strip() or not wanted or _OTHER.search(more) or _overlaps(below, taken):
            break
        end, last = below[1], below
    return end


def _overlaps(place: Place, taken: Sequence[Place]) -> bool:
    return any(start < place[1] and place[0] < end for start, end in taken)


def _name(text: str, place: Place) -> Place:
    """A name with the lines that bring its legal form, where it ends with its line and without one."""
    start, end = place
    if (end < len(text) and text[end] != "\n") or _LEGAL_END.search(text[start:end]):
        return place
    for _ in range(2):
        below = _line(text, end + 1) if end < len(text) else (0, 0)
        more = text[slice(*below)].strip()
        if not more or _OTHER.search(more) or re.search(r"\d{3}", more):
            return place
        end = below[0] + len(text[slice(*below)].rstrip())
        if _LEGAL_END.search(more):
            return start, end
    return place
