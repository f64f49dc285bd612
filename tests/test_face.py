"""The public face of the package is that of tests/face.json."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.face import ROOT, STORED, differences


def test_the_face_is_the_stored_one() -> None:
    # A process of its own: the face is that of a fresh start, whatever other tests have set.
    command = [sys.executable, "-m", "tests.face", "--print"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=300
    )
    assert done.returncode == 0, done.stderr
    changed = differences(json.loads(STORED.read_text(encoding="utf-8")), json.loads(done.stdout))
    advice = (
        "each of these is a line of CHANGELOG.md; then write tests/face.json anew with: "
        "python -m tests.face"
    )
    assert not changed, "\n".join(["the public face differs:", *changed, advice])


def test_a_difference_is_named_with_its_place() -> None:
    before = {
        "command": {"sliders ask": ["option --json: bool", "option --open: bool"]},
        "exit code when": {"no command": 0},
    }
    today = {
        "command": {"sliders ask": ["option --json: bool"], "sliders tell": []},
        "exit code when": {"no command": 2},
    }
    assert differences(before, before) == []
    assert differences(before, today) == [
        "gone: command sliders ask: option --open: bool",
        "new:  command sliders tell: (nothing)",
        "gone: exit code when no command: 0",
        "new:  exit code when no command: 2",
    ]
