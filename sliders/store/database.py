"""Access to the database of a workspace: a SQLite file or a schema of a PostgreSQL server, with
explicit transactions and errors as sentences.

Statements are SQLAlchemy Core. They are compiled once and run on the driver's own connection: an
extraction runs some twenty short statements for each chunk, and SQLAlchemy's connection would take
ten times as long for each as SQLite itself. One connection serves the whole process and is guarded
by a lock; a transaction therefore must not wait for anything that itself needs the database in
another thread, and never spans an `await`.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Column, Insert, MetaData, Table, Text, bindparam
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import ExecutableDDLElement
from sqlalchemy.sql import ClauseElement

from sliders.errors import WorkspaceMissing
from sliders.store.engines import Engine, TableWatch

Parameters = Sequence[Any] | Mapping[str, Any]
Rows = list[tuple[Any, ...]]
_Compiled = tuple[str, tuple[str, ...], Mapping[str, Any]]

FETCH_ROWS = 5_000
_MOST_COMPILED = 1_000


def data_table(name: str, columns: Mapping[str, Any] | Iterable[str]) -> Table:
    """A table that is not in the metadata, from its columns with their types (text when left
    out).
    """
    typed = columns if isinstance(columns, Mapping) else dict.fromkeys(columns, Text)
    return Table(
        name,
        MetaData(),
        *(Column(column, kind, quote=True) for column, kind in typed.items()),
        quote=True,
    )


def place_of(place: str | os.PathLike[str]) -> str | Path:
    """The place of a workspace: the address of a server unchanged, a path as `Path`."""
    return place if isinstance(place, str) and "://" in place else Path(place)


def workspace_is_there(place: str | Path) -> bool:
    """True when the workspace exists.

    Raises:
        StoreError: the server does not answer.
    """
    place = place_of(place)
    if isinstance(place, Path):
        return place.exists()
    try:
        Database(place, write=False).close()
    except WorkspaceMissing:
        return False
    return True


def _defines(statement: str | ClauseElement) -> bool:
    """True when a statement changes the definition of a table, a view or an index."""
    if isinstance(statement, str):
        return statement.startswith(("CREATE", "DROP", "ALTER"))
    return isinstance(statement, ExecutableDDLElement)


def _engine(place: str | Path, write: bool) -> Engine:
    place = place_of(place)
    if isinstance(place, str):
        from sliders.store.server import PostgresServer

        return PostgresServer(place, write)
    from sliders.store.file import SqliteFile

    return SqliteFile(place, write)


class _ErrorSentences:
    """A `with` block that turns errors of the engine into sentences. It is a class, since a
    generator costs as much as a short statement.
    """

    __slots__ = ("_engine", "_sql")

    def __init__(self, engine: Engine, sql: str) -> None:
        self._engine, self._sql = engine, sql

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, self._engine.errors):
            raise self._engine.sentence(error, self._sql) from error


class Database(contextlib.AbstractContextManager["Database"]):
    """A workspace's database.

    Args:
        place: the SQLite file, which is created when `write` and it is missing, or the URL of a
            PostgreSQL server (`postgresql+psycopg://user@host/database?schema=NAME`).
        write: True takes the writer's lock of a file; False opens the workspace for reading.

    Raises:
        WorkspaceLocked: another process writes to the file.
        StoreError: the file or server cannot be opened, is damaged, or is no workspace.
    """

    def __init__(self, place: str | Path, *, write: bool = True) -> None:
        self.engine = _engine(place, write)
        self.place, self.path, self.name, self.write = (
            place,
            self.engine.path,
            self.engine.name,
            write,
        )
        self.title = self.path.name if self.path is not None else self.name
        """What it is called in headings: the file's name, or the server's
        address without password.
        """
        self.dialect = self.engine.dialect
        self.on_server = self.dialect.name == "postgresql"
        self._guard = threading.RLock()
        self._depth = 0
        self._compiled: dict[ClauseElement, _Compiled] = {}
        self._inserts: dict[tuple[str, tuple[str, ...], str], Insert] = {}
        self._raw: Any = self.engine.open()
        self._watch: TableWatch | None = None
        self._closed = False

    def watched(self, tables: Sequence[str]) -> None:
        """Counts all further changes of these tables for their digests."""
        if self._watch is None and self.write:
            self._watch = self.engine.watch(self, self._raw, tables)

    def written(self, table: str, sign: int = 1, rows: str = "", *values: str) -> None:
        """Counts rows of a table that is not watched as added (`sign` 1) or removed (-1): all of
        its rows, or those that fulfil a condition in SQL with these values.
        """
        if self._watch is not None:
            count, total = self.engine.sums(self, table, rows, *values)
            self._watch.add(table, (sign * count, sign * total))

    def damage(self) -> Iterator[str]:
        """See `Engine.damage`."""
        return self.engine.damage(self._raw)

    def _whole(self) -> contextlib.AbstractContextManager[None]:
        """A transaction for one statement, so that its digests are stored with it."""
        alone = self._watch is not None and not self._depth
        return self.transaction() if alone else contextlib.nullcontext()

    def _prepared(self, statement: str | ClauseElement) -> _Compiled:
        """Returns a statement in the driver's form, the names of its parameters in order, and its
        own values.
        """
        if isinstance(statement, str):
            return statement, (), {}
        found = self._compiled.get(statement)
        if found is None:
            if len(self._compiled) >= _MOST_COMPILED:
                self._compiled.clear()
            compiled = statement.compile(dialect=self.dialect)
            # A list in IN, which stands in the statement itself.
            if "[POSTCOMPILE_" in str(compiled):
                compiled = statement.compile(
                    dialect=self.dialect, compile_kwargs={"render_postcompile": True}
                )
            names = tuple(getattr(compiled, "positiontup", None) or ())
            found = self._compiled[statement] = (
                str(compiled),
                names,
                getattr(compiled, "params", None) or {},
            )
        return found

    def _bound(self, statement: str | ClauseElement, parameters: Parameters) -> tuple[str, Any]:
        sql, names, brought = self._prepared(statement)
        # A driver that gets no values leaves the signs of its placeholders alone.
        if isinstance(statement, str):
            if self.on_server:
                return (sql.replace("?", "%s"), tuple(parameters)) if parameters else (sql, None)
            return sql, tuple(parameters)
        if isinstance(parameters, Mapping) or not parameters:
            given: Any = parameters or {}
            return sql, [given[name] if name in given else brought[name] for name in names]
        return sql, tuple(parameters)

    def _run(self, sql: str, values: Any) -> Any:
        with self._guard, _ErrorSentences(self.engine, sql):
            return self._raw.execute(sql, values)

    def sql(self, statement: ClauseElement) -> str:
        """Returns the text of a statement with its values in place; it is not run."""
        return str(
            statement.compile(dialect=self.engine.plain, compile_kwargs={"literal_binds": True})
        )

    def query(self, statement: str | ClauseElement, parameters: Parameters = ()) -> Rows:
        """Returns all rows of a statement.

        Raises:
            StoreError: the engine refuses the statement.
        """
        sql, values = self._bound(statement, parameters)
        with self._guard, _ErrorSentences(self.engine, sql):
            return self._raw.execute(sql, values).fetchall()  # type: ignore[no-any-return]

    def one(
        self, statement: str | ClauseElement, parameters: Parameters = ()
    ) -> tuple[Any, ...] | None:
        """Returns the first row of a statement, None when there is none."""
        rows = self.query(statement, parameters)
        return rows[0] if rows else None

    def value(self, statement: str | ClauseElement, parameters: Parameters = ()) -> Any:
        """Returns the first value of the first row, None when there is no row."""
        row = self.one(statement, parameters)
        return row[0] if row else None

    def execute(self, statement: str | ClauseElement, parameters: Parameters = ()) -> int:
        """Runs one statement that writes. Returns the number of rows that it changed."""
        with self._guard, self._whole():
            if self._watch is not None and _defines(statement):
                self._watch.defining()
            return int(self._run(*self._bound(statement, parameters)).rowcount)

    def add(self, table: Table, **values: Any) -> int:
        """Inserts one row. Returns its integer key."""
        given = {f"v_{name}": value for name, value in values.items()}
        with self._guard, self._whole():
            return int(self.value(self._insert(table, tuple(values), "key"), given))

    def add_many(
        self,
        table: Table,
        rows: Iterable[Sequence[Any]],
        names: Sequence[str] = (),
        *,
        there: Literal["refuse", "replace", "skip"] = "refuse",
    ) -> int:
        """Inserts many rows. Returns the number of rows that were written.

        Args:
            names: the columns of the values of each row; all columns of the table when left out.
            there: the treatment of a row whose primary key exists.
        """
        chosen = tuple(names) or tuple(column.name for column in table.columns)
        return self.insert_many(self._insert(table, chosen, there), rows)

    def insert_many(self, statement: str | ClauseElement, rows: Iterable[Sequence[Any]]) -> int:
        """Runs one statement for many rows, one after the other; each holds the parameters in
        order. Returns the number of rows that were changed.
        """
        sql, _, _ = self._prepared(statement)
        if isinstance(statement, str) and self.on_server:
            sql = statement.replace("?", "%s")
        # Inside a transaction no savepoint is set: SQLite would copy every page that it changes.
        with (
            self._guard,
            _ErrorSentences(self.engine, sql),
            contextlib.nullcontext() if self._depth else self.transaction(),
        ):
            cursor = self._raw.cursor()
            cursor.executemany(sql, rows)
            return int(cursor.rowcount)

    def _insert(self, table: Table, names: tuple[str, ...], there: str) -> Insert:
        known = self._inserts.get((table.name, names, there))
        if known is not None:
            return known
        # The clause ON CONFLICT is the same in both engines, and so are
        # SQLAlchemy's compilers of it.
        statement = postgresql.insert(table).values(
            {name: bindparam(f"v_{name}") for name in names}
        )
        key = [column.name for column in table.primary_key]
        if there == "key":
            made: Any = statement.returning(table.c[key[0]])
        elif there == "replace" and not self.on_server:  # in one step, where an upsert takes two
            made = statement.prefix_with("OR REPLACE")
        elif there == "replace":
            new = {name: statement.excluded[name] for name in names if name not in key}
            made = statement.on_conflict_do_update(index_elements=key, set_=new)
        else:
            made = statement.on_conflict_do_nothing() if there == "skip" else statement
        self._inserts[(table.name, names, there)] = made
        return made  # type: ignore[no-any-return]

    def stream(
        self, statement: str | ClauseElement, parameters: Parameters = ()
    ) -> Iterator[tuple[Any, ...]]:
        """Yields the rows of a statement in constant memory. The tables that it reads must not be
        written meanwhile.
        """
        sql, values = self._bound(statement, parameters)
        with self._guard, _ErrorSentences(self.engine, sql):
            cursor = self.engine.cursor(self._raw, sql, values)
        while True:
            with self._guard, _ErrorSentences(self.engine, sql):
                rows = cursor.fetchmany(FETCH_ROWS)
            if not rows:
                cursor.close()
                return
            yield from rows

    def exclusive(self, subject: str) -> None:
        """See `Engine.exclusive`."""
        self.engine.exclusive(self, subject)

    def names(self) -> dict[str, set[str]]:
        """Columns by table and view."""
        found: dict[str, set[str]] = {}
        for table, column in self.query(self.engine.listing):
            found.setdefault(table, set()).add(column)
        return found

    @property
    def in_transaction(self) -> bool:
        """True when a transaction is open, which may still undo what is written now."""
        return self._depth > 0

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """A `with` block that is committed at its end, or undone when an exception leaves it. A
        block inside another is a savepoint of it.
        """
        with self._guard:
            depth = self._depth
            if not depth and self.write and not self._closed:
                self.engine.check_place()
            begin, commit, rollback = (
                (f"SAVEPOINT level_{depth}", f"RELEASE level_{depth}", f"ROLLBACK TO level_{depth}")
                if depth
                else (self.engine.begin, "COMMIT", "ROLLBACK")
            )
            self._run(*self._bound(begin, ()))
            mark = self._watch.mark() if self._watch and depth else None
            self._depth += 1
            try:
                yield
                if self._watch and not depth:
                    self._watch.fold()
                self._run(*self._bound(commit, ()))
            except BaseException:
                # The engine may have rolled back by itself (full disk, server gone);
                # then there is nothing left to undo.
                if self.engine.in_transaction(self._raw):
                    self._run(*self._bound(rollback, ()))
                if self._watch:
                    self._watch.back(mark)
                raise
            finally:
                self._depth -= 1

    def purge(self) -> None:
        """See `Engine.purge`."""
        with self._guard:
            self.engine.purge(self, self._raw)

    def close(self) -> None:
        """Closes the database and frees its locks; a second call does nothing."""
        with self._guard:
            if not self._closed:
                self._closed = True
                self.engine.close(self._raw)

    def __exit__(self, *_: object) -> None:
        self.close()
