"""Runs that a budget or a kill ends at any call or statement: what comes after is as if
nothing had happened.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import sliders.store.database as store
from sliders import Answer, Workspace
from sliders.compact import parse_hints
from sliders.engine import criteria_of, run_query, run_sync
from sliders.errors import BudgetExceeded, ModelRefusal
from sliders.llm import Meter, Request
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType
from tests.engine.test_nothing_unseen import SHIPS, Surveyor, part_of, survey
from tests.reconcile.test_reconcile_runs import choosing, costs, two_reports
from tests.reconcile.test_repaired_workspace import repairing
from tests.ships import SegmentReader, workspace_of_ships
from tests.worlds import document, reply, shape_of

QUESTION = "What is the total cost?"
PADDING = "Nothing of note was said at the meeting that day, and everybody went home early. " * 40
TEXTS = {
    "orla_2019.txt": document("Orla Mill", cost="70 euros"),
    "orla_2021.txt": document("Orla Mill", cost="90 euros"),
    "dunmarrow_1.txt": document("Dunmarrow Bridge", cost="46 euros"),
    "dunmarrow_2.txt": document("Dunmarrow Br", cost="46 euros"),
    "tarn.txt": document("Tarn Ferry", cost="33 euros"),
    "long.txt": document("Long Wall", cost="5 euros") + PADDING * 16,
}
MOST = 100
pytestmark = pytest.mark.slow
PINNED = Schema(
    (
        Table(
            "things",
            (Column("name"), Column("cost", ColumnType.NUMBER)),
            "a thing",
            grain="document",
            key=("name",),
            pinned=True,
            key_scope="collection",
        ),
    )
)
"""Its key holds across documents, so that rows are brought together."""


def reader(request: Request) -> Any:
    """Reads and repairs by rule, and looks at the table before it answers."""
    text = "\n".join(m.content for m in request.messages)
    if request.stage == "reconcile":
        return repairing()._function(request)
    if request.stage == "answer" and "The look-up gave" not in text:
        return {"action": "look", "sql": "SELECT DISTINCT name FROM things"}
    return reply(request)


def opened(
    place: str | Path, function: Callable[[Request], Any] = reader, *, pinned: bool = True
) -> Workspace:
    ws = Workspace(place, model=FunctionModel(function), embedder=HashEmbedder(), concurrency=1)
    if pinned:
        ws.pin_schema(PINNED)
    for name, text in TEXTS.items():
        ws.add_text(text, name)
    return ws


def told(ws: Workspace, answer: Answer) -> tuple[Any, ...]:
    """All that a user sees of an answer and its table, and which tables there are."""
    frame = ws.tables["things"].astype(object)
    rows = sorted(frame.where(frame.notna(), None).itertuples(index=False, name=None), key=str)
    facts = (
        answer.value,
        answer.status,
        answer.text,
        answer.sql,
        answer.citations,
        str(answer.completeness),
        answer.range,
    )
    tables = sorted(
        name for name in ws.session.catalog.database.names() if not name.startswith("things__v")
    )
    return facts, rows, ws.conflicts(), tables, ws.verify()


def undisturbed(place: str | Path, *, pinned: bool = True) -> tuple[Any, ...]:
    with opened(place, pinned=pinned) as ws:
        return told(ws, ws.ask(QUESTION))


@contextmanager
def cut_at(number: int, patch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The budget of the block is spent when it is looked at for the time of this number: a call
    looks twice, before it waits for its place and when that is there. The list holds the times.
    """
    made: list[int] = []

    def check(self: Meter) -> None:
        made.append(len(made) + 1)
        if len(made) >= number:
            raise BudgetExceeded("the budget of this run is spent")

    with patch.context() as here:
        here.setattr(Meter, "check", check)
        yield made


