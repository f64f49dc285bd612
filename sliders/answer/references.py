"""The table and column that each name of a statement means, and for an unknown name the nearest
known ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sliders.answer.profile import ColumnProfile, TableProfile
from sliders.sentences import Sentences
from sliders.sql.names import nearest

say = Sentences("answer")


class References:
    """The tables and columns that a statement may use, and the meaning of each name in it."""

    def __init__(self, tree: exp.Expr, profiles: Sequence[TableProfile]) -> None:
        self.tree, self.profiles = tree, profiles
        self._by_name = {profile.view.name.lower(): profile for profile in profiles}
        ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        self.aliases: dict[str, TableProfile] = {}
        self._derived = {
            alias.alias.lower()
            for alias in tree.find_all(exp.Alias, exp.Subquery, exp.CTE)
            if alias.alias
        }
        self._derived |= {
            str(name).lower() for alias in tree.find_all(exp.TableAlias) for name in alias.columns
        }
        self.unknown_tables: list[str] = []
        for table in tree.find_all(exp.Table):
            name = table.name.lower()
            if name in ctes:
                self._derived.add(table.alias_or_name.lower())
            elif name in self._by_name:
                self.aliases[table.alias_or_name.lower()] = self._by_name[name]
            else:
                self.unknown_tables.append(table.name)

    def used(self) -> tuple[TableProfile, ...]:
        """The tables that the statement reads, each once, without derived tables."""
        return tuple(dict.fromkeys(self.aliases.values()))

    def of(self, column: exp.Expr | None) -> tuple[TableProfile, ColumnProfile] | None:
        """Returns the table and column that a name means; None for an alias, a derived column or
        another expression.
        """
        if not isinstance(column, exp.Column):
            return None
        owners = [self.aliases.get(column.table.lower())] if column.table else self.used()
        return next(
            ((o, found) for o in owners if o is not None and (found := o.column(column.name))), None
        )

    def unknown(self) -> list[str]:
        """Returns a sentence for each unknown name, with the nearest known names."""
        tables = [p.view.name for p in self.profiles]
        said = [
            say("no_table", name=name, tables=", ".join(tables))
            for name in dict.fromkeys(self.unknown_tables)
        ]
        if said:
            return said
        for column in self.tree.find_all(exp.Column):
            note = self._unknown(column)
            if note and note not in said:
                said.append(note)
        return said

    def _unknown(self, column: exp.Column) -> str:
        name, owner = column.name, column.table.lower()
        if (
            isinstance(column.this, exp.Star)
            or self.of(column)
            or name.lower() in self._derived
            or owner in self._derived
        ):
            return ""
        if name.lower() in {p.view.row_id.lower() for p in self.used() if p.view.row_id}:
            return ""
        if owner and owner not in self.aliases:
            return say("no_such_alias", column=column.sql(), alias=column.table)
        places = [p.view.name for p in self.profiles if p.column(name)]
        if places:
            return say("elsewhere_column", name=name, places=", ".join(places))
        holders = [self.aliases[owner]] if owner else self.used()
        known = [c.column.name for p in holders for c in p.columns]
        return say("no_column", name=name, nearest=", ".join(nearest(name, known)))
