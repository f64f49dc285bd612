"""Decisions of people. They are kept as values and matched on every run, so that they also hold for
rows that come later.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sliders.errors import RepairError
from sliders.extraction.cell import Scalar
from sliders.reconcile.column_codes import Codes, Encoded, comparison_form
from sliders.reconcile.repairs import DecidedCorrection
from sliders.schema.row_names import called_as_row
from sliders.schema.types import ColumnType, Table

DOCUMENT = ("document", "document_id")
"""The names that a condition may use beside the columns of a table: the name and the id of a row's
document, compared exactly.
"""


def check_corrections(corrections: Sequence[DecidedCorrection], columns: Sequence[str]) -> None:
    """Checks that corrections name columns of the table and do not select every row.

    Raises:
        RepairError: a column does not exist, or a condition is empty.
    """
    for correction in corrections:
        named = [c for c, _ in (*correction.where, *correction.other)]
        unknown = [c for c in named if c not in (*columns, *DOCUMENT)]
        if correction.kind == "set_value" and correction.column not in columns:
            unknown.append(correction.column)
        if unknown:
            raise RepairError(
                f"a correction names {unknown}; the table's columns are {', '.join(columns)}"
            )
        if not correction.where or (correction.kind != "set_value" and not correction.other):
            raise RepairError(
                f"a {correction.kind} correction needs the rows that it is for; give "
                "at least one column value"
            )


def names_said(
    corrections: Sequence[DecidedCorrection], column: str
) -> dict[tuple[str, str], bool]:
    """Returns pairs of a text column's values that people decided to be one name (True) or two
    (False); the last decision on a pair counts.

    A merge or split decides a pair when its two sides differ in this column alone.
    """
    said: dict[tuple[str, str], bool] = {}
    for one in (c for c in corrections if c.kind != "set_value"):
        left, right = dict(one.where), dict(one.other)
        a, b = left.pop(column, None), right.pop(column, None)
        if left == right and isinstance(a, str) and isinstance(b, str):
            said.pop((b, a), None)
            said[a, b] = one.kind == "merge"
    return said


def joins_names(correction: DecidedCorrection, table: Table, key: Sequence[str]) -> bool:
    """True when a merge only says that two values of a text column are one name, because the column
    names no row.
    """
    columns = {column for column, _ in (*correction.where, *correction.other)}
    single = len(columns) == len(correction.where) == len(correction.other) == 1
    if (
        correction.kind != "merge"
        or not single
        or (column := columns.pop()) not in table.column_names
    ):
        return False
    naming = {*key, *table.key} | (
        {named.name} if (named := called_as_row(table)) is not None else set()
    )
    return table.column(column).type is ColumnType.TEXT and column not in naming


def matching_rows(
    where: Sequence[tuple[str, Scalar]], names: Sequence[str], *readings: Sequence[Encoded]
) -> Codes:
    """Returns the numbers of the rows that fulfil every (column, value) of a condition in one of
    the readings, compared by comparison form.

    Args:
        where: the condition.
        names: the names of the table's columns.
        readings: the columns as printed, or as shown, followed by the columns of `DOCUMENT`.
    """
    holds = np.ones(len(readings[0][-1].codes), dtype=bool)
    for column, value in where:
        place = names.index(column) if column in names else len(names) + DOCUMENT.index(column)
        holds &= np.logical_or.reduce(
            [_holding(reading[place], value, place >= len(names)) for reading in readings]
        )
    return np.flatnonzero(holds).astype(np.int64)


def _holding(coded: Encoded, value: Scalar, exact: bool) -> npt.NDArray[np.bool_]:
    wanted = value if exact else comparison_form(value)
    if wanted is None:
        return coded.codes < 0
    forms = coded.examples if exact else map(comparison_form, coded.examples)
    return np.isin(coded.codes, [code for code, form in enumerate(forms) if _equal(form, wanted)])


def _equal(left: Scalar, right: Scalar) -> bool:
    return isinstance(left, str) == isinstance(right, str) and left == right


def apply_grouping(
    groups: Codes,
    corrections: Sequence[DecidedCorrection],
    names: Sequence[str],
    printed: Sequence[Encoded],
    encoded: Sequence[Encoded],
) -> tuple[Codes, frozenset[int]]:
    """Returns the groups after merge and split corrections, and the numbers of the groups that a
    person merged.

    Args:
        printed: the columns as read; a decision that names printed forms holds for the rows that
            print them.
        encoded: the columns with names in their canonical forms.
    """
    result = groups.copy()
    forced: set[int] = set()
    for place, correction in enumerate(corrections):
        if correction.kind == "set_value":
            continue
        before = corrections[:place]
        left, right = (
            _named(where, names, printed, encoded, before)
            for where in (correction.where, correction.other)
        )
        if not len(left) or not len(right):
            continue
        if correction.kind == "merge":
            target = int(result[left[0]])
            moved = np.unique(result[np.r_[left, right]])
            result[np.isin(result, moved)] = target
            forced.add(target)
            continue
        shared = np.intersect1d(result[left], result[right])
        for group in shared.tolist():
            inside = right[(result[right] == group) & ~np.isin(right, left)]
            result[inside] = int(result.max()) + 1
    return result, frozenset(forced)


def _named(
    where: Sequence[tuple[str, Scalar]],
    names: Sequence[str],
    printed: Sequence[Encoded],
    encoded: Sequence[Encoded],
    before: Sequence[DecidedCorrection],
) -> Codes:
    """Returns the rows that a decision names: by their printed values, else by the canonical forms,
    else by the results of the decisions `before` it.
    """
    for reading in (printed, encoded):
        if len(rows := matching_rows(where, names, reading)):
            return rows
    found = np.arange(len(printed[-1].codes), dtype=np.int64)
    for column, value in where:
        reached = [matching_rows([(column, value)], names, printed, encoded)]
        for place, decision in enumerate(before):
            if decision.column == column and _equal(
                comparison_form(decision.value), comparison_form(value)
            ):
                reached.append(_named(decision.where, names, printed, encoded, before[:place]))
        found = np.intersect1d(found, np.concatenate(reached))
    return found
