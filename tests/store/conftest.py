from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sliders.store.catalog import Catalog
from sliders.store.database import Database

from .samples import fill


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "work.db") as database:
        yield database


@pytest.fixture
def catalog(database: Database) -> Catalog:
    return Catalog(database)


@pytest.fixture
def filled(catalog: Catalog) -> Catalog:
    """A workspace with one document, its chunks, a schema and two extracted rows."""
    return fill(catalog)
