"""From settings to models."""

from __future__ import annotations

from pathlib import Path

import pytest

from sliders.compact import EMBEDDED
from sliders.engine import connect
from sliders.errors import BudgetExceeded, SettingsError
from sliders.llm import COMPACT, FULL, MemoryCallLog, Message, Request
from sliders.llm.testing import FunctionModel, ScriptedModel, requests_allowed
from sliders.settings import Budget, Settings
from tests.fake_server import FakeServer, Scripted

from .requests import rows_request

ANN = {"rows": [{"name": "Ann", "age": 4}]}


def test_the_default_is_the_embedded_model_and_nothing_starts(tmp_path: Path) -> None:
    model = connect(Settings(cache_dir=tmp_path)).model_for("extract")
    assert model.name == EMBEDDED.name
    assert model.context_tokens == 16384
    assert list(tmp_path.iterdir()) == []


async def test_stages_may_have_models_of_their_own_behind_one_server() -> None:
    reply = Scripted('{"rows":[{"name":"Ann","age":4}]}')
    with requests_allowed(), FakeServer(reply) as server:
        settings = Settings(
            model="large", base_url=server.base_url, stage_models={"extract": "small"}
        )
        models = connect(settings)
        await models.model_for("extract").generate(rows_request())
        await models.model_for("gate").generate(rows_request(stage="gate"))
        await models.aclose()
    assert [body["model"] for body in server.bodies] == ["small", "large"]
    assert set(models.meter.by_stage_and_model) == {("extract", "small"), ("gate", "large")}


def test_the_embedded_model_serves_one_request_at_a_time(tmp_path: Path) -> None:
    mixed = connect(Settings(model="local", cache_dir=tmp_path))
    assert mixed.serves_one("extract") and mixed.serves_one("gate")
    assert not connect(
        Settings(model="gpt", base_url="http://127.0.0.1:1/v1", api_key="k")
    ).serves_one("extract")


async def test_stages_that_share_a_model_share_its_answers() -> None:
    double = FunctionModel(lambda request: ANN)
    models = connect(Settings(), model=double)
    await models.model_for("extract").generate(rows_request())
    await models.model_for("gate").generate(rows_request(stage="gate"))
    assert len(double.history) == 1


async def test_the_next_run_has_a_fresh_meter_and_the_same_log() -> None:
    double, log = FunctionModel(lambda request: ANN), MemoryCallLog()
    models = connect(Settings(budget=Budget(max_tokens=530)), log, model=double)
    await models.model_for("extract").generate(rows_request())
    with pytest.raises(BudgetExceeded):
        await models.model_for("extract").generate(rows_request("new"))
    second = models.for_run()
    await second.model_for("extract").generate(rows_request("new"))
    await second.model_for("extract").generate(rows_request())
    assert (second.meter.total.calls, second.meter.total.cached_calls) == (1, 1)


async def test_doubles_by_stage() -> None:
    models = connect(Settings(), model={"gate": ScriptedModel(["yes"]), "": ScriptedModel(["no"])})
    request = Request("x", (Message("user", "?"),))
    assert (await models.model_for("gate").generate(request)).text == "yes"
    assert (await models.model_for("answer").generate(request)).text == "no"


def test_a_money_budget_needs_a_price() -> None:
    settings = Settings(model="mine", base_url="http://127.0.0.1:9/v1", budget=Budget(max_cost=1.0))
    with pytest.raises(SettingsError, match="SLIDERS_PRICES"):
        connect(settings)


async def test_a_local_model_at_an_address_is_asked_with_a_grammar() -> None:
    with requests_allowed(), FakeServer(Scripted('{"rows":[]}')) as server:
        models = connect(Settings(model="local", base_url=server.base_url))
        await models.model_for("extract").generate(rows_request())
    assert "grammar" in server.bodies[0]


def test_the_embedded_model_is_asked_compactly_others_fully_unless_settings_say_otherwise() -> None:
    assert connect(Settings()).model_for("extract").dialect is COMPACT
    assert connect(Settings(model="gpt-4.1", api_key="k")).model_for("extract").dialect is FULL
    assert (
        connect(Settings(model="local", base_url="http://127.0.0.1:1/v1"))
        .model_for("extract")
        .dialect
        is COMPACT
    )
    assert (
        connect(Settings.from_env({"SLIDERS_DIALECT": "full"})).model_for("extract").dialect is FULL
    )
    double = ScriptedModel([], dialect=COMPACT)
    assert connect(Settings(dialect="full"), model=double).model_for("extract").dialect is COMPACT
    with pytest.raises(SettingsError, match="one of auto, full, compact"):
        Settings(dialect="small")


async def test_another_effort_is_asked_anew() -> None:
    log = MemoryCallLog()
    with requests_allowed(), FakeServer(Scripted('{"rows":[]}')) as server:
        for effort in (None, None, "low", "low"):
            settings = Settings(model="m", base_url=server.base_url, reasoning_effort=effort)
            models = connect(settings, log)
            await models.model_for("extract").generate(rows_request())
            await models.aclose()
    assert [body.get("reasoning_effort") for body in server.bodies] == [None, "low"]
