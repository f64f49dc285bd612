"""Join values are looked for where they are printed: code reads every document for nothing, the
model only those parts.

A join value was copied from a document, and its partner is one name with it by the words alone, so
a document that does not print those words cannot join, and of the others only the segments that
print them can show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from sliders.documents.document import Document
from sliders.extraction.cell import Scalar
from sliders.retrieval.segment_index import SegmentIndex
from sliders.schema.types import Column, ColumnType
from sliders.values.folding import fold, name_tokens

_CHECKED = 50
"""Known values that are compared with their documents before others are
looked for by their words.
"""


NameWords = tuple[frozenset[str], ...]
"""The words of each name that an attribute is looked for with."""


@dataclass(slots=True)
class JoinNames:
    """Where a table's documents print the join values that it is filtered by now: `names` by
    attribute; `unjoined` attributes of documents hold none of them.
    """

    names: dict[str, NameWords] = field(default_factory=dict)
    printed: dict[tuple[str, str], frozenset[int]] = field(default_factory=dict)
    unjoined: set[tuple[str, str]] = field(default_factory=set)

    def rows(self, document: Document, index: SegmentIndex, attribute: str) -> frozenset[int]:
        """Segments of a document that print a name that an attribute is looked for with."""
        rows = self.printed.get((document.id, attribute))
        if rows is None:
            rows = _printing(self.names[attribute], document, index)
            self.printed[document.id, attribute] = rows
        return rows

    def nulls(self, document_id: str) -> dict[str, None]:
        """Attributes of a document that join nothing: null meanwhile, so that the join fails."""
        return {name: None for name in self.names if (document_id, name) in self.unjoined}


def _printing(names: NameWords, document: Document, index: SegmentIndex) -> frozenset[int]:
    """Segments that print one of the names; those with a part of it where a segment's end splits
    it.
    """
    text = document.text
    words = frozenset(fold(text).split())
    names = tuple(name for name in names if name <= words)
    if not names:
        return frozenset()
    spans = index.entries[document.id].spans
    held = [frozenset(fold(text[start:end]).split()) for start, end, _ in spans.tolist()]
    rows: set[int] = set()
    for name in names:
        whole = {row for row, words in enumerate(held) if name <= words}
        rows |= whole or {row for row, words in enumerate(held) if name & words}
    return frozenset(rows)


def join_words(
    column: Column, known: Iterable[tuple[str, Scalar]], values: Sequence[Scalar]
) -> NameWords | None:
    """How to look for these join values in a table's documents; None where their words
    need not stand there.

    Numbers and dates are equal in other words, too; and an attribute whose known values are not all
    printed in their documents is stated in other words.

    Args:
        known: known values of the column, each behind the text of its document.
    """
    texts = [value for value in values if isinstance(value, str)]
    if column.type is not ColumnType.TEXT or len(texts) < len(values):
        return None
    if not texts or not _printed(known):
        return None
    return tuple(dict.fromkeys(map(_words, texts)))


def _words(name: str) -> frozenset[str]:
    """The words of a name as `fold` gives those of a document: a sign need not end a word
    there ("C++-based").
    """
    return frozenset(fold(" ".join(name_tokens(name))).split())


def _printed(known: Iterable[tuple[str, Scalar]]) -> bool:
    """Whether the known values of an attribute, at least one, all stand in their documents."""
    checked = [
        _words(str(value)) <= frozenset(fold(text).split())
        for text, value in islice(known, _CHECKED)
    ]
    return bool(checked) and all(checked)
