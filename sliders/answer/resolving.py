"""The expressions behind the aliases and positions of a statement."""

from __future__ import annotations

from sqlglot import exp


def resolved(select: exp.Select) -> exp.Select:
    """Returns a copy in which GROUP BY, HAVING and ORDER BY name expressions in the place of
    aliases and positions.
    """
    kept = select.copy()
    for part in ("order", "group", "having"):
        clause = kept.args.get(part)
        for node in list(clause.find_all(exp.Column, exp.Literal)) if clause else ():
            direct = isinstance(node, exp.Column) or isinstance(
                node.parent, exp.Ordered | exp.Group
            )
            meant = named(select, node) if direct else node
            if meant is not node:
                node.replace(meant.copy())
    return kept


def named(select: exp.Select, key: exp.Expr) -> exp.Expr:
    """Returns the expression behind an alias or a position in GROUP BY or ORDER BY, else the key
    itself.
    """
    meant: exp.Expr = key
    if (
        isinstance(key, exp.Literal)
        and key.name.isdigit()
        and 0 < int(key.name) <= len(select.expressions)
    ):
        meant = select.expressions[int(key.name) - 1].unalias()
    elif isinstance(key, exp.Column) and not key.table:
        for item in select.expressions:
            if isinstance(item, exp.Alias) and item.alias.lower() == key.name.lower():
                meant = item.unalias()
    return meant
