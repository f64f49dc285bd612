"""Checks of a pinned schema: conditions that every row of a table must meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sliders.errors import SchemaError

CheckKind = Literal["not_null", "unique", "range", "values", "relation", "sql"]
CheckValue = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Check:
    """A condition that every row of a table must meet.

    Args:
        kind: "not_null"; "unique" (no two rows have the same values in these columns); "range";
            "values" (only these); "relation" (each value stands in a column of another table);
            "sql" (a SELECT that must return no row).
        columns: the columns of the schema that it is about; () for "sql".
        least: the least value of a range; None for any.
        most: the greatest value of a range; None for any.
        values: the allowed values.
        table: the other table of a relation.
        column: its column.
        sql: the SELECT, over the tables by their SQL names.
    """

    kind: CheckKind
    columns: tuple[str, ...] = ()
    least: CheckValue | None = None
    most: CheckValue | None = None
    values: tuple[CheckValue, ...] = ()
    table: str = ""
    column: str = ""
    sql: str = ""

    def __str__(self) -> str:
        names = ", ".join(self.columns)
        match self.kind:
            case "not_null":
                return f"{names} is not empty"
            case "unique":
                return f"{names} is unique"
            case "range" if self.least is None:
                return f"{names} is at most {self.most}"
            case "range" if self.most is None:
                return f"{names} is at least {self.least}"
            case "range":
                return f"{names} is between {self.least} and {self.most}"
            case "values":
                return f"{names} is one of {', '.join(map(str, self.values))}"
            case "relation":
                return f"{names} stands in {self.table}.{self.column}"
            case _:
                return self.sql


def checks_from(table: str, listed: object, columns: Sequence[str]) -> tuple[Check, ...]:
    """Returns the checks of a table from a pinned schema: a list of mappings of one kind each, such
    as `not_null: amount`, `unique: [document, number]`, `range: {amount: [0, 1000]}`, `values:
    {currency: [EUR, USD]}`, `relation: {supplier: vendors.name}`, `sql: SELECT ...`.

    Args:
        table: the table's name, for messages.
        listed: the content of `checks`; None for none.
        columns: the names of the table's columns.

    Raises:
        SchemaError: a check is not well formed, or names a column that the table does not have.
    """
    if listed is None:
        return ()
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise SchemaError(f"the checks of table {table!r} are no list; begin each with a dash")
    found = tuple(check for part in listed for check in _checks(table, part))
    for check in found:
        if strange := sorted({*check.columns} - {*columns, "document"}):
            raise SchemaError(
                f"a check of table {table!r} names {', '.join(strange)}; name columns of the table"
            )
    return found


def _checks(table: str, part: object) -> list[Check]:
    if not isinstance(part, Mapping) or not {*part} <= {*get_args(CheckKind)}:
        raise SchemaError(
            f"a check of table {table!r} cannot be {part!r}; write one of "
            f"{', '.join(get_args(CheckKind))} with its columns"
        )
    return [check for kind, about in part.items() for check in _of_kind(table, kind, about)]


def _of_kind(table: str, kind: CheckKind, about: Any) -> list[Check]:
    if kind == "sql" and isinstance(about, str) and about.strip():
        return [Check("sql", sql=" ".join(about.split()))]
    if kind in ("not_null", "unique"):
        names = (about,) if isinstance(about, str) else about
        if isinstance(names, Sequence) and names and all(isinstance(n, str) for n in names):
            if kind == "unique":
                return [Check(kind, tuple(names))]
            return [Check(kind, (name,)) for name in names]
    if kind in ("range", "values", "relation") and isinstance(about, Mapping) and about:
        return [_about_column(table, kind, str(name), told) for name, told in about.items()]
    raise SchemaError(
        f"the check {kind} of table {table!r} cannot be {about!r}; see the examples in "
        "docs/how-to/schema.md"
    )


def _about_column(table: str, kind: CheckKind, name: str, told: Any) -> Check:
    listed = isinstance(told, Sequence) and not isinstance(told, str)
    if kind == "range" and listed and len(told) == 2 and any(one is not None for one in told):
        least, most = (
            str(v) if v is not None and not isinstance(v, CheckValue) else v for v in told
        )
        return Check(kind, (name,), least, most)
    if kind == "values" and listed and told:
        allowed = tuple(v if isinstance(v, CheckValue) else str(v) for v in told)
        return Check(kind, (name,), values=allowed)
    if kind == "relation" and isinstance(told, str) and told.count(".") == 1:
        return Check(kind, (name,), table=told.split(".")[0], column=told.split(".")[1])
    raise SchemaError(
        f"the check {kind} of {table}.{name} cannot be {told!r}; write range: {{{name}: [0, 9]}}, "
        f"values: {{{name}: [a, b]}} or relation: {{{name}: other_table.column}}"
    )
