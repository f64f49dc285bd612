from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sliders.store import Catalog, Database

from .samples import fill


@pytest.fixture
def database(place: str | Path) -> Iterator[Database]:
    """A new workspace on either engine."""
    with Database(place) as database:
        database.engine.make(database)
        yield database


@pytest.fixture
def sqlite_only(database: Database) -> None:
    """For what only a file can do or break."""
    if database.on_server:
        pytest.skip("about a SQLite file")


@pytest.fixture
def catalog(database: Database) -> Catalog:
    return Catalog(database)


@pytest.fixture
def filled(catalog: Catalog) -> Catalog:
    """A workspace with one document, its chunks, a schema and two extracted rows."""
    return fill(catalog)
