"""An excerpt of a long document for some questions, in a few thousand characters: its beginning,
its headings, and the parts that a search for each question finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sliders.documents.document import Document
from sliders.retrieval.context import blocks_of
from sliders.retrieval.lexical import BM25

_PIECE = 900
"""The usual number of characters in a piece."""
_HEADINGS = 6
"""The largest share of an excerpt that the headings take."""
GAP = "[...]"
"""The mark for text that was left out."""

Span = tuple[int, int]


def excerpt(document: Document, questions: Sequence[str], characters: int) -> str:
    """Returns a document's text when it has at most `characters` characters. Otherwise its
    headings, its first piece, and the pieces that share most words with each question in turn, in
    the order of the text; when no piece shares a word, pieces from everywhere.
    """
    text = document.text
    if len(text) <= characters:
        return text
    headings = _headings(document, characters // _HEADINGS)
    pieces, room = list(_pieces(document)), characters - len(headings)
    kept = list[int]()
    for number in _ranked([text[start:end] for start, end in pieces], questions):
        size = pieces[number][1] - pieces[number][0] + len(GAP) + 2
        if size <= room:
            kept.append(number)
            room -= size
    shown, last = [headings] if headings else [], -1
    for number in sorted(kept):
        shown += [GAP] if number != last + 1 else []
        shown.append(text[slice(*pieces[number])].strip())
        last = number
    return "\n".join(shown)


def _headings(document: Document, characters: int) -> str:
    lines = (
        " ".join(document.text[e.start : e.end].split())
        for e in document.elements
        if e.kind == "heading"
    )
    said = "; ".join(dict.fromkeys(line for line in lines if line))
    return f"Headings: {said}"[:characters] if said else ""


def _pieces(document: Document) -> Iterator[Span]:
    """Spans of whole blocks, of about `_PIECE` characters; a longer block is cut."""
    begin, end = 0, 0
    for start, stop, _ in blocks_of(document):
        if end > begin and stop - begin > _PIECE:
            yield begin, end
            begin = start
        begin, end = (begin if end > begin else start), stop
        while end - begin > 2 * _PIECE:
            yield begin, begin + _PIECE
            begin += _PIECE
    if end > begin:
        yield begin, end


def _ranked(texts: Sequence[str], questions: Sequence[str]) -> list[int]:
    """Returns the numbers of pieces in order of use: the first piece, the best of each question,
    then the second best of each.
    """
    index, orders = BM25(texts), list[list[int]]()
    for question in questions:
        scores = index.scores(question)
        order = np.argsort(-scores, kind="stable")
        orders.append([int(number) for number in order if scores[number] > 0])
    longest = max(map(len, orders), default=0)
    found = [order[place] for place in range(longest) for order in orders if place < len(order)]
    step = max(1, len(texts) // 8)
    return list(dict.fromkeys([0, *found, *range(0, len(texts), step), *range(len(texts))]))
