"""Value columns, and which value belongs to which of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from sliders.documents.lines import cells_of
from sliders.documents.segments import Line


@dataclass(frozen=True, slots=True)
class Column:
    left: float
    right: float

    @property
    def center(self) -> float:
        return (self.left + self.right) / 2


def columns_of(rows: Sequence[Line], years: Sequence[Line]) -> tuple[Column, ...]:
    """Columns by the rows that fill all of them: the median edges of the first, second, ... value."""
    counts = Counter(len(row) for row in rows)
    enough = max(2, len(rows) // 10)
    width = max((n for n, rows_with in counts.items() if rows_with >= enough), default=max(counts))
    width = max([width, *(len(line) for line in years)])
    full = [row for row in rows if len(row) == width] or [line for line in years if len(line) == width]
    return tuple(
        Column(median(row[c].left for row in full), median(row[c].right for row in full)) for c in range(width)
    )


def assign(cells: Line, columns: Sequence[Column]) -> list[int]:
    """For each cell its column, in order, at the least total distance of right edges or centres."""
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


def row_of(line: Line, columns: Sequence[Column]) -> tuple[str, ...]:
    cells = cells_of(line)
    label = line[0].text if len(cells) < len(line) else ""
    if len(line) == 1 and not label:
        cells = line
    extra = max(0, len(cells) - len(columns))
    label = " ".join([label, *(cell.text for cell in cells[:extra])]).strip()
    row = [""] * len(columns)
    for cell, column in zip(cells[extra:], assign(cells[extra:], columns), strict=True):
        row[column] = cell.text
    return (label, *row)


def spacing_of(columns: Sequence[Column]) -> float:
    gaps = [b.right - a.right for a, b in pairwise(columns)]
    return median(gaps) if gaps else (columns[0].right - columns[0].left) * 2
