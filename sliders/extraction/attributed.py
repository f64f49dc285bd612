"""Which of several named things in a text a number belongs to ("Lund took 28 points, Vik 11 points and Oda 5")."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sliders.chunks.sentences import sentence_spans
from sliders.extraction.lexicon import stem
from sliders.extraction.numbers import Number, numbers_in

_FEWEST = 2
"""So often must a text print a number before the column's word, to show that the word is how it counts."""

_OF_OTHERS = re.compile(
    r"\b(?:per|averag\w*|combin\w*|total of|(?<![\w-])(?:season|career)(?![\w,-]| with)|(?:more|fewer|less) than)\b|"
    r"(?<!led )\bby\s*$|\bafter \w+ing\s*$", re.IGNORECASE
)

_TOGETHER, _NEAR = re.compile(r"\bcombin\w*\b", re.IGNORECASE), 3


Owned = dict[str, list[tuple[int, int]]]
"""By name, the spans of its numbers."""


def unit_of(column: str) -> str:
    """The word for what a column of this name counts ("total_points": "points")."""
    return column.rsplit("_", 1)[-1]


def times_counted(text: str, unit: str) -> int:
    """How often the text prints a number before this unit; 0 where that is too seldom to show that it counts in it."""
    times = len(_counted(text, unit))
    return times if times >= _FEWEST else 0


def _counted(text: str, unit: str) -> list[Number]:
    """Numbers before the unit, and those that the unit makes a result of ("a 13-point performance", not "a 13-point lead")."""
    wanted = stem(unit.lower())
    return [
        n for n in numbers_in(text)
        if _followed_by(text, n, wanted) and (n.plain or (n.attached and _RESULT.match(text, n.end)))
    ]  # fmt: skip


_RESULT = re.compile(
    r"-\w+(?:, (?:\w+-)+\w+)* "
    r"(?:performances?|efforts?|tall(?:y|ies)|games?|nights?|outings?|hauls?|showings?|double|triple)\b"
)


def attributed(text: str, names: Sequence[str], unit: str) -> Owned:
    """By name, the spans of the numbers before `unit` that the text gives it, in reading order.

    A number belongs to the name that it is said to come from ("9 points from Lund"), else to the name that stands nearest
    before it in its sentence and is not set beside another ("Oda was behind Lund with 8"), else to the first one behind
    it, after all numbers that stand behind the name. Empty where the text does not count in this unit.

    Args:
        names: the things that rows stand for, as printed.
        unit: the word for what is counted ("points").
    """
    counted = _counted(text, unit)
    if len(counted) < _FEWEST:
        return {}
    places = _mentions(text, names)
    found: Owned = {}
    loose: Owned = {}
    for start, end in sentence_spans(text):
        here = [] if _SPAN.search(text, start, end) else [(at, name) for at, name in places if start <= at < end]
        for number in counted:
            if start <= number.start < end and here and not _of_others(text, start, number):
                owners = _owners(text, start, here, number)
                for owner in owners or [here[0][1]]:
                    (found if owners else loose).setdefault(owner, []).append((number.start, number.end))
    for owner, spans in loose.items():
        found.setdefault(owner, []).extend(spans)
    return found


def _owners(text: str, start: int, here: Sequence[tuple[int, str]], number: Number) -> list[str]:
    """The names of a sentence that a number belongs to; none where all stand behind it."""
    source = _SOURCE.match(text, number.end)
    from_it = [name for at, name in here if source and at == source.end()]
    if from_it:
        return from_it
    before = [(at, name) for at, name in here if at < number.start]
    beside = [place for place in before if _BESIDE.search(text, start, place[0])]
    if len(beside) < len(before):
        before = [place for place in before if place not in beside]
    owners = [name for _, name in before[-1:]]
    if len(before) > 1 and _both(text, before[-2][0], before[-1][0], number):
        owners.append(before[-2][1])
    return owners


_SPAN = re.compile(r"\b(?:over|in|during) (?:his|her|their|its|the) (?:last|past|previous) (?:\w+ )?\w+s\b", re.IGNORECASE)
"""What is counted over several events is nobody's number of this one."""
_BESIDE = re.compile(r"\b(?:behind|against|over|past|than|alongside|besides?|opposite|unlike)(?: the)?\s+$", re.IGNORECASE)
_SOURCE = re.compile(r"[\s-]\w+ (?:from|by) ")


def _both(text: str, first: int, second: int, number: Number) -> bool:
    """Whether a number is that of two names in a row ("Lund and Vik had 9 points each")."""
    around = text[second : number.start] + text[number.end : number.end + _REACH].split(".")[0]
    return bool(re.fullmatch(r"[\w.'’ -]+?(?: \([^()]*\))? and ", text[first:second]) and _EACH.search(around))


_EACH, _REACH = re.compile(r"\b(?:matching|(?:a )?pair of|each|apiece|a piece)\b"), 30


def is_of_another(text: str, start: int, owned: Owned) -> bool:
    """Whether the number at `start` belongs to some name or to several together, or counts something else than those do."""
    if _TOGETHER.search(" ".join(text[max(0, start - 60) : start].split()[-_NEAR:])):
        return True
    units = {_word_after(text, end) for spans in owned.values() for _, end in spans}
    number = re.match(r"[\d.,]*\d", text[start:])
    end = start + len(number.group()) if number else start
    return any(start in range(*span) for spans in owned.values() for span in spans) or _word_after(text, end) not in units


def _word_after(text: str, end: int) -> str:
    words = re.findall(r"[^\W\d_]+", text[end : end + 40])
    return stem(words[0].lower()) if words else ""


def _followed_by(text: str, number: Number, unit: str) -> bool:
    return _word_after(text, number.end) == unit


def _of_others(text: str, start: int, number: Number) -> bool:
    """Whether the words around a number make it an average or a margin, not what was counted here."""
    before = " ".join(text[start : number.start].split()[-_NEAR:])
    after = " ".join(text[number.end :].split()[:4])
    return bool(_OF_OTHERS.search(before) or re.match(r"\S+ (?:(?:per|a) game|shy|short)\b", after))


def _mentions(text: str, names: Sequence[str]) -> list[tuple[int, str]]:
    """Where each thing is named, by its whole name or by the last word of it that no other has."""
    last: Mapping[str, list[str]] = _by_last_word(names)
    places: dict[int, str] = {}
    whole: set[int] = set()
    for name in sorted(names, key=len):
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            places[match.start()] = name
            whole.update(range(match.start(), match.end()))
    for form, called in last.items():
        for match in re.finditer(rf"(?<!\w){re.escape(form)}(?!\w)", text) if len(called) == 1 else ():
            if match.start() not in whole:
                places[match.start()] = called[0]
    return sorted(places.items())


def _by_last_word(names: Sequence[str]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        out.setdefault(_last(name), []).append(name)
    return out


def _last(name: str) -> str:
    words = [w for w in name.split() if w.rstrip(".").lower() not in ("jr", "sr", "ii", "iii")]
    return words[-1] if words else name
