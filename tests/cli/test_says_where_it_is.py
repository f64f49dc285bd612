"""Files that were not read and documents that were not read whole are told by every command, not
only when they are added.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sliders import Workspace
from sliders.cli import answer_text, next_steps, run
from sliders.documents import discover
from sliders.retrieval import HashEmbedder
from tests.worlds import Reader, document

QUESTION = "What is the total cost?"
MAIL = """From: a@b.org
Subject: figures
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=X

--X
Content-Type: text/plain

{}
--X
Content-Type: application/octet-stream
Content-Disposition: attachment; filename=bill.xyz

nothing
--X--
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a report, a mail with an attachment, a broken file and a picture."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "sub").mkdir()
    (folder / "anchor.txt").write_text(document("Anchor", cost="120 euros"), encoding="utf-8")
    (folder / "mail.eml").write_text(
        MAIL.format(document("Beacon", cost="340 euros")), encoding="utf-8"
    )
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 broken")
    (folder / "sub" / "pic.xyz").write_bytes(b"\x89PNG")
    return folder


@pytest.fixture(scope="module")
def place(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("places") / "w.db"
    with Workspace(place, model=Reader().model, embedder=HashEmbedder()) as ws:
        report = ws.add(folder)
        assert str(report) == "2 new, 1 failed, 1 passed over"
        assert report.passed_over == ("sub/pic.xyz",)
        answer = ws.ask(QUESTION)
    told = str(answer.completeness)
    assert "2 files were not read (bad.pdf, sub/pic.xyz): sliders why bad.pdf" in told
    assert "1 document was not read whole (mail.eml): sliders why mail.eml" in told
    assert told in answer_text(answer) and answer.status == "answered"
    assert answer.to_dict()["not_read"] == ["bad.pdf", "sub/pic.xyz"]
    assert answer.to_dict()["not_whole"] == ["mail.eml"]
    return place


@pytest.fixture
def shell(place: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def call(*words: str) -> str:
        capsys.readouterr()
        assert run([*words, "-w", str(place)]) == 0
        return capsys.readouterr().out

    return call


def test_tables_list_them(shell: Callable[..., str]) -> None:
    lines = shell("tables").splitlines()
    assert (
        "file bad.pdf: refused; the PDF is damaged or truncated; fetch or export it again" in lines
    )
    assert any(line.startswith("file sub/pic.xyz: passed over; ") for line in lines)
    assert any("attachments were not read: bill.xyz" in line for line in lines)
    told = json.loads(shell("tables", "--json"))
    assert [file["kind"] for file in told["files_not_read"]] == ["refused", "passed over"]
    assert [d["rows"] for d in told["documents"]] == [True, True]


def test_why_and_the_program_alone_tell_them(shell: Callable[..., str], place: Path) -> None:
    assert "passed over" in shell("why", "pic.xyz") and "damaged" in shell("why", "bad.pdf")
    assert "attachments were not read" in shell("why", "mail.eml")
    assert "2 documents, 2 files not read, 1 run of questions." in next_steps(place)
    assert len(next_steps(place).splitlines()) == 5


def test_a_file_that_is_read_later_is_listed_no_more(folder: Path, tmp_path: Path) -> None:
    copied = tmp_path / "docs"
    copied.mkdir()
    (copied / "anchor.txt").write_bytes((folder / "anchor.txt").read_bytes())
    (copied / "notes.xyz").write_text("Nothing was built.", encoding="utf-8")
    with Workspace(tmp_path / "w.db", model=Reader().model, embedder=HashEmbedder()) as ws:
        for _ in range(2):
            ws.add(copied)
        decisions = ws.session.catalog.journal.decisions(document="notes.xyz")
        assert [decision.verdict for decision in decisions] == ["passed over"]
        ws.add(copied / "notes.xyz")
        assert "not read" not in str(ws.ask(QUESTION).completeness)


def test_what_is_passed_over_is_no_document(folder: Path) -> None:
    names = [source.name for source in discover(folder)]
    assert names == ["anchor.txt", "bad.pdf", "mail.eml"]
    every = discover(folder, every=True)
    assert [source.name for source in every if source.passed_over] == ["sub/pic.xyz"]
