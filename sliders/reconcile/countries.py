"""Countries by any of their names: "French", "France" and "Frenchwoman" speak of one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from sliders.reconcile.folding import fold

_FILE = Path(__file__).resolve().parent / "data" / "countries.txt"
_FEWEST_FORMS, _SHARE = 3, 0.6


@cache
def _countries() -> dict[str, str]:
    """Folded form -> the country's usual English name."""
    forms: dict[str, str] = {}
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        country, _, others = line.partition(": ")
        if not others or line.startswith("#"):
            continue
        for form in (country, *others.split(", ")):
            forms[fold(form)] = country
            forms.setdefault(fold(form) + "s", country)
    return forms


def country_of(words: str) -> str | None:
    """The country that a name or a word for its people means, by its usual English name; None if it means none.

    >>> country_of("Dutch"), country_of("the U.S."), country_of("Norwegians"), country_of("Harbour")
    ('Netherlands', 'United States', 'Norway', None)
    """
    return _countries().get(fold(words).removeprefix("the "))


def is_country_column(forms: Sequence[object]) -> bool:
    """Whether most of a column's different values are countries, so that two forms of one country are one value."""
    texts = [form for form in forms if isinstance(form, str)]
    known = sum(1 for text in texts if country_of(text))
    return known >= _FEWEST_FORMS and known >= _SHARE * len(texts)
