"""Prices, sums and budgets."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sliders.errors import BudgetExceeded, SettingsError
from sliders.llm import Meter, PriceTable, Usage
from sliders.settings import Budget


def test_cost_is_tokens_times_the_price_of_a_million() -> None:
    table = PriceTable.load({"m": {"prompt": 2, "completion": 10}})
    assert table.cost("m", 500_000, 100_000) == pytest.approx(1.0 + 1.0)


def test_the_users_row_wins_and_dated_names_find_their_row() -> None:
    assert (
        PriceTable.load({"gpt-4.1": {"prompt": 1, "completion": 1}}).cost(
            "gpt-4.1-2025-04-14", 10**6, 0
        )
        == 1.0
    )
    own = PriceTable.load({"openai/gpt-4.1": {"prompt": 1, "completion": 1}})
    assert own.cost("openai/gpt-4.1", 10**6, 0) == 1.0
    assert PriceTable().price("openai/gpt-4.1") == PriceTable().price("gpt-4.1")
    mini = PriceTable().price("gpt-4.1-mini")
    assert mini is not None and mini == PriceTable().price("gpt-4.1-mini-2025-04-14")


def test_an_unknown_model_costs_nothing_and_has_no_price() -> None:
    assert PriceTable().price("local") is None
    assert PriceTable().cost("local", 10**9, 10**9) == 0.0


@pytest.mark.parametrize("name", ["prices.yaml", "prices.json"])
def test_prices_are_read_from_a_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('{"m": {"prompt": 1.5, "completion": 3}}', encoding="utf-8")
    assert PriceTable.load(path).cost("m", 10**6, 10**6) == 4.5


@pytest.mark.parametrize(
    "text", ["m: cheap", "m: {prompt: 1}", "[1]", "m: {prompt: a, completion: 1}", "{"]
)
def test_a_bad_price_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match="price"):
        PriceTable.load(path)


def test_a_price_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="SLIDERS_PRICES"):
        PriceTable.load(tmp_path / "none.yaml")


def test_usage_is_summed_by_stage_and_model() -> None:
    meter = Meter()
    meter.add("gate", "a", Usage(1, 0, 10, 1, 0.5, 0.1))
    meter.add("gate", "b", Usage(1, 0, 20, 2, 0.5, 0.2))
    meter.add("extract", "a", Usage(0, 1))
    assert meter.by_stage_and_model[("gate", "b")].cost == 0.2
    assert (meter.total.calls, meter.total.cached_calls) == (2, 1)


@pytest.mark.parametrize(
    "budget",
    [Budget(max_tokens=11), Budget(max_cost=0.1), Budget(max_minutes=2.0)],
)
def test_each_limit_stops_the_next_call_once_it_is_reached(budget: Budget) -> None:
    now = [0.0]
    meter = Meter(budget, clock=lambda: now[0])
    meter.check()
    meter.add("gate", "a", Usage(1, 0, 10, 1, 0.5, 0.1))
    now[0] = 120.0
    with pytest.raises(BudgetExceeded, match="goes on from here"):
        meter.check()


def test_a_meter_without_a_budget_never_stops() -> None:
    meter = Meter()
    meter.add("gate", "a", Usage(10**9, 0, 10**12, 10**12, 1e9, 1e9))
    meter.check()
    assert meter.total.calls == 10**9


async def test_calls_under_way_hold_room_for_the_most_that_they_may_cost() -> None:
    meter, order = Meter(Budget(max_tokens=100)), []

    async def call(name: str, used: int) -> None:
        async with meter.reserved("m", 20, 40):
            order.append(f"{name} starts")
            await asyncio.sleep(0.01)
            meter.add("extract", "m", Usage(1, 0, used, 0))
            order.append(f"{name} ends")

    await asyncio.gather(call("a", 10), call("b", 10), call("c", 10))
    assert order == ["a starts", "a ends", "b starts", "b ends", "c starts", "c ends"]
    assert meter.total.tokens == 30


async def test_a_call_that_may_cost_more_than_is_left_is_not_sent() -> None:
    meter = Meter(Budget(max_tokens=100))
    meter.add("extract", "m", Usage(1, 0, 50, 0))
    with pytest.raises(BudgetExceeded, match=r"50 tokens of max_tokens=100 .* may take 60 tokens"):
        async with meter.reserved("m", 20, 40):
            pass
    async with meter.reserved("m", 20, 30):
        assert meter.total.tokens == 50


async def test_money_is_reserved_at_the_price_of_the_model() -> None:
    prices = PriceTable.load({"m": {"prompt": 1.0, "completion": 10.0}})
    meter = Meter(Budget(max_cost=0.001), prices=prices)
    async with meter.reserved("m", 500, 50):
        pass
    with pytest.raises(BudgetExceeded, match=r"max_cost=0.001 .* may take \$0.0015"):
        async with meter.reserved("m", 500, 100):
            pass


async def test_who_waits_for_room_is_refused_when_it_is_spent() -> None:
    meter = Meter(Budget(max_tokens=100))

    async def call() -> None:
        async with meter.reserved("m", 20, 40):
            await asyncio.sleep(0.01)
            meter.add("extract", "m", Usage(1, 0, 60, 0))

    ended = await asyncio.gather(call(), call(), return_exceptions=True)
    assert [isinstance(one, BudgetExceeded) for one in ended] == [False, True]
    assert meter.total.tokens == 60
