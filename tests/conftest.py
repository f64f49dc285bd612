"""No test reaches a network or the embedded model unless it is marked `embedded`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from sliders.llm.testing import requests_allowed

# The machines that run the suite are shared: a slow moment is not a failure.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")


@pytest.fixture(autouse=True)
def _no_requests(request: pytest.FixtureRequest) -> Iterator[None]:
    with requests_allowed(request.node.get_closest_marker("embedded") is not None):
        yield
