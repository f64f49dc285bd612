"""The search for join values in documents. Code searches the words of each value without cost, and
the model reads only the segments that print these words.

Values that join are copied from documents and share their words. So a document that prints the
words of no join value cannot join; in other documents, only the segments that print such words can
show the value.
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
"""The number of known values that are compared with their documents before the words of further
values are searched.
"""


NameWords = tuple[frozenset[str], ...]
"""The words of each name that an attribute is searched for."""


@dataclass(slots=True)
class JoinNames:
    """The places in a table's documents that print its join values.

    Args:
        names: the names to search for, by attribute.
        printed: the numbers of the segments that print one, by document and attribute.
        unjoined: the pairs of document and attribute that print none.
    """

    names: dict[str, NameWords] = field(default_factory=dict)
    printed: dict[tuple[str, str], frozenset[int]] = field(default_factory=dict)
    unjoined: set[tuple[str, str]] = field(default_factory=set)

    def rows(self, document: Document, index: SegmentIndex, attribute: str) -> frozenset[int]:
        """Returns the segments of a document that print one of the attribute's names."""
        rows = self.printed.get((document.id, attribute))
        if rows is None:
            rows = _printing(self.names[attribute], document, index)
            self.printed[document.id, attribute] = rows
        return rows

    def nulls(self, document_id: str) -> dict[str, None]:
        """Returns None for the attributes of a document that join nothing, so that the
        join fails.
        """
        return {name: None for name in self.names if (document_id, name) in self.unjoined}


def _printing(names: NameWords, document: Document, index: SegmentIndex) -> frozenset[int]:
    """Returns the segments that print one of the names. When the end of a segment splits a name,
    both segments are included.
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
    """Returns the words of join values to search for; None when documents need not print these
    words.

    Documents can print numbers and dates in other words. The same holds for an attribute when one
    of its known values is not printed in its document.

    Args:
        known: the text of a document with a known value of the column, for each known value.
    """
    texts = [value for value in values if isinstance(value, str)]
    if column.type is not ColumnType.TEXT or len(texts) < len(values):
        return None
    if not texts or not _printed(known):
        return None
    return tuple(dict.fromkeys(map(_words, texts)))


def _words(name: str) -> frozenset[str]:
    """Returns the words of a name, folded as `fold` folds the words of a document, also where a
    document joins further letters to a sign ("C++-based").
    """
    return frozenset(fold(" ".join(name_tokens(name))).split())


def _printed(known: Iterable[tuple[str, Scalar]]) -> bool:
    """Says whether an attribute has known values, and each is printed in its document."""
    checked = [
        _words(str(value)) <= frozenset(fold(text).split())
        for text, value in islice(known, _CHECKED)
    ]
    return bool(checked) and all(checked)
