from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.errors import StoreError, WorkspaceLocked, WorkspaceTooNew
from sliders.extraction import Absence, Cell, Grounding, Span
from sliders.schema import Column
from sliders.sql import quote_identifier
from sliders.store import APPLICATION_ID, LAYOUT, Catalog, Database, run_readonly
from sliders.values import ColumnType

from .old_layouts import FIRST, SECOND
from .samples import DOCUMENT


def run_python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_statements_and_transactions(database: Database) -> None:
    database.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
    assert database.execute("INSERT INTO t VALUES (?, ?)", (1, "x")) == 1
    assert (
        database.insert_many("INSERT INTO t VALUES (?, ?)", ((n, str(n)) for n in range(2, 5))) == 3
    )
    assert database.query("SELECT b FROM t ORDER BY a") == [("x",), ("2",), ("3",), ("4",)]
    assert list(database.stream("SELECT a FROM t WHERE a > ?", (2,))) == [(3,), (4,)]
    assert database.value("SELECT b FROM t WHERE a = ?", (1,)) == "x"
    assert database.one("SELECT 1 WHERE 1 = 0") is None


def test_transaction_is_all_or_nothing(database: Database) -> None:
    database.execute("CREATE TABLE t (a INTEGER)")
    with pytest.raises(ZeroDivisionError), database.transaction():
        database.execute("INSERT INTO t VALUES (1)")
        raise ZeroDivisionError
    with database.transaction():
        database.execute("INSERT INTO t VALUES (2)")
        with pytest.raises(ZeroDivisionError), database.transaction():
            database.execute("INSERT INTO t VALUES (3)")
            raise ZeroDivisionError
        database.execute("INSERT INTO t VALUES (4)")
    assert database.query("SELECT a FROM t") == [(2,), (4,)]


def test_nothing_stays_beside_a_workspace_that_all_have_closed(tmp_path: Path) -> None:
    path, folder = tmp_path / "w.db", {"w.db", "w.db.lock"}
    with Database(path) as writer:
        Catalog(writer)
        reader = Database(path, write=False)
        assert reader.value("SELECT count(*) FROM sl_documents") == 0
    reader.close()
    assert {each.name for each in tmp_path.iterdir()} == folder
    before = path.read_bytes()
    with Database(path, write=False) as one:
        with Database(path, write=False) as other:
            assert other.query("SELECT id FROM sl_documents") == []
        assert one.query("SELECT id FROM sl_documents") == []
    assert {each.name for each in tmp_path.iterdir()} == folder
    assert path.read_bytes() == before


def test_a_reader_that_closes_takes_nothing_from_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    with Database(path) as writer:
        writer.execute("CREATE TABLE t (a INTEGER)")
        with writer.transaction():
            writer.execute("INSERT INTO t VALUES (1)")
            with Database(path, write=False) as reader:
                assert reader.query("SELECT a FROM t") == []
            writer.execute("INSERT INTO t VALUES (2)")
        with Database(path, write=False) as reader:
            assert reader.query("SELECT a FROM t") == [(1,), (2,)]


