"""Decisions of people over tables: values, merges, splits and versions; and the open conflicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from sliders.engine.session import Session
from sliders.engine.undone_repairs import hold
from sliders.errors import SchemaError, StoreError
from sliders.extraction.cell import Scalar
from sliders.reconcile.column_codes import comparison_form
from sliders.reconcile.human_corrections import DOCUMENT
from sliders.schema.types import Table
from sliders.store.catalog import Catalog
from sliders.store.facts import OpenConflict
from sliders.store.materialise import enters
from sliders.store.records import Correction, TableVersion
from sliders.store.traces import GONE
from sliders.values.parse import parse_value


def conflicts(session: Session, table: str | None = None) -> list[OpenConflict]:
    """Returns the open conflicts of the current tables.

    Raises:
        SchemaError: there is no such table.
    """
    named = session.schema.tables if table is None else [session.schema.table(table)]
    return [one for known in named for one in session.catalog.open_questions.conflicts(known.name)]


def correct(
    session: Session,
    kind: Literal["set_value", "merge", "split"],
    table: str,
    where: Mapping[str, Scalar],
    *,
    other: Mapping[str, Scalar] | None = None,
    column: str = "",
    value: Scalar = None,
    author: str = "",
    reason: str = "",
) -> int:
    """Stores a decision of a person, and returns its number. It is matched by values (`where`, and
    `other` for the second row) on every reconciliation, so that it holds for later rows too. When
    the last decision says the same, nothing is stored and its number is returned.

    Raises:
        SchemaError: a table or column does not exist, a value does not fit its column, no rows are
            named, or both sides of a merge or split name the same rows.
    """
    known = session.schema.table(table)
    if not where or (kind != "set_value" and not other):
        raise SchemaError(
            f"a {kind.replace('_', '-')} needs its rows: give at least one column=value"
        )
    subject: dict[str, Any] = {"where": typed_values(known, where, DOCUMENT)}
    if other:
        subject["other"] = typed_values(known, other, DOCUMENT)
        if subject["other"] == subject["where"]:
            raise SchemaError(f"a {kind} needs two different sets of rows; both sides say the same")
    new = typed_values(known, {column: value})[column] if kind == "set_value" else None
    return _kept(session, Correction(kind, table, subject, column, new, author, reason))


def _kept(session: Session, made: Correction) -> int:
    """Stores a decision, unless the last one says the same: a command that was killed is given
    again. Returns its number.
    """
    for last in session.catalog.knowledge.corrections(made.table)[-1:]:
        if replace(last, id=made.id, created=made.created) == made:
            return last.id
    with session.catalog.database.transaction():
        number = session.catalog.knowledge.correct(made)
        session.decide(
            "reconcile",
            "table",
            made.kind,
            f"correction {number} by {made.author or 'the user'}: {made.reason}",
            table=made.table,
        )
    return number


def revoke(session: Session, number: int) -> Correction:
    """Takes back a decision. It stays in the records; the next reconciliation ignores it.

    Raises:
        StoreError: no decision of that number is in force.
    """
    known = {c.id: c for c in session.catalog.knowledge.corrections()}
    session.catalog.knowledge.revoke(number)
    found = known[number]
    session.decide(
        "reconcile",
        "table",
        "revoked",
        f"correction {number} is taken back",
        table=found.table,
    )
    return found


def matching(session: Session, table: str, where: Mapping[str, Scalar]) -> int:
    """Returns the number of rows, as extracted or as shown, that have these values now."""
    known = session.schema.table(table)
    wanted = typed_values(known, where, DOCUMENT)
    let, rows = session.settings.unverified, session.catalog.extractions.rows(table)
    named = document_names(session.catalog)
    extracted = [
        {**named[row.document_id], **{c.column: c.value for c in row.cells if enters(c, let)}}
        for row in rows
    ]
    return max(holding(extracted, wanted), holding(_shown(session, table, list(wanted)), wanted))


def document_names(catalog: Catalog) -> dict[str, dict[str, Scalar]]:
    """Returns for each document id the values of the columns that every table has (document,
    document_id).
    """
    documents = catalog.documents.all(superseded=True)
    return {
        document.id: dict(zip(DOCUMENT, (document.name, document.id), strict=True))
        for document in documents
    }


def holding(rows: Iterable[Mapping[str, Scalar]], wanted: Mapping[str, Scalar]) -> int:
    """Returns the number of rows that have all of these values. Names are compared as in
    reconciliation, documents exactly.
    """
    return sum(
        all(_form(name, row.get(name)) == _form(name, value) for name, value in wanted.items())
        for row in rows
    )


def _form(name: str, value: Scalar) -> Scalar:
    return value if name in DOCUMENT else comparison_form(value)


def _shown(session: Session, table: str, names: list[str]) -> list[dict[str, Scalar]]:
    """Returns these columns of the rows in the current version of a table."""
    relation = session.catalog.schemas.relation(table)
    _, rows = session.catalog.tables.read(table, [relation.sql_name(name) for name in names])
    return [dict(zip(names, row, strict=True)) for row in rows]


def typed_values(
    table: Table, values: Mapping[str, Scalar], beside: Sequence[str] = ()
) -> dict[str, Scalar]:
    """Returns values in the types of their columns, by column. Values of columns in `beside` that
    the table itself does not have are unchanged.

    Raises:
        SchemaError: the table has no such column, or a text does not fit the type of its column.
    """
    typed: dict[str, Scalar] = {}
    for name, value in values.items():
        if name in beside and name not in table.column_names:
            typed[name] = value
            continue
        column = table.column(name)
        if isinstance(value, str):
            parsed = parse_value(value, column)
            if parsed.value is None:
                raise SchemaError(
                    f"{value!r} does not fit column {name!r} ({column.type.value}): {parsed.reason}"
                )
            value = parsed.value
        typed[name] = value
    return typed


def undo(
    session: Session, table: str, version: int | None = None, *, told: bool = False
) -> TableVersion:
    """Shows an earlier version of a table again: `version`, or the one before the current version.
    The repairs that it lacks are not made again until somebody reconciles the table. The same undo
    does nothing again until `undo_is_told` is called, unless `told` says that the result tells it.

    Raises:
        StoreError: the table has no such version, or no earlier one, or its rows went with
            documents that were removed.
    """
    current = session.catalog.tables.current(table)
    if current is None:
        raise StoreError(f"table {table!r} has no version yet; ask a question first")
    notes = session.catalog.knowledge
    if notes.kept(_untold(table)) == [version, current.version]:
        return current  # a command that was killed is given again
    target = _version_to_show(session, table, current, version)
    with session.catalog.database.transaction():
        shown = session.catalog.tables.undo(table, target)
        hold(session, table, current, shown)
        session.decide(
            "reconcile",
            "table",
            "undone",
            f"version {current.version} to version {shown.version}",
            table=table,
        )
        notes.keep(_untold(table), [version, shown.version])
    if told:
        undo_is_told(session, table)
    return shown


def _version_to_show(
    session: Session, table: str, current: TableVersion, version: int | None
) -> int:
    """Returns the version that an undo shows.

    Raises:
        StoreError: there is none, or its rows went with documents that were removed.
    """
    known = session.catalog.tables.versions(table)
    before = [one.version for one in known if one.version < current.version]
    if version is None and not before:
        raise StoreError(
            f"table {table!r} stands at version {current.version}, its first: nothing to undo"
        )
    target = max(before) if version is None else version
    if any(one.version == target and one.reason == GONE for one in known):
        raise StoreError(
            f"the rows of version {target} of table {table!r} were taken out when documents were "
            "removed: it cannot be shown again"
        )
    return target


def undo_is_told(session: Session, table: str) -> None:
    """Notes that the person was told of the last undo, so that the next undo goes one version
    further.
    """
    session.catalog.knowledge.forget(_untold(table))


def _untold(table: str) -> str:
    return f"undo not told: {table}"
