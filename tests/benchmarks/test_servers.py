"""Behaviours of servers: what is counted as right and clear, and that two of them are so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.checkout import ROOT
from benchmarks.servers.__main__ import Bench, Verdict, figures, judged
from benchmarks.servers.behaviours import BEHAVIOURS
from benchmarks.servers.reader import ANSWER
from benchmarks.servers.server import Server

BY_NAME = {one.name: one for one in BEHAVIOURS}


def test_there_are_eighty_and_a_third_are_controls() -> None:
    assert len(BY_NAME) == len(BEHAVIOURS) >= 80
    controls = sum(one.control for one in BEHAVIOURS)
    assert len(BEHAVIOURS) / 3 <= controls < len(BEHAVIOURS) / 2


@pytest.mark.parametrize(
    ("name", "code", "status", "word"),
    [
        ("control", 0, "answered", "right"),
        ("control", 0, "incomplete", "wrong"),
        ("control", 1, "failed", "wrong"),
        ("every_call_refused", 1, "failed", "clear"),
        ("every_call_refused", 0, "failed", "wrong"),
        ("control", None, "answered", "wrong"),
    ],
)
def test_a_verdict(name: str, code: int | None, status: str, word: str) -> None:
    answer = {"status": status, "value": ANSWER, "reason": "this deployment is gone"}
    ended = {"code": code, "out": json.dumps(answer), "err": ""}
    assert judged(BY_NAME[name], ended, Server()).word == word


def test_figures_are_by_verdict_and_part() -> None:
    told = figures({"control": Verdict("right"), "wrong_key": Verdict("wrong", "exit 0")})
    assert (told["right"], told["wrong"], told["wrong_ones"]) == (1, 1, ["wrong_key"])
    assert told["parts"] == {"3": {"wrong": 1}, "4": {"right": 1}}


def test_behaviours_are_tried_by_the_command_line(tmp_path: Path) -> None:
    bench = Bench(ROOT, tmp_path)
    found = {name: bench.tried(BY_NAME[name]) for name in ("temperature_by_param", "page_with_404")}
    bench.close()
    assert {name: one.word for name, one in found.items()} == {
        "temperature_by_param": "right",
        "page_with_404": "clear",
    }
