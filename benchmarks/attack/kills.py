"""Commands that are killed at any moment and given again: all is as if they had run once."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.attack.tries import Try
from benchmarks.servers.reader import DOCUMENTS, QUESTION
from benchmarks.servers.server import Server
from sliders import Workspace
from sliders.llm.testing import requests_allowed
from sliders.settings import Settings

# A fork of a process that has loaded all that a command needs starts in milliseconds.
_LAUNCHER = """
import json, os, signal, sys, time
import sliders.api, sliders.cli, pandas, sqlglot, openai, instructor, aiohttp
for line in sys.stdin:
    one = json.loads(line)
    child = os.fork()
    if child == 0:
        out = os.open(one["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1), os.dup2(os.open(one["out"] + ".err", os.O_WRONLY | os.O_CREAT), 2)
        code = sliders.cli.run(one["arguments"])
        sys.stdout.flush()
        os._exit(code)
    if one["delay"] is not None:
        time.sleep(one["delay"])
        os.kill(child, signal.SIGKILL)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
_WHERE = ["--where", "name=Beacon"]
COMMANDS: dict[str, tuple[list[str], float]] = {
    "undo": (["undo", "things"], 0.25),
    "set-value": (["set-value", "things", "cost_eur", "77", *_WHERE], 0.6),
    "split": (["split", "things", *_WHERE, "--other", "name=Crane"], 0.6),
    "add": (["add", "{new}"], 0.3),
    "ask": (["ask", "{new}", QUESTION], 1.2),
}
"""Commands, and the seconds in which most of them end."""


def tries(number: int) -> Iterator[Try]:
    """So many kills and controls; the moments are the same each time."""
    moments = random.Random(7)
    names = list(COMMANDS)
    for place in range(number):
        name = names[place % len(names)]
        if place % 3 == 0:
            yield Try(f"control: {name}", (name, None), True, 60)
        else:
            delay = moments.uniform(0.0, COMMANDS[name][1])
            yield Try(f"killed: {name}", (name, delay), "bounded", 60)


class _Bench:
    """Workspaces to kill commands in: files, or schemas of a server."""

    def __init__(self, folder: Path, address: str) -> None:
        self._folder, self._address = folder, address
        self._server = Server()
        self._server.__enter__()
        self._number = 0
        for name in ("docs", "new"):
            (folder / name).mkdir()
        for name, text in DOCUMENTS.items():
            (folder / "docs" / name).write_text(text, encoding="utf-8")
        text = DOCUMENTS["Crane.txt"].replace("Crane", "Dover")
        (folder / "new" / "Dover.txt").write_text(text, encoding="utf-8")
        self._environment = {
            **os.environ,
            "SLIDERS_MODEL": "m",
            "SLIDERS_BASE_URL": f"{self._server.address}/v1",
            "OPENAI_API_KEY": "key",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        self._launcher = self._launched()
        self._whole = folder / "whole.db"
        if not address:
            self._filled(str(self._whole))
        self._expected: dict[str, Any] = {}

    def _launched(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", _LAUNCHER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self._environment,
        )

    def _filled(self, place: str) -> None:
        chosen = Settings(model="m", base_url=f"{self._server.address}/v1", api_key="key")
        with requests_allowed(), Workspace(place, settings=chosen) as ws:
            ws.add(self._folder / "docs")
            ws.ask(QUESTION)
            for cost in (98, 99):
                ws.set_value("things", "cost_eur", cost, {"name": "Beacon"})
                ws.reconcile()

    def place(self) -> str:
        """A workspace of its own for a try."""
        self._number += 1
        if self._address:
            mark = "&" if "?" in self._address else "?"
            place = f"{self._address}{mark}schema=kill{self._number}"
            self._filled(place)
            return place
        place = str(self._folder / f"kill{self._number}.db")
        shutil.copy(self._whole, place)
        return place

    def run(self, name: str, place: str, delay: float | None) -> tuple[int, bool]:
        """Exit code of a command, and whether it said what it did."""
        out = self._folder / "out"
        out.unlink(missing_ok=True)
        arguments = [a.replace("{new}", str(self._folder / "new")) for a in COMMANDS[name][0]]
        one = {"arguments": [*arguments, "-w", place], "delay": delay, "out": str(out)}
        assert self._launcher.stdin is not None and self._launcher.stdout is not None
        self._launcher.stdin.write(json.dumps(one) + "\n")
        self._launcher.stdin.flush()
        try:
            code = int(self._launcher.stdout.readline())
        except TimeoutError:  # the next try gets a launcher of its own
            self._launcher.kill()
            self._launcher = self._launched()
            raise
        return code, bool(out.read_text("utf-8").strip()) if out.exists() else False

    def state(self, place: str) -> Any:
        """What the workspace says: rows, decisions, documents, and that it verifies."""
        with Workspace(place, write=False) as ws:
            frame = ws.tables["things"]
            rows = sorted(map(str, zip(frame["name"], frame["cost_eur"], strict=True)))
            decisions = [(one.kind, one.column, one.value) for one in ws.decisions()]
            documents = sorted(one.name for one in ws.session.catalog.documents.all())
            return rows, decisions, documents, ws.verify() == []

    def expected(self, name: str) -> Any:
        """The state after the command has run once."""
        if name not in self._expected:
            place = self.place()
            code, told = self.run(name, place, None)
            assert code == 0 and told
            self._expected[name] = self.state(place)
        return self._expected[name]


def killed(folder: Path, address: str = "") -> Callable[[Try], Any]:
    """Whether a workspace is as it should be after a command was killed, and given again unless it
    had said what it did.
    """
    bench = _Bench(folder, address)

    def act(one: Try) -> bool:
        name, delay = one.given
        wanted, place = bench.expected(name), bench.place()
        code, told = bench.run(name, place, delay)
        if not told:
            code, told = bench.run(name, place, None)
            assert code == 0 and told, f"given again it ends with {code}"
        state = bench.state(place)
        assert state == wanted, f"{state} is not {wanted}"
        return True

    return act
