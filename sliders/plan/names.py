"""Which table and attribute a column of a query means, and where in the query it stands."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from sliders.errors import QueryError
from sliders.schema.types import Column, ColumnType, Table

SYSTEM = ("document", "document_id")
"""Columns that every table has, known without reading."""


@dataclass(frozen=True, slots=True)
class QueryTable:
    """A table that a query may name. An `open` one takes attributes that it does not have yet, as the query names them."""

    table: Table
    name: str = ""
    open: bool = False

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self.table.name)


@dataclass(frozen=True, slots=True)
class Place:
    """Line and column, from 1, of a node in the query; prints as " at line 1, column 8", or nothing when unknown."""

    line: int = 0
    column: int = 0

    @classmethod
    def of(cls, sql: str, node: exp.Expr) -> Place:
        """The place of the first word of a node."""
        starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
        if not starts:
            return cls()
        before = sql[: min(starts)]
        return cls(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)

    def __str__(self) -> str:
        return f" at line {self.line}, column {self.column}" if self.line else ""


@dataclass(slots=True)
class Names:
    """Names of one query. `types` collects what the query shows of the types of new attributes."""

    sql: str
    tables: Mapping[str, QueryTable]
    types: dict[tuple[str, str], ColumnType] = field(default_factory=dict)

    def resolve(self, column: exp.Column) -> tuple[str, str]:
        """Alias and attribute of a column.

        Raises:
            QueryError: there is none, or there are several.
        """
        place = Place.of(self.sql, column)
        name = column.name
        if column.table:
            if column.table not in self.tables:
                known = ", ".join(self.tables)
                raise QueryError(f"there is no table {column.table!r}{place}; the query's tables are: {known}")
            return column.table, self._attribute(column.table, name, place)
        if len(self.tables) == 1:
            alias = next(iter(self.tables))
            return alias, self._attribute(alias, name, place)
        having = [alias for alias in self.tables if self._has(alias, name)]
        if len(having) > 1 or (not having and any(t.open for t in self.tables.values())):
            choices = " or ".join(f"{alias}.{name}" for alias in having or self.tables)
            raise QueryError(f"column {name!r}{place} is ambiguous; write {choices}")
        if not having:
            raise QueryError(f"no table of the query has a column {name!r}{place}; {self._known(name)}")
        return having[0], self._attribute(having[0], name, place)

    def column(self, alias: str, name: str) -> Column:
        """The definition of an attribute; an attribute that nobody described has its name only."""
        for column in self.tables[alias].table.columns:
            if column.name == name:
                return column
        return Column(name)

    def columns(self, alias: str, star: exp.Expr) -> tuple[str, ...]:
        """All attributes of a table, for `*`."""
        names = self.tables[alias].table.column_names
        if not names:
            place = Place.of(self.sql, star)
            raise QueryError(f"'*'{place} has no meaning: {alias!r} has no attributes yet; name those that you want")
        return names

    def star(self, star: exp.Expr) -> tuple[str, ...]:
        """Aliases that a star covers."""
        table = star.table if isinstance(star, exp.Column) else ""
        return (table,) if table else tuple(self.tables)

    def is_output(self, column: exp.Column, select: exp.Select) -> bool:
        """Whether the name is one that SELECT gives (`count(*) AS n ... ORDER BY n`), and no attribute."""
        if column.is_star:
            return True
        outputs = {e.alias for e in select.expressions if isinstance(e, exp.Alias)}
        if column.table or column.name not in outputs or any(self._has(alias, column.name) for alias in self.tables):
            return False
        return column.find_ancestor(exp.Order, exp.Group, exp.Having) is not None

    def _has(self, alias: str, name: str) -> bool:
        return any(name.casefold() == known.casefold() for known in (*self.tables[alias].table.column_names, *SYSTEM))

    def _attribute(self, alias: str, name: str, place: Place) -> str:
        table = self.tables[alias]
        for known in (*table.table.column_names, *SYSTEM):
            if known.casefold() == name.casefold():
                return known
        close = difflib.get_close_matches(name, table.table.column_names, 1, 0.85)
        if not table.open or close:
            raise QueryError(f"table {alias!r} has no column {name!r}{place}; {self._known(name, alias)}")
        return name

    def _known(self, name: str, alias: str = "") -> str:
        known = [c for a, t in self.tables.items() if alias in ("", a) for c in t.table.column_names]
        close = difflib.get_close_matches(name, known, 1)
        return f"did you mean {close[0]!r}?" if close else f"its columns are: {', '.join(dict.fromkeys(known)) or 'none'}"
