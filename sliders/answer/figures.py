"""Numbers as a person writes them: with separators for thousands, equally many decimals in a
column, and a unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from sliders.values.cldr import minor_places

Number = int | float
YES_NO = "yes/no"
"""The unit of a column of booleans (1 and 0)."""
_MOST_PLACES = 6
"""The most decimals of a number that is printed unchanged; numbers with more are results of a
division, and are rounded.
"""
_ROUNDED_PLACES, _DIGITS = 2, 3
_SMALL, _LARGE, _APART = 1e-4, 1e15, 10_000


def places_of(numbers: Iterable[object], unit: str = "") -> int:
    """Returns the number of decimals for all numbers of a column: the decimals that they have, or
    as many as show two or three digits of endless fractions. Amounts of money with decimals get the
    decimals of their currency.
    """
    places = _places(numbers)
    return max(places, minor_places(unit)) if places else 0


def _places(numbers: Iterable[object]) -> int:
    floats = [n for n in numbers if isinstance(n, float) and _is_plain(n)]
    needed = [_needed(number) for number in floats]
    endless = [abs(n) for n, places in zip(floats, needed, strict=True) if places > _MOST_PLACES]
    if not endless:
        return max(needed, default=0)
    return max(_ROUNDED_PLACES, _DIGITS - 1 - math.floor(math.log10(min(endless))))


def _needed(number: float) -> int:
    """The number of decimals that a number has without the noise of binary fractions."""
    close = 1e-9 * max(1.0, abs(number))
    fitting = (p for p in range(_MOST_PLACES + 1) if abs(round(number, p) - number) <= close)
    return next(fitting, _MOST_PLACES + 1)


def _is_plain(number: float) -> bool:
    """True when a number is written without a power of ten."""
    return math.isfinite(number) and (number == 0 or _SMALL <= abs(number) < _LARGE)


def figure(number: Number, places: int = 0, *, apart: bool = True) -> str:
    """Returns a number as text with `places` decimals.

    Args:
        apart: True separates thousands in numbers below 10,000 too; years are not separated.
    """
    if isinstance(number, float) and not _is_plain(number):
        return f"{number:.4g}"
    mark = "," if apart or abs(number) >= _APART else ""
    text = f"{number:{mark}.{places}f}" if isinstance(number, float) or places else ""
    text = text or f"{number:{mark}}"
    return text.removeprefix("-") if text.startswith("-") and not text.strip("-0.,") else text


def shown(number: Number) -> str:
    """A number alone, as a person writes it."""
    return figure(number, _places([number]), apart=False)


def measured(text: str, unit: str) -> str:
    """A figure with its unit."""
    return f"{text}{unit}" if unit == "%" else f"{text} {unit}" if unit else text
