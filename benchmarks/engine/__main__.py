"""The engine's own cost, with a scripted model server in the model's place.

    python -m benchmarks.engine --evals DIR --json FILE
    python -m benchmarks.engine --evals DIR --parts c,d --tokens 1000000,4000000 --workspace DIR

Parts: (a) utilisation of parallel slots, (b) throughput of the stages, (c) scale over real
judgments, (d) a warm question on the largest workspace of (c). Each runs in processes of its own;
peak memory is the measured process's.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.engine.child import finish, start
from benchmarks.engine.corpus import files_of, made_up, unpacked
from benchmarks.engine.scale import exponent
from benchmarks.engine.stages import Throughput, figures
from benchmarks.store import commit, machine

_GOALS = {
    "utilisation": 0.95,
    "slowest_stage_calls_per_s": 50,
    "scale_36m.minutes": -40,
    "scale_36m.peak_mb": -2000,
    "scale_exponent": -1.1,
    "warm_s": -2,
}
"""What each figure must reach; a negative one is an upper limit."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the chosen parts, print them as a table, write them as flat JSON."""
    options = _options(arguments)
    with tempfile.TemporaryDirectory(prefix="engine-") as scratch:
        folder = options.workspace or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found: dict[str, float] = {}
        for part in options.parts.split(","):
            found |= _PARTS[part](options, folder)
            if options.json:
                options.json.write_text(json.dumps(found, indent=1) + "\n")
    print(markdown(found))
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.engine",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--parts", default="a,b,c,d", help="which parts, by letter")
    parser.add_argument(
        "--evals", type=Path, help="folder of the evaluation sets; parts c and d need it"
    )
    parser.add_argument(
        "--tokens", default="1000000,4000000,36800000", help="sizes of part c (characters / 4)"
    )
    parser.add_argument("--chunks", type=int, default=5000, help="chunks of part a")
    parser.add_argument(
        "--stage-tokens", type=int, default=500_000, help="text of part b for each process"
    )
    parser.add_argument("--slots", type=int, default=64, help="parallel calls")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds of a call")
    parser.add_argument(
        "--workspace",
        type=Path,
        help="keep the workspaces and the unpacked documents in this folder",
    )
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args(arguments)
    wrong = [part for part in options.parts.split(",") if part not in _PARTS]
    if wrong:
        parser.error(f"there is no part {wrong[0]!r}; choose of {', '.join(_PARTS)}")
    if options.evals is None and {"c", "d"} & set(options.parts.split(",")):
        parser.error("parts c and d need --evals DIR")
    return options


def _utilisation(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    path = _fresh(folder / "utilisation.db")
    told = {
        "workspace": str(path),
        "chunks": options.chunks,
        "slots": options.slots,
        "latency": options.latency,
    }
    return dict(finish(start("utilisation", **told)))


def _stages(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    """One process on one core, then two at once on two, over different documents."""
    files = _documents(options, folder, 2 * options.stage_tokens)
    halves = [files[0::2], files[1::2]]
    cores = sorted(os.sched_getaffinity(0))
    one = _measured([start("stages", cores[0], **_told(halves[0], folder, 0))])
    both = [
        start("stages", core, **_told(half, folder, n))
        for n, (core, half) in enumerate(zip(cores, halves, strict=False))
    ]
    two = _measured(both) if len(cores) > 1 else []
    return figures(one[0], two)


def _told(files: Sequence[Path], folder: Path, number: int) -> dict[str, object]:
    place = folder / f"stages_{number}"
    _fresh(place / "stages.db")
    return {"files": [str(path) for path in files], "folder": str(place)}


def _measured(children: Sequence[object]) -> list[list[Throughput]]:
    return [[Throughput(**stage) for stage in finish(child)] for child in children]  # type: ignore[arg-type]


def _documents(options: argparse.Namespace, folder: Path, tokens: int) -> list[Path]:
    """Real judgments, made-up texts where there are none."""
    if options.evals is not None:
        return files_of(unpacked(options.evals, folder / "documents"), tokens)
    place = folder / "made_up"
    place.mkdir(exist_ok=True)
    for number, text in enumerate(made_up(max(2, tokens // 1000))):
        (place / f"record_{number:05}.txt").write_text(text, encoding="utf-8")
    return sorted(place.glob("*.txt"))


def _scale(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    runs = []
    for tokens in _sizes(options):
        files = _documents(options, folder, tokens)
        path = _fresh(_scaled(folder, tokens))
        told = {
            "files": [str(f) for f in files],
            "workspace": str(path),
            "latency": options.latency,
            "slots": options.slots,
        }
        run = finish(start("scale", shown=True, **told))
        runs.append(run)
        found |= {f"scale_{_size(tokens)}.{name}": value for name, value in run.items()}
        print(
            f"{_size(tokens)}: {run['minutes']:.2f} minutes, {run['peak_mb']:.0f} MB",
            file=sys.stderr,
        )
    if len(runs) > 1:
        found["scale_exponent"] = exponent(runs)
        found["scale_exponent_cpu"] = exponent(runs, "cpu_s")
        found["scale_exponent_db"] = exponent(runs, "db_mb")
    return found


def _warm(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    """On the largest workspace that stands."""
    standing = [path for tokens in _sizes(options) if (path := _scaled(folder, tokens)).exists()]
    if not standing:
        raise SystemExit("no workspace stands; run part c with the same --workspace first")
    return dict(finish(start("warm", workspace=str(standing[-1]), slots=options.slots)))


def _sizes(options: argparse.Namespace) -> list[int]:
    return sorted(int(tokens) for tokens in options.tokens.split(","))


def _scaled(folder: Path, tokens: int) -> Path:
    return folder / f"scale_{tokens}.db"


def _size(tokens: int) -> str:
    return f"{tokens // 1_000_000}m" if tokens >= 1_000_000 else f"{tokens // 1000}k"


def _fresh(path: Path) -> Path:
    """The path, without what an earlier run left there."""
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm", f"{path.name}.lock"):
        path.with_name(name).unlink(missing_ok=True)
    return path


_PARTS = {"a": _utilisation, "b": _stages, "c": _scale, "d": _warm}


def markdown(found: dict[str, float]) -> str:
    """The figures as a table, the goals beside those that have one."""
    lines = [
        f"Machine: {machine()}; commit {commit()}.",
        "",
        "| figure | value | goal | |",
        "|---|---|---|---|",
    ]
    for name, value in found.items():
        goal = _GOALS.get(name)
        told = "" if goal is None else f"at least {goal:g}" if goal > 0 else f"at most {-goal:g}"
        met = (
            ""
            if goal is None
            else "met"
            if (value >= goal if goal > 0 else value <= -goal)
            else "missed"
        )
        shown = f"{value:,.4g}" if value < 1e4 else f"{value:,.0f}"
        lines.append(f"| `{name}` | {shown} | {told} | {met} |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
