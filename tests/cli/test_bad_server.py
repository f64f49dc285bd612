"""What goes wrong with a workspace on a server: one clear line, a non-zero exit code,
nothing half written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from postgres import new_place, server
from sqlalchemy import make_url

from sliders.cli import run
from sliders.llm.testing import requests_allowed
from sliders.store import LAYOUT, Catalog, Database, workspace_is_there
from tests.fake_server import FakeServer
from tests.worlds import document, served

QUESTION = "What is the total cost?"
Say = Callable[..., tuple[int, str]]
FULL = """CREATE FUNCTION {schema}.no_room() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER no_room BEFORE INSERT ON {schema}.sl_{table}
    EXECUTE FUNCTION {schema}.no_room()"""


@pytest.fixture(autouse=True)
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """A model, and a folder with three documents to ask."""
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    for number, name in enumerate(("Anchor", "Beacon", "Crane")):
        Path(f"docs/{name}.txt").write_text(
            document(name, cost=f"{number + 1}0 euros"), encoding="utf-8"
        )
    with FakeServer(served) as server, requests_allowed():
        for name, value in {
            "MODEL": "reader",
            "BASE_URL": server.base_url,
            "API_KEY": "k",
            "RETRIES": "0",
        }.items():
            monkeypatch.setenv(f"SLIDERS_{name}", value)
        yield server


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Runs a command over a workspace; its exit code, and the one line that
    it says when it fails.
    """

    def call(place: str, *words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = run([*words, "-w", place, *(["-q"] if words[0] in ("ask", "add") else [])])
        out = capsys.readouterr()
        if code:
            assert len(out.err.strip().splitlines()) == 1 and out.err.startswith("sliders: "), (
                out.err
            )
            assert "unexpected" not in out.err and "Traceback" not in out.err and out.out == ""
        return code, out.err if code else out.out

    return call


def admin(sql: str) -> list[Any]:
    """Runs statements as the server's owner."""
    with psycopg.connect(
        make_url(server()).set(drivername="postgresql").render_as_string(False), autocommit=True
    ) as raw:
        cursor = raw.execute(sql)
        return cursor.fetchall() if cursor.description else []


def schema_of(place: str) -> str:
    return str(make_url(place).query["schema"])


@pytest.mark.parametrize(
    ("change", "told", "code"),
    [
        ({"host": "", "query": {"host": "/nowhere"}}, "cannot be reached", 1),
        ({"host": "127.0.0.1", "port": 9, "query": {}}, "cannot be reached", 1),
        ({"database": "nowhere"}, "does not exist", 1),
        ({"username": "nobody_at_all"}, "cannot be reached", 1),
        ({"drivername": "mysql"}, "not 'mysql'", 2),
        ({"drivername": "postgresql+asyncpg"}, "not 'postgresql+asyncpg'", 2),
    ],
)
def test_a_wrong_address(
    say: Say, model: FakeServer, change: dict[str, Any], told: str, code: int
) -> None:
    place = make_url(new_place()).set(**change).render_as_string(hide_password=False)
    for words in (("ask", "docs", QUESTION), ("tables",)):
        found, line = say(place, *words)
        assert (found, told in line) == (code, True), line
    assert model.bodies == []


def test_a_driver_that_is_missing(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    place = new_place()
    monkeypatch.setitem(sys.modules, "psycopg", None)
    code, line = say(place, "ask", "docs", QUESTION)
    assert code == 2 and "pip install 'sliders[postgres]'" in line


def test_a_reader_of_nothing(say: Say) -> None:
    place = new_place()
    for words in (("tables",), ("ask", QUESTION), ("export", "audit.db"), ("verify", place)):
        code, line = (
            say(place, *words)
            if words[0] != "verify"
            else (run(["verify", place]), "does not exist")
        )
        assert code == 1 and "does not exist" in line, line
    assert not workspace_is_there(place) and not Path("audit.db").exists()


@pytest.mark.parametrize("grant", ["SELECT 1", "GRANT CREATE ON DATABASE {database} TO {role}"])
def test_a_user_without_rights_leaves_nothing(say: Say, grant: str) -> None:
    """May make nothing, or a schema but not the role that model-written SQL runs as."""
    place, role = new_place(), "sl_test_little"
    admin(f"CREATE ROLE {role} LOGIN")
    try:
        admin(grant.format(database=f'"{make_url(place).database}"', role=role))
        code, line = say(
            make_url(place).set(username=role).render_as_string(False), "ask", "docs", QUESTION
        )
        assert code == 1 and "does not let this user do that (permission denied" in line, line
        assert not workspace_is_there(place)
    finally:
        admin(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_a_user_who_may_only_read_cannot_write(say: Say) -> None:
    place, role = new_place(), "sl_test_reads"
    assert say(place, "ask", "docs", QUESTION)[0] == 0
    schema = schema_of(place)
    admin(
        f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role};"
        f" GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}"
    )
    try:
        here = make_url(place).set(username=role).render_as_string(False)
        assert "things: 3 rows" in say(here, "tables")[1]
        Path("docs/new.txt").write_text(document("New", cost="1 euro"), encoding="utf-8")
        code, line = say(here, "add", "docs")
        assert code == 1 and "permission denied" in line
        assert "things: 3 rows" in say(place, "tables")[1]
    finally:
        admin(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_a_newer_and_an_older_layout(say: Say) -> None:
    place = new_place()
    assert say(place, "ask", "docs", QUESTION)[0] == 0
    layout = f"UPDATE {schema_of(place)}.sl_meta SET value = '{{}}' WHERE name = 'layout'"
    admin(layout.format(LAYOUT + 1))
    for words in (("ask", "docs", QUESTION), ("tables",)):
        code, line = say(place, *words)
        assert code == 1 and "upgrade with" in line
    admin(layout.format(LAYOUT - 1))
    code, line = say(place, "tables")
    assert code == 1 and "open it once for writing" in line
    assert "60" in say(place, "ask", "docs", QUESTION)[1]
    assert "things: 3 rows" in say(place, "tables")[1]


def test_a_server_that_goes_away_in_the_middle(
    say: Say, model: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connections end at the third call; the same command goes on, and pays for no answer
    twice that was stored.
    """
    place = new_place()
    calls: list[str] = []

    def going(body: dict[str, Any]) -> Any:
        calls.append(str(body["messages"]))
        if len(calls) == 3:
            admin(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                "application_name = 'sliders'"
            )
        return served(body)

    with FakeServer(going) as dying:
        monkeypatch.setenv("SLIDERS_BASE_URL", dying.base_url)
        code, line = say(place, "ask", "docs", QUESTION, "--concurrency", "1")
        assert code == 1 and "went away" in line, line
        with Database(place, write=False) as database:
            assert Catalog(database).journal.runs()[-1].status == "running"
        code, out = say(place, "ask", "docs", QUESTION, "--concurrency", "1")
    assert code == 0 and "60" in out
    assert len(calls) - len(set(calls)) <= 1, (
        "only the answer that could not be stored is asked for again"
    )


@pytest.mark.parametrize("table", ["documents", "chunks", "calls", "cells", "table_versions"])
def test_a_disk_of_the_server_that_is_full(say: Say, table: str) -> None:
    """The server says so, whatever is being written; when there is room again, the same
    command ends as ever.
    """
    place = new_place()
    with Database(place) as database:
        Catalog(database)
    schema = schema_of(place)
    admin(FULL.format(schema=schema, table=table))
    code, line = say(place, "ask", "docs", QUESTION)
    assert code == 1 and "no room left on its disk" in line, line
    with Database(place, write=False) as database:
        rows = (
            "SELECT (SELECT count(*) FROM sl_documents), (SELECT count(DISTINCT "
            "document_key) FROM sl_chunks)"
        )
        documents, with_chunks = database.query(rows)[0]
        assert documents == with_chunks, "no document stands there without its chunks"
        assert (
            database.value(
                "SELECT count(*) FROM sl_rows WHERE key NOT IN (SELECT row_key FROM sl_cells)"
            )
            == 0
        )
    admin(f"DROP TRIGGER no_room ON {schema}.sl_{table}")
    code, out = say(place, "ask", "docs", QUESTION)
    assert code == 0 and "60" in out
