"""The form in which a group is shown to a model: its rows, and the evidence for each value in
question.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from sliders.extraction.cell import How, Scalar
from sliders.reconcile.merge import Cluster, Frame
from sliders.reconcile.relation import MemoryRelation
from sliders.reconcile.repairs import Case, CellSource, DocumentSource, Group, Options
from sliders.schema.types import Table

_QUOTE = 240  # characters of the words that are shown
_SAME = 3  # rows that say the same of the open columns that are shown
_MOST = 24  # rows of a group that are shown
_LINES = 4  # values of a row whose words are shown


def case_of(
    table: Table,
    frame: Frame,
    cluster: Cluster,
    value: Callable[[int, int], Scalar],
    options: Options,
    names: Mapping[str, Mapping[Scalar, Scalar]],
) -> Case:
    """Returns the case for a cluster.

    Args:
        value: returns the table's value in a cell, by row number and column number.
        names: canonical forms by SQL column name and printed form.
    """
    ids = frame.relation.row_ids
    columns = tuple(options.sql_name(name) for name in frame.names)
    rows = {ids[r]: tuple(value(r, c) for c in range(len(columns))) for r in cluster.rows}
    places = [d.column for d in cluster.pending if any(side.value is not None for side in d.sides)]
    ordered = _ways(frame, cluster, places)
    shown = [r for some in ordered for r in some[:_SAME]][:_MOST]
    open_ = [frame.names[c] for c in places]
    notes = {}
    for row in sorted(shown):
        known = _named(dict(zip(columns, rows[ids[row]], strict=True)), names)
        notes[ids[row]] = (*known, *notes_of(frame.relation, row, open_, frame.names))
    about = ", ".join(str(part) for part in cluster.key if part is not None)
    group = Group(columns, rows, tuple(c.type.sql for c in table.columns), names)
    choices = tuple(tuple(ids[r] for r in some) for some in ordered)
    may_be_one = cluster.doubtful and not (cluster.keyless and places)
    kind: Literal["records", "conflict"] = "records" if may_be_one else "conflict"
    return Case(kind, group, tuple(columns[c] for c in places), notes, choices, about)


def _ways(frame: Frame, cluster: Cluster, places: Sequence[int]) -> list[list[int]]:
    """Returns the rows of a cluster grouped by their values in these columns; each row alone
    without columns.

    The order of the groups is mixed, so that a model's preference for the first option cannot pass
    for a reason.
    """
    ways: dict[tuple[int, ...], list[int]] = {}
    for row in cluster.rows:
        said = tuple(int(frame.codes[c][row]) for c in places)
        ways.setdefault(said if places else (row,), []).append(row)
    ids = frame.relation.row_ids
    return sorted(ways.values(), key=lambda some: hashlib.sha256(ids[some[0]].encode()).digest())


def _named(values: Mapping[str, Scalar], names: Mapping[str, Mapping[Scalar, Scalar]]) -> list[str]:
    """Returns lines that name the known canonical form of a printed form."""
    told = (
        (column, value, names[column].get(value, value))
        for column, value in values.items()
        if column in names
    )
    return [
        f"{column}: {value!r} is another form of {name!r}"
        for column, value, name in told
        if name != value
    ]


def notes_of(
    relation: MemoryRelation, row: int, open_: Sequence[str], names: Sequence[str]
) -> tuple[str, ...]:
    """Returns lines about a row: the words of each value in question (of every value when none is),
    how it was read, and its document.
    """
    lines = []
    last = CellSource()
    for name in open_ or names:
        source = relation.source(row, name)
        words = (source.quote or source.printed)[:_QUOTE]
        if relation.column(name)[row] is None or not (words or open_):
            continue
        last = source
        printed = ""
        if source.printed and source.printed not in words:
            printed = f' (printed "{source.printed}")'
        told = [f'{name}: {source.how.value}, words "{words}"{printed}']
        told += [f"in {source.unit}"] * bool(source.unit)
        told += [f"why: {source.rationale[:_QUOTE]}"] * bool(
            source.rationale and source.how is not How.STATED
        )
        told += [f"in doubt: {source.doubt}"] * bool(source.doubt)
        lines.append("; ".join(told))
    identifier = relation.document_ids[row]
    document = relation.documents.get(identifier, DocumentSource(identifier))
    where = [f"document {document.name or document.id}"]
    where += [f'titled "{document.title}"'] * bool(
        document.title and document.title != document.name
    )
    where += [f"dated {document.date}"] * bool(document.date)
    where += [f'section "{last.section}"'] * bool(last.section)
    where += [f"page {last.page}"] * (last.page is not None)
    where += ["in a table"] * (last.kind == "table")
    return (*lines[:_LINES], ", ".join(where))


def plain(value: Scalar) -> Scalar:
    """A value as SQL holds it."""
    return int(value) if isinstance(value, bool) else value
