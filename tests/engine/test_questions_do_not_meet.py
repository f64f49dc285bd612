"""Questions that are asked at the same time: each has its own run, calls, usage, notes and hints,
and gets its own answer.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sliders import Answer, Workspace
from sliders.llm import Request, Usage
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Ignore, Locate, Normalize
from tests.worlds import Reader, document, reply, shape_of

TEXTS = {
    "anchor.txt": document("Anchor", cost="120 euros", length="30 metres"),
    "beacon.txt": document("Beacon", cost="340 euros", length="12 metres"),
    "crane.txt": document("Crane", cost="75 euros", length="48 metres"),
}
FILLER = "Nothing of note was said at the meeting that day, and everybody went home early. " * 200
COSTS, LENGTHS = "What is the total cost?", "What is the total length?"


def paid(usage: Usage) -> tuple[int, int]:
    """Calls and tokens that were paid for."""
    return usage.calls, usage.tokens


def workspace(
    place: str | Path, texts: dict[str, str] = TEXTS, model: FunctionModel | None = None
) -> Workspace:
    ws = Workspace(place, model=model or Reader(latency=0.01).model, embedder=HashEmbedder())
    for name, text in texts.items():
        ws.add_text(text, name)
    return ws


def asked_at_once(ws: Workspace, *questions: str, **options: Any) -> list[Answer]:
    async def both() -> list[Answer]:
        return list(
            await asyncio.gather(*(ws.ask_async(question, **options) for question in questions))
        )

    return asyncio.run(both())


def of_run(ws: Workspace, run: int | None) -> list[tuple[str, int]]:
    return ws.session.catalog.database.query(
        "SELECT stage, calls FROM sl_calls WHERE run = ? AND error = '' ORDER BY number", (run,)
    )


def test_each_has_its_own_run_calls_and_usage(place: str | Path, tmp_path: Path) -> None:
    with workspace(place) as ws:
        costs, lengths = asked_at_once(ws, COSTS, LENGTHS)
        assert (costs.value, lengths.value) == (535, 90)
        assert (costs.status, lengths.status) == ("answered", "answered")
        assert {costs.run, lengths.run} == {1, 2}
        assert {run.id: (run.question, run.status) for run in ws.runs()} == {
            costs.run: (COSTS, "done"),
            lengths.run: (LENGTHS, "done"),
        }
        for answer in (costs, lengths):
            stages = [stage for stage, _ in of_run(ws, answer.run)]
            assert {"schema", "extract", "answer"} <= set(stages)
            ledger = sum(ws.session.catalog.calls.usage(answer.run).values(), Usage())
            assert paid(ledger) == paid(answer.usage)
        made = sum(1 for request in ws.session.models.model_for("")._model.history)
        assert costs.usage.calls + lengths.usage.calls == made
        assert all(
            d.run in (costs.run, lengths.run)
            for d in ws.session.catalog.journal.decisions()
            if d.stage != "documents"
        )
        outcomes = {run.id: run.outcome["answers"][0]["question"] for run in ws.runs()}
        assert outcomes == {costs.run: COSTS, lengths.run: LENGTHS}


def test_what_one_asks_after_the_other_costs_its_own_tokens_as_well(tmp_path: Path) -> None:
    with workspace(tmp_path / "w.db") as ws:
        first = ws.ask(COSTS)
        assert paid(ws.usage) == paid(first.usage)
        second = ws.ask(LENGTHS)
        assert paid(ws.usage) == paid(second.usage)
        assert (first.run, second.run) == (1, 2)


def chaptered(name: str, **facts: object) -> str:
    """A report of three chapters in several chunks: the facts stand in the last chapter."""
    stated = document(name, **facts).split("\n", 2)[2]
    return (
        f"# Report on {name}\n\n## Weather\n\nIt was calm.\n\n## Log\n\n{FILLER}\n\n"
        f"## Figures\n\n{stated}"
    )


def test_what_one_leaves_out_is_read_for_the_other(tmp_path: Path) -> None:
    costs = {"Anchor": 40, "Beacon": 50, "Crane": 34}
    texts = {f"{name}.txt": chaptered(name, cost=f"{cost} euros") for name, cost in costs.items()}
    counted = "How many names have a cost?"

    async def slowly(request: Request) -> Any:
        text = "\n".join(m.content for m in request.messages)
        await asyncio.sleep(0.3 if counted in text and request.stage == "extract" else 0.0)
        return reply(request)

    async def both(ws: Workspace) -> list[Answer]:
        narrow = ws.ask_async(counted, directives=[Locate(("Weather",))])
        return list(await asyncio.gather(narrow, ws.ask_async(COSTS)))

    with workspace(tmp_path / "w.db", texts, FunctionModel(slowly, latency=0.01)) as ws:
        hinted, plain = asyncio.run(both(ws))
        assert (plain.value, plain.status) == (124, "answered")
        assert not any("Locate" in note for note in plain.decisions)
        assert hinted.run != plain.run


@pytest.mark.parametrize("order", [lambda a, b: (a, b), lambda a, b: (b, a)])
def test_each_is_told_its_own_notes(tmp_path: Path, order: Callable[..., Any]) -> None:
    async def both(ws: Workspace) -> dict[str, Answer]:
        absent = ws.ask_async(COSTS, directives=[Locate(("Harbour office",))])
        other = ws.ask_async(LENGTHS, directives=[Locate(("Customs house",)), Ignore(("weather",))])
        return {answer.question: answer for answer in await asyncio.gather(*order(absent, other))}

    with workspace(tmp_path / "w.db") as ws:
        answers = asyncio.run(both(ws))
    costs, lengths = (" ".join(answers[question].decisions) for question in (COSTS, LENGTHS))
    assert "Harbour office" in costs and "Customs house" not in costs
    assert "Customs house" in lengths and "Harbour office" not in lengths


def test_a_query_beside_a_question_has_a_run_of_its_own(tmp_path: Path) -> None:
    async def both(ws: Workspace) -> tuple[Answer, Any]:
        return await asyncio.gather(
            ws.ask_async(COSTS), ws.query_async("SELECT length FROM docs WHERE length > 20")
        )

    with workspace(tmp_path / "w.db", model=FunctionModel(_measured, latency=0.01)) as ws:
        answer, frame = asyncio.run(both(ws))
        assert (answer.value, answer.status) == (535, "answered")
        assert sorted(frame["length"]) == [30, 48]
        runs = {run.kind: run for run in ws.runs()}
        assert set(runs) == {"ask", "query"} and answer.run == runs["ask"].id
        assert [run.status for run in ws.runs()] == ["done", "done"]
        ledger = sum(ws.session.catalog.calls.usage(answer.run).values(), Usage())
        assert paid(ledger) == paid(answer.usage)
        assert all(stage not in ("schema", "answer") for stage, _ in of_run(ws, runs["query"].id))


def _measured(request: Request) -> Any:
    """The costs go into the table that is there first."""
    if "action" in shape_of(request).get("properties", ()):
        (table,) = re.findall(r"CREATE TABLE (\w+)", request.messages[-1].content)
        return {"action": "answer", "sql": f"SELECT SUM(cost) FROM {table}"}
    return reply(request)


def test_a_question_that_fails_leaves_the_other_alone(tmp_path: Path) -> None:
    async def both(ws: Workspace) -> tuple[Any, ...]:
        cancelled = asyncio.create_task(ws.ask_async(LENGTHS))
        kept = asyncio.create_task(ws.ask_async(COSTS))
        await asyncio.sleep(0.03)
        cancelled.cancel()
        return await asyncio.gather(cancelled, kept, return_exceptions=True)

    with workspace(tmp_path / "w.db") as ws:
        gone, answer = asyncio.run(both(ws))
        assert isinstance(gone, asyncio.CancelledError)
        assert (answer.value, answer.status) == (535, "answered")
        assert {run.question: run.status for run in ws.runs()} == {LENGTHS: "failed", COSTS: "done"}


NAMES = "How many names are there?"


def _counting(request: Request) -> Any:
    text = "\n".join(m.content for m in request.messages)
    if "action" in shape_of(request).get("properties", ()):
        column = "name_canonical" if "name_canonical" in text else "name"
        return {"action": "answer", "sql": f"SELECT COUNT(DISTINCT {column}) FROM things"}
    return reply(request)


def test_each_rests_on_its_own_hints(tmp_path: Path) -> None:
    texts = {
        "a.txt": document("Wharf crane", cost="5 euros"),
        "b.txt": document("Quay lifter", cost="7 euros"),
    }
    same = [Normalize(("Wharf crane", "Quay lifter"))]

    async def both(ws: Workspace) -> list[Answer]:
        first, last = (ws.ask_async(words, directives=same) for words in (NAMES, "Anew: " + NAMES))
        return list(await asyncio.gather(first, ws.ask_async("Plainly: " + NAMES), last))

    with workspace(tmp_path / "w.db", texts, FunctionModel(_counting, latency=0.01)) as ws:
        joined, apart, again = (answer.value for answer in asyncio.run(both(ws)))
    assert (joined, apart, again) == (1, 2, 1)


def test_what_both_need_is_read_once(tmp_path: Path) -> None:
    with workspace(tmp_path / "w.db") as ws:
        total, largest = asked_at_once(ws, COSTS, "Which name has the largest cost?")
        assert (total.value, largest.value) == (535, "Beacon")
        read = [
            stage
            for stage, calls in (*of_run(ws, total.run), *of_run(ws, largest.run))
            if stage == "extract" and calls
        ]
        alone = Reader().model
        with workspace(tmp_path / "alone.db", model=alone) as other:
            other.ask(COSTS)
        assert len(read) == sum(request.stage == "extract" for request in alone.history)


def test_one_that_cannot_read_does_not_hold_the_other_up(tmp_path: Path) -> None:
    async def broken(request: Request) -> Any:
        text = "\n".join(m.content for m in request.messages)
        if request.stage == "extract" and LENGTHS in text:
            await asyncio.sleep(0.05)
            return "no reply that fits"
        return reply(request)

    with workspace(tmp_path / "w.db", model=FunctionModel(broken, latency=0.01)) as ws:
        costs, lengths = asyncio.run(asyncio.wait_for(_both(ws), timeout=60))
    assert (costs.value, costs.status) == (535, "answered")
    assert lengths.status != "answered" and lengths.completeness.failed_chunks == 3


async def _both(ws: Workspace) -> list[Answer]:
    return list(await asyncio.gather(ws.ask_async(COSTS), ws.ask_async(LENGTHS)))
