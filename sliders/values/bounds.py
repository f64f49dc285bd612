"""Words and signs printed with a number that is not exact: "<0.5", "at least 40", "about 300",
"between 300 and 400".

Signs of any script, and words of en, de, fr, es, it, pt, nl, pl, cs, ru, zh, ja, ko, ar and hi.
Words that are not listed are ignored: the number counts as exact, unless the model names a bound.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sliders.values.numbers import Number, numbers_in
from sliders.values.scripts import script_of
from sliders.values.spelled import choice

ABOUT = "about"
BETWEEN = "between "
_SIGNS = {
    "<=": "<=",
    "=<": "<=",
    ">=": ">=",
    "=>": ">=",
    "≤": "<=",
    "≦": "<=",
    "≥": ">=",
    "≧": ">=",
    "<": "<",
    ">": ">",
    "＜": "<",
    "＞": ">",
    "~": ABOUT,
    "≈": ABOUT,
    "∼": ABOUT,
    "～": ABOUT,
}
_BEFORE = {
    "<": """below; less than; fewer than; lower than; smaller than; weniger als; kleiner als;
        moins de; inférieur à; inférieure à; en dessous de; menos de; por debajo de; inferior a;
        meno di; inferiore a; abaixo de; minder dan; lager dan; poniżej; mniej niż; méně než;
        менее; меньше; ниже; 低于; 少于; 小于; 不到; أقل من""",
    ">": """above; more than; greater than; higher than; exceeding; in excess of; mehr als;
        größer als; plus de; supérieur à; supérieure à; au-dessus de; más de; superior a;
        por encima de; più di; superiore a; mais de; acima de; meer dan; ponad; powyżej;
        więcej niż; více než; более; больше; свыше; выше; 超过; 高于; 大于; 多于; أكثر من""",
    "<=": """up to; at most; no more than; not more than; not exceeding; bis zu; höchstens; maximal;
        au plus; au maximum; como máximo; al massimo; no máximo; hoogstens; maximaal; najwyżej;
        maksymalnie; nejvýše; maximálně; не более; максимум; 至多; 最多; 不超过; على الأكثر""",
    ">=": """at least; no less than; not less than; no fewer than; mindestens; wenigstens; au moins;
        au minimum; al menos; como mínimo; por lo menos; almeno; pelo menos; no mínimo;
        minstens; ten minste; minimaal; co najmniej; przynajmniej; alespoň; nejméně; не менее;
        как минимум; минимум; 至少; 不少于; 不低于; 少なくとも; 적어도; على الأقل; कम से कम""",
    ABOUT: """about; approximately; approx.; approx; roughly; nearly; almost; circa; ca.; etwa;
        rund; ungefähr; zirka; environ; aproximadamente; all'incirca; por volta de; ongeveer;
        około; asi; přibližně; zhruba; около; примерно; приблизительно; порядка; 约; 大约; 大概;
        約; およそ; 약; 대략; حوالي; تقريبا; लगभग; करीब; क़रीब""",
    "": """the above; the below; en plus de; 找不到; 看不到; 得不到; 想不到; 见不到; 收不到; 做不到;
        节约; 预约; 合约; 签约; 违约; 续约; 解约; 履约; 条约; 公约; 契约; 制约; 租约; 纽约;
        契約; 予約; 節約; 公約; 条約; 解約; 制約; 規約; 成約""",
}
"""Words before a number that mean a bound. Words with a second meaning ("über 4000 EUR": about, or
more than) are left to the model; an empty meaning marks a phrase that only contains a listed word.
"""
_AFTER = {
    "<": "未満; 미만; से कम",
    ">": "초과; से अधिक; से ज़्यादा",
    "<=": (
        "or less; or fewer; oder weniger; ou moins; o menos; o meno; ou menos; of minder; "
        "以下; 以内; 이하"
    ),
    ">=": "or more; oder mehr; ou plus; o más; o più; ou mais; of meer; 以上; 이상",
    ABOUT: "or so; 左右; ほど; 程度; 정도",
}
_BETWEEN = "between; zwischen; entre; tra; fra; tussen; między; mezi; между; 介于; بين"
_INSIDE = "之间; の間; 사이; के बीच"
_JOINTS = "and; und; et; y; e; en; i; a; и; 和; 与; 至; から; 에서; و; और; से"


def _listed(words: str) -> list[str]:
    return [" ".join(word.split()).casefold() for word in words.split(";")]


_MEANS_BEFORE = {word: bound for bound, words in _BEFORE.items() for word in _listed(words)}
_MEANS_AFTER = {word: bound for bound, words in _AFTER.items() for word in _listed(words)}
_SIGN_BEFORE = re.compile(rf"(?<![-=<>\d])({choice(_SIGNS)})\s?$")
_WORD_BEFORE = re.compile(rf"({choice(_MEANS_BEFORE)})\s?(?:an?\s)?$")
_WORD_AFTER = re.compile(rf"[\u3040-\u9fff\uac00-\ud7af]{{0,2}}?\s?({choice(_MEANS_AFTER)})")
_BETWEEN_BEFORE = re.compile(rf"({choice(_listed(_BETWEEN))})\s?$")
_INSIDE_AFTER = re.compile(rf"\s?({choice(_listed(_INSIDE))})")
_JOINT = re.compile(rf"\s?({choice(_listed(_JOINTS))})\s?")
_UNIT = 24
"""Characters that may stand between a number and a word behind it: its unit ("30 days or more")."""


_NAMED = {"under": "<", "over": ">", "maximum": "<=", "minimum": ">=", "around": ABOUT}
"""Words that mean a bound when the model names one, but not wherever they stand before a number."""


def named_bound(said: object) -> str:
    """The bound that a reader names in a word or sign of its own ("≤", "At least", "between 300
    and 400"), "" for none.
    """
    words = " ".join(said.split()).casefold() if isinstance(said, str) else ""
    return _SIGNS.get(words) or _MEANS_BEFORE.get(words) or _NAMED.get(words) or words[:60]


@lru_cache(maxsize=4096)
def bound_at(line: str, start: int, end: int) -> str:
    """Returns the bound that a line prints with the number at a place: "<", "<=", ">", ">=",
    "about" or "between 300 and 400"; "" for none.
    """
    numbers = numbers_in(line)
    at = [
        place for place, number in enumerate(numbers) if number.start < end and number.end > start
    ]
    if not at or len(at) > 2 or not numbers[at[0]].plain:
        return ""
    for low, high in ((at[0] - 1, at[0]), (at[0], at[0] + 1)):
        if low >= 0 and high < len(numbers) and _is_range(line, numbers[low], numbers[high]):
            return f"{BETWEEN}{numbers[low].text} and {numbers[high].text}"
    return _beside(line, numbers[at[0]]) if len(at) == 1 else ""


def _is_range(line: str, low: Number, high: Number) -> bool:
    if low.value >= high.value or not _JOINT.fullmatch(
        _plain(line[low.end : high.start].removeprefix(f" {low.unit}"))
    ):
        return False
    return (
        bool(_ending(_BETWEEN_BEFORE, line[: low.start]))
        or _INSIDE_AFTER.match(_plain(line[high.end :])) is not None
    )


def _beside(line: str, number: Number) -> str:
    before, behind = line[: number.start], line[number.end : number.end + _UNIT]
    if (sign := _SIGN_BEFORE.search(before)) and not (
        sign[1] == ">" and sign.start() == 0 and before[-1].isspace()
    ):
        return _SIGNS[sign[1]]
    if word := _ending(_WORD_BEFORE, before):
        return _turned(_MEANS_BEFORE[word], before[: _plain(before).rindex(word)])
    if behind.startswith("+") and not behind[1:2].isdigit():
        return ">="
    unit = number.unit and re.match(rf"[\s-]?{re.escape(number.unit)}", behind)
    rest = _plain(behind[unit.end() if unit else 0 :])
    found = _WORD_AFTER.match(rest)
    if found and _whole(found[1][-1], rest[found.end() : found.end() + 1]):
        return _MEANS_AFTER[found[1]]
    return ""


def _ending(pattern: re.Pattern[str], before: str) -> str:
    """The listed word with which a text ends; "" when it is only the end of a longer word. Scripts
    without blanks have no longer words.
    """
    found = pattern.search(_plain(before))
    if found is None:
        return ""
    left = before[found.start() - 1 : found.start()] if found.start() else ""
    inside = {script_of(left) if left else "", script_of(found[1][0])} == {"Hangul"}  # 약 of 계약
    return found[1] if _whole(left, found[1][0]) and not inside else ""


_NOT = re.compile(
    r"(?:\b(?:not?|nicht|pas|non|não|niet|nie|ne|не)\s|[不未没]|没有|\bلا\s|\bليس\s)$"
)
_OPPOSITE = {"<": ">=", ">": "<="}


def _turned(bound: str, before: str) -> str:
    """A bound, or its opposite behind a word that denies it ("nicht mehr als 40")."""
    return _OPPOSITE.get(bound, "") if _NOT.search(_plain(before)) else bound


def _whole(left: str, right: str) -> bool:
    return not (left.isalpha() and right.isalpha() and left < "\u2e80" and right < "\u2e80")


def _plain(text: str) -> str:
    """The text in lower case, as long as before."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text
