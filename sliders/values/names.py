"""Texts that are the same but for their form, and other forms of a name: letters that are written
out ("Köln", "Koeln"), countries in other languages.
"""

from __future__ import annotations

import re
import unicodedata

from sliders.values.cldr import countries
from sliders.values.folding import fold, legal_form, name_key, name_tokens, signed

_SHORTEST = 4
"""Fewest letters of words that count as the same when only blanks differ."""


def same_text(value: str, words: str) -> bool:
    """Whether words carry a text value: equal, one inside the other, all of its words, or a name
    without its legal form.
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
