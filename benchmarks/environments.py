"""Environments of the systems: each peer's own, built once from its pinned packages."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent
OUT = _HERE / "out"


class EnvironmentFailed(RuntimeError):
    """An environment could not be built; the message ends with the installer's words."""


@dataclass(frozen=True, slots=True)
class System:
    """One system: the module that runs it, the phase it is measured in, and the pin
    file of its environment.

    Without a pin file it runs in the project's own environment. `limit` (documents, questions)
    keeps a slow peer short.
    """

    name: str
    module: str
    mode: str = "cold"
    pins: str = ""
    limit: tuple[int, int | None] | None = None


_OWN = "benchmarks.systems.sliders_system"
SYSTEMS = {
    s.name: s
    for s in (
        System("sliders", _OWN, "cold"),
        System("sliders-warm", _OWN, "warm"),
        System("sliders-batch", _OWN, "batch"),
        System(
            "sliders-genie", "benchmarks.systems.sliders_genie", pins="sliders_genie", limit=(4, 1)
        ),
        System("retrieval", "benchmarks.systems.retrieval"),
        System("whole-context", "benchmarks.systems.whole_context"),
        System("chain-of-agents", "benchmarks.systems.chain_of_agents"),
        System("langextract", "benchmarks.systems.langextract_sql", pins="langextract"),
        System("lotus", "benchmarks.systems.lotus_sql", pins="lotus"),
        System("docetl", "benchmarks.systems.docetl_sql", pins="docetl"),
    )
}


def pin_file(pins: str) -> Path:
    """The committed list of exact versions."""
    return _HERE / "systems" / "pins" / f"{pins}.txt"


def versions(system: System) -> list[str]:
    """The exact versions of a peer's environment, in the order of its pin file."""
    if not system.pins:
        return []
    lines = pin_file(system.pins).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def python_of(system: System, root: Path = OUT / "environments") -> Path:
    """The interpreter of a system; builds its environment when it is missing or its pins changed.

    Raises:
        EnvironmentFailed: the packages could not be installed.
    """
    if not system.pins:
        return Path(sys.executable)
    pins, home = pin_file(system.pins), root / system.pins
    digest = hashlib.sha256(pins.read_bytes()).hexdigest()
    python, stamp = home / "bin" / "python", home / "pins.sha256"
    if python.exists() and stamp.exists() and stamp.read_text().strip() == digest:
        return python
    root.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "venv", str(home)], system.name)
    install = [str(python), "-m", "pip", "install", "--quiet", "--no-input", "--no-deps"]
    _run(
        [*install, "-r", str(pins)], system.name
    )  # the pins are the whole closure: nothing else is resolved
    stamp.write_text(digest)
    return python


def _run(command: list[str], name: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-800:]
        raise EnvironmentFailed(
            f"environment of {name}: {' '.join(command[1:5])} ended with {done.returncode}: {said}"
        )
