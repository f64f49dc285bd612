"""Word lists that the value parsers share: number words, scales, currencies, months, units. Data, and no rules."""

from __future__ import annotations

import unicodedata
from functools import lru_cache


def _words(text: str) -> list[str]:
    return text.split()


UNITS: dict[str, int] = {
    word: value
    for value, word in enumerate(
        _words(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen"
        )
    )
}
TENS: dict[str, int] = {
    word: 10 * (index + 2) for index, word in enumerate(_words("twenty thirty forty fifty sixty seventy eighty ninety"))
} | {"fourty": 40}
POWERS: dict[str, int] = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
GROUPS: dict[str, int] = {"dozen": 12, "pair": 2}

_UNIT_ORDINALS = _words(
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
)
ORDINALS: dict[str, int] = (
    {word: value for value, word in enumerate(_UNIT_ORDINALS)}
    | {word[:-1] + "ieth": value for word, value in TENS.items()}
    | {"hundredth": 100, "thousandth": 1000, "millionth": 10**6}
)

SCALES: dict[str, int] = {
    "hundreds": 10**2, "thousands": 10**3, "millions": 10**6, "billions": 10**9, "trillions": 10**12,
}  # fmt: skip
"""The canonical names of scales and what they multiply by."""

SCALE_WORDS: dict[str, str] = {
    "hundred": "hundreds",
    "hundreds": "hundreds",
    "thousand": "thousands",
    "thousands": "thousands",
    "tausend": "thousands",
    "tsd": "thousands",
    "mille": "thousands",
    "milliers": "thousands",
    "mil": "thousands",
    "miles": "thousands",
    "k": "thousands",
    "million": "millions",
    "millions": "millions",
    "mio": "millions",
    "mln": "millions",
    "mn": "millions",
    "mm": "millions",
    "millionen": "millions",
    "millones": "millions",
    "m": "millions",
    "billion": "billions",
    "billions": "billions",
    "bn": "billions",
    "bln": "billions",
    "b": "billions",
    "mrd": "billions",
    "mia": "billions",
    "milliarde": "billions",
    "milliarden": "billions",
    "milliard": "billions",
    "milliards": "billions",
    "trillion": "trillions",
    "trillions": "trillions",
    "tn": "trillions",
    "trn": "trillions",
}
"""Words and abbreviations after a number, by the scale that they mean (lower case)."""

SPELLED_SCALES = frozenset(
    _words(
        "hundred thousand tausend tsd million millions mio mln mn millionen millones billion billions bn bln mrd "
        "mia milliarde milliarden milliard milliards trillion trillions tn trn thousands"
    )
)
"""The scale words that can stand apart from the number; `k`, `m` and `b` must touch it."""

CURRENCY_SYMBOLS: dict[str, str] = {
    "US$": "USD",
    "A$": "AUD",
    "AU$": "AUD",
    "C$": "CAD",
    "CA$": "CAD",
    "NZ$": "NZD",
    "HK$": "HKD",
    "S$": "SGD",
    "R$": "BRL",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "₹": "INR",
    "₩": "KRW",
    "₽": "RUB",
    "₺": "TRY",
    "₫": "VND",
    "₱": "PHP",
    "฿": "THB",
    "₪": "ILS",
    "₴": "UAH",
    "₦": "NGN",
    "RM": "MYR",
    "Rs.": "INR",
    "Rs": "INR",
    "Rp": "IDR",
    "zł": "PLN",
    "Kč": "CZK",
    "Fr.": "CHF",
    "$": "$",
}
"""Printed symbol to ISO code. A bare dollar sign stays "$": a score of currencies print it."""

CURRENCY_CODES = frozenset(
    _words(
        "USD EUR GBP JPY CNY INR CHF CAD AUD NZD SEK NOK DKK PLN CZK HUF RUB TRY BRL MXN ZAR SGD HKD KRW MYR IDR "
        "THB PHP VND ILS AED SAR NGN KES EGP ARS CLP COP TWD RMB UAH RON BGN"
    )
)
CURRENCY_NAMES: dict[str, str] = {
    "dollar": "$",
    "dollars": "$",
    "us dollars": "USD",
    "u.s. dollars": "USD",
    "euro": "EUR",
    "euros": "EUR",
    "pounds sterling": "GBP",
    "yen": "JPY",
    "yuan": "CNY",
    "rupees": "INR",
    "ringgit": "MYR",
    "francs": "CHF",
}
DOLLAR_CODES = frozenset(_words("USD AUD CAD NZD HKD SGD TWD"))

UNIT_ABBREVIATIONS = frozenset(
    _words(
        "kg g mg µg ug t lb lbs oz km m cm mm nm mi ft in yd ha l ml cl h hr hrs min s sec ms w kw mw gw kwh mwh "
        "gwh twh hp v a hz khz mhz ghz b kb mb gb tb px pt mph kmh kph kts kn km² m² m2 km2 cm2 m3 °c °f c f x bpm "
        "rpm pa kpa mpa bar psi"
    )
)
"""Units that may touch their number ("5kg"); another word that touches it makes an identifier ("345AN")."""

MONTHS: dict[str, int] = {}
for _names in (
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "janner feber maerz apr mai jun jul aug sept okt nov dez",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "janv fevr mars avr mai juin juil aout sept oct nov dec",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "ene febr mzo abr mayo juny jul ago set oct nov dic",
):
    for _number, _name in enumerate(_names.split(), start=1):
        MONTHS.setdefault(_name, _number)

NEGATIONS = frozenset(
    _words(
        "not no never none neither nor nobody nothing without lacks lacking cannot isn't aren't wasn't weren't "
        "doesn't don't didn't hasn't haven't hadn't won't nicht kein keine keinen nein sans pas sin"
    )
)


def fold(text: str) -> str:
    """Lower case without accents: "Août" becomes "aout"; the length may change."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A crude English stem that makes singular and plural, and simple verb forms, equal."""
    word = fold(word).strip("'’.-")
    for ending, kept in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)] + kept
            break
    return word[:-1] if word.endswith("e") and len(word) > 4 else word
