"""`sliders view --serve`: a workspace's file in Datasette, with its audit pages and the
words behind every value.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from sliders.audit.page.addresses import RUN
from sliders.audit.page.door import HOST, listened, token_for
from sliders.audit.page.run_content import chosen_run
from sliders.errors import SettingsError, StoreError
from sliders.store.catalog import Catalog
from sliders.store.database import Database, place_of

if TYPE_CHECKING:
    from datasette.app import Datasette

_SEEN = {"sl_runs", "sl_documents"}
_NEVER_SEEN = ("sl_calls", "sl_batches")
_ABOUT = (
    "<p><a href='{}'>The audit page of the last answer</a>: question, SQL, rows and their words. "
    "In a data table, choose a value to see its words in the document; in <a "
    "href='/{}/sl_runs'>the runs</a>, choose the kind of one to see its page.</p>"
)


def application(workspace: str | os.PathLike[str], host: str = HOST, token: str = "") -> Datasette:
    """Returns Datasette over a workspace's file. It is read-only, visitors cannot run SQL, and the
    calls to models are hidden.

    Args:
        host: the address on which it will listen.
        token: the token that visitors need; "" for none.

    Raises:
        SettingsError: Datasette is not installed.
        StoreError: there is no such workspace, or it is not a file.
    """
    try:
        from datasette.app import Datasette
        from datasette.plugins import pm

        from sliders.audit.page import datasette_pages
    except ImportError as error:
        raise SettingsError(
            "serving the audit pages needs Datasette: pip install 'sliders[serve]'"
        ) from error
    with Database(place_of(workspace), write=False) as database:
        file = _file_of(database)
        about = _about(file, database)
    if not pm.has_plugin("sliders"):
        pm.register(datasette_pages, name="sliders")
    closed = {"allow_download": False, "default_allow_sql": False}
    served = Datasette([str(file)], metadata=about, settings=closed)
    setattr(served, datasette_pages.DOOR, (host, token))
    return served


def _about(file: Path, database: Database) -> dict[str, Any]:
    """The settings of Datasette for a workspace: its title, and permissions that hide some tables
    and views.
    """
    from datasette.utils import tilde_encode

    listed = database.query("SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')")
    shown = {relation.relation for relation in Catalog(database).schemas.relations()} | _SEEN
    hidden = {
        name: {"hidden": True, "allow": kind == "table" and not name.startswith(_NEVER_SEEN)}
        for name, kind in listed
        if name not in shown
    }
    return {
        "title": f"sliders: {file.name}",
        "description_html": _ABOUT.format(RUN, tilde_encode(file.stem)),
        "plugins": {"sliders": {"file": str(file)}},
        "databases": {file.stem: {"tables": hidden}},
    }


def _file_of(database: Database) -> Path:
    """The file that Datasette opens.

    Raises:
        StoreError: the workspace is on a server, or Datasette cannot open its path.
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
    host: str = HOST,
    token: str | None = None,
) -> None:
    """Serves a workspace until it is interrupted.

    Args:
        workspace: the workspace, a file.
        run: the run whose audit page is shown; None for the last one that answered.
        against: a run to compare it with.
        port: the port to listen on.
        listening: called with the address of the run's audit page.
        host: the address to listen on. Any other than this machine's own needs a token.
        token: the token; it stands in the address of the page.

    Raises:
        SettingsError: Datasette is not installed, or the port cannot be opened.
        StoreError: there is no such workspace or run, or the workspace is no file.
    """
    asked, made = token_for(host, token)
    app = application(workspace, host, asked)
    import uvicorn

    with Database(place_of(workspace), write=False) as database:
        for number in (run, against):
            chosen_run(Catalog(database), number)
    path = "" if run is None else f"/{run}"
    query = {"against": against, "token": asked if made else None}
    told = urlencode({name: value for name, value in query.items() if value is not None})
    path += f"?{told}" if told else ""
    with listened(host, port, "--port") as taken, contextlib.suppress(KeyboardInterrupt):
        named = f"[{host}]" if ":" in host else host
        listening(f"http://{named}:{taken.getsockname()[1]}{RUN}{path}")
        uvicorn.Server(uvicorn.Config(app.app(), log_level="critical")).run(sockets=[taken])
