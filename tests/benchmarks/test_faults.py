"""The planted faults: each has one place in the package, and a place is found and
replaced wherever it lies.
"""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.faults_places import Fault, FaultNotFound, Package, load
from benchmarks.faults_watch import watch

ROOT = Path(__file__).resolve().parents[2]
TOY = '''"""Grüße: an umlaut before the place."""


class Purse:
    def full(self, coins: int) -> bool:
        """Whether no coin fits any more."""
        return "€" in self.marks and (
            coins
            >= self.most
        )


def full(coins: int) -> bool:
    return coins >= 3
'''
FAULT = Fault(
    "one-coin-more",
    "toy",
    "Purse.full",
    "coins >= self.most",
    "coins > self.most",
    "a purse takes a coin too many",
)


def toy(folder: Path, text: str = TOY) -> Package:
    (folder / "deep").mkdir()
    (folder / "deep" / "purse.py").write_text(text, encoding="utf-8")
    return Package(folder)


def test_every_fault_has_one_place_and_its_replacement_parses() -> None:
    package, faults = Package(ROOT / "sliders"), load()
    assert len({fault.name for fault in faults}) == 60
    for fault in faults:
        place = package.place(fault)
        assert place.with_fault(fault.after) != place.path.read_text(encoding="utf-8")


def test_a_fault_replaces_its_expression_alone(tmp_path: Path) -> None:
    place = toy(tmp_path).place(FAULT)
    faulty = TOY.replace("coins\n            >= self.most", "(coins > self.most)")
    assert place.with_fault(FAULT.after) == faulty and place.path.read_text(encoding="utf-8") == TOY


def test_a_fault_without_one_place_is_told(tmp_path: Path) -> None:
    package = toy(tmp_path, TOY.replace('"€" in self.marks and', "coins >= self.most and"))
    with pytest.raises(FaultNotFound, match=r"one-coin-more: .* stands 2 times in Purse\.full"):
        package.place(FAULT)
    with pytest.raises(FaultNotFound, match=r"there is no function Wallet\.full"):
        package.place(Fault("lost", "toy", "Wallet.full", "coins", "0", "nothing"))


def test_of_functions_of_one_name_the_context_tells_which(tmp_path: Path) -> None:
    package = toy(
        tmp_path,
        "def full(coins):\n    return coins >= 3\n\n\nif True:\n\n    def full(coins):\n"
        "        assert coins\n        return coins >= 3\n",
    )
    fault = Fault(
        "four", "toy", "full", "coins >= 3", "coins >= 4", "a fourth coin", context="assert coins"
    )
    place = package.place(fault)
    assert "assert coins\n        return (coins >= 4)" in place.with_fault(fault.after)


def test_a_watched_fault_keeps_its_value_and_names_the_tests_in_which_it_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy(tmp_path)
    assert watch(tmp_path, [FAULT]) == ["one-coin-more"]
    purse = runpy.run_path(str(tmp_path / "deep" / "purse.py"))["Purse"]()
    purse.marks, purse.most = "€", 3
    monkeypatch.setenv("FAULTS_WATCHED", str(tmp_path / "noticed.jsonl"))
    for context, coins, full in (("below", 2, False), ("at", 3, True), ("above", 4, True)):
        monkeypatch.setenv("FAULTS_CONTEXT", context)
        assert purse.full(coins) is full
    noticed = (tmp_path / "noticed.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in noticed] == [["one-coin-more", "at"]]


def test_a_fault_that_acts_is_not_watched(tmp_path: Path) -> None:
    toy(tmp_path)
    assert watch(tmp_path, [replace(FAULT, acts=True)]) == []
    assert (tmp_path / "deep" / "purse.py").read_text(encoding="utf-8") == TOY
