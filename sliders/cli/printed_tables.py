"""Results as a table for the terminal, as CSV and as Markdown."""

from __future__ import annotations

import csv
import io
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD, Box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sliders.answer.figures import YES_NO
from sliders.answer.result_shape import ResultTable, no_formula, tidied
from sliders.progress import counted

MOST_ROWS = 20
_NARROWEST = 12
_PLAIN = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)


def width_of_terminal() -> int:
    """The number of characters in a line; 80 when the output is no terminal and `COLUMNS` is not
    set.
    """
    return shutil.get_terminal_size((80, 24)).columns


def printed_table(
    table: ResultTable, plain: bool = False, *, indent: int = 0, most: int | None = None
) -> str:
    """Returns a table at most as wide as the terminal. When its columns do not fit, each value gets
    a line of its own.

    Args:
        plain: True gives each value a line of its own, which suits screen readers.
        indent: spaces before each line.
        most: the most rows to print; the other rows are counted.
    """
    cells = [[cell or "-" for cell in row] for row in table.cells[:most]]
    width, rich = width_of_terminal() - indent, sys.stdout.isatty()
    if (
        plain
        or sum(map(_narrowest, zip(table.headers, *cells, strict=True), table.numeric))
        + 2 * (len(table.headers) - 1)
        > width
    ):
        lines = list(_value_lines(table.headers, cells))
    else:
        # No styles: on the streams of the command line terminal escapes stand as text.
        console = Console(
            file=io.StringIO(), width=width, force_terminal=False, legacy_windows=False
        )
        with console.capture() as capture:
            console.print(_grid(table, cells, SIMPLE_HEAD if rich else _PLAIN))
        lines = [line.rstrip() for line in capture.get().strip("\n").splitlines()]
    more = len(table.cells) - len(cells)
    lines += [f"and {counted(more, 'more row')} (--format csv prints them all)"] if more > 0 else []
    return "\n".join(" " * indent + line for line in lines)


def _narrowest(cells: tuple[str, ...], numeric: bool) -> int:
    """The least width that a column can be read at: numbers are never broken."""
    if numeric:
        return max(*map(len, cells[1:]), *map(len, cells[0].split()))
    return min(_NARROWEST, max(map(len, cells)))


def _grid(table: ResultTable, cells: Sequence[Sequence[str]], box: Box) -> Table:
    grid = Table(box=box, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False)
    for header, numeric, column in zip(
        table.headers, table.numeric, zip(table.headers, *cells, strict=True), strict=True
    ):
        grid.add_column(
            Text(header),
            justify="right" if numeric else "left",
            min_width=_narrowest(column, numeric),
            overflow="fold",
        )
    for row in cells:
        grid.add_row(*map(Text, row))
    return grid


def _value_lines(headers: Sequence[str], cells: Sequence[Sequence[str]]) -> list[str]:
    """A line for each value, under the number of its row."""
    lines = []
    for number, row in enumerate(cells, 1):
        lines.append(f"row {number}")
        lines += [f"  {name}: {cell}" for name, cell in zip(headers, row, strict=True)]
    return lines


def markdown_table(table: ResultTable) -> str:
    """A table in Markdown; numbers are aligned to the right."""
    rules = ["---:" if numeric else "---" for numeric in table.numeric]
    lines = [map(_escaped, table.headers), rules, *(map(_escaped, row) for row in table.cells)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")


def csv_text(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    units: Sequence[str],
    no_formulas: bool = False,
) -> str:
    """Returns rows as CSV: bare numbers, "yes" and "no" for booleans, nothing for missing values.
    `no_formulas` puts a ' before text that a spreadsheet would take for a formula.
    """
    told: Callable[[Any], Any] = no_formula if no_formulas else lambda cell: cell
    words = {0: "no", 1: "yes", None: None}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(told, columns))
    truths = [place < len(units) and units[place] == YES_NO for place in range(len(columns))]
    for row in rows:
        writer.writerow(
            words.get(cell, cell) if truth else told(tidied(cell))
            for cell, truth in zip(row, truths, strict=True)
        )
    return out.getvalue().rstrip("\n")
