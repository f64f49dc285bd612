"""The kept workspaces, each as a place that can be opened and changed."""

from __future__ import annotations

import hashlib
import lzma
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from postgres import new_place

import sliders

__all__ = ["HERE", "NAMES", "READER", "SCHEMA", "address_of", "laid_out", "migrated", "new_place"]
HERE = Path(__file__).parent
NAMES = ("full", "older", "server")
SCHEMA, READER = "kept_workspace", "kept_workspace_reader"
"""What the statements call the workspace's schema, and the role that may read its tables."""


def laid_out(name: str, folder: Path) -> str:
    """A copy of a kept workspace: a file in the folder, or a schema on the server of the tests."""
    if name != "server":
        place = folder / f"{name}.db"
        place.write_bytes(lzma.decompress((HERE / f"{name}.sqlite.xz").read_bytes()))
        return str(place)
    place = new_place()
    load(place)
    return place


def migrated(name: str, folder: Path) -> str:
    """A copy that was opened for writing once, which brings it to the layout of the package."""
    place = laid_out(name, folder)
    with sliders.Workspace(place):
        return place


def load(place: str) -> None:
    """Run the statements of the kept workspace on a server, as `psql` would."""
    import psycopg

    address, schema = address_of(place)
    database = urlsplit(address).path.lstrip("/")
    reader = f"sl_{hashlib.sha256(f'{database}.{schema}'.encode()).hexdigest()[:12]}_reader"
    text = lzma.decompress((HERE / "server.sql.xz").read_bytes()).decode()
    with psycopg.connect(address, autocommit=True) as server:
        server.execute(f"CREATE ROLE {reader} NOLOGIN")
        server.execute(f"GRANT {reader} TO CURRENT_USER")
        server.execute(text.replace(READER, reader).replace(SCHEMA, schema))


def address_of(place: str) -> tuple[str, str]:
    """The server's address as its driver takes it, and the schema of a workspace."""
    parts = urlsplit(place)
    options = parse_qs(parts.query)
    (schema,) = options.pop("schema")
    rest = "&".join(f"{name}={value}" for name, (value,) in options.items())
    return parts._replace(scheme="postgresql", query=rest).geturl(), schema
