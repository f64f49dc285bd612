"""The particular things that a question names: codes, dates, years, quoted words and proper names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sliders.schema.types import ColumnType, Table

_QUOTED = re.compile(r"[\"“‘«]([^\"”’»]{2,60})[\"”’»]")
_CODE = re.compile(r"\b(?=[A-Z0-9-]*\d)(?=[A-Z0-9-]*[A-Z])[A-Z0-9][A-Z0-9-]{2,}\b")
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = re.compile(
    rf"\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b\d{{1,2}}\.? (?:{_MONTHS}) \d{{4}}\b|\b(?:{_MONTHS})(?: \d{{1,2}},)? \d{{4}}\b"
)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_NAME = re.compile(
    r"(?<![.?!] )(?<!^)\b[A-Z][\w'’&.-]*(?:[ ,&-]+(?:(?:of|the|de|von|van|du|la|and|y)\s+)*[A-Z(][\w'’&.()-]*)*"
)
_NOT_NAMES = frozenset(["I", "YYYY", "MM", "DD", "YYYY-MM-DD", "USD", "EUR", "GBP", "RM", "SQL", "JSON"])


def literals(question: str) -> list[str]:
    """Names, codes and dates of the question in its order, none inside another.

    >>> literals("How much did Orla Finch pay for lot B-17 on 3 May 1998?")
    ['Orla Finch', 'B-17', '3 May 1998']
    """
    question = re.sub(r"\([^)]*(?:YYYY|e\.g\.|decimal)[^)]*\)", " ", question)
    spans: list[tuple[int, int, str]] = []
    for pattern in (_QUOTED, _DATE, _NAME, _CODE, _YEAR):
        for match in pattern.finditer(question):
            start, end = match.span(1) if pattern is _QUOTED else match.span()
            words = question[start:end].strip(" ,.&-")
            if words in _NOT_NAMES or not words or any(s < end and start < e for s, e, _ in spans):
                continue
            spans.append((start, end, words))
    return [words for _, _, words in sorted(spans)]


def is_period(words: str) -> bool:
    """Whether a literal is a date, a month or a year."""
    return bool(_DATE.fullmatch(words) or _YEAR.fullmatch(words))


_FEWEST_TEXTS = 3


def uncovered(question: str, asked: Sequence[str], proposal: Table, texts: Sequence[str] = ()) -> list[str]:
    """Literals of the question that no proposed column was asked for; at most four.

    A date is covered by any date or year column; what stands in all of several texts tells no rows apart.
    """
    covered = " | ".join(asked).lower()
    dated = any(
        c.type in (ColumnType.DATE, ColumnType.DATETIME) or re.search(r"year|date|month|period", c.name)
        for c in proposal.columns
    )
    common = [words for words in literals(question) if len(texts) >= _FEWEST_TEXTS and all(words in t for t in texts)]
    return [
        words
        for words in literals(question)
        if words.lower() not in covered and words not in common and not (is_period(words) and dated)
    ][:4]
