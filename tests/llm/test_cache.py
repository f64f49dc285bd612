"""Ask once, pay once; every call is written down."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from sliders.errors import BudgetExceeded, ModelRefusal
from sliders.llm import (
    CachedModel,
    MemoryCallLog,
    Message,
    Meter,
    Request,
    RequestGate,
    Response,
    request_key,
)
from sliders.llm.testing import FunctionModel, ScriptedModel, truncated
from sliders.settings import Budget

from .requests import rows_request

ANN = {"rows": [{"name": "Ann", "age": 4}]}


async def test_the_same_request_is_paid_once_and_both_calls_are_in_the_ledger() -> None:
    model, log = ScriptedModel([ANN]), MemoryCallLog()
    cached = CachedModel(model, log)
    first, second = await cached.generate(rows_request()), await cached.generate(rows_request())
    assert first.data == second.data == ANN
    assert first.call_id == second.call_id != ""
    assert [call.cached for call in log.calls] == [False, True]
    assert (first.usage.calls, second.usage.calls, second.usage.cached_calls) == (1, 0, 1)
    assert second.usage.tokens == 0
    assert (
        log.calls[0].prompt_tokens > 0
        and log.calls[0].data == ANN
        and "Ann is 4." in log.calls[0].prompt
    )


async def test_a_log_that_is_kept_answers_the_next_process() -> None:
    log = MemoryCallLog()
    await CachedModel(ScriptedModel([ANN]), log).generate(rows_request())
    assert (await CachedModel(ScriptedModel([]), log).generate(rows_request())).data == ANN


async def test_equal_requests_under_way_are_one_call() -> None:
    model = FunctionModel(lambda request: ANN, latency=0.02)
    cached = CachedModel(model, MemoryCallLog())
    replies = await asyncio.gather(*(cached.generate(rows_request()) for _ in range(20)))
    assert len(model.history) == 1
    assert sum(reply.usage.calls for reply in replies) == 1
    assert cached.meter.total.cached_calls == 19


async def test_a_failure_is_recorded_reaches_all_who_wait_and_is_not_remembered() -> None:
    model, log = ScriptedModel([ModelRefusal("no"), ANN], latency=0.01), MemoryCallLog()
    cached = CachedModel(model, log)
    both = await asyncio.gather(
        *(cached.generate(rows_request()) for _ in range(2)), return_exceptions=True
    )
    assert [type(reply) for reply in both] == [ModelRefusal, ModelRefusal]
    assert [call.error for call in log.calls] == ["ModelRefusal: no"]
    assert (await cached.generate(rows_request())).data == ANN


async def test_a_truncated_reply_keeps_its_text_in_the_ledger() -> None:
    log = MemoryCallLog()
    with pytest.raises(Exception, match="limit"):
        await CachedModel(ScriptedModel([truncated("half")]), log).generate(rows_request())
    assert log.calls[0].reply == "half" and log.calls[0].finish_reason == "error"


async def test_when_the_first_asker_gives_up_the_next_one_asks() -> None:
    model = FunctionModel(lambda request: ANN, latency=0.05)
    cached = CachedModel(model, MemoryCallLog())
    first = asyncio.create_task(cached.generate(rows_request()))
    second = asyncio.create_task(cached.generate(rows_request()))
    await asyncio.sleep(0.01)
    first.cancel()
    assert (await second).data == ANN
    assert first.cancelled() or first.cancelling()


async def test_a_spent_budget_stops_new_calls_but_not_known_ones() -> None:
    cached = CachedModel(ScriptedModel([ANN]), MemoryCallLog(), Meter(Budget(max_tokens=530)))
    await cached.generate(rows_request())
    assert (await cached.generate(rows_request())).data == ANN
    with pytest.raises(BudgetExceeded, match="max_tokens"):
        await cached.generate(rows_request("another"))


async def test_a_budget_that_is_spent_while_calls_wait_for_their_place_stops_them() -> None:
    model, log = FunctionModel(lambda request: ANN, latency=0.01), MemoryCallLog()
    cached = CachedModel(model, log, Meter(Budget(max_tokens=1)), gate=RequestGate(2))
    replies = await asyncio.gather(
        *(cached.generate(rows_request(str(n))) for n in range(6)), return_exceptions=True
    )
    assert [isinstance(reply, BudgetExceeded) for reply in replies].count(True) >= 2
    assert len(model.history) == len(log.calls) < 5


@given(st.text(), st.text())
def test_different_words_make_different_keys(left: str, right: str) -> None:
    same = request_key(rows_request(left), "m") == request_key(rows_request(right), "m")
    assert same == (left == right)


def test_the_key_knows_everything_that_decides_a_reply_and_nothing_else() -> None:
    base = rows_request()
    schema = {"type": "object", "properties": {"b": {}, "a": {}}}
    swapped = {"type": "object", "properties": {"a": {}, "b": {}}}
    keys = {
        request_key(base, "m", "e"),
        request_key(base, "n", "e"),
        request_key(base, "m", "f"),
        request_key(replace(base, max_tokens=1), "m", "e"),
        request_key(replace(base, temperature=1.0), "m", "e"),
        request_key(replace(base, logprobs=True), "m", "e"),
        request_key(replace(base, json_schema=None), "m", "e"),
        request_key(replace(base, json_schema=schema), "m", "e"),
        request_key(replace(base, json_schema=swapped), "m", "e"),
        request_key(Request("extract", (Message("user", base.messages[0].content),)), "m", "e"),
    }
    assert len(keys) == 10
    assert request_key(replace(base, stage="gate", prompt_hash="x"), "m", "e") == request_key(
        base, "m", "e"
    )


class Person(BaseModel):
    """A person."""

    name: str


class Place(BaseModel):
    """A place."""

    city: str


def test_choices_and_the_shape_of_a_reply_are_part_of_the_key() -> None:
    plain = rows_request(json_schema=None)
    asked = [
        plain,
        replace(plain, choices=("yes", "no")),
        replace(plain, choices=("no", "yes")),
        replace(plain, reply=Person),
        replace(plain, reply=Place),
    ]
    assert len({request_key(request, "m") for request in asked}) == len(asked)


async def test_how_sure_the_values_of_a_reply_are_comes_out_of_the_log_again() -> None:
    reply = Response('{"rows": []}', {"rows": []}, odds={"rows": 1.0}, sureness={"rows": -0.7})
    cached = CachedModel(FunctionModel(lambda request: reply), MemoryCallLog())
    request = replace(rows_request(), told=True)
    first, second = await cached.generate(request), await cached.generate(request)
    assert second.usage.cached_calls == 1 and first.sureness == second.sureness == {"rows": -0.7}
    assert second.data == {"rows": []} and second.odds == {"rows": 1.0}


async def test_the_odds_of_a_choice_come_out_of_the_log_again() -> None:
    cached = CachedModel(ScriptedModel([{"yes": -0.1, "no": -2.5}]), MemoryCallLog())
    request = rows_request(json_schema=None, choices=("yes", "no", "unknown"))
    first, second = await cached.generate(request), await cached.generate(request)
    assert first.odds == second.odds == {"yes": -0.1, "no": -2.5, "unknown": -3.5}
    assert (second.text, second.usage.cached_calls) == ("yes", 1)
    known = cached.known(request)
    assert known is not None and known.odds == first.odds
