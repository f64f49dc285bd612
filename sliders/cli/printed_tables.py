"""Results as a table for the terminal, as CSV and as Markdown."""

from __future__ import annotations

import csv
import io
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal

from rich.box import SIMPLE_HEAD, Box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sliders.answer.figures import YES_NO
from sliders.answer.result_shape import ResultTable, no_formula, tidied
from sliders.progress import counted

MOST_ROWS = 20
_GAP, _LONGEST = 2, 40
"""Spaces between columns; the length from which on a word may be broken."""
_PARTS = re.compile(r" *(?:[^ _]+_*|_+)")
"""Parts of a column's name, between which a line may end."""
_PLAIN = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)


def width_of_terminal() -> int:
    """The number of characters in a line; 80 when the output is no terminal and `COLUMNS` is not
    set.
    """
    return shutil.get_terminal_size((80, 24)).columns


def printed_table(
    table: ResultTable,
    plain: bool = False,
    *,
    indent: int = 0,
    most: int | None = None,
    total: int = 0,
) -> str:
    """A table at most as wide as the terminal, in plain characters where the output is none; a
    line for each value where the columns do not fit.

    Args:
        plain: a line for each value always, as a screen reader reads it.
        indent: spaces before each line.
        most: rows that are printed; the others are counted.
        total: rows of the result, of which `table` may hold the first ones only.
    """
    cells = [[cell or "-" for cell in row] for row in table.cells[:most]]
    widths = None if plain else _widths(table.headers, cells, width_of_terminal() - indent)
    if widths is None:
        lines = list(_value_lines(table.headers, cells))
    else:
        # No styles: on the streams of the command line terminal escapes stand as text.
        console = Console(
            file=io.StringIO(),
            width=sum(widths) + _GAP * len(widths),
            force_terminal=False,
            legacy_windows=False,
        )
        with console.capture() as capture:
            console.print(_grid(table, cells, widths))
        lines = [line.rstrip() for line in capture.get().strip("\n").splitlines()]
    more = max(total, len(table.cells)) - len(cells)
    lines += [f"and {counted(more, 'more row')} (--format csv prints them all)"] if more > 0 else []
    return "\n".join(" " * indent + line for line in lines)


def _widths(headers: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int] | None:
    """The widths of columns that fit a line, the widest ones cut down; None where words would have
    to be broken.
    """
    columns = list(zip(headers, *rows, strict=True))
    room = width - _GAP * (len(columns) - 1)
    whole = [max(map(len, column)) for column in columns]
    least = [
        min(_LONGEST, max(len(word) for cell in cells for word in ["", *cell.split()]))
        for header, *others in columns
        for cells in [[*_PARTS.findall(header), *others]]
    ]
    for most in range(max(whole), 0, -1):
        widths = [max(low, min(high, most)) for low, high in zip(least, whole, strict=True)]
        if sum(widths) <= room:
            return widths
    return None


def _grid(table: ResultTable, cells: Sequence[Sequence[str]], widths: Sequence[int]) -> Table:
    box = SIMPLE_HEAD if sys.stdout.isatty() else _PLAIN
    grid = Table(box=box, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False)
    for header, numeric, width in zip(table.headers, table.numeric, widths, strict=True):
        lines = [""]
        for part in _PARTS.findall(header):
            if len(lines[-1] + part) > width:
                lines.append(part.lstrip())
            else:
                lines[-1] += part
        justify: Literal["right", "left"] = "right" if numeric else "left"
        grid.add_column(Text("\n".join(lines)), justify=justify, width=width, overflow="fold")
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
