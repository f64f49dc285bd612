"""Which chunks of long documents are worth asking: nearness of their words to the columns, without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sliders.chunks.lexical import BM25
from sliders.executor.session import Session
from sliders.schema.names import spoken_name
from sliders.schema.types import Column, Table

if TYPE_CHECKING:
    from sliders.executor.fill import Work

_LONG = 4
"""Documents of up to this many chunks are read whole (behind the gate)."""
_PER_COLUMN = 2
"""Chunks kept for each column of a long document: the nearest ones."""
_EMBED_CHARACTERS = 1500
_MOST_EMBEDDED = 1000
"""Chunks of one table beyond which words alone choose: two cores embed about 15 chunks a second, and score 2,000."""


class ChunkJudge:
    """Chooses the chunks of one document after the other, for one table."""

    def __init__(self, session: Session, table: Table, total: int) -> None:
        """`total` is the number of chunks of all documents that are to be asked."""
        self._session, self._table = session, table
        self._by_words = total > _MOST_EMBEDDED
        self._queries: dict[str, np.ndarray] = {}

    async def select(self, items: Sequence[Work]) -> tuple[list[Work], list[tuple[Work, str]]]:
        """The work of a document to do, and the work dropped with the reason.

        Only tables with one row a document are pruned: every chunk of a document may hold one more row of the others.
        """
        if self._table.grain != "document" or len(items) <= _LONG:
            return list(items), []
        # In a thread: the calls that are under way go on meanwhile.
        near = self._by_word(items) if self._by_words else await asyncio.to_thread(self._by_meaning, items)
        chosen = {0, len(items) - 1, *near}  # titles and orders stand at the ends
        kept = [item for number, item in enumerate(items) if number in chosen]
        why = f"other parts of the document are nearer to {_asked(items[0].columns)}"
        return kept, [(item, why) for number, item in enumerate(items) if number not in chosen]

    def _by_word(self, items: Sequence[Work]) -> set[int]:
        index: BM25[int] = BM25()
        for number, item in enumerate(items):
            index.add(number, item.chunk.text)
        chosen: set[int] = set()
        for column in _columns(items):
            chosen.update(number for number, _ in index.search(self._words(column), _PER_COLUMN))
        return chosen

    def _by_meaning(self, items: Sequence[Work]) -> set[int]:
        embed = self._session.embedder.embed
        vectors = embed([item.chunk.text[:_EMBED_CHARACTERS] for item in items])
        chosen: set[int] = set()
        for column in _columns(items):
            if column.name not in self._queries:
                self._queries[column.name] = embed([self._words(column)])[0]
            order = np.argsort(-(vectors @ self._queries[column.name]), kind="stable")
            chosen.update(int(i) for i in order[:_PER_COLUMN])
        return chosen

    def _words(self, column: Column) -> str:
        return f"{spoken_name(column.name)}: {column.description or self._table.row}"


def _columns(items: Sequence[Work]) -> tuple[Column, ...]:
    return tuple({column.name: column for item in items for column in item.columns}.values())


def _asked(columns: Sequence[Column]) -> str:
    return ", ".join(spoken_name(c.name) for c in columns[:4])
