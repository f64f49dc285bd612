"""Forms of a name that look different: letters that are written out ("Köln", "Koeln"),
countries in other languages.

They only suggest that two names be compared.
"""

from __future__ import annotations

import unicodedata

from sliders.values.cldr import countries
from sliders.values.folding import fold, name_tokens

_OUT = str.maketrans(
    {
        "ä": "ae",
        "ö": "oe",
        "ü": "ue",
        "å": "aa",
        "ø": "oe",
        "æ": "ae",
        "œ": "oe",
        "ß": "ss",
        "þ": "th",
        "ð": "dh",
    }
)
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i"})


def written_forms(text: str) -> frozenset[tuple[str, ...]]:
    """The words of a name without its legal form, its letters without marks or
    written out in plain ones.
    """
    small = unicodedata.normalize("NFC", text).lower()
    return frozenset(map(name_tokens, {small, small.translate(_OUT), small.translate(_PLAIN)}))


def country(text: str) -> str:
    """The code of the country that a text names in one of the languages that
    code reads, "" for none.
    """
    return countries().get(fold(text), "")
