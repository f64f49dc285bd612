"""The one door to SQL: a SQLite file through SQLAlchemy, with explicit transactions and errors in sentences.

One connection serves the whole process and is guarded by a lock; a transaction therefore must not wait for anything
that itself needs the database in another thread, and never spans an `await`.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from sqlalchemy import create_engine
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from sliders.errors import StoreError, WorkspaceLocked
from sliders.store.functions import register_functions
from sliders.store.lock import WriterLock

Parameters = Sequence[Any] | dict[str, Any]

BUSY_MILLISECONDS = 10_000
MAGIC = b"SQLite format 3\x00"
_NO_SHARED_MEMORY = ("SQLITE_CANTOPEN", "SQLITE_READONLY")
FETCH_ROWS = 5_000
_STATEMENTS = 256
_LOG_PAGES = 8_000


def quote_identifier(name: str) -> str:
    """`name` as an SQL identifier: any character is allowed but NUL.

    Raises:
        StoreError: the name holds a NUL character, which SQLite cannot name.
    """
    if "\x00" in name:
        raise StoreError(f"the name {name!r} holds a NUL character; take it out")
    return '"' + name.replace('"', '""') + '"'


def file_uri(path: Path, mode: str) -> str:
    """SQLite URI that opens `path` in `mode` ("ro", "rwc", "ro&immutable=1")."""
    return f"file:{quote(str(path.absolute()))}?mode={mode}"


def store_error(error: BaseException, path: Path, sql: str = "") -> StoreError:
    """The sentence for an error of SQLite, SQLAlchemy or a value that cannot be bound."""
    origin = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    name = getattr(origin, "sqlite_errorname", "") or ""
    place = f"workspace {str(path)!r}"
    if name == "SQLITE_FULL" or name.startswith("SQLITE_IOERR_WRITE"):
        return StoreError(f"{place} cannot be written: the disk is full; free some space and run the command again")
    if name.startswith("SQLITE_BUSY") or name.startswith("SQLITE_LOCKED"):
        return WorkspaceLocked(f"{place} is in use by another program; close it there and run the command again")
    sentences = {
        "SQLITE_READONLY": "is read-only; make it writable, or open a copy",
        "SQLITE_NOTADB": "is not a SQLite database; check the path, or choose a new file",
        "SQLITE_CORRUPT": "is damaged; restore a copy, or start a new workspace",
        "SQLITE_CANTOPEN": "cannot be opened; check that its folder exists and that you may read and write there",
        "SQLITE_IOERR": f"cannot be read or written ({origin}); check the disk",
    }
    for prefix, sentence in sentences.items():
        if name.startswith(prefix):
            return StoreError(f"{place} {sentence}")
    statement = f" in: {' '.join(sql.split())[:300]}" if sql else ""
    return StoreError(f"{place} refused a statement: {origin}{statement}; nothing was changed by it")


def header(path: Path) -> bytes:
    """The first 100 bytes of a file; none where it does not exist or is empty.

    Raises:
        StoreError: it cannot be read, is a folder, or its name cannot be kept in a database.
    """
    try:
        str(path).encode("utf-8")
        if not path.exists():
            return b""
        if path.is_dir():
            raise StoreError(f"{str(path)!r} is a folder, and a workspace is one file; give the name of a file in it")
        with path.open("rb") as file:
            return file.read(100)
    except UnicodeEncodeError as error:
        raise StoreError(f"the name of workspace {str(path)!r} is no Unicode; choose another") from error
    except OSError as error:
        raise StoreError(f"workspace {str(path)!r} cannot be read: {error.strerror}; check its permissions") from error


class Database:
    """A workspace file.

    Args:
        path: the SQLite file; a missing one is created when `write`.
        write: take the writer's lock; without it the file is opened read-only.

    Raises:
        WorkspaceLocked: another process writes to it.
        StoreError: the file cannot be opened, is damaged, or is no SQLite database.
    """

    def __init__(self, path: str | Path, *, write: bool = True) -> None:
        self.path = Path(path)
        self.write = write
        self._guard = threading.RLock()
        self._depth = 0
        self._check_place()
        self._lock = WriterLock(self.path) if write else None
        if self._lock is not None:
            self._lock.acquire()
        try:
            self._engine = create_engine("sqlite://", creator=self._connect, poolclass=StaticPool)
            with self._sentences():
                self._connection: Connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
                self._raw: sqlite3.Connection = self._connection.connection.driver_connection  # type: ignore[assignment]
        except BaseException:
            if self._lock is not None:
                self._lock.release()
            raise

    def _check_place(self) -> None:
        if self.path.is_dir():
            raise StoreError(f"workspace {str(self.path)!r} is a folder; name a file in it")
        if not self.path.parent.is_dir():
            raise StoreError(f"the folder of workspace {str(self.path)!r} does not exist; create it first")
        if not self.write and not self.path.exists():
            raise StoreError(
                f"workspace {str(self.path)!r} does not exist; check the path, or add documents to make it"
            )
        head = header(self.path)
        if head and not head.startswith(MAGIC):  # told before a lock is put beside it
            raise StoreError(f"workspace {str(self.path)!r} is not a SQLite database; check the path, or choose a new file")

    def _connect(self) -> sqlite3.Connection:
        modes = ["rwc"] if self.write else ["ro", "ro&immutable=1"]
        for mode in modes:
            raw = sqlite3.connect(file_uri(self.path, mode), uri=True, check_same_thread=False, isolation_level=None,
                                  cached_statements=_STATEMENTS)  # fmt: skip
            try:
                self._configure(raw)
            except sqlite3.Error as error:
                raw.close()
                # A file on read-only media cannot make the shared-memory file that WAL wants.
                if mode == modes[-1] or not getattr(error, "sqlite_errorname", "").startswith(_NO_SHARED_MEMORY):
                    raise
            else:
                return raw
        raise StoreError(f"workspace {str(self.path)!r} cannot be opened; check its permissions")

    def _configure(self, raw: sqlite3.Connection) -> None:
        raw.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
        raw.execute("SELECT count(*) FROM sqlite_master").fetchone()  # fails here if it is no database
        raw.execute("PRAGMA foreign_keys=ON")
        if self.write:
            raw.execute("PRAGMA journal_mode=WAL")
            raw.execute("PRAGMA synchronous=NORMAL")
            raw.execute("PRAGMA cache_size=-65536")
            # Moving the log into the file waits for the disk: with SQLite's own limit that is after every hundred chunks.
            raw.execute(f"PRAGMA wal_autocheckpoint={_LOG_PAGES}")
        else:
            raw.execute("PRAGMA query_only=ON")
        register_functions(raw)

    @contextlib.contextmanager
    def _sentences(self, sql: str = "") -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, DBAPIError, OverflowError, UnicodeEncodeError) as error:
            raise store_error(error, self.path, sql) from error

    def _execute(self, sql: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        # On the driver's own connection: an extraction runs some twenty short statements a chunk, and SQLAlchemy would
        # take ten times as long over each as SQLite itself.
        return self._raw.execute(sql, parameters if isinstance(parameters, dict) else tuple(parameters))

    def query(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """All rows of a statement.

        Raises:
            StoreError: SQLite refuses the statement.
        """
        with self._guard, self._sentences(sql):
            return self._execute(sql, parameters).fetchall()

    def columns(self, sql: str) -> tuple[str, ...]:
        """Names of the columns that a SELECT gives."""
        with self._guard, self._sentences(sql):
            return tuple(column[0] for column in self._execute(sql).description)

    def one(self, sql: str, parameters: Parameters = ()) -> tuple[Any, ...] | None:
        """The first row of a statement, None when there is none."""
        rows = self.query(sql, parameters)
        return rows[0] if rows else None

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """The first value of the first row, None when there is no row."""
        row = self.one(sql, parameters)
        return row[0] if row else None

    def execute(self, sql: str, parameters: Parameters = ()) -> int:
        """Run one writing statement; the number of rows that it changed."""
        with self._guard, self._sentences(sql):
            return int(self._execute(sql, parameters).rowcount)

    def insert(self, sql: str, parameters: Parameters = ()) -> int:
        """Run one INSERT; the rowid of the new row."""
        with self._guard, self._sentences(sql):
            return int(self._execute(sql, parameters).lastrowid or 0)

    def insert_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run one statement for many rows, streamed past SQLAlchemy (it would copy every row); rows changed."""
        # Inside a transaction no savepoint is set: SQLite would copy every page that it changes.
        with self._guard, self._sentences(sql), contextlib.nullcontext() if self._depth else self.transaction():
            return int(self._raw.executemany(sql, rows).rowcount)

    def stream(self, sql: str, parameters: Parameters = ()) -> Iterator[tuple[Any, ...]]:
        """Rows of a statement in constant memory; the table read must not be written meanwhile."""
        with self._guard, self._sentences(sql):
            cursor = self._raw.execute(sql, parameters)
        while True:
            with self._guard, self._sentences(sql):
                rows = cursor.fetchmany(FETCH_ROWS)
            if not rows:
                return
            yield from rows

    @property
    def in_transaction(self) -> bool:
        """Whether what is written now can still be undone by a transaction that began before."""
        return self._depth > 0

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing: what happens inside is committed at the end, or undone when an exception leaves it.

        An inner transaction is a savepoint of the outer one.
        """
        with self._guard:
            depth = self._depth
            begin, commit, rollback = (
                (f"SAVEPOINT level_{depth}", f"RELEASE level_{depth}", f"ROLLBACK TO level_{depth}")
                if depth
                else ("BEGIN IMMEDIATE" if self.write else "BEGIN", "COMMIT", "ROLLBACK")
            )
            with self._sentences():
                self._execute(begin)
            self._depth += 1
            try:
                yield
                with self._sentences():
                    self._execute(commit)
            except BaseException:
                # SQLite may have rolled back by itself (full disk); then there is nothing left to undo.
                if self._raw.in_transaction:
                    with self._sentences():
                        self._execute(rollback)
                raise
            finally:
                self._depth -= 1

    def close(self) -> None:
        """Write everything into the main file, close it and free the lock; a second call does nothing."""
        with self._guard:
            if self._connection.closed:
                return
            if self.write:
                with contextlib.suppress(DBAPIError):  # a reader may hold the log: it is merged by the next opener
                    self._execute("PRAGMA optimize")
                    self._execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.close()
            self._engine.dispose()
            self._raw.close()
            if self._lock is not None:
                self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
