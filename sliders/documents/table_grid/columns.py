"""Value columns of a printed table, and the column to which each value belongs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from sliders.documents.table_grid.segments import Line, char_width


@dataclass(frozen=True, slots=True)
class GridColumn:
    left: float
    right: float

    @property
    def center(self) -> float:
        return (self.left + self.right) / 2


def columns_of(rows: Sequence[Line]) -> tuple[GridColumn, ...]:
    """Columns of the rows' values, from left to right.

    Where blank strips separate the values, the stretches between them are the columns; where
    printed text drifts, the rows that fill all columns give the median edges of the first, second,
    ... value.
    """
    counts = Counter(len(row) for row in rows)
    enough = max(2, len(rows) // 10)
    width = max((n for n, rows_with in counts.items() if rows_with >= enough), default=max(counts))
    strips = _strips(rows)
    wide = 2 * median(char_width(cell) for row in rows for cell in row)
    if len(strips) in (width, max(counts)) or (
        len(strips) > width and all(b.left - a.right > wide for a, b in pairwise(strips))
    ):
        return tuple(strips)
    full = [row for row in rows if len(row) == width]
    return tuple(
        GridColumn(median(row[c].left for row in full), median(row[c].right for row in full))
        for c in range(width)
    )


def _strips(rows: Sequence[Line]) -> list[GridColumn]:
    """Returns the stretches in which values stand one over the other; [] when a row has two values
    in one stretch, or a stretch holds a single value and no row fills all stretches.
    """
    cells = sorted(
        (cell.left, cell.right, number) for number, row in enumerate(rows) for cell in row
    )
    strips: list[GridColumn] = []
    members: list[int] = []
    alone = False
    for left, right, number in cells:
        if strips and left < strips[-1].right:
            if number in members:
                return []
            strips[-1] = GridColumn(strips[-1].left, max(right, strips[-1].right))
            members.append(number)
            continue
        alone = alone or len(members) == 1
        strips.append(GridColumn(left, right))
        members = [number]
    alone = alone or len(members) == 1
    return [] if alone and len(strips) != max(map(len, rows)) else strips


def assign(cells: Line, columns: Sequence[GridColumn]) -> list[int]:
    """Returns the number of the column of each cell, in order: the choice with the least total
    distance between right edges or centres.
    """
    if len(cells) >= len(columns):
        return list(range(len(columns)))[-len(cells) :]
    spare = len(columns) - len(cells)
    best: list[list[tuple[float, tuple[int, ...]]]] = [[(0.0, ())] * (spare + 1)]
    for n, cell in enumerate(cells):
        row: list[tuple[float, tuple[int, ...]]] = []
        for skipped in range(spare + 1):
            column = columns[n + skipped]
            far = min(abs(cell.right - column.right), abs(cell.center - column.center))
            before, path = min(best[-1][s] for s in range(skipped + 1))
            row.append((before + far, (*path, n + skipped)))
        best.append(row)
    return list(min(best[-1])[1])


def spacing_of(columns: Sequence[GridColumn]) -> float:
    gaps = [b.right - a.right for a, b in pairwise(columns)]
    return median(gaps) if gaps else (columns[0].right - columns[0].left) * 2
