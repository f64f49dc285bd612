"""Cells whose odds lie close to the cut of their column. The cut is the value of the odds that
separates two choices over the whole collection.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import log
from statistics import fmean, pvariance

from sliders.compact.judgements import LIKELY_NULL, TOLD, judge
from sliders.compact.value_prompts import YES_NO, is_judged
from sliders.extraction.cell import Cell, Row
from sliders.schema.types import Column, ColumnType

WRONG_SIDE = 0.02
"""A value near its column's cut counts as doubtful when it lies on the wrong side with this
probability, with both sides taken as normal and equally wide. In 1,200 simulated collections (12 to
60 documents, sides 2 to 6 deviations apart), the range then held 93% of the wrong counts, and was a
point for 60% of the right ones; a share of 0.25 of the distance gave 96% and 27%.
"""
_LIKELY = log(1 / WRONG_SIDE - 1)


def near_cut(rows: Iterable[Row], column: Column) -> frozenset[Cell]:
    """Returns the cells whose odds lie close to the cut of the collection. For a category, these
    are cells whose second choice is nearly as likely; without a cut, stated cells that the odds
    hardly support.
    """
    rows = list(rows)
    if column.type is ColumnType.CATEGORY and is_judged(column):
        return _near_next(rows, column)
    leaning = {
        cell: lean
        for row in rows
        if (cell := row.cell(column.name)) is not None and (lean := _lean(cell)) is not None
    }
    above = [lean for lean, side in leaning.values() if side]
    below = [lean for lean, side in leaning.values() if not side]
    if not above or not below:
        return frozenset(
            cell
            for cell, (lean, _) in leaning.items()
            if TOLD in dict(cell.odds) and lean < LIKELY_NULL
        )
    cut, distance = (min(above) + max(below)) / 2, abs(fmean(above) - fmean(below))
    spread = (pvariance(above) * len(above) + pvariance(below) * len(below)) / max(
        1, len(leaning) - 2
    )
    band = _LIKELY * spread / distance if distance else 0.0
    return frozenset(cell for cell, (lean, _) in leaning.items() if abs(lean - cut) < band)


def _near_next(rows: Iterable[Row], column: Column) -> frozenset[Cell]:
    """Returns the judged cells of a category whose next choice is not much less likely, after the
    correction by the collection.
    """
    cells = [
        c
        for row in rows
        if (c := row.cell(column.name)) is not None and c.odds and c.absence is None
    ]
    same = [c for c in cells if {name for name, _ in c.odds} == {name for name, _ in cells[0].odds}]
    found, _ = judge([dict(c.odds) for c in same])
    return frozenset(
        c for c, judgement in zip(same, found, strict=True) if judgement.margin < _LIKELY
    )


def _lean(cell: Cell) -> tuple[float, bool] | None:
    """Returns the log-odds of a judged yes or of a stated value, and True when they lie above the
    cut; None for any other cell.
    """
    odds = dict(cell.odds)
    if TOLD in odds:
        return odds[TOLD], cell.absence is None
    if set(odds) == set(YES_NO) and cell.absence is None:
        return odds[YES_NO[0]] - odds[YES_NO[1]], bool(cell.value)
    return None
