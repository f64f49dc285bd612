"""`python -m benchmarks.starting --json FILE [--sliders PATH] [--store [NAME]]`:
processor seconds until the package is ready.

Measured are `sliders --version`, one press of the tab key in bash, `import sliders`, the same with
the class `Workspace`, and Python alone, which all of them hold.
Each figure is the median of five runs, user and system time of the child, after a run
that is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks.checkout import add_options, store

RUNS = 5
_COMMAND = "from sliders.cli import main; main()"
_TAB = {"_SLIDERS_COMPLETE": "complete_bash", "COMP_WORDS": "sliders as", "COMP_CWORD": "1"}
MEASURED: Mapping[str, tuple[Sequence[str], Mapping[str, str], str]] = {
    "version_seconds": (("-c", _COMMAND, "--version"), {}, "sliders "),
    "tab_seconds": (("-c", _COMMAND), _TAB, "ask"),
    "import_seconds": (
        ("-c", "import sliders; print(sliders.__file__)"),
        {},
        "sliders/__init__.py",
    ),
    "workspace_seconds": (
        ("-c", "from sliders import Workspace; print(Workspace)"),
        {},
        "Workspace",
    ),
    "python_seconds": (("-c", "pass"), {}, ""),
}
"""Arguments of Python, environment, and a text that must be printed, by the name of the figure."""


def seconds(
    arguments: Sequence[str], environment: Mapping[str, str], expected: str, checkout: Path
) -> float:
    """Processor seconds of one run of Python, user and system, over the package of a checkout.

    Raises:
        RuntimeError: the run failed, or printed something else.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = {**os.environ, **environment, "PYTHONPATH": str(checkout)}
    done = subprocess.run(
        [sys.executable, *arguments], env=whole, capture_output=True, text=True, cwd=checkout
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode or expected not in done.stdout:
        raise RuntimeError(
            f"python {' '.join(arguments)} ended with {done.returncode}: "
            f"{done.stderr or done.stdout}"
        )
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(checkout: Path, runs: int = RUNS) -> dict[str, float]:
    """The median of several runs for each figure."""
    figures = {}
    for name, (arguments, environment, expected) in MEASURED.items():
        seconds(arguments, environment, expected, checkout)
        spent = [seconds(arguments, environment, expected, checkout) for _ in range(runs)]
        figures[name] = round(median(spent), 3)
    return figures


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.starting", description=__doc__)
    add_options(parser)
    args = parser.parse_args(argv)
    figures = measure(args.sliders.resolve())
    print(", ".join(f"{name} {figure}" for name, figure in figures.items()))
    if args.store:
        store("starting", args.store, figures)
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
