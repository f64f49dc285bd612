"""Which tests could notice a fault: those in which its expression has another value.

In a copy of the package each expression of a fault is worked out both ways; the value of the right
one is used, and a test in which the two differ is written down.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from benchmarks.faults_places import Fault, FaultNotFound, Package, Place

T = TypeVar("T")
CONTEXT = "FAULTS_CONTEXT"
"""Variable of the environment that tells processes started by a test which test that is."""
FILE = "FAULTS_WATCHED"
_written: set[tuple[str, str]] = set()


def watch(folder: Path, faults: Sequence[Fault]) -> list[str]:
    """Rewrite a package so that its faults are watched; the names of those that are.

    A fault that acts, beside having a value, is left as it is, and so is one without a place.
    """
    package, by_file = Package(folder), defaultdict[Path, list[tuple[Place, Fault]]](list)
    for fault in faults:
        try:
            place = package.place(fault)
        except FaultNotFound:
            continue
        if not fault.acts:
            by_file[place.path].append((place, fault))
    for path, placed in by_file.items():
        text = path.read_text(encoding="utf-8")
        for place, fault in sorted(placed, key=lambda one: one[0].start, reverse=True):
            before = text[place.start : place.end]
            called = f"__import__({__name__!r}, fromlist=['noted']).noted"
            both = f"{called}({fault.name!r}, ({before}), lambda: ({fault.after}))"
            text = text[: place.start] + both + text[place.end :]
        path.write_text(text, encoding="utf-8")
    return [fault.name for placed in by_file.values() for _, fault in placed]


def noted(name: str, value: T, faulty: Callable[[], object]) -> T:
    """The value of an expression; the test that runs is written down where the faulty one has
    another value, or has none.
    """
    file, context = os.environ.get(FILE), os.environ.get(CONTEXT, "")
    if file and (name, context) not in _written and _differs(value, faulty):
        _written.add((name, context))
        with open(file, "a", encoding="utf-8") as lines:
            lines.write(json.dumps([name, context]) + "\n")
    return value


def _differs(value: object, faulty: Callable[[], object]) -> bool:
    try:
        other = bool(faulty()) if isinstance(value, bool) else faulty()
        same = value == other
        whole = same.all() if hasattr(same, "all") else same
        return type(value) is not type(other) or not bool(whole)
    except Exception:  # noqa: BLE001 whatever a fault raises, a test can notice
        return True
