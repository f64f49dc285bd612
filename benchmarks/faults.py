"""`python -m benchmarks.faults --json FILE [--only NAMES] [--jobs N] [--work DIR]`:
how many planted faults the tests catch.

Each fault of `faults.yaml` is put into a copy of the checkout; it is caught when a test fails
there, or runs without end. Only tests that could notice it are run, the fastest first: those that
run its lines, and in which its expression has another value. One run of the whole suite under
coverage.py finds them. All results are kept in the folder `--work`, and the command goes on from
there.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.checkout import ROOT
from benchmarks.faults_places import Fault, FaultNotFound, Package, load
from benchmarks.faults_tests import SuiteRun, copied, environment, pytest_command

WORK = ROOT / "benchmarks" / "out" / "faults"
_MEASURED = ("sliders", "tests", "prompts", "pyproject.toml")
_START, _TIMES, _PATIENCE = 180.0, 4.0, 30.0
"""Seconds that pytest may take to start, times that tests may take of what they took before,
seconds to end in order.
"""


class Trial:
    """Tests of one fault in a copy of the checkout."""

    def __init__(self, fault: Fault, known: SuiteRun, work: Path) -> None:
        self._fault, self._known = fault, known
        self._folder, self._file = (
            work / "copies" / fault.name,
            work / "faults" / f"{fault.name}.json",
        )
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._log = self._file.with_suffix(".log")

    def outcome(self) -> dict[str, Any]:
        """What became of the fault: "caught", "missed" or "not found", with the test or the reason;
        made once, then read.
        """
        if self._file.is_file():
            return dict(json.loads(self._file.read_text(encoding="utf-8")))
        try:
            found = self._tried()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._file.write_text(json.dumps(found, indent=1), encoding="utf-8")
        return found

    def _tried(self) -> dict[str, Any]:
        checkout = copied(ROOT, self._folder / "checkout")
        try:
            place = Package(checkout / "sliders").place(self._fault)
        except FaultNotFound as error:
            return {"outcome": "not found", "by": str(error)}
        file = str(place.path.relative_to(checkout))
        tests = self._known.could_notice(self._fault.name, place, file)
        place.path.write_text(place.with_fault(self._fault.after), encoding="utf-8")
        self._log.write_text("", encoding="utf-8")
        chosen = len(tests)
        while tests:
            failing = self._first_failing(checkout, tests)
            if failing is None:
                break
            # A test that passes when it is run alone failed by chance, or by the
            # load of the machine.
            if failing not in tests or self._first_failing(checkout, [failing]) is not None:
                return {"outcome": "caught", "by": failing, "tests": chosen}
            tests.remove(failing)
        return {
            "outcome": "missed",
            "by": "" if chosen else "no test runs it or sees a difference",
            "tests": chosen,
        }

    def _first_failing(self, checkout: Path, tests: Sequence[str]) -> str | None:
        """The first of the tests that fails; another word where they hang or
        cannot be collected.
        """
        chosen = self._folder / "tests.txt"
        chosen.write_text("\n".join(tests), encoding="utf-8")
        files = dict.fromkeys(test.split("::")[0] for test in tests)
        limit = _START + _TIMES * sum(self._known.seconds[test] for test in tests)
        command = pytest_command(self._folder, "-x", *files)
        failed = chosen.with_suffix(".failed")
        failed.unlink(missing_ok=True)
        code, printed = _run(
            command, checkout, environment(checkout, FAULTS_TESTS=str(chosen)), limit
        )
        with self._log.open("a", encoding="utf-8") as log:
            log.write(printed)
        if code is None:
            return f"no end after {limit:.0f} s"
        if code in (1, 2):
            return (
                failed.read_text(encoding="utf-8")
                if failed.is_file()
                else "the tests cannot be collected"
            )
        if code != 0:
            raise RuntimeError(f"pytest ended with exit code {code}: see {self._log}")
        return None


def _run(
    command: Sequence[str], folder: Path, variables: dict[str, str], limit: float
) -> tuple[int | None, str]:
    """Exit code (None when the time was up) and what was printed; nothing that it started
    in its session stays.
    """
    with subprocess.Popen(
        command,
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as child:
        try:
            printed, _ = child.communicate(timeout=limit)
            return child.returncode, printed
        except subprocess.TimeoutExpired:
            child.send_signal(
                signal.SIGINT
            )  # pytest ends in order, and the servers of its fixtures with it
            try:
                printed, _ = child.communicate(timeout=_PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                printed, _ = child.communicate()
            return None, printed


def figures(
    faults: Sequence[Fault], outcomes: Sequence[dict[str, Any]], known: SuiteRun
) -> dict[str, Any]:
    """Counts of outcomes, in all and by room, and the names of what was not caught."""
    rooms = {fault.room: Counter[str]() for fault in faults}
    for fault, one in zip(faults, outcomes, strict=True):
        rooms[fault.room][one["outcome"]] += 1

    def names(outcome: str) -> list[str]:
        return [
            fault.name
            for fault, one in zip(faults, outcomes, strict=True)
            if one["outcome"] == outcome
        ]

    return {
        "faults": len(faults),
        "caught": len(names("caught")),
        "missed": names("missed"),
        "not_found": names("not found"),
        "by_room": {
            room: {"caught": counts["caught"], "of": counts.total()}
            for room, counts in sorted(rooms.items())
        },
        **known.figures(),
    }


def _check_work(work: Path) -> None:
    """Refuse a folder whose results are of another state of the checkout; mark a new one."""
    files = [
        path for name in _MEASURED for path in ([ROOT / name, *sorted((ROOT / name).rglob("*"))])
    ]
    state = hashlib.sha256()
    for path in files:
        if path.is_file() and path.suffix != ".pyc":
            state.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    mark = work / "state.txt"
    work.mkdir(parents=True, exist_ok=True)
    if not mark.is_file():
        mark.write_text(state.hexdigest(), encoding="utf-8")
    if mark.read_text(encoding="utf-8") != state.hexdigest():
        raise SystemExit(
            f"{work} holds results of another state of the checkout; remove it, or name another "
            "folder with --work"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 when every fault has its place."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument("--json", type=Path, required=True, help="file for the figures")
    parser.add_argument(
        "--only", default="", help="names of faults, with commas between; all when left out"
    )
    parser.add_argument(
        "--jobs", type=int, default=1, help="faults that are tried at the same time"
    )
    parser.add_argument("--work", type=Path, default=WORK, help="folder in which results are kept")
    args = parser.parse_args(argv)
    if importlib.util.find_spec("coverage") is None:
        raise SystemExit(
            "coverage.py is missing; install it into an environment of your own: pip install "
            "'coverage>=7.11'"
        )
    faults = [fault for fault in load() if not args.only or fault.name in args.only.split(",")]
    if lacking := set(filter(None, args.only.split(","))).difference(
        fault.name for fault in faults
    ):
        raise SystemExit(f"faults.yaml has no {', '.join(sorted(lacking))}")
    work = args.work.resolve()
    _check_work(work)
    known = SuiteRun(ROOT, work / "suite")

    def tried(fault: Fault) -> dict[str, Any]:
        one = Trial(fault, known, work).outcome()
        print(
            f"{one['outcome']:<10}{fault.room:<12}{fault.name}: {one['by'] or fault.shows}",
            flush=True,
        )
        return one

    with ThreadPoolExecutor(args.jobs) as pool:
        outcomes = list(pool.map(tried, faults))
    told = figures(faults, outcomes, known)
    args.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    print(
        f"{told['caught']} of {told['faults']} caught, {len(told['not_found'])} not found, "
        f"lines covered {known.lines['percent']} %"
    )
    return 1 if told["not_found"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
