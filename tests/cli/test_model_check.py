"""`sliders model check`: ten lines about whatever is configured."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from sliders.cli import run
from sliders.llm.testing import requests_allowed
from tests.fake_server import FakeServer, Scripted

TOWNS = ("Arles", "Bern", "Cork", "Delft", "Evora", "Fes")
REPLIES = {
    "We met in Cork": {"town": "Cork"},
    "bridges": {"rows": [{"name": town, "number": n} for n, town in enumerate(TOWNS, 2)]},
    "1 to 60": {"rows": list(range(1, 61))},
    "17 * 23": "391",
    "from 1 to 100": "1, 2",
    "word of the day": "HERON",
    "Is Cork a town": "yes",
    "Cork": {"town": "Cork"},
}


def able(body: dict[str, Any]) -> Scripted:
    """A model that can do all that is asked."""
    asked = body["messages"][-1]["content"]
    if word := re.search(r"the one word: (\w+)", asked):
        return Scripted(word[1])
    told = next(reply for words, reply in REPLIES.items() if words in asked)
    odds = {"yes": -0.1, "no": -3.0} if body.get("logprobs") else {}
    return Scripted(told if isinstance(told, str) else json.dumps(told), odds=odds)


def without_structure(body: dict[str, Any]) -> Scripted:
    """One that gives no JSON."""
    return Scripted("I see.") if "JSON" in body["messages"][-1]["content"] else able(body)


def checked(
    reply: Callable[[dict[str, Any]], Scripted], monkeypatch: pytest.MonkeyPatch, *flags: str
) -> int:
    with FakeServer(reply) as server, requests_allowed():
        monkeypatch.setenv("SLIDERS_BASE_URL", server.base_url)
        return run(["model", "check", "--model", "m", *flags])


def test_ten_lines_say_what_works(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checked(able, monkeypatch) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 10
    told = {line[:20].strip(): line[20:] for line in lines}
    assert told["structured output"].split() == ["yes", "asked", "for", "by", "json_schema"]
    assert told["log-probabilities"].startswith("yes") and "391" in told["thinking"]
    assert "6 of 6 rows" in told["rows"] and "window" in told["context"]


def test_what_does_not_work_is_said_and_the_exit_is_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checked(without_structure, monkeypatch, "--json") == 1
    probes = json.loads(capsys.readouterr().out)
    failed = {probe["name"] for probe in probes if probe["works"] is False}
    assert failed == {"structured output", "rows", "long reply", "odds of members"}


def test_a_server_that_refuses_the_key_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checked(lambda body: Scripted(status=401, error="bad key"), monkeypatch) == 1
    out = capsys.readouterr()
    assert not out.out and len(out.err.strip().splitlines()) == 1 and "OPENAI_API_KEY" in out.err
