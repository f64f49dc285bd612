"""A result as table, CSV, JSON and Markdown, at the width of the terminal and without one."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sliders import Workspace
from sliders.cli import run
from sliders.llm.testing import requests_allowed
from sliders.retrieval import HashEmbedder
from tests.fake_server import FakeServer
from tests.worlds import REPORTS, TEXTS, Reader

QUERY = "SELECT name, cost, cost > 100 AS large FROM things ORDER BY cost"
SQL = {
    "Which things are there?": "SELECT name, cost, keeper FROM things ORDER BY cost DESC",
    "What is the total cost?": "SELECT SUM(cost) FROM things",
}
Shell = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of three reports of which everything is known."""
    path = tmp_path_factory.mktemp("formats") / "w.db"
    reader = Reader(REPORTS, sql=SQL)
    with Workspace(path, model=reader.model, embedder=HashEmbedder()) as ws:
        ws.pin_schema(
            {
                "tables": [
                    {
                        "name": "things",
                        "grain": "document",
                        "key": ["name"],
                        "columns": {
                            "name": "text",
                            "cost": {"type": "number", "currency": "EUR"},
                            "keeper": "text",
                        },
                    }
                ]
            }
        )
        for name, text in TEXTS.items():
            ws.add_text(text, name)
        ws.ask_many(list(SQL))
    return path


@pytest.fixture
def shell(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Shell]:
    def call(*words: str, columns: int = 80) -> tuple[int, str, str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        capsys.readouterr()
        code = run([*words, "-w", str(place)])
        out = capsys.readouterr()
        return code, out.out, out.err

    with FakeServer(Reader(REPORTS, sql=SQL).served) as server, requests_allowed():
        monkeypatch.setenv("SLIDERS_MODEL", "reader")
        monkeypatch.setenv("SLIDERS_BASE_URL", server.base_url)
        yield call


def test_a_table_has_units_and_no_more_characters_than_the_terminal(shell: Shell) -> None:
    _, out, _ = shell("query", QUERY)
    head, rule, *rows = out.splitlines()
    assert head.split() == ["name", "cost", "(EUR)", "large"] and set(rule) == {"-"}
    assert [row.split() for row in rows] == [
        ["Crane", "75", "no"],
        ["Anchor", "120", "yes"],
        ["Beacon", "340", "yes"],
    ]
    wide = f"SELECT {', '.join(f'name AS column_{n}' for n in range(12))} FROM things"
    for columns in (80, 120):
        lines = shell("query", wide, columns=columns)[1].splitlines()
        assert max(map(len, lines)) <= columns
    assert "  column_11: Crane" in shell("query", wide)[1].splitlines()


def test_names_of_columns_and_rows_are_not_broken(shell: Shell) -> None:
    sql = (
        "SELECT name AS name_of_the_thing_on_its_label, 'Holt & Sons' AS builder, cost FROM things"
    )
    for columns in (40, 60, 100):
        out = shell("query", sql, columns=columns)[1]
        assert max(map(len, out.splitlines())) <= columns
        words = {"Crane", "Anchor", "Beacon", "Holt", "Sons", "builder", "label"}
        assert words <= set(out.replace("_", " ").split())


def test_a_long_table_shows_its_first_rows(shell: Shell) -> None:
    _, out, _ = shell("query", QUERY, "--limit", "1")
    assert out.splitlines()[2:] == [
        "Crane          75  no",
        "and 2 more rows (--format csv prints them all)",
    ]
    assert len(shell("tables", "things", "--limit", "0")[1].splitlines()) == 5
    assert len(shell("tables", "things", "--limit", "1", "--format", "csv")[1].splitlines()) == 4


def test_a_table_in_a_terminal_has_a_drawn_line_and_no_escapes(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    _, out, _ = shell("query", QUERY)
    assert "\x1b" not in out and "\\u001b" not in out and set(out.splitlines()[1]) == {"─"}


def test_plain_has_a_line_for_each_value(shell: Shell) -> None:
    _, out, _ = shell("query", QUERY, "--plain")
    assert out.splitlines()[:4] == ["row 1", "  name: Crane", "  cost (EUR): 75", "  large: no"]


def test_csv_and_markdown(shell: Shell) -> None:
    _, out, _ = shell("query", QUERY, "--format", "csv")
    assert list(csv.reader(io.StringIO(out)))[:2] == [
        ["name", "cost", "large"],
        ["Crane", "75", "no"],
    ]
    _, out, _ = shell("query", QUERY, "--format", "markdown")
    assert out.splitlines()[:3] == [
        "| name | cost (EUR) | large |",
        "| --- | ---: | --- |",
        "| Crane | 75 | no |",
    ]


def test_json_of_both_commands_has_one_shape(shell: Shell) -> None:
    queried = json.loads(shell("query", SQL["Which things are there?"], "--json")[1])
    asked = json.loads(shell("ask", "Which things are there?", "--format", "json")[1])
    for told in (queried, asked):
        assert told["columns"] == ["name", "cost", "keeper"] and told["units"] == {"cost": "EUR"}
        assert told["rows"][-1] == {"name": "Crane", "cost": 75, "keeper": None}
        assert isinstance(told["notes"], list)
    assert asked["status"] == "answered"


def test_an_answer_of_several_rows_is_a_table(shell: Shell) -> None:
    _, out, _ = shell("ask", "Which things are there?")
    assert "Answer:   3 rows\n" in out and " | " not in out and "None" not in out
    assert [line.split()[0] for line in out.splitlines()[4:7]] == ["Beacon", "Anchor", "Crane"]
    assert "  row 1: Beacon, 340\n" in out
    _, out, _ = shell("ask", "What is the total cost?")
    assert "Answer:   535 EUR\n" in out and "Range:" not in out


def test_an_answer_as_csv_and_markdown(shell: Shell) -> None:
    _, out, _ = shell("ask", "Which things are there?", "--format", "csv", "-q")
    assert out.splitlines() == [
        "name,cost,keeper",
        "Beacon,340,Jon Marsh",
        "Anchor,120,Ida Holm",
        "Crane,75,",
    ]
    _, out, _ = shell("ask", "Which things are there?", "--format", "markdown", "-q")
    assert "| Beacon | 340 | Jon Marsh |" in out and "```sql" in out and "- Complete: " in out


def test_several_answers_as_csv_name_their_questions(shell: Shell) -> None:
    questions = ("Which things are there?", "What is the total cost?")
    _, out, _ = shell("ask", *questions, "--format", "csv", "-q")
    first, second = (list(csv.reader(io.StringIO(table))) for table in out.split("\n\n"))
    assert first[0] == ["question", "name", "cost", "keeper"] and len(first) == 4
    assert {row[0] for row in first[1:]} == {questions[0]}
    assert second[0][0] == "question" and second[1] == [questions[1], "535"]


def test_two_formats_are_refused(shell: Shell) -> None:
    code, _, told = shell("query", QUERY, "--json", "--format", "csv")
    assert code == 2 and "ask for two formats" in told
