"""Numbers in English words: "two hundred and thirty", "half a million", "twenty-first"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from sliders.values.vocabulary import GROUPS, ORDINALS, POWERS, SCALE_WORDS, TENS, UNITS


@dataclass(frozen=True, slots=True)
class Spelled:
    """A number in words at characters `start` to `end` (exclusive); `scale` is its
    canonical scale ("millions").
    """

    start: int
    end: int
    value: Decimal
    ordinal: bool
    scale: str


_Read = tuple[int, Decimal, bool, str]
"""The number of words that a number takes, its value, whether it is an ordinal, and the canonical
name of its scale.
"""


def choice(words: Iterable[str]) -> str:
    """The words as alternatives of a pattern, longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_ANY = choice({**UNITS, **TENS, **POWERS, **GROUPS, **ORDINALS})
_ARTICLE = rf"an?(?=\s+(?:{choice([*POWERS, 'dozen', 'pair', 'half'])})\b)"
_RUN = re.compile(
    rf"(?<![\w-])(?:{_ARTICLE}|half|{_ANY})(?:(?:\s+and\s+|[\s-]+)(?:{_ARTICLE}|half|{_ANY}))*(?![\w])",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]+", re.IGNORECASE)
_NO_NUMBER = re.compile(r"\b(?:no|any|every|some)[\s-]$", re.IGNORECASE)


def spelled_in(text: str) -> Iterator[Spelled]:
    """Every number that words of `text` spell, in order; not the "one" of "no one"."""
    for run in _RUN.finditer(text):
        words = [
            (match[0].lower(), match.start(), match.end())
            for match in _WORD.finditer(text, *run.span())
        ]
        index = 0
        while index < len(words):
            used, value, ordinal, scale = _read([word for word, _, _ in words[index : index + 40]])
            start = words[index][1]
            if used and not (
                words[index][0] == "one" and _NO_NUMBER.search(text[max(0, start - 8) : start])
            ):
                yield Spelled(start, words[index + used - 1][2], value, ordinal, scale)
            index += max(used, 1)


@dataclass(slots=True)
class _UnderWay:
    """A number while its words are read: the whole groups of a thousand, and the current group. The
    next power of a thousand must be smaller than `ceiling`, the next small number smaller than
    `room`: 10 behind "twenty", nothing behind "seven".
    """

    total: Decimal = Decimal(0)
    group: Decimal = Decimal(0)
    ceiling: Decimal = Decimal(10**15)
    room: int = 100
    scale: str = ""

    def take(self, word: str, first: bool) -> bool:
        """Adds one word; False when the number cannot contain it."""
        small, power = _small(word), POWERS.get(word) or GROUPS.get(word, 0)
        if small is not None and small < self.room:
            self.group, self.room = self.group + small, 10 if word in TENS else 0
        elif 0 < power <= 100 and self.group < 100 and (self.group or (power == 100 and first)):
            self.group = (self.group or Decimal(1)) * power
            self.room = 100 if power == 100 else 0
        elif 100 < power < self.ceiling and (self.group or first):
            self.total += (self.group or Decimal(1)) * power
            self.group, self.room, self.ceiling = Decimal(0), 100, Decimal(power)
            self.scale = SCALE_WORDS[word]
        else:
            return False
        return True

    def ordinal(self, word: str, first: bool) -> Decimal | None:
        """The value that an ordinal ends the number with, None where it does not belong to it."""
        last = ORDINALS.get(word)
        if last is None or not (last < self.room or (last >= 100 and not first)):
            return None
        end = self.group + last if last < 100 else (self.group or Decimal(1)) * last
        return self.total + end


def _read(words: list[str]) -> _Read:
    """The longest number that the first of the lower-case `words` spell; it takes 0
    words if they spell none.
    """
    number, used, index = _UnderWay(), 0, 0
    while index < len(words):
        word = words[index]
        if word == "half" and not used:
            return _half(words, index, Decimal(0))
        if word in {"a", "an"}:
            if used:
                break
            number.group, number.room, index = Decimal(1), 0, index + 1
            continue
        if word == "and":
            if used and words[index + 1 : index + 3] == ["a", "half"]:
                return _half(words, index + 2, number.total + number.group)
            behind = words[index + 1 : index + 2]
            if not used or number.room != 100 or not behind or not _small(behind[0]):
                break
            index += 1
            continue
        if not number.take(word, first=not used):
            value = number.ordinal(word, first=not used)
            if value is not None:
                return index + 1, value, True, number.scale
            break
        index += 1
        used = index
    return used, number.total + number.group, False, number.scale


def _small(word: str) -> int | None:
    return UNITS.get(word, TENS.get(word))


def _half(words: list[str], index: int, before: Decimal) -> _Read:
    value, used, scale = before + Decimal("0.5"), index + 1, ""
    rest = words[used:]
    skip = 1 if rest[:1] and rest[0] in {"a", "an"} else 0
    if rest[skip : skip + 1] and (rest[skip] in POWERS or rest[skip] == "dozen"):
        value *= POWERS.get(rest[skip]) or GROUPS[rest[skip]]
        used, scale = used + skip + 1, SCALE_WORDS.get(rest[skip], "")
    return used, value, False, scale
