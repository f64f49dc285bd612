"""The cage for SQL that a model or a user wrote (contract 8).

Two walls protect the workspace, and each holds alone as far as SQLite allows it. The parser gives
clear errors, and refuses statements that the engine would expand without end before it can be
interrupted. The engine runs in a sandbox: it is read-only, sees only listed tables and functions,
and stops at limits of time, memory, rows and bytes.
"""

from __future__ import annotations

from collections.abc import Iterable

from sliders.sql.limits import Limits, Result, Rights
from sliders.sql.sandbox import ALLOWED_FUNCTIONS, Sandbox
from sliders.sql.translate import to_postgres
from sliders.sql.wall import check_statement
from sliders.store.cage_server import run_on_server
from sliders.store.database import Database
from sliders.store.file import file_uri


def run_readonly(
    database: Database,
    sql: str,
    *,
    tables: Iterable[str],
    limits: Limits | None = None,
    parse: bool = True,
) -> Result:
    """Runs one SELECT in the cage, and returns its rows.

    Args:
        tables: the tables and views that the statement may read, by SQL name; tables behind a view
            are readable through it.
        limits: the limits of time, rows, bytes and memory.
        parse: True checks the statement with the parser first; only tests of the engine's own wall
            leave it out.

    Raises:
        UnsafeStatement: the statement is not one SELECT, names a table that it may not read, or
            passes a limit of time or memory.
        StoreError: SQLite finds an error in it (unknown column, wrong number of arguments ...).
    """
    visible = frozenset(tables)
    limits = limits or Limits()
    names = database.names() if parse else {}
    checked = check_statement(sql, visible, frozenset(names)) if parse else None
    if database.path is None:
        if checked:
            sql = to_postgres(
                checked.tree, [name for table in checked.tables for name in (table, *names[table])]
            )
        return run_on_server(database, sql, visible, limits)
    database.engine.check_place()
    with Sandbox(file_uri(database.path, database.engine.mode), analysts=True) as sandbox:
        return sandbox.select(sql, Rights(visible, ALLOWED_FUNCTIONS), limits)
