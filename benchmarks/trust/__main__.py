"""`python -m benchmarks.trust --json FILE [--sliders PATH]`: wrong numbers without a warning, and
right ones that are doubted.

Small documents with a reader whose every word is given in the case are asked through the public API
of a checkout. README.md says how a case is written.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.checkout import ROOT, lines_of
from benchmarks.trust.cases import FOLDER, CaseError, load
from benchmarks.trust.judge import passes, totals


def play(checkout: Path, cases: Path = FOLDER, only: str = "") -> Iterator[dict[str, Any]]:
    """The outcomes of cases against the package of a checkout, in a process of its own.

    Raises:
        RuntimeError: the process ended before its cases did.
    """
    yield from lines_of("benchmarks.trust.child", checkout, [str(cases), "--only", only])


def _shown(outcome: dict[str, Any]) -> str:
    mark = "ok  " if passes(outcome["control"], outcome["verdict"]) else "FAIL"
    role = "control" if outcome["control"] else "guard" if outcome["guard"] else "trap"
    unknown = f" [unknown: {'; '.join(outcome['unknown'])}]" if outcome["unknown"] else ""
    return (
        f"{mark} {outcome['verdict']:12} {role:7} {outcome['kind']}/{outcome['case']}: "
        f"{outcome['about']}{unknown}"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 when the cases were played, 2 when one cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust", description=__doc__)
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument(
        "--sliders",
        type=Path,
        default=ROOT,
        help="the checkout that is measured; this one when left out",
    )
    parser.add_argument(
        "--cases", type=Path, default=FOLDER, help="a folder of case files, or one file"
    )
    parser.add_argument("--case", default="", help="only cases whose name or kind holds this")
    parser.add_argument(
        "--show",
        action="store_true",
        help="print the outcome of every case, not only those that fail",
    )
    args = parser.parse_args(argv)
    started, outcomes = time.perf_counter(), list[dict[str, Any]]()
    try:
        known = load(args.cases, args.case)
    except CaseError as error:
        print(error, file=sys.stderr)
        return 2
    for outcome in play(args.sliders.resolve(), args.cases.resolve(), args.case):
        outcomes.append(outcome)
        if args.show or not passes(outcome["control"], outcome["verdict"]):
            print(_shown(outcome), flush=True)
    figures = totals(
        [(o["case"], o["control"], o["guard"], o["kind"], o["verdict"]) for o in outcomes]
    )
    figures |= {"seconds": round(time.perf_counter() - started, 1), "outcomes": outcomes}
    told = (
        "{cases} cases, {controls} of them controls: {silent_wrong} silently wrong, "
        "{false_alarms} false alarms, "
    )
    told += "{right} right, {warned} warned, {unnamed} without the name asked for, "
    told += "{extra_calls} with too many calls, {crashed} crashed; "
    told += "{passed} pass, {guards_failed} of {guards} guards do not; {seconds} s"
    print(told.format(**figures))
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1, ensure_ascii=False), encoding="utf-8")
    return 0 if len(outcomes) == len(known) else 2


if __name__ == "__main__":
    raise SystemExit(main())
