"""`benchmarks.run` driven by a double of the workspace."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchmarks.report import FIELDS, bootstrap, in_range, row, summary
from benchmarks.run import main, run_answers
from benchmarks.scoring import Verdict
from benchmarks.subset import over_documents
from benchmarks.suites import load_suite
from benchmarks.systems.base import Answered, Asked, Task, bare_value
from benchmarks.systems.sliders_system import SlidersSystem
from sliders.errors import ModelUnavailable
from sliders.llm import Usage
from sliders.schema import Schema
from sliders.values import ColumnType


@dataclass
class Said:
    value: Any
    status: str = "answered"
    text: str = ""
    sql: str = "SELECT 1"
    citations: tuple[Any, ...] = ()
    usage: Usage = field(default_factory=lambda: Usage(calls=1, prompt_tokens=10))


@dataclass
class Double:
    """Answers from a script; extraction costs 100 tokens a document, once a file;
    `usage` is that of the last run.
    """

    path: Path
    script: dict[str, Any]
    known: set[Path]
    usage: Usage = field(default_factory=Usage)
    added: list[str] = field(default_factory=list)
    schema: Schema | None = None
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    quotes: tuple[Any, ...] = ()

    def __enter__(self) -> Double:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def add(self, paths: list[str]) -> None:
        self.added += paths

    def ask(self, question: str) -> Said:
        return self.ask_many([question])[0]

    def ask_many(self, questions: list[str]) -> list[Said]:
        self.usage = Usage()
        return [self._one(question) for question in questions]

    def _one(self, question: str) -> Said:
        if self.path not in self.known:
            self.known.add(self.path)
            self.usage += Usage(calls=len(self.added), prompt_tokens=100 * len(self.added))
        self.usage += Usage(calls=1, prompt_tokens=10, completion_tokens=5)
        said = self.script.get(question)
        if isinstance(said, Exception):
            raise said
        return Said(said, citations=self.quotes)

    def pin_schema(self, schema: Schema) -> None:
        self.schema = schema

    def extract(self) -> None:
        rows = [{"row_id": 1, "document": "a.txt", "name": "Rex", "age": 4, "born": "2016-05-01"}]
        self.tables = {"pets": pd.DataFrame(rows)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "s" / "docs").mkdir(parents=True)
    (tmp_path / "s" / "tables").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "s" / "docs" / name).write_text("text")
    (tmp_path / "s" / "tables" / "pets.csv").write_text(
        "doc,name,age,born\na.txt,Rex,4,2016-05-01\nb.txt,Kit,9,\n"
    )
    entries = [
        {
            "id": "1",
            "question": "How many?",
            "answer": 2,
            "kind": "count",
            "docs": "all",
            "answer_type": "number",
            "notes": "SQL: select count(*) from pets",
        },
        {
            "id": "2",
            "question": "Oldest?",
            "answer": "Kit",
            "kind": "argmax",
            "docs": "all",
            "answer_type": "string",
            "notes": "SQL: select name from pets where age=(select max(age) from pets)",
        },
        {
            "id": "3",
            "question": "Colour?",
            "answer": "not found",
            "docs": ["b.txt"],
            "answer_type": "string",
        },
    ]
    (tmp_path / "s" / "gold.json").write_text(json.dumps(entries))
    return tmp_path / "s"


def system(tmp_path: Path, script: dict[str, Any]) -> SlidersSystem:
    known: set[Path] = set()
    return SlidersSystem(
        work=tmp_path / "w", opener=lambda path, model, url: Double(path, script, known)
    )


SCRIPT: dict[str, Any] = {
    "How many?": 2,
    "Oldest?": "Rex",
    "Colour?": ModelUnavailable("no server at x; start it"),
}


def test_the_first_question_is_cold_and_a_crash_is_a_failure(folder: Path, tmp_path: Path) -> None:
    rows = run_answers(load_suite(folder), system(tmp_path, SCRIPT), "warm")
    assert [(r["status"], r["right"], r["phase"]) for r in rows] == [
        ("answered", True, "cold"),
        ("answered", False, "warm"),
        ("failed", False, "warm"),
    ]
    assert [r["prompt_tokens"] for r in rows] == [210, 10, 10]
    assert rows[2]["error"] == "ModelUnavailable: no server at x; start it"
    assert list(rows[0])[: len(FIELDS)] == list(FIELDS)


def test_cold_pays_for_each_question_and_batch_once(folder: Path, tmp_path: Path) -> None:
    good = SCRIPT | {"Colour?": None}
    cold = run_answers(load_suite(folder), system(tmp_path / "c", good), "cold")
    assert [r["prompt_tokens"] for r in cold] == [210, 210, 210]
    batch = system(tmp_path / "b", good)
    rows = run_answers(load_suite(folder), batch, "batch")
    assert {r["phase"] for r in rows} == {"batch"}
    assert [r["prompt_tokens"] for r in rows] == [210, 10, 10] and batch.usage.prompt_tokens == 230


def test_the_output_is_a_list_that_ends_with_a_summary(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = system(tmp_path, SCRIPT)
    monkeypatch.setattr("benchmarks.run.SlidersSystem", lambda model, url, work: made)
    out = tmp_path / "o" / "r.json"
    assert main([str(folder), "--out", str(out), "--errors"]) == 1, (
        "a failed question is an exit code"
    )
    *rows, last = json.loads(out.read_text())
    assert [r["id"] for r in rows] == ["1", "2", "3"]
    summary = last["summary"]
    assert (summary["right"], summary["questions"], summary["statuses"]) == (
        1,
        3,
        {"answered": 2, "failed": 1},
    )
    assert (
        summary["by_phase"]["warm"]["questions"] == 2
        and summary["tokens_per_document"] == (230 + 15) / 2
    )
    cells = summary["cells"]["pets"]
    assert (cells["right"], cells["missing"], cells["missing_rows"]) == (3, 3, 1)
    printed = capsys.readouterr().out
    assert "1 of 3 right" in printed and "cells pets: 50.0% of 6 right" in printed


def test_the_schema_is_pinned_to_the_gold_columns(folder: Path, tmp_path: Path) -> None:
    seen: list[Double] = []

    def opener(path: Path, model: str, url: str) -> Double:
        seen.append(Double(path, {}, set()))
        return seen[-1]

    from benchmarks.cells import pinned_schema

    SlidersSystem(work=tmp_path, opener=opener).tables(
        [folder / "docs/a.txt"], pinned_schema(load_suite(folder).tables)
    )
    table = seen[0].schema.table("pets") if seen[0].schema else None
    assert table is not None and table.grain == "document" and table.pinned
    assert [(c.name, c.type, c.description) for c in table.columns] == [
        ("name", ColumnType.TEXT, ""),
        ("age", ColumnType.INTEGER, ""),
        ("born", ColumnType.DATE, ""),
    ]


def test_quotes_are_looked_up_in_the_document(folder: Path, tmp_path: Path) -> None:
    @dataclass
    class Quote:
        quote: str
        document: str = "docs/a.txt"
        page: int | None = None

    quoted = system(tmp_path, {})
    quoted.opener = lambda path, model, url: Double(
        path, {}, {path}, quotes=(Quote("te  xt"), Quote("text"), Quote(""))
    )
    (row, *_) = run_answers(load_suite(folder).limited(questions=1), quoted, "warm")
    assert (row["quotes"], row["quotes_found"]) == (3, 1)
    assert row["citations"][1] == {"document": "docs/a.txt", "page": None, "quote": "text"}


def test_gold_is_worked_out_again_for_fewer_documents(folder: Path) -> None:
    part = over_documents(load_suite(folder), 1)
    assert [(q.id, q.answer) for q in part.questions] == [("1", 1), ("2", "Rex")]
    assert [d.name for d in part.documents] == ["a.txt"]


def test_other_systems_and_bad_suites_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(folder), "--system", "retrieval"]) == 2 and main([str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert "benchmarks.compare" in said.out and "gold.json" in said.err
    assert (
        main([str(folder), "--only", "none such"]) == 2 and "no question" in capsys.readouterr().err
    )


def test_a_task_survives_the_pipe() -> None:
    task = Task(
        (Path("a.txt"),),
        (Asked("1", "Wie viele?"),),
        "http://x/v1",
        "m",
        Path("w"),
        "warm",
        {"k": 3},
    )
    assert Task.from_json(task.to_json()) == task


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("16", 16),
        ("Answer: 16", 16),
        ('["a", "b"]', ["a", "b"]),
        ("Kit", "Kit"),
        ("I think so.\nAnswer: **Kit**", "Kit"),
        ("```json\n[[1, 2]]\n```", [[1, 2]]),
    ],
)
def test_the_bare_value_of_a_reply(said: str, value: Any) -> None:
    assert bare_value(said) == value


def test_the_interval_holds_the_share_and_is_seeded() -> None:
    low, high = bootstrap([True] * 16 + [False] * 3)
    assert low < 16 / 19 < high and bootstrap([True] * 16 + [False] * 3) == (low, high)
    assert bootstrap([True] * 5) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("low", "high", "inside"), [(1, 3, True), (2, 2, True), (3, 9, False), (None, None, None)]
)
def test_a_range_holds_the_gold_number_or_not(
    folder: Path, low: float | None, high: float | None, inside: bool | None
) -> None:
    question = load_suite(folder).questions[0]
    answer = Answered("1", "answered", 3, range_low=low, range_high=high)
    assert in_range(question, answer) is inside


def test_the_summary_counts_ranges_of_wrong_and_right_numbers(folder: Path) -> None:
    question = load_suite(folder).questions[0]
    answers = [(2, 2, 2), (2, 1, 3), (5, 1, 6), (5, 5, 6)]
    rows = [
        row(question, Answered("1", "answered", v, range_low=a, range_high=b), Verdict(v == 2, ""))
        for v, a, b in answers
    ]
    assert summary(rows, 2)["summary"]["ranges"] == {
        "ranged": 4,
        "ranged_wrong": 2,
        "wrong_in_range": 1,
        "ranged_right": 2,
        "right_points": 1,
    }
