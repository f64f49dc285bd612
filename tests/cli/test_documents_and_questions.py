"""The words of `sliders ask`: which of them mean documents, and which are
questions, in any language.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sliders.cli import run, split_words
from sliders.llm.testing import requests_allowed
from tests.fake_server import FakeServer
from tests.worlds import document, served

QUESTIONS = (
    "问题一？",
    "总费用是多少？",
    "总费用",
    "総額はいくらですか",
    "費用は？",
    "ค่าใช้จ่ายรวม",
    "كم؟",
    "费用(P/E)是多少？",
    "Umsatz?",
    "Why?",
    "Größe?",
    "What is the P/E ratio?",
    "Wie hoch ist der Umsatz",
    "What is in report.pdf",
    "How many [draft] reports?",
    "",
    "  ",
)
DOCUMENTS = (
    "docs",
    "missing.txt",
    "missing",
    "年报.pdf",
    "年报/2023",
    "报告*",
    "*.txt",
    "docs/*.txt",
    "a?.txt",
    "../other",
    "/tmp/nothing",
    "https://example.org/a.pdf",
    "s3://bucket/报告",
    "report-2023",
    "report_2023",
    "[ab]",
    "文件",
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("docs", "文件"):
        Path(name).mkdir()
    Path("docs/anchor.txt").write_text(document("Anchor", cost="120 euros"), encoding="utf-8")
    Path("文件/beacon.txt").write_text(document("Beacon", cost="340 euros"), encoding="utf-8")


@pytest.mark.parametrize("word", QUESTIONS)
def test_a_question_before_the_last_one_is_a_question(word: str) -> None:
    assert split_words(["docs", word, "Why is it so?"]) == (["docs"], [word, "Why is it so?"])


@pytest.mark.parametrize("word", DOCUMENTS)
def test_what_looks_like_documents_are_documents(word: str) -> None:
    assert split_words([word, "问题一？"]) == ([word], ["问题一？"])


@pytest.mark.parametrize("word", ["Why?", "什么？.txt", "two words", "费用"])
def test_what_exists_is_a_document_whatever_it_looks_like(word: str) -> None:
    Path(word).write_text(document("Crane", cost="5 euros"), encoding="utf-8")
    assert split_words([word, "How many?"]) == ([word], ["How many?"])


def test_the_last_word_is_a_question() -> None:
    assert split_words(["总费用"]) == ([], ["总费用"])
    assert split_words(["docs", "Umsatz"]) == (["docs"], ["Umsatz"])
    assert split_words([]) == ([], [])


def test_two_questions_are_asked_of_the_documents(capsys: pytest.CaptureFixture[str]) -> None:
    with requests_allowed(), FakeServer(served) as server:
        words = [
            "ask",
            "docs",
            "文件",
            "cost 总费用是多少？",
            "费用 cost？",
            "-q",
            "--model",
            "reader",
        ]
        code = run([*words, "--base-url", server.base_url, "--api-key", "k"])
    out = capsys.readouterr()
    assert (code, out.err) == (0, "")
    assert out.out.count("Anchor") >= 2 and "no such file" not in out.out


def test_documents_that_are_not_there_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "年报.pdf", "问题一？", "问题二？", "-q"]) != 0
    assert "年报.pdf: no such file or folder" in capsys.readouterr().err
