"""The reader of plain text. The text stays as it is, except that aligned tables become rows that
can be read alone.

*Furniture* means running headers and footers. The *shape* of a line (`shape_of`) is its lower-case
text with "#" in the place of each number, so that "Page 3" and "Page 4" have one shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from sliders.documents.builder import DocumentBuilder
from sliders.documents.decode import decode
from sliders.documents.document import Document
from sliders.documents.table_grid.grid import Line, Region, Segment, find_tables, join_marks
from sliders.documents.tables import pipe_cells, table_from_rows
from sliders.documents.text_blocks import furniture_of, shape_of, split_block
from sliders.values.notes import is_note, unit_note

_PAGE_START = re.compile(
    r"[ \t]*(?:<<\s*page\s+(\d+)\s*>>|\[page\s+(\d+)\]|[-=]{2,}\s*page\s+(\d+)\s*[-=]{2,})[ \t]*",
    re.IGNORECASE,
)
_PAGE_OF = re.compile(r"[ \t]*([^\W\d_]+)[ \t]+(\d+)[ \t]+([^\W\d_]+)[ \t]+(\d+)[ \t]*")
_PIECES = re.compile(r"[^ ]+(?: [^ ]+)*")
_WIDE = re.compile(r"\S {3,}\S")
_ONE_PIECE = re.compile(r" *[A-Za-z“\"'☐☒][^\t]*$")
_DRAWN = re.compile(r"[\s|+]*(?:[-=_─━]{2,}[\s|+]*)+")
_MAX_TABLE_LINE = 600
_PIPE_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")


_Page = tuple[int | None, Sequence[str]]
"""The number of a page (None for formats without pages), and its lines."""


def read_text(raw: bytes, name: str) -> Document:
    """Returns the document of a plain text file. For the encodings that it knows see `decode`.

    Raises:
        DocumentError: the bytes are no text.
    """
    text, warnings = decode(raw, name)
    return parse_text(text, name, raw, warnings)


def parse_text(text: str, name: str, raw: bytes, warnings: Sequence[str] = ()) -> Document:
    """Returns the document of a plain text. Form feeds and lines like `<<page 3>>` or `Page 3 of
    10` become page breaks.
    """
    builder = DocumentBuilder()
    builder.warnings.extend(warnings)
    pages = list(_pages(text.replace("\r\n", "\n").replace("\r", "\n")))
    furniture = furniture_of([[line for line in lines if line.strip()] for _, lines in pages])
    seen: set[str] = set()
    for number, lines in pages:
        if number is not None:
            builder.start_page(number)
        add_lines(builder, lines, furniture & seen)  # where it stands first it may be the title
        seen.update(map(shape_of, lines))
    return builder.build(name, raw)


def add_lines(
    builder: DocumentBuilder, lines: Sequence[str], furniture: frozenset[str] = frozenset()
) -> None:
    """Adds the lines of one page to the builder, its tables as tables.

    Args:
        builder: the document under way.
        lines: the lines of the page.
        furniture: the shapes of the running headers and footers. Lines of such a shape are added as
            text, never as headings.
    """
    tables = _aligned_tables(lines) + _pipe_tables(lines)
    tables.sort(key=lambda region: region.first)
    writer = _Writer(builder, lines, furniture)
    at = 0
    for region in tables:
        if region.first < at:
            continue
        caption, note = _context(lines, at, region.first)
        top = max(region.first - _lines_above(lines, at, region.first, caption, note), at)
        writer.blocks(at, top, "".join(lines[top : region.first]) or lines[region.last])
        writer.title_lines(top, region.first)
        writer.table(region, caption, note)
        at = region.last + 1
    writer.blocks(at, len(lines), "")


class _Writer:
    """Writes the lines of a page to the builder, and keeps the white space between them."""

    def __init__(
        self, builder: DocumentBuilder, lines: Sequence[str], furniture: frozenset[str]
    ) -> None:
        self._builder, self._lines, self._furniture = builder, lines, furniture
        self._next = 0

    def blocks(self, first: int, end: int, follows: str) -> None:
        starts = list(_blocks(self._lines, first, end))
        for n, (a, b) in enumerate(starts):
            below = (
                " ".join(self._lines[starts[n + 1][0] : starts[n + 1][1]])[:400]
                if n + 1 < len(starts)
                else follows
            )
            block = self._lines[a:b]
            for piece in split_block(block, below, self._furniture):
                text = "\n".join(block[piece.first : piece.last + 1])
                kind = (
                    "caption" if piece.kind == "paragraph" and is_note(text[:300]) else piece.kind
                )
                if kind == "heading":
                    text = text.strip().lstrip("#")
                self._builder.add(kind, text, level=piece.level, gap=self._gap(a + piece.first))
                self._next = a + piece.last + 1

    def title_lines(self, first: int, end: int) -> None:
        """Adds the lines directly above a table: its title as a heading, its note as a caption."""
        for at in range(first, end):
            line = self._lines[at].strip()
            if line:
                plain = is_note(line)
                self._builder.add(
                    "caption" if plain else "heading",
                    line,
                    level=0 if plain else 3,
                    gap=self._gap(at),
                )
                self._next = at + 1

    def table(self, region: Region, caption: str, note: str) -> None:
        gap = self._gap(region.first).rstrip(" \t") or "\n"
        self._builder.add_table(region.table, caption=caption, note=note, gap=gap)
        self._next = region.last + 1

    def _gap(self, line: int) -> str:
        """Returns the white space between the last line that was written and this line."""
        between = "".join(
            "\n" + blank for blank in self._lines[self._next : line] if not blank.strip()
        )
        text = self._lines[line]
        return f"{between}\n{text[: len(text) - len(text.lstrip())]}"


def _blocks(lines: Sequence[str], first: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields the begin and end of each run of lines without a blank line."""
    for filled, run in groupby(range(first, end), key=lambda at: bool(lines[at].strip())):
        if filled:
            begin, *others = run
            yield begin, begin + len(others) + 1


