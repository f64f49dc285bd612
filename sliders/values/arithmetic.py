"""Arithmetic that the model wrote, computed again: numbers, number words, scales and percent signs
with + - * / and parentheses.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal

from sliders.errors import SlidersError
from sliders.sentences import Sentences
from sliders.values.digits import amount
from sliders.values.han import han_numbers
from sliders.values.scripts import plain_digits
from sliders.values.spelled import choice, spelled_in
from sliders.values.vocabulary import SCALE_WORDS, SCALES, SPELLED_SCALES

say = Sentences("values")


class ExpressionError(SlidersError):
    """Raised for a text that is not arithmetic over numbers, or that cannot be computed."""


_OPERATORS = {ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__"}
_FUNCTIONS: dict[str, Callable[[Sequence[Decimal]], Decimal]] = {
    "sum": lambda parts: sum(parts, Decimal()),
    "min": min,
    "max": max,
    "abs": lambda parts: abs(sum(parts, Decimal())),
    **dict.fromkeys(("average", "avg", "mean"), lambda parts: sum(parts, Decimal()) / len(parts)),
}
_SIGNS = str.maketrans(
    {"×": "*", "÷": "/", "−": "-", "–": "-", "·": "*"} | dict.fromkeys("$€£", " ")
)
_GROUP = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SCALED = re.compile(rf"(\d[\d.]*)\s*({choice(SPELLED_SCALES)})\b", re.IGNORECASE)
_PERCENT = re.compile(r"(\d[\d.]*)\s*%")
_LABEL = re.compile(
    r"(?<=[\d)])(?:\s+(?:[^\W\d_]+(?:-[^\W\d_]+)*|\([^\W\d_][^()\d]*\)))+(?=\s*(?:$|[-+*/)]))"
)
_LONGEST = 400


def evaluate(expression: str) -> int | float:
    """Returns the value of arithmetic over numbers: + - * / and parentheses, and sum, average, min,
    max and abs of numbers.

    Number words, scale words, percent signs and grouping commas are read ("two + 15", "1.6
    million"). Words that label a number, and a result behind "=", are ignored ("2 pilots + 15
    passengers = 17").

    Raises:
        ExpressionError: the text is anything else, divides by zero, or its value is too large.
    """
    text = _arithmetic(expression) if len(expression) <= _LONGEST else ""
    if not text:
        raise ExpressionError(say("no_arithmetic", expression=expression[:80]))
    try:
        value = _evaluated(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError) as error:
        raise ExpressionError(
            say("not_computed", expression=expression[:80], error=type(error).__name__)
        ) from error
    if not value.is_finite() or abs(value) >= 2**63:
        raise ExpressionError(say("result_too_large", expression=expression[:80]))
    return amount(value)


def _arithmetic(expression: str) -> str:
    expression = plain_digits(expression)
    for number in sorted(han_numbers(expression), key=lambda number: -number.start):
        expression = f"{expression[: number.start]}{number.value}{expression[number.end :]}"
    text = _GROUP.sub("", expression.translate(_SIGNS).partition("=")[0])
    text = _SCALED.sub(lambda match: f"({match[1]}*{SCALES[SCALE_WORDS[match[2].lower()]]})", text)
    for spelled in reversed(list(spelled_in(text))):
        text = f"{text[: spelled.start]}{spelled.value}{text[spelled.end :]}"
    return _LABEL.sub(
        "", _PERCENT.sub(r"(\1/100)", re.sub(r"(?<=\d)\s*x\s*(?=\d)", "*", text))
    ).strip()


_SUM = re.compile(r"[^\W\d_]|\+|[\d)]\s*-")
_LITERAL = re.compile(r"\d+(?:\.\d+)?")


def factors(expression: str) -> list[float]:
    """Returns the numbers of an expression that only multiplies and divides numbers without scale
    words or percent signs; [] for any other expression.
    """
    worded = (*spelled_in(expression), *han_numbers(expression))
    text = _arithmetic(expression)
    plain = not (worded or "%" in expression or _SCALED.search(expression) or _SUM.search(text))
    return [float(literal) for literal in _LITERAL.findall(text)] if plain else []


def _evaluated(node: ast.expr) -> Decimal:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return Decimal(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _evaluated(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and (name := _OPERATORS.get(type(node.op))):
        result: Decimal = getattr(_evaluated(node.left), name)(_evaluated(node.right))
        return result
    named = (
        _FUNCTIONS.get(ast.unparse(node.func).lower())
        if isinstance(node, ast.Call) and not node.keywords
        else None
    )
    if isinstance(node, ast.Call) and named and node.args:
        return named([_evaluated(argument) for argument in node.args])
    raise ExpressionError(say("no_term", term=ast.unparse(node)[:80]))


_ROUNDED = 0.02
"""The most that rounding may change a number, as a share of it."""


def rounds_to(value: int | float, exact: int | float, *, whole: bool = False) -> bool:
    """True when a value equals an exact number, or is that number rounded to the value's digits
    (7.72 for 139/18).

    Args:
        whole: True when the value has to be a whole number, however much rounding changes it.
    """
    if math.isclose(value, exact, rel_tol=1e-6, abs_tol=1e-6):
        return True
    decimals = max(0, -Decimal(str(value)).normalize().as_tuple().exponent)  # type: ignore[operator]
    near = abs(value - exact) <= 0.5 * 10**-decimals * (1 + 1e-9)
    return near and (whole or math.isclose(value, exact, rel_tol=_ROUNDED))
