"""What must hold of the files themselves."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "sliders").rglob("*.py"))
ROOMS = sorted(path.parent.name for path in (ROOT / "sliders").glob("*/__init__.py"))
USERS = sorted(
    path for folder in ("tests", "benchmarks", "demo") for path in (ROOT / folder).rglob("*.py")
)
"""Code that uses the package from outside."""
MODULES = {
    "benchmarks/optimizer_joins.py": {"engine.query_joins"},
    "benchmarks/planning/hinted.py": {"answer.reading_workflows", "engine.workflow"},
    "benchmarks/planning/reading.py": {"engine.understand"},
    "tests/compact/test_model_file.py": {"compact.model_file"},
    "tests/engine/test_cluster.py": {
        "engine.ray_runner",
        "engine.ray_tasks",
        "engine.ray_workers",
    },
    "tests/engine/test_cut_short.py": {"store.database"},
    "tests/engine/test_front.py": {"engine.ask"},
    "tests/engine/test_query_joins.py": {"engine.query_joins"},
    "tests/llm/test_client.py": {"llm.retry"},
    "tests/llm/test_doubles.py": {"llm.network_switch"},
    "tests/llm/test_prompts.py": {"llm.prompts"},
    "tests/retrieval/test_pruning.py": {"engine.fill"},
    "tests/store/test_catalog.py": {"store.codec"},
}
"""Modules inside a room that a file may import: it changes a figure or a function of them while it
runs, or measures one that the room does not export. No file is added.
"""
FOREIGN = {"benchmarks/systems/sliders_genie.py"}
"""Files that import another package of the same name."""
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
        str(Path(*path.relative_to(ROOT / "prompts").parts[1:]).with_suffix(""))
        for path in PROMPTS
        if path.parent.name != "findings"
    }
    code = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    quoted = set(
        re.findall(r'"((?:documents|schema|extraction|reconcile|answer|engine)/[a-z_]+)"', code)
    )
    assert {name for name in there if name not in quoted} == set()
    assert {name for name in quoted if name not in there} == set()


ROOMS_OF_FINDINGS = {
    "values": "*.py",
    "extraction": "*.py",
    "answer": "*.py",
    "reconcile": "[gr]*a[rg]*.py",
}
"""Rooms with the modules whose findings a model reads: of reconcile the guard and the agent."""
FOUND = ("Finding", "Checked", "Parsed", "Unread", "RepairError", "ExpressionError", "_against")
"""What holds a finding that a model may read: its words come out of a file."""


def _asked_of(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _calls(room: str) -> list[ast.Call]:
    trees = (
        ast.parse(p.read_text("utf-8"))
        for p in (ROOT / "sliders" / room).glob(ROOMS_OF_FINDINGS[room])
    )
    return [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]


@pytest.mark.parametrize("room", ROOMS_OF_FINDINGS)
def test_every_sentence_of_a_finding_stands_in_the_file_of_its_room(room: str) -> None:
    text = (ROOT / "prompts" / "findings" / f"{room}.md").read_text(encoding="utf-8")
    there = re.findall(r"^(\w+): ", text, re.MULTILINE)
    calls = _calls(room)
    used = {ast.unparse(c.args[0]).strip("'") for c in calls if _asked_of(c) == "say"}
    assert len(set(there)) == len(there) and set(there) == used
    given = [
        value
        for call in calls
        if _asked_of(call) in FOUND
        for value in [*call.args, *(keyword.value for keyword in call.keywords)]
    ]
    sentences = [ast.unparse(one) for one in given if isinstance(one, ast.JoinedStr | ast.Constant)]
    assert [one for one in sentences if re.search(r"\w \w", one)] == []


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


def _imported(path: Path) -> list[tuple[str, str]]:
    """What a file imports of the package, as pairs of module and name, "" for a whole module."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and not node.level:
            found += [(node.module or "", alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
    return [one for one in found if one[0].split(".")[0] == "sliders"]


def _exported(room: str) -> set[str]:
    """The names that a room exports."""
    return set(importlib.import_module(f"sliders.{room}").__all__)


def _inside(module: str, name: str) -> str:
    """The module inside a room that an import reaches, "" where it reaches none."""
    room, *deeper = [*module.split("."), *([name] if name else [])][1:] or [""]
    if room not in ROOMS or module == "sliders.llm.testing" or deeper == ["testing"]:
        return ""
    outside = len(deeper) < 1 or (module == f"sliders.{room}" and name in _exported(room))
    return "" if outside else f"{room}.{deeper[0]}"


@pytest.mark.parametrize("path", USERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_uses_the_package_imports_the_names_that_its_rooms_export(path: Path) -> None:
    file = str(path.relative_to(ROOT))
    imported = _imported(path) if file not in FOREIGN else []
    assert [name for _, name in imported if name.startswith("_")] == []
    inside = {reached for module, name in imported if (reached := _inside(module, name))}
    assert inside == MODULES.get(file, set())


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_tested_through_a_workspace_or_the_command_line(room: str) -> None:
    files = [path.read_text(encoding="utf-8") for path in (ROOT / "tests" / room).glob("test_*.py")]
    opened = re.compile(
        r"\bWorkspace\(|\bworkspace_of_ships\(" + (r"|\brun\(\[" if room == "cli" else "")
    )
    assert any(opened.search(text) for text in files)


def test_a_class_name_has_one_meaning() -> None:
    """Private names are counted without their underscore."""
    places: dict[str, list[str]] = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                places.setdefault(node.name.lstrip("_"), []).append(where)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
