"""Conditions on attributes as values: filters in a tree of AND and OR, with SQL's three-valued logic.

NOT is pushed into the filters when a query is parsed (De Morgan holds for three values), so a tree has no NOT nodes. A row
passes when its condition is true; null and false both reject it. A tree without NOT is monotone, so each filter may be
read as "true or not true" without changing which rows pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from sliders.schema.types import ColumnType
from sliders.words import fold

Scalar = str | int | float | bool | None
Operator = Literal["=", "<", "<=", ">", ">=", "between", "in", "like", "is null", "is true", "matches"]


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition on one attribute, or a comparison of two attributes of a table.

    `matcher` decides the operator "matches": whether a value joins one of the values of another table.
    """

    attributes: tuple[str, ...]
    operator: Operator
    values: tuple[Scalar, ...] = ()
    negated: bool = False
    type: ColumnType = ColumnType.TEXT
    label: str = ""
    matcher: Callable[[Scalar], bool] | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        """Identifies the condition in statistics; the same condition in another query has the same key."""
        return f"{self} {self.values}" if self.label else str(self)

    def truth(self, values: Mapping[str, Scalar]) -> bool | None:
        """True, false or null (None) for the given attribute values."""
        first = values[self.attributes[0]]
        if self.operator == "is null":
            return (first is None) != self.negated
        if len(self.attributes) == 2:
            result = _compare(self.operator, first, values[self.attributes[1]], self.type)
        else:
            result = self._truth_of(first)
        return None if result is None else result != self.negated

    def _truth_of(self, value: Scalar) -> bool | None:
        if value is None:
            return None
        if self.operator == "matches":
            return self.matcher is not None and self.matcher(value)
        if self.operator == "is true":
            return bool(value)
        if self.operator == "in":
            found = [_compare("=", value, choice, self.type) for choice in self.values]
            return True if True in found else None if None in found else False
        if self.operator == "between":
            low = _compare(">=", value, self.values[0], self.type)
            high = _compare("<=", value, self.values[1], self.type)
            return False if False in (low, high) else None if None in (low, high) else True
        if self.operator == "like":
            pattern = self.values[0]
            return None if pattern is None else like(str(pattern)).fullmatch(str(value)) is not None
        return _compare(self.operator, value, self.values[0], self.type)

    def __str__(self) -> str:
        right = self.attributes[1] if len(self.attributes) == 2 else ", ".join(map(repr, self.values))
        text = f"{self.attributes[0]} {self.operator} {self.label or right}".strip()
        return f"not ({text})" if self.negated else text


@dataclass(frozen=True, slots=True)
class And:
    """True when all children are true."""

    children: tuple[Expression, ...]

    def __str__(self) -> str:
        return " and ".join(f"({c})" if isinstance(c, Or) else str(c) for c in self.children)


@dataclass(frozen=True, slots=True)
class Or:
    """True when any child is true."""

    children: tuple[Expression, ...]

    def __str__(self) -> str:
        return " or ".join(f"({c})" if isinstance(c, And) else str(c) for c in self.children)


Expression = Filter | And | Or


def leaves(expression: Expression | None) -> Iterator[Filter]:
    """The filters of a tree, left to right."""
    if isinstance(expression, Filter):
        yield expression
    elif expression is not None:
        for child in expression.children:
            yield from leaves(child)


def conjunction(*parts: Expression | None) -> Expression | None:
    """AND of the parts that are not None, flat."""
    children: list[Expression] = []
    for part in parts:
        if isinstance(part, And):
            children.extend(part.children)
        elif part is not None:
            children.append(part)
    return children[0] if len(children) == 1 else And(tuple(children)) if children else None


def reduce(expression: Expression | None, known: Mapping[str, Scalar]) -> Expression | bool:
    """What is left to decide when only some attributes are known: a smaller tree, or whether the row passes."""
    if expression is None:
        return True
    if isinstance(expression, Filter):
        if all(name in known for name in expression.attributes):
            return expression.truth(known) is True
        return expression
    decisive = isinstance(expression, Or)
    left: list[Expression] = []
    for child in expression.children:
        part = reduce(child, known)
        if part is decisive:
            return decisive
        if not isinstance(part, bool):
            left.append(part)
    if not left:
        return not decisive
    if len(left) == len(expression.children) and all(a is b for a, b in zip(left, expression.children, strict=True)):
        return expression
    return left[0] if len(left) == 1 else type(expression)(tuple(left))


def _compare(operator: str, left: Scalar, right: Scalar, kind: ColumnType) -> bool | None:
    """A comparison by SQL's rules, but texts are equal in their folded form: a document prints a name in many ways."""
    if left is None or right is None:
        return None
    if not isinstance(left, str) or not isinstance(right, str):
        a, b = _number(left), _number(right)
        if a is not None and b is not None:
            return _decide(operator, a, b)
        left, right = str(left), str(right)
    if operator == "=" and kind not in (ColumnType.DATE, ColumnType.DATETIME):
        return fold(left) == fold(right)
    return _decide(operator, left, right)


def _decide(operator: str, left: object, right: object) -> bool:
    if operator == "=":
        return bool(left == right)
    order: int = (left > right) - (left < right)  # type: ignore[operator]
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[operator]


def _number(value: Scalar) -> float | None:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


@lru_cache(maxsize=256)
def like(pattern: str) -> re.Pattern[str]:
    """SQLite's LIKE: % is any text, _ one character, case aside; all else is itself."""
    body = "".join(".*" if c == "%" else "." if c == "_" else re.escape(c) for c in pattern)
    return re.compile(body, re.IGNORECASE | re.DOTALL)
