"""Countries by any of their names: "French", "France" and "Frenchwoman" speak of one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from sliders.extraction.lexicon import fold
from sliders.schema.names import spoken_name
from sliders.schema.types import Column, ColumnType

_FILE = Path(__file__).resolve().parent / "data" / "countries.txt"
_FEWEST_FORMS, _SHARE = 3, 0.6
_MOST_WORDS = 5
_OPENING = 900
"""So many characters of a text introduce whom it is about."""


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
    return " ".join(re.sub(r"[.'’]", "", fold(words)).replace("-", " ").split()).removeprefix("the ")


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


def holds_country(column: Column) -> bool:
    """Whether a column's value is a country by its name ("country", "country_of_citizenship"), not a word for people."""
    parts = set(spoken_name(column.name).split())
    return column.type is ColumnType.TEXT and bool(parts & {"country", "countries", "citizenship"})


def holds_citizenship(column: Column) -> bool:
    """Whether a column says whose citizen somebody is."""
    words = set(re.findall(r"[a-z]+", f"{spoken_name(column.name)} {column.description}".lower()))
    return column.type is ColumnType.TEXT and bool(words & {"citizen", "citizens", "citizenship", "nationality"})


def country_in(words: str, column: Column) -> str | None:
    """The country that a column of countries holds for printed words; the parts of a state have no citizens of their own."""
    country = country_of(words) if holds_country(column) else None
    return "United Kingdom" if country in _UNITED and holds_citizenship(column) else country


_UNITED = frozenset({"England", "Scotland", "Wales", "Northern Ireland"})
_INTRODUCED = re.compile(r"\b(?:is|was|are|were)\s+(?:an?|the|one of the|one of)\s+")
_STOP = re.compile(r"[,;:(\n]|(?<!\b[A-Z])\.(?:\s|$)|\b(?:who|that|which|for|in|at|of|from)\b")
_WORD = re.compile(r"[A-Z](?:\.[A-Z])+\.?|[^\W\d_]+(?:-[^\W\d_]+)*")


def citizenship_in(text: str) -> tuple[int, int] | None:
    """Where the opening of a text says whose citizen its subject is ("was a retired Chilean pilot"); None if nowhere.

    Only the words between "is a" and the next mark count; a compound ("Franco-Swiss") is no one country.
    """
    for intro in _INTRODUCED.finditer(text, 0, min(len(text), _OPENING)):
        stop = _STOP.search(text, intro.end())
        words = [w for w in _WORD.finditer(text, intro.end(), stop.start() if stop else len(text))]
        for at, first in enumerate(words):
            for last in reversed(words[at : at + _MOST_WORDS]):
                if first.group()[0].isupper() and country_of(text[first.start() : last.end()]):
                    return first.start(), last.end()
    return None
