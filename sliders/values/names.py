"""Comparison of texts that differ only in form, and other forms of a name: letters written out
("Köln", "Koeln"), countries in other languages.
"""

from __future__ import annotations

import re
import unicodedata

from sliders.values.cldr import countries
from sliders.values.folding import fold, legal_form, name_key, name_tokens, signed

_SHORTEST = 4
"""The fewest letters of words that count as the same when only blanks differ."""


def same_text(value: str, words: str) -> bool:
    """True when words support a text value: equal, one inside the other, with all of its words, or
    a name without its legal form.
    """
    a, b = fold(value), fold(words)
    if a == b and " " not in a:
        return signed(value) == signed(words)  # a grade of "A+" is not one of "A-"
    if a == b or f" {a} " in f" {b} " or f" {b} " in f" {a} ":
        return True
    joined, other = a.replace(" ", ""), b.replace(" ", "")
    if len(joined) >= _SHORTEST and (
        joined == other or re.search(r"\b" + r"\W?".join(map(re.escape, joined)) + r"\b", b)
    ):
        return True
    if set(a.split()) <= set(b.split()):
        return True
    return name_key(value) == name_key(words) and (
        legal_form(value) == legal_form(words) or not legal_form(value)
    )


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
    """Returns the words of a name without its legal form, once with letters without marks, once
    with letters written out ("oe" for "ö").
    """
    small = unicodedata.normalize("NFC", text).lower()
    return frozenset(map(name_tokens, {small, small.translate(_OUT), small.translate(_PLAIN)}))


def country(text: str) -> str:
    """Returns the code of the country that a text names, in a language that code reads; "" for
    none.
    """
    return countries().get(fold(text), "")
