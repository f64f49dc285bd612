"""The package `sliders` of another checkout, measured by the benchmarks of this one, and figures
that are kept for later.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "benchmarks" / "stored"
BEFORE = "before"


def use_package_of(checkout: Path) -> Any:
    """The module `sliders` of a checkout; `benchmarks` stays that of this file.
    Call it first in a process of its own.

    Raises:
        SystemExit: the checkout holds no such package.
    """
    sys.path.insert(0, str(checkout))
    import sliders

    if checkout not in Path(sliders.__file__).resolve().parents:
        raise SystemExit(
            f"{checkout} holds no package sliders: {sliders.__file__} was found instead; give "
            "--sliders a checkout"
        )
    sys.path[0] = str(ROOT)
    return sliders


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a benchmark of any checkout: --sliders, --json, --store."""
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument(
        "--sliders",
        type=Path,
        default=ROOT,
        help="the checkout that is measured; this one when left out",
    )
    parser.add_argument(
        "--store",
        nargs="?",
        const=BEFORE,
        metavar="NAME",
        help="keep the figures in benchmarks/stored; without a name as those before a change",
    )


def stored(benchmark: str, name: str = BEFORE, folder: Path = STORED) -> Any:
    """The figures of a benchmark that are kept under a name; None where there are none."""
    path = folder / f"{benchmark}.json"
    return json.loads(path.read_text(encoding="utf-8")).get(name) if path.exists() else None


def store(benchmark: str, name: str, figures: Any, folder: Path = STORED) -> None:
    """Keep the figures of a benchmark under a name; those under other names stay."""
    path = folder / f"{benchmark}.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(
        json.dumps(known | {name: figures}, indent=1, sort_keys=True) + "\n", encoding="utf-8"
    )


def lines_of(module: str, checkout: Path, arguments: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The JSON lines that `python -m module CHECKOUT ARGUMENTS` prints about a checkout.

    Raises:
        RuntimeError: the process failed.
    """
    command = [sys.executable, "-m", module, str(checkout), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith("{"):
                yield json.loads(line)
    if child.returncode:
        raise RuntimeError(
            f"{module} stopped early, with exit code {child.returncode}: see the lines above"
        )
