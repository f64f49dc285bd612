"""`python -m benchmarks.ruled --json FILE`: 40 tables with drawn lines of 10 kinds, made here, as
`sliders` and `pdfplumber` read them: right is a table with every cell under its headers.
"""

from __future__ import annotations

import argparse
import io
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pdfplumber
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from sliders.documents import read_pdf

_FONT, _STEP, _PAD = "Helvetica", 11.0, 3.0
_WORDS = "amber basin cedar delta ember fjord grove heron inlet jetty knoll larch".split()
Rows = list[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Cell:
    """Words over some rows and columns of a drawn table; `turned` ones are printed upwards."""

    row: int
    column: int
    text: str
    down: int = 1
    across: int = 1
    turned: bool = False


@dataclass(slots=True)
class Drawn:
    """A table to draw, and what is right: the names of its columns and its rows.

    `lines`: drawn as strokes, as one rectangle a cell, or as thin filled rectangles.
    """

    header: tuple[str, ...]
    rows: Rows
    cells: list[Cell]
    widths: list[float]
    heads: int = 1
    lines: str = "strokes"
    sides: bool = True
    size: float = 9.0
    a_page: int = 40
    repeated: bool = True
    sideways: bool = False
    heights: dict[int, float] = field(default_factory=dict)


def _plain(rng: random.Random, columns: int = 4, rows: int = 6) -> Drawn:
    header = ("Site", *(word.capitalize() for word in rng.sample(_WORDS, columns - 1)))
    body = [
        (f"{rng.choice(_WORDS)} {n}", *(f"{rng.randint(1, 9999):,}" for _ in header[1:]))
        for n in range(1, rows + 1)
    ]
    cells = [
        Cell(r, c, text) for r, row in enumerate([header, *body]) for c, text in enumerate(row)
    ]
    return Drawn(header, body, cells, [90.0] + [64.0] * (columns - 1))


def _row_spans(rng: random.Random) -> Drawn:
    made = _plain(rng, 4, 6)
    names = rng.sample(_WORDS, 3)
    made.rows = [(names[n // 2], *row[1:]) for n, row in enumerate(made.rows)]
    made.cells = [cell for cell in made.cells if cell.column or not cell.row]
    made.cells += [Cell(1 + 2 * n, 0, name, down=2) for n, name in enumerate(names)]
    return made


def _two_levels(rng: random.Random) -> Drawn:
    made = _plain(rng, 5, 5)
    spans = [str(rng.randint(1990, 2020)), rng.choice(_WORDS)]
    below = [cell for cell in made.cells if cell.row]
    made.cells = [Cell(c.row + 1, c.column, c.text) for c in below]
    made.cells += [Cell(1, c, name) for c, name in enumerate(made.header) if c]
    made.cells += [Cell(0, 0, "Site", down=2)]
    made.cells += [Cell(0, 1 + 2 * n, span, across=2) for n, span in enumerate(spans)]
    named = [f"{spans[(c - 1) // 2]} / {made.header[c]}" for c in range(1, 5)]
    made.header, made.heads = ("Site", *named), 2
    return made


def _wrapped(rng: random.Random) -> Drawn:
    made = _plain(rng, 4, 5)
    texts = [" ".join(rng.choices(_WORDS, k=rng.randint(2, 9))) for _ in made.rows]
    made.rows = [(row[0], text, *row[2:]) for row, text in zip(made.rows, texts, strict=True)]
    made.cells = [
        Cell(c.row, c.column, texts[c.row - 1] if c.row and c.column == 1 else c.text)
        for c in made.cells
    ]
    made.widths[1] = 110.0
    return made


def _narrow(rng: random.Random) -> Drawn:
    made = _plain(rng, 8, 6)
    made.size, made.widths = 6.0, [46.0] + [26.0] * 7
    return made


def _open_sides(rng: random.Random) -> Drawn:
    made = _plain(rng, rng.choice((3, 4)), 7)
    made.sides = False
    return made


def _over_pages(rng: random.Random) -> Drawn:
    made = _plain(rng, 4, 30)
    made.a_page, made.repeated = 12, rng.random() < 0.5
    return made


def _sideways(rng: random.Random) -> Drawn:
    made = _plain(rng, 6, 6)
    made.sideways = True
    return made


def _turned_names(rng: random.Random) -> Drawn:
    made = _plain(rng, 5, 6)
    made.cells = [
        Cell(c.row, c.column, c.text, turned=not c.row and c.column > 0) for c in made.cells
    ]
    made.heights = {0: 46.0}
    return made


def _with_gaps(rng: random.Random) -> Drawn:
    made = _plain(rng, 5, 7)
    gone = {(rng.randint(1, 7), rng.randint(1, 4)) for _ in range(6)}
    made.cells = [cell for cell in made.cells if (cell.row, cell.column) not in gone]
    made.rows = [
        tuple("" if (r, c) in gone else text for c, text in enumerate(row))
        for r, row in enumerate(made.rows, 1)
    ]
    return made


KINDS: dict[str, Callable[[random.Random], Drawn]] = {
    "plain": _plain,
    "row spans": _row_spans,
    "two levels": _two_levels,
    "wrapped": _wrapped,
    "narrow": _narrow,
    "open sides": _open_sides,
    "over pages": _over_pages,
    "sideways": _sideways,
    "turned names": _turned_names,
    "empty cells": _with_gaps,
}


def tables() -> Iterator[tuple[str, Drawn]]:
    """The kind of each table, and the table; the ways of drawing lines take turns."""
    for kind, make in KINDS.items():
        for number in range(4):
            made = make(random.Random(f"{kind} {number}"))
            if made.sides:
                made.lines = ("strokes", "rectangles", "filled", "strokes")[number]
            yield kind, made


def _wrap(text: str, width: float, size: float) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and stringWidth(longer, _FONT, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def printed(table: Drawn) -> bytes:
    """A PDF with the table."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(612, 792))
    last = max(cell.row for cell in table.cells)
    starts = range(table.heads, last + 1, table.a_page)
    for number, start in enumerate(starts, 1):
        if table.sideways:
            canvas.translate(612, 0)
            canvas.rotate(90)
        head = range(table.heads) if number == 1 or table.repeated else range(0)
        shown = [*head, *range(start, min(start + table.a_page, last + 1))]
        canvas.setFont(_FONT, 9)
        canvas.drawString(300, 30, f"Page {number}")
        if number == 1:
            canvas.drawString(72, 560, "Catch by station in the year of the survey")
        _draw(canvas, table, shown)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def _draw(canvas: Canvas, table: Drawn, shown: Sequence[int]) -> None:
    held = [cell for cell in table.cells if cell.row in shown]
    lefts = [72 + sum(table.widths[:c]) for c in range(len(table.widths) + 1)]
    tops = {shown[0]: 540.0}
    for row, below in zip(shown, [*shown[1:], -1], strict=True):
        lines = [
            len(_wrap(cell.text, table.widths[cell.column] - 2 * _PAD, table.size))
            for cell in held
            if cell.row == row and cell.across == cell.down == 1 and not cell.turned
        ]
        height = max(lines, default=1) * (table.size + 2) + 2 * _PAD
        tops[below] = tops[row] - table.heights.get(row, height)
    order = [*shown, -1]
    covered = {
        (order[order.index(cell.row) + r], cell.column + c)
        for cell in held
        for r in range(cell.down)
        for c in range(cell.across)
    }
    blanks = [Cell(r, c, "") for r in shown for c in range(len(table.widths))]
    for cell in [*held, *(b for b in blanks if (b.row, b.column) not in covered)]:
        foot = tops[order[order.index(cell.row) + cell.down]]
        box = (lefts[cell.column], lefts[cell.column + cell.across], foot, tops[cell.row])
        _outline(canvas, table, cell, box)
        _write(canvas, table, cell, box)


def _outline(
    canvas: Canvas, table: Drawn, cell: Cell, box: tuple[float, float, float, float]
) -> None:
    left, right, bottom, top = box
    if table.lines == "rectangles":
        canvas.rect(left, bottom, right - left, top - bottom)
        return
    ends = [(left, bottom, right, bottom), (left, top, right, top)]
    if table.sides or cell.column:
        ends.append((left, bottom, left, top))
    if table.sides or cell.column + cell.across < len(table.widths):
        ends.append((right, bottom, right, top))
    for x, y, u, v in ends:
        if table.lines == "filled":
            canvas.rect(x, y, max(u - x, 0.5), max(v - y, 0.5), stroke=0, fill=1)
        else:
            canvas.line(x, y, u, v)


def _write(
    canvas: Canvas, table: Drawn, cell: Cell, box: tuple[float, float, float, float]
) -> None:
    left, right, bottom, top = box
    canvas.setFont(_FONT, table.size)
    if cell.turned:
        canvas.saveState()
        canvas.translate((left + right) / 2 + 3, bottom + _PAD)
        canvas.rotate(90)
        canvas.drawString(0, 0, cell.text)
        canvas.restoreState()
        return
    for n, line in enumerate(_wrap(cell.text, right - left - 2 * _PAD, table.size), 1):
        y = top - _PAD - n * (table.size + 2) + 2.5
        if cell.column and cell.row and cell.text[:1].isdigit():
            canvas.drawRightString(right - _PAD, y, line)
        else:
            canvas.drawString(left + _PAD, y, line)


def ours(raw: bytes, table: Drawn) -> bool:
    """Whether `sliders` reads one table with these names and rows."""
    grids = [element.grid for element in read_pdf(raw, "a.pdf").elements if element.grid]
    return [
        (grid.header, [tuple(cell.text for cell in row) for row in grid.rows]) for grid in grids
    ] == [(table.header, table.rows)]


def theirs(raw: bytes, table: Drawn) -> bool:
    """Whether the rows of `pdfplumber`'s tables hold these names and rows, its blanks filled from
    the left in the header and from above below it.
    """
    with pdfplumber.open(io.BytesIO(raw)) as pdf:
        found = [row for page in pdf.pages for each in page.extract_tables() for row in each]
    levels = [_filled(row) for row in found[: table.heads]]
    names = [" / ".join(dict.fromkeys(filter(None, level))) for level in zip(*levels, strict=False)]
    rows, above = list[tuple[str, ...]](), [""] * len(names)
    for row in found[table.heads :]:
        above = [
            " ".join(cell.split()) if cell is not None else known
            for cell, known in zip(row, above, strict=False)
        ]
        rows.append(tuple(above))
    header = tuple(names)
    return header == table.header and [row for row in rows if row != header] == table.rows


def _filled(row: Sequence[str | None]) -> list[str]:
    filled: list[str] = []
    for cell in row:
        known = filled[-1] if filled else ""
        filled.append(" ".join(cell.split()) if cell is not None else known)
    return filled


def main() -> None:
    """Print the figures and write what each read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    told = parser.parse_args()
    read = []
    for kind, table in tables():
        raw = printed(table)
        both = {"sliders": ours(raw, table), "pdfplumber": theirs(raw, table)}
        read.append({"kind": kind, "lines": table.lines, **both})
    counts = {name: sum(bool(one[name]) for one in read) for name in ("sliders", "pdfplumber")}
    for one in read:
        if not one["sliders"]:
            print(f"wrong: {one['kind']}, {one['lines']}")
    kinds = Counter(str(one["kind"]) for one in read if one["pdfplumber"])
    print(f"{len(read)} tables: {counts}; pdfplumber by kind: {dict(kinds)}")
    if told.json:
        told.json.write_text(json.dumps({"counts": counts, "tables": read}, indent=1) + "\n")


if __name__ == "__main__":
    main()
