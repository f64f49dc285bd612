"""English number words: "two hundred and thirty", "half a million", "twenty-first"."""

from __future__ import annotations

from decimal import Decimal

from sliders.extraction.lexicon import GROUPS, ORDINALS, POWERS, SCALE_WORDS, TENS, UNITS

Spelled = tuple[int, Decimal, bool, str]
"""How many words a number takes, its value, whether it is an ordinal, the canonical name of its scale."""


def spelled_number(words: list[str]) -> Spelled:
    """The longest number that the first of the lower-case `words` spell; it takes 0 words if they spell none."""
    total, group, used, scale = Decimal(0), Decimal(0), 0, ""
    ceiling = Decimal(10**15)  # the next power of a thousand must be smaller
    room = 100  # the next small number must be smaller: 10 behind "twenty", nothing behind "seven"
    index = 0
    while index < len(words):
        word = words[index]
        if word == "half" and not used:
            return _half(words, index, Decimal(0))
        if word in {"and", "a", "an"}:
            if word != "and" and not used:
                group, room, index = Decimal(1), 0, index + 1
                continue
            if used and word == "and" and words[index + 1 : index + 3] == ["a", "half"]:
                return _half(words, index + 2, total + group)
            if not (used and word == "and" and room == 100 and index + 1 < len(words) and _small(words[index + 1])):
                break
            index += 1
            continue
        small = _small(word)
        power = POWERS.get(word) or GROUPS.get(word, 0)
        if small is not None and small < room:
            group, room = group + small, 10 if word in TENS else 0
        elif 0 < power <= 100 and group < 100 and (group or (power == 100 and not used)):
            group, room = (group or Decimal(1)) * power, 100 if power == 100 else 0
        elif power > 100 and power < ceiling and (group or not used):
            total, group, room, ceiling = total + (group or Decimal(1)) * power, Decimal(0), 100, Decimal(power)
            scale = SCALE_WORDS[word]
        elif word in ORDINALS and (ORDINALS[word] < room or (ORDINALS[word] >= 100 and used)):
            value = total + (group + ORDINALS[word] if ORDINALS[word] < 100 else (group or Decimal(1)) * ORDINALS[word])
            return index + 1, value, True, scale
        else:
            break
        index += 1
        used = index
    return used, total + group, False, scale


def _small(word: str) -> int | None:
    return UNITS.get(word, TENS.get(word))


def _half(words: list[str], index: int, before: Decimal) -> Spelled:
    value, used, scale = before + Decimal("0.5"), index + 1, ""
    rest = words[used:]
    skip = 1 if rest[:1] and rest[0] in {"a", "an"} else 0
    if rest[skip : skip + 1] and (rest[skip] in POWERS or rest[skip] == "dozen"):
        value *= POWERS.get(rest[skip]) or GROUPS[rest[skip]]
        used, scale = used + skip + 1, SCALE_WORDS.get(rest[skip], "")
    return used, value, False, scale
