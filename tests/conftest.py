"""No test reaches a network or the embedded model unless it is marked `embedded`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from postgres import new_place

from sliders.llm.testing import requests_allowed

# The machines that run the suite are shared: a slow moment is not a failure.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")


@pytest.fixture(autouse=True)
def _no_requests(request: pytest.FixtureRequest) -> Iterator[None]:
    with requests_allowed(request.node.get_closest_marker("embedded") is not None):
        yield


Place = str | Path


@pytest.fixture(params=["sqlite", "postgresql"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Place]:
    """Gives a place for a new workspace each time: a file, and then once more on a server."""
    return (
        new_place
        if request.param == "postgresql"
        else lambda: tmp_path / f"w{len(list(tmp_path.glob('w*.db')))}.db"
    )


@pytest.fixture
def place(places: Callable[[], Place]) -> Place:
    """A place for one new workspace, on either engine."""
    return places()
