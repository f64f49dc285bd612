"""Documents that share a reading call: as many as the expected number of rows in the reply allows.

Documents of one chunk share calls, in the order of the collection. A group of them depends on their
places in the collection alone, so that a run that was killed makes the same calls again, and its
log answers them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from sliders.engine.session import Session
from sliders.extraction.cell import Row
from sliders.extraction.prompt import Asked, reply_of_cells, reply_tokens
from sliders.llm.model import Model
from sliders.schema.types import Table

TRIED = 3
"""The documents that show how many rows a document has."""
_REPLY_TOKENS = 5_000
"""The usual tokens of the reply to a full call; the limit of the reply is twice as high."""
_TEXT_TOKENS = 16_000
_SHARE_OF_WINDOW = 0.25


@dataclass(slots=True)
class SharedCalls:
    """The documents of a collection that may share calls.

    Args:
        session: the session.
        places: the ids of all chunks with their documents, in order.
        missing: the documents that are to be read.
    """

    session: Session
    places: Sequence[tuple[str, str]]
    missing: Collection[str]
    _order: dict[str, int] = field(init=False)
    _chunks: Counter[str] = field(init=False)

    def __post_init__(self) -> None:
        self._order = {d: n for n, d in enumerate(dict.fromkeys(d for _, d in self.places))}
        self._chunks = Counter(document for _, document in self.places)

    @property
    def model(self) -> Model:
        """The model that reads."""
        return self.session.models.model_for("extract")

    def tried(self, asked: Sequence[Asked]) -> list[str]:
        """Returns the documents that are read first, to learn how many rows a document has; [] when
        the number is known.
        """
        several = [a.table for a in asked if a.table.grain == "many"]
        tried = dict.fromkeys(
            d for t in several for d in self._first(self._settled(t)) if d in self.missing
        )
        return list(tried) if self.reply_of_one(asked) == 0 else []

    def groups(self, waiting: Iterable[str], one: int) -> list[tuple[str, ...]]:
        """Returns documents in groups that are read together, in as few calls as possible.

        Args:
            one: the usual tokens of the reply about one document; 0 when nothing is known.
        """
        most = self.model.dialect.documents_per_call
        size = max(1, min(most, _REPLY_TOKENS // one)) if one else min(most, TRIED)
        groups: dict[str | int, list[str]] = {}
        for document in waiting:
            key = self._order[document] // size if self._shares(document) else document
            groups.setdefault(key, []).append(document)
        return [tuple(group) for group in groups.values()]

    def _shares(self, document_id: str) -> bool:
        return self.model.dialect.documents_per_call > 1 and self._chunks[document_id] == 1

    def reply_of_one(self, asked: Sequence[Asked]) -> int:
        """Returns the usual tokens of the reply about one document; 0 while a table may have any
        number of rows.
        """
        several = [a for a in asked if a.table.grain == "many"]
        learned = [self._learned(a) for a in several]
        if not all(learned):
            return 0
        single = (reply_of_cells(1, len(a.columns)) for a in asked if a not in several)
        return sum(learned) + sum(single)

    def _settled(self, table: Table) -> frozenset[str]:
        """Returns the chunks that were read for a table."""
        settled = self.session.catalog.extractions.settled(table)
        return frozenset(chunk for chunk, columns in settled.items() if columns)

    def _first(self, read: Collection[str]) -> list[str]:
        """Returns the first documents that share calls and were read, or will be.

        Args:
            read: the chunks that were read.
        """
        there = (d for c, d in self.places if self._shares(d) and (c in read or d in self.missing))
        return list(islice(there, TRIED))

    def _learned(self, asked: Asked) -> int:
        """Returns the tokens of the reply about the rows of a table in one document: the most of
        the first documents; 0 before these were read.
        """
        read = self._settled(asked.table)
        first = self._first(read)
        known = {d for c, d in self.places if c in read}
        if not first or not known.issuperset(first):
            return 0
        by_document: dict[str, list[Row]] = {document: [] for document in first}
        extractions = self.session.catalog.extractions
        for row in extractions.rows(asked.table.name, document_ids=first):
            by_document[row.document_id].append(row)
        return max(_reply_again(rows, len(asked.columns)) for rows in by_document.values())


def _reply_again(rows: Sequence[Row], columns: int) -> int:
    """Returns the tokens of a reply with these rows, for `columns` columns whose cells are as often
    filled as the known ones.
    """
    cells = [cell for row in rows for cell in row.cells]
    names = {cell.column for cell in cells}
    filled = sum(cell.value is not None for cell in cells) / max(1, len(names))
    return max(
        reply_of_cells(1, 0),
        reply_of_cells(len(rows), 0) + reply_of_cells(0, round(filled * columns)),
    )


def in_calls(texts: Sequence[str], asked: Sequence[Asked], model: Model, one: int) -> list[int]:
    """Returns the number of texts in each call, in their order.

    Args:
        one: the usual tokens of the reply about one text; 0 for the most that it may need.
    """
    room = min(_TEXT_TOKENS, int(model.context_tokens * _SHARE_OF_WINDOW))
    sizes: list[int] = []
    text = reply = 0
    for words in texts:
        own, back = model.count_tokens(words), one or reply_tokens(words, asked)
        full = sizes and (text + own > room or reply + back > max(_REPLY_TOKENS, one))
        if full or not sizes or sizes[-1] >= model.dialect.documents_per_call:
            sizes.append(0)
            text = reply = 0
        sizes[-1] += 1
        text, reply = text + own, reply + back
    return sizes
