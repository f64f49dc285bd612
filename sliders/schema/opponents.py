"""Tables whose rows are the sides of two-sided results or belong to one: each row names its side."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sliders.schema.names import spoken_name
from sliders.schema.types import Column, ColumnType, Table

_OTHERS = frozenset({"opponent", "opponents", "opposing", "rival", "versus", "against"})
_WON = frozenset({"won", "win", "winner", "victory"})


@dataclass(frozen=True, slots=True)
class SideColumns:
    """The columns of a side's row: its name, the other side's, and whether it won ("" where no column says)."""

    own: str
    other: str
    won: str


def side_columns(table: Table) -> SideColumns | None:
    """The columns by which a table's rows are sides; None where no one text column names an opponent.

    >>> side_columns(Table("crews", (Column("crew"), Column("opponent"), Column("won", ColumnType.BOOLEAN))))
    SideColumns(own='crew', other='opponent', won='won')
    """
    texts = [c for c in table.columns if c.type in (ColumnType.TEXT, ColumnType.CATEGORY)]
    others = [c for c in texts if _words(c) & _OTHERS]
    if len(others) != 1 or texts[0] is others[0]:
        return None
    kind = {word.rstrip("s") for word in spoken_name(table.name).split()}
    before = texts[: texts.index(others[0])]
    own = next((c for c in before if {w.rstrip("s") for w in _words(c)} & kind), before[-1])
    won = [c.name for c in table.columns if c.type is ColumnType.BOOLEAN and _words(c) & _WON]
    return SideColumns(own.name, others[0].name, won[0] if len(won) == 1 else "")


def with_groups(table: Table, question: str) -> Table:
    """A list with a column for what its rows belong to, where the question says something of that.

    >>> rowers = Table("rowers", (Column("rower"),), grain="many")
    >>> with_groups(rowers, "How many rowers rowed for a crew that lost?").column_names
    ('rower', 'crew')
    """
    found = _FOR_A_GROUP.search(question.lower())
    words = {word.rstrip("s") for column in table.columns for word in _words(column)}
    own = {word.rstrip("s") for word in spoken_name(table.name).split()}
    if table.grain != "many" or found is None or found[1] in words | own | _NO_GROUPS:
        return table
    return replace(table, columns=(*table.columns, Column(found[1])))


_FOR_A_GROUP = re.compile(r"\b(?:for|on) (?:an?|any|the) ([a-z]+) (?:that|which|who) ")
_NO_GROUPS = frozenset("day date year month time period reason purpose basis total price value amount number".split())


def _words(column: Column) -> set[str]:
    return set(spoken_name(column.name).split())
