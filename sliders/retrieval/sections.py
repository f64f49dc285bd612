"""Sections of a document: pieces that are searched, listed and shown as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sliders.documents.document import Document, Element
from sliders.retrieval.context import blocks_of
from sliders.retrieval.sentences import sentence_spans

_LONGEST = 1_200
_GIST = 500
_LEADING = 160
"""The most characters of a paragraph without an end mark that is read as a heading of the text
below it.
"""
_ENDS = (".", "。", "！", "？", "!", "?", ";")


@dataclass(frozen=True, slots=True)
class Section:
    """A table with the heading above it, or paragraphs under one heading.

    Args:
        start: its first character in the document.
        end: the character after its last one.
        text: its text.
        labels: the headings and short lines that lead to it, and the first cells of its rows.
    """

    start: int
    end: int
    text: str
    labels: tuple[str, ...] = ()
    table: bool = False

    @property
    def gist(self) -> str:
        """The words by which the section's meaning is compared: the labels of a table, whose
        numbers carry no meaning, else the beginning of the text.
        """
        return ("; ".join(self.labels) if self.table else self.text.strip())[:_GIST]


def sections_of(document: Document, start: int = 0, end: int | None = None) -> list[Section]:
    """Returns the sections of `document.text[start:end]`, in order; text without any character but
    white space belongs to none.
    """
    stop = len(document.text) if end is None else end
    joined: list[_LedBlock] = []
    for unit in _units(document, start, stop):
        last = joined[-1] if joined else None
        apart = last is None or last.table or unit.table or unit.headed
        if apart or last is None or unit.end - last.start > _LONGEST:
            joined.append(unit)
        else:
            joined[-1] = replace(last, end=unit.end)
    spans = ((unit, document.text[unit.start : unit.end]) for unit in joined)
    return [
        Section(unit.start, unit.end, text, unit.labels, unit.table)
        for unit, text in spans
        if text.strip()
    ]


@dataclass(frozen=True, slots=True)
class _LedBlock:
    """A block with the headings and short lines that lead to it."""

    start: int
    end: int
    table: bool = False
    headed: bool = False
    labels: tuple[str, ...] = ()


def _units(document: Document, start: int, end: int) -> Iterator[_LedBlock]:
    held: _LedBlock | None = None
    for low, high, element in _blocks(document, start, end):
        text = document.text[low:high].strip()
        kind = element.kind if element else "paragraph"
        leads = kind == "heading" or (
            kind != "table" and len(text) <= _LEADING and not text.endswith(_ENDS)
        )
        labels = row_labels(text) if kind == "table" else (" ".join(text.split()),) if leads else ()
        unit = _LedBlock(low, high, kind == "table", kind == "heading", tuple(labels))
        if held and low - held.start > _LEADING * 3:
            yield held
            held = None
        if held:
            headed, both = held.headed or unit.headed, (*held.labels, *unit.labels)
            unit = _LedBlock(held.start, high, unit.table, headed, both)
        held = unit if leads else None
        if not leads:
            yield unit
    if held:
        yield held


def row_labels(table: str) -> Iterator[str]:
    """Yields the first cells of a table's rows, which name its lines."""
    for line in table.splitlines():
        label = " ".join(line.strip("| ").split("|")[0].split())
        if label.strip("-: "):
            yield label


def _blocks(document: Document, start: int, end: int) -> Iterator[tuple[int, int, Element | None]]:
    """Yields the blocks between two places; a long paragraph falls into runs of its sentences."""
    for low, high, element in blocks_of(document):
        begin, finish = max(low, start), min(high, end)
        if begin >= finish:
            continue
        if (element is not None and element.kind == "table") or finish - begin <= _LONGEST:
            yield begin, finish, element
            continue
        at = begin
        for _, stop in sentence_spans(document.text, begin, finish):
            if stop - at >= _LONGEST or stop == finish:
                yield at, stop, element
                at = stop
