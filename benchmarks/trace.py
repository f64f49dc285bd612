"""`python -m benchmarks.trace --json FILE [--sliders PATH] [--store [NAME]]`:
how much of the package one small question enters.

`sliders ask` runs over three files of one line each with a scripted reader; functions and files of
the package that are entered, calls, and changes from one file to another are counted.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import pkgutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.checkout import add_options, lines_of, store, use_package_of

FILES = {
    "one.md": "The cost is 12 euros.",
    "two.md": "The cost is 30 euros.",
    "three.md": "The cost is 8 euros.",
}
_STARTED = ("__main__",)
"""Modules that run when they are imported."""
QUESTION = "What is the total cost?"


class Trace:
    """The functions of a package that run while it is on."""

    def __init__(self, package: Path) -> None:
        self._package, self._last = str(package), ""
        self.functions: Counter[tuple[str, str]] = Counter()
        self.changes = 0

    def __call__(self, frame: Any, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if (
            event != "call"
            or not name.startswith(self._package)
            or not frame.f_code.co_flags & inspect.CO_OPTIMIZED
        ):
            return  # bodies of modules and classes are no functions
        function = frame.f_code.co_qualname
        if not function.endswith("comp>") and not function.endswith("<genexpr>"):
            self.functions[name[len(self._package) :].lstrip("/"), function] += 1
        self.changes += name != self._last
        self._last = name

    def figures(self) -> dict[str, int]:
        """Functions, files, calls, and changes of file."""
        files, calls = {name for name, _ in self.functions}, self.functions.total()
        return {
            "functions": len(self.functions),
            "files": len(files),
            "calls": calls,
            "file_changes": self.changes,
        }


def traced(checkout: Path) -> dict[str, Any]:
    """The figures of a checkout; only in a process of its own."""
    sliders = use_package_of(checkout)
    from sliders.llm.testing import FunctionModel

    for module in pkgutil.walk_packages(sliders.__path__, "sliders."):
        if module.name.rpartition(".")[2] not in _STARTED:
            importlib.import_module(module.name)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        trace, model = Trace(checkout / "sliders"), FunctionModel(_reply, context_tokens=128_000)
        threading.setprofile(trace)
        sys.setprofile(trace)
        try:
            with sliders.Workspace(Path(folder, "workspace.db"), model=model) as workspace:
                workspace.add(folder)
                answer = workspace.ask(QUESTION)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return {"value": answer.value, "status": answer.status, **trace.figures()}


def _reply(request: Any) -> Any:
    """What a reader of the three files says, by the shape of the reply that is asked for."""
    shape = request.json_schema or (
        request.reply.model_json_schema() if request.reply is not None else {}
    )
    asked, prompt = set(shape.get("properties", {})), request.messages[-1].content
    if "tables" in asked:
        cost = {
            "name": "cost",
            "type": "number",
            "unit": "euros",
            "description": "the cost in euros",
        }
        table = {"name": "costs", "row": "a report", "grain": "document", "columns": [cost]}
        return {
            "tables": [table],
            "needs": [{"question": 1, "columns": ["costs.cost"]}],
            "not_covered": [],
        }
    if "rows" in asked:
        number = next(text.split()[3] for text in FILES.values() if text in prompt)
        return {
            "rows": [
                {"table": "costs", "cells": {"cost": {"value": int(number), "words": [number]}}}
            ]
        }
    if "sql" in asked:
        return {"action": "answer", "sql": "SELECT SUM(cost) FROM costs", "reason": ""}
    return {name: [] for name in asked}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 when the question was answered."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trace", description=__doc__)
    add_options(parser)
    args = parser.parse_args(argv)
    (figures,) = lines_of("benchmarks.trace", args.sliders.resolve(), ["--traced"])
    print(", ".join(f"{name} {figure}" for name, figure in figures.items()))
    if args.store:
        store("trace", args.store, figures)
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    return 0 if figures["value"] == 50 else 1


if __name__ == "__main__":
    if sys.argv[2:] == ["--traced"]:
        print(json.dumps(traced(Path(sys.argv[1]))))
    else:
        raise SystemExit(main())
