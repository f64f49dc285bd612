"""Notes of units: captions, headers and lines that state the scale or unit of a table's numbers
("in Mio. EUR", "（万元）").
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from sliders.values.cldr import letter_by_letter
from sliders.values.han import value_of
from sliders.values.printed import is_value
from sliders.values.scripts import LETTERS, script_of
from sliders.values.spelled import choice
from sliders.values.vocabulary import (
    CURRENCY_CODES,
    CURRENCY_NAMES,
    CURRENCY_SYMBOLS,
    OWN_SCALES,
    SCALE_WORDS,
    SCALES,
)

_SCALES = (
    SCALE_WORDS
    | {word: scale for own in OWN_SCALES.values() for word, scale in own.items() if len(word) > 2}
    | {"cr": "crores", "l": "lakhs", "mille": "thousands", "mil": "thousands"}
)
_LONG = choice(word for word in _SCALES if len(word) > 2 or not word.isascii())
_END = rf"(?![{LETTERS}\u0600-\u06ff\u0900-\u097f])"
_START = rf"(?<![{LETTERS}\u0600-\u06ff\u0900-\u097f\d.,])"
_MONEY = r"(?:u\.?s\.?\s+)?(?:dollars|euros?|usd|eur|yen|pounds)\b"


@cache
def _leading() -> re.Pattern[str]:
    """Returns the pattern of a scale at the start of a note with a currency behind it: "(тыс.
    руб.)".
    """
    return re.compile(rf"(?P<word>{_LONG}){_END}\.?,?\s*(?:{choice(_CURRENCIES)}){_END}")


@cache
def _scale_note() -> re.Pattern[str]:
    """Returns the pattern of a scale after a word such as "in", or beside a currency."""
    return re.compile(
        rf"{_START}(?:in|en|em|w|v|ve|в|dollars?|euros?|amounts?|usd|eur|gbp|chf|rs\.?|inr|us\$|₹)\s*,?\s*(?:in\s+)?(?:of\s+)?(?:us)?"
        rf"[$€£]?\s?(?P<word>{_LONG}|mn|mm|bn){_END}"
        rf"|[$€£]\s*,?\s*(?:in\s+)?(?P<money>{_LONG}|mn|mm|bn|[mk]){_END}"
        rf"|{_START}(?P<lead>{_LONG}){_END}\.?\s+(?:(?:of|de|di)\s+)?{_MONEY}"
        rf"|{_START}(?P<tight>k|m|mio|mrd|tsd|md)\.?\s?(?:€|eur\b|usd\b|chf\b|\$)"
        r"|(?P<zeros>(?<![\d,.])[$€£]?\s?['’]?\b000(?:'?s|,000)?\b(?!\s?,?\d))"
        rf"|{_START}T(?:EUR|€|USD|CHF){_END}",
        re.IGNORECASE,
    )


_HAN_MONEY = (
    r"(?:人民币|人民幣|美|港|日|欧|歐)?[元円圆圓]|ドル|ユーロ|人民币|人民幣|원|달러|유로|人|"
    r"股|株|吨|명|주|톤"
)
_HAN_SCALE = "[十百千]?[万萬亿億兆]|[十百千]|[십백천]?[만억조]|[백천]"
_HAN_NOTE = re.compile(rf"(?<![\d.一二三四五六七八九十])(?P<han>{_HAN_SCALE})(?={_HAN_MONEY})")
_HAN_ALONE = re.compile(r"(?P<han>[千万萬亿億兆천만억]|[十百千][万萬])")
_CURRENCIES = tuple(word.lower() for word in (*CURRENCY_NAMES, *CURRENCY_SYMBOLS, *CURRENCY_CODES))
_UNIT_OF = re.compile(
    rf"^(?:金额|金額|数量|货币)?(?:单位|單位|単位|단위|币种)\s*[:：]?\s*|^{_END}(?=[（(])"
)
_HAN_WHOLE = re.compile(
    rf"(?:人民币|人民幣|美元|港元)?\s*[十百千万萬亿億兆십백천만억조]{{0,2}}(?:{_HAN_MONEY}|[%％])?(?:[、,，/／]\s*[%％人股株元円])*"
)
_ARABIC_SCALES, _HINDI_SCALES = (
    choice(word for word in SCALE_WORDS if script_of(word[0]) == script)
    for script in ("Arabic", "Devanagari")
)
_ARABIC = re.compile(rf"(?:بال|ب|ال)(?P<word>{_ARABIC_SCALES}){_END}")
_HINDI = re.compile(rf"(?P<word>{_HINDI_SCALES}){_END}(?=.{{0,20}}में)")
_EXCEPTED = re.compile(
    r"\b(?:except|excluding|other than|unless|per[ -]share|sauf|ausser|außer|ausgenommen|"
    r"salvo|excepto|eccetto|exceto|behalve|z wyjątkiem|kromě|кроме|за исключением)\b|除外|"
    r"除每股|を除く|제외",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def scale_in(note: str) -> str:
    """Returns the canonical scale that a table's note or header states ("(in thousands, except per
    share data)"); "" for none.
    """
    bare = note.lower().strip(" .:()[]（）")
    direct = ""
    if len(note) < 20:
        direct = SCALE_WORDS.get(bare) or next((scale for scale in SCALES if scale == bare), "")
    if direct:
        return direct
    if match := _HAN_NOTE.search(note) or _HAN_ALONE.fullmatch(bare):
        return _named(int(value_of(match["han"])[0]))
    if match := _leading().match(bare):
        return _SCALES[match["word"]]
    if match := _ARABIC.search(note) or _HINDI.search(note):
        return SCALE_WORDS[match["word"]]
    if not (match := _scale_note().search(note)):
        return ""
    if match["zeros"]:
        return "millions" if "000,000" in match["zeros"] else "thousands"
    word = match["word"] or match["money"] or match["lead"] or match["tight"]
    return _SCALES.get(word.lower()) or _TIGHT[word.lower()] if word else "thousands"


_TIGHT = {"md": "billions", "k": "thousands", "m": "millions"}


def _named(factor: int) -> str:
    """Returns the name of the scale with that factor; "" for none."""
    return next((name for name, size in SCALES.items() if size == factor), "")


def has_exceptions(note: str) -> bool:
    """Says whether a scale note excludes some numbers ("in millions, except per share data")."""
    return _EXCEPTED.search(note) is not None


_SCALE_WORD = r"\b(?:millions?|thousands?|billions?|per[ -]share|percent(?:ages?)?|000s?)\b"
_ENGLISH = re.compile(
    rf"""\W{{0,3}}(?:
        \( [^()]{{0,140}} {_SCALE_WORD} .{{0,80}}
      | (?:all\s)?(?:amounts|dollars|shares|figures|values|in|expressed|stated|us\s?\$|\$|€|£)
        .{{0,40}}{_SCALE_WORD}.{{0,60}}
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_BRACKETED = re.compile(r"[(（][^()（）]{1,140}[)）][\s:：.]*$")
_NOTE_WORDS = frozenset(
    letter_by_letter(word)
    for word in (
        "in en em w v ve в of de des di d der den von des do los las el la le all alle todos tous "
        "amounts figures values stated "
        "expressed beträge betrag angaben angabe werte zahlen sofern nicht anders angegeben "
        "montants chiffres exprimés données importes cifras valores datos expresados importi "
        "valori dati espressi valores expressos números bedragen cijfers kwoty dane "
        "wartości údaje částky суммы данные показатели единица измерения ед изм unit units unità "
        "unidad unidade unité einheit jednostka "
        "us ab hors и и/или und et y e i a вся все أرقام المبالغ القيم में राशि"
    ).split()
)
_WORD = re.compile(r"[^\s\d,.;:()（）\[\]/$€£₹¥%-]+")


def is_note(text: str) -> bool:
    """Says whether a line consists of a table's scale or unit alone: "(in millions, except per
    share data)", "单位：万元".
    """
    text = text.strip()
    if not 0 < len(text) <= 200:
        return False
    return _ENGLISH.fullmatch(text) is not None or (len(text) <= _SHORT and _other_note(text))


_SHORT = 90


def _other_note(text: str) -> bool:
    """Says whether every word of a line is a scale, a currency or a word that stands beside these,
    or whether it is a bracket after 单位.
    """
    inner = text.strip(" .:：").strip("()（）[]【】").strip()
    if _is_lone_letter(inner):
        return False
    unit = _UNIT_OF.sub("", inner)
    if (unit != inner or text[0] in "(（[【") and unit and _HAN_WHOLE.fullmatch(unit):
        return True
    words = _WORD.findall(inner)
    if not (text[0] in "(（[" or any(map(_is_lead, words[:1]))):
        return False
    return all(map(_is_noted, words)) and bool(scale_in(inner))


_LETTER = re.compile(r"(?:^|\s)[(\[]([A-Z])[)\]]$")


def head_note(head: str) -> str:
    """Returns the scale that one letter in brackets states at the end of a column's name, as a
    note: "in millions" for "Revenue (M)"; "" for none.

    In a line of text such a letter is part of a name or marks an item.
    """
    found = _LETTER.search(head.strip())
    scale = SCALE_WORDS.get(found[1].lower()) if found else None
    return f"in {scale}" if scale else ""


def _is_lone_letter(text: str) -> bool:
    """Says whether a text is one letter of ours, perhaps in brackets."""
    bare = text.strip(" .:()[]（）【】")
    return len(bare) == 1 and bare.isascii() and bare.isalpha()


def _is_lead(word: str) -> bool:
    """Says whether a line without brackets can be a note by its first word. The scale itself cannot
    come first, since the line may then be a value.
    """
    return letter_by_letter(word) in _NOTE_WORDS or word[:1] == "T"


_CURRENCY_WORDS = frozenset(
    letter_by_letter(word.strip(".")) for word in (*_CURRENCIES, "euro's", "zł", "kč")
)


@lru_cache(maxsize=4096)
def _is_noted(word: str) -> bool:
    """Says whether a word can stand in a note of units."""
    plain = letter_by_letter(word)
    prefixes = ("", "d'", "d’", "بال", "ب", "ال")
    forms = {plain.removeprefix(prefix) for prefix in prefixes} | {
        plain.removeprefix("ب").removeprefix("ال")
    }
    return bool(forms & _noted()) or any(form.startswith(_ARABIC_MONEY) for form in forms)


_ARABIC_MONEY = ("دولار", "ريال", "درهم", "دراهم", "دينار", "دنانير", "جنيه", "يورو")


@cache
def _noted() -> frozenset[str]:
    """Returns every word that a note of units may contain: scales, currencies and the words beside
    them, in lower case and without accents.
    """
    scales = {letter_by_letter(word) for word in _SCALES}
    return _NOTE_WORDS | _CURRENCY_WORDS | scales | set("teur tusd tchf t k m md rmb".split())


_WIDE = re.compile(r"\S(?:\s{2,}|\t)\S")
_INSIDE = re.compile(r"[(（\[【]([^()（）\[\]【】]{1,140})[)）\]】]")
_IN = re.compile(
    rf"{_START}(?=(?:in|en|em|w|v|ve|в)\s|(?:单位|單位|単位|단위)\s?[:：])", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def title_note(line: str) -> str | None:
    """Returns the scale or unit that a title states for the lines below it: "Costs (in thousands)",
    "Kosten in Tsd. EUR".

    None for a line that says nothing about units: a line with several cells, with numbers, or
    without a note. "" when its bracket names another thing, so that the title ends an earlier note.
    """
    cells = [cell.strip() for cell in line.split("|") if cell.strip()]
    text = cells[0] if len(cells) == 1 else ""
    bare = text.strip("#*_ \t")
    if not 0 < len(bare) <= 200 or _WIDE.search(bare) or is_value(bare):
        return None
    if is_note(bare):
        return bare
    ends = (
        *_INSIDE.findall(bare),
        *(bare[match.start() :] for match in _IN.finditer(bare)),
        bare.rpartition(", ")[2],
    )
    told = next(
        (end for end in (end.strip(" .:") for end in ends) if _other_note(f"({end})")), None
    )
    if told is not None or any(map(str.isdigit, bare)):
        return told
    return "" if _INSIDE.search(bare) else None


def unit_note(text: str) -> str:
    """Returns the scale or unit in brackets at the end of a text: "The parts are as follows (in
    millions):"; "" when there is none.
    """
    found = _BRACKETED.search(text[-240:])
    return found[0].rstrip(" :：.") if found and is_note(found[0].rstrip(" :：.")) else ""
