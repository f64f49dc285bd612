"""Numbers as a person writes them: thousands apart, one number of places in a column, the
unit behind.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from sliders.values.cldr import minor_places

Number = int | float
YES_NO = "yes/no"
"""The unit of a column that says yes (1) or no (0)."""
_MOST_PLACES = 6
"""Numbers with more places than these are taken for results of a division, and are rounded."""
_ROUNDED_PLACES, _DIGITS = 2, 3
_SMALL, _LARGE, _APART = 1e-4, 1e15, 10_000


def places_of(numbers: Iterable[object], unit: str = "") -> int:
    """The places behind the point that all numbers of a column get: those that are printed, two
    or three digits' worth of numbers that go on for ever. Amounts of money that have places have
    those of their currency.
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
    """The places that print a number without the noise of binary fractions."""
    close = 1e-9 * max(1.0, abs(number))
    fitting = (p for p in range(_MOST_PLACES + 1) if abs(round(number, p) - number) <= close)
    return next(fitting, _MOST_PLACES + 1)


def _is_plain(number: float) -> bool:
    """Whether a number is written without a power of ten."""
    return math.isfinite(number) and (number == 0 or _SMALL <= abs(number) < _LARGE)


def figure(number: Number, places: int = 0, *, apart: bool = True) -> str:
    """A number with so many places.

    Args:
        apart: thousands are set apart in numbers below 10,000 too, which years are not.
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
