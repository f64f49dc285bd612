"""Findings about names that a statement compares, counts or groups in their printed forms, although
several forms are one name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from shlex import quote as shell_quote

from sqlglot import exp

from sliders.answer.by_names import TESTS, over_names, owner_of
from sliders.answer.doubts import Doubt, Rows, effect_words
from sliders.answer.finding import Finding
from sliders.answer.profile import ColumnProfile, TableProfile
from sliders.answer.range import number_in
from sliders.answer.references import References
from sliders.answer.resolving import named
from sliders.answer.turns import QueryResult, RunSql
from sliders.errors import QueryError, StoreError
from sliders.sentences import Sentences
from sliders.sql.quoting import plain_identifier, quote_identifier, quote_literal
from sliders.sql.statement import DIALECT

say = Sentences("answer")

_SHOWN = 3  # names that a finding lists
_DIGITS = ".9g"  # of a sum: its last digits depend on the order of the rows
Forms = dict[str, list[str]]


def printed_names(
    tree: exp.Query, names: References, result: QueryResult, run_sql: RunSql
) -> Iterator[Finding]:
    """Yields a finding for each column whose printed forms are grouped, counted, compared or joined
    on, when the same statement over canonical names gives another result. The finding has the doubt
    that is shown when the model keeps its statement.
    """
    for table, column, canonical in dict.fromkeys(_canonical(tree, names)):
        forms = _forms(table, column, canonical, run_sql)
        if forms:
            joined = over_names(tree, names, table, column, canonical).sql(DIALECT)
            after = _rows(joined, run_sql)
            if after is None or _told(after, forms) != _told(result.rows, forms):
                yield _finding(
                    tree,
                    f"{table.view.name}.{column}",
                    canonical,
                    forms,
                    result.rows,
                    after,
                    joined,
                )


def _finding(
    tree: exp.Query,
    column: str,
    canonical: str,
    forms: Forms,
    before: Rows,
    after: Rows | None,
    joined: str,
) -> Finding:
    asked = {literal.name for literal in tree.find_all(exp.Literal)}
    first = sorted(forms.items(), key=lambda item: not asked & {item[0], *item[1]})
    told = "; ".join(
        f"{', '.join(map(quote_literal, some))} are {quote_literal(name)}"
        for name, some in first[:_SHOWN]
    )
    told += say("more_names", count=len(forms) - _SHOWN) if len(forms) > _SHOWN else ""
    name = column.rpartition(".")[2]
    text = say("printed_forms", column=name, forms=told, canonical=plain_identifier(canonical))
    effect = effect_words(before, [after]) if after is not None else say("not_computed")
    thing = say("forms_apart", forms=told)
    command = f"sliders query {shell_quote(joined)}  # one name; two: split"
    number = number_in(after) if after is not None else None
    return Finding(
        "names", name, text, doubt=Doubt("same", thing, column, effect, command), other=number
    )


def _canonical(tree: exp.Query, names: References) -> Iterator[tuple[TableProfile, str, str]]:
    """Yields the table, the printed column and the canonical column of each column that a statement
    compares.
    """
    for node in _compared(tree):
        owner = owner_of(node, names)
        beside = None if owner is None else _beside(*owner)
        if owner is not None and beside is not None:
            yield owner[0], owner[1].column.name, beside


def _compared(tree: exp.Query) -> Iterator[exp.Column]:
    """Yields the columns that a statement groups or counts by, tests, or joins on, also inside
    expressions.
    """
    found: list[exp.Expr] = [*tree.find_all(*TESTS)]
    for select in tree.find_all(exp.Select):
        group = select.args.get("group")
        found += [named(select, node) for node in (group.expressions if group is not None else ())]
    for single in tree.find_all(exp.Distinct):
        found += single.expressions or (
            single.parent.expressions if isinstance(single.parent, exp.Select) else ()
        )
    for window in tree.find_all(exp.Window):
        found += window.args.get("partition_by") or ()
    for several in tree.find_all(exp.SetOperation):
        found += several.selects if several.args.get("distinct") else ()
    for join in tree.find_all(exp.Join):
        found += [exp.column(used.name) for used in join.args.get("using") or ()]
    for node in found:
        yield from node.find_all(exp.Column)


def _beside(table: TableProfile, column: ColumnProfile) -> str | None:
    """Returns the column with the canonical forms of a column; None when there is none."""
    beside = ((c.column.name, c.companion) for c in table.columns if c.companion is not None)
    return next(
        (
            name
            for name, of in beside
            if of.role == "canonical" and of.companion_of == column.column.name
        ),
        None,
    )


def _forms(table: TableProfile, column: str, canonical: str, run_sql: RunSql) -> Forms:
    """Returns the printed forms of each canonical name that has other forms."""
    name, printed, source = (
        quote_identifier(canonical),
        quote_identifier(column),
        quote_identifier(table.view.name),
    )
    several = f"SELECT {name} FROM {source} WHERE {printed} <> {name}"
    rows = run_sql(
        f"SELECT DISTINCT {name}, {printed} FROM {source} WHERE {name} IN ({several}) ORDER BY 1, 2"
    ).rows
    forms: Forms = {}
    for one, form in rows:
        forms.setdefault(str(one), []).append(str(form))
    return forms


def _rows(sql: str, run_sql: RunSql) -> Rows | None:
    """Returns the rows of a statement; None when it fails or is too slow."""
    try:
        return [tuple(row) for row in run_sql(sql).rows]
    except (StoreError, QueryError):
        return None


def _told(rows: Rows, forms: Forms) -> Counter[tuple[object, ...]]:
    """Returns the rows with each printed form replaced by its canonical name, counted."""
    names = {form: name for name, some in forms.items() for form in some}
    return Counter(
        tuple(
            names.get(c, c)
            if isinstance(c, str)
            else format(c, _DIGITS)
            if isinstance(c, float)
            else c
            for c in row
        )
        for row in rows
    )
