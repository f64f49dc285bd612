"""The public face of the package: commands, options, signatures, settings, JSON keys and audit views.

`python -m tests.face` writes it to tests/face.json; a test compares. A difference is a line of the changelog.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from sqlite_utils import Database

import sliders
from sliders.cli import app
from sliders.llm.testing import FunctionModel

STORED = Path(__file__).with_name("face.json")


def commands() -> dict[str, list[str]]:
    """Each command with its arguments and options."""
    return dict(sorted(_commands(typer.main.get_command(app), "sliders")))


def _commands(command: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    yield path, sorted(" ".join([parameter.param_type_name, *parameter.opts, *parameter.secondary_opts])
                       for parameter in command.params)  # fmt: skip
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, f"{path} {name}")


def signatures() -> dict[str, str]:
    """Public names of the package with their parameters, and the public members of its classes."""
    return dict(sorted(pair for name in sliders.__all__ for pair in _signatures(name, getattr(sliders, name))))


def _signatures(name: str, value: Any) -> Iterator[tuple[str, str]]:
    yield name, _parameters(value)
    for member, inner in inspect.getmembers(value) if inspect.isclass(value) else ():
        if not member.startswith("_") and not _is_inherited(value, member):
            yield f"{name}.{member}", "property" if not callable(inner) else _parameters(inner)


def _is_inherited(kind: type, member: str) -> bool:
    return not any(member in base.__dict__ for base in kind.__mro__ if base.__module__.startswith("sliders"))


def _parameters(value: Any) -> str:
    return ", ".join(
        f"{'*' * int(p.kind is p.VAR_POSITIONAL)}{'**' * int(p.kind is p.VAR_KEYWORD)}{name}"
        + ("" if p.default is p.empty else "=")
        + (" (keyword)" if p.kind is p.KEYWORD_ONLY else "")
        for name, p in inspect.signature(value).parameters.items()
    )


def settings() -> list[str]:
    """Settings by name with their defaults, machine paths left out."""
    fields = dataclasses.fields(sliders.Settings)
    return [f"{f.name}={'' if f.default is dataclasses.MISSING else f.default!r}" for f in fields]


def answers() -> dict[str, list[str]]:
    """Keys of the JSON of an answer, and the tables and views of an audit database with their columns."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "one.md").write_text("# Report\n\nThe cost is 12 euros.\n", encoding="utf-8")
        with sliders.Workspace(Path(folder, "workspace.db"), model=FunctionModel(_reply, context_tokens=64_000)) as workspace:
            workspace.add(folder)
            told = workspace.ask("What is the total cost?").to_dict()
            workspace.export(Path(folder, "audit.db"))
        audit = Database(Path(folder, "audit.db"))
        shapes = {f"audit.{name}": [column.name for column in audit[name].columns]
                  for name in sorted([*audit.table_names(), *audit.view_names()]) if "search" not in name}  # fmt: skip
        audit.conn.close()
    inner = {f"answer.{name}": sorted(value if isinstance(value, dict) else value[0]) for name, value in told.items()
             if isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], dict))}  # fmt: skip
    return {"answer": sorted(told), **inner, **shapes}


def _reply(request: Any) -> Any:
    shape = request.json_schema or (request.reply.model_json_schema() if request.reply is not None else {})
    asked = set(shape.get("properties", {}))
    if "tables" in asked:
        table = {"name": "costs", "row": "a report", "grain": "document", "columns": [{"name": "cost", "type": "number"}]}
        return {"tables": [table], "needs": [{"question": 1, "columns": ["costs.cost"]}], "not_covered": []}
    if "rows" in asked:
        return {"rows": [{"table": "costs", "cells": {"cost": {"value": 12, "words": ["12"]}}}]}
    if "sql" in asked:
        return {"action": "answer", "sql": "SELECT SUM(cost) FROM costs", "reason": ""}
    return {name: [] for name in asked}


def face() -> dict[str, Any]:
    """All of it."""
    return {"commands": commands(), "signatures": signatures(), "settings": settings(), "shapes": answers()}


if __name__ == "__main__":
    STORED.write_text(json.dumps(face(), indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
