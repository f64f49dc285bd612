"""Sums are the code's work: a calculation that the model wrote over printed numbers is checked and evaluated here."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sliders.extraction.numbers import numbers_in

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[[list[float]], float]] = {
    "sum": sum, "min": min, "max": max, "abs": lambda v: abs(v[0]), "average": lambda v: sum(v) / len(v),
    "mean": lambda v: sum(v) / len(v), "avg": lambda v: sum(v) / len(v), "count": lambda v: float(len(v)),
    "len": lambda v: float(len(v)),
}  # fmt: skip
_CONSTANTS = frozenset({0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 12.0, 100.0, 365.0, 1000.0})
_LONGEST = 300
_LARGEST = 1e18


@dataclass(frozen=True, slots=True)
class Worked:
    """A calculation's result; `unknown` are its numbers that no passage prints, `numbers` those that were used."""

    value: float
    numbers: tuple[float, ...]
    unknown: tuple[float, ...] = ()


def work_out(expression: str, texts: Iterable[str]) -> Worked | None:
    """The value of an expression of numbers, + - * /, brackets, sum, average, min, max, abs, count.

    None when it is not such an expression or has no finite value. Small whole numbers and 100, 365, 1000 may stand
    in it without being printed.
    """
    cleaned = _cleaned(expression)
    if not cleaned or len(cleaned) > _LONGEST:
        return None
    try:
        tree = ast.parse(cleaned, mode="eval")
        used: list[float] = []
        value = _value(tree.body, used)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError, MemoryError):
        return None
    if not used or abs(value) > _LARGEST or value != value:
        return None
    printed = _printed(texts)
    unknown = tuple(n for n in used if abs(n) not in _CONSTANTS and not _held(abs(n), printed))
    return Worked(value, tuple(used), unknown)


def _printed(texts: Iterable[str]) -> set[float]:
    """Every number of the texts, with its scale word and without: "$32.5 million" may stand in a sum as 32.5."""
    return {number for text in texts for number in (*_faces(text), *(abs(float(n.value)) for n in numbers_in(text)))}


def _faces(text: str) -> set[float]:
    """Its numbers as their digits stand, whatever scale word is behind them."""
    return {float(w.replace(",", "")) for w in _WRITTEN.findall(text) if w.count(".") <= 1}


def unprinted(answer: str, texts: Iterable[str]) -> float | None:
    """The number that the whole answer is, when no text prints it, in figures or in words; None for any other answer."""
    found = [n for n in numbers_in(answer) if n.plain]
    if len(found) != 1 or re.search(r"[^\W\d_]{2}", answer[: found[0].start] + answer[found[0].end :]):
        return None
    printed = _printed(texts)
    value = abs(float(found[0].value))
    return None if _held(value, printed) or _faces(answer) & printed else value


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


_WRITTEN = re.compile(r"\d+(?:[.,]\d+)*")
_LEAST_DIGITS = 4


def _digits(written: str) -> str:
    return re.sub(r"\D", "", written)


def _held(number: float, printed: set[float]) -> bool:
    """Whether a number is printed, as such or as a percentage ("5%" used as 0.05)."""
    return any(abs(number - p) <= 1e-9 * max(1.0, p) or abs(number * 100 - p) <= 1e-9 * max(1.0, p) for p in printed)


def _cleaned(expression: str) -> str:
    text = expression.split("=")[-1] if expression.strip().startswith("=") else expression.split("=")[0]
    text = text.replace("×", "*").replace("÷", "/").replace("−", "-").replace("–", "-").replace("^", "**")
    text = re.sub(r"(?<=\d)[,\s](?=\d{3}(?!\d))", "", text)
    text = re.sub(r"(\d(?:[\d.]*))\s*%", r"(\1/100)", text)
    text = re.sub(r"\b(?:million|billion|thousand|percent|dollars|usd|years?)\b|[$€£]", "", text, flags=re.I)
    return text.strip(" \t\n,;:")


def _value(node: ast.AST, used: list[float]) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        used.append(float(node.value))
        return float(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _value(node.operand, used)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left, used), _value(node.right, used))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.lower() in _FUNCTIONS:
        parts = [item for arg in node.args for item in (arg.elts if isinstance(arg, ast.List | ast.Tuple) else [arg])]
        values = [_value(part, used) for part in parts]
        if values and not node.keywords:
            return float(_FUNCTIONS[node.func.id.lower()](values))
    raise ValueError("not an arithmetic expression")
