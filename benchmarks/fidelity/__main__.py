"""`python -m benchmarks.fidelity --json FILE`: what the pipeline keeps of what a
perfect reader says.

Evaluation sets (`--sets`, folders under `--evals`) and the small cases of `cases.yaml`, each
pinned, induced, induced question by question, and with its documents cut into small parts
(`split`). Documents, values and statements are shown for the sets that may be looked at; of
all others only counts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.fidelity.cases import cases
from benchmarks.fidelity.gold import World, suite_world
from benchmarks.fidelity.reader import PerfectReader
from benchmarks.fidelity.run import Tally, run
from benchmarks.suites import SuiteError

LOOK = ("restaurant_listings_e2e", "ntsb_aviation", "sec_10k_core")
SCORE_ONLY = (
    "rki_covid_daily",
    "wiki_people",
    "sroie_receipts",
    "edgar_nda_contracts",
    "nba_game_summaries",
)
SPLIT = "split"
MODES = ("pinned", "induced", "stepwise", SPLIT)


def _tally(world: World, mode: str) -> Tally:
    reader = PerfectReader(world, mode == SPLIT)
    tally = run(world, reader, mode)
    unknown = sorted(set(reader.unknown))
    return replace(tally, harm=[*(f"no reply is known for {u}" for u in unknown), *tally.harm])


def measure_cases(worlds: Sequence[World], mode: str) -> dict[str, Any]:
    """All cases in one mode: counts together, the harm of each case, and how
    many were left whole.
    """
    tallies = {world.name: _tally(world, mode) for world in worlds}
    total = sum(tallies.values(), Tally())
    whole = sum(tally.whole for tally in tallies.values())
    harm = {name: tally.harm for name, tally in tallies.items() if tally.harm}
    return {**total.as_dict(secret=True), "cases": len(worlds), "cases_whole": whole, "harm": harm}


def _line(name: str, mode: str, data: dict[str, Any]) -> str:
    told = (
        "{cells_kept} of {cells} cells kept, {cells_invented} invented, {rows_lost} of {rows} rows "
        "lost, {rows_extra} more, "
    )
    told += (
        "{sql_as_written} of {statements} statements as written, {answers_right} of "
        "{questions} answers right"
    )
    cases_ = f", {data['cases_whole']} of {data['cases']} cases whole" if "cases" in data else ""
    return f"{name} {mode}: {told.format(**data)}{cases_}" + (
        " (crashed)" if data["failures"] else ""
    )


def totals(figures: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Flat figures over all sets and modes, those of `split` apart, under their own prefix."""
    out: dict[str, Any] = {}
    for prefix in ("", f"{SPLIT}."):
        some = [
            data
            for modes in figures.values()
            for mode, data in modes.items()
            if (mode == SPLIT) == bool(prefix)
        ]
        counts = {name: sum(data[name] for data in some) for name in ("rows_lost", "rows_extra")}
        for kept, of in (("cells_kept", "cells"), ("answers_right", "questions")):
            counts[kept] = round(
                sum(data[kept] for data in some) / max(1, sum(data[of] for data in some)), 5
            )
        out |= {f"{prefix}{name}": count for name, count in counts.items()} if some else {}
    return out


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fidelity", description=__doc__)
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument(
        "--evals", type=Path, default=Path("../shared/evals"), help="folder of the evaluation sets"
    )
    parser.add_argument(
        "--sets", default=",".join((*LOOK, *SCORE_ONLY)), help="names, with commas; empty for none"
    )
    parser.add_argument("--modes", default=",".join(MODES), help=f"any of {', '.join(MODES)}")
    parser.add_argument("--case", help="only the cases whose name holds this; - for none")
    parser.add_argument(
        "--show", action="store_true", help="print what was harmed, where it may be shown"
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 when it ran, 2 when a set cannot be used."""
    args = _parser().parse_args(argv)
    figures: dict[str, Any] = {}

    def told(name: str, mode: str, data: dict[str, Any]) -> None:
        figures.setdefault(name, {})[mode] = data
        print(_line(name, mode, data), flush=True)
        if args.show:
            print(json.dumps(data.get("harm", []), indent=1, ensure_ascii=False))
        if args.json:
            args.json.write_text(
                json.dumps(totals(figures) | figures, indent=1, ensure_ascii=False),
                encoding="utf-8",
            )

    chosen = [world for world in cases() if not args.case or args.case in world.name]
    for mode in args.modes.split(",") if chosen else ():
        told("cases", mode, measure_cases(chosen, mode))
    for name in filter(None, args.sets.split(",")):
        try:
            world = suite_world(args.evals / name, name not in LOOK)
        except SuiteError as error:
            print(error, file=sys.stderr)
            return 2
        for mode in args.modes.split(","):
            started = time.perf_counter()
            tally = _tally(world, mode)
            facts = {"skipped": world.skipped, "seconds": round(time.perf_counter() - started, 1)}
            told(name, mode, tally.as_dict(world.secret) | facts)
    print(json.dumps(totals(figures)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
