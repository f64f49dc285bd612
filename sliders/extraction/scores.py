"""Two numbers that are printed as one score or record ("110-106", "5-2"): which one a column asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sliders.chunks.sentences import sentence_spans
from sliders.schema.names import spoken_name
from sliders.schema.types import Column

_PAIR = re.compile(r"[^\d]{0,60}?(?<![\d.,])(\d{1,3})\s*[-–—:]\s*(\d{1,3})(?![\d.,])[^\d]{0,60}")
_FIRST_LAST = ((frozenset({"wins"}), 0), (frozenset({"losses", "defeats"}), 1))
_HIGH = frozenset({"winner", "winners", "winning", "won", "victor", "victors"})
_LOW = frozenset({"loser", "losers", "losing", "lost", "defeated"})
_GAP = frozenset({"margin", "difference", "lead"})
_SUM = frozenset({"total", "combined", "both"})


def side_of(name: str) -> str:
    """Which side of a result a column's name means: "winner", "loser", or "" for neither or both.

    >>> side_of("winning_team"), side_of("loser"), side_of("city")
    ('winner', 'loser', '')
    """
    named = set(spoken_name(name).split())
    if bool(named & _HIGH) == bool(named & _LOW):
        return ""
    return "winner" if named & _HIGH else "loser"


def results_in(text: str) -> list[tuple[int, int]]:
    """The spans of the sentences that tell a result: two names, who won or lost, and a score.

    >>> results_in("It rained. The Otters beat the Herons, 3-1, on Monday.")
    [(11, 53)]
    """
    return [
        (start, end)
        for start, end in sentence_spans(text)
        if len(_NAME.findall(text, start, end)) > 1
        and _DECIDED.search(text, start, end)
        and any(_is_score(text, start, match.start()) for match in _SCORE.finditer(text, start, end))
    ]


def _is_score(text: str, sentence: int, start: int) -> bool:
    """Whether two numbers are no record in brackets ("the Otters (5-2)")."""
    return "(" not in text[max(sentence, start - _NEAR) : start]


def told_score(text: str, names: Sequence[str]) -> tuple[int, int] | None:
    """Where the one sentence that names all of the sides prints a score; None where sentences tell different ones.

    A record in brackets ("the Otters (5-2)") is no score.
    """
    lasts = [name.split()[-1] for name in names if name.split()]
    found = [
        (match.start(), match.end())
        for start, end in sentence_spans(text)
        if len(lasts) > 1 and all(re.search(rf"(?<!\w){re.escape(last)}(?!\w)", text[start:end]) for last in lasts)
        for match in _SCORE.finditer(text, start, end)
        if _is_score(text, start, match.start())
    ]
    return found[0] if found and len({text[slice(*place)] for place in found}) == 1 else None


_SCORE = re.compile(r"(?<![\d.,/-])\d{1,3}\s?[-–]\s?\d{1,3}(?![\d.,/-]*\d)(?!\s*(?:percent|%))")
_NEAR = 2
_NAME = re.compile(r"(?<!^)\b[A-Z][\w'’.-]+(?: [A-Z0-9][\w'’.-]*)*")
_DECIDED = re.compile(
    r"\b(?:beat|beats|beating|won|wins?|winning|victory|victories|defeat\w*|los[st]|losing|loses|edged?|edging|downed|"
    r"topped|routed|overcame|prevailed|triumph\w*|outlast\w*|drew|draws?|tied|blew out|knocked off|cruised|held off|fell to)\b",
    re.IGNORECASE,
)
GROUPS = frozenset("team club side squad crew faction opponent".split())
"""What the sides of a contest are called."""


def read_score(words: str, column: Column) -> tuple[int, str] | None:
    """The part of a score that the column's name asks for, and how it follows; None where it is no score, or none does.

    >>> read_score("won 3-1", Column("loser_goals"))
    (1, "the lower number of the score '3-1'")
    """
    match = _PAIR.fullmatch(words)
    if match is None:
        return None
    first, second = int(match[1]), int(match[2])
    score = match.group(0)[match.start(1) - match.start() : match.end(2) - match.start()]
    named = set(spoken_name(column.name).split())
    for side, place in _FIRST_LAST:
        if named & side:
            return (first, second)[place], f"the {('first', 'second')[place]} number of the record {score!r}"
    if named & _GAP:
        return abs(first - second), f"the difference of the score {score!r}"
    if bool(named & _HIGH) != bool(named & _LOW):
        high = bool(named & _HIGH)
        chosen = max(first, second) if high else min(first, second)
        return chosen, f"the {'higher' if high else 'lower'} number of the score {score!r}"
    if named & _SUM:
        return first + second, f"the sum of the score {score!r}"
    return None
