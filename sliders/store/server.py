"""A workspace on a PostgreSQL server: one schema of a database, several writers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import make_url
from sqlalchemy.dialects import registry
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from sliders.errors import SettingsError, StoreError, WorkspaceLocked, WorkspaceMissing
from sliders.hidden import cause, hide, remember, remember_address
from sliders.sql.quoting import quote_identifier
from sliders.store import server_watch
from sliders.store.engines import Connection, Engine, Sums

SCHEMA = "sliders"
_CONNECT_SECONDS = 10
_LOCK_SECONDS = 60
# Rows come back in the order in which they were written, as they do from a file.
_SETTINGS = {
    "client_encoding": "UTF8",
    "synchronize_seqscans": "off",
    "max_parallel_workers_per_gather": "0",
    "lock_timeout": f"{_LOCK_SECONDS}s",
}
_SENTENCES = {
    "42501": "does not let this user do that ({error}); ask its administrator for the right",
    "53100": (
        "has no room left on its disk; free some and run the command again, nothing "
        "was half written"
    ),
    "25006": "is open for reading only; open it for writing",
    "55P03": "is kept busy by another writer; run the command again",
    "40P01": "is kept busy by another writer; run the command again",
}


def server_url(place: str) -> URL:
    """Returns the address of a workspace on a server.

    Raises:
        SettingsError: the text is no such address, or names another driver.
    """
    try:
        url = make_url(place)
    except (ArgumentError, ValueError) as error:
        raise SettingsError(
            f"{place!r} is no address of a database; write postgresql+psycopg://user@host/database"
        ) from cause(error)
    if url.drivername not in ("postgresql", "postgresql+psycopg"):
        raise SettingsError(
            f"a workspace is a SQLite file or postgresql+psycopg://..., not {url.drivername!r}"
        )
    return url


class PostgresServer(Engine):
    """The engine of a server."""

    dialect = registry.load("postgresql.psycopg")(paramstyle="format")
    plain = registry.load("postgresql.psycopg")(paramstyle="named")
    longest_table, longest_column = 48, 63  # a table's with the number of its version
    listing = """SELECT c.relname, a.attname FROM pg_class c JOIN pg_namespace n
        ON n.oid = c.relnamespace
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'v')"""

    def __init__(self, place: str, write: bool) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise SettingsError(
                "PostgreSQL needs psycopg; install it with: pip install 'sliders[postgres]'"
            ) from error
        url = server_url(place)
        remember(None if url.password is None else str(url.password))
        remember_address(place)
        schema = url.query.get("schema", SCHEMA)
        self.schema = schema if isinstance(schema, str) else schema[-1]
        self.name = hide(url.render_as_string(hide_password=True))
        place = f"{url.database or url.username or ''}.{self.schema}"
        self.reader = f"sl_{hashlib.sha256(place.encode()).hexdigest()[:12]}_reader"
        """The role that model-written SQL runs as; roles are the server's, not the database's."""
        self.write = write
        self.begin = "BEGIN" if write else "BEGIN READ ONLY"
        self.errors = (psycopg.Error, UnicodeEncodeError)
        self._address = (
            url.set(drivername="postgresql")
            .difference_update_query(["schema"])
            .render_as_string(hide_password=False)
        )
        self._psycopg = psycopg

    def open(self) -> Any:
        return self.connect(self.write)

    def connect(self, write: bool) -> Any:
        """Returns a connection that sees only this workspace's schema.

        Raises:
            StoreError: the server does not answer, or refuses the user.
        """
        try:
            raw = self._psycopg.connect(
                self._address,
                autocommit=True,
                connect_timeout=_CONNECT_SECONDS,
                fallback_application_name="sliders",
            )
        except self._psycopg.Error as error:
            told = hide(" ".join(str(error).split()))[:300]
            sentence = (
                f"workspace {self.name!r} cannot be reached: {told}; check the address, and "
                "that the server runs"
            )
            raise StoreError(sentence) from cause(error)
        try:
            self._prepare(raw, write)
        except self._psycopg.Error as error:
            raw.close()
            raise self.sentence(error) from error
        return raw

    def _prepare(self, raw: Any, write: bool) -> None:
        raw.adapters.register_loader("numeric", _number_loader())
        there = raw.execute(
            "SELECT 1 FROM pg_namespace WHERE nspname = %s", (self.schema,)
        ).fetchone()
        if there is None and not write:
            raise WorkspaceMissing(
                f"workspace {self.name!r} does not exist; check the address, or add "
                "documents to make it"
            )
        for name, value in _SETTINGS.items():
            raw.execute(f"SET {name} = '{value}'")
        raw.execute(f"SET search_path = {quote_identifier(self.schema)}")
        if not write:
            raw.execute("SET default_transaction_read_only = on")

    def sentence(self, error: BaseException, sql: str = "") -> StoreError:
        state = getattr(error, "sqlstate", None) or ""
        place = f"workspace {self.name!r}"
        told = (str(error).splitlines() or [""])[0]
        if state in _SENTENCES:
            kind = WorkspaceLocked if state in ("55P03", "40P01") else StoreError
            return kind(f"{place} {_SENTENCES[state].format(error=told)}")
        gone = state.startswith(("08", "57P")) or (
            not state and isinstance(error, self._psycopg.OperationalError)
        )
        if gone:
            return StoreError(
                f"{place}: the server went away ({told}); when it runs again, run the command "
                "again: it goes on"
            )
        statement = f" in: {' '.join(sql.split())[:300]}" if sql else ""
        return StoreError(
            f"{place} refused a statement: {told}{statement}; nothing was changed by it"
        )

    def in_transaction(self, raw: Any) -> bool:
        return (
            not raw.closed
            and raw.info.transaction_status != self._psycopg.pq.TransactionStatus.IDLE
        )

    def cursor(self, raw: Any, sql: str, values: Sequence[Any]) -> Any:
        self._cursors = getattr(self, "_cursors", 0) + 1
        cursor = raw.cursor(name=f"stream_{self._cursors}", withhold=True)
        cursor.execute(sql, values)
        return cursor

    def layout(self, database: Connection) -> int:
        names = database.names()
        if "sl_meta" not in names:
            if names:
                raise StoreError(
                    f"schema {self.schema!r} of {self.name!r} holds other tables; name "
                    "another: ?schema=NAME"
                )
            return 0
        return int(database.value("SELECT value FROM sl_meta WHERE name = 'layout'") or 0)

    def set_layout(self, database: Connection, version: int) -> None:
        database.execute("DELETE FROM sl_meta WHERE name = 'layout'")
        database.execute("INSERT INTO sl_meta VALUES ('layout', ?)", (str(version),))

    def make(self, database: Connection) -> None:
        database.execute(f"CREATE SCHEMA IF NOT EXISTS {quote_identifier(self.schema)}")

    def install(self, database: Connection, tables: Sequence[str]) -> None:
        server_watch.install(database, tables)

    def watch(
        self, database: Connection, raw: Any, tables: Sequence[str]
    ) -> server_watch.ServerWatch:
        return server_watch.ServerWatch(database)

    def sums(self, database: Connection, table: str, rows: str = "", *values: str) -> Sums:
        where = f" WHERE {rows}" if rows else ""
        counted = f"SELECT {server_watch.SUMS} FROM {quote_identifier(table)} t{where}"
        count, total = database.query(counted, values)[0]
        return int(count), int(total)

    def purge(self, database: Connection, raw: Any) -> None:
        listed = (
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = current_schema() AND c.relkind = 'r'"
        )
        for (table,) in database.query(listed):
            try:
                raw.execute(f"VACUUM FULL {quote_identifier(table)}")
            except self._psycopg.Error as error:
                raise self.sentence(error) from error

    def expose(self, database: Connection, relation: str) -> None:
        reader, schema = quote_identifier(self.reader), quote_identifier(self.schema)
        if not database.value("SELECT 1 FROM pg_roles WHERE rolname = ?", (self.reader,)):
            database.execute(f"CREATE ROLE {reader} NOLOGIN")
            database.execute(f"GRANT {reader} TO CURRENT_USER")
        database.execute(f"GRANT USAGE ON SCHEMA {schema} TO {reader}")
        database.execute(f"GRANT SELECT ON {quote_identifier(relation)} TO {reader}")

    def exclusive(self, database: Connection, subject: str) -> None:
        database.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", (f"{self.schema}.{subject}",)
        )

    def encode(self, value: Any) -> Any:
        return None if value is None else json.dumps(value, ensure_ascii=False)


def _number_loader() -> Any:
    """Reads NUMERIC as Python's own numbers: whole numbers as int, others as float."""
    from psycopg.adapt import Loader

    class ServerNumber(Loader):
        def load(self, data: Any) -> int | float:
            text = bytes(data)
            return int(text) if text.lstrip(b"-").isdigit() and len(text) <= 300 else float(text)

    return ServerNumber
