"""The Ray executor against the default one: the same documents, the same scripted
server, the same cores.

    python -m benchmarks.cluster --evals DIR --json FILE [--tokens 4000000] [--workers 2]

Each side runs in a process of its own over a new workspace. On the Ray side one worker is killed
when a third of the chunks is read. Afterwards the two workspaces are compared row by row, and the
cost of one task to the driver is measured alone.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

import sliders
from benchmarks.engine.child import finish, start
from benchmarks.engine.corpus import files_of, made_up, unpacked
from benchmarks.engine.scale import scale
from benchmarks.store import commit, machine
from sliders.progress import Progress

_SHOWN = ("calls", "chunks", "documents", "rows", "add_s", "ask_s", "cpu_s", "peak_mb")
_TASKS = 2000


def spread(
    files: Sequence[Path], workspace: Path, workers: int = 2, kill: bool = True, **told: Any
) -> dict[str, float]:
    """The scale run on a Ray of `workers` processors, with one of them killed on the way, then the
    cost of tasks alone.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    began = time.perf_counter()
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    ready = time.perf_counter() - began
    killed: list[int] = []
    used: dict[int, float] = {}
    looked = began

    def watch(progress: Progress) -> None:
        nonlocal looked
        if time.perf_counter() - looked > 1:
            looked = time.perf_counter()
            used.update(_processor_seconds())
        if (
            kill
            and not killed
            and progress.stage == "extract"
            and progress.done * 3 > progress.total
        ):
            ours = psutil.Process().children(recursive=True)
            readers = [
                p for p in ours if any(word.startswith("ray::Reader") for word in p.cmdline()[:1])
            ]
            if readers:
                os.kill(readers[0].pid, signal.SIGKILL)
                killed.append(readers[0].pid)

    found = scale(files, workspace, executor="ray", watch=watch, **told)
    used.update(_processor_seconds())
    return {
        **found,
        "killed": float(len(killed)),
        "ray_start_s": ready,
        "cluster_cpu_s": sum(used.values()),
        **_task_cost(ray),
    }


def _processor_seconds() -> dict[int, float]:
    """What each process of the local cluster has used so far."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            found[process.pid] = sum(process.cpu_times()[:2])
    return found


def _task_cost(ray: Any) -> dict[str, float]:
    """Processor and wall milliseconds of the driver for one reading that does nothing, 64 at a
    time, with a usual payload.
    """

    class Idle:
        async def read(self, given: str) -> str:
            return given

    actor = ray.remote(num_cpus=0, max_concurrency=1000)(Idle).remote()
    payload = "word " * 2000

    async def run(tasks: int) -> None:
        left = iter(range(tasks))

        async def worker() -> None:
            for _ in left:
                await actor.read.remote(payload)

        await asyncio.gather(*(worker() for _ in range(64)))

    asyncio.run(run(64))
    processor, wall = time.process_time(), time.perf_counter()
    asyncio.run(run(_TASKS))
    return {
        "task_driver_cpu_ms": (time.process_time() - processor) / _TASKS * 1000,
        "task_ms": (time.perf_counter() - wall) / _TASKS * 1000,
    }


def differences(one: Path, other: Path) -> int:
    """Documents, chunks, cells and rows of data tables that stand in one workspace
    and not in the other.
    """
    return len(_kept(one) ^ _kept(other))


def _kept(path: Path) -> set[str]:
    """What a workspace holds, as text; the order in which it came, and the ids of calls, which name
    the server, are left out.
    """
    with sliders.Workspace(path, write=False) as ws:
        catalog = ws.session.catalog
        found = {repr(catalog.documents.get(d.id)) for d in catalog.documents.all()}
        found |= {repr(chunk) for d in catalog.documents.all() for chunk in catalog.chunks.of(d.id)}
        for table in ws.schema.tables:
            for row in catalog.extractions.rows(table.name):
                found.add(
                    repr(replace(row, cells=tuple(replace(cell, call_id="") for cell in row.cells)))
                )
        for name, frame in ws.tables.items():
            found |= {repr((name, row)) for row in frame.itertuples(index=False)}
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both sides, compare, and write flat figures."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cluster", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument(
        "--evals", type=Path, help="folder of the evaluation sets; made-up texts when left out"
    )
    parser.add_argument(
        "--tokens", type=int, default=4_000_000, help="size of the slice (characters / 4)"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--no-kill", action="store_true", help="leave the workers alone")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="cluster-") as scratch:
        found = _measured(options, Path(scratch))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    print(f"Machine: {machine()}; commit {commit()}.")
    print("\n".join(f"{name}: {value:,.4g}" for name, value in found.items()))
    return 0 if found["rows_that_differ"] == 0 else 1


def _measured(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    files = [str(path) for path in _documents(options, folder)]
    told = {"files": files, "latency": options.latency, "slots": options.slots}
    default = finish(start("scale", workspace=str(folder / "default.db"), **told))
    ray = finish(
        start(
            "cluster",
            workspace=str(folder / "ray.db"),
            workers=options.workers,
            kill=not options.no_kill,
            **told,
        )
    )
    return {
        "tokens": default["tokens"],
        "minutes_default": default["minutes"],
        "minutes_ray": ray["minutes"],
        "ratio": ray["minutes"] / default["minutes"],
        "rows_that_differ": float(differences(folder / "default.db", folder / "ray.db")),
        "driver_cpu_ms_a_call_default": default["cpu_s"] / default["calls"] * 1000,
        "driver_cpu_ms_a_call_ray": ray["cpu_s"] / ray["calls"] * 1000,
        "calls_twice": ray["calls"] - default["calls"],
        **{
            name: ray[name]
            for name in ("killed", "ray_start_s", "cluster_cpu_s", "task_driver_cpu_ms", "task_ms")
        },
        **{f"default.{name}": default[name] for name in _SHOWN},
        **{f"ray.{name}": ray[name] for name in _SHOWN},
    }


def _documents(options: argparse.Namespace, folder: Path) -> list[Path]:
    if options.evals is not None:
        return files_of(unpacked(options.evals, folder / "documents"), options.tokens)
    place = folder / "made_up"
    place.mkdir()
    for number, text in enumerate(made_up(max(2, options.tokens // 1000))):
        (place / f"record_{number:05}.txt").write_text(text, encoding="utf-8")
    return sorted(place.glob("*.txt"))


if __name__ == "__main__":
    raise SystemExit(main())
