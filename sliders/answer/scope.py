"""Parsing a statement and finding which table and column each name in it means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlglot
from rapidfuzz import fuzz
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sliders.answer.profile import ColumnProfile, TableProfile
from sliders.answer.question import normal
from sliders.errors import QueryError

DIALECT = "sqlite"
SAME_NAME = 85.0
"""Lowest similarity (0 to 100) at which a name that does not exist is taken for one that does."""


def parse_select(sql: str) -> exp.Query:
    """The one SELECT of `sql`.

    Raises:
        QueryError: it does not parse, is not one statement, or is not a SELECT.
    """
    try:
        statements = [tree for tree in sqlglot.parse(sql, dialect=DIALECT) if tree is not None]
    except SqlglotError as error:
        raise QueryError(f"the SQL does not parse: {str(error).splitlines()[0]}; write one SQLite SELECT") from error
    if len(statements) != 1:
        raise QueryError(f"{len(statements)} statements were given; write exactly one SELECT")
    if not isinstance(statements[0], exp.Query):
        raise QueryError("the statement is not a SELECT; write one SELECT")
    return statements[0]


def drop_condition(node: exp.Expr) -> bool:
    """Take a condition that must hold out of its statement; False where others stand beside it as alternatives."""
    parent = node.parent
    if isinstance(parent, exp.And):
        parent.replace(parent.right if parent.left is node else parent.left)
    elif isinstance(parent, exp.Where):
        parent.pop()
    return isinstance(parent, exp.And | exp.Where)


def stated_tests(tree: exp.Expr) -> list[exp.Not]:
    """The tests that something is there (`x IS NOT NULL`)."""
    return [n for n in tree.find_all(exp.Not) if isinstance(n.this, exp.Is) and isinstance(n.this.expression, exp.Null)]


class Names:
    """The tables and columns that may be used, and what the names of one statement mean."""

    def __init__(self, tree: exp.Expr, profiles: Sequence[TableProfile]) -> None:
        self.tree = tree
        self.profiles = profiles
        self._by_name = {profile.view.name.lower(): profile for profile in profiles}
        self._ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        self._aliases = {
            table.alias_or_name.lower(): self._by_name[table.name.lower()]
            for table in tree.find_all(exp.Table)
            if table.name.lower() in self._by_name and table.name.lower() not in self._ctes
        }

    def used(self) -> tuple[TableProfile, ...]:
        """The real tables of the statement."""
        return tuple(dict.fromkeys(self._aliases.values()))

    def of_alias(self, alias: str) -> TableProfile | None:
        """The table that an alias of the statement means."""
        return self._aliases.get(alias.lower())

    def resolve(self, column: exp.Expr | None) -> tuple[TableProfile, ColumnProfile] | None:
        """The table and column that a name means; None for aliases, derived columns and other expressions."""
        if not isinstance(column, exp.Column):
            return None
        if column.table:
            owner = self._aliases.get(column.table.lower())
            found = owner.column(column.name) if owner else None
            return (owner, found) if owner and found else None
        for owner in self.used():
            found = owner.column(column.name)
            if found:
                return owner, found
        return None

    def repair(self) -> list[str]:
        """Put right what code can put right in the names, in place; returns what was done.

        Raises:
            QueryError: a table or column does not exist and no existing one is near; the message lists what exists.
        """
        done = list(self._repair_tables())
        fresh = Names(self.tree, self.profiles)
        done += fresh._drop_unread()
        for column in list(self.tree.find_all(exp.Column)):
            note = fresh._repair_column(column)
            if note:
                done.append(note)
        return done

    def _repair_tables(self) -> Iterator[str]:
        for table in self.tree.find_all(exp.Table):
            name = table.name.lower()
            if name in self._by_name or name in self._ctes:
                continue
            best = _closest(table.name, [profile.view.name for profile in self.profiles])
            if best is None and len(self.profiles) == 1:
                best = self.profiles[0].view.name
            if best is None:
                known = ", ".join(profile.view.name for profile in self.profiles)
                raise QueryError(f"there is no table {table.name}; the tables are {known}")
            yield f"table {table.name} read as {best}"
            for column in self.tree.find_all(exp.Column):
                if column.table.lower() == name and not table.alias:
                    column.set("table", exp.to_identifier(best))
            table.set("this", exp.to_identifier(best))

    def _drop_unread(self) -> Iterator[str]:
        """Alternatives of an OR on tables that the statement does not read."""
        for column in list(self.tree.find_all(exp.Column)):
            owner = column.table.lower()
            if owner not in self._by_name or owner in self._aliases:
                continue
            if not _drop_alternative(column):
                raise QueryError(f"table {column.table} is not in FROM; use one table that holds all, or join it")
            yield f"the condition on {column.table}, which is not read, is left out"

    def _repair_column(self, column: exp.Column) -> str:
        if isinstance(column.this, exp.Star) or self.is_derived(column):
            return ""
        if self.resolve(column):
            return self._qualify(column)
        name = column.name
        owners = [profile for profile in self.used() if profile.column(name)]
        if column.table and len(owners) == 1:
            column.set("table", exp.to_identifier(self.alias_of(owners[0])))
            return f"{name} taken from {owners[0].view.name}"
        if column.this.quoted and not column.table:
            column.replace(exp.Literal.string(name))
            return f'"{name}" read as text'
        scope = [self._aliases[column.table.lower()]] if column.table.lower() in self._aliases else self.used()
        best = near_name(name, scope)
        if best:
            column.set("this", exp.to_identifier(best))
            return f"column {name} read as {best}"
        elsewhere = [profile.view.name for profile in self.profiles if profile.column(name)]
        if elsewhere and _drop_alternative(column):
            return f"the condition on {name}, which is in {elsewhere[0]}, is left out"
        if elsewhere:
            raise QueryError(f"column {name} is in table {elsewhere[0]}, which the FROM clause does not join")
        known = "; ".join(f"{p.view.name}: {', '.join(c.column.name for c in p.columns)}" for p in self.profiles)
        raise QueryError(f"there is no column {name}; the columns are {known}")

    def _qualify(self, column: exp.Column) -> str:
        """A bare name that two joined tables have is read from the first of them."""
        holders = [profile for profile in self.used() if profile.column(column.name)]
        if column.table or len(holders) < 2 or len(list(self.tree.find_all(exp.Select))) > 1:
            return ""
        column.set("table", exp.to_identifier(self.alias_of(holders[0])))
        return ""

    def is_missing(self, column: exp.Column) -> bool:
        """Whether a name is neither a column of a table that is read nor derived."""
        return self.resolve(column) is None and not self.is_derived(column)

    def alias_at(self, column: exp.Column) -> str:
        """The name, in this statement, of the table that a column belongs to."""
        found = self.resolve(column)
        return self.alias_of(found[0]) if found else column.table

    def alias_of(self, profile: TableProfile) -> str:
        """The name of a table in this statement."""
        return next(alias for alias, owner in self._aliases.items() if owner is profile)

    def is_derived(self, column: exp.Column) -> bool:
        """Whether a name is an alias, a column of a derived table, or a row id."""
        if column.table and column.table.lower() not in self._aliases:
            return True
        if column.name.lower() in {profile.view.row_id for profile in self.used() if profile.view.row_id}:
            return True
        named = {alias.alias.lower() for alias in self.tree.find_all(exp.Alias)}
        named |= {
            part.name.lower()
            for table in self.tree.find_all(exp.TableAlias)
            for part in table.args.get("columns") or ()
        }
        return column.name.lower() in named


def _drop_alternative(column: exp.Column) -> bool:
    """Take the alternative of an OR that holds `column` away; False when it stands in none."""
    node: exp.Expr = column
    while node.parent is not None and not isinstance(node.parent, exp.Or | exp.Select):
        node = node.parent
    either = node.parent
    if not isinstance(either, exp.Or):
        return False
    either.replace(either.expression if node is either.this else either.this)
    return True


def near_name(name: str, tables: Sequence[TableProfile]) -> str | None:
    """The one column of `tables` that a name which does not exist most likely means."""
    known = [column.column.name for table in tables for column in table.columns]
    return _closest(name, known) or _same_ending(name, known)


def _same_ending(name: str, known: Sequence[str]) -> str | None:
    """The one known name that ends the given one, word by word, or is ended by it (winner_points: points)."""
    words = name.lower().split("_")
    parts = {other: other.lower().split("_") for other in set(known)}
    ending = [other for other, own in parts.items() if words[-len(own) :] == own or own[-len(words) :] == words]
    return ending[0] if len(ending) == 1 else None


def _closest(name: str, known: Sequence[str]) -> str | None:
    scored = sorted(((fuzz.ratio(normal(name), normal(other)), other) for other in set(known)), reverse=True)
    if not scored or scored[0][0] < SAME_NAME or (len(scored) > 1 and scored[1][0] >= SAME_NAME):
        return None
    return scored[0][1]


def extract_sql(reply: str) -> str:
    """The statement in a reply that may carry a code fence, a label or words around it."""
    text = reply.strip()
    if "```" in text:
        text = text.split("```")[1].removeprefix("sqlite").removeprefix("sql").strip()
    lowered = text.lower()
    starts = [place for word in ("select", "with ") if (place := lowered.find(word)) >= 0]
    text = text[min(starts) :] if starts else text
    return text.split(";")[0].strip() if not _semicolon_in_text(text) else text.strip().rstrip(";")


def _semicolon_in_text(text: str) -> bool:
    return text.split(";")[0].count("'") % 2 == 1
