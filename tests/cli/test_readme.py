"""The README says what the program says, and what it shows runs."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

import sliders
from sliders import Settings
from tests.cli.help_blocks import commands, help_text, renewed
from tests.worlds import Reader, document

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_help_blocks_are_up_to_date() -> None:
    assert renewed(README) == README, "run: make docs"


def test_every_command_is_described() -> None:
    listed = re.findall(
        r"^  ([a-z-]+) {2,}", help_text("sliders").split("Commands:")[1], re.MULTILINE
    )
    assert len(listed) >= 15
    assert {name for name in listed if not re.search(rf"sliders {name}\b", README)} == set()
    assert "sliders ask" in commands(README)


def test_every_variable_and_setting_is_in_the_table() -> None:
    variables = {
        f"SLIDERS_{f.name.upper()}"
        for f in fields(Settings)
        if f.name not in ("stage_models", "budget")
    }
    assert {name for name in variables if f"`{name}`" not in README} == set()
    assert {f.name for f in fields(Settings) if f"`{f.name}`" not in README} == set()


def test_every_public_name_is_in_the_readme() -> None:
    assert {name for name in sliders.__all__ if not re.search(rf"\b{name}\b", README)} == set()


def test_every_file_that_is_named_is_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([a-z]+)`", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_python_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = re.search(r"<!-- example -->\n```python\n(.*?)```", README, re.DOTALL)
    assert example is not None
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reports").mkdir()
    for name, cost in (("Anchor", 120), ("Beacon", 340)):
        text = document(name, cost=f"{cost} euros", keeper=f"the keeper of {name}")
        (tmp_path / "reports" / f"{name}.txt").write_text(text, encoding="utf-8")
    real = sliders.Workspace
    monkeypatch.setattr(sliders, "Workspace", lambda path: real(path, model=Reader().model))
    monkeypatch.setattr("builtins.print", lambda *values: None)
    names: dict[str, object] = {}
    exec(example[1], names)
    answer = names["answer"]
    assert isinstance(answer, sliders.Answer)
    assert answer.value == 460
    assert (tmp_path / "audit.db").exists()


def test_the_example_with_a_double_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = re.search(r"<!-- example: double -->\n```python\n(.*?)```", README, re.DOTALL)
    assert example is not None
    monkeypatch.chdir(tmp_path)
    exec(example[1], {})  # it asserts its own answer
    with sliders.Workspace("double.db", write=False) as kept:
        assert list(kept.tables["bridges"]["cost_eur"]) == [4.6]
