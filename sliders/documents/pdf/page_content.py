"""The content of a page of a PDF: its printed lines, and among them tables with drawn cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium_c

from sliders.documents.pdf.annotations import Note, page_notes, with_notes
from sliders.documents.pdf.characters import Char, main_turn, page_chars, turned_chars
from sliders.documents.pdf.drawn_tables import (
    DrawnTable,
    drawn_grids,
    drawn_table,
    has_labels_outside,
)
from sliders.documents.pdf.ruling_lines import Stroke, Strokes, page_strokes
from sliders.documents.pdf.struck_out import struck_out, words_of
from sliders.documents.pdf.unseen import unseen_words
from sliders.documents.pdf.words import PrintedLine, printed_lines

_FEW_CHARACTERS = 20
_MANY_SHAPES = 50
_SHOWN = 3
_MOST_LOST = 0.05


@dataclass(slots=True)
class PageContent:
    """The content of a page: its lines and drawn tables in reading order, its horizontal strokes,
    and its warnings.

    `scores` are the words of a scanned page, each with its score (0 to 1); `unread` is True for a
    page that shows a picture and has no words.
    """

    lines: list[PrintedLine] = field(default_factory=list)
    strokes: Sequence[Stroke] = ()
    warnings: list[str] = field(default_factory=list)
    scores: tuple[tuple[str, float], ...] = ()
    unread: bool = False


def page_content(pdf: pypdfium2.PdfDocument, index: int, form: Any) -> PageContent:
    """Returns the content of a page.

    Args:
        index: the page, from 0.
        form: the form of the document, None where it has none.
    """
    number = index + 1
    try:
        page = pdf[index]
    except pypdfium2.PdfiumError:
        return PageContent(warnings=[f"page {number} cannot be read: the PDF is damaged there"])
    text_page = page.get_textpage()
    try:
        chars = page_chars(text_page.raw)
        letters = sum(map(str.isalnum, text_page.get_text_range())) if chars else 0
        turn = main_turn(chars)
        notes = page_notes(page.raw, form, turn)
        strokes = page_strokes(page, turn)
        shown = [note for note in notes if not note.hidden]
        unseen = unseen_words(page.raw, text_page.raw, chars)
        chars = turned_chars(chars, turn)
        struck = struck_out(chars, strokes.alone)
        gone = {char.number for run in struck for char in run}
        left = [char for char in chars if char.number not in gone]
        lines = page_lines(text_page.raw, left, shown, strokes)
        told = list(_told(lines, letters - len(gone), number))
        if unseen:
            words = " ".join(unseen[:_SHOWN]) + " ..." * (len(unseen) > _SHOWN)
            told.append(f"page {number}: white or covered text was read: {words}")
        if struck:
            shown_words = [words_of(run) for run in struck[:_SHOWN]]
            told.append(f"page {number}: struck-out text was left out: {shown_words}")
        if hidden := [note.text for note in notes if note.hidden]:
            told.append(f"page {number}: hidden notes were left out: {hidden[:_SHOWN]}")
        few = sum(len(line.words) for line in lines) < _FEW_CHARACTERS
        return PageContent(lines, strokes.alone, told, unread=few and _has_picture(page))
    finally:
        text_page.close()
        page.close()


def page_lines(
    text_page: Any, chars: list[Char], notes: list[Note], strokes: Strokes
) -> list[PrintedLine]:
    """Returns the lines and drawn tables of a page from top to bottom; `text_page` is the page's
    text in pypdfium2, None for a scan.
    """
    grids, walls = drawn_grids(strokes)
    tables: list[DrawnTable] = []
    for grid in grids:
        inside = [char for char in chars if grid.at(*char.middle) is not None]
        held = [note for note in notes if grid.at(*note.middle) is not None]
        outside = has_labels_outside(grid, chars)
        table = None if outside else drawn_table(text_page, grid, inside, held)
        if table is None:
            walls.extend((grid.ys[-1], grid.ys[0], x) for x in grid.xs)
            continue
        tables.append(table)
        taken = {char.number for char in inside}
        chars = [char for char in chars if char.number not in taken]
        notes = [note for note in notes if note not in held]
    lines = with_notes(printed_lines(text_page, chars, walls), notes)
    for table in tables:
        at = next((n for n, line in enumerate(lines) if line.top < table.top), len(lines))
        lines.insert(at, table)
    return lines


def _told(lines: list[PrintedLine], letters: int, number: int) -> Iterator[str]:
    """Yields the warnings of a page: text that was lost, and lines that nobody sees."""
    read = sum(map(str.isalnum, "".join(line.words for line in lines)))
    if letters - read > max(_FEW_CHARACTERS, _MOST_LOST * letters):
        yield f"page {number}: {letters - read} of {letters} letters and digits were not read"
    if unseen := sum(line.invisible for line in lines):
        yield f"page {number}: {unseen} of {len(lines)} lines are invisible text and were read"


def _has_picture(page: pypdfium2.PdfPage) -> bool:
    """True when a page shows a picture, or so many drawn shapes that they may be letters."""
    shapes = 0
    for drawn in page.get_objects(max_depth=4):
        if drawn.type == pdfium_c.FPDF_PAGEOBJ_IMAGE:
            return True
        shapes += drawn.type == pdfium_c.FPDF_PAGEOBJ_PATH
        if shapes > _MANY_SHAPES:
            return True
    return False
