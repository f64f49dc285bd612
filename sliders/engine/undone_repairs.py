"""Repairs that a person undid: their rows stay as extracted until a person asks for a new
reconciliation.
"""

from __future__ import annotations

from sliders.engine.session import Session
from sliders.extraction.cell import Scalar
from sliders.progress import counted
from sliders.store.records import TableVersion
from sliders.store.sql_names import SYSTEM_COLUMNS

_Repaired = tuple[str, tuple[str, ...], tuple[Scalar, ...]]
"""A row of a repaired version: its id, the extracted rows that it stands for, and its values."""


def undone_rows(session: Session, table: str) -> frozenset[str]:
    """Returns the extracted rows whose repairs a person undid; no run repairs them by itself."""
    return session.catalog.open_questions.undone(table)


def hold(session: Session, table: str, left: TableVersion, shown: TableVersion) -> None:
    """Stores an undo: the repairs that the version `left` has and the version `shown` has not are
    not made again.
    """
    gone, stay = _repaired(session, left), _repaired(session, shown)
    held = {row for one in gone - stay for row in one[1]} | undone_rows(session, table)
    held -= {row for one in stay for row in one[1]}
    session.catalog.open_questions.keep_undone(table, sorted(held))


def release(session: Session, table: str) -> int:
    """Allows the undone repairs of a table again. Returns the number of extracted rows that they
    concern.
    """
    held = undone_rows(session, table)
    if held:
        session.catalog.open_questions.keep_undone(table, ())
        session.decide(
            "reconcile",
            "table",
            "undone repairs released",
            f"{counted(len(held), 'row')} may be repaired again",
            table=table,
        )
    return len(held)


def _repaired(session: Session, version: TableVersion) -> set[_Repaired]:
    """Returns the rows of a version that differ from the extracted rows."""
    tables = session.catalog.tables
    known = {one.version: one for one in tables.versions(version.table)}
    root = version
    while root.parent is not None:
        root = known[root.parent]
    if root.version == version.version:
        return set()
    forms = {c.sql_name: c.companion_of for c in version.companions if c.role == "canonical"}
    relation = session.catalog.schemas.relation(version.table)
    names = [
        name
        for name in version.columns
        if name in root.columns and name not in {c.sql_name for c in root.companions}
    ]
    extracted = {line[-1]: line[:-1] for line in tables.lines(root, (*names, SYSTEM_COLUMNS[2]))}
    changed: set[_Repaired] = set()
    for row in tables.rows_of(version):
        values = tuple(row.values[name] for name in names)
        printed = {form: row.values.get(relation.sql_name(of)) for form, of in forms.items()}
        joined = tuple(
            row.values[form] for form in forms if row.values[form] not in (None, printed[form])
        )
        if row.sources != (row.row_id,) or values != extracted.get(row.row_id) or joined:
            changed.add((row.row_id, row.sources, (*values, *joined)))
    return changed
