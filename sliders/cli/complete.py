"""Completion with the tab key: tables, columns, runs and documents of the workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from sliders.cli.shell import DEFAULT_WORKSPACE

if TYPE_CHECKING:
    from sliders.store.catalog import Catalog


def tables(context: typer.Context, incomplete: str) -> list[str]:
    """Returns the names of the tables that begin with the typed letters."""
    return _offered(context, incomplete, _tables)


def columns(context: typer.Context, incomplete: str) -> list[str]:
    """Returns the columns of the table named in the command, or of all tables when it names
    none.
    """
    named = context.params.get("table")
    return _offered(context, incomplete, lambda catalog: _columns(catalog, named))


def wheres(context: typer.Context, incomplete: str) -> list[str]:
    """Returns the beginnings of conditions: the name of a column, or `document`, and an equals
    sign.
    """
    names = [*columns(context, ""), "document"]
    return [f"{name}=" for name in names if name.startswith(incomplete)]


def runs(context: typer.Context, incomplete: str) -> list[str]:
    """Returns the numbers of the runs that begin with the typed digits, the newest first."""
    return _offered(
        context, incomplete, lambda catalog: (str(run.id) for run in catalog.journal.runs()[::-1])
    )


def documents(context: typer.Context, incomplete: str) -> list[str]:
    """Returns the names of the documents that begin with the typed letters."""
    return _offered(
        context, incomplete, lambda catalog: (one.name for one in catalog.documents.all())
    )


def subjects(context: typer.Context, incomplete: str) -> list[str]:
    """Returns the names that `why` takes: documents, then tables."""
    return [*documents(context, incomplete), *tables(context, incomplete)]


def _tables(catalog: Catalog) -> Iterable[str]:
    schema = catalog.schemas.current()
    return () if schema is None else (table.name for table in schema.tables)


def _columns(catalog: Catalog, named: str | None) -> Iterable[str]:
    schema = catalog.schemas.current()
    known = () if schema is None else schema.tables
    of = [table for table in known if named in (None, table.name)]
    return dict.fromkeys(name for table in of for name in table.column_names)


def _offered(
    context: typer.Context, incomplete: str, listed: Callable[[Catalog], Iterable[str]]
) -> list[str]:
    from sliders.errors import SlidersError
    from sliders.store.catalog import Catalog
    from sliders.store.database import Database, place_of

    try:
        place = place_of(str(context.params.get("workspace") or DEFAULT_WORKSPACE))
        with Database(place, write=False) as database:
            return [one for one in listed(Catalog(database)) if one.startswith(incomplete)]
    except SlidersError:
        return []  # there is no workspace yet, so there is nothing to offer


TableArgument = Annotated[str, typer.Argument(help="Name of the table.", autocompletion=tables)]
ColumnArgument = Annotated[
    str, typer.Argument(help="The column that gets the value.", autocompletion=columns)
]
WhereOption = Annotated[
    list[str],
    typer.Option(
        "--where",
        metavar="COLUMN=VALUE",
        help="A value of the rows; repeatable.",
        autocompletion=wheres,
    ),
]
RunArgument = Annotated[
    int | None,
    typer.Argument(
        metavar="[RUN]",
        help="Number of a run; the last answer when left out.",
        autocompletion=runs,
    ),
]
SubjectArgument = Annotated[
    str,
    typer.Argument(
        help="A row id, a document's name, a chunk id or a table.", autocompletion=subjects
    ),
]
DocumentsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="DOC...", help="Names, ids, sources or folders.", autocompletion=documents
    ),
]
