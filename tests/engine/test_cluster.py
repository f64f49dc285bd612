"""The Ray executor on two local workers: equal rows, nothing lost with a worker, limits over all
of them, clear errors.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import sliders
from benchmarks.cluster import differences
from benchmarks.engine.corpus import made_up
from benchmarks.engine.server import Server
from benchmarks.engine.stages import MODEL
from sliders.documents import Fetched, SourceFile
from sliders.engine import ray_runner as cluster
from sliders.engine import ray_tasks as tasks
from sliders.engine import ray_workers as workers
from sliders.engine import silent
from sliders.errors import ModelUnavailable, SettingsError
from sliders.llm.testing import FunctionModel, requests_allowed
from sliders.progress import Progress

ray = pytest.importorskip("ray", reason="Ray is not installed (extra `cluster`)")
TABLE = {
    "name": "records",
    "row": "a record",
    "grain": "document",
    "columns": {"signed_by": "text", "signing_date": "date"},
}


@pytest.fixture(scope="module", autouse=True)
def _two_workers() -> Iterator[None]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture(autouse=True)
def _own_server() -> Iterator[None]:
    with requests_allowed():
        yield


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number, text in enumerate(made_up(30)):
        (folder / f"{number:02}.txt").write_text(text, encoding="utf-8")
    return folder


def _extract(
    path: Path, documents: Path, server: Server, report: Any = silent, **more: Any
) -> None:
    with sliders.Workspace(
        path,
        model=MODEL,
        base_url=server.base_url,
        api_key="scripted",
        concurrency=8,
        report=report,
        **more,
    ) as ws:
        ws.add(documents)
        ws.pin_schema({"tables": [TABLE]})
        assert ws.extract() == {"records": 30}


def _readers() -> list[int]:
    ours = psutil.Process().children(recursive=True)
    return [p.pid for p in ours if any(word.startswith("ray::Reader") for word in p.cmdline()[:1])]


def test_rows_are_those_of_the_default_executor_though_a_worker_is_killed(
    tmp_path: Path, documents: Path
) -> None:
    killed: list[int] = []

    def kill(progress: Progress) -> None:
        if progress.stage == "extract" and progress.done >= 5 and not killed:
            killed.extend(_readers()[:1])
            os.kill(killed[0], signal.SIGKILL)

    with Server(0.05) as server:
        _extract(tmp_path / "here.db", documents, server)
        calls = server.counts()["calls"]
        _extract(tmp_path / "there.db", documents, server, kill, executor="ray")
        assert len(killed) == 1
        again = server.counts()["calls"] - calls
        assert calls <= again <= calls + 8  # those that were under way on the lost worker
        _extract(tmp_path / "there.db", documents, server, executor="ray")
        assert server.counts()["calls"] == calls + again  # all is known
    assert differences(tmp_path / "here.db", tmp_path / "there.db") == 0


def test_what_was_paid_for_here_is_not_paid_for_there(tmp_path: Path, documents: Path) -> None:
    with Server(0.0) as server:
        path = tmp_path / "w.db"
        _extract(path, documents, server)
        calls = server.counts()["calls"]
        with sliders.Workspace(path) as ws:
            database = ws.session.catalog.database
            for table in ("sl_tasks", "sl_work", "sl_cells", "sl_rows"):
                database.execute(f"DELETE FROM {table}")
        _extract(path, documents, server, executor="ray")
        assert server.counts()["calls"] == calls


def test_an_error_of_the_model_comes_back_as_itself(tmp_path: Path, documents: Path) -> None:
    with (
        pytest.raises(ModelUnavailable, match="no model server answers"),
        sliders.Workspace(
            tmp_path / "w.db",
            model=MODEL,
            base_url="http://127.0.0.1:9/v1",
            api_key="k",
            executor="ray",
            retries=0,
        ) as ws,
    ):
        ws.add(documents)
        ws.pin_schema({"tables": [TABLE]})
        ws.extract()


def test_a_file_that_kills_its_worker_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parse(source: SourceFile, read: Fetched, *sizes: Any) -> Any:
        if read.raw == b"deadly":
            os._exit(1)
        return tasks.parse_task(source, read, *sizes)

    monkeypatch.setattr(cluster, "parse_task", parse)
    (tmp_path / "a.txt").write_text("A harmless text.")
    (tmp_path / "b.txt").write_bytes(b"deadly")
    with sliders.Workspace(tmp_path / "w.db", executor="ray") as ws:
        report = ws.add(tmp_path)
    assert len(report.new) == 1
    assert "b.txt: the worker was lost" in report.failures[0].message


def test_vectors_made_there_are_those_made_here(tmp_path: Path, documents: Path) -> None:
    vectors = []
    for executor in ("local", "ray"):
        with sliders.Workspace(tmp_path / f"{executor}.db", executor=executor) as ws:
            ws.add(sorted(documents.iterdir())[:2])
            stored = [
                ws.session.catalog.documents.get(d.id) for d in ws.session.catalog.documents.all()
            ]
            model = ws.session.models.model_for("extract")
            vectors.append(
                [
                    e.vectors.tolist()
                    for e in ws.session.runner.index(stored, ws.session.embedder, model, 64)
                ]
            )
    assert vectors[0] == vectors[1]


def test_limits_hold_over_all_workers_together() -> None:
    limits = ray.remote(num_cpus=0, max_concurrency=100)(workers.ClusterLimits).remote(4, None)
    ray.get(limits.pause.remote(0.0))  # it is up

    @ray.remote(num_cpus=1)
    def ask(limits: Any) -> int:
        async def three() -> int:
            limiter = workers.SharedLimiter(lambda: limits)
            asked = [asyncio.ensure_future(limiter.acquire(10)) for _ in range(3)]
            await asyncio.wait(asked, timeout=5)
            return sum(one.done() for one in asked)

        return asyncio.run(three())

    assert sum(ray.get([ask.remote(limits), ask.remote(limits)])) == 4


def test_a_model_object_stays_here(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="object of this process"):
        sliders.Workspace(
            tmp_path / "w.db", model=FunctionModel(lambda request: "no"), executor="ray"
        )
    assert not (tmp_path / "w.db").exists()


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9", "nobody.invalid:6379"])
def test_an_address_that_does_not_answer_is_one_line(tmp_path: Path, address: str) -> None:
    began = time.monotonic()
    with pytest.raises(SettingsError, match="no Ray cluster answers at") as told:
        sliders.Workspace(tmp_path / "w.db", executor="ray", ray_address=address)
    assert "\n" not in str(told.value)
    assert time.monotonic() - began < 60
    assert not (tmp_path / "w.db").exists()


def test_without_ray_the_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda _name: None)
    with pytest.raises(SettingsError, match=r"pip install 'sliders\[cluster\]'"):
        sliders.Workspace(tmp_path / "w.db", executor="ray")
