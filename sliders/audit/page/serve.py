"""`sliders view --serve`: a workspace's file in Datasette, with its audit pages and the
words behind every value.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sliders.audit.page.addresses import HOST, RUN
from sliders.audit.page.run_content import chosen_run
from sliders.errors import SettingsError, StoreError
from sliders.store.catalog import Catalog
from sliders.store.database import Database, place_of

if TYPE_CHECKING:
    from datasette.app import Datasette

_SEEN = {"sl_runs", "sl_documents"}
_ABOUT = (
    "<p><a href='{}'>The audit page of the last answer</a>: question, SQL, rows and their words. "
    "In a data table, choose a value to see its words in the document; in <a "
    "href='/{}/sl_runs'>the runs</a>, choose the kind of one to see its page.</p>"
)


def application(workspace: str | os.PathLike[str]) -> Datasette:
    """Datasette over a workspace's file, read-only.

    Raises:
        SettingsError: Datasette is not installed.
        StoreError: there is no such workspace, or it is not a file.
    """
    try:
        from datasette.app import Datasette
        from datasette.plugins import pm
        from datasette.utils import tilde_encode

        from sliders.audit.page import datasette_pages
    except ImportError as error:
        raise SettingsError(
            "serving the audit pages needs Datasette: pip install 'sliders[serve]'"
        ) from error
    with Database(place_of(workspace), write=False) as database:
        file = _file_of(database)
        listed = database.query(
            "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')"
        )
        shown = {relation.relation for relation in Catalog(database).schemas.relations()} | _SEEN
    if not pm.has_plugin("sliders"):
        pm.register(datasette_pages, name="sliders")
    # Datasette lists hidden views as well; one that is not allowed is not listed,
    # and SQL still reads it.
    hidden = {
        name: {"hidden": True, "allow": kind == "table"}
        for name, kind in listed
        if name not in shown
    }
    about = {
        "title": f"sliders: {file.name}",
        "description_html": _ABOUT.format(RUN, tilde_encode(file.stem)),
        "plugins": {"sliders": {"file": str(file)}},
        "databases": {file.stem: {"tables": hidden}},
    }
    return Datasette([str(file)], metadata=about, settings={"allow_download": False})


def _file_of(database: Database) -> Path:
    """The file that Datasette opens.

    Raises:
        StoreError: the workspace is on a server, or its path is one that Datasette does not open.
    """
    file = database.path
    if file is None:
        told = "serve its export: sliders export audit.db, then: datasette audit.db"
        raise StoreError(f"Datasette serves files, and {database.title} is on a server; {told}")
    if set(str(file)) & set("?#%"):
        raise StoreError(
            f"Datasette opens no path with ?, # or % in it: {str(file)!r}; rename it to serve it"
        )
    return file


def serve(
    workspace: str | os.PathLike[str],
    run: int | None,
    against: int | None,
    port: int,
    listening: Callable[[str], object],
) -> None:
    """Serve a workspace to this machine until it is interrupted; `listening` gets the address
    of a run's audit page.

    Raises:
        SettingsError: Datasette is not installed, or the port cannot be had.
        StoreError: there is no such workspace or run, or it is not a file.
    """
    app = application(workspace)
    import uvicorn

    with Database(place_of(workspace), write=False) as database:
        for number in (run, against):
            chosen_run(Catalog(database), number)
    try:
        taken = socket.create_server((HOST, port))
    except (OSError, OverflowError) as error:
        raise SettingsError(
            f"port {port} cannot be listened on ({error}); name another one with --port"
        ) from error
    path = ("" if run is None else f"/{run}") + ("" if against is None else f"?against={against}")
    with taken, contextlib.suppress(KeyboardInterrupt):
        listening(f"http://{HOST}:{taken.getsockname()[1]}{RUN}{path}")
        uvicorn.Server(uvicorn.Config(app.app(), log_level="critical")).run(sockets=[taken])
