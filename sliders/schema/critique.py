"""The faults of a proposed schema, as reasons that go back to the model; nothing is changed
here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sliders.schema.types import Column, ColumnType, Schema, Table

_PERIOD_NAME = re.compile(
    r"(?:^|_)(?:fy_?)?(?:19|20)\d\d(?:_|$)|(?:^|_)(?:[qh][1-4]|fy_?\d\d)(?:_|$)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Issue:
    """A fault of a proposal: the table, column or question, and the reason."""

    subject: str
    reason: str


def criticize(
    tables: Sequence[Table],
    needs: Mapping[int, Sequence[str]],
    uncovered: Mapping[int, str],
    questions: Sequence[str],
    standing: Schema,
) -> tuple[Issue, ...]:
    """Returns the faults of a proposal; () when it has none.

    Args:
        tables: the proposed tables, with names as the model wrote them.
        needs: the names "table.column" that each question needs, by its number from 1.
        uncovered: the part of each question that no column holds, by its number.
        standing: the current tables, which `needs` may name too.
    """
    issues = _of_tables(tables, standing)
    known = {f"{t.name}.{c}" for t in (*standing.tables, *tables) for c in t.column_names}
    for number, question in enumerate(questions, 1):
        named = needs.get(number, ())
        strange = [name for name in named if name not in known]
        if strange:
            issues.append(
                Issue(f"question {number}", f"needs {', '.join(strange)}, which no table has")
            )
        if not named and not uncovered.get(number):
            issues.append(
                Issue(
                    f"question {number}",
                    f"neither needs nor not_covered says what answers: {question[:80]}",
                )
            )
    return tuple(issues)


def _of_tables(tables: Sequence[Table], standing: Schema) -> list[Issue]:
    if not tables and not standing.tables:
        reason = "there is no table; every question needs columns, or an entry in not_covered"
        return [Issue("schema", reason)]
    columns = {table.name: table.column_names for table in standing.tables}
    return [issue for table in tables for issue in table_issues(table, columns.get(table.name, ()))]


def table_issues(table: Table, standing: Sequence[str] = ()) -> list[Issue]:
    """Returns the faults of one table by itself.

    Args:
        standing: the columns of the table of this name that stands already; a key may name them.
    """
    issues = []
    names = Counter(table.column_names)
    if not table.columns:
        issues.append(Issue(table.name, "the table has no columns"))
    for name in (name for name, times in names.items() if times > 1):
        issues.append(Issue(f"{table.name}.{name}", "two columns of the table have this name"))
    if missing := [name for name in table.key if name not in (*names, *standing)]:
        issues.append(
            Issue(
                table.name, f"the key names {', '.join(missing)}, which are no columns of the table"
            )
        )
    for column in table.columns:
        issues += [
            Issue(f"{table.name}.{column.name}", reason) for reason in _column_reasons(column)
        ]
    return issues


def _column_reasons(column: Column) -> list[str]:
    reasons = []
    if column.type is ColumnType.CATEGORY and not column.values:
        reasons.append("a category lists its values")
    if column.type in (ColumnType.BOOLEAN, ColumnType.CATEGORY) and not column.description.strip():
        reasons.append("its description must say when each value holds")
    if _PERIOD_NAME.search(column.name):
        reasons.append(
            "a year or quarter stands in its name; periods are rows, with the period in a "
            "column of its own"
        )
    return reasons
