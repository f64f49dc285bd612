"""A second derivation of a workspace's views, extracted tables and repairs from their sources, to
find differences.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import select

from sliders.errors import RepairError
from sliders.progress import counted
from sliders.reconcile.workbench import SYSTEM, replay
from sliders.sql.quoting import quote_identifier
from sliders.store import codec
from sliders.store.catalog import Catalog
from sliders.store.data_tables import EXTRACT, UNVERIFIED
from sliders.store.database import Database
from sliders.store.layout import CELL_ABSENCE, tables
from sliders.store.records import Relation, TableVersion


def rederived(catalog: Catalog) -> Iterator[str]:
    """Yields a sentence for each view, table or repair that differs from the result of deriving it
    again.
    """
    database = catalog.database
    if _differ(database, "SELECT * FROM cell_absence", database.sql(CELL_ABSENCE)):
        yield "view 'cell_absence' gives other rows than its own definition"
    for relation in catalog.schemas.relations():
        versions = catalog.tables.versions(relation.name)
        for version in versions:
            if version.version == relation.current_version:
                yield from _view(database, relation, version)
            if version.operation in (EXTRACT, UNVERIFIED):
                yield from _extracted(catalog, version)
            elif version.operation == "reconcile" and version.sql:
                parent = next(v for v in versions if v.version == version.parent)
                yield from _repaired(catalog, relation, parent, version)


def _differ(database: Database, left: str, right: str) -> bool:
    """True when two statements give different rows."""
    sides = ((left, right), (right, left))
    counted = (
        f"(SELECT count(*) FROM (SELECT * FROM ({one}) AS a EXCEPT SELECT * FROM ({other}) AS b) c)"
        for one, other in sides
    )
    return bool(database.value(f"SELECT {' + '.join(counted)}"))


def _view(database: Database, relation: Relation, version: TableVersion) -> Iterator[str]:
    listed = ", ".join(map(quote_identifier, (*version.columns, *SYSTEM[:3])))
    shown, made = (
        f"SELECT {listed} FROM {quote_identifier(name)}"
        for name in (relation.relation, version.relation)
    )
    if _differ(database, shown, made):
        yield f"view {relation.relation!r} does not show version {version.version} of its table"


def _extracted(catalog: Catalog, version: TableVersion) -> Iterator[str]:
    """Checks a version of extracted rows, if none of its rows, documents and columns changed
    since.
    """
    revision = select(tables.c.revision).where(tables.c.name == version.table)
    if version.revision != catalog.database.value(revision):
        return
    listed = ", ".join(map(quote_identifier, (*version.columns, *SYSTEM)))
    made = f"SELECT {listed} FROM {quote_identifier(version.relation)}"
    again = catalog.database.sql(catalog.tables.as_extracted(version))
    if _differ(catalog.database, made, f"SELECT {listed} FROM ({again}) AS again"):
        yield f"table {version.table!r}: its cells do not give version {version.version}"


def _repaired(
    catalog: Catalog, relation: Relation, parent: TableVersion, version: TableVersion
) -> Iterator[str]:
    """Runs a repair once more, over the version before it, and compares the result."""
    beside = {c.sql_name for c in version.companions}
    types = {c.sql_name: c.sql_type for c in relation.columns}
    forms = [c for c in version.companions if c.role == "canonical"]
    columns = [(name, types.get(name, "")) for name in version.columns if name not in beside]
    columns += [(form.sql_name, "TEXT") for form in forms]
    names = (*dict(columns), *SYSTEM)
    searched = [relation.sql_name(form.companion_of) for form in forms]
    place = f"table {version.table!r}, version {version.version}"
    try:
        lines = replay(columns, catalog.tables.lines(parent, names), version.sql, searched)
    except RepairError as error:
        yield f"{place}: its SQL does not run again: {error}"
        return
    again, made = (
        {line[-2]: _loaded(line) for line in some}
        for some in (lines, catalog.tables.lines(version, names))
    )
    other = [row for row in again.keys() | made.keys() if again.get(row) != made.get(row)]
    if other:
        yield (
            f"{place}: its SQL, run again over version {parent.version}, gives other values in "
            f"{counted(len(other), 'row')} ({other[0]})"
        )


def _loaded(line: tuple[Any, ...]) -> tuple[Any, ...]:
    return *line[:-1], codec.load(line[-1])
