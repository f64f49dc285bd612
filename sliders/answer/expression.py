"""Sums are the code's work: a calculation that the model wrote over printed numbers is checked and evaluated here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sliders.extraction.parse import ExpressionError, evaluate
from sliders.extraction.parse_numbers import numbers_in

_CONSTANTS = frozenset({0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 12.0, 100.0, 365.0, 1000.0})
_WRITTEN = re.compile(r"\d+(?:[.,]\d+)*")
_LEAST_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Worked:
    """A calculation's result; `numbers` are those that it uses, `unknown` those of them that no passage prints."""

    value: float
    numbers: tuple[float, ...]
    unknown: tuple[float, ...] = ()


def work_out(expression: str, texts: Iterable[str]) -> Worked | None:
    """The value of an expression of numbers, + - * / and brackets; None when it is none or has no finite value.

    Small whole numbers and 100, 365, 1000 may stand in it without being printed.
    """
    try:
        value = float(evaluate(expression.lstrip("= ")))
    except ExpressionError:
        return None
    used = tuple(_faces(expression.lstrip("= ").partition("=")[0]))
    printed = _printed(texts)
    return Worked(value, used, tuple(n for n in used if n not in _CONSTANTS and not _held(n, printed)))


def _printed(texts: Iterable[str]) -> set[float]:
    """Every number of the texts, with its scale word and without: "$32.5 million" may stand in a sum as 32.5."""
    return {number for text in texts for number in (*_faces(text), *(abs(float(n.value)) for n in numbers_in(text)))}


def _faces(text: str) -> list[float]:
    """Its numbers as their digits stand, whatever scale word is behind them."""
    return [float(w.replace(",", "")) for w in _WRITTEN.findall(text) if w.count(".") <= 1]


def unprinted(answer: str, texts: Iterable[str]) -> float | None:
    """The number that the whole answer is, when no text prints it, in figures or in words; None for any other answer."""
    found = [n for n in numbers_in(answer) if n.plain]
    if len(found) != 1 or re.search(r"[^\W\d_]{2}", answer[: found[0].start] + answer[found[0].end :]):
        return None
    printed = _printed(texts)
    value = abs(float(found[0].value))
    return None if _held(value, printed) or printed & set(_faces(answer)) else value


def as_printed(text: str, texts: Iterable[str]) -> str:
    """The text with each number that nowhere stands written as the one printed number of the same digits.

    A reply "12.868" over a page that prints "12,868" means the latter. Numbers of fewer than four digits stay.
    """
    printed: dict[str, set[str]] = {}
    for each in texts:
        for found in _WRITTEN.findall(each):
            printed.setdefault(_digits(found), set()).add(found)

    def mended(match: re.Match[str]) -> str:
        said = match.group()
        known = printed.get(_digits(said), set())
        return next(iter(known)) if len(known) == 1 and len(_digits(said)) >= _LEAST_DIGITS else said

    return _WRITTEN.sub(mended, text)


def _digits(written: str) -> str:
    return re.sub(r"\D", "", written)


def _held(number: float, printed: set[float]) -> bool:
    """Whether a number is printed, as such or as a percentage ("5%" used as 0.05)."""
    return any(abs(number - p) <= 1e-9 * max(1.0, p) or abs(number * 100 - p) <= 1e-9 * max(1.0, p) for p in printed)
