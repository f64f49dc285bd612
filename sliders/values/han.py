"""Numbers of Chinese, Japanese and Korean: "28.9亿", "三千二百", "2亿3,500万", "3억
5천만", "百分之十二".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from sliders.values.scripts import HAN, HANGUL, KANA, WORD, plain_digits

_DIGITS = {
    char: value
    for value, chars in enumerate(
        (
            "〇零○",
            "一壹壱",
            "二贰貳弐两兩",
            "三叁參参",
            "四肆",
            "五伍",
            "六陆陸",
            "七柒",
            "八捌",
            "九玖",
        )
    )
    for char in chars
}
_SMALL = {
    "十": 10,
    "拾": 10,
    "百": 100,
    "佰": 100,
    "千": 1000,
    "仟": 1000,
    "십": 10,
    "백": 100,
    "천": 1000,
}
_LARGE = {
    "万": 10**4,
    "萬": 10**4,
    "만": 10**4,
    "亿": 10**8,
    "億": 10**8,
    "억": 10**8,
    "兆": 10**12,
    "조": 10**12,
}
_KOREAN_DIGITS = dict(zip("일이삼사오육칠팔구", range(1, 10), strict=True))
_SCALES = {
    10**3: "thousands",
    10**4: "ten thousands",
    10**6: "millions",
    10**8: "hundred millions",
    10**12: "trillions",
}
_COUNTERS = (
    "人名个個件周週次位家年月日号號天歳岁元円圆块台本冊匹頭头社店倍点點项項張张回部份页頁所座栋棟艘"
    "辆隻只架条條種种歩步分"
)
"""Words that a single numeral counts when it stands before them; before any other word the numeral
is a part of the word.
"""

INEXACT = re.compile("[半多余餘几幾来來数數強弱]|반|몇")
"""Words beside a numeral that make it inexact: more, less or about."""

_ARABIC = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_UNITS = "".join({**_SMALL, **_LARGE})
_NUMERALS = "".join(_DIGITS)
_MIXED = re.compile(
    rf"(?<![{WORD}.,])(?:{_ARABIC})\s?[{_UNITS}](?:\s?[{_UNITS}])*"
    rf"(?:\s?(?:(?:{_ARABIC})\s?[{_UNITS}]+|[{_NUMERALS}]+[{_UNITS}]+|(?<=[{_UNITS}])\d{{1,4}}(?![\d.,{_UNITS}]|\s?[年月日])))*"
)
_PURE = re.compile(
    rf"[{_NUMERALS}{''.join(c for c in _UNITS if c < 'ᄀ' or c < '가')}]+(?:点[{_NUMERALS}]+)?"
)
_PURE_KOREAN = re.compile(
    rf"(?<![{HANGUL}])[{''.join(_KOREAN_DIGITS)}십백천만억]+(?=\s?(?:[명원개건대인년회세]|$|[^{HANGUL}]))"
)
_PART = re.compile(rf"{_ARABIC}|.")
_NUMBERED = r"\s?[\d〇一二三四五六七八九十百]+\s?"
_DIVISION = re.compile(
    rf"第{_NUMBERED}(?:(?P<part>[章編编部篇])|[节節])|제\s?\d+\s?(?:(?P<korean>[장부편])|절)"
)
_LISTED = re.compile(r"[一二三四五六七八九十]{1,3}、|[（(][一二三四五六七八九十]{1,3}[)）]")
_LONGEST_PART = 40
_PERCENT = re.compile(rf"百分之\s?({_ARABIC}|[{_NUMERALS}十百点]+)")


@dataclass(frozen=True, slots=True)
class HanNumber:
    """A number at characters `start` to `end` (exclusive); `scale` is the canonical name of
    its last unit's scale.

    `word` says that no digit is printed, `ordinal` that 第 or 제 stands before it,
    `percent` that 百分之 does.
    """

    start: int
    end: int
    value: Decimal
    scale: str = ""
    word: bool = False
    ordinal: bool = False
    percent: bool = False


def han_numbers(text: str) -> Iterator[HanNumber]:
    """Every number of the text with a numeral or a unit of these languages, in
    order of their kinds.
    """
    if text.isascii() or not re.search(rf"[{HAN}{KANA}{HANGUL}]", text):
        return
    plain = plain_digits(text)
    taken: list[range] = []
    for match in _PERCENT.finditer(plain):
        taken.append(range(*match.span()))
        yield HanNumber(*match.span(), value_of(match[1])[0], percent=True)
    for pattern in (_MIXED, _PURE, _PURE_KOREAN):
        for match in pattern.finditer(plain):
            start, end = match.span()
            if any(start in other for other in taken) or (
                pattern is not _MIXED and not _stands(plain, match)
            ):
                continue
            taken.append(range(start, end))
            value, scale = value_of(match[0])
            yield HanNumber(
                start,
                end,
                value,
                scale,
                pattern is not _MIXED,
                plain[max(0, start - 1) : start] in ("第", "제"),
            )


def _stands(text: str, match: re.Match[str]) -> bool:
    """True when numerals without a digit are a number: 三千二百 and 二〇二四, not 一 in 统一."""
    run = match[0]
    if run[0] in _LARGE or (len(run) > 1 and not set(run) - set(_UNITS) - set("十拾십")):
        return False
    if len(run) > 1 and run[0] not in "百千백천":
        return bool(set(run) & set(_UNITS)) or len(run) > 2
    after, before = (
        text[match.end() : match.end() + 1],
        text[max(0, match.start() - 1) : match.start()],
    )
    alone = not re.match(rf"[{HAN}{KANA}{HANGUL}]", before)
    return run in _DIGITS and (
        (alone and (not after or not after.isalnum())) or (after in _COUNTERS and after != "")
    )


def value_of(run: str) -> tuple[Decimal, str]:
    """The value of digits, numerals and units in a row, and the scale of the units
    behind the last digit.
    """
    total, section, number, point = Decimal(0), Decimal(0), None, ""
    factor = 1
    for part in _PART.findall(run.replace(" ", "")):
        digit = _DIGITS.get(part, _KOREAN_DIGITS.get(part))
        if part == "点":
            point = "."
        elif digit is not None:
            number = (
                Decimal(f"{number if number is not None else ''}{point}{digit}")
                if number is not None
                else Decimal(digit)
            )
            point, factor = "", 1
        elif part in _SMALL:
            section += (1 if number is None else number) * _SMALL[part]
            number, factor = None, factor * _SMALL[part]
        elif part in _LARGE:
            section += number or 0
            total = (
                total + section * _LARGE[part]
                if section
                else total * _LARGE[part] or Decimal(_LARGE[part])
            )
            section, number, factor = Decimal(0), None, factor * _LARGE[part]
        else:
            number, factor = Decimal(part.replace(",", "")), 1
    scale = next(
        (name for size, name in sorted(_SCALES.items(), reverse=True) if factor >= size), ""
    )
    return total + section + (number or 0), scale


_SHORT = re.compile(rf".*[{_NUMERALS}十百千]([百佰千仟万萬亿億])([{_NUMERALS[3:]}])")


def short_form(run: str) -> Decimal | None:
    """Returns the value of Chinese numerals whose last numeral counts the next lower unit: "两千五"
    is 2500. None for any other run.
    """
    if (match := _SHORT.fullmatch(run)) is None:
        return None
    digit, unit = _DIGITS[match[2]], {**_SMALL, **_LARGE}[match[1]]
    return value_of(run)[0] + digit * (Decimal(unit) / 10 - 1)


def han_part(line: str) -> int:
    """The depth of a line that begins a numbered part as Chinese or Korean texts do ("第一章 总则",
    "一、概况"), else 0.
    """
    if len(line) > _LONGEST_PART or re.search(r"[。！？；]", line):
        return 0
    if match := _DIVISION.match(line):
        return 1 if match["part"] or match["korean"] else 2
    return 3 if _LISTED.match(line) else 0
