"""Whatever is changed past `sliders` is seen: in each table, whatever the change."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from sliders import Workspace
from sliders.audit import check_audit
from sliders.cli import run
from sliders.errors import AuditError, SettingsError
from sliders.store import Catalog, Database, tampered
from tests.audit.world import harbour
from tests.postgres import new_place
from tests.workspaces import kept


def seen(place: str | Path) -> list[str]:
    with Database(place, write=False) as database:
        return list(tampered(database))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with lines in almost every table."""
    return Path(kept.migrated("full", tmp_path_factory.mktemp("made")))


def plain(path: Path) -> contextlib.closing[sqlite3.Connection]:
    return contextlib.closing(sqlite3.connect(path, isolation_level=None))


def test_a_change_of_any_column_of_any_table_is_seen(made: Path, tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    shutil.copy(made, path)
    with plain(path) as other:
        tables = other.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' "
            "AND name NOT LIKE 'sl_chunk_search%' AND name NOT IN ('sl_claims', 'sl_batches')"
        ).fetchall()
        changed = 0
        for (table,) in tables:
            listed = other.execute(f"PRAGMA table_info({table!r})").fetchall()
            key = ", ".join(f'"{c[1]}"' for c in listed if c[5]) or "rowid"
            first = f"({key}) IN (SELECT {key} FROM {table} ORDER BY {key} LIMIT 1)"
            for column in [f'"{c[1]}"' for c in listed if not c[5]][::3]:
                before = other.execute(f"SELECT {column} FROM {table} WHERE {first}").fetchone()
                if before is None:
                    continue
                other.execute(f"UPDATE {table} SET {column} = 977 WHERE {first}")
                assert seen(path), (table, column)
                other.execute(f"UPDATE {table} SET {column} = ? WHERE {first}", before)
                changed += 1
        assert changed > 100 and seen(path) == []
        for (table,) in [one for one in tables if one != ("sl_digests",)]:
            if other.execute(f"SELECT count(*) FROM {table}").fetchone()[0]:
                before = seen(path)
                other.execute(f"DELETE FROM {table}")
                assert len(seen(path)) > len(before), table


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("INSERT INTO sl_batches VALUES ('k', 'b', 'now')", "'sl_batches': it has 1 lines"),
        ("DROP TABLE sl_digests", "no such table: sl_digests"),
        ("DELETE FROM sl_digests", "it has"),
        ("UPDATE sl_digests SET digest = 'none'", "a line of it is not the one"),
        ("DROP VIEW incidents", "the definition of a table, a view"),
        ("DROP INDEX sl_calls_key", "the definition of a table, a view"),
        ("CREATE TABLE mine (a)", "the definition of a table, a view"),
        ("DELETE FROM sl_chunk_search_data WHERE id > 100", "full-text index"),
        ("UPDATE sl_cells SET page = 2 WHERE page = 1", "is not that of its words"),
        ("UPDATE incidents__v1 SET people = NULL", "do not give version 1"),
        ("UPDATE sl_cells SET printed = CAST(x'ff' AS TEXT)", "sl_cells"),
    ],
)
def test_what_is_told(tmp_path: Path, change: str, words: str) -> None:
    path = harbour(tmp_path / "w.db")
    with plain(path) as other:
        other.execute(change)
    try:
        told = "\n".join(check_audit(path).problems)
    except Exception as error:  # noqa: BLE001 - what cannot be read is told as an error
        told = str(error)
    assert words in told


@pytest.mark.parametrize("place", [lambda folder: folder / "w.db", lambda _: new_place()])
def test_own_changes_are_counted_on_both_engines(
    place: Callable[[Path], str | Path], tmp_path: Path
) -> None:
    workspace = place(tmp_path)
    harbour(workspace)  # type: ignore[arg-type]
    with Database(workspace) as database:
        catalog = Catalog(database)
        with contextlib.suppress(ZeroDivisionError), database.transaction():
            catalog.collection.keep_card("report", "lost")
            _ = 1 / 0
        with database.transaction():
            catalog.collection.keep_card("report", "kept")
            with contextlib.suppress(ZeroDivisionError), database.transaction():
                catalog.collection.keep_card("note", "lost")
                _ = 1 / 0
        assert seen(workspace) == []
        database.execute("DELETE FROM sl_documents WHERE id = 'quiet'")  # its pages and chunks too
    assert seen(workspace) == []


def test_a_change_past_sliders_stays_seen_when_it_writes_again(tmp_path: Path) -> None:
    path = harbour(tmp_path / "w.db")
    with plain(path) as other:
        other.execute("UPDATE sl_runs SET question = 'Another?'")
    with Workspace(path) as ws:
        ws.session.catalog.journal.start_run("ask", "Which?")
    assert seen(path) == ["table 'sl_runs': a line of it is not the one that sliders wrote"]


def test_a_change_on_a_server_is_seen() -> None:
    place = new_place()
    harbour(place)  # type: ignore[arg-type]
    address, schema = kept.address_of(place)
    with psycopg.connect(address, autocommit=True) as other:
        other.execute(f"UPDATE {schema}.sl_decisions SET reason = 'another'")
        other.execute(f"DELETE FROM {schema}.sl_calls WHERE number = 1")
        other.execute(
            f"CREATE OR REPLACE VIEW {schema}.incidents AS SELECT ship, people + 1 AS people, "
            f"damage, grave, port, document, document_id, row_id FROM {schema}.incidents__v2"
        )
    told = check_audit(place).problems
    assert "table 'sl_calls': it has 1 lines, sliders wrote 2" in told
    assert "table 'sl_decisions': a line of it is not the one that sliders wrote" in told
    assert "view 'incidents' does not show version 2 of its table" in told


def test_a_signature_shows_that_a_seal_was_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, other = tmp_path / "key", tmp_path / "other"
    key.write_bytes(b"k" * 32)
    other.write_bytes(b"o" * 32)
    with Workspace(harbour(tmp_path / "w.db")) as ws:
        ws.export(tmp_path / "signed.db", sign=key)
        ws.export(tmp_path / "plain.db")
        with pytest.raises(SettingsError, match="only an audit database is signed"):
            ws.export(tmp_path / "csv", "csv", sign=key)
    assert check_audit(tmp_path / "signed.db", key).problems == ()
    assert "holds the key" in check_audit(tmp_path / "signed.db", key).unproven
    wrong = "the signature is not that of this key and this file"
    assert check_audit(tmp_path / "signed.db", other).problems == (wrong,)
    assert "the file is not signed" in check_audit(tmp_path / "plain.db", key).problems[0]
    with plain(tmp_path / "signed.db") as forged:
        forged.execute("UPDATE audit_decisions SET reason = 'another'")
        lines = forged.execute("SELECT * FROM audit_decisions").fetchall()
        digests = (hashlib.blake2b(repr(x).encode(), digest_size=16).digest() for x in lines)
        total = sum(int.from_bytes(one) for one in digests) % 2**128
        again = (f"[{len(lines)},{total}]", "audit_decisions")
        forged.execute("UPDATE audit_seal SET digest = ? WHERE subject = ?", again)
    assert check_audit(tmp_path / "signed.db").problems == ()
    assert run(["verify", str(tmp_path / "signed.db"), "--key", str(key)]) == 1
    assert wrong in capsys.readouterr().out
    with pytest.raises(AuditError, match="is a workspace, only an export is signed"):
        check_audit(tmp_path / "w.db", key)
    key.write_bytes(b"short")
    with pytest.raises(SettingsError, match="it needs 16"):
        check_audit(tmp_path / "signed.db", key)
