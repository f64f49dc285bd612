"""Which tests enter which function: one run of the suite under coverage.py, in a
copy of the checkout.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.faults_places import Function, functions_of, own_nodes

PLUGIN = "benchmarks.faults_pytest"
LEFT_OUT = "embedded"
"""The mark of tests that need the file of a model."""
_NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", "venv", "__pycache__", ".*_cache", ".hypothesis", "out"
)
_SETTINGS = """[run]
source = {checkout}/sliders
data_file = {folder}/data/coverage
parallel = true
context = ${{FAULTS_CONTEXT-}}
core = ctrace
"""


@dataclass(frozen=True, slots=True)
class Entries:
    """What one run of the suite told.

    `entered` holds the tests of a function, named "file::qualified name"; `order` all tests, the
    fastest first; `failed` those that fail without any fault; `lines` the coverage of lines.
    """

    entered: dict[str, list[str]]
    order: list[str]
    seconds: dict[str, float]
    failed: list[str]
    lines: dict[str, float]

    def of(self, file: str, function: str) -> list[str]:
        """The tests that enter a function, the fastest first; none that fails anyway."""
        entering = set(self.entered.get(f"{file}::{function}", ())).difference(self.failed)
        return [test for test in self.order if test in entering]


def copied(checkout: Path, to: Path) -> Path:
    """A fresh copy of a checkout."""
    shutil.rmtree(to, ignore_errors=True)
    return Path(shutil.copytree(checkout, to, ignore=_NOT_COPIED))


def environment(checkout: Path, **more: str) -> dict[str, str]:
    """The variables of a run of tests in a copy: nothing of the caller's own
    settings of the package.
    """
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SLIDERS_", "FAULTS_", "COVERAGE_"))
    }
    return {**own, "PYTHONPATH": str(checkout), **more}


def pytest_command(folder: Path, *arguments: str) -> list[str]:
    """Pytest with the plugin; files of tests go under `folder`."""
    own = ["-q", "-p", PLUGIN, "-p", "no:cacheprovider", f"--basetemp={folder / 'tmp'}"]
    return [sys.executable, "-m", "pytest", *own, *arguments]


def entries(checkout: Path, work: Path) -> Entries:
    """The tests of a checkout by function: found once, then read from the folder `work`.

    Raises:
        RuntimeError: the suite did not run to its end.
    """
    file = work / "entries.json"
    if not file.is_file():
        folder = work / "map"
        if not (folder / "noted.json").is_file():
            _run_suite(checkout, folder)
        file.write_text(json.dumps(asdict(_read(folder))), encoding="utf-8")
    return Entries(**json.loads(file.read_text(encoding="utf-8")))


def _run_suite(checkout: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "data").mkdir(parents=True)
    place, settings, noted = (
        copied(checkout, folder / "checkout"),
        folder / "coverage.rc",
        folder / "noted.json",
    )
    settings.write_text(_SETTINGS.format(checkout=place, folder=folder), encoding="utf-8")
    variables = environment(place, COVERAGE_PROCESS_START=str(settings), FAULTS_RECORD=str(noted))
    command = pytest_command(folder, "-m", f"not {LEFT_OUT}")
    with (folder / "log.txt").open("w", encoding="utf-8") as log:
        subprocess.run(
            command, cwd=place, env=variables, stdout=log, stderr=subprocess.STDOUT, check=False
        )
    if not noted.is_file():
        raise RuntimeError(f"the suite did not run to its end: see {folder / 'log.txt'}")


def _read(folder: Path) -> Entries:
    """The entries out of what coverage.py and the plugin wrote down."""
    import coverage

    noted = json.loads((folder / "noted.json").read_text(encoding="utf-8"))
    report = folder / "lines.json"
    measured = coverage.Coverage(config_file=str(folder / "coverage.rc"))
    measured.combine([str(folder / "data")], keep=True)
    measured.save()
    measured.json_report(outfile=str(report))
    totals = json.loads(report.read_text(encoding="utf-8"))["totals"]
    lines = {
        "percent": round(totals["percent_covered"], 2),
        "covered": totals["covered_lines"],
        "all": totals["num_statements"],
    }
    data, checkout = measured.get_data(), folder / "checkout"
    entered: dict[str, list[str]] = {}
    # templates are measured, too
    for file in sorted(file for file in data.measured_files() if file.endswith(".py")):
        contexts = data.contexts_by_lineno(file)
        name = str(Path(file).relative_to(checkout))
        for function, tests in _entering(Path(file), contexts, noted["users"]):
            entered[f"{name}::{function}"] = tests
    return Entries(
        entered=entered,
        order=_ordered(noted["seconds"], noted["users"]),
        seconds=noted["seconds"],
        failed=noted["failed"],
        lines=lines,
    )


def _entering(
    path: Path, contexts: Mapping[int, Iterable[str]], users: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, list[str]]]:
    """Functions of a file with the tests that ran a line of their bodies, themselves or by a
    fixture that they share.
    """
    for name, function in functions_of(ast.parse(path.read_text(encoding="utf-8"))):
        ran = {
            context
            for line in _body_lines(function)
            for context in contexts.get(line, ())
            if context
        }
        yield name, sorted({test for context in ran for test in users.get(context, (context,))})


def _body_lines(function: Function) -> set[int]:
    """Lines that run only when the function is called; all lines of a function that is one line."""
    first = function.body[0]
    own = {node.lineno for node in own_nodes(function) if isinstance(node, ast.stmt)}
    return {line for line in own if line >= first.lineno}


def _ordered(seconds: Mapping[str, float], users: Mapping[str, Sequence[str]]) -> list[str]:
    """All tests, the fastest first; those that share a fixture of their file stay together."""
    sharing = {test for fixture, tests in users.items() if ".py::" in fixture for test in tests}
    groups: dict[str, list[str]] = defaultdict(list)
    for test in seconds:
        groups[test.split("::")[0] if test in sharing else test].append(test)
    fastest = sorted(groups.values(), key=lambda tests: sum(seconds[test] for test in tests))
    return [test for tests in fastest for test in tests]


def figures_of(known: Entries) -> dict[str, Any]:
    """What is told of the suite: its tests, and the lines of the package that they run."""
    failed = {"failed_without_a_fault": known.failed}
    return {
        "tests": len(known.seconds),
        "left_out": LEFT_OUT,
        **failed,
        "line_coverage": known.lines,
    }
