"""A plugin of Datasette: it serves a workspace's audit pages, and links every value of a data table
to its words in the document.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import datasette as package
from datasette import hookimpl
from datasette.utils import tilde_decode, tilde_encode
from datasette.utils.asgi import Base400, NotFound, Response
from datasette.views.base import DatasetteError
from markupsafe import Markup

from sliders.audit.page.addresses import RUN
from sliders.audit.page.door import App, Door, Scope, Send
from sliders.audit.page.page import hash_of, page_policy, render
from sliders.audit.page.page_content import AuditPage
from sliders.audit.page.run_content import collect, collect_row
from sliders.errors import StoreError
from sliders.store.catalog import Catalog
from sliders.store.database import Database

VALUE = "/-/sliders/value"
_OWN = ("document", "document_id", "row_id")
_HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
}

DOOR = "sliders_door"
"""The attribute of a Datasette that holds the address on which it listens, and its token."""


@hookimpl
def register_routes() -> list[tuple[str, Callable[..., Awaitable[Any]]]]:
    """The pages of this plugin."""
    return [
        (rf"^{RUN}(?:/(?P<number>\d+))?$", _run_page),
        (rf"^{VALUE}/(?P<table>[^/]+)/(?P<row>[^/]+)$", _value_page),
    ]


@hookimpl
def render_cell(
    row: Any, value: Any, column: str, table: str | None, datasette: Any
) -> Markup | None:
    """Returns a value of a data table as a link to its words, and the kind of a run as a link to
    its audit page; None leaves the cell to Datasette.
    """
    if not _file(datasette) or table is None or isinstance(value, bytes):
        return None
    if table == "sl_runs" and column == "kind":
        return Markup("<a href='{}/{}'>{}</a>").format(datasette.urls.path(RUN), row["id"], value)
    if (
        "row_id" not in row.keys()  # noqa: SIM118
        or column in _OWN
        or table.startswith("sl_")
        or table == "cell_absence"
    ):
        return None
    place = (
        f"{tilde_encode(table)}/{tilde_encode(str(row['row_id']))}?{urlencode({'column': column})}"
    )
    shown = Markup("<i>empty</i>") if value is None else value
    return Markup("<a href='{}/{}'>{}</a>").format(datasette.urls.path(VALUE), place, shown)


@hookimpl
def asgi_wrapper(datasette: Any) -> Callable[[App], App]:
    """Puts all pages behind the door, and adds the policy that allows only Datasette's own
    scripts.
    """
    if not _file(datasette):
        return lambda app: app
    policy = _policy().encode()

    def wrap(app: App) -> App:
        async def guarded(scope: Scope, receive: Any, send: Send) -> None:
            async def sent(message: Mapping[str, Any]) -> None:
                if message["type"] == "http.response.start":
                    headers = {
                        b"content-security-policy": policy,
                        **_HEADERS,
                        **dict(message["headers"]),
                    }
                    message = {**message, "headers": list(headers.items())}
                await send(message)

            await app(scope, receive, sent)

        async def entered(scope: Scope, receive: Any, send: Send) -> None:
            # Datasette wraps itself before it can be told where it listens.
            await Door(guarded, *getattr(datasette, DOOR, ()))(scope, receive, send)

        return entered

    return wrap


@hookimpl(hookwrapper=True)
def handle_exception(datasette: Any, request: Any, exception: Exception) -> Iterator[None]:
    """Shows a page with the reason of an error. Datasette's own handler would print a traceback
    with local variables.
    """
    outcome: Any = yield
    if _file(datasette):
        outcome.force_result([_refused(datasette, request, exception)])


async def _refused(datasette: Any, request: Any, exception: Exception) -> Any:
    told: dict[str, Any] = {
        "ok": False,
        "status": 500,
        "error": f"{type(exception).__name__}: {exception}",
        "title": None,
    }
    if isinstance(exception, Base400):
        told |= {"status": exception.status, "error": str(exception)}
    elif isinstance(exception, DatasetteError):
        message = Markup(exception.message) if exception.message_is_html else exception.message
        told |= {
            **exception.error_dict,
            "status": exception.status,
            "error": message,
            "title": exception.title,
        }
    if request.path.endswith(".json"):
        return Response.json(told, status=told["status"])
    return Response.html(
        await datasette.render_template("error.html", told, request=request), status=told["status"]
    )


def _policy() -> str:
    """The content security policy of Datasette's pages: its own files, and the scripts inside its
    templates, by their hashes.
    """
    templates = (
        path.read_text(encoding="utf-8")
        for path in (Path(package.__file__).parent / "templates").glob("*.html")
    )
    scripts = [
        script
        for template in templates
        for script in re.findall(r"<script>(.*?)</script>", template, re.DOTALL)
    ]
    said = {
        script.replace("{{ datasette_allow_facet }}", flag)
        for script in scripts
        for flag in ("true", "false")
    }
    hashes = " ".join(sorted(f"'{hash_of(script)}'" for script in said))
    return (
        f"default-src 'none'; script-src 'self' {hashes}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )


def _file(datasette: Any) -> str:
    return str((datasette.plugin_config("sliders") or {}).get("file", ""))


async def _run_page(request: Any, datasette: Any) -> Any:
    numbers = (request.url_vars.get("number"), request.args.get("against"))
    run, against = (int(number) if number and number.isdecimal() else None for number in numbers)
    return await _page(datasette, lambda catalog: collect(catalog, run, against))


async def _value_page(request: Any, datasette: Any) -> Any:
    table, row = (tilde_decode(request.url_vars[name]) for name in ("table", "row"))
    return await _page(datasette, lambda catalog: collect_row(catalog, table, row))


async def _page(datasette: Any, made: Callable[[Catalog], AuditPage]) -> Any:
    """An audit page as a response; 404 with the reason when there is none."""
    file = Path(_file(datasette))
    if not file.name:
        raise NotFound("no workspace is served here")

    def write() -> str:
        with Database(file, write=False) as database:
            catalog = Catalog(database)
            links = {
                r.name: datasette.urls.table(file.stem, r.relation)
                for r in catalog.schemas.relations()
            }
            return render(made(catalog), {**links, "": datasette.urls.database(file.stem)})

    try:
        return Response.html(
            await asyncio.to_thread(write), headers={"content-security-policy": page_policy()}
        )
    except StoreError as error:
        raise NotFound(str(error)) from error