def test_second_writer_is_told_who_writes(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    with Database(path):
        with pytest.raises(WorkspaceLocked, match="already open"):
            Database(path)
        code = "import sys; from sliders.store.database import Database; Database(sys.argv[1])"
        other = run_python(code, str(path))
        assert (
            "WorkspaceLocked" in other.stderr and "being written by another process" in other.stderr
        )
        with Database(path, write=False) as reader:
            assert reader.value("SELECT 1") == 1
    with Database(path) as again:
        assert again.value("SELECT 1") == 1


def test_killed_writer_leaves_no_lock_and_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    code = """
    import os, signal, sys
    from sliders.store import Catalog
    from sliders.store import Database
    database = Database(sys.argv[1])
    Catalog(database)
    database.execute("CREATE TABLE t (a)")
    with database.transaction():
        database.execute("INSERT INTO t VALUES (1)")
    with database.transaction():
        database.insert_many("INSERT INTO t VALUES (?)", ((n,) for n in range(20000)))
        os.kill(os.getpid(), signal.SIGKILL)
    """
    assert run_python(code, str(path)).returncode == -9
    with Database(path) as database:
        Catalog(database)
        assert database.query("SELECT a FROM t") == [(1,)]
        assert database.value("PRAGMA integrity_check") == "ok"


def test_a_run_whose_process_is_gone_is_stopped_for_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    with Database(path) as writing:
        Catalog(writing).journal.start_run("ask", "who?")
        with Database(path, write=False) as reader:
            assert [run.status for run in Catalog(reader).journal.runs()] == ["running"]
    with Database(path, write=False) as reader:  # the process ended without closing its run
        assert [run.status for run in Catalog(reader).journal.runs()] == ["stopped"]


def test_reader_cannot_write(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    Database(path).close()
    with Database(path, write=False) as reader, pytest.raises(StoreError, match="read-only"):
        reader.execute("CREATE TABLE t (a)")


def test_a_file_in_a_read_only_folder_is_read_and_queried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.db"
    with Database(path) as database:
        database.execute("CREATE TABLE t AS SELECT 1 AS a")
    opened = sqlite3.connect

    def on_read_only_media(place: str, *args: Any, **options: Any) -> sqlite3.Connection:
        if place.endswith("mode=ro"):
            raise refused
        return opened(place, *args, **options)

    refused = sqlite3.OperationalError("unable to open database file")
    refused.sqlite_errorname = "SQLITE_CANTOPEN"
    monkeypatch.setattr(sqlite3, "connect", on_read_only_media)
    with Database(path, write=False) as reader:
        assert run_readonly(reader, "SELECT a FROM t", tables=["t"]).rows == ((1,),)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"not a database, only words\n" * 100, "not a SQLite database"),
        (b"SQLite format 3\x00" + b"\xff" * 500, "workspace"),
    ],
)
def test_broken_file_gets_a_sentence(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "w.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=words):
        Database(path)
    path.unlink()
    Database(path).close()  # the failed attempt holds no lock


def test_bad_places_get_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        Database(tmp_path)
    with pytest.raises(StoreError, match="does not exist; create it first"):
        Database(tmp_path / "missing" / "w.db")
    with pytest.raises(StoreError, match="does not exist; check the path"):
        Database(tmp_path / "w.db", write=False)


@pytest.mark.usefixtures("sqlite_only")
def test_full_disk_gets_a_sentence_and_loses_nothing(database: Database) -> None:
    catalog = Catalog(database)
    catalog.documents.add(DOCUMENT)
    database.execute(f"PRAGMA max_page_count={database.value('PRAGMA page_count') + 5}")
    database.execute("CREATE TABLE t (a)")
    with pytest.raises(StoreError, match="the disk is full"):
        database.insert_many("INSERT INTO t VALUES (?)", (("x" * 1000,) for _ in range(1000)))
    database.execute("PRAGMA max_page_count=1000000")
    assert database.value("SELECT count(*) FROM t") == 0
    assert catalog.documents.get(DOCUMENT.id) == DOCUMENT


def test_file_size_limit_of_the_system_gets_a_sentence(tmp_path: Path) -> None:
    code = f"""
    import resource, sys
    from sliders.errors import StoreError
    from sliders.store import Database
    database = Database(sys.argv[1])
    database.execute("CREATE TABLE t (a)")
    resource.setrlimit(resource.RLIMIT_FSIZE, (300000, {resource.RLIM_INFINITY}))
    try:
        database.insert_many("INSERT INTO t VALUES (?)", (("x" * 1000,) for _ in range(5000)))
    except StoreError as error:
        print(error)
    """
    done = run_python(code, str(tmp_path / "w.db"))
    assert "cannot be written: the disk is full" in done.stdout, done.stderr
    with Database(tmp_path / "w.db") as database:
        assert database.value("SELECT count(*) FROM t") == 0


def test_other_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE precious (a)")
    other.close()
    before = path.read_bytes()
    with (
        Database(path, write=False) as database,
        pytest.raises(StoreError, match="not a sliders workspace"),
    ):
        Catalog(database)
    assert path.read_bytes() == before


def test_newer_workspace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    with Database(path) as database:
        Catalog(database)
        database.execute(f"PRAGMA user_version={LAYOUT + 1}")
    with Database(path) as database, pytest.raises(WorkspaceTooNew, match="upgrade with"):
        Catalog(database)


def test_a_workspace_of_the_first_layout_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    with Database(path) as database:
        for statement in FIRST:
            database.execute(statement)
        database.execute("PRAGMA user_version=1")
        database.execute(f"PRAGMA application_id={APPLICATION_ID}")
        database.execute(
            "INSERT INTO sl_documents (id, name, title, description, text, sha256, media_type, "
            "source, warnings, version, added) VALUES ('d', 'a.txt', '', '', 'four', '', '', "
            "'', '[]', 1, '')"
        )
    with (
        Database(path, write=False) as database,
        pytest.raises(StoreError, match="open it once for writing"),
    ):
        Catalog(database)
    with Database(path) as database:
        assert [(d.id, d.characters) for d in Catalog(database).documents.all()] == [("d", 4)]


def test_a_workspace_of_the_second_layout_keeps_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    with Database(path) as database:
        for statement in SECOND:
            database.execute(statement)
        database.execute("PRAGMA user_version=2")
        database.execute(f"PRAGMA application_id={APPLICATION_ID}")
        for statement in SECOND_LAYOUT.split(";"):
            database.execute(statement)
    with Database(path) as database:
        catalog = Catalog(database)
        schema = catalog.schemas.current()
        assert schema is not None and schema.table("t").column("c") == Column(
            "c", ColumnType.CATEGORY, values=("a",)
        )
        [first, second] = catalog.extractions.rows("t")
        assert first.cells == (Cell("c", "a", "four", Grounding.EXACT, Span("d", 0, 4)),)
        assert second.cells == (Cell("c", "b", "b", absence=Absence.UNGROUNDED),)
        assert catalog.tables.materialise("t").rows == 2
        assert database.query("SELECT c FROM t") == [("a",), (None,)]
        catalog.tables.materialise("t", unverified=True)
        assert database.query("SELECT c FROM t") == [("a",), ("b",)]


SECOND_LAYOUT = """
INSERT INTO sl_documents (key, id, name, title, description, text, sha256, media_type, source,
warnings, version, added)
    VALUES (1, 'd', 'a.txt', '', '', 'four', '', '', '', '[]', 1, '');
INSERT INTO sl_chunks (key, id, document_key, position, start, stop, tokens, heading_path, captions,
kinds)
    VALUES (1, 'd/0', 1, 0, 0, 4, 1, '[]', '[]', '[]');
INSERT INTO sl_schemas
VALUES (1, '{"tables":[{"name":"t","columns":[{"name":"c","type":"enum","enum_values":["a"]}],
    "row":"","description":"","grain":"many","key":[],"pinned":false}]}', '', '');
INSERT INTO sl_tables (key, name, relation, row_meaning, description, grain, key_columns)
    VALUES (1, 't', 't', '', '', 'many', '[]');
INSERT INTO sl_columns (key, table_key, name, sql_name, position, type, description, unit, scale)
    VALUES (1, 1, 'c', 'c', 0, 'enum', '', '', '');
INSERT INTO sl_rows VALUES (1, 'r1', 1, 1, 1, 0), (2, 'r2', 1, 1, 1, 1);
INSERT INTO sl_cells VALUES
    (1, 1, 'a', NULL, 'four', 'exact', NULL, 0, 4, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (2, 1, 'b', NULL, 'b', 'none', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
"""


def test_values_that_cannot_be_stored_get_a_sentence(database: Database) -> None:
    database.execute("CREATE TABLE t (a INTEGER)")
    for value in (2**70, "\ud800"):
        with pytest.raises(StoreError, match="refused a statement"):
            database.execute("INSERT INTO t VALUES (?)", (value,))


@given(st.text(alphabet=st.characters(exclude_characters="\x00", exclude_categories=["Cs"])))
def test_quoted_identifier_is_one_identifier(name: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE t ({quote_identifier(name)})")
    assert [row[1] for row in connection.execute("PRAGMA table_info(t)")] == [name]
    connection.close()


def test_nul_has_no_identifier() -> None:
    with pytest.raises(StoreError, match="NUL"):
        quote_identifier("a\x00b")
