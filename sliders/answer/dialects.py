"""A statement as the model wrote it, and the same statement in SQLite's dialect, with the same
meaning.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sliders.answer.profile import TableProfile
from sliders.answer.references import References
from sliders.sql.statement import DIALECT, parse_select
from sliders.sql.translate import to_sqlite
from sliders.values.expected import TEXTUAL
from sliders.values.folding import normalize


def in_sqlite(sql: str, profiles: Sequence[TableProfile]) -> tuple[str, exp.Query]:
    """Returns the statement to run, and its tree. The text is unchanged when SQLite reads it as it
    was meant.

    These forms of other dialects are translated: parts of dates, days and years between two dates,
    ILIKE, double quotes around a string, an apostrophe inside a string, and a text that the column
    holds in other letter case.

    Raises:
        QueryError: the text is no single SELECT in any dialect.
    """
    tree, changed = to_sqlite(sql)
    known = {
        name.lower()
        for p in profiles
        for name in (p.view.name, p.view.row_id, *(c.column.name for c in p.columns))
    }
    known |= {alias.alias.lower() for alias in tree.find_all(exp.Alias, exp.TableAlias)}
    for column in list(tree.find_all(exp.Column)):
        if (
            column.this.args.get("quoted")
            and not column.table
            and column.name.lower() not in known
            and '"' in sql
            and _is_compared(column)
        ):
            column.replace(exp.Literal.string(column.name))
            changed = True
    changed = _row_numbers(tree, profiles) or changed
    changed = changed or tree.find(exp.ILike) is not None or _spelled(tree, profiles)
    return (tree.sql(DIALECT), parse_select(tree.sql(DIALECT))) if changed else (sql, tree)


_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike)


def _is_compared(name: exp.Column) -> bool:
    """Says whether a quoted name stands where a column is compared with a text."""
    test = name.parent
    if isinstance(test, exp.In):
        return test.this is not name
    return isinstance(test, _COMPARISONS) and test.args.get("expression") is name


_ROW_NUMBERS = ("rowid", "_rowid_", "oid")


def _row_numbers(tree: exp.Query, profiles: Sequence[TableProfile]) -> bool:
    """Replaces SQLite's row number, which a view does not have, by the table's own row id. In ORDER
    BY it means nothing, and stays. Returns True when the tree changed.
    """
    names, changed = References(tree, profiles), False
    for column in tree.find_all(exp.Column):
        if column.name.lower() not in _ROW_NUMBERS or names.of(column) is not None:
            continue
        owners = [names.aliases.get(column.table.lower())] if column.table else list(names.used())
        if (
            len(owners) == 1
            and owners[0] is not None
            and owners[0].view.row_id
            and not isinstance(_within(column), exp.Ordered)
        ):
            column.this.replace(exp.to_identifier(owners[0].view.row_id))
            changed = True
    return changed


def _within(column: exp.Column) -> exp.Expr | None:
    """Returns the ORDER BY item or the statement that a column stands in, whichever is nearer."""
    return column.find_ancestor(exp.Ordered, exp.Select)


def _spelled(tree: exp.Query, profiles: Sequence[TableProfile]) -> bool:
    """Replaces texts in tests for equality by the column's spelling, when only case, accents,
    quotes, full stops and commas differ ("C#" is not "C++"). Returns True when the tree changed.
    """
    names, changed = References(tree, profiles), False
    for node in list(tree.find_all(exp.EQ, exp.NEQ, exp.In)):
        owner = names.of(node.this)
        if owner is None or owner[1].column.type not in TEXTUAL:
            continue
        for literal in node.expressions if isinstance(node, exp.In) else [node.expression]:
            if (
                isinstance(literal, exp.Literal)
                and literal.is_string
                and literal.name not in owner[1].texts
            ):
                held = [text for text in owner[1].texts if _form(text) == _form(literal.name)]
                if len(held) == 1 or (held and isinstance(node, exp.In)):
                    for text in held[1:]:
                        node.append("expressions", exp.Literal.string(text))
                    literal.replace(exp.Literal.string(held[0]))
                    changed = True
    return changed


_MARKS = str.maketrans(".,", "  ")


def _form(text: str) -> str:
    return " ".join(normalize(text).text.translate(_MARKS).split())
