"""What goes wrong at the command line: one clear line and a non-zero exit
code, never a traceback.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sliders.cli import run
from sliders.llm.testing import requests_allowed
from tests.fake_server import FakeServer, Scripted
from tests.worlds import document, served

Fail = Callable[..., tuple[int, str]]
QUESTION = "What is the total cost?"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in (
        "SLIDERS_MODEL",
        "SLIDERS_BASE_URL",
        "SLIDERS_API_KEY",
        "OPENAI_API_KEY",
        "SLIDERS_WORKSPACE",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SLIDERS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("SLIDERS_RETRIES", "0")
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    Path("docs/anchor.txt").write_text(document("Anchor", cost="120 euros"), encoding="utf-8")
    with requests_allowed():
        yield


@pytest.fixture
def fail(capsys: pytest.CaptureFixture[str]) -> Fail:
    """Runs a command that must fail; its exit code and the one line that it says."""

    def call(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = run([*words, "-q"] if words[0] == "ask" else words)
        out = capsys.readouterr()
        lines = out.err.strip().splitlines()
        assert code != 0
        assert len(lines) == 1, out.err
        assert lines[0].startswith("sliders: ")
        assert "unexpected" not in lines[0]
        assert "Traceback" not in out.err
        assert out.out == ""
        return code, lines[0]

    return call


def server_args(server: FakeServer, model: str = "reader") -> list[str]:
    return ["--model", model, "--base-url", server.base_url, "--api-key", "k"]


def test_no_documents(fail: Fail) -> None:
    Path("empty").mkdir()
    assert "no documents" in fail("ask", "empty", QUESTION)[1]
    assert "no such file" in fail("ask", "missing.txt", QUESTION)[1]
    assert "no documents" in fail("ask", QUESTION)[1]
    assert not Path("missing.db").exists()


def test_a_word_too_long_for_a_file_is_told_in_short(fail: Fail) -> None:
    code, line = fail("ask", "x" * 5000, QUESTION)
    assert code == 1 and "no such file" in line and len(line) < 400


def test_a_wrong_path_makes_no_workspace(fail: Fail) -> None:
    fail("ask", "missing.txt", QUESTION)
    assert not Path("sliders.db").exists()


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["add", "http://127.0.0.1:9/a.txt"], 1, "cannot be read"),
        (["add", "abfs://box/a.txt"], 1, "needs a driver"),
        (["ask", "memory://nowhere/a.txt", QUESTION], 1, "there is no such file"),
        (["ask", "https://example.org/a.pdf"], 2, "no question"),
        (["add", "docs", "--ray-address", "127.0.0.1:9"], 2, "set that to 'ray'"),
        (["add", "docs", "--executor", "ray", "--ray-address", "127.0.0.1:9"], 2, "Ray"),
    ],
)
def test_what_is_far_away_and_does_not_answer(
    fail: Fail, words: list[str], code: int, told: str
) -> None:
    found, line = fail(*words)
    assert (found, told in line) == (code, True), line
    assert not Path("sliders.db").exists()


def test_unreadable_folder(fail: Fail, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "docs")

    Path("docs").chmod(0)
    try:
        with monkeypatch.context() as patch:
            if os.access("docs", os.R_OK):  # the superuser may read everything: the refusal is made
                for name in ("os.scandir", "os.walk", "os.listdir"):
                    patch.setattr(name, refuse)
            assert "cannot be read" in fail("ask", "docs", QUESTION)[1]
    finally:
        Path("docs").chmod(0o700)


@pytest.mark.parametrize("question", ["", "   "])
def test_empty_question(fail: Fail, question: str) -> None:
    assert "question is empty" in fail("ask", "docs", question)[1]


def test_no_question(fail: Fail) -> None:
    code, line = fail("ask", "docs")
    assert code == 2
    assert "no question" in line


def test_unknown_model(fail: Fail) -> None:
    with FakeServer(Scripted(status=404, error="model 'nobody' not found")) as server:
        assert "nobody" in fail("ask", "docs", QUESTION, *server_args(server, "nobody"))[1]


def test_wrong_key(fail: Fail) -> None:
    with FakeServer(Scripted(status=401, error="bad key")) as server:
        assert "key" in fail("ask", "docs", QUESTION, *server_args(server))[1]


def test_server_down(fail: Fail) -> None:
    args = ["--model", "reader", "--base-url", "http://127.0.0.1:9/v1", "--api-key", "k"]
    assert "127.0.0.1:9" in fail("ask", "docs", QUESTION, *args)[1]


def test_a_server_without_a_model_name(fail: Fail) -> None:
    assert fail("ask", "docs", QUESTION, "--base-url", "http://127.0.0.1:9/v1")[0] == 2


def test_wrong_model_hash(fail: Fail, tmp_path: Path) -> None:
    from sliders.compact import EMBEDDED

    path = EMBEDDED.path(tmp_path / "cache")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not the model")
    line = fail("model", "pull", "-q")[1]
    assert str(path) in line
    assert "SHA-256" in line or "hash" in line


def test_newer_workspace(fail: Fail) -> None:
    run(["add", "docs", "-q"])
    with sqlite3.connect("sliders.db") as database:
        database.execute("PRAGMA user_version = 99")
    assert "upgrade" in fail("ask", "docs", QUESTION)[1]


def test_another_programs_database(fail: Fail) -> None:
    with sqlite3.connect("other.db") as database:
        database.execute("CREATE TABLE t (a)")
    assert "not a sliders workspace" in fail("ask", "docs", QUESTION, "-w", "other.db")[1]


def test_a_workspace_that_is_a_text_file(fail: Fail) -> None:
    Path("notes.db").write_text(
        "these are notes, and not a database at all " * 40, encoding="utf-8"
    )
    assert "notes.db" in fail("ask", "docs", QUESTION, "-w", "notes.db")[1]


@pytest.mark.parametrize("path", ["", ".", "/", "docs"])
def test_a_workspace_that_is_a_folder(fail: Fail, path: str) -> None:
    assert "is a folder" in fail("ask", "docs", QUESTION, "-w", path)[1]
    assert "is a folder" in fail("tables", "-w", path)[1]


def test_a_refused_database_is_left_as_it_was(fail: Fail) -> None:
    with contextlib.closing(sqlite3.connect("other.db")) as other:
        other.execute("CREATE TABLE mine (a)")
    before = Path("other.db").read_bytes()
    assert "not a sliders workspace" in fail("add", "docs", "-w", "other.db")[1]
    Path("words.txt").write_text("only words, no database " * 10, encoding="utf-8")
    assert "not a SQLite database" in fail("add", "docs", "-w", "words.txt")[1]
    assert Path("other.db").read_bytes() == before
    assert not [
        path
        for path in Path().iterdir()
        if path.name.startswith(("other.db-", "other.db.", "words.txt."))
    ]


def test_a_workspace_is_made_only_by_adding(fail: Fail) -> None:
    for words in (
        ["reconcile"],
        ["extract"],
        ["query", "SELECT 1"],
        ["undo", "things"],
        ["ask", QUESTION],
    ):
        assert "does not exist" in fail(*words, "-w", "typo.db")[1]
    assert not Path("typo.db").exists()


@pytest.mark.skipif(
    os.name != "posix" or sys.platform == "darwin", reason="names are Unicode there"
)
def test_a_name_that_is_no_unicode_fails_nothing(
    fail: Fail, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(os.fsdecode(b"docs/caf\xe9.txt")).write_text("A log of Merrow.", encoding="utf-8")
    assert run(["add", "docs", "-q"]) == 0
    assert "2 new" in capsys.readouterr().out
    assert run(["tables"]) == 0
    assert r"caf\xe9.txt" in capsys.readouterr().out
    assert "no Unicode" in fail("add", "docs", "-w", os.fsdecode(b"w\xe9.db"))[1]


def test_an_empty_path_is_no_folder(fail: Fail) -> None:
    assert "is empty" in fail("add", "")[1]


def test_an_export_replaces_exports_only(fail: Fail) -> None:
    assert run(["add", "docs", "-q"]) == 0
    assert run(["add", "docs", "-q", "-w", "other.db"]) == 0
    paid, document_before = Path("other.db").read_bytes(), Path("docs/anchor.txt").read_bytes()
    assert "no earlier export" in fail("export", "other.db")[1]
    for kind in ("sqlite", "excel"):
        assert "no earlier export" in fail("export", "docs/anchor.txt", "--format", kind)[1]
    assert (Path("other.db").read_bytes(), Path("docs/anchor.txt").read_bytes()) == (
        paid,
        document_before,
    )
    assert "does not exist" in fail("export", "nowhere/audit.db")[1]
    for target in ("audit.db", "tables.xlsx"):
        assert [run(["export", target]) for _ in range(2)] == [0, 0]


def test_two_processes_on_one_workspace(fail: Fail) -> None:
    run(["add", "docs", "-q"])
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys\nfrom sliders.store.database import Database\n"
            "with Database('sliders.db'):\n    print('held', flush=True)\n    sys.stdin.read()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert "another process" in fail("ask", "docs", QUESTION)[1]
        assert run(["tables"]) == 0, "reading beside a writer is allowed"
    finally:
        holder.communicate("")


def test_disk_full_while_writing(tmp_path: Path) -> None:
    """The child's files may not grow over a limit, which the system reports
    as a write that fails.
    """
    with FakeServer(served) as server:
        for number in range(30):
            text = document(f"Thing {number}", cost="1 euro") * 300
            Path(f"docs/thing{number}.txt").write_text(text, encoding="utf-8")
        script = (
            "import resource, signal, sys\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))\n"
            "from sliders.cli import run\nsys.exit(run(sys.argv[1:]))"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, "ask", "docs", QUESTION, "-q", *server_args(server)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 1
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert "disk" in lines[0] or "full" in lines[0] or "I/O" in lines[0]


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (["asks"], "sliders"),
        (["add", "docs", "--wrkspace", "x"], "sliders add"),
        (["set-value", "t", "c", "1"], "sliders set-value"),
        (["query"], "sliders query"),
        (["model", "pul"], "sliders model"),
        (["model"], "sliders model"),
    ],
)
def test_a_command_that_is_none_says_where_help_is(
    fail: Fail, words: list[str], where: str
) -> None:
    code, told = fail(*words)
    assert code == 2
    assert told.endswith(f" See: {where} --help")


def test_bad_settings(fail: Fail, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fail("ask", "docs", QUESTION, "--max-tokens", "0")[0] == 2
    monkeypatch.setenv("SLIDERS_CONCURRENCY", "many")
    assert fail("ask", "docs", QUESTION)[0] == 2


def test_a_schema_file_that_is_none(fail: Fail) -> None:
    Path("schema.yaml").write_text("- just\n- words\n", encoding="utf-8")
    fail("ask", "docs", QUESTION, "--schema", "schema.yaml")
    fail("ask", "docs", QUESTION, "--schema", "missing.yaml")


def test_sql_that_is_refused(fail: Fail) -> None:
    run(["add", "docs", "-q"])
    fail("query", "DROP TABLE sl_documents")
    fail("query", "SELECT * FROM sl_calls")


def test_unknown_names(fail: Fail) -> None:
    run(["add", "docs", "-q"])
    fail("why", "nobody")
    fail("tables", "nothing")
    fail("undo", "nothing")
    fail("extract", "nothing")
    fail("verify", "nothing.db")
    fail("tables", "-w", "nothing.db")


def test_interrupt_is_clean(tmp_path: Path) -> None:
    import signal

    with FakeServer(served, latency=0.3) as server:
        for number in range(20):
            Path(f"docs/thing{number}.txt").write_text(
                document(f"Thing {number}", cost="1 euro"), encoding="utf-8"
            )
        child = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "sliders",
                "ask",
                "docs",
                QUESTION,
                "-q",
                "--concurrency",
                "1",
                *server_args(server),
            ],
            env={**os.environ, "SLIDERS_DOCUMENTS_PER_CALL": "1"},
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        deadline = time.monotonic() + 60
        while len(server.bodies) < 4 and time.monotonic() < deadline:
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
    assert child.returncode == 130
    assert out == ""
    assert len(err.strip().splitlines()) == 1, err
    assert err.startswith("sliders: interrupted; what was done is kept")
