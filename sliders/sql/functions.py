"""SQL functions that SQLite lacks: statistics for analysts."""

from __future__ import annotations

import math
import re
import sqlite3
import statistics
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from typing import Any, cast

from sliders.sql.connect import connect

Number = int | float
_Finish = Callable[[list[Any], float], Any]


def _percentile(values: list[Any], percent: float) -> float:
    """The value below which `percent` of the values lie, interpolated between neighbours."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    low = math.floor(place)
    return float(
        ordered[low] + (ordered[min(low + 1, len(ordered) - 1)] - ordered[low]) * (place - low)
    )


# Name: number of arguments, values needed for a result, and the result of a group's values.
ANALYST_AGGREGATES: dict[str, tuple[int, int, _Finish]] = {
    "median": (1, 1, lambda values, _: statistics.median(values)),
    "stdev": (1, 2, lambda values, _: statistics.stdev(values)),
    "stdev_pop": (1, 1, lambda values, _: statistics.pstdev(values)),
    "variance": (1, 2, lambda values, _: float(statistics.variance(values))),
    "percentile": (2, 1, _percentile),
    "mode": (
        1,
        1,
        lambda values, _: Counter(values).most_common(1)[0][0],
    ),  # the first one seen wins a tie
}


class _Aggregate:
    """Collects the values of a group, and notes an error; NULLs are left out, as in SQL's own
    aggregates.
    """

    def __init__(self, name: str, complaints: list[str]) -> None:
        self._name, self._complaints = name, complaints
        _, self._least, self._finish = ANALYST_AGGREGATES[name]
        self._values: list[Any] = []
        self._percent = 50.0

    def step(self, value: object, percent: object = 50) -> None:
        if not isinstance(percent, (int, float)) or not 0 <= percent <= 100:
            self._refuse(f"{self._name}() needs a percent from 0 to 100, got {percent!r}")
        self._percent = cast("float", percent)
        if self._name != "mode" and value is not None and not isinstance(value, (int, float)):
            self._refuse(f"{self._name}() needs numbers, got {value!r}")
        if value is not None:
            self._values.append(value)

    def _refuse(self, words: str) -> None:
        self._complaints.append(words)
        raise ValueError(words)

    def finalize(self) -> Any:
        return (
            self._finish(self._values, self._percent) if len(self._values) >= self._least else None
        )


_PLACE = re.compile(r"%[-+ 0#,!]*(\*|\d*)(?:\.(\*|\d+))?")
_FORMAT_WIDTH = 1_000
_TRIM_CHARACTERS = 200


_own_functions = cache(connect)
"""A connection without data, to call SQLite's own functions."""


def _format(*values: Any) -> str | None:
    """SQLite's own function without wide fields, which would run for seconds without a chance to
    stop them.
    """
    for place in _PLACE.finditer(str(values[0]) if values else ""):
        if "*" in place.groups() or any(
            int(width or 0) > _FORMAT_WIDTH for width in place.groups()
        ):
            raise ValueError(f"format() does not take {place.group()!r}")
    marks = ", ".join("?" * len(values))
    return cast(
        "str | None", _own_functions().execute(f"SELECT printf({marks})", values).fetchone()[0]
    )


def _trimmer(strip: Callable[[str, str], str]) -> Callable[[object, object], str | None]:
    """SQLite's own function compares every character with every other; two long texts would take
    hours.
    """

    def trim(text: object, characters: object) -> str | None:
        if text is None or characters is None:
            return None
        if len(str(characters)) > _TRIM_CHARACTERS:
            raise ValueError(f"trim() takes at most {_TRIM_CHARACTERS} characters to cut off")
        return strip(str(text), str(characters))

    return trim


_BOUNDED: tuple[tuple[str, int, Callable[..., Any]], ...] = (
    ("printf", -1, _format),
    ("format", -1, _format),
    ("trim", 2, _trimmer(str.strip)),
    ("ltrim", 2, _trimmer(str.lstrip)),
    ("rtrim", 2, _trimmer(str.rstrip)),
)


def register_functions(connection: sqlite3.Connection, *, bounded: bool = False) -> list[str]:
    """Adds the functions `median stdev stdev_pop variance percentile mode` to a connection.

    Args:
        bounded: True replaces built-in functions that can run for minutes in one call.

    Returns:
        A list that receives the words of each error inside a function, which SQLite itself does not
            pass on.
    """
    complaints: list[str] = []
    for name, (arguments, _, _) in ANALYST_AGGREGATES.items():
        connection.create_aggregate(
            name, arguments, cast("Any", partial(_Aggregate, name, complaints))
        )
    if bounded:
        for name, arguments, function in _BOUNDED:
            connection.create_function(
                name, arguments, _reporting(function, complaints), deterministic=True
            )
    return complaints


def _reporting(function: Callable[..., Any], complaints: list[str]) -> Callable[..., Any]:
    def call(*values: object) -> Any:
        try:
            return function(*values)
        except (ValueError, OverflowError) as error:
            complaints.append(str(error))
            raise

    return call
