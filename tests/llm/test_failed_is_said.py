"""A stage that failed is `failed` with its reason, and a run of which every
call fails stops early.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sliders import Workspace
from sliders.cli import run
from sliders.errors import CallFailed, ModelRefusal, ModelUnavailable
from sliders.llm import COMPACT, Dialect, Request
from sliders.llm.testing import ONE_DOCUMENT, FunctionModel, requests_allowed, truncated
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType
from tests.fake_server import FakeServer, Scripted
from tests.worlds import document, reply, served, shape_of

QUESTION = "What is the total cost?"
FILTER = ModelRefusal("the model declined: content filter")
FAILURES = {
    "content filter": FILTER,
    "cut": truncated("SELECT SU"),
    "HTTP 400": CallFailed("the server answers 400: bad request"),
    "wrong action": {"action": "respond", "sql": "SELECT SUM(cost) FROM things"},
}
NAMES = ("Anchor", "Beacon", "Crane")
THINGS = Table(
    "things",
    (Column("name", pinned=True), Column("cost", ColumnType.NUMBER, pinned=True)),
    row="a thing",
    grain="document",
    pinned=True,
)


def reader(fails: Callable[[Request], Any], dialect: Dialect = ONE_DOCUMENT) -> FunctionModel:
    """A literal reader but for the requests for which `fails` gives something else."""

    def function(request: Request) -> Any:
        other = fails(request)
        if other is not None:
            return other
        shape = shape_of(request)
        fields = set(shape.get("properties", ()))
        text = "\n".join(m.content for m in request.messages)
        if "quote" in fields:
            return {"quote": "The cost is 10 euros", "answer": "10 euros", "expression": "10"}
        if fields & {"questions", "next_question"}:
            return {
                "questions": ["What is the cost?"],
                "evidence": "",
                "answer": "",
                "next_question": "",
            }
        if request.stage == "answer" and dialect is COMPACT:
            return "SELECT SUM(cost) FROM things"
        if dialect is COMPACT and {"name", "cost"} & fields:
            said = text.rsplit("The name is ", 1)[-1]
            values = {
                "name": said.split(".")[0],
                "cost": float(said.split("cost is ")[-1].split(" ")[0]),
            }
            return json.dumps({n: v for n, v in values.items() if n in fields})
        return reply(request)

    return FunctionModel(function, dialect=dialect)


def filled(place: str | Path, model: FunctionModel, number: int = 3) -> Workspace:
    ws = Workspace(place, model=model, embedder=HashEmbedder())
    for n in range(number):
        name = NAMES[n] if n < len(NAMES) else f"Thing{n}"
        ws.add_text(document(name, cost=f"{n + 1}0 euros"), f"{name.lower()}.txt")
    ws.pin_schema(Schema((THINGS,)))
    return ws


@pytest.mark.parametrize("dialect", [ONE_DOCUMENT, COMPACT], ids=["full", "compact"])
@pytest.mark.parametrize("failure", FAILURES)
def test_an_answer_stage_that_failed_is_failed(
    place: str | Path, failure: str, dialect: Dialect
) -> None:
    if dialect is COMPACT and failure == "wrong action":
        pytest.skip("a small model replies with a statement, not with an action")
    with filled(
        place, reader(lambda r: FAILURES[failure] if r.stage == "answer" else None, dialect)
    ) as ws:
        answer = ws.ask(QUESTION)
    assert (answer.status, answer.value) == ("failed", None)
    assert "Not found" not in answer.text and answer.reason in answer.text
    assert failure == "wrong action" or str(FAILURES[failure]) in answer.text


@pytest.mark.parametrize("workflow", ["lookup", "split", "stepwise", "candidates", "whole_context"])
@pytest.mark.parametrize("failure", ["content filter", "cut", "HTTP 400"])
def test_a_reading_that_failed_is_failed(place: str | Path, failure: str, workflow: str) -> None:
    with filled(
        place, reader(lambda r: FAILURES[failure] if r.stage == "answer" else None), 1
    ) as ws:
        answer = ws.ask("What is the cost of Anchor?", workflow=workflow)
    assert (answer.status, answer.value) == ("failed", None)
    assert "Not found" not in answer.text and str(FAILURES[failure]) in answer.reason


@pytest.mark.parametrize("workflow", ["lookup", "split", "stepwise", "whole_context"])
def test_a_reading_that_works_is_answered(place: str | Path, workflow: str) -> None:
    with filled(place, reader(lambda r: None), 1) as ws:
        assert ws.ask("What is the cost of Anchor?", workflow=workflow).status == "answered"


def test_a_part_that_was_not_split_is_read_all_the_same(place: str | Path) -> None:
    with filled(
        place,
        reader(lambda r: FILTER if "questions" in shape_of(r).get("properties", ()) else None),
        1,
    ) as ws:
        answer = ws.ask("What is the cost of Anchor?", workflow="split")
    assert answer.status == "answered" and any(
        "content filter" in note for note in answer.decisions
    )


@pytest.mark.parametrize("dialect", [ONE_DOCUMENT, COMPACT], ids=["full", "compact"])
@pytest.mark.parametrize("error", [FILTER, FAILURES["HTTP 400"]], ids=["refusal", "HTTP 400"])
def test_a_run_of_which_every_call_fails_stops_early(
    place: str | Path, error: Exception, dialect: Dialect
) -> None:
    model = reader(lambda r: error, dialect)
    with filled(place, model, 60) as ws:
        for go in (
            lambda: ws.ask(QUESTION),
            ws.extract,
            lambda: ws.query("SELECT name FROM docs WHERE weight > 1"),
        ):
            model.history.clear()
            with pytest.raises(ModelUnavailable, match=str(error)):
                go()
            assert len(model.history) <= 24
        assert ws.runs()[-1].status == "failed"
        assert not len(ws.tables["things"]) if "things" in set(ws.tables) else True


def test_documents_that_all_fail_stop_a_fill_whose_other_stages_work(place: str | Path) -> None:
    model = reader(lambda r: FILTER if r.stage == "extract" else None)
    with Workspace(place, model=model, embedder=HashEmbedder()) as ws:
        for n in range(60):
            ws.add_text(document(f"Thing{n}", cost=f"{n + 1}0 euros"), f"{n}.txt")
        with pytest.raises(ModelUnavailable, match="content filter"):
            ws.ask(QUESTION)
        assert sum(r.stage == "extract" for r in model.history) <= 24


def test_one_document_that_fails_among_good_ones_is_a_recorded_refusal(place: str | Path) -> None:
    def fails(request: Request) -> Any:
        beacon = "The name is Beacon." in "\n".join(m.content for m in request.messages)
        return FILTER if request.stage == "extract" and beacon else None

    with filled(place, reader(fails), 20) as ws:
        ws.extract()
        assert len(ws.tables["things"]) == 19
        answer = ws.ask(QUESTION)
        assert answer.status == "incomplete" and "content filter" in str(answer.completeness)


def test_a_document_of_many_parts_that_fail_does_not_stop_the_others(place: str | Path) -> None:
    nasty = "\n\n".join(
        f"# Part {n}\n\nNasty words of part {n}. " + "More of it follows here. " * 400
        for n in range(12)
    )

    def fails(request: Request) -> Any:
        bad = "Nasty words" in request.messages[-1].content
        return FILTER if request.stage == "extract" and bad else None

    with Workspace(place, model=reader(fails), embedder=HashEmbedder(), concurrency=1) as ws:
        ws.add_text(nasty, "nasty.md")
        for name in NAMES:
            ws.add_text(document(name, cost="10 euros"), f"{name}.txt")
        answer = ws.ask(QUESTION)
        assert answer.status == "incomplete" and answer.value == 30


COMMANDS: dict[str, Callable[[Workspace], Any]] = {
    "ask": lambda ws: (lambda answer: (answer.status, answer.value))(ws.ask(QUESTION)),
    "extract": lambda ws: ws.extract(),
    "query": lambda ws: len(ws.query("SELECT name FROM docs WHERE cost > 1")),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("dialect", [ONE_DOCUMENT, COMPACT], ids=["full", "compact"])
def test_documents_that_fail_again_do_not_fail_a_run_over_what_is_known(
    place: str | Path, dialect: Dialect, command: str
) -> None:
    bad = {f"The name is Thing{n}." for n in range(12, 24)}
    model = reader(
        lambda r: (
            FILTER if r.stage == "extract" and any(b in str(r.messages) for b in bad) else None
        ),
        dialect,
    )
    with filled(place, model, 24) as ws:
        first = COMMANDS[command](ws)
        model.history.clear()
        assert COMMANDS[command](ws) == first
        assert sum(r.stage == "extract" for r in model.history) >= 12
        assert ws.runs()[-1].status == "done"


@pytest.mark.parametrize("command", ["ask", "extract"])
def test_a_later_column_of_which_every_reading_fails_fails_the_run(
    place: str | Path, command: str
) -> None:
    model = reader(
        lambda r: FILTER if r.stage == "extract" and "weight" in str(r.messages) else None
    )
    with filled(place, model, 24) as ws:
        ws.extract()
        ws.pin_schema(
            Schema(
                (
                    replace(
                        THINGS,
                        columns=(*THINGS.columns, Column("weight", ColumnType.NUMBER, pinned=True)),
                    ),
                )
            )
        )
        with pytest.raises(ModelUnavailable, match="content filter"):
            ws.ask("What is the total weight?") if command == "ask" else ws.extract()
        assert len(ws.tables["things"]) == 24


# the command line


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    for n in range(12):
        Path(f"docs/{n}.txt").write_text(
            document(f"Thing{n}", cost=f"{n + 1}0 euros"), encoding="utf-8"
        )
    with (
        FakeServer(lambda body: Scripted(status=400, error="this deployment is gone")) as one,
        requests_allowed(),
    ):
        for name, value in {
            "MODEL": "reader",
            "BASE_URL": one.base_url,
            "API_KEY": "k",
            "RETRIES": "0",
        }.items():
            monkeypatch.setenv(f"SLIDERS_{name}", value)
        yield one


def test_the_command_line_prints_the_reason_once_and_exits_with_1(
    server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["add", "docs", "-w", "w.db", "-q"]) == 0
    for words in (["ask", QUESTION], ["query", "SELECT name FROM docs WHERE weight > 1"]):
        capsys.readouterr()
        assert run([*words, "-w", "w.db", *(["-q"] if words[0] == "ask" else [])]) == 1
        out = capsys.readouterr()
        assert "this deployment is gone" in out.err + out.out and "Not found" not in out.out
        assert "no rows" not in out.out


def test_the_command_line_answers_when_the_server_does(
    server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server._function = served
    assert run(["ask", "docs", QUESTION, "-w", "w.db", "-q"]) == 0
    assert "780" in capsys.readouterr().out
