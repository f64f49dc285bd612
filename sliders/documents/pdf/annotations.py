"""Text on a PDF page beside its own text: values of form fields, and annotations."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium_c

from sliders.documents.pdf.characters import turned_box
from sliders.documents.pdf.words import PrintedLine
from sliders.documents.table_grid.segments import Segment

_LONGEST = 2**16
_HIDDEN = 2 | 32
"""Flags of an annotation: not shown at all, not shown on the screen."""
_UNREAD = (pdfium_c.FPDF_ANNOT_LINK, pdfium_c.FPDF_ANNOT_POPUP)
_TICKED = (pdfium_c.FPDF_FORMFIELD_CHECKBOX, pdfium_c.FPDF_FORMFIELD_RADIOBUTTON)
_SILENT = (pdfium_c.FPDF_FORMFIELD_PUSHBUTTON, pdfium_c.FPDF_FORMFIELD_SIGNATURE)


@dataclass(frozen=True, slots=True)
class Note:
    """The words of a form field or an annotation with their box, in points; `hidden` when a viewer
    does not show them.
    """

    text: str
    left: float
    right: float
    bottom: float
    top: float
    hidden: bool

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2


def page_notes(page: Any, form: Any, turn: int = 0) -> list[Note]:
    """Returns the notes of a page.

    Args:
        page: the pypdfium2 page.
        form: the form of the document, None where it has none.
        turn: the quarters of a full turn by which the page is turned back.
    """
    found: list[Note] = []
    for index in range(pdfium_c.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium_c.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            found.extend(_note(annotation, form, turn))
        finally:
            pdfium_c.FPDFPage_CloseAnnot(annotation)
    return found


def _note(annotation: Any, form: Any, turn: int) -> Iterator[Note]:
    kind = pdfium_c.FPDFAnnot_GetSubtype(annotation)
    if kind in _UNREAD:
        return
    if kind == pdfium_c.FPDF_ANNOT_WIDGET:
        text = _field(annotation, form) if form is not None else _string(annotation, b"V")
    else:
        text = _string(annotation, b"Contents")
        if text and kind != pdfium_c.FPDF_ANNOT_FREETEXT:
            text = f"[note: {text}]"
    box = pdfium_c.FS_RECTF()
    if text and pdfium_c.FPDFAnnot_GetRect(annotation, ctypes.byref(box)):
        hidden = bool(pdfium_c.FPDFAnnot_GetFlags(annotation) & _HIDDEN)
        low, high = sorted((box.bottom, box.top))
        yield Note(text, *turned_box((box.left, box.right, low, high), turn), hidden)


def _field(annotation: Any, form: Any) -> str:
    kind = pdfium_c.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in _SILENT:
        return ""
    if kind in _TICKED:
        return "[x]" if pdfium_c.FPDFAnnot_IsChecked(form, annotation) else "[ ]"
    buffer = (ctypes.c_ushort * _LONGEST)()
    size = pdfium_c.FPDFAnnot_GetFormFieldValue(form, annotation, buffer, _LONGEST)
    return _wide(buffer, size)


def _string(annotation: Any, key: bytes) -> str:
    buffer = (ctypes.c_ushort * _LONGEST)()
    return _wide(buffer, pdfium_c.FPDFAnnot_GetStringValue(annotation, key, buffer, _LONGEST))


def _wide(buffer: Any, size: int) -> str:
    """The text of a buffer in UTF-16; `size` is its bytes with the closing zero."""
    text = bytes(buffer)[: max(min(size, _LONGEST) - 2, 0)].decode("utf-16-le", "replace")
    return " ".join(text.split())


def with_notes(lines: list[PrintedLine], notes: list[Note]) -> list[PrintedLine]:
    """The lines of a page with its notes in their place: behind or before the words of the line at
    the same height, else as lines of their own.
    """
    lines = list(lines)
    for note in notes:
        segment = Segment(note.text, note.left, note.right, (), note.bottom)
        home = next((n for n, line in enumerate(lines) if _stands_on(note, line)), None)
        if home is None:
            at = next((n for n, line in enumerate(lines) if line.top < note.top), len(lines))
            height = min(note.top - note.bottom, 12.0)
            lines.insert(at, PrintedLine((segment,), note.top, note.top - height))
        else:
            line = lines[home]
            segments = tuple(sorted((*line.segments, segment), key=lambda s: s.left))
            lines[home] = PrintedLine(segments, line.top, line.bottom, line.bold)
    return lines


def _stands_on(note: Note, line: PrintedLine) -> bool:
    middle = (line.top + line.bottom) / 2
    if not note.bottom - 2 <= middle <= note.top + 2 or note.top - note.bottom > 3 * line.height:
        return False
    return all(note.right <= s.left + 1 or s.right <= note.left + 1 for s in line.segments)
