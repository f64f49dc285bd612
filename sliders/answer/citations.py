"""The rows of tables from which an answer comes, and the columns that its citations quote."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sliders.answer.tracing import traces
from sliders.answer.turns import TableView
from sliders.errors import QueryError
from sliders.sql.quoting import quote_identifier, quote_literal
from sliders.sql.statement import parse_select

MAX_CITED = 20


def contributing_rows_sql(
    sql: str, tables: Sequence[TableView], limit: int = MAX_CITED
) -> str | None:
    """Returns SQL that gives `table_name, row_id` of the rows behind `sql`'s result, at most
    `limit`; None when the statement reads no table with row ids (see `traces`).
    """
    parts = [
        (
            f"SELECT {quote_literal(table)} AS table_name, {quote_identifier(column)} AS row_id "
            f"FROM ({trace.sql}) AS t{n}"
        )
        for n, trace in enumerate(traces(sql, tables))
        for column, table in trace.rows
    ]
    if not parts:
        return None
    listed = " UNION ALL ".join(parts)
    return (
        f"SELECT DISTINCT table_name, row_id FROM ({listed}) AS cited WHERE NOT row_id IS "
        f"NULL LIMIT {limit}"
    )


def columns_used(sql: str, tables: Sequence[TableView]) -> dict[str, tuple[str, ...]]:
    """Returns the columns of each table that a statement reads, whose words a citation should
    quote. A column that is read only through its companion is included.
    """
    try:
        tree = parse_select(sql)
    except QueryError:
        return {}
    named = {column.name.lower() for column in tree.find_all(exp.Column)}
    read = {table.name.lower() for table in tree.find_all(exp.Table)}
    used: dict[str, tuple[str, ...]] = {}
    for view in tables:
        if view.name.lower() in read:
            beside = {c.companion_of for c in view.companions if c.sql_name.lower() in named}
            columns = (column.name for column in view.table.columns)
            used[view.name] = tuple(
                name for name in columns if name.lower() in named or name in beside
            )
    return used