def _pages(text: str) -> Iterator[_Page]:
    lines = text.split("\n")
    marks = {
        i: match
        for i, line in enumerate(lines)
        if len(line) < 60 and (match := _PAGE_START.fullmatch(line))
    }
    if marks:
        numbers = {
            i: int(next(group for group in match.groups() if group)) for i, match in marks.items()
        }
        yield from _marked_pages(lines, numbers, before=True)
        return
    if "\f" in text:
        pages = enumerate(text.split("\f"), 1)
        yield from ((number, page.split("\n")) for number, page in pages if page.strip())
        return
    found = {
        i: match
        for i, line in enumerate(lines)
        if len(line) < 60 and (match := _PAGE_OF.fullmatch(line))
    }
    of = {i: int(match[2]) for i, match in found.items()}
    alike = len({match.group(1, 3, 4) for match in found.values()}) == 1  # "Seite 2 von 5"
    if len(of) >= 2 and alike and all(a < b for a, b in pairwise(of.values())):
        first = min(of)
        yield from _marked_pages(lines, of, before=not any(line.strip() for line in lines[:first]))
        return
    yield None, lines


def _marked_pages(
    lines: Sequence[str], numbers: dict[int, int], *, before: bool
) -> Iterator[_Page]:
    """Yields the pages between mark lines; the marks are left out.

    Args:
        lines: the lines of the file.
        numbers: the page number of each mark, by line.
        before: True when a mark stands before its page, False when it stands after it.
    """
    at = 0
    current = max(1, next(iter(numbers.values())) - 1)
    for mark, number in numbers.items():
        if any(line.strip() for line in lines[at:mark]):
            yield (current if before else number), lines[at:mark]
        current = number
        at = mark + 1
    if any(line.strip() for line in lines[at:]):
        yield (current if before else current + 1), lines[at:]


def _aligned_tables(lines: Sequence[str]) -> list[Region]:
    if not any(len(line) <= _MAX_TABLE_LINE and _WIDE.search(line) for line in lines):
        return []
    segments = [_segments(line) for line in lines]
    rules: list[list[tuple[float, float]]] = [[] for _ in lines]
    for number, line in enumerate(lines):
        if _DRAWN.fullmatch(line[:_MAX_TABLE_LINE]) and number and segments[number - 1]:
            rules[number - 1] = [(piece.left, piece.right) for piece in segments[number]]
            segments[number] = ()
    found = find_tables(segments, rules)
    return [region for region in found if _is_aligned(lines, region)]


def _segments(line: str) -> Line:
    if len(line) > _MAX_TABLE_LINE:
        # No table is that wide: such a line is running text.
        return (Segment(line[:80], 0, len(line)), Segment("…", len(line), len(line)))
    if _ONE_PIECE.match(line) and "  " not in (text := line.strip()) and "..." not in text:
        start = len(line) - len(line.lstrip())
        return (Segment(text, start, start + len(text)),)
    if "\t" in line:
        line = line.replace("\t", "    ")
    return join_marks(tuple(Segment(m[0], *m.span()) for m in _PIECES.finditer(line.rstrip())))


def _is_aligned(lines: Sequence[str], region: Region) -> bool:
    """Says whether a region is a table: more than half of its rows with several pieces have a wide
    gap. Two spaces alone are no sign of a table.
    """
    split = [
        line
        for line in lines[region.first : region.last + 1]
        if "  " in line.strip() or "\t" in line
    ]
    return sum("\t" in line or _WIDE.search(line) is not None for line in split) * 2 > len(split)


def _context(lines: Sequence[str], floor: int, first: int) -> tuple[str, str]:
    """Returns the caption and the note within the four printed lines above a table; "" when there
    is none.
    """
    caption = note = ""
    above = [line.strip() for line in lines[max(floor, first - 12) : first] if line.strip()][-4:]
    for line in reversed(above):
        if not note and is_note(line):
            note = line
            continue
        note = note or unit_note(line)
        plain = (
            3 <= len(line) <= 100
            and line[-1] not in ".;,"
            and "   " not in line
            and line[0].isupper()
        )
        caption = line if plain else ""
        break
    return caption, note


def _lines_above(lines: Sequence[str], floor: int, first: int, caption: str, note: str) -> int:
    """Returns how many lines directly above a table are its caption and note."""
    at = first
    while at > floor and (not lines[at - 1].strip() or lines[at - 1].strip() in (caption, note)):
        at -= 1
    return first - at


def _pipe_tables(lines: Sequence[str]) -> list[Region]:
    """Returns the tables that are drawn with "|" and a rule of dashes under the header."""
    read = [
        (first, last, [pipe_cells(lines[n]) for n in range(first, last + 1) if n != first + 1])
        for first, last in pipe_ranges(lines)
    ]
    return [
        Region(first, last, table)
        for first, last, rows in read
        if (table := table_from_rows(rows)).rows
    ]


def pipe_ranges(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Returns the first and last line of each table that is drawn with "|". The range holds the
    header and the rule below it.
    """
    ranges = []
    at = 1
    while at < len(lines):
        if (
            "|" in lines[at]
            and "|" in lines[at - 1]
            and _PIPE_RULE.fullmatch(lines[at][:_MAX_TABLE_LINE])
        ):
            first = at - 1
            while at + 1 < len(lines) and "|" in lines[at + 1]:
                at += 1
            ranges.append((first, at))
            at += 1
        at += 1
    return ranges
