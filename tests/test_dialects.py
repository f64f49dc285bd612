"""One module chooses how a model is asked; no other code asks for its dialect's name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from sliders.engine import Ways, ways_of
from sliders.llm import COMPACT, FULL, Dialect
from sliders.llm.testing import ScriptedModel

ROOM = Path(__file__).resolve().parents[1] / "sliders"
MAY_ASK = {
    "engine/ways.py": "chooses",
    "engine/connections.py": "gives a model its dialect, as the settings say",
    "llm/dialect.py": "defines the dialects",
    "llm/prompts.py": "the name is that of a folder",
}
OTHERS = ("compact/", "store/")
"""The compact dialect itself, and the dialects of SQL that SQLAlchemy knows."""
SIZES = {field.name for field in fields(Dialect)} - {"name"}
NAMES = {"dialect", "FULL", "COMPACT"}


def name_of(node: ast.expr) -> str:
    """The last name of an expression: "dialect" of `model.dialect`."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def questions(source: str) -> Iterator[str]:
    """What a source asks of a dialect: an attribute that is no size, a comparison, a key."""
    for node in ast.walk(ast.parse(source)):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Attribute) and node.attr not in SIZES:
            asked = [node.value]
        elif isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.Subscript):
            asked = [node.slice]
        elif isinstance(node, ast.Match):
            asked = [node.subject]
        elif isinstance(node, ast.Call) and name_of(node.func) == "getattr":
            asked = node.args[:1]
        if any(name_of(one) in NAMES for one in asked):
            yield f"line {node.lineno}: {ast.unparse(node)}"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "source",
    [
        "model.dialect.name",
        "if dialect.sql == 'text': pass",
        "dialect is COMPACT",
        "model.dialect != FULL",
        "WAYS[model.dialect]",
        "getattr(model.dialect, 'name')",
    ],
)
def test_a_question_is_seen(source: str) -> None:
    assert list(questions(source))


@pytest.mark.parametrize(
    "source", ["model.dialect.chunk_tokens", "load_prompt('schema/row', model.dialect)"]
)
def test_a_size_is_no_question(source: str) -> None:
    assert not list(questions(source))


def test_no_other_module_asks() -> None:
    asked = {
        place: found
        for path in sorted(ROOM.rglob("*.py"))
        if not (place := path.relative_to(ROOM).as_posix()).startswith(OTHERS)
        and (found := list(questions(path.read_text(encoding="utf-8"))))
    }
    assert set(asked) <= set(MAY_ASK), {p: f for p, f in asked.items() if p not in MAY_ASK}
    assert "engine/ways.py" in asked


def test_the_two_dialects_share_no_way() -> None:
    full, compact = (ways_of(ScriptedModel([], dialect=one)) for one in (FULL, COMPACT))
    same = [
        field.name
        for field in fields(Ways)
        if getattr(full, field.name) == getattr(compact, field.name)
    ]
    assert not same
