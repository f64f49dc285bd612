"""One value of each thing at two times, set side by side: the statement that small models do not find by themselves."""

from __future__ import annotations

import re

from sqlglot import exp

from sliders.answer.profile import DATED, NUMERIC, TEXTUAL, ColumnProfile, TableProfile, identifier
from sliders.answer.question import kinds
from sliders.answer.scope import DIALECT, Names
from sliders.answer.values import RunSql

_LOWER = re.compile(r"\b(?:lower|less|fewer|smaller|decreas\w*|fell|shrank|declin\w*)\b", re.I)
_HIGHER = re.compile(r"\b(?:higher|more|greater|larger|increas\w*|rose|grew)\b", re.I)
_LEAST = re.compile(r"\b(?:lowest|least|smallest|slowest)\b", re.I)
_PAIR = re.compile(
    r"(?<![\w-])((?:19|20)\d\d)(?![\w-])[^?.]*?\b(than|to|and)\b[^?.]*?(?<![\w-])((?:19|20)\d\d)(?![\w-])", re.I
)


def comparison_sql(question: str, tree: exp.Query, names: Names, run_sql: RunSql) -> str | None:
    """The things whose value differs as the question says between two years, read off the statement's own names.

    Only for questions that compare two years ("lower in 2021 than in 2020", "highest growth from 2020 to 2021"): the
    table, the value and the thing are those of the statement. A thing that is stated more than once for a year is
    compared within one document. None when a part is not clear.
    """
    pair = _PAIR.search(question)
    if "compare" not in kinds(question) or pair is None or len(names.used()) != 1 or not isinstance(tree, exp.Select):
        return None
    table = names.used()[0]
    read = [found[1] for column in tree.find_all(exp.Column) if (found := names.resolve(column))]
    period = _period(table, (int(pair[1]), int(pair[3])))
    things = [column for column in read if column.column.type in TEXTUAL and column.column.name != table.view.document]
    fixed = _fixed(tree, names, period)
    kept = {name for name, _ in fixed}
    values = {one.column.name for one in read if one.column.type in NUMERIC and one is not period} - kept
    condition = _condition(question, pair[2].lower())
    if period is None or not things or len(values) != 1 or condition is None:
        return None
    thing, value = identifier(things[0].column.name), identifier(values.pop())
    name, when = identifier(table.view.name), identifier(period.column.name)
    paper = table.view.document or "document"
    same = f"a.{thing} = b.{thing}"
    if table.column(paper) and _repeats(name, thing, when, run_sql):
        same += f" AND a.{identifier(paper)} = b.{identifier(paper)}"
    what = f"b.{thing}" if "ORDER" in condition else f"DISTINCT b.{thing}"
    years = f"a.{when} = {pair[1]} AND b.{when} = {pair[3]}"
    years += "".join(f" AND {side}.{identifier(name)} = {text}" for name, text in fixed for side in "ab")
    test = condition.format(a=f"a.{value}", b=f"b.{value}")
    return f"SELECT {what} FROM {name} AS a JOIN {name} AS b ON {same} WHERE {years}{test}"


def _fixed(tree: exp.Select, names: Names, period: ColumnProfile | None) -> list[tuple[str, str]]:
    """Equalities of the statement on other columns than the period: they hold for both sides."""
    where = tree.args.get("where")
    tests = {}
    for node in where.find_all(exp.EQ) if where else ():
        found = names.resolve(node.this)
        inside = node.find_ancestor(exp.Select) is tree and not node.find_ancestor(exp.Or)
        if found and inside and found[1] is not period and isinstance(node.expression, exp.Literal):
            tests[found[1].column.name] = node.expression.sql(DIALECT)
    return list(tests.items())


def _condition(question: str, word: str) -> str | None:
    """What is tested: `{a}` is the value of the year that stands first in the question, `{b}` of the second."""
    if "growth" in kinds(question):
        return f" ORDER BY ({{b}} - {{a}}) * 1.0 / {{a}} {'ASC' if _LEAST.search(question) else 'DESC'} LIMIT 1"
    falls, rises = bool(_LOWER.search(question)), bool(_HIGHER.search(question))
    if falls == rises:
        return None
    first_is_less = falls if word == "than" else rises
    return f" AND {{a}} {'<' if first_is_less else '>'} {{b}}"


def _period(table: TableProfile, years: tuple[int, int]) -> ColumnProfile | None:
    """The column that holds both years; the one with most years where several do."""
    holding = [
        column
        for column in table.columns
        if column.column.type not in DATED and {str(year) for year in years} <= set(column.texts)
    ]
    return max(holding, key=lambda column: column.distinct, default=None)


def _repeats(table: str, thing: str, when: str, run_sql: RunSql) -> bool:
    """Whether a thing is stated more than once for one time."""
    groups = f"SELECT 1 FROM {table} WHERE {thing} IS NOT NULL GROUP BY {thing}, {when} HAVING COUNT(*) > 1"
    return bool(run_sql(f"SELECT COUNT(*) FROM ({groups})").rows[0][0])
