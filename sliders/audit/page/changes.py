"""Changes between two runs, as an audit page shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sliders.audit.diff import CellChange, RowChange, only_changed, said
from sliders.audit.diff import Difference as Found
from sliders.audit.page.page_content import ComparedRuns, ShownDifference, ShownTable
from sliders.extraction.cell import Scalar

MOST_SHOWN = 500


def compared(found: Found, tables: Sequence[ShownTable]) -> ComparedRuns:
    """Returns a comparison for the page: each change with its place in the tables that the page
    shows.
    """
    at = {(t.name, row.id): (n, m) for n, t in enumerate(tables) for m, row in enumerate(t.rows)}
    columns = {t.name: [column.name for column in t.columns] for t in tables}
    lines = list(_lines(found, at, columns))
    return ComparedRuns(
        found.first, found.second, tuple(lines[:MOST_SHOWN]), len(lines), found.same
    )


def _lines(
    found: Found,
    at: Mapping[tuple[str, str], tuple[int, int]],
    columns: Mapping[str, Sequence[str]],
) -> Iterator[ShownDifference]:
    def place(change: RowChange | CellChange, column: str) -> tuple[int, int, int] | None:
        where = at.get((change.table, change.row_id))
        if where and column in columns[change.table]:
            return (*where, columns[change.table].index(column))
        return None

    for answer in found.answers:
        because = "; ".join(cause.text for cause in answer.causes)
        before, after = only_changed(answer.before, answer.after)
        yield ShownDifference("answer", answer.question, "", before, after, because)
    for row in found.rows:
        held, new = _held(row.values), row.change == "new"
        first = next(iter(columns.get(row.table, ())), "")
        yield ShownDifference(
            f"{row.change} row",
            row.document,
            row.table,
            "" if new else held,
            held if new else "",
            row.cause.text,
            place(row, first) if new else None,
        )
    for cell in found.cells:
        yield ShownDifference(
            "value",
            cell.document,
            f"{cell.table}.{cell.column}",
            cell.before,
            cell.after,
            cell.cause.text,
            place(cell, cell.column),
        )


def _held(values: Mapping[str, Scalar]) -> str:
    return ", ".join(f"{name} {said(value)}" for name, value in values.items() if value is not None)
