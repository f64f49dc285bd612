"""`python -m benchmarks.economy --json FILE [--sliders PATH] [--store [NAME]]`:
calls and tokens of the perfect reader.

All questions of each set of fidelity are asked together, the schema induced. The figures before are
those that `--store` kept (`benchmarks/stored/economy.json`). Keys: calls_before, calls_now,
tokens_before, tokens_now; repeated_share, the characters of a reading prompt that stood in the
prompt before; parts_read_share, the parts of the documents that were read; documents_share, the
tokens spent by those of the documents.

`annual_reports` are whole PDF files, with a reader that answers from its prompts alone; their
figures stand beside the others, with gold_values and those that a prompt has `missed`.
`advisories` are 28 documents of the benchmark's own, with three queries of SQL over them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.checkout import add_options, lines_of, store, stored
from benchmarks.economy.queries import NAME as QUERIES
from benchmarks.economy.reports import NAME as REPORTS
from benchmarks.fidelity.__main__ import LOOK, SCORE_ONLY

_APART = (REPORTS, QUERIES)
"""The sets that do not count in the sums."""
_SUMMED = (
    "questions",
    "answered",
    "calls",
    "tokens",
    "repeated_characters",
    "compared_characters",
    "parts",
    "parts_read",
    "document_tokens",
)


def totals(sets: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The sums over sets, and the shares that follow from them."""
    summed: dict[str, Any] = {name: sum(one[name] for one in sets) for name in _SUMMED}
    for name in ("calls_by_stage", "prompt_tokens_by_stage", "reply_tokens_by_stage"):
        stages = sorted({stage for one in sets for stage in one[name]})
        summed[name] = {stage: sum(one[name].get(stage, 0) for one in sets) for stage in stages}
    shares = (
        ("repeated_share", "repeated_characters", "compared_characters"),
        ("parts_read_share", "parts_read", "parts"),
        ("documents_share", "tokens", "document_tokens"),
    )
    return summed | {
        share: round(summed[part] / max(1, summed[whole]), 4) for share, part, whole in shares
    }


def _tell(one: Mapping[str, Any]) -> None:
    """Print the costs of a set."""
    spent = f"{one['calls']} calls, {one['tokens']} tokens"
    print(f"{one['set']}: {spent} for {one['document_tokens']} of documents", flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 when every set was asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.economy", description=__doc__)
    add_options(parser)
    parser.add_argument(
        "--evals", type=Path, default=Path("../shared/evals"), help="folder of the evaluation sets"
    )
    parser.add_argument(
        "--sets", default=",".join((*LOOK, *SCORE_ONLY, *_APART)), help="names, with commas"
    )
    args = parser.parse_args(argv)
    names = args.sets.split(",")
    sets = []
    for one in lines_of(
        "benchmarks.economy.child", args.sliders.resolve(), [str(args.evals.resolve()), *names]
    ):
        sets.append(one)
        _tell(one)
    if args.store:
        store("economy", args.store, sets)
    now = totals([one for one in sets if one["set"] not in _APART])
    before = [one for one in stored("economy") or sets if one["set"] in names]
    earlier = totals([one for one in before if one["set"] not in _APART])
    figures = {
        "calls_before": earlier["calls"],
        "calls_now": now["calls"],
        "tokens_before": earlier["tokens"],
        "tokens_now": now["tokens"],
        **now,
        "sets": sets,
        **{one["set"]: totals([one]) | one for one in sets if one["set"] in _APART},
    }
    print(
        f"calls {earlier['calls']} -> {now['calls']}, tokens {earlier['tokens']} -> "
        f"{now['tokens']}, repeated {now['repeated_share']:.0%}, parts read "
        f"{now['parts_read_share']:.0%}, tokens by documents' {now['documents_share']}"
    )
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1, ensure_ascii=False), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
