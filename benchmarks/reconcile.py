"""Scale of reconciliation: synthetic rows, 30% entities, 5% variant names, 3% of the
entities with a conflict.

    python -m benchmarks.reconcile [--rows 1000000] [--json FILE]
    python -m benchmarks.reconcile --on-off WORKSPACE ... [--model NAME --base-url URL]
        [--suites DIR] [--json FILE]

The model is a double that always chooses the first candidate, so the figures are those of the
code alone. Every size up to `--rows` is measured in a process of its own, and the slope of the
seconds is told beside that of n log n.

`--on-off` answers each suite's questions from the tables of one extracted workspace, as reconciled
and as extracted; see `benchmarks.reconcile_effect`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.growth import exponent
from benchmarks.reconcile_effect import add_options, compare
from sliders.llm import FULL, Request, Response
from sliders.reconcile import DocumentSource, MemoryRelation, Options, reconcile_table
from sliders.schema import Column, Table
from sliders.values import ColumnType

_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el", "or")]
_GROUP = re.compile(r"^Group (\d+), (\w+).*?in question: ([^\n]+)\s+row_id (\S+):", re.MULTILINE)
_FORMS = (", Inc.", " Ltd", " LLC", " GmbH")
_OPERATIONS = {"conflict": "resolve_conflict", "names": "canonicalize"}
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
_CITIES = (
    "Arlen",
    "Brook",
    "Corby",
    "Dunmore",
    "Elgin",
    "Fairton",
    "Granby",
    "Holt",
    "Ironton",
    "Jasper",
)
TABLE = Table(
    "company",
    (
        Column("name"),
        Column("city"),
        Column("founded", ColumnType.INTEGER),
        Column("employees", ColumnType.NUMBER),
        Column("ticker"),
    ),
    row="one company",
    key=("name",),
    key_scope="collection",
)


class FirstChoice:
    """A model double: the first row of every contradiction holds, names that it is asked about are
    the first one's, and no two records are one.
    """

    name = "double"
    context_tokens = 32768
    dialect = FULL

    def __init__(self) -> None:
        self.calls = 0

    def count_tokens(self, text: str) -> int:
        """Four characters a token."""
        return len(text) // 4

    async def generate(self, request: Request) -> Response:
        """Answer at once."""
        self.calls += 1
        text = request.messages[-1].content
        repairs = []
        for number, kind, open_, row in _GROUP.findall(text):
            copied = [
                f'UPDATE rows SET "{c}" = (SELECT "{c}" FROM rows WHERE row_id = \'{row}\')'
                for c in open_.split(", ")
            ]
            repairs += [
                {
                    "group": int(number),
                    "operation": _OPERATIONS.get(kind, "apart"),
                    "column": column,
                    "statements": [sql],
                    "reason": "first",
                }
                for column, sql in zip(open_.split(", "), copied, strict=True)
            ]
        data: dict[str, Any] = {"looks": [], "repairs": repairs}
        if "key" in (request.json_schema or {}).get("properties", {}):
            stands = re.search(r"key as first thought of: ([^\n]*)", text)
            data = {
                "key": stands[1].split(", ") if stands else [],
                "scope": "collection",
                "reason": "as it stands",
            }
        return Response(json.dumps(data), data)


def synthetic(rows: int, seed: int = 1) -> MemoryRelation:
    """`rows` rows of 0.3 * `rows` companies over documents of 50 rows, in random order,
    each column 10% empty.
    """
    rng = random.Random(seed)
    entities = max(1, rows * 3 // 10)
    names = [_name(rng) + f" {_name(rng)}" for _ in range(entities)]
    facts = [
        (rng.choice(_CITIES), rng.randint(1850, 2024), float(rng.randint(5, 90000)))
        for _ in range(entities)
    ]
    contradicted = set(rng.sample(range(entities), entities * 3 // 100))
    columns: dict[str, list[Any]] = {name: [] for name in TABLE.column_names}
    order = list(range(entities)) + [rng.randrange(entities) for _ in range(rows - entities)]
    rng.shuffle(order)
    for entity in order:
        city, founded, employees = facts[entity]
        name = names[entity]
        if rng.random() < 0.05:
            name = rng.choice(
                (name.upper(), name + _FORMS[entity % len(_FORMS)], name.replace(" ", "  "))
            )
        if entity in contradicted and rng.random() < 0.5:
            employees += 1.0
        values = (name, city, founded, employees, name.upper()[:3] + str(entity))
        columns["name"].append(name)
        for column, value in zip(TABLE.column_names[1:], values[1:], strict=True):
            columns[column].append(None if rng.random() < 0.1 else value)
    documents = [f"d{i // 50}" for i in range(rows)]
    known = {
        d: DocumentSource(d, f"{d}.txt", position=n) for n, d in enumerate(dict.fromkeys(documents))
    }
    return MemoryRelation(columns, None, documents, None, known)


def _name(rng: random.Random) -> str:
    return "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(3, 4))).capitalize()


def peak_mb() -> float:
    """Peak resident memory of this process in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 if sys.platform != "darwin" else peak / 1024**2


def measure(rows: int) -> dict[str, float]:
    """Seconds, peak memory, calls and conflict groups for one size."""
    relation = synthetic(rows)
    model = FirstChoice()
    start = time.perf_counter()
    result = asyncio.run(reconcile_table(TABLE, relation, Options(), model))
    return {
        "rows": rows,
        "seconds": round(time.perf_counter() - start, 2),
        "peak_mb": round(peak_mb(), 1),
        "calls": model.calls,
        "conflict_groups": result.conflict_groups,
        "output_rows": result.rows,
        "open_conflicts": len(result.conflicts),
    }


def _apart(rows: int) -> dict[str, float]:
    """`measure` in a process of its own, so that its peak of memory is that of this size."""
    command = [sys.executable, "-m", "benchmarks.reconcile", "--rows", str(rows), "--alone"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    figures: dict[str, float] = json.loads(said)
    return figures


def growth(rows: int) -> dict[str, float]:
    """Figures of `rows` rows, and of every smaller size as `growth.<rows>.<figure>`, flat.

    `growth.exponent` is the slope of log seconds on log rows;
    `growth.exponent_n_log_n` what n log n has there.
    """
    sizes = [*(size for size in SIZES if size < rows), rows]
    measured = []
    for size in sizes:
        measured.append(_apart(size))
        print(" ".join(f"{name} {value:,}" for name, value in measured[-1].items()), flush=True)
    figures = dict(measured[-1])
    for one in measured:
        figures |= {
            f"growth.{one['rows']}.{name}": value for name, value in one.items() if name != "rows"
        }
    if len(measured) > 1:
        slopes = exponent(sizes, [one["seconds"] for one in measured])
        figures |= {"growth.exponent": slopes[0], "growth.exponent_n_log_n": slopes[1]}
    return figures


def main() -> None:
    """Print the figures of one size, and write them where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rows", type=int, default=300_000, help="the largest size (default 300000)"
    )
    parser.add_argument("--alone", action="store_true", help="this size only, in this process")
    parser.add_argument("--json", type=Path)
    add_options(parser)
    given = parser.parse_args()
    if given.on_off and not given.suites.is_dir():
        parser.error(f"no folder {given.suites}; --suites names the one that holds the suites")
    if given.on_off:
        figures = compare(given)
    else:
        figures = measure(given.rows) if given.alone else growth(given.rows)
    print(json.dumps(figures, indent=1))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
