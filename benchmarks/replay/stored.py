"""The stored hashes: a line a run, so that a difference of two versions of the file names the
runs that changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.checkout import ROOT

STORED = ROOT / "benchmarks" / "stored" / "requests.json"


def known_hashes(path: Path = STORED) -> dict[str, list[str]]:
    """Hashes by run; none before the first recording."""
    if not path.exists():
        return {}
    return {
        run: hashes.split() for run, hashes in json.loads(path.read_text(encoding="utf-8")).items()
    }


def store(hashes: Mapping[str, Sequence[str]], path: Path = STORED) -> None:
    """Write hashes by run."""
    lines = {run: " ".join(hashes[run]) for run in sorted(hashes)}
    path.write_text(json.dumps(lines, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
