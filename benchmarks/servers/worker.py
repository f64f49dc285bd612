"""Runs the command line of a checkout, each command in a process of its own that has what it needs
loaded: `python -m benchmarks.servers.worker CHECKOUT`, a command in JSON a line.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from benchmarks.checkout import use_package_of

_LOADED = ("openai", "instructor", "pandas", "sqlglot", "sqlite_utils", "aiohttp", "typer")
_LONGEST = 60.0
"""Seconds that a command may take."""


def main() -> None:
    """Run the commands that come by standard input; print how each ended."""
    use_package_of(Path(sys.argv[1]).resolve())
    for name in (*_LOADED, "sliders.api"):
        importlib.import_module(name)
    for line in sys.stdin:
        print(json.dumps(_ended(json.loads(line))), flush=True)


def _ended(command: dict[str, Any]) -> dict[str, Any]:
    """Exit code (None: killed after a minute) and output of a command."""
    folder = Path(command["folder"])
    child = os.fork()
    if child == 0:
        _run(command, folder)
    deadline, code = time.monotonic() + _LONGEST, None
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            break
        time.sleep(0.02)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
    said = {name: (folder / name).read_text(errors="replace") for name in ("out", "err")}
    return {"code": code, **said}


def _run(command: dict[str, Any], folder: Path) -> None:
    """Be the command."""
    os.chdir(folder)
    for name, number in (("out", 1), ("err", 2)):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.environ.update(command["environment"])
    sys.argv = ["sliders", *command["arguments"]]
    code = 0
    try:
        runpy.run_module("sliders", run_name="__main__")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001 - a benchmark counts what escapes
        traceback.print_exc()
        code = 70
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
