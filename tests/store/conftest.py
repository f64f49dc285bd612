from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres import new_place

from sliders.store.catalog import Catalog
from sliders.store.database import Database

from .samples import fill


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A new workspace on either engine."""
    with Database(tmp_path / "work.db" if request.param == "sqlite" else new_place()) as database:
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
