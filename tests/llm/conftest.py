"""A scripted server on loopback, for tests of the client."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from sliders.llm import OpenAIModel
from sliders.llm.testing import requests_allowed
from sliders.settings import Settings
from tests.fake_server import FakeServer


@pytest.fixture
def serve() -> Iterator[Callable[..., tuple[FakeServer, OpenAIModel]]]:
    """Starts a scripted server and a client of it; keyword arguments go to the settings."""
    with ExitStack() as stack:
        stack.enter_context(requests_allowed())

        def start(
            reply: Any, latency: float = 0.0, slots: int = 64, **changes: Any
        ) -> tuple[FakeServer, OpenAIModel]:
            server = stack.enter_context(FakeServer(reply, latency=latency, slots=slots))
            client_options = {k: changes.pop(k) for k in ("first_rung", "prices") if k in changes}
            settings = Settings(
                **{
                    "model": "m",
                    "base_url": server.base_url,
                    "retries": 2,
                    "timeout": 5.0,
                    **changes,
                }
            )
            return server, OpenAIModel("m", settings, **client_options)

        yield start
