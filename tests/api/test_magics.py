"""Notebook magics, and the audit page under a cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sliders
from sliders.errors import SettingsError
from sliders.llm.testing import requests_allowed
from tests.fake_server import FakeServer
from tests.worlds import document, served


class Shell:
    """What IPython gives to an extension."""

    def __init__(self) -> None:
        self.magics: dict[tuple[str, str], Callable[[str, str], Any]] = {}

    def register_magic_function(
        self, function: Callable[[str, str], Any], magic_kind: str, magic_name: str
    ) -> None:
        self.magics[magic_kind, magic_name] = function


@pytest.fixture
def cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], Any]]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text(document("Anchor", cost="120 euros"), "utf-8")
    shell = Shell()
    sliders.load_ipython_extension(shell)
    with FakeServer(served) as server, requests_allowed():
        monkeypatch.setenv("SLIDERS_MODEL", "reader")
        monkeypatch.setenv("SLIDERS_BASE_URL", server.base_url)
        yield shell.magics["cell", "sliders"]


def test_a_cell_asks_and_the_page_opens_under_it(cell: Callable[[str, str], Any]) -> None:
    answer = cell("ask docs -w w.db", "What is the total cost?\n")
    assert answer.value == 120
    page = answer.show(height=400)._repr_html_()
    assert page.startswith("<iframe srcdoc=") and 'sandbox="allow-scripts"' in page
    assert "height:400px" in page and "What is the total cost?" in page


def test_a_cell_asks_several_and_queries(cell: Callable[[str, str], Any]) -> None:
    answers = cell("ask docs -w w.db", "What is the total cost?\n\nWhat is the total cost?\n")
    assert [answer.value for answer in answers] == [120, 120]
    assert cell("query -w w.db", "SELECT cost FROM things;\n")["cost"].tolist() == [120]


@pytest.mark.parametrize("line", ["", "tell docs", "ask --colour red"])
def test_words_that_are_not_understood_say_what_to_write(
    cell: Callable[[str, str], Any], line: str
) -> None:
    with pytest.raises(SettingsError, match="%%sliders ask"):
        cell(line, "What is the total cost?")
