"""A reply that loops is stopped while it is written; every other reply comes whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sliders.llm import Rung
from tests.fake_server import Scripted

from .requests import rows_request

Serve = Callable[..., Any]
ROWS = [{"name": f"Ann{n}", "age": n} for n in range(6)]


def listed(rows: list[dict[str, Any]]) -> str:
    return json.dumps({"rows": rows}, separators=(",", ":"))


def says_again(text: str) -> bool:
    rows = text.removesuffix("}").partition("[{")[2].split("},{")
    return len(rows) > 8 and rows[-1] in rows[-4:-1]


async def test_a_loop_is_stopped_and_its_rows_are_kept(serve: Serve) -> None:
    text = listed(ROWS + [ROWS[2]] * 200)
    server, model = serve(Scripted(text, finish_reason="length"), first_rung=Rung.GRAMMAR)
    response = await model.generate(replace(rows_request(), enough=says_again))
    assert response.finish_reason == "length"
    assert response.data["rows"][:6] == ROWS
    assert len(response.data["rows"]) < 20
    assert 0 < response.usage.completion_tokens < len(text) // 4
    assert response.usage.prompt_tokens > 0
    assert server.pieces[0] < len(text) // 4


async def test_a_list_that_ends_comes_whole(serve: Serve) -> None:
    server, model = serve(Scripted(listed(ROWS)), first_rung=Rung.GRAMMAR)
    response = await model.generate(replace(rows_request(), enough=says_again))
    assert (response.data, response.finish_reason) == ({"rows": ROWS}, "stop")
    assert response.usage.completion_tokens == len(listed(ROWS)) // 4
    assert server.bodies[0]["stream"] is True


async def test_another_server_is_not_asked_to_stream(serve: Serve) -> None:
    server, model = serve(Scripted(listed(ROWS)))
    await model.generate(replace(rows_request(), enough=says_again))
    assert "stream" not in server.bodies[0]
