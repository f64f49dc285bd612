"""Lists and grids: chunks whose lines are records of their own, and the lines of all
lists of a document.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sliders.documents.document import Document
from sliders.retrieval.chunk import Chunk

_MARKED = re.compile(
    r"^\s*(?:\[[^\]\n]{1,24}\]|\(?\d{1,5}[.):]|[-*•‣◦]|#\d+|[A-Za-z]{0,3}\d{1,6}[:.)\t])\s+\S"
)
_SHARE = 0.9
_FEWEST = 4


@dataclass(frozen=True, slots=True)
class Record:
    """One line: its text, where it starts in the document, and its number in the chunk."""

    text: str
    start: int
    ordinal: int


def records_of(chunk: Chunk) -> tuple[Record, ...]:
    """Returns the lines of a chunk that is a list of records; () for prose and tables.

    Nearly all lines must begin with the same kind of mark and be of about one length: prose with
    bullets of different length is not a list of records.
    """
    lines = []
    offset = chunk.start
    for line in chunk.text.splitlines(keepends=True):
        if line.strip():
            lines.append((line.rstrip(), offset))
        offset += len(line)
    marked = [(text, start) for text, start in lines if _MARKED.match(text)]
    if (
        len(marked) < _FEWEST
        or len(marked) < _SHARE * len(lines)
        or not _alike([text for text, _ in marked])
    ):
        return ()
    return tuple(Record(text, start, ordinal) for ordinal, (text, start) in enumerate(marked))


def _alike(lines: list[str]) -> bool:
    """The marks are numbered or bracketed identifiers, all different:
    entries of a list, not points of a passage.
    """
    marks = [line.split(maxsplit=1)[0] for line in lines]
    return len(set(marks)) == len(marks)


def lines_of_lists(document: Document, chunks: Sequence[Chunk]) -> list[tuple[int, int, int]]:
    """Returns (start, end, number of its list) for each line of a document's tables, lists and
    records, in the order of the text.

    List items that follow each other are one list, and so are the records of chunks that follow
    each other.
    """
    lines: list[tuple[int, int, int]] = []
    number, before = 0, ""
    for element in document.elements:
        number += element.kind == "table" or element.kind != before
        before = element.kind
        if element.kind == "table":
            starts = element.row_starts or (element.start,)
            lines += [
                (start, end, number)
                for start, end in zip(starts, (*starts[1:], element.end), strict=True)
            ]
        elif element.kind == "list_item":
            lines.append((element.start, element.end, number))
    listed = False
    for chunk in chunks:
        records = records_of(chunk)
        number += not listed
        listed = bool(records)
        own = [(r.start, r.start + len(r.text), number) for r in records]
        lines = [
            line for line in lines if not (own and line[0] < chunk.end and line[1] > chunk.start)
        ] + own
    return sorted(lines)
