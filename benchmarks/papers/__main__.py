"""`python -m benchmarks.papers NAME PATH --out DIR`: public data of a paper's benchmark
becomes a suite folder.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.papers.common import PaperDataError, Prepared, write_suite
from benchmarks.papers.finance import docfinqa, financebench, tatdqa
from benchmarks.papers.long_documents import loong, novelqa, oolong, qasper
from benchmarks.papers.multihop import hotpotqa, twowiki
from benchmarks.papers.ultra_long import finq100, quest, udabench, wikiceleb100

DRIVERS: dict[str, Callable[[Path, int | None], Prepared]] = {
    "financebench": financebench,
    "docfinqa": docfinqa,
    "tatdqa": tatdqa,
    "loong": loong,
    "oolong": oolong,
    "novelqa": novelqa,
    "qasper": qasper,
    "hotpotqa": hotpotqa,
    "2wikimultihop": twowiki,
    "wikiceleb100": wikiceleb100,
    "finq100": finq100,
    "udabench": udabench,
    "quest": quest,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Write the suite; 0, or 2 when the data is missing or not in its published form."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("name", choices=sorted(DRIVERS))
    parser.add_argument(
        "path", type=Path, help="the benchmark's file or folder as its publisher ships it"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("benchmarks/out/papers"), help="where the suite is written"
    )
    parser.add_argument("--limit", type=int, help="the first so many questions")
    args = parser.parse_args(argv)
    try:
        prepared = DRIVERS[args.name](args.path, args.limit)
        folder = write_suite(prepared, args.out)
    except PaperDataError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{folder}: {len(prepared.documents)} documents, {len(prepared.gold)} questions")
    print(f"run it: python -m benchmarks.run {folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
