"""Names of months, currencies and countries, and number marks, in every language: from CLDR, by way
of Babel, loaded on first use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from sliders.values.folding import fold, unaccented
from sliders.values.vocabulary import MONTH_CASES

LANGUAGES = (
    "en",
    "de",
    "fr",
    "es",
    "it",
    "pt",
    "nl",
    "pl",
    "cs",
    "ru",
    "zh",
    "ja",
    "ko",
    "ar",
    "hi",
)
"""The languages whose numbers, dates and notes code reads."""
_LOCALES = (*LANGUAGES, "pt_PT", "de_AT", "ar_LB", "ar_MA")
_WIDELY_READ = ("en", "de", "fr", "es")
_WORDS_TOO = frozenset(
    "out set led pro dub lip lis sty sie mag gen lut maj cze uno rij paz zar".split()
)
"""Short names of months that are words in other languages; they count as months in their own
language only.
"""
_SHORTENED = {"maerz": 3, "mrz": 3, "feber": 2, "mzo": 3, "juny": 6, "sept": 9, "okt": 10}
_CURRENCIES = (
    "USD EUR GBP JPY CNY INR CHF CAD AUD NZD SEK NOK DKK PLN CZK HUF RUB TRY BRL MXN ZAR SGD HKD "
    "KRW MYR IDR THB PHP VND ILS AED SAR QAR KWD BHD OMR JOD EGP MAD TND NGN KES ARS CLP COP PEN "
    "TWD UAH RON BGN ISK PKR LKR KZT"
).split()


def letter_by_letter(text: str) -> str:
    """Lower case without accents, of the same length."""
    return text.lower() if text.isascii() else "".join(map(_letter, text))


@cache
def _letter(char: str) -> str:
    folded = unaccented(char)
    return folded if len(folded) == 1 else char


def _locale(name: str) -> Any:
    from babel import Locale

    return Locale.parse(name)


def _month_names(name: str, widths: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    for names in _locale(name).months.values():
        for width in widths:
            for number, printed in names[width].items():
                word = letter_by_letter(printed).strip(" .")
                if len(word) > 1 and not word[:1].isdigit() and not word.endswith(("॰", "月")):
                    yield word, int(number)


@cache
def countries() -> Mapping[str, str]:
    """The codes of countries by their folded names, in all languages that code reads; a name that
    two countries share is left out.
    """
    found: dict[str, str] = {}
    for name in LANGUAGES:
        for code, printed in _locale(name).territories.items():
            if code.isalpha() and found.setdefault(fold(printed), code) != code:
                found[fold(printed)] = ""
    return found


@cache
def months(language: str = "") -> Mapping[str, int]:
    """The numbers of months by their folded names and abbreviations, in all languages that code
    reads. `language` is the language of the text, for short names.
    """
    found = dict(_SHORTENED)
    for line in MONTH_CASES:
        found.update(
            (letter_by_letter(word), number) for number, word in enumerate(line.split(), start=1)
        )
    for name in (language, *_LOCALES) if language in LANGUAGES else _LOCALES:
        for word, number in _month_names(name, ("wide", "abbreviated")):
            if name in (language, *_WIDELY_READ) or word not in _WORDS_TOO:
                found.setdefault(word, number)
    return found


@cache
def weekdays() -> frozenset[str]:
    """Names and abbreviations of the days of the week in all the languages
    that code reads, folded.
    """
    widths = (names for name in LANGUAGES for names in _locale(name).days.values())
    printed = (
        day
        for names in widths
        for width in ("wide", "abbreviated")
        for day in names[width].values()
    )
    return frozenset(letter_by_letter(day).strip(" .") for day in printed)


@cache
def month_pattern(language: str = "") -> str:
    """Alternatives of a regular expression for the names of months, grouped by their first letters
    for speed.
    """
    names = sorted(months(language), key=len, reverse=True)
    first = dict.fromkeys(name[0] for name in names)
    parts = (
        f"{char}(?:{'|'.join(re.escape(name[1:]) for name in names if name[0] == char)})"
        for char in first
    )
    return f"(?=[{''.join(first)}])(?:{'|'.join(parts)})"


@cache
def decimal_mark(language: str) -> str:
    """The decimal mark of a language; "" when its countries differ, or the language is not
    known.
    """
    if language not in LANGUAGES or language in ("es", "ar"):
        return ""
    return str(_locale(language).number_symbols["latn"]["decimal"])


@cache
def currency_names() -> Mapping[str, str]:
    """The ISO code of each currency by its folded full names in every language ("долларов сша",
    "dolares estadounidenses").
    """
    from babel.numbers import get_currency_name

    found: dict[str, str] = {}
    for language in LANGUAGES:
        for code in _CURRENCIES:
            for count in (None, 1, 2, 5, 100):
                found.setdefault(fold(get_currency_name(code, count, language)), code)
    return found


@cache
def minor_places(currency: str) -> int:
    """The number of decimals of amounts in a currency (2 for "EUR", 0 for "JPY"); 0 for an unknown
    code.
    """
    from babel.numbers import get_currency_precision, is_currency

    return get_currency_precision(currency) if is_currency(currency) else 0


@cache
def _everywhere() -> tuple[Mapping[str, frozenset[int]], frozenset[str]]:
    """Month names and scale words of all the languages of CLDR, folded."""
    from babel.localedata import locale_identifiers

    named: dict[str, set[int]] = {}
    scales: set[str] = set()
    for name in (n for n in locale_identifiers() if "_" not in n):
        for word, number in _month_names(name, ("wide", "abbreviated")):
            named.setdefault(word, set()).add(number)
        for formats in _locale(name).compact_decimal_formats.values():
            for patterns in (formats or {}).values():
                scales.update(_words(patterns.values()))
    return {word: frozenset(numbers) for word, numbers in named.items()}, frozenset(scales)


def _words(patterns: Any) -> Iterator[str]:
    for pattern in patterns:
        word = re.sub(r"[0'¤.,\s\u200e\u200f]+", " ", pattern.pattern).strip()
        if len(word) > 1:
            yield from (letter_by_letter(part) for part in (word, *word.split()) if len(part) > 1)


def month_anywhere(word: str) -> frozenset[int]:
    """The months that a word, or another form of it, names in any language of CLDR."""
    plain = letter_by_letter(word)
    return _everywhere()[0].get(plain, frozenset()) or _stems().get(plain[:_STEM], frozenset())


_STEM = 5


@cache
def _stems() -> Mapping[str, frozenset[int]]:
    """The months by the beginning of their names, for names that are longer than that."""
    found: dict[str, frozenset[int]] = {}
    for name, numbers in _everywhere()[0].items():
        if len(name) > _STEM:
            found[name[:_STEM]] = found.get(name[:_STEM], frozenset()) | numbers
    return found


def scale_anywhere(word: str) -> bool:
    """True when a word is a scale ("milyar", "juta") in a language of CLDR."""
    return letter_by_letter(word) in _everywhere()[1]


_NAMED = (
    "languages territories scripts currency_names months days date_fields time_zones "
    "unit_display_names"
).split()


def printed_words(language: str) -> Iterator[str]:
    """The words, in lower case, of all names that CLDR has in a language: of languages, countries,
    currencies, months, units and cities.
    """
    known = _locale(language)._data
    for kind in _NAMED:
        for text in _texts(known.get(kind, {})):
            for word in _LETTERS.findall(text.lower().replace("i\u0307", "i")):
                yield word.translate(_COMMA_BELOW)


_LETTERS = re.compile(r"[^\W\d_]+")
_COMMA_BELOW = str.maketrans("\u0219\u021b", "\u015f\u0163")
"""The letters of Romanian as the old code pages have them."""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