@pytest.mark.parametrize("pinned", [True, False])
def test_a_budget_that_ends_at_any_call_costs_nothing_but_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pinned: bool
) -> None:
    whole = undisturbed(tmp_path / "whole.db", pinned=pinned)
    assert whole[0][0] and not whole[2] and not whole[4]
    for number in range(1, MOST):
        with opened(tmp_path / f"{number}.db", pinned=pinned) as ws:
            with cut_at(number, monkeypatch) as made:
                answer = ws.ask(QUESTION)
            if len(made) < number:
                break
            assert answer.status == "incomplete", f"cut at call {number}"
            assert (answer.usage.tokens > 0) == (number > 2), (
                f"cut at call {number}: {answer.usage}"
            )
            assert told(ws, ws.ask(QUESTION)) == whole, f"cut at call {number}"
    assert 10 < number < MOST


def test_what_an_answer_cost_is_all_that_was_asked_for_it(tmp_path: Path) -> None:
    with opened(tmp_path / "w.db") as ws:
        answer = ws.ask(QUESTION)
        assert answer.usage == ws.usage
        assert set(ws.session.catalog.calls.usage(answer.run)) >= {
            "extract",
            "gate",
            "reconcile",
            "answer",
        }


@pytest.mark.parametrize("name", TEXTS)
def test_a_part_that_failed_and_is_read_later_tells_what_it_would_have_told(
    tmp_path: Path, name: str
) -> None:
    whole = undisturbed(tmp_path / "whole.db")
    failed: list[Request] = []

    def function(
        request: Request, line: str = TEXTS[name].splitlines()[2], failed: list[Request] = failed
    ) -> Any:
        rows = request.stage == "extract" and "rows" in shape_of(request)["properties"]
        if rows and line in request.messages[-1].content and not failed:
            failed.append(request)
            raise ModelRefusal("the server refuses")
        return reader(request)

    with opened(tmp_path / f"{name}.db", function) as ws:
        answer = ws.ask(QUESTION)
        assert failed and answer.status == "incomplete" and answer.completeness.failed_chunks >= 1
        assert told(ws, ws.ask(QUESTION)) == whole, name


@pytest.mark.parametrize("pinned", [True, False])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_a_run_that_is_ended_at_any_call_goes_on_where_it_was(
    tmp_path: Path, kind: type[BaseException], pinned: bool
) -> None:
    whole = undisturbed(tmp_path / "whole.db", pinned=pinned)
    for number in range(1, MOST):
        asked: list[Request] = []

        def function(request: Request, number: int = number, asked: list[Request] = asked) -> Any:
            asked.append(request)
            if len(asked) == number:
                raise kind
            return reader(request)

        with opened(tmp_path / f"{number}.db", function, pinned=pinned) as ws:
            try:
                ws.ask(QUESTION)
            except kind:
                pass
            else:
                break
            assert told(ws, ws.ask(QUESTION)) == whole, f"ended at call {number}"
    assert 10 < number < MOST


def _searched(prompt: str) -> dict[str, Any]:
    """A gate that sees what is likely, and finds the rest by the words of its text."""
    return {"parts": part_of(prompt, "Day 4"), "search": ["below the rail"]}


@pytest.mark.parametrize("kind", [KeyboardInterrupt, ModelRefusal, BudgetExceeded])
def test_what_was_missing_is_searched_for_again_after_a_run_that_ended_before(
    tmp_path: Path, kind: type[BaseException]
) -> None:
    """One draught is found by the evidence of other documents, one by the model's own words."""
    lies = "she lies {feet} feet deep"
    surveys = [survey("Ash", 4), survey("Elm", 4), survey("Fir", 10), survey("Oak", 4)]
    surveys.append(survey("Yew", 11, f"the mark below the rail stands so that {lies}"))

    def read(place: Path, number: int) -> tuple[list[Any], int]:
        surveyor, asked = Surveyor(_searched), list[Request]()

        def function(request: Request) -> Any:
            asked.append(request)
            if len(asked) == number:
                raise kind("the run ends here")
            return surveyor.reply(request)

        model = FunctionModel(function, context_tokens=2600)
        with Workspace(place, model=model, embedder=HashEmbedder(), concurrency=1) as ws:
            for at, text in enumerate(surveys):
                ws.add_text(text, f"{at}.md")
            ws.pin_schema(Schema((SHIPS,)))
            with suppress(kind, BudgetExceeded):
                ws.extract()
            ws.extract()
            return list(map(int, ws.tables["ships"]["draught"])), len(asked)

    drawn, calls = read(tmp_path / "whole.db", 0)
    assert drawn == [9] * len(surveys)
    for number in range(1, calls + 1):
        found, again = read(tmp_path / f"{number}.db", number)
        assert found == drawn, f"ended at call {number}"
        assert kind is ModelRefusal or again == calls + 1, "nothing is paid twice"


