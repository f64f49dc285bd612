"""Records a session of the terminal:
`python -m demo.record CAST SVG WORKSPACE` writes an asciinema file and an SVG.

Each command of `SESSION` is typed and run in a pseudo-terminal, in a folder with the sample
documents (`bridges/`) and a copy of WORKSPACE, in which the demo's questions were answered before
(`make demo` leaves it in `build/demo.db`): what is known is not asked again, so that the session is
one of minutes told in seconds. Waits are cut to `LONGEST` seconds. The SVG is drawn by termtosvg
(`pip install termtosvg`).
"""

from __future__ import annotations

import codecs
import json
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
COLUMNS, LINES = 100, 30
KEY, PAUSE, LONGEST = 0.035, 1.6, 1.2
SESSION = (
    "sliders",
    'sliders ask bridges "What is the average length of the bridges in metres?"',
    "sliders tables bridges",
    "sliders why dunmarrow.txt",
    'sliders query "SELECT document, cost FROM bridges ORDER BY cost DESC LIMIT 3"',
    "sliders runs",
)


class Recording:
    """Events of a session: seconds since its start, and what the terminal printed."""

    def __init__(self) -> None:
        self.events: list[tuple[float, str, str]] = []
        self.now = 0.0

    def print(self, text: str, after: float) -> None:
        """What is printed `after` so many seconds."""
        self.now += min(after, LONGEST)
        self.events.append((round(self.now, 3), "o", text))

    def type(self, command: str) -> None:
        """A prompt, and a command typed behind it."""
        self.print("\x1b[32m$\x1b[0m ", 0.4)
        for key in command:
            self.print(key, KEY)
        self.print("\r\n", 0.3)

    def run(self, command: str, folder: Path) -> None:
        """Run a command in a pseudo-terminal; what it prints, when it prints it."""
        leader, follower = pty.openpty()
        size = {"COLUMNS": str(COLUMNS), "LINES": str(LINES), "TERM": "xterm-256color"}
        process = subprocess.Popen(
            command,
            shell=True,
            cwd=folder,
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env=os.environ | size,
        )
        os.close(follower)
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        last = time.monotonic()
        while True:
            ready, _, _ = select.select([leader], [], [], 0.05)
            if ready:
                try:
                    text = os.read(leader, 65536)
                except OSError:  # the other side is closed
                    break
                moment = time.monotonic()
                self.print(decode(text), moment - last)
                last = moment
            elif process.poll() is not None:
                break
        os.close(leader)
        process.wait()

    def write(self, path: Path) -> None:
        """An asciinema file, version 2."""
        head = {
            "version": 2,
            "width": COLUMNS,
            "height": LINES,
            "title": "sliders",
            "env": {"TERM": "xterm-256color"},
        }
        path.write_text(
            "\n".join(json.dumps(line, ensure_ascii=False) for line in [head, *self.events]) + "\n",
            encoding="utf-8",
        )


def main(cast: str, svg: str, workspace: str) -> int:
    """Record the session, and draw it."""
    recording = Recording()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        shutil.copytree(HERE / "documents", folder / "bridges")
        for number, command in enumerate(SESSION):
            recording.type(command)
            recording.run(command, folder)
            recording.print("", PAUSE)
            if number == 0:  # the first command shows an empty folder
                shutil.copy(workspace, folder / "sliders.db")
    recording.print("\x1b[32m$\x1b[0m ", 0.4)
    recording.write(Path(cast))
    return subprocess.call(
        [sys.executable, "-m", "termtosvg", "render", cast, svg, "-t", "window_frame"]
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
