"""A run that is killed at any moment ends, on the same command, as if nothing had happened."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from sliders.store import Database
from tests.fake_server import FakeServer
from tests.worlds import document, served

KILLS = 20
DOCUMENTS = 80
QUESTION = "What is the total cost?"
# One process for all runs would be killed with them; a fork of one that has loaded all that a run
# needs starts in milliseconds.
_LAUNCHER = """
import os, sys
import sliders.cli
from sliders import Workspace
from sliders.cli import app
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1), os.dup2(null, 2)
        arguments = ["ask", "docs", sys.argv[1], "-q", "--workspace", line.strip()]
        code = sliders.cli.run([*arguments, "--concurrency", "1"])
        os._exit(code)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def _key(body: dict[str, Any]) -> str:
    return json.dumps(body, sort_keys=True)


def _table(place: str | Path) -> list[tuple[Any, ...]]:
    with Database(place, write=False) as database:
        return database.query("SELECT name, cost, document, row_id FROM things ORDER BY document")


def _paid(place: str | Path) -> int:
    """Answers that the workspace holds."""
    with Database(place, write=False) as database:
        return int(database.value("SELECT count(*) FROM sl_calls WHERE cached = 0 AND error = ''"))


def test_killed_twenty_times(places: Callable[[], str | Path], tmp_path: Path) -> None:
    whole = places()
    (tmp_path / "docs").mkdir()
    for number in range(DOCUMENTS):
        (tmp_path / "docs" / f"{number:02}.txt").write_text(
            document(f"Thing {number}", cost=f"{number + 1} euros"), encoding="utf-8"
        )
    moments = random.Random(11)
    with FakeServer(served, latency=0.01) as server:
        environment = {
            "SLIDERS_MODEL": "reader",
            "SLIDERS_BASE_URL": server.base_url,
            "SLIDERS_DOCUMENTS_PER_CALL": "2",  # kills meet shared calls, and enough calls are left
            "SLIDERS_CACHE_DIR": str(tmp_path / "cache"),
            "PYTHONPATH": ":".join(sys.path),
            "PATH": "/usr/bin:/bin",
            "HOME": str(tmp_path),
        }
        launcher = subprocess.Popen(
            [sys.executable, "-c", _LAUNCHER, QUESTION],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment,
        )
        assert launcher.stdin is not None
        assert launcher.stdout is not None

        def start(workspace: str | Path) -> int:
            assert launcher.stdin is not None
            assert launcher.stdout is not None
            launcher.stdin.write(f"{workspace}\n")
            launcher.stdin.flush()
            return int(launcher.stdout.readline())

        start(whole)
        assert launcher.stdout.readline() == "0\n"
        undisturbed, whole_calls = _table(whole), len(server.bodies)
        server.bodies.clear()

        kills = 0
        workspace = places()
        for _ in range(KILLS):
            before = len(server.bodies)
            child = start(workspace)
            # Now at a moment of the calls, now at one of the work around them.
            _wait_for(server, before + moments.randrange(0, 3))
            time.sleep(moments.random() * 0.05)
            with suppress(ProcessLookupError):  # one that was faster has ended with another code
                os.kill(child, signal.SIGKILL)
            kills += launcher.stdout.readline() == "-9\n"
        start(workspace)
        assert launcher.stdout.readline() == "0\n"
        launcher.stdin.close()
        launcher.wait(300)

    assert kills == KILLS
    assert _table(workspace) == undisturbed
    # A call whose answer had not arrived when the process died cannot be known; every answer
    # that had is never asked for again: what the server saw twice is at most the one request in
    # flight of each kill.
    seen = Counter(_key(body) for body in server.bodies)
    assert len(seen) == whole_calls
    assert sum(count - 1 for count in seen.values()) == len(server.bodies) - _paid(workspace)
    assert sum(count - 1 for count in seen.values()) <= kills


def _wait_for(server: FakeServer, calls: int) -> None:
    deadline = time.monotonic() + 60
    while len(server.bodies) < calls and time.monotonic() < deadline:
        time.sleep(0.002)