@contextmanager
def killed_at(number: int, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The process of the block dies at its writing statement of this number: no further one is run;
    the list holds them.
    """
    made: list[str] = []

    def enter(self: Any) -> None:
        if len(made) >= number or not self._sql.startswith("SELECT"):
            made.append(self._sql)
        if len(made) >= number:
            raise KeyboardInterrupt

    with patch.context() as here:
        here.setattr(store._ErrorSentences, "__enter__", enter)
        yield made


def _criteria(ws: Workspace) -> None:
    ws.reconcile(criteria=["newer_document"])


def _words(ws: Workspace) -> None:
    hints = parse_hints(f"{QUESTION} The newer report wins.")
    ws.ask(QUESTION, directives=hints.directives)


def _again(ws: Workspace) -> None:
    ws.reconcile()


@pytest.mark.parametrize(
    ("change", "candidate", "more"),
    [(_criteria, 0, {}), (_words, 0, {}), (_again, 1, {"unverified": True})],
)
def test_repairs_that_a_kill_ends_at_any_statement_are_whole_or_not_there(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Workspace], None],
    candidate: int,
    more: dict[str, Any],
) -> None:
    first = tmp_path / "w.db"
    with Workspace(first, model=choosing(candidate), embedder=HashEmbedder()) as ws:
        ws.pin_schema(PINNED)
        two_reports(ws)
        ws.ask(QUESTION)
    for number in range(1, 10 * MOST):
        file = tmp_path / f"{number}.db"
        shutil.copy(first, file)
        with Workspace(file, model=choosing(candidate), embedder=HashEmbedder(), **more) as ws:
            with killed_at(number, monkeypatch) as made, suppress(KeyboardInterrupt):
                change(ws)
            ws._database._raw.rollback()
        with Workspace(file, model=choosing(candidate), embedder=HashEmbedder(), **more) as ws:
            ws.reconcile()
            wins = candidate or criteria_of(ws.session)
            assert len(costs(ws)["Crane"]) == 1, f"killed at statement {number}, {made[-1]}"
            assert len(ws.conflicts()) == (0 if wins else 1) and not ws.verify()
        if len(made) < number:
            break
    assert 20 < number < 10 * MOST


def test_a_query_that_a_kill_ends_at_any_statement_leaves_no_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = "SELECT ship, length FROM docs WHERE port = 'Arden'"

    def asked(ws: Workspace) -> tuple[Any, ...]:
        found = run_sync(run_query(SegmentReader().of(ws), sql))
        return sorted(found.rows, key=str), set(ws.session.catalog.database.names()) - {
            "sqlite_stat1"
        }

    with workspace_of_ships(tmp_path, ships=5) as ws:
        whole = asked(ws)
    for number in range(1, MOST):
        folder = tmp_path / str(number)
        folder.mkdir()
        with workspace_of_ships(folder, ships=5) as ws:
            with killed_at(number, monkeypatch) as made, suppress(KeyboardInterrupt):
                asked(ws)
            ws._database._raw.rollback()
        monkeypatch.setattr("os.getpid", lambda number=number: number)  # the next process
        with Workspace(folder / "w.db", model=FunctionModel(reader), embedder=HashEmbedder()) as ws:
            assert asked(ws) == whole, f"killed at statement {number}, {made[-1]}"
        if len(made) < number:
            break
    assert 10 < number < MOST
