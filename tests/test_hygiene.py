"""What must hold of the files themselves."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "sliders").rglob("*.py"))
PROMPTS = sorted((ROOT / "prompts").rglob("*.md"))
MOST_LINES, MOST_LINES_OF_A_FUNCTION = 500, 40
_MACHINE_PATH = re.compile(r"/(?:home|root|work|Users)/\w|[A-Z]:\\\\Users|/tmp/\w")
_UNCLEAR = re.compile(r"\b(?:utils?|helpers?|managers?)\.py$")


def test_there_is_something_to_look_at() -> None:
    assert len(SOURCES) > 100
    assert len(PROMPTS) >= 10


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_source_file(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    assert not _UNCLEAR.search(path.name)
    assert not _MACHINE_PATH.search(text)
    if path.name != "__main__.py":
        assert ast.get_docstring(ast.parse(text)), "says what it is for"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_function_fits_on_a_screen(path: Path) -> None:
    functions = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    long = [f.name for f in functions if _lines(f) > MOST_LINES_OF_A_FUNCTION]
    assert long == []


def _lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """From `def` to the end, without decorators."""
    assert function.end_lineno is not None
    return function.end_lineno - function.lineno + 1


def test_every_prompt_is_used_and_every_used_prompt_is_there() -> None:
    there = {
        str(Path(*path.relative_to(ROOT / "prompts").parts[1:]).with_suffix("")) for path in PROMPTS
    }
    code = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    quoted = set(
        re.findall(r'"((?:documents|schema|extraction|reconcile|answer|engine)/[a-z_]+)"', code)
    )
    assert {name for name in there if name not in quoted} == set()
    assert {name for name in quoted if name not in there} == set()


def test_no_prompt_and_no_rule_knows_a_data_set() -> None:
    suites = yaml.safe_load((ROOT / "benchmarks" / "suites.yaml").read_text(encoding="utf-8"))
    names = _names(suites)
    assert names, "the suites are listed"
    for path in [*SOURCES, *PROMPTS]:
        text = path.read_text(encoding="utf-8").lower()
        assert [name for name in names if re.search(rf"\b{re.escape(name)}\b", text)] == [], path


def _names(suites: object) -> list[str]:
    """Names of suites that no ordinary text would hold: those with an underscore."""
    found = suites if isinstance(suites, dict) else {}
    inner = found.get("suites", found)
    listed = inner if isinstance(inner, dict) else {s["name"]: s for s in inner}
    return [str(name).lower() for name in listed if "_" in str(name)]


def test_only_the_command_line_catches_everything() -> None:
    for path in SOURCES:
        if path.parent.name != "cli":
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ExceptHandler):
                    assert node.type is not None, path
                    assert not (isinstance(node.type, ast.Name) and node.type.id == "Exception"), (
                        path
                    )
