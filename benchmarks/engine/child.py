"""One measurement in a process of its own, so that its memory and its core are its own:
`python -m benchmarks.engine.child`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any


def start(what: str, core: int | None = None, **told: Any) -> subprocess.Popen[str]:
    """Start a measurement; its lines of progress go to this process's standard error."""
    command = [sys.executable, "-m", "benchmarks.engine.child", what]
    here = Path(__file__).parents[2]
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=here
    )
    if core is not None:
        os.sched_setaffinity(child.pid, {core})
    assert child.stdin is not None
    child.stdin.write(
        json.dumps(told) + "\n"
    )  # thousands of file names are too long for an argument
    child.stdin.flush()
    return child


def finish(child: subprocess.Popen[str]) -> Any:
    """What the measurement found.

    Raises:
        RuntimeError: it ended without a result; its own error stands above.
    """
    said, _ = child.communicate()
    if child.returncode:
        raise RuntimeError(
            f"the measurement ended with code {child.returncode}; its error stands above"
        )
    return json.loads(said.splitlines()[-1])


def main(arguments: Sequence[str]) -> None:
    """Run the measurement that the argument names, as a line of JSON says;
    print its figures as one line of JSON.
    """
    what, told = arguments[0], json.loads(sys.stdin.readline())
    paths = {key: Path(told.pop(key)) for key in ("workspace", "folder") if key in told}
    files = [Path(name) for name in told.pop("files", ())]
    found: Any
    if what == "utilisation":
        from benchmarks.engine.utilisation import utilisation

        found = utilisation(paths["workspace"], **told)
    elif what == "stages":
        from benchmarks.engine.stages import measure_stages

        found = [asdict(stage) for stage in measure_stages(files, paths["folder"])]
    elif what == "cluster":
        from benchmarks.cluster import spread

        found = spread(files, paths["workspace"], **told)
    elif what == "scale":
        from benchmarks.engine.scale import scale

        found = scale(files, paths["workspace"], **told)
    else:
        from benchmarks.engine.scale import warm

        found = warm(paths["workspace"], **told)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
