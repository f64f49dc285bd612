"""`python -m benchmarks.files --json FILE`: each feature in each format that can hold it, `right`,
`told` (lost or there, but with a warning) or `silent` (goal 0).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.files.features import FEATURES, Feature
from benchmarks.files.makers import MAKERS, NO_SCRIPTS, TABLES_ALONE
from sliders.documents import load
from sliders.errors import DocumentError


def cells() -> Iterator[tuple[str, str, str]]:
    """(format, feature, right, told or silent)."""
    with tempfile.TemporaryDirectory() as folder:
        for suffix, (_, sets) in MAKERS.items():
            for feature in FEATURES:
                alone = len(feature.blocks) > 1 or feature.blocks[0].kind != "table"
                cannot = not feature.sets <= sets or (suffix in TABLES_ALONE and alone)
                if not cannot and not (suffix in NO_SCRIPTS and feature.name == "scripts"):
                    yield suffix, feature.name, _verdict(Path(folder), suffix, feature)


def _verdict(folder: Path, suffix: str, feature: Feature) -> str:
    path = folder / f"a.{suffix}"
    path.write_bytes(MAKERS[suffix][0](feature.blocks))
    try:
        document = load(path)
    except DocumentError:
        return "told"
    lines = document.text.split("\n")
    right = all(any(all(w in line for w in words) for line in lines) for words in feature.lines)
    right = right and not any(words in document.text for words in feature.never)
    if right and (document.warnings or not feature.told):
        return "right"
    return "told" if document.warnings else "silent"


def main() -> None:
    """Print the figures and write the matrix."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    told = parser.parse_args()
    matrix = [dict(zip(("format", "feature", "read"), cell, strict=True)) for cell in cells()]
    counts = Counter(cell["read"] for cell in matrix)
    for cell in matrix:
        if cell["read"] != "right":
            print(f"{cell['read']}: {cell['format']}, {cell['feature']}")
    print(f"{len(matrix)} cells: " + ", ".join(f"{n} {kind}" for kind, n in counts.items()))
    if told.json:
        told.json.write_text(json.dumps({"counts": counts, "cells": matrix}, indent=1) + "\n")


if __name__ == "__main__":
    main()
