"""Tables that go on over several pages: one table with its header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sliders.documents.pdf.drawn_tables import DrawnTable
from sliders.documents.pdf.words import PrintedLine
from sliders.documents.spanned_tables import Spanned
from sliders.documents.table_grid.grid import Region
from sliders.documents.tables import TextTable
from sliders.documents.text_blocks import shape_of

_SAME_HEIGHT = 3.0
_MOST_TITLES = 3


@dataclass(slots=True)
class PageTable:
    """A table of a page in its lines `first` to `last` (inclusive). `table` is None when its rows
    were moved into a table of an earlier page. `pages` lists the pages on which the table goes on,
    each with the number of its rows. `region` is the place of a table without drawn cells.
    """

    first: int
    last: int
    table: TextTable | None
    pages: tuple[tuple[int, int], ...] = ()
    region: Region | None = None

    def take(self, part: PageTable, number: int) -> bool:
        """Adds the rows of `part`, the first table of page `number`, to this table. Returns False,
        and changes nothing, when `part` is another table.
        """
        if self.region is None or part.region is None or self.table is None or part.table is None:
            return False
        header, own = self.table.header, part.table.header
        if (
            len(header) != len(own)
            or (any(own) and own != header)
            or not part.region.stands_below(self.region)
        ):
            return False
        indents = (*self.table.indents, *part.table.indents)
        self.table = replace(self.table, rows=(*self.table.rows, *part.table.rows), indents=indents)
        filled = sum(map(any, part.table.rows))
        self.pages, part.table = (*self.pages, (number, filled)), None
        return True


def join_printed_tables(
    pages: Sequence[list[PrintedLine]],
    tables: Sequence[Sequence[PageTable]],
    furniture: frozenset[str],
) -> None:
    """Moves the rows of a table without drawn cells that goes on at the top of the next page into
    the table. The part on the next page has no header, or the same one; only running headers and
    footers stand between the two parts.
    """
    begun: PageTable | None = None
    for number, (lines, found) in enumerate(zip(pages, tables, strict=True)):
        if not found:
            begun = None
            continue
        runs, part, last = _RunningLines(pages, number, furniture), found[0], found[-1]
        goes_on = (
            begun is not None
            and all(map(runs.holds, lines[: part.first]))
            and begun.take(part, number + 1)
        )
        ends = all(map(runs.holds, lines[last.last + 1 :]))
        if not (goes_on and ends and last is part):
            begun = last if ends and last.table is not None else None


def join_over_pages(pages: Sequence[list[PrintedLine]], furniture: frozenset[str]) -> None:
    """Moves the rows of a drawn table that goes on at the top of the next page into the table, when
    only running headers and footers stand between the two parts. `furniture` are the shapes of
    running headers and footers.
    """
    begun: tuple[int, int] | None = None  # page and line of a table that may go on
    for number, lines in enumerate(pages):
        first = next((n for n, line in enumerate(lines) if isinstance(line, DrawnTable)), None)
        if first is None:
            begun = None
            continue
        runs = _RunningLines(pages, number, furniture)
        part = lines[first]
        above = pages[begun[0]][begun[1]] if begun else None
        rest = lines[first + 1 :]
        if (
            begun
            and isinstance(above, DrawnTable)
            and isinstance(part, DrawnTable)
            and above.goes_on_in(part)
            and all(map(runs.holds, lines[:first]))
        ):
            rows = _without_header(part.rows, above.rows)
            pages[begun[0]][begun[1]] = replace(
                above,
                rows=(*above.rows, *rows),
                pages=(*above.pages, (number + 1, len(rows))),
            )
            del lines[first]
            if all(map(runs.holds, rest)):
                continue
        last = max((n for n, line in enumerate(lines) if isinstance(line, DrawnTable)), default=-1)
        begun = (number, last) if last >= 0 and all(map(runs.holds, lines[last + 1 :])) else None


class _RunningLines:
    """The running headers and footers around one page."""

    def __init__(
        self, pages: Sequence[list[PrintedLine]], number: int, furniture: frozenset[str]
    ) -> None:
        beside = [*pages[max(number - 1, 0) : number], *pages[number + 1 : number + 2]]
        self._furniture = furniture
        self._seen = [(shape_of(line.text), line.top) for page in beside for line in page]

    def holds(self, line: PrintedLine) -> bool:
        """True for a running header or footer, and for a line that stands at the same height on a
        neighbouring page.
        """
        if isinstance(line, DrawnTable):
            return False
        shape = shape_of(line.text)
        return shape in self._furniture or any(
            shape == other and abs(line.top - top) < _SAME_HEIGHT for other, top in self._seen
        )


def _without_header(
    rows: Sequence[Sequence[Spanned]], above: Sequence[Sequence[Spanned]]
) -> Sequence[Sequence[Spanned]]:
    """The rows of a part without the header that it repeats."""
    known = [[cell.text for cell in row] for row in above]
    texts = [[cell.text for cell in row] for row in rows]
    for start in range(min(_MOST_TITLES, len(known))):
        count = 0
        while count < min(len(texts), len(known) - start) and texts[count] == known[start + count]:
            count += 1
        if count:
            return rows[count:]
    return rows
