"""Missing values under an answer: empty cells of a column that the statement adds up, averages,
ranks or counts, when some value there would change the answer.

A *trial* runs the statement again on tables with other values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from sliders.answer.doubts import Gap
from sliders.answer.measured import compared_with, measured_columns
from sliders.answer.range import Place
from sliders.engine.trial import Trial
from sliders.engine.variations import TableVariations
from sliders.extraction.cell import Absence, Scalar
from sliders.progress import counted
from sliders.schema.types import Column, ColumnType
from sliders.sql.statement import parse_select
from sliders.values.expected import DATED, NUMERIC

_ANY_TEXT = "\x1fany other"
_FIRST, _LAST = "0001-01-01", "9999-12-31"


def value_gaps(trial: Trial, tables: Sequence[TableVariations]) -> list[Gap]:
    """Returns the missing values under a statement, as one gap for each column.

    An empty cell counts when some value in it changes the result. It does not count when the column
    does not apply to the row, or when another row of the same document about the same thing has the
    value.
    """
    wanted = measured_columns(parse_select(trial.sql))
    gaps = []
    for table in tables:
        for column in table.read.columns:
            name = table.read.relation.sql_name(column.name)
            if name.lower() in wanted and (rows := list(_lacking(trial, table, column, name))):
                gaps.append(_gap(table, column, rows))
    return gaps


def _lacking(trial: Trial, table: TableVariations, column: Column, name: str) -> Iterator[str]:
    """Yields the rows whose empty cell in a column matters."""
    told: dict[str, list[Mapping[str, Scalar]]] = {}
    for row_id, values in table.shown.items():
        for document in table.words.document_ids(row_id) if values[name] is not None else ():
            told.setdefault(document, []).append(values)
    empty = [row_id for row_id, values in table.shown.items() if values[name] is None]
    rows = [row_id for row_id in empty if _should_have(table, row_id, column, told)]
    options = any_values(column, [values[name] for values in table.shown.values()])
    options += compared_with(parse_select(trial.sql), name)
    places = [Place(table.read.relation.relation, row_id, name) for row_id in rows]
    if not rows or not _changes(trial, places, options):
        return
    if len(rows) > trial.most:  # too many to be tried one by one
        yield from rows
        return
    yield from (
        row_id
        for row_id, place in zip(rows, places, strict=True)
        if _changes(trial, [place], options)
    )


def _changes(trial: Trial, places: Sequence[Place], options: Iterable[Scalar]) -> bool:
    """Says whether some value in these cells changes the result."""
    before = Counter(trial.rows())
    return any(
        Counter(trial.rows(tuple((place, value) for place in places))) != before
        for value in options
    )


def any_values(column: Column, shown: Iterable[Scalar]) -> list[Scalar]:
    """Returns values that a column could hold; some lie below the least and above the greatest of
    its present values.
    """
    if column.type is ColumnType.BOOLEAN:
        return [True, False]
    if column.type in NUMERIC:
        numbers = [value for value in shown if isinstance(value, int | float)] or [0]
        step = 1 + int(max(numbers) - min(numbers))
        return [max(numbers) + step, min(numbers) - step]
    return [_FIRST, _LAST] if column.type in DATED else [_ANY_TEXT]


def _should_have(
    table: TableVariations,
    row_id: str,
    column: Column,
    told: Mapping[str, Sequence[Mapping[str, Scalar]]],
) -> bool:
    """Says whether a row should have a value in a column: the column applies to it, and no other
    row about the same thing in the document has the value.

    Args:
        told: the rows with a value in the column, by document.
    """
    absences = _absences(table, row_id, column)
    if Absence.DOES_NOT_APPLY in absences and absences <= {
        Absence.DOES_NOT_APPLY,
        Absence.NOT_STATED,
    }:
        return False
    if not any(
        cell.value is not None for row in table.words.extracted(row_id) for cell in row.cells
    ):
        return False  # a row of nothing: no thing that could have a value
    key = [
        table.read.relation.sql_name(n)
        for n in table.read.table.key
        if n in table.read.table.column_names
    ]
    own = table.shown[row_id]
    others = [
        other for document in table.words.document_ids(row_id) for other in told.get(document, ())
    ]
    if key:
        return not any(_agree(own, other, key) for other in others)
    return not any(
        _agree(own, other, list(own)) and _shares(own, other) for other in others
    )  # halves of one thing


def _agree(one: Mapping[str, Scalar], other: Mapping[str, Scalar], key: Sequence[str]) -> bool:
    return all(one[name] is None or other[name] is None or one[name] == other[name] for name in key)


def _shares(one: Mapping[str, Scalar], other: Mapping[str, Scalar]) -> bool:
    return any(value is not None and other[name] == value for name, value in one.items())


def _absences(table: TableVariations, row_id: str, column: Column) -> frozenset[Absence]:
    """Returns the reasons why a row has no value in a column."""
    cells = [row.cell(column.name) for row in table.words.extracted(row_id)]
    return frozenset(
        absence
        for cell in cells
        if (absence := Absence.NOT_ASKED if cell is None else cell.absence) is not None
    )


def _gap(table: TableVariations, column: Column, rows: Sequence[str]) -> Gap:
    """Returns the missing values of a column as a gap."""
    absences = Counter(absence.value for row in rows for absence in _absences(table, row, column))
    why = ", ".join(absence for absence, _ in absences.most_common())
    documents = dict.fromkeys(name for row in rows for name in table.words.documents(row))
    count = (
        f"{len(rows)} of {len(table.shown)} rows"
        if table.read.table.grain == "many"
        else counted(len(documents), "document")
    )
    if len(documents) == 1 and table.read.table.grain != "many":
        count = "1 document"
    thing = f"{column.name} has no value in {count}" + (f": {why}" if why else "")
    ids = {one for row in rows for one in table.words.document_ids(row)}
    if unread := _parts_left_out(table, column, ids):
        parts = counted(unread, "part was", "parts were")
        thing += f"; {parts} not read for it"
    return Gap("value", thing, tuple(documents), table.words.setting(rows[0], column.name, None))


def _parts_left_out(table: TableVariations, column: Column, documents: Collection[str]) -> int:
    """Returns the number of parts of documents that no call has shown for a column."""
    catalog = table.session.catalog
    tasks = [t for t in catalog.extractions.tasks(table.name) if column.name in t.columns]
    read = {task.chunk_id for task in tasks if task.state == "done"}
    left = {task.chunk_id for task in tasks if task.state in ("gated", "pruned")} - read
    return sum(chunk in left and home in documents for chunk, home in catalog.chunks.places())
