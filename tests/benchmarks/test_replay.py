"""The requests of this version are those that are stored; hashes are equal for equal requests and
for no others.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from benchmarks.replay.hashes import Change, changes, recorded, request_hash
from benchmarks.replay.neutral import neutral_reply
from benchmarks.replay.recording import FOLDER, Recording, UnknownRequest
from benchmarks.replay.runs import SETS, Run, request_hashes, runs
from benchmarks.replay.stored import known_hashes, store
from sliders.llm import Message, Request
from sliders.llm.testing import FunctionModel

ASKED = Request("extract", (Message("system", "Read."), Message("user", "The cost is 12 euros.")))
AGAIN = "python -m benchmarks.replay --record --only "
SHAPE = {"properties": {"a": {}, "b": {}}}


@cache
def all_runs() -> tuple[Run, ...]:
    return tuple(runs())


@pytest.mark.parametrize("kind", ["fidelity/", "trust/", "recording/"])
def test_the_requests_are_those_that_are_stored(kind: str) -> None:
    chosen = [run for run in all_runs() if run.quick and run.name.startswith(kind)]
    assert chosen
    now, unknown = request_hashes(chosen)
    found = changes(known_hashes(), now)
    assert not found, (
        f"other requests than before: {', '.join(map(str, found))}. A commit that moves code "
        "changes none; one that means to change them names these cases and records them anew: "
        f"{AGAIN}NAME (benchmarks/README.md). {' '.join(unknown)}"
    )


def test_every_run_is_stored_and_nothing_else() -> None:
    assert {name for name in known_hashes() if not name.startswith(SETS)} == {
        run.name for run in all_runs()
    }


@pytest.mark.parametrize(
    "difference",
    [
        {"stage": "gate"},
        {"max_tokens": 9},
        {"temperature": 0.5},
        {"messages": ASKED.messages[1:]},
        {"choices": ("a",)},
        {"json_schema": SHAPE},
    ],
)
def test_whatever_a_server_sees_changes_the_hash(difference: dict[str, object]) -> None:
    assert request_hash(replace(ASKED, **difference)) != request_hash(ASKED)  # type: ignore[arg-type]


def test_the_order_of_members_of_the_reply_changes_the_hash() -> None:
    other = {"properties": {"b": {}, "a": {}}}
    assert request_hash(replace(ASKED, json_schema=SHAPE)) != request_hash(
        replace(ASKED, json_schema=other)
    )


def test_what_no_server_sees_does_not() -> None:
    assert request_hash(replace(ASKED, prompt_hash="other", enough=bool)) == request_hash(ASKED)


async def test_requests_to_any_double_are_recorded() -> None:
    with recorded() as hashes:
        await FunctionModel(neutral_reply).generate(ASKED)
    await FunctionModel(neutral_reply).generate(ASKED)
    assert hashes == [request_hash(ASKED)]


def test_requests_are_counted_as_often_as_they_are_sent() -> None:
    assert changes({"a": ["x", "y"]}, {"a": ["x", "x"], "b": ["z"]}) == [
        Change("a", 1, 1),
        Change("b", 1, 0),
    ]
    assert changes({"a": ["x", "y"], "b": ["z"]}, {"a": ["y", "x"]}) == []


def test_stored_hashes_are_read_as_they_were_written(tmp_path: Path) -> None:
    hashes = {"b": ["x", "y"], "a": []}
    store(hashes, tmp_path / "requests.json")
    assert known_hashes(tmp_path / "requests.json") == hashes
    assert known_hashes(tmp_path / "none.json") == {}


@pytest.fixture
def without_replies(tmp_path: Path) -> Path:
    """A recording of one document and one question that holds no replies."""
    head = {"set": "hut_reviews", "documents": ["review_01.txt"], "questions": ["How many nights?"]}
    path = tmp_path / "huts.jsonl"
    path.write_text(json.dumps(head) + "\n", encoding="utf-8")
    return path


def test_a_request_without_a_recorded_reply_is_named(without_replies: Path) -> None:
    with pytest.raises(
        UnknownRequest,
        match=r"huts: no reply is recorded for request \w+ of stage \w+; record anew with",
    ):
        Recording(without_replies).play()


def test_a_reader_fills_a_recording_that_then_plays_without_it(without_replies: Path) -> None:
    async def reader(request: Request) -> str:
        return json.dumps(neutral_reply(request))

    first = Recording(without_replies)
    (answer,) = first.play(reader)
    first.save()
    (again,) = Recording(without_replies).play()
    assert (again.sql, again.value, again.status) == (answer.sql, answer.value, answer.status)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_recording_holds_the_replies_that_are_used_and_no_others(path: Path) -> None:
    replies = [
        json.loads(line)["request"] for line in path.read_text(encoding="utf-8").splitlines()[1:]
    ]
    assert sorted(set(known_hashes()[f"recording/{path.stem}"])) == replies
