"""The commands of the tutorial and the how-to pages run as they stand, and print what is shown."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sliders.cli import run
from sliders.llm.testing import requests_allowed
from sliders.schema import Column, Table
from sliders.values import ColumnType
from tests.fake_server import FakeServer
from tests.worlds import Kind, Reader

DOCS = Path(__file__).parents[2] / "docs"
SESSION = re.compile(r"```console\n(.*?)```", re.DOTALL)
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]
INVOICES = Kind(
    Table(
        "invoices",
        (
            Column("number"),
            Column("supplier"),
            Column("issued", ColumnType.DATE),
            Column("due", ColumnType.DATE),
            Column("amount", ColumnType.NUMBER, currency="EUR"),
        ),
        row="an invoice",
        grain="document",
        key=("number",),
    ),
    {
        "number": r"Invoice number: (\S+)",
        "supplier": r"([A-Z]{4,}(?: [A-Z]{3,})+)",
        "issued": r"Invoice date: (\d+ \w+ \d{4})",
        "due": r"Payment due: (\d+ \w+ \d{4})",
        "amount": r"Total amount: EUR ([\d.,]+)",
    },
    {
        "by supplier": "SELECT supplier, SUM(amount) AS total FROM invoices GROUP BY supplier "
        "ORDER BY total DESC",
        "due before": "SELECT number, supplier, due FROM invoices WHERE due < '2025-04-01' "
        "ORDER BY due",
    },
    whole=True,
)


def shown(page: Path) -> list[tuple[str, list[str]]]:
    """The commands of the page, each with the lines that it shows below."""
    sessions = "".join(SESSION.findall(page.read_text(encoding="utf-8")))
    told = re.split(r"^\$ ((?:[^\\\n]|\\.)*(?:\\\n[^\n]*)?)\n", sessions, flags=re.MULTILINE)[1:]
    return [
        (command.replace("\\\n", " "), output.splitlines())
        for command, output in zip(told[::2], told[1::2], strict=True)
    ]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    shutil.copytree(DOCS / "invoices", tmp_path / "invoices")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("USER", "ada")
    monkeypatch.setenv("SLIDERS_WORKSPACE", "invoices.db")
    monkeypatch.setenv("SLIDERS_CACHE_DIR", str(tmp_path / "cache"))
    with FakeServer(Reader(INVOICES).served) as server, requests_allowed():
        monkeypatch.setenv("SLIDERS_MODEL", "reader")
        monkeypatch.setenv("SLIDERS_BASE_URL", server.base_url)
        yield


def test_the_tutorial_and_six_pages_have_commands() -> None:
    assert len(shown(PAGES[0])) >= 10 and sum(bool(shown(page)) for page in PAGES) >= 6


@pytest.mark.parametrize("page", [p for p in PAGES if shown(p)], ids=lambda path: path.stem)
def test_the_page_shows_what_the_commands_print(
    page: Path, session: None, capsys: pytest.CaptureFixture[str]
) -> None:
    for command, lines in shown(page):
        words = shlex.split(command)
        capsys.readouterr()
        run(words[1:])
        out = capsys.readouterr()
        printed = [line.rstrip() for line in (out.out + out.err).splitlines()]
        wanted = [line.rstrip() for line in lines if line.strip() not in ("", "...")]
        assert [line for line in wanted if line not in printed] == [], (command, printed)


def test_the_recording_is_of_the_tutorial() -> None:
    from tests.cli.recording import RECORDING, drawn

    assert RECORDING.read_text(encoding="utf-8") == drawn(), "run: python -m tests.cli.recording"
