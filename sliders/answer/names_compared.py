"""Names that a statement compares, counts or groups in their printed forms, where several forms are one name."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sliders.answer.finding import Finding, column_name
from sliders.answer.probes import counting, distinct, number
from sliders.answer.profile import ColumnProfile, TableProfile, identifier, quote
from sliders.answer.references import References
from sliders.answer.turns import RunSql

_TESTS = (exp.EQ, exp.NEQ, exp.In)
_SHOWN = 3  # names that are told


def printed_names(tree: exp.Query, names: References, run_sql: RunSql) -> Iterator[Finding]:
    """Printed forms that are grouped, counted as different things, compared or joined on, and that are forms of one name."""
    seen: set[str] = set()
    for node, kind in _compared(tree):
        owner = names.of(node)
        canonical = None if owner is None else _canonical(*owner)
        if owner is None or canonical is None or canonical.column.name in seen:
            continue
        column, beside = owner[1].column.name, canonical.column.name
        forms = _forms(owner[0].view.name, column, beside, run_sql)
        if not forms or (kind == "test" and not _splits(node, forms)) or (kind == "group" and _same(node, beside, run_sql)):
            continue
        seen.add(beside)
        told = [f"{', '.join(map(quote, some))} are {quote(name)}" for name, some in list(forms.items())[:_SHOWN]]
        more = f", and {len(forms) - _SHOWN} more names have several forms" if len(forms) > _SHOWN else ""
        text = f"{column} holds what each document prints, and one name is printed in several forms: {'; '.join(told)}{more}"
        name = column_name(beside)
        yield Finding("names", column, f"{text}; group, count, compare and join by {name}, unless printed forms are asked for")


def _compared(tree: exp.Query) -> Iterator[tuple[exp.Expr, str]]:
    """The columns that a statement groups or counts by, tests against literals, and joins on."""
    for group in tree.find_all(exp.Group):
        yield from ((node, "group") for node in group.expressions)
    for single in tree.find_all(exp.Distinct):
        items = single.expressions or (single.parent.expressions if isinstance(single.parent, exp.Select) else ())
        yield from ((item.unalias(), "group") for item in items)
    for test in tree.find_all(*_TESTS):
        other = test.args.get("expression")
        joins = isinstance(other, exp.Column) or (isinstance(test, exp.In) and test.args.get("query") is not None)
        yield test.this, "join" if joins else "test"
        if other is not None:
            yield other, "join" if isinstance(test.this, exp.Column) else "test"
    for join in tree.find_all(exp.Join):
        yield from ((exp.column(used.name), "join") for used in join.args.get("using") or ())


def _canonical(table: TableProfile, column: ColumnProfile) -> ColumnProfile | None:
    """The column that holds the canonical forms of a column."""
    beside = ((c, c.companion) for c in table.columns if c.companion is not None)
    return next((c for c, of in beside if of.role == "canonical" and of.companion_of == column.column.name), None)


def _forms(table: str, column: str, canonical: str, run_sql: RunSql) -> dict[str, list[str]]:
    """The printed forms of each name that has another form than its own, by name."""
    name, printed = identifier(canonical), identifier(column)
    several = f"SELECT {name} FROM {identifier(table)} WHERE {printed} <> {name}"
    rows = run_sql(f"SELECT DISTINCT {name}, {printed} FROM {identifier(table)} WHERE {name} IN ({several}) ORDER BY 1, 2").rows
    forms: dict[str, list[str]] = {}
    for one, form in rows:
        forms.setdefault(str(one), []).append(str(form))
    return forms


def _splits(node: exp.Expr, forms: dict[str, list[str]]) -> bool:
    """Whether a test names some forms of a name and not the others."""
    test = node.find_ancestor(*_TESTS)
    literals = {one.name for one in test.find_all(exp.Literal) if one.is_string} if test is not None else set()
    return any(literals & {name, *some} and not set(some) <= literals for name, some in forms.items())


def _same(node: exp.Expr, canonical: str, run_sql: RunSql) -> bool:
    """Whether the rows that the statement reads have as many printed forms as names."""
    select = node.find_ancestor(exp.Select)
    if select is None or not isinstance(node, exp.Column):
        return False
    beside = exp.column(canonical, table=node.table or None, quoted=True)
    printed, names = (number(counting(select, distinct(one)), run_sql) for one in (node, beside))
    return printed is not None and printed == names
