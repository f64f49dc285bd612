"""Forms of names: countries by any of their names, and texts that are the same but for their form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from sliders.values.fold import fold, name_key, signed, unaccented

_FILE = Path(__file__).resolve().parent / "data" / "countries.txt"
_FEWEST_FORMS, _SHARE = 3, 0.6
_SHORTEST = 4
"""Fewest letters of words that count as the same when only blanks differ."""


@cache
def _countries() -> dict[str, str]:
    """Folded form -> the country's usual English name."""
    forms: dict[str, str] = {}
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        country, _, others = line.partition(": ")
        if not others or line.startswith("#"):
            continue
        for form in (country, *others.split(", ")):
            forms[_folded(form)] = country
            forms.setdefault(_folded(form) + "s", country)
    return forms


def _folded(words: str) -> str:
    return " ".join(re.sub(r"[.'’]", "", unaccented(words)).replace("-", " ").split()).removeprefix("the ")


def country_of(words: str) -> str | None:
    """The country that a name or a word for its people means, by its usual English name; None if it means none.

    >>> country_of("Dutch"), country_of("the U.S."), country_of("Norwegians"), country_of("Harbour")
    ('Netherlands', 'United States', 'Norway', None)
    """
    return _countries().get(_folded(words))


def is_country_column(forms: Sequence[object]) -> bool:
    """Whether most of a column's different values are countries, so that two forms of one country are one value."""
    texts = [form for form in forms if isinstance(form, str)]
    known = sum(1 for text in texts if country_of(text))
    return known >= _FEWEST_FORMS and known >= _SHARE * len(texts)


def same_text(value: str, words: str) -> bool:
    """Whether words carry a text value: equal, one inside the other, all of its words, another form of the same name."""
    a, b = fold(value), fold(words)
    if a == b and " " not in a:
        return signed(value) == signed(words)  # a grade of "A+" is not one of "A-"
    if a == b or f" {a} " in f" {b} " or f" {b} " in f" {a} ":
        return True
    joined, other = a.replace(" ", ""), b.replace(" ", "")
    if len(joined) >= _SHORTEST and (joined == other or re.search(r"\b" + r"\W?".join(map(re.escape, joined)) + r"\b", b)):
        return True
    if set(a.split()) <= set(b.split()) or name_key(value) == name_key(words):
        return True
    country = country_of(value)
    return country is not None and any(country_of(part) == country for part in (words, *_runs(words)))


def _runs(words: str) -> list[str]:
    """Runs of up to four words, for a country's name inside a phrase."""
    tokens = re.findall(r"[\w.'’-]+", words)[:60]
    return [" ".join(tokens[i : i + n]) for i in range(len(tokens)) for n in range(1, 5)]
