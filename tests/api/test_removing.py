"""A document that is removed is nowhere any more: not in the file, its log, its free pages and its
full-text index, not in what a server keeps, not in exports."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sliders import Workspace
from sliders.audit import check_audit
from sliders.cli import run
from sliders.errors import StoreError
from sliders.retrieval import HashEmbedder
from sliders.store import Database
from tests.postgres import new_place
from tests.worlds import REPORTS, TEXTS, Reader, document

QUESTIONS = (
    "What is the total cost?",
    "Which name has the largest cost?",
    "How many have a keeper?",
)
PLANTED = [f"zq{number:04d}x" for number in range(1000)]
SECRET = document(
    "Zqsecret", cost="987654 euros", length="77 metres", keeper="Zqperson Zqname"
) + "\n".join(" ".join(PLANTED[n : n + 10]) for n in range(0, 1000, 10))
NAME = "zqfile.txt"


def opened(place: str | Path) -> Workspace:
    return Workspace(place, model=Reader(REPORTS).model, embedder=HashEmbedder())


def made(place: str | Path) -> list[object]:
    """A workspace that was asked without and with the secret document; the answers without."""
    with opened(place) as ws:
        for name, text in TEXTS.items():
            ws.add_text(text, name)
        before = [ws.ask(question).value for question in QUESTIONS]
        ws.add_text(f"{SECRET}\nAn earlier version.", NAME)
        ws.add_text(SECRET, NAME)
        with_it = [ws.ask(question).value for question in QUESTIONS]
        assert before == [535, "Beacon", 2] and with_it == [988189, "Zqsecret", 3]
        ws.ask("What is the cost of Zqsecret?")
        ws.set_value("things", "keeper", "Zqother", {"name": "Zqsecret"})
    return before


def lines_with_words(place: str | Path) -> list[str]:
    """The lines of all tables that hold a word of the secret document."""
    with Database(place, write=False) as database:
        lines = [
            f"{table}: {line!r}"
            for table in database.names()
            if not table.startswith("sl_chunk_search")
            for line in database.query(f'SELECT * FROM "{table}"')
        ]
    return [line for line in lines if "zq" in line.lower() or "987654" in line]


def bytes_with_words(path: Path) -> list[str]:
    beside = path.parent.glob(f"{path.name}*")
    return [one.name for one in beside if {b"zq", b"987654"} & _found(one.read_bytes().lower())]


def _found(data: bytes) -> set[bytes]:
    return {word for word in (b"zq", b"987654") if word in data}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "w.db"
    made(path)
    assert bytes_with_words(path) and lines_with_words(path)
    return path


@pytest.mark.parametrize("place", [lambda folder: folder / "w.db", lambda _: new_place()])
def test_no_word_is_left_and_other_answers_stay(
    place: Callable[[Path], str | Path], tmp_path: Path
) -> None:
    at = place(tmp_path)
    before = made(at)
    with opened(at) as ws:
        removed = ws.remove(NAME)
        assert (removed.documents, removed.rows) == ((NAME,), 1) and removed.calls > 1
        assert removed.answers == 4
        assert lines_with_words(at) == []
        if isinstance(at, Path):
            assert bytes_with_words(at) == []
        assert ws.verify() == []
        runs = [run for run in ws.runs() if run.outcome.get("answers")]
        told = ["were removed on" in run.outcome["answers"][0]["reason"] for run in runs]
        assert told == [False] * 3 + [True] * 4
        assert [ws.ask(question).value for question in QUESTIONS] == before
        ws.export(tmp_path / "audit.db")
        ws.view(runs[4].id, tmp_path / "page.html")
        with pytest.raises(StoreError, match=r"has no document 'zqfile\.txt'"):
            ws.remove(["anchor.txt", NAME])
        assert {one.name for one in ws.session.catalog.documents.all()} == set(TEXTS)
    assert bytes_with_words(tmp_path / "audit.db") == []
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "were removed on" in page and "zqsecret" not in page.lower()
    assert check_audit(at).problems == check_audit(tmp_path / "audit.db").problems == ()


def test_a_version_from_before_a_removal_is_not_shown_again(tmp_path: Path) -> None:
    with opened(tmp_path / "w.db") as ws:
        made_of = {**TEXTS, NAME: SECRET}
        for name, text in made_of.items():
            ws.add_text(text, name)
        ws.ask(QUESTIONS[0])
        ws.remove(NAME)
        rows = len(ws.tables["things"])
        for version in (None, 1):
            with pytest.raises(StoreError, match="taken out when documents were removed"):
                ws.undo("things", version)
        assert len(ws.tables["things"]) == rows == len(TEXTS)


def test_words_of_scripts_without_blanks_are_still_found(tmp_path: Path) -> None:
    with opened(tmp_path / "w.db") as ws:
        for name, text in {"a": "公司有员工六人。", "b": "The bridge cost 4 euros."}.items():
            ws.add_text(text, f"{name}.txt")
        ws.remove("b.txt")
        assert len(ws.session.catalog.chunks.search("员工")) == 1


def test_the_only_document_is_removed_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(tmp_path / "w.db") as ws:
        ws.add_text(SECRET, NAME)
        ws.ask(QUESTIONS[0])
    assert run(["remove", NAME, "-w", str(tmp_path / "w.db"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["documents"] == [NAME]
    assert lines_with_words(tmp_path / "w.db") == bytes_with_words(tmp_path / "w.db") == []
    assert check_audit(tmp_path / "w.db").problems == ()


def test_a_call_shared_with_other_documents_goes_and_their_cells_stay(
    file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "w.db"
    shutil.copy(file, path)
    with contextlib.closing(sqlite3.connect(path)) as plain:
        plain.execute("UPDATE sl_cells SET origin_key = 1")  # one call read all documents
        plain.commit()
        told = plain.execute("SELECT printed FROM sl_cells c JOIN sl_rows r ON r.key = c.row_key "
                             "JOIN sl_documents d ON d.key = r.document_key WHERE d.name <> ? "
                             "ORDER BY c.row_key, c.column_key", (NAME,)).fetchall()  # fmt: skip
    with opened(path) as ws:
        ws.remove(NAME)
        database = ws.session.catalog.database
        shared = "SELECT c.prompt, c.reply, c.key FROM sl_calls c JOIN sl_origins o ON o.call_id = c.id WHERE o.key = 1 AND NOT c.cached"  # noqa: E501
        assert database.query(shared) == [(None, None, "")]
        stay = "SELECT printed FROM sl_cells ORDER BY row_key, column_key"
        assert database.query(stay) == told


def _removes(path: str) -> None:
    with opened(path) as ws:
        ws.remove(NAME)


def test_killed_half_way_it_is_there_or_gone_and_the_command_finishes(
    file: Path, tmp_path: Path
) -> None:
    fork, chance, seen = multiprocessing.get_context("fork"), random.Random(3), set()
    path = tmp_path / "w.db"
    shutil.copy(file, path)
    child = fork.Process(target=_removes, args=(str(path),))
    started = time.perf_counter()
    child.start()
    child.join()
    whole = time.perf_counter() - started
    for number in range(20):
        path = tmp_path / f"{number}.db"
        shutil.copy(file, path)
        child = fork.Process(target=_removes, args=(str(path),))
        child.start()
        child.join(chance.uniform(0, 1.2) * whole)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid or 0, signal.SIGKILL)
        child.join()
        words = lines_with_words(path)
        seen.add(bool(words))
        assert len(words) in (0, len(lines_with_words(file)))
        assert check_audit(path).problems == ()
        with opened(path) as ws, contextlib.suppress(StoreError):  # it was finished
            ws.remove(NAME)
        assert bytes_with_words(path) == [] and lines_with_words(path) == []
    assert seen == {True, False}
