"""No test reaches a network or the embedded model unless it is marked `embedded`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sliders.llm.testing import requests_allowed


@pytest.fixture(autouse=True)
def _no_requests(request: pytest.FixtureRequest) -> Iterator[None]:
    with requests_allowed(request.node.get_closest_marker("embedded") is not None):
        yield
