"""Which tests could notice a fault: one run of the suite under coverage.py, in a copy of the
checkout in which the faults are watched.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.faults_places import Place, load
from benchmarks.faults_watch import FILE, watch

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


class SuiteRun:
    """One run of the suite: made once in a folder, then read from it.

    `seconds` holds the seconds of each test, and `failed` those that fail without any fault.

    Raises:
        RuntimeError: the suite did not run to its end.
    """

    def __init__(self, checkout: Path, folder: Path) -> None:
        self._folder = folder
        if not (folder / "noted.json").is_file():
            _run_suite(checkout, folder)
        noted = _json(folder / "noted.json")
        self.seconds: dict[str, float] = noted["seconds"]
        self.failed: list[str] = noted["failed"]
        self._users: dict[str, list[str]] = noted["users"]
        self._order = _ordered(self.seconds, self._users)
        self._watched = set(_json(folder / "watched.json"))
        self._noticed: dict[str, set[str]] = defaultdict(set)
        for line in (folder / "noticed.jsonl").read_text(encoding="utf-8").splitlines():
            name, context = json.loads(line)
            self._noticed[name].add(context)
        if not (folder / "lines.json").is_file():
            _report_lines(folder)
        self.lines: dict[str, float] = _json(folder / "lines.json")

    def could_notice(self, name: str, place: Place, file: str) -> list[str]:
        """The tests that run the lines of a fault and, where it is watched, in which its expression
        has another value; the fastest first, and none that fails anyway.

        Args:
            file: the path of the place inside the checkout.
        """
        import coverage

        data = coverage.CoverageData(str(self._folder / "data" / "coverage"))
        data.read()
        contexts = data.contexts_by_lineno(str(self._folder / "checkout" / file))
        tests = self._tests({one for line in place.lines for one in contexts.get(line, ())})
        if name in self._watched:
            tests &= self._tests(self._noticed[name])
        return [test for test in self._order if test in tests.difference(self.failed)]

    def _tests(self, contexts: set[str]) -> set[str]:
        """The tests of contexts, those that share a fixture included; all of them for what runs
        while modules are imported.
        """
        if "" in contexts:
            return set(self.seconds)
        return {test for one in contexts for test in self._users.get(one, (one,))}

    def figures(self) -> dict[str, Any]:
        """What is told of the suite: its tests, and the lines of the package that they run."""
        told = {"tests": len(self.seconds), "left_out": LEFT_OUT}
        return {**told, "failed_without_a_fault": self.failed, "line_coverage": self.lines}


def copied(checkout: Path, to: Path) -> Path:
    """A fresh copy of a checkout."""
    shutil.rmtree(to, ignore_errors=True)
    return Path(shutil.copytree(checkout, to, ignore=_NOT_COPIED))


def environment(checkout: Path, **more: str) -> dict[str, str]:
    """The variables of a run of tests in a copy: nothing of the caller's own settings."""
    foreign = ("SLIDERS_", "FAULTS_", "COVERAGE_")
    own = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return {**own, "PYTHONPATH": str(checkout), **more}


def pytest_command(folder: Path, *arguments: str) -> list[str]:
    """Pytest with the plugin; files of tests go under `folder`."""
    own = ["-q", "-p", PLUGIN, "-p", "no:cacheprovider", f"--basetemp={folder / 'tmp'}"]
    return [sys.executable, "-m", "pytest", *own, *arguments]


def _json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _run_suite(checkout: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "data").mkdir(parents=True)
    place, settings = copied(checkout, folder / "checkout"), folder / "coverage.rc"
    noted, noticed = folder / "noted.json", folder / "noticed.jsonl"
    settings.write_text(_SETTINGS.format(checkout=place, folder=folder), encoding="utf-8")
    watched = watch(place / "sliders", load())
    (folder / "watched.json").write_text(json.dumps(watched), encoding="utf-8")
    noticed.write_text("", encoding="utf-8")
    files = {"COVERAGE_PROCESS_START": settings, "FAULTS_RECORD": noted, FILE: noticed}
    with (folder / "log.txt").open("w", encoding="utf-8") as log:
        subprocess.run(
            pytest_command(folder, "-m", f"not {LEFT_OUT}"),
            cwd=place,
            env=environment(place, **{name: str(file) for name, file in files.items()}),
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if not noted.is_file():
        raise RuntimeError(f"the suite did not run to its end: see {folder / 'log.txt'}")


def _report_lines(folder: Path) -> None:
    """Join what the processes of the run wrote down, and count the lines of the package."""
    import coverage

    report = folder / "report.json"
    measured = coverage.Coverage(config_file=str(folder / "coverage.rc"))
    measured.combine([str(folder / "data")], keep=True)
    measured.save()
    measured.json_report(outfile=str(report))
    totals = _json(report)["totals"]
    lines = {
        "percent": round(totals["percent_covered"], 2),
        "covered": totals["covered_lines"],
        "all": totals["num_statements"],
    }
    (folder / "lines.json").write_text(json.dumps(lines), encoding="utf-8")


def _ordered(seconds: Mapping[str, float], users: Mapping[str, Sequence[str]]) -> list[str]:
    """All tests, the fastest first; those that share a fixture of their file stay together."""
    sharing = {test for fixture, tests in users.items() if ".py::" in fixture for test in tests}
    groups: dict[str, list[str]] = defaultdict(list)
    for test in seconds:
        groups[test.split("::")[0] if test in sharing else test].append(test)
    fastest = sorted(groups.values(), key=lambda tests: sum(seconds[test] for test in tests))
    return [test for tests in fastest for test in tests]
