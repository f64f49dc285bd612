"""The whole main job against a LiteLLM proxy in front of the scripted server.

The proxy has an environment of its own, pinned in `benchmarks/systems/pins/litellm.txt`; it is
built where SLIDERS_PEERS is set, and used where it is there.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from benchmarks.environments import OUT, System, python_of
from sliders import Workspace
from sliders.llm.testing import requests_allowed
from sliders.retrieval import HashEmbedder
from tests.fake_server import FakeServer
from tests.worlds import document, served

PROXY = System("litellm", "", pins="litellm")


def python() -> Path:
    """The interpreter of the proxy's environment."""
    if given := os.environ.get("SLIDERS_LITELLM"):
        return Path(given)
    built = OUT / "environments" / PROXY.pins / "bin" / "python"
    if not built.exists() and not os.environ.get("SLIDERS_PEERS"):
        pytest.skip("the environment of the LiteLLM proxy is not built; set SLIDERS_PEERS")
    return python_of(PROXY)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[tuple[str, FakeServer]]:
    """The address of a proxy and the server behind it."""
    with FakeServer(served) as server, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        behind = {"model": "openai/behind", "api_base": server.base_url, "api_key": "inner"}
        config = {
            "model_list": [{"model_name": "reader", "litellm_params": behind}],
            "litellm_settings": {"drop_params": False, "telemetry": False},
        }
        (tmp_path / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
        command = [str(python().with_name("litellm")), "--config", "config.yaml"]
        with (tmp_path / "log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--port", str(port)],
                cwd=tmp_path,
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONPATH": "", "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
            )
        address, deadline = f"http://127.0.0.1:{port}", time.monotonic() + 120
        try:
            while not answers(f"{address}/health/liveliness"):
                assert process.poll() is None and time.monotonic() < deadline, (
                    tmp_path / "log"
                ).read_text()
                time.sleep(0.5)
            yield f"{address}/v1", server
        finally:
            process.terminate()
            process.wait()


@pytest.mark.slow
def test_a_question_is_answered_through_the_proxy(
    proxy: tuple[str, FakeServer], tmp_path: Path
) -> None:
    address, server = proxy
    with (
        requests_allowed(),
        Workspace(
            tmp_path / "ws.db",
            model="reader",
            base_url=address,
            api_key="sk-any",
            embedder=HashEmbedder(),
        ) as ws,
    ):
        for number, name in enumerate(("Anchor", "Beacon", "Crane"), 1):
            ws.add_text(document(name, cost=f"{number}0 euros"), f"{name}.txt")
        answer = ws.ask("What is the total cost?")
        problems = ws.verify()
    assert (answer.status, answer.value) == ("answered", 60)
    assert problems == [] and {body["model"] for body in server.bodies} == {"behind"}
    assert all("response_format" in body for body in server.bodies)
