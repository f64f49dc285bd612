"""Currencies by their codes, symbols and names in every language."""

from __future__ import annotations

import re
from functools import cache

from sliders.values.cldr import currency_names
from sliders.values.folding import fold
from sliders.values.scripts import LETTERS
from sliders.values.spelled import choice
from sliders.values.vocabulary import (
    CURRENCY_CODES,
    CURRENCY_FAMILIES,
    CURRENCY_NAMES,
    CURRENCY_SYMBOLS,
)

MARKS = rf"(?:{choice(CURRENCY_SYMBOLS)}|{choice(CURRENCY_CODES)})"
"""Symbols and codes of currencies, as alternatives of a pattern."""
ENDED = rf"(?![{LETTERS}\u0600-\u06ff\u0900-\u097f])"
"""The end of a word in a pattern: no further letter follows; scripts without blanks need no such
end.
"""
_CURRENCIES = {name.lower(): code for name, code in (CURRENCY_NAMES | CURRENCY_SYMBOLS).items()}
_VERBS = frozenset(("try", "cop"))  # currencies in capitals only


def named(printed: str) -> str:
    """Returns the ISO code, or the family, of a currency that stands beside a number; other words
    in capitals, "" for a verb that looks like a code.
    """
    return "" if printed in _VERBS else _CURRENCIES.get(printed.lower(), printed.upper())


def currency_code(name: str) -> str:
    """The ISO code of a currency by its code, symbol or name; "$" for a dollar without a country,
    "" for an unknown name.
    """
    found = _CURRENCIES.get(name.strip().lower(), name.strip().upper())
    return found if found in CURRENCY_FAMILIES or found in CURRENCY_CODES else ""


_NAME_AFTER = re.compile(rf"\s([^\W\d_]+(?:[ -][^\W\d_]+){{0,2}}){ENDED}")


@cache
def _first_words() -> frozenset[str]:
    return frozenset(name.split()[0] for name in currency_names() if name)


def currency_after(text: str, end: int) -> str:
    """The ISO code of the currency whose full name in any language stands behind a number
    ("polnische Zloty"), or "".
    """
    if (match := _NAME_AFTER.match(text, end)) is None:
        return ""
    words = fold(match[1]).split()
    if not words or words[0] not in _first_words():
        return ""
    names = currency_names()
    return next(
        (
            names[name]
            for count in range(len(words), 0, -1)
            if (name := " ".join(words[:count])) in names
        ),
        "",
    )


def same_currency(printed: str, wanted: str) -> bool:
    """True when a printed currency may be the wanted one: several currencies share marks and names
    ("$", "¥", "peso").
    """
    families = CURRENCY_FAMILIES
    one, other = (
        families.get(code, frozenset((_ALIASES.get(code, code),))) for code in (printed, wanted)
    )
    return bool(one & other)


_ALIASES = {"RMB": "CNY"}
