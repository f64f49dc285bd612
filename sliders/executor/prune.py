"""Which chunks of long documents are worth asking: nearness of their words to the columns, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sliders.executor.session import Session
from sliders.schema.names import spoken_name
from sliders.schema.schema import Column, Table

if TYPE_CHECKING:
    from sliders.executor.fill import Work

_LONG = 4
"""Documents of up to this many chunks are read whole (behind the gate)."""
_PER_COLUMN = 2
"""Chunks kept for each column of a long document: the nearest ones."""
_EMBED_CHARACTERS = 1500


def select_chunks(session: Session, table: Table, work: Sequence[Work]) -> tuple[list[Work], list[tuple[Work, str]]]:
    """The work to do, and the work dropped with the reason.

    Only tables with one row a document are pruned: every chunk of a document may hold one more row of the others.
    """
    by_document: dict[str, list[Work]] = {}
    for item in work:
        by_document.setdefault(item.chunk.document_id, []).append(item)
    if table.grain != "document" or all(len(items) <= _LONG for items in by_document.values()):
        return list(work), []
    queries: dict[str, np.ndarray] = {}
    kept: list[Work] = []
    dropped: list[tuple[Work, str]] = []
    for items in by_document.values():
        if len(items) <= _LONG:
            kept.extend(items)
            continue
        chosen = _nearest(session, table, items, queries)
        for number, item in enumerate(items):
            if number in chosen:
                kept.append(item)
            else:
                dropped.append((item, f"other parts of the document are nearer to {_asked(item.columns)}"))
    return kept, dropped


def _asked(columns: Sequence[Column]) -> str:
    return ", ".join(spoken_name(c.name) for c in columns[:4])


def _nearest(session: Session, table: Table, items: Sequence[Work], queries: dict[str, np.ndarray]) -> set[int]:
    vectors = session.embedder.embed([item.chunk.text[:_EMBED_CHARACTERS] for item in items])
    chosen = {0, len(items) - 1}  # titles and orders stand at the ends
    for column in items[0].columns:
        if column.name not in queries:
            words = f"{spoken_name(column.name)}: {column.description or table.row}"
            queries[column.name] = session.embedder.embed([words])[0]
        order = np.argsort(-(vectors @ queries[column.name]), kind="stable")
        chosen.update(int(i) for i in order[:_PER_COLUMN])
    return chosen
