"""Hashes of requests: equal for equal requests, different for any difference that a server sees."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.replay import neutral_reply, new_requests, recorded, request_hash
from sliders.llm import Message, Request
from sliders.llm.testing import FunctionModel

ASKED = Request("extract", (Message("system", "Read."), Message("user", "The cost is 12 euros.")))


@pytest.mark.parametrize(
    "changes",
    [
        {"stage": "gate"},
        {"max_tokens": 9},
        {"temperature": 0.5},
        {"messages": ASKED.messages[1:]},
        {"choices": ("a",)},
    ],
)
def test_whatever_a_server_sees_changes_the_hash(changes: dict[str, object]) -> None:
    assert request_hash(replace(ASKED, **changes)) != request_hash(ASKED)  # type: ignore[arg-type]


def test_what_no_server_sees_does_not() -> None:
    assert request_hash(replace(ASKED, prompt_hash="other", enough=bool)) == request_hash(ASKED)


async def test_requests_to_any_double_are_recorded() -> None:
    with recorded() as hashes:
        await FunctionModel(neutral_reply).generate(ASKED)
    await FunctionModel(neutral_reply).generate(ASKED)
    assert hashes == [request_hash(ASKED)]


def test_new_requests_are_counted_as_often_as_they_are_sent() -> None:
    assert new_requests({"a": ["x", "y"]}, {"a": ["x", "x", "y"], "b": ["z"]}) == {"a": 1, "b": 1}
    assert new_requests({"a": ["x", "y"]}, {"a": ["x"]}) == {}
