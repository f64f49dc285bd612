"""Saved questions: asked again over what the documents are now, with what changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sliders.cli import run
from sliders.llm.testing import requests_allowed
from tests.fake_server import FakeServer
from tests.worlds import document, served

QUESTIONS = 'documents: docs\nquestions:\n  - "What is the total cost?"\n'
Refresh = Callable[[], tuple[int, Any]]


@pytest.fixture
def refresh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Refresh]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text(document("Anchor", cost="120 euros"), "utf-8")
    (tmp_path / "monthly.yaml").write_text(QUESTIONS, "utf-8")
    with FakeServer(served) as server, requests_allowed():

        def again() -> tuple[int, Any]:
            capsys.readouterr()
            model = ("--model", "reader", "--base-url", server.base_url)
            code = run(["refresh", "monthly.yaml", *model, "--json"])
            return code, json.loads(capsys.readouterr().out or "null")

        yield again


def test_the_first_run_has_nothing_to_compare_with(refresh: Refresh) -> None:
    code, said = refresh()
    assert code == 0 and said["changes"] is None and said["answers"][0]["value"] == 120


def test_what_did_not_change_exits_with_zero(refresh: Refresh) -> None:
    refresh()
    code, said = refresh()
    assert code == 0 and said["changes"]["answers"] == []
    assert said["changes"]["same"] == ["What is the total cost?"]


def test_a_new_document_changes_the_answer_and_says_why(refresh: Refresh, tmp_path: Path) -> None:
    refresh()
    (tmp_path / "docs" / "b.txt").write_text(document("Beacon", cost="340 euros"), "utf-8")
    code, said = refresh()
    [change] = said["changes"]["answers"]
    assert code == 1 and (change["before"], change["after"]) == (120, 460)
    assert any("b.txt" in cause["text"] for cause in change["causes"])


@pytest.mark.parametrize(
    "text", ["questions: []\n", "- a\n", "questions: [a]\nmodel: b\n", "questions: [[1]]\n", "{"]
)
def test_a_file_that_is_not_of_saved_questions_is_refused(
    refresh: Refresh, tmp_path: Path, text: str
) -> None:
    (tmp_path / "monthly.yaml").write_text(text, "utf-8")
    assert refresh()[0] == 2


def test_a_missing_file_is_refused(refresh: Refresh, tmp_path: Path) -> None:
    (tmp_path / "monthly.yaml").unlink()
    assert refresh() == (2, None)
