"""The counting proxy, over real sockets on loopback and without a model."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from typing import Any

import pytest

from benchmarks.proxy import Proxy, Stub, Upstream, minimal


def post(url: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=10) as reply:
        raw = reply.read().decode()
    return json.loads(raw) if raw.startswith("{") else raw


CHAT = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "x" * 400}]}


def test_calls_are_counted_by_label() -> None:
    with Proxy(Stub()) as proxy:
        post(proxy.url("a") + "/chat/completions", CHAT)
        post(proxy.url("a") + "/chat/completions", CHAT)
        post(proxy.url("b").replace("/v1", "/again/v1") + "/chat/completions", CHAT)
        first, second = proxy.ledger.count("a"), proxy.ledger.count("b")
    assert (first.calls, second.calls, first.errors) == (2, 1, 0)
    assert first.prompt_tokens == 2 * second.prompt_tokens >= 200
    assert (first - second).calls == 1


def test_the_upstream_gets_the_served_name_and_its_errors_are_kept() -> None:
    seen: list[dict[str, Any]] = []

    def model(path: str, body: Any) -> dict[str, Any]:
        seen.append(dict(body))
        if body["messages"][0]["content"] == "bad":
            raise ValueError("no such thing")
        return Stub()(path, body)

    with Proxy(model) as back, Proxy(Upstream(back.url("up"), "served")) as front:
        assert (
            post(front.url("s") + "/chat/completions", CHAT)["choices"][0]["message"]["content"]
            == "not found"
        )
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(
                front.url("s") + "/chat/completions",
                {**CHAT, "messages": [{"role": "user", "content": "bad"}]},
            )
        assert refused.value.code == 502 and "no such thing" in refused.value.read().decode()
        assert [body["model"] for body in seen] == ["served", "served"]
        assert front.ledger.count("s").errors == 1 and "no such thing" in front.ledger.last_error(
            "s"
        )


def test_an_unreachable_endpoint_is_an_error_of_the_call() -> None:
    with Proxy(Upstream("http://127.0.0.1:9/v1", timeout=2)) as proxy:
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(proxy.url("s") + "/chat/completions", CHAT)
        assert refused.value.code == 502
        refused.value.close()
        assert proxy.ledger.count("s").errors == 1


def test_a_call_under_way_can_be_broken_off() -> None:
    reached, go_on = threading.Event(), threading.Event()

    def slow(path: str, body: Any) -> dict[str, Any]:
        reached.set()
        go_on.wait(10)
        return Stub()(path, body)

    with Proxy(slow) as back, Proxy(Upstream(back.url("up"))) as front:
        asking = threading.Thread(target=lambda: _refused(front.url("s") + "/chat/completions"))
        asking.start()
        reached.wait(10)
        front.abort()
        asking.join(5)
        assert not asking.is_alive() and front.ledger.count("s").errors == 1
        go_on.set()


def _refused(url: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(url, CHAT)
    refused.value.close()


def test_a_stream_is_one_event() -> None:
    with Proxy(Stub()) as proxy:
        raw = post(proxy.url("s") + "/chat/completions", {**CHAT, "stream": True})
    first, second = (line for line in raw.splitlines() if line)
    assert json.loads(first.removeprefix("data: "))["choices"][0]["delta"]["content"] == "not found"
    assert second == "data: [DONE]"


def test_structured_replies_of_the_stub_fit_their_schema() -> None:
    schema = {
        "type": "object",
        "required": ["kind", "rows", "note", "inner"],
        "properties": {
            "kind": {"enum": ["b", "c"]},
            "rows": {"type": "array", "items": {"type": "string"}, "minItems": 2},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "inner": {"$ref": "#/$defs/Inner"},
            "left_out": {"type": "string"},
        },
        "$defs": {
            "Inner": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        },
    }
    assert minimal(schema) == {"kind": "b", "rows": ["x", "x"], "note": None, "inner": {"n": 0}}
    reply = Stub()(
        "/chat/completions",
        {"response_format": {"type": "json_schema", "json_schema": {"schema": schema}}},
    )
    assert json.loads(reply["choices"][0]["message"]["content"]) == minimal(schema)
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    said = Stub()("/chat/completions", {"tools": [tool], "tool_choice": "required"})["choices"][0][
        "message"
    ]
    assert json.loads(said["tool_calls"][0]["function"]["arguments"]) == minimal(schema)
