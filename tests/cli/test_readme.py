"""README and pages of `docs/` say what the program says, and what they show runs."""

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
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = {path: path.read_text(encoding="utf-8") for path in PAGES}
DOCUMENTATION = "\n".join(TEXTS.values())


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_help_blocks_are_up_to_date(page: Path) -> None:
    assert renewed(TEXTS[page]) == TEXTS[page], "run: make docs"


def test_the_readme_is_short() -> None:
    text = TEXTS[ROOT / "README.md"]
    assert len(text.splitlines()) <= 150
    prose = re.sub(r"```.*?```|<!--.*?-->|^[|#!].*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    sentences = re.split(r"(?<=[.!?:])\s+|\n- |\n\n", prose)
    assert [one for one in sentences if len(one.split()) > 25] == []


def test_every_command_is_described() -> None:
    listed = re.findall(
        r"^  ([a-z-]+) {2,}", help_text("sliders").split("Commands:")[1], re.MULTILINE
    )
    assert len(listed) >= 15
    assert {name for name in listed if not re.search(rf"sliders {name}\b", DOCUMENTATION)} == set()
    assert "sliders ask" in commands(DOCUMENTATION)


def test_every_variable_and_setting_is_in_the_table() -> None:
    variables = {
        f"SLIDERS_{f.name.upper()}"
        for f in fields(Settings)
        if f.name not in ("stage_models", "budget")
    }
    assert {name for name in variables if f"`{name}`" not in DOCUMENTATION} == set()
    assert {f.name for f in fields(Settings) if f"`{f.name}`" not in DOCUMENTATION} == set()


def test_every_public_name_is_in_the_documentation() -> None:
    assert {
        name for name in sliders.__all__ if not re.search(rf"\b{name}\b", DOCUMENTATION)
    } == set()


def test_every_file_that_is_named_is_there() -> None:
    for page, text in TEXTS.items():
        for target in re.findall(r"\]\(([^)#:]+)[^):]*\)|src=\"([^\":]+)\"", text):
            assert (page.parent / "".join(target)).exists(), (page, target)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([a-z]+)`", DOCUMENTATION):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_python_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = re.search(r"<!-- example -->\n```python\n(.*?)```", DOCUMENTATION, re.DOTALL)
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


def test_the_short_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = re.search(r"<!-- example: short -->\n```python\n(.*?)```", DOCUMENTATION, re.DOTALL)
    assert example is not None
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reports").mkdir()
    text = document("Anchor", cost="120 euros")
    (tmp_path / "reports" / "Anchor.txt").write_text(text, encoding="utf-8")
    real = sliders.ask
    monkeypatch.setattr(sliders, "ask", lambda *words: real(*words, model=Reader().model))
    names: dict[str, object] = {}
    exec(example[1], names)
    answer = names["answer"]
    assert isinstance(answer, sliders.Answer)
    assert answer.value == 120


def test_the_example_with_a_double_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = re.search(r"<!-- example: double -->\n```python\n(.*?)```", DOCUMENTATION, re.DOTALL)
    assert example is not None
    monkeypatch.chdir(tmp_path)
    exec(example[1], {})  # it asserts its own answer
    with sliders.Workspace("double.db", write=False) as kept:
        assert list(kept.tables["bridges"]["cost_eur"]) == [4.6]
