"""The cage for SQL that a model or a user wrote (contract 8).

Two walls, each of which holds alone wherever SQLite allows it: the parser gives good errors and
bounds what the engine would expand before it can be interrupted; the engine runs in a sandbox that
is read-only, sees an allow-list of tables and functions, and stops at limits of time, memory, rows
and bytes.
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
    """Run one SELECT in the cage.

    Args:
        tables: the tables and views that the statement may see, by SQL name;
            what a view reads is opened with it.
        limits: of time, rows, bytes and memory.
        parse: check the statement with the parser first; only tests of the engine's
            own wall leave it out.

    Raises:
        UnsafeStatement: it is not one SELECT, names what it may not see, or passes a
            limit of time or memory.
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
