"""The second look at long documents: when a column has no value after reading, the sections that no
call has shown are searched again.

They are searched with the evidence of other documents (the words beside a value, under their
heading), then once by the model, which sees an outline of the parts that were left out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sliders.engine.choose_chunks import ChosenParts, RankedParts, choose_parts, words_of
from sliders.engine.session import Session
from sliders.engine.ways import ways_of
from sliders.extraction.cell import Absence, Row
from sliders.extraction.prompt import Asked
from sliders.retrieval.context import Outline
from sliders.retrieval.nearness import nearness
from sliders.schema.types import Column

_SOURCES = 5
"""The number of values of other documents whose surrounding words are searched for."""
_AROUND = 120
"""The number of characters before and after such a value."""
_SECTIONS = 3
"""The sections that are read for one column in a round."""
_ROUNDS = 2
_USUALLY = 0.5
"""The share of documents with a value from which on the model searches the documents without
one.
"""
_FEW = 3
"""The number of documents below which nothing is said about what a document usually states."""


@dataclass(slots=True)
class LongDocument:
    """A document of which only some sections were shown to the model.

    Args:
        ranked: its parts and sections.
        asked: the tables and columns that it is asked for.
        card: its card.
        choice: the parts that were chosen for a reader.
        unread: the numbers of the sections that no call has shown.
    """

    ranked: RankedParts
    asked: Sequence[Asked]
    card: str
    choice: ChosenParts
    unread: set[int] = field(default_factory=set)

    @property
    def id(self) -> str:
        """The document's id."""
        return self.ranked.document.id

    @property
    def chosen(self) -> set[str]:
        """The ids of the chunks that were chosen."""
        return {self.ranked.chunks[number].id for number in self.choice.parts}


ReadSections = Callable[[LongDocument, Sequence[int], Sequence[Asked]], Awaitable[None]]
"""Reads sections of a document for some columns."""


async def look_again(
    session: Session, documents: Sequence[LongDocument], read: ReadSections
) -> None:
    """Searches documents again for columns without a value.

    Args:
        documents: the documents of which only some sections were shown.
        read: reads sections, and removes them from `unread`.
    """
    rows = _Rows(session, documents)
    tried: set[tuple[str, str, str]] = set()
    for _ in range(_ROUNDS):
        again = [(one, missing) for one in documents if (missing := rows.missing(one))]
        for one, missing in again:
            near = list(rows.near(one, missing, tried))
            if near:
                wanted = [replace(a, columns=(c,)) for a, c, _ in near]
                await read(one, sorted({n for *_, each in near for n in each}), wanted)
    if not ways_of(session.models.model_for("gate")).gate.by_outline:
        return
    for one in documents:
        usual = [a for asked in rows.missing(one) if (a := rows.usual(asked))]
        if usual and one.unread:
            await _by_model(session, one, usual, read)


async def _by_model(
    session: Session, one: LongDocument, asked: Sequence[Asked], read: ReadSections
) -> None:
    """Reads the unread sections of the parts that the model chooses."""
    ranked = one.ranked
    left = sorted({ranked.owners[number] for number in one.unread})
    chunks = [ranked.chunks[number] for number in left]
    rest = RankedParts(ranked.document, chunks, words_of(asked), ranked.embedder)
    choice = await choose_parts(session, rest, asked, one.card)
    parts = {left[number] for number in choice.parts}
    sections = [n for n in sorted(one.unread) if ranked.owners[n] in parts]
    if sections:
        await read(one, sections, asked)


@dataclass(slots=True)
class _Rows:
    """The rows of the tables, to find missing values and evidence for them."""

    session: Session
    documents: Sequence[LongDocument]

    def _of(self, table: str) -> dict[str, list[Row]]:
        """Returns the rows of a table by document."""
        found: dict[str, list[Row]] = {}
        for row in self.session.catalog.extractions.iterate(table):
            found.setdefault(row.document_id, []).append(row)
        return found

    def missing(self, one: LongDocument) -> list[Asked]:
        """Returns the columns without a value in a document, of those that apply to it."""
        left = []
        for asked in one.asked if one.unread else ():
            ids = [one.id]
            rows = self.session.catalog.extractions.rows(asked.table.name, document_ids=ids)
            columns = tuple(c for c in asked.columns if not _told(rows, c.name))
            if columns:
                left.append(replace(asked, columns=columns))
        return left

    def usual(self, asked: Asked) -> Asked | None:
        """Returns the columns that most documents with rows of the table state; None when there are
        none.
        """
        rows = self._of(asked.table.name)
        columns = tuple(c for c in asked.columns if self._usual(rows, c.name))
        return replace(asked, columns=columns) if columns else None

    def _usual(self, rows: Mapping[str, Sequence[Row]], column: str) -> bool:
        stated = sum(_told(each, column) for each in rows.values())
        return len(rows) < _FEW or stated >= _USUALLY * len(rows)

    def near(
        self, one: LongDocument, missing: Sequence[Asked], tried: set[tuple[str, str, str]]
    ) -> Iterator[tuple[Asked, Column, list[int]]]:
        """Yields the missing columns with the unread sections that are nearest to the words beside
        their values in other documents. No words are searched for twice.
        """
        unread = sorted(one.unread)
        texts = [one.ranked.sections[n].text for n in unread]
        gists = [one.ranked.sections[n].gist for n in unread]
        for asked in missing:
            rows = self._of(asked.table.name)
            for column in asked.columns:
                words = self._evidence(rows, one.id, column.name)
                new = [w for w in words if (one.id, column.name, w) not in tried]
                tried.update((one.id, column.name, w) for w in new)
                if not new or not texts:
                    continue
                scores = nearness(texts, new, one.ranked.embedder, gists).sum(axis=1)
                best = np.argsort(-scores, kind="stable")[:_SECTIONS].tolist()
                if near := [unread[n] for n in best if scores[n] > 0]:
                    yield asked, column, near

    def _evidence(
        self, rows: Mapping[str, Sequence[Row]], document_id: str, column: str
    ) -> list[str]:
        """Returns the words beside values of a column in other documents."""
        words: list[str] = []
        for other, each in rows.items():
            spans = (c.span for row in each if (c := row.cell(column)) and c.value is not None)
            span = next((span for span in spans if span is not None), None)
            if other != document_id and span is not None and len(words) < _SOURCES:
                document = self.session.catalog.documents.get(other)
                text = document.text
                low = max(text.rfind("\n", 0, span.start) + 1, span.start - _AROUND)
                end = text.find("\n", span.end)
                high = min(end if end >= 0 else len(text), span.end + _AROUND)
                heading = " ".join(Outline(document).heading_path(span.start)[-1:])
                words.append(f"{heading}: {text[low : span.start]}{text[span.end : high]}")
        return words


def _told(rows: Sequence[Row], column: str) -> bool:
    """Says whether some row has a value in a column, or says that the column does not apply."""
    cells = [cell for row in rows if (cell := row.cell(column)) is not None]
    return any(c.value is not None or c.absence is Absence.DOES_NOT_APPLY for c in cells)
