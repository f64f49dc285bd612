"""The planner: the judged kind of a question, reading workflows, hints and
guards, filtering, routing.

    python -m benchmarks.planner [--questions 8] [--parts analyzer,...] [--model M] [--base-url URL]
        [--json FILE]

Every result is kept in `--work`; the same command goes on where it stopped.
Tokens are those of the calls, counted without any cache between arms.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.planning import filtering, hinted, kinds, mixed, reading
from benchmarks.planning.bench import Bench
from sliders.settings import Settings

_OUT = Path(__file__).parent / "out" / "planner"


def main() -> None:
    """Runs the parts that are asked for and prints the flat report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=8, help="questions of each set")
    parser.add_argument("--parts", default="analyzer,workflows,ablations,hints,filter,routing,bad")
    parser.add_argument("--model", help="a model name; the embedded one when left out")
    parser.add_argument("--base-url")
    parser.add_argument(
        "--with-extraction", action="store_true", help="routing: run extraction for every question"
    )
    parser.add_argument(
        "--work", type=Path, default=_OUT, help="where results and workspaces are kept"
    )
    parser.add_argument("--json", type=Path, help="write the flat report here")
    args = parser.parse_args()
    options: dict[str, Any] = (
        {"base_url": args.base_url, "api_key": "none"} if args.base_url else {}
    )
    bench = Bench(
        args.work, Settings.from_env(model=args.model or "local", **options), args.questions
    )
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "analyzer": lambda: kinds.compare(bench),
        "workflows": lambda: reading.compare(bench),
        "ablations": lambda: reading.ablations(bench),
        "hints": lambda: hinted.compare(bench),
        "filter": lambda: filtering.filtering(bench, 2 * args.questions),
        "routing": lambda: mixed.compare(bench, args.with_extraction),
        "bad": lambda: {"bad": mixed.bad_input(bench)},
    }
    report: dict[str, Any] = {}
    try:
        for name in args.parts.split(","):
            found = parts[name]()
            print(json.dumps({name: found}, indent=1, ensure_ascii=False), flush=True)
            report |= {k: v for k, v in found.items() if "." in k} if name != "bad" else {}
    finally:
        bench.close()
    flat = {
        name: value
        for name, value in report.items()
        if isinstance(value, int | float) or value is None
    }
    if args.json:
        args.json.write_text(json.dumps(flat, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
