"""The attack benchmark: there is enough of everything, and a few of each area are played."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from benchmarks.attack import (
    envelopes,
    files,
    kills,
    repairs,
    secrets,
    serving,
    statements,
    tampering,
)
from benchmarks.attack.__main__ import main
from benchmarks.attack.tries import Try, figures, played
from sliders.errors import StoreError


@pytest.mark.parametrize(
    ("made", "least"),
    [
        (statements.tries, 300),
        (files.tries, 100),
        (repairs.tries, 100),
        (tampering.tries, 60),
        (envelopes.envelopes, 80),
        (envelopes.replies, 300),
        (secrets.tries, 130),
        (serving.tries, 60),
        (partial(kills.tries, 200), 200),
        (partial(kills.tries, 60), 60),
    ],
)
def test_a_third_of_the_tries_must_work(made: Callable[[], Iterator[Try]], least: int) -> None:
    tries = list(made())
    assert len(tries) >= least
    assert sum(one.control for one in tries) * 3 >= len(tries) - 2


def test_a_try_holds_by_its_value_or_an_error_in_words() -> None:
    def act(one: Try) -> object:
        if isinstance(one.given, Exception):
            raise one.given
        return one.given

    tries = [
        Try("control", 3, 3),
        Try("control", 4, 3),
        Try("control", StoreError("no"), 3),
        Try("value", 4, "refused"),
        Try("words", StoreError("no"), "refused"),
        Try("no words", StoreError("\ud800"), "refused"),
        Try("broken", TypeError("no"), "bounded"),
        Try("anything", 4),
    ]
    outcomes = list(played(tries, act))
    held = [not outcome.why for outcome in outcomes]
    assert held == [True, False, False, False, True, False, False, True]
    told = figures("sql", outcomes)
    assert (told["sql_tries"], told["sql_held"], told["sql_controls"]) == (8, 3, 3)


def test_figures_of_areas_are_merged(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    assert main(["--area", "sql", "--only", "quoted names", "--json", str(file)]) == 0
    assert main(["--area", "repair", "--only", "half a character", "--json", str(file)]) == 0
    assert main(["--area", "files", "--only", "cut.pdf", "--json", str(file)]) == 0
    told = json.loads(file.read_text(encoding="utf-8"))
    chosen = {
        "envelopes": "packed",
        "replies": "choice",
        "secrets": "ray",
        "serving": "added",
        "verify": "swapped",
    }
    for area, only in chosen.items():
        assert main(["--area", area, "--only", only, "--json", str(file)]) == 0
    told = json.loads(file.read_text(encoding="utf-8"))
    for area in ("sql", "repair", "files", *chosen):
        assert told[f"{area}_held"] == told[f"{area}_tries"] > 0
    assert told["sql_tries"] >= 16
