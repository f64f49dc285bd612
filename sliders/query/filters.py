"""Conditions on attributes as values: SQL conditions, which SQLite decides, in
a tree of AND and OR.

NOT is pushed into the conditions when a query is parsed (De Morgan holds for three values), so
a tree has no NOT nodes. A row passes when its condition is true; null and false both reject it.
A tree without NOT is monotone, so each filter may be read as "true or not true" without
changing which rows pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from sliders.sql.limits import Limits, Rights, longest_value
from sliders.sql.sandbox import ALLOWED_FUNCTIONS, Sandbox, SandboxError

Scalar = str | int | float | bool | None
Undecidable = SandboxError
"""SQLite cannot decide a condition by itself."""
_LARGEST = 2**63 - 1
_RIGHTS = Rights(tables=frozenset(), functions=ALLOWED_FUNCTIONS)
_LIMITS = Limits(engine=longest_value(1_000_000))


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition on attributes of a table.

    `sql` is the text of the condition, also its key in statistics; `test` is the same over the
    parameters :a0, :a1 ..., one for each of `attributes`. When it compares one attribute with
    literals, `kind` is sqlglot's name of the operator and `values` are the literals. `matcher`, if
    set, decides instead of SQL whether a value joins a value of another table.
    """

    sql: str
    attributes: tuple[str, ...]
    test: str = ""
    kind: str = ""
    negated: bool = False
    values: tuple[Scalar, ...] = ()
    matcher: Callable[[Scalar], bool] | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        """Identifies the condition in statistics; the same condition in another
        query has the same key.
        """
        return f"{self.sql} {self.values}" if self.matcher is not None else self.sql

    def truth(self, values: Mapping[str, Scalar]) -> bool | None:
        """True, false or null (None) for the given attribute values.

        Raises:
            Undecidable: SQLite cannot decide the condition.
        """
        given = tuple(values[name] for name in self.attributes)
        if self.matcher is not None:
            return None if given[0] is None else self.matcher(given[0])
        return _decided(self.test, given)

    def __str__(self) -> str:
        return self.sql


@lru_cache(maxsize=1)
def _sandbox() -> Sandbox:
    """An empty database, in which a condition has the same meaning as over a real table."""
    return Sandbox(analysts=True, engine=longest_value(1_000_000))


@lru_cache(maxsize=10_000)
def _decided(test: str, given: tuple[Scalar, ...]) -> bool | None:
    small = (float(v) if isinstance(v, int) and abs(v) > _LARGEST else v for v in given)
    given_values = {f"a{n}": value for n, value in enumerate(small)}
    try:
        found = _sandbox().decide(f"SELECT NOT NOT ({test})", given_values, _RIGHTS, _LIMITS)
    except SandboxError as error:
        if error.kind == "stopped":
            _sandbox.cache_clear()
        raise
    return None if found is None else bool(found)


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


def conjuncts(expression: Expression | None) -> tuple[Expression, ...]:
    """The parts that must all hold."""
    if expression is None:
        return ()
    return expression.children if isinstance(expression, And) else (expression,)


def joined(kind: type[And | Or], *parts: Expression | None) -> Expression | None:
    """AND or OR of the parts that are not None, flat."""
    children: list[Expression] = []
    for part in parts:
        if isinstance(part, kind):
            children.extend(part.children)
        elif part is not None:
            children.append(part)
    return children[0] if len(children) == 1 else kind(tuple(children)) if children else None


def reduce(expression: Expression | None, known: Mapping[str, Scalar]) -> Expression | bool:
    """Returns the part of an expression that is still undecided when only some attributes are
    known: a smaller tree, or True or False when the row is decided.
    """
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
    if len(left) == len(expression.children) and all(
        a is b for a, b in zip(left, expression.children, strict=True)
    ):
        return expression
    return left[0] if len(left) == 1 else type(expression)(tuple(left))
