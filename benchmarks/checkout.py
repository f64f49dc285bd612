"""The package `sliders` of another checkout, measured by the benchmarks of this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def use_package_of(checkout: Path) -> Any:
    """The module `sliders` of a checkout; `benchmarks` stays that of this file. Call it first in a process of its own.

    Raises:
        SystemExit: the checkout holds no such package.
    """
    sys.path.insert(0, str(checkout))
    import sliders

    if checkout not in Path(sliders.__file__).resolve().parents:
        raise SystemExit(f"{checkout} holds no package sliders: {sliders.__file__} was found instead; give --sliders a checkout")
    sys.path[0] = str(ROOT)
    return sliders


def lines_of(module: str, checkout: Path, arguments: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The JSON lines that `python -m module CHECKOUT ARGUMENTS` prints about a checkout.

    Raises:
        RuntimeError: the process failed.
    """
    command = [sys.executable, "-m", module, str(checkout), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith("{"):
                yield json.loads(line)
    if child.returncode:
        raise RuntimeError(f"{module} stopped early, with exit code {child.returncode}: see the lines above")
