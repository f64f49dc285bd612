"""EXPLAIN ANALYZE as tables of the workspace: `explain_plan` and `explain_documents`, one set of rows a run."""

from __future__ import annotations

from sliders.plan.explain import NODE_COLUMNS, TRACE_COLUMNS, Explanation, trace_rows
from sliders.store.database import Database, quote_identifier

EXPLAIN_TABLES = ("explain_plan", "explain_documents")


def keep_explanation(database: Database, run: int | None, explanation: Explanation) -> None:
    """Adds the plan's nodes and the documents' traces under the number of the run."""
    parts = zip(
        EXPLAIN_TABLES, (NODE_COLUMNS, TRACE_COLUMNS), (explanation.rows(), trace_rows(explanation.traces)), strict=True
    )
    with database.transaction():
        for name, columns, rows in parts:
            listed = ", ".join(quote_identifier(column) for column in ("run", *columns))
            database.execute(f"CREATE TABLE IF NOT EXISTS {quote_identifier(name)} ({listed})")
            marks = ", ".join("?" * (len(columns) + 1))
            database.insert_many(f"INSERT INTO {quote_identifier(name)} VALUES ({marks})", [(run, *row) for row in rows])
