"""Prompts that begin alike: a server is told so, and what it kept of one is counted and cheap."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sliders.llm import Meter, PriceTable, Usage
from sliders.settings import Budget
from tests.fake_server import Scripted

from .requests import rows_request

ANN = '{"rows":[{"name":"Ann","age":4}]}'
PRICES = PriceTable.load({"m": {"prompt": 2.0, "completion": 8.0, "cached": 0.5}})
KEY = "prompt_cache_key"
Serve = Callable[..., Any]


def completion(**usage: Any) -> Scripted:
    choice = {"message": {"content": ANN}, "finish_reason": "stop"}
    told = {"prompt_tokens": 1_000_000, "completion_tokens": 0, **usage}
    return Scripted(body=json.dumps({"choices": [choice], "usage": told}))


@pytest.mark.parametrize(
    ("usage", "kept", "cost"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 800_000}}, 800_000, 0.8),
        ({"input_tokens_details": {"cached_tokens": 800_000}}, 800_000, 0.8),
        ({"prompt_cache_hit_tokens": 800_000, "prompt_cache_miss_tokens": 200_000}, 800_000, 0.8),
        ({"prompt_tokens_details": {"cached_tokens": 2_000_000}}, 1_000_000, 0.5),
        ({"prompt_tokens_details": None}, 0, 2.0),
        ({}, 0, 2.0),
    ],
)
async def test_kept_tokens_are_counted_at_their_price(
    serve: Serve, usage: Any, kept: int, cost: float
) -> None:
    _, model = serve(completion(**usage), prices=PRICES)
    spent = (await model.generate(rows_request("a"))).usage
    assert (spent.prompt_tokens, spent.cached_tokens) == (1_000_000, kept)
    assert spent.cost == pytest.approx(cost)


def test_a_budget_counts_kept_tokens_at_their_price() -> None:
    meter = Meter(Budget(max_cost=1.0), prices=PRICES)
    cost = PRICES.cost("m", 1_000_000, 0, 1_000_000)
    meter.add("extract", "m", Usage(1, 0, 1_000_000, 0, cost=cost, cached_tokens=1_000_000))
    meter.check()
    assert meter.total.cached_tokens == 1_000_000
    assert PRICES.cost("m", 1_000_000, 0) == 2.0


def test_a_price_without_one_for_kept_tokens_is_that_of_the_prompt() -> None:
    table = PriceTable.load({"m": {"prompt": 2, "completion": 8}})
    assert table.cost("m", 10**6, 0, 10**6) == 2.0
    known = PriceTable().price("gpt-4.1")
    assert known is not None and known.cached < known.prompt


async def test_prompts_of_one_kind_are_sent_with_one_key(serve: Serve) -> None:
    server, model = serve(Scripted(ANN))
    for text in "ab":
        await model.generate(replace(rows_request(text), prompt_hash="f" * 64))
    await model.generate(replace(rows_request("c"), prompt_hash=""))
    assert [body.get(KEY) for body in server.bodies] == ["f" * 32, "f" * 32, None]


@pytest.mark.parametrize(
    "message", [f"Unrecognized request argument supplied: {KEY}", "Bad request.", "Extra inputs"]
)
async def test_a_server_that_refuses_the_key_is_asked_without_it(
    serve: Serve, message: str
) -> None:
    refused = Scripted(status=400, body=json.dumps({"error": {"message": message}}))
    server, model = serve(lambda body: refused if KEY in body else Scripted(ANN))
    for text in "ab":
        await model.generate(replace(rows_request(text), prompt_hash="f" * 64))
    assert [KEY in body for body in server.bodies] == [True, False, False]
