"""What is printed with a number that is not exact: "<0.5", "at least 40", "about 300", "between 300 and 400".

Signs of any script, and words of en, de, fr, es, it, pt, nl, pl, cs, ru, zh, ja, ko, ar and hi. Words that are not listed say
nothing: the number is taken as it stands, and its reader may say more.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sliders.values.numbers import Number, numbers_in
from sliders.values.spelled import choice

ABOUT = "about"
BETWEEN = "between "
_SIGNS = {"<=": "<=", "=<": "<=", ">=": ">=", "=>": ">=", "≤": "<=", "≦": "<=", "≥": ">=", "≧": ">=", "<": "<", ">": ">",
          "＜": "<", "＞": ">", "~": ABOUT, "≈": ABOUT, "∼": ABOUT, "～": ABOUT}  # fmt: skip
_BEFORE = {
    "<": """under; below; less than; fewer than; lower than; smaller than; unter; weniger als; kleiner als; moins de; inférieur à;
        inférieure à; en dessous de; menos de; por debajo de; inferior a; meno di; sotto; inferiore a; abaixo de; minder dan;
        lager dan; poniżej; mniej niż; méně než; менее; меньше; ниже; 低于; 少于; 小于; 不到; 不足; أقل من""",
    ">": """over; above; more than; greater than; higher than; exceeding; in excess of; über; mehr als; größer als; plus de;
        supérieur à; supérieure à; au-dessus de; más de; superior a; por encima de; più di; oltre; superiore a; mais de;
        acima de; meer dan; boven; ponad; powyżej; więcej niż; více než; přes; более; больше; свыше; выше; 超过; 高于; 大于;
        多于; أكثر من""",
    "<=": """up to; at most; no more than; not more than; not exceeding; a maximum of; maximum of; bis zu; höchstens; maximal;
        jusqu'à; au plus; au maximum; hasta; como máximo; fino a; al massimo; até; no máximo; hoogstens; maximaal; najwyżej;
        maksymalnie; nejvýše; maximálně; до; не более; максимум; 至多; 最多; 不超过; 最大; 최대; على الأكثر; अधिकतम""",
    ">=": """at least; no less than; not less than; no fewer than; a minimum of; minimum of; mindestens; wenigstens; au moins;
        au minimum; al menos; como mínimo; por lo menos; almeno; pelo menos; no mínimo; minstens; ten minste; minimaal;
        co najmniej; przynajmniej; alespoň; nejméně; не менее; как минимум; минимум; 至少; 不少于; 不低于; 少なくとも; 최소;
        적어도; على الأقل; कम से कम""",
    ABOUT: """about; around; approximately; approx.; approx; roughly; nearly; almost; circa; ca.; ca; c.; etwa; rund; ungefähr;
        zirka; environ; près de; alrededor de; cerca de; aproximadamente; intorno a; all'incirca; por volta de; ongeveer;
        około; ok.; asi; přibližně; zhruba; kolem; около; примерно; приблизительно; порядка; 约; 大约; 大概; 約; およそ; 약;
        대략; حوالي; نحو; تقريبا; लगभग; करीब; क़रीब""",
}  # fmt: skip
_AFTER = {
    "<": "未満; 미만; से कम",
    ">": "超; 초과; से अधिक; से ज़्यादा",
    "<=": "or less; or fewer; oder weniger; ou moins; o menos; o meno; ou menos; of minder; 以下; 以内; 이하",
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


def named_bound(said: object) -> str:
    """The bound that a reader names in a word or sign of its own ("≤", "At least", "between 300 and 400"), "" for none."""
    words = " ".join(said.split()).casefold() if isinstance(said, str) else ""
    return _SIGNS.get(words) or _MEANS_BEFORE.get(words) or words[:60]


@lru_cache(maxsize=4096)
def bound_at(line: str, start: int, end: int) -> str:
    """What a line prints with the number at a place: "<", "<=", ">", ">=", "about" or "between 300 and 400"; "" for nothing."""
    numbers = numbers_in(line)
    at = [place for place, number in enumerate(numbers) if number.start < end and number.end > start]
    if not at or len(at) > 2 or not numbers[at[0]].plain:
        return ""
    for low, high in ((at[0] - 1, at[0]), (at[0], at[0] + 1)):
        if low >= 0 and high < len(numbers) and _is_range(line, numbers[low], numbers[high]):
            return f"{BETWEEN}{numbers[low].text} and {numbers[high].text}"
    return _beside(line, numbers[at[0]]) if len(at) == 1 else ""


def _is_range(line: str, low: Number, high: Number) -> bool:
    if low.value >= high.value or not _JOINT.fullmatch(_plain(line[low.end : high.start].removeprefix(f" {low.unit}"))):
        return False
    return _ends(_BETWEEN_BEFORE, line[: low.start]) or _INSIDE_AFTER.match(_plain(line[high.end :])) is not None


def _beside(line: str, number: Number) -> str:
    before, behind = line[: number.start], line[number.end : number.end + _UNIT]
    if (sign := _SIGN_BEFORE.search(before)) and not (sign[1] == ">" and sign.start() == 0 and before[-1].isspace()):
        return _SIGNS[sign[1]]
    if _ends(_WORD_BEFORE, before):
        found = _WORD_BEFORE.search(_plain(before))
        return _MEANS_BEFORE[found[1]] if found else ""
    if behind.startswith("+") and not behind[1:2].isdigit():
        return ">="
    unit = number.unit and re.match(rf"[\s-]?{re.escape(number.unit)}", behind)
    rest = _plain(behind[unit.end() if unit else 0 :])
    found = _WORD_AFTER.match(rest)
    return _MEANS_AFTER[found[1]] if found and _whole(found[1][-1], rest[found.end() : found.end() + 1]) else ""


def _ends(pattern: re.Pattern[str], before: str) -> bool:
    """Whether a text ends with a listed word, not with the end of another one; scripts without blanks have no such ends."""
    found = pattern.search(_plain(before))
    return found is not None and _whole(before[found.start() - 1 : found.start()] if found.start() else "", found[1][0])


def _whole(left: str, right: str) -> bool:
    return not (left.isalpha() and right.isalpha() and left < "\u2e80" and right < "\u2e80")


def _plain(text: str) -> str:
    """The text in lower case, as long as before."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text
