"""A workspace in a SQLite file: opening it, its errors as sentences, and the lock of its writer."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from sqlalchemy.dialects import sqlite

from sliders.errors import StoreError, WorkspaceLocked
from sliders.sql.connect import connect
from sliders.sql.functions import register_functions
from sliders.sql.quoting import quote_identifier
from sliders.store.engines import Connection, Engine, Sums
from sliders.store.file_watch import DEFINED, FileWatch, sums_of

try:
    import fcntl
except (
    ImportError
):  # pragma: no cover - Windows has no fcntl; SQLite's own lock is then the only one
    fcntl = None  # type: ignore[assignment]

APPLICATION_ID = 0x534C4452  # "SLDR"
MAGIC = b"SQLite format 3\x00"
_BUSY_MILLISECONDS = 10_000
_STATEMENTS = 256
_LOG_PAGES = 8_000
_NO_SHARED_MEMORY = ("SQLITE_CANTOPEN", "SQLITE_READONLY")
_CHECK_SEARCH = "INSERT INTO sl_chunk_search (sl_chunk_search, rank) VALUES ('integrity-check', 1)"
_SENTENCES = {
    "SQLITE_READONLY": "is read-only; make it writable, or open a copy",
    "SQLITE_NOTADB": "is not a SQLite database; check the path, or choose a new file",
    "SQLITE_CORRUPT": "is damaged; restore a copy, or start a new workspace",
    "SQLITE_CANTOPEN": (
        "cannot be opened; check that its folder exists and that you may read and write there"
    ),
}


def file_uri(path: Path, mode: str) -> str:
    """SQLite URI that opens `path` in `mode` ("ro", "rwc", "ro&immutable=1")."""
    return f"file:{quote(str(path.absolute()))}?mode={mode}"


def header(path: Path) -> bytes:
    """Returns the first 100 bytes of a file; b"" when it does not exist or is empty.

    Raises:
        StoreError: the path cannot be read, is a folder, or is no Unicode text.
    """
    try:
        str(path).encode("utf-8")
        if not path.exists():
            return b""
        if path.is_dir():
            raise StoreError(
                f"{str(path)!r} is a folder, and a workspace is one file; give the "
                "name of a file in it"
            )
        with path.open("rb") as file:
            return file.read(100)
    except UnicodeEncodeError as error:
        raise StoreError(
            f"the name of workspace {str(path)!r} is no Unicode; choose another"
        ) from error
    except OSError as error:
        raise StoreError(
            f"workspace {str(path)!r} cannot be read: {error.strerror}; check its permissions"
        ) from error


def refuse_foreign(path: Path) -> None:
    """Checks that a file is not the database of another program, before a connection changes its
    journal or a lock file is put beside it.

    Raises:
        StoreError: it is one, or cannot be read.
    """
    head = header(path)
    log = path.with_name(path.name + "-wal")
    moved = not (
        log.exists() and log.stat().st_size
    )  # else the header may still stand in the log: `layout` looks
    pages, application = (int.from_bytes(head[place : place + 4], "big") for place in (28, 68))
    if head.startswith(MAGIC) and moved and application != APPLICATION_ID and pages > 1:
        raise _not_ours(path)


def _not_ours(path: Path) -> StoreError:
    return StoreError(
        f"{str(path)!r} is a SQLite database, but not a sliders workspace; choose another file"
    )


def writer_lock(path: Path) -> int:
    """Takes the exclusive lock on `<file>.lock`. Returns a file descriptor, which holds it until it
    is closed or its process ends.

    The lock file stays, since deleting it would race with a process that opens it.

    Raises:
        WorkspaceLocked: another process, or another part of this one, holds the lock.
        StoreError: the lock file cannot be written.
    """
    workspace = f"workspace {str(path)!r}"
    try:
        descriptor = os.open(
            path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644
        )
    except OSError as error:
        told = (
            f"{workspace} cannot be written: {error.strerror}; check the folder's permissions, or "
            "choose another place"
        )
        raise StoreError(told) from error
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        os.close(descriptor)
        raise WorkspaceLocked(f"{workspace} {_held_by(owner)}") from error
    # The number is for people only: a full disk must not stop the opener.
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
    return descriptor


def _is_locked(path: Path) -> bool:
    """True when a process holds the lock on `<file>.lock`, or when that cannot be seen."""
    try:
        descriptor = os.open(path.with_name(path.name + ".lock"), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return fcntl is None
    except OSError:
        return True
    finally:
        os.close(descriptor)


def _held_by(owner: str) -> str:
    """Returns the words for who holds a lock (a process id, or "" when the file does not say) and
    what to do.
    """
    if owner == str(os.getpid()):
        return "is already open for writing in this process; close it first, or open it read-only"
    number = f" (number {owner})" if owner else ""
    return (
        f"is being written by another process{number}; wait until it ends, or use another workspace"
    )


class SqliteFile(Engine):
    """The engine of a file."""

    dialect = plain = sqlite.dialect(paramstyle="qmark")
    errors = (sqlite3.Error, OverflowError, UnicodeEncodeError)
    longest_table = longest_column = 120
    listing = (
        "SELECT m.name, c.name FROM sqlite_master m LEFT JOIN pragma_table_info(m.name) c WHERE "
        "m.type IN ('table', 'view')"
    )
    path: Path

    def __init__(self, path: Path, write: bool) -> None:
        self.path = path
        self.name = str(path)
        self.write = write
        self.begin = "BEGIN IMMEDIATE" if write else "BEGIN"
        self._lock: int | None = None
        self._file = (0, 0)

    def open(self) -> sqlite3.Connection:
        self._check_path()
        if self.write:
            self._lock = writer_lock(self.path)
        try:
            raw = self._connect()
            opened = os.stat(self.path)
            self._file = (opened.st_dev, opened.st_ino)
            return raw
        except BaseException as error:
            self._free()
            if isinstance(error, self.errors):
                raise self.sentence(error) from error
            raise

    def may_be_written(self) -> bool:
        return self.write or _is_locked(self.path)

    def check_place(self) -> None:
        """Checks that the file still has its name, since everything written to a deleted file is
        lost.

        Raises:
            StoreError: the file was moved or deleted.
        """
        try:
            found = os.stat(self.path)
        except OSError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != self._file:
            raise StoreError(
                f"workspace {self.name!r} was moved, removed or replaced while it was open; put it "
                "back, or start a new one, and run the command again"
            )

    def _check_path(self) -> None:
        if self.path.is_dir():
            raise StoreError(f"workspace {self.name!r} is a folder; name a file in it")
        if not self.path.parent.is_dir():
            raise StoreError(
                f"the folder of workspace {self.name!r} does not exist; create it first"
            )
        if not self.write and not self.path.exists():
            raise StoreError(
                f"workspace {self.name!r} does not exist; check the path, or add "
                "documents to make it"
            )
        head = header(self.path)
        if head and not head.startswith(MAGIC):  # an error before a lock file is made
            raise StoreError(
                f"workspace {self.name!r} is not a SQLite database; check the path, or "
                "choose a new file"
            )

    def _connect(self) -> sqlite3.Connection:
        if self.write:
            return self._configured("rwc")
        try:
            return self._configured("ro")
        except sqlite3.Error as error:
            # A file on read-only media cannot make the shared-memory file that WAL wants.
            if not getattr(error, "sqlite_errorname", "").startswith(_NO_SHARED_MEMORY):
                raise
            self.mode = "ro&immutable=1"
            return self._configured(self.mode)

    def _configured(self, mode: str) -> sqlite3.Connection:
        raw = connect(file_uri(self.path, mode), cached_statements=_STATEMENTS)
        try:
            raw.execute(f"PRAGMA busy_timeout={_BUSY_MILLISECONDS}")
            raw.execute(
                "SELECT count(*) FROM sqlite_master"
            ).fetchone()  # fails here if it is no database
            raw.execute("PRAGMA foreign_keys=ON")
            if self.write:
                raw.execute("PRAGMA journal_mode=WAL")
                raw.execute("PRAGMA synchronous=NORMAL")
                raw.execute("PRAGMA cache_size=-65536")
                # Moving the log into the file waits for the disk: with SQLite's own limit that is
                # after every hundred chunks.
                raw.execute(f"PRAGMA wal_autocheckpoint={_LOG_PAGES}")
            else:
                raw.execute("PRAGMA query_only=ON")
        except sqlite3.Error:
            raw.close()
            raise
        register_functions(raw)
        return raw

    def sentence(self, error: BaseException, sql: str = "") -> StoreError:
        name = getattr(error, "sqlite_errorname", "") or ""
        place = f"workspace {self.name!r}"
        if name == "SQLITE_FULL" or name.startswith("SQLITE_IOERR_WRITE"):
            return StoreError(
                f"{place} cannot be written: the disk is full; free some space and run "
                "the command again"
            )
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return WorkspaceLocked(
                f"{place} is in use by another program; close it there and run the command again"
            )
        if isinstance(error, sqlite3.ProgrammingError) and "closed database" in str(
            error
        ):  # the module's own error has no name
            return StoreError(f"{place} is closed; open it again: Workspace({self.name!r})")
        for prefix, sentence in _SENTENCES.items():
            if name.startswith(prefix):
                return StoreError(f"{place} {sentence}")
        if name.startswith("SQLITE_IOERR"):
            return StoreError(f"{place} cannot be read or written ({error}); check the disk")
        statement = f" in: {' '.join(sql.split())[:300]}" if sql else ""
        return StoreError(
            f"{place} refused a statement: {error}{statement}; nothing was changed by it"
        )

    def watch(
        self, database: Connection, raw: sqlite3.Connection, tables: Sequence[str]
    ) -> FileWatch:
        return FileWatch(database, raw, tables)

    def sums(self, database: Connection, table: str, rows: str = "", *values: str) -> Sums:
        where = f" WHERE {rows}" if rows else ""
        return sums_of(database.stream(f"SELECT * FROM {quote_identifier(table)}{where}", values))

    def definitions(self, database: Connection) -> Sums:
        return sums_of(database.query(DEFINED))

    def damage(self, raw: sqlite3.Connection) -> Iterator[str]:
        """Yields indexes that do not fit their tables, the full-text index included. They are
        checked in a copy, since the check writes.
        """
        with tempfile.TemporaryDirectory(prefix="sliders-") as folder:
            copy = connect(file_uri(Path(folder) / "copy.db", "rwc"))
            with contextlib.closing(copy):
                raw.backup(copy)
                for (told,) in copy.execute("PRAGMA integrity_check"):
                    if told != "ok":
                        yield f"the file is damaged: {told}"
                try:
                    copy.execute(_CHECK_SEARCH)
                except sqlite3.Error as error:
                    yield f"the full-text index of the chunks is not that of their texts ({error})"

    def purge(self, database: Connection, raw: sqlite3.Connection) -> None:
        try:
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            raw.execute("VACUUM")
            busy, *_ = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as error:
            raise self.sentence(error) from error
        if busy:
            raise WorkspaceLocked(
                f"workspace {self.name!r} is read by another program, so that removed words are "
                "still in its log; close it there and run the command again"
            )

    def in_transaction(self, raw: sqlite3.Connection) -> bool:
        return raw.in_transaction

    def layout(self, database: Connection) -> int:
        version = int(database.value("PRAGMA user_version"))
        if int(database.value("PRAGMA application_id")) != APPLICATION_ID:
            if version or database.value("SELECT count(*) FROM sqlite_master"):
                raise _not_ours(self.path)
            return 0
        return version

    def set_layout(self, database: Connection, version: int) -> None:
        database.execute(f"PRAGMA user_version={version}")
        database.execute(f"PRAGMA application_id={APPLICATION_ID}")

    def close(self, raw: sqlite3.Connection) -> None:
        """Writes everything into the main file, closes it and frees the lock. The last process
        deletes the log's files.
        """
        if self.write:
            with contextlib.suppress(
                sqlite3.Error
            ):  # a reader may hold the log: it is merged by the next opener
                raw.execute("PRAGMA optimize")
                raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        raw.close()
        if (
            not self.write and self.mode == "ro"
        ):  # a reader makes them and may not remove them: SQLite does it for who may write
            address = file_uri(self.path, "rw")
            with (
                contextlib.suppress(sqlite3.Error),
                contextlib.closing(connect(address)) as last,
            ):
                last.execute("SELECT count(*) FROM sqlite_master").fetchone()
        self._free()

    def _free(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
