"""What there is one of: each of these calls stands in one module of the package."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from sliders.store import Catalog, Database

SOURCES = Path(__file__).parents[1] / "sliders"


def _called(tree: ast.AST) -> set[str]:
    """The dotted names of the functions that are called or handed on."""
    return {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


@cache
def _names() -> dict[str, set[str]]:
    """Of each module the names that it calls, hands on or imports."""
    names = {}
    for path in sorted(SOURCES.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {
            f"{node.module}.{name.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        names[str(path.relative_to(SOURCES))] = _called(tree) | imported
    return names


def _modules(wanted: str) -> list[str]:
    return [module for module, names in _names().items() if any(wanted in name for name in names)]


@pytest.mark.parametrize(
    ("call", "module"),
    [
        ("sqlglot.parse", "sql/statement.py"),
        ("sqlite3.connect", "sql/connect.py"),
        (".set_authorizer", "sql/sandbox_database.py"),
        (".set_progress_handler", "sql/sandbox_database.py"),
    ],
)
def test_it_is_called_in_one_module(call: str, module: str) -> None:
    assert _modules(call) == [module]


def test_no_other_way_of_sqlglot_to_parse_is_used() -> None:
    assert _modules("maybe_parse") == []


def test_no_table_is_a_store_of_nameless_texts(tmp_path: Path) -> None:
    with Database(tmp_path / "w.db") as database:
        Catalog(database)
        tables = {name: names for name, names in database.names().items() if name[:3] == "sl_"}
    pairs = {name for name, names in tables.items() if len(names) <= 2 and "value" in names}
    assert pairs == {"sl_meta"} and len(tables) > 20
