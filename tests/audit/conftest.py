"""The tests of this room share the workspaces of the store's tests."""

from tests.store.conftest import catalog, database, filled, sqlite_only

__all__ = ["catalog", "database", "filled", "sqlite_only"]
