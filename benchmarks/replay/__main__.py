"""`python -m benchmarks.replay [--record | --check] [--evals DIR]`: every request that scripted
readers are sent, as hashes.

A change that only moves code sends the same requests byte for byte. The small cases of `fidelity`
and `trust`, and with `--evals` the sets of `fidelity`, are asked in the full dialect with their own
readers and in the compact dialect with a reader that gives neutral replies; two written sets are
asked with the recorded replies of a strong reader. `--record` stores the hashes
(`benchmarks/stored/requests.json`), `--check` (what is done without either) counts those that are
new or gone and names the runs. A hash holds no text of any document.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.replay.hashes import Change, changes
from benchmarks.replay.recording import Reader
from benchmarks.replay.runs import SETS, request_hashes, runs
from benchmarks.replay.stored import known_hashes, store
from sliders import Settings
from sliders.engine import connect
from sliders.llm import Request

_REPLY_SECONDS = 3600.0


def _reader(base_url: str) -> Reader:
    """The reader behind an OpenAI-compatible server."""
    models = connect(
        Settings(
            model="reader",
            base_url=base_url,
            api_key="none",
            timeout=_REPLY_SECONDS,
            concurrency=16,
        )
    )

    async def reply(request: Request) -> str:
        async with models.connected():
            return (await models.model_for("").generate(request)).text

    return reply


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay", description=__doc__)
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--record", action="store_true", help="store the hashes of this version")
    action.add_argument(
        "--check",
        action="store_true",
        help="compare with the stored hashes (also done without this)",
    )
    parser.add_argument(
        "--evals", type=Path, help="folder of the evaluation sets, to replay them, too"
    )
    parser.add_argument("--only", default="", help="runs whose name holds this")
    parser.add_argument(
        "--reader",
        metavar="URL",
        help="a server that answers what recordings hold no reply to; with --record",
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 when no request is new or gone."""
    args = _parser().parse_args(argv)
    if args.reader and not args.record:
        _parser().error("--reader answers what is recorded anew: give --record, too")
    chosen = [
        r
        for r in runs(args.evals, _reader(args.reader) if args.reader else None)
        if args.only in r.name
    ]
    known, (now, unknown) = known_hashes(), request_hashes(chosen)
    for line in unknown:
        print(line, file=sys.stderr)
    left = {
        name: known[name]
        for name in known
        if args.only not in name or (not args.evals and name.startswith(SETS))
    }
    found = changes(known, now) + [
        Change(name, 0, len(known[name])) for name in known if name not in left and name not in now
    ]
    requests, new, gone = (
        sum(map(len, now.values())),
        sum(c.new for c in found),
        sum(c.gone for c in found),
    )
    print(f"{requests} requests of {len(now)} runs: {new} new, {gone} gone, in {len(found)} runs")
    print("".join(f"  {change}\n" for change in found), end="")
    if args.record and not unknown:
        store(left | now)
        return 0
    return int(bool(found or unknown))


if __name__ == "__main__":
    raise SystemExit(main())
