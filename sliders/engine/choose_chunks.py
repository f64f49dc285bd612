"""The choice of parts in long documents: every part is ranked for each column, and the gate (a call
that sorts out parts without values) sees an outline of all of them.

A *part* is a chunk of a document, a *section* a piece of a part: a table, or paragraphs under one
heading. The *nearness* of a section to a column is a score, larger for more similar words or
meaning; a part has the nearness of its nearest section.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sliders.documents.document import Document
from sliders.engine.session import Session
from sliders.engine.ways import ways_of
from sliders.extraction.gate import Gated, OutlineLine
from sliders.extraction.prompt import Asked
from sliders.retrieval.chunk import Chunk
from sliders.retrieval.embeddings import Embedder
from sliders.retrieval.lexical import stems, terms
from sliders.retrieval.nearness import nearness, ranked
from sliders.retrieval.sections import Section, sections_of
from sliders.retrieval.sentences import sentence_spans
from sliders.schema.names import spoken_name
from sliders.schema.types import Column

LONG = 4
"""Documents of at most this many chunks are read whole."""
MOST_EMBEDDED = 1_000
"""With more chunks than this in a run, parts are chosen by words alone: two cores embed about 200
short pieces a second.
"""
_OUTLINE = 3_600
"""The characters of an outline beside the lines that are near to a column."""
_SHORTEST, _LINE = 40, 80
_NEAREST = 3
"""The number of parts for which the outline shows the line that is nearest to a column."""
_NAMED = 2
"""The most parts that may name a column before the model is asked to choose among them."""
_NEARER = "other parts of the document are nearer to the columns that are asked for"
_NAMED_ELSEWHERE = (
    "a heading or a row of another part has the name of each column that is asked for"
)


@dataclass
class RankedParts:
    """The parts of a document with their sections, and the nearness of each section to some
    columns.

    Args:
        document: the document.
        chunks: its parts.
        columns: the name and description of each column, or other words to look for.
        embedder: compares meanings; None compares words alone.
    """

    document: Document
    chunks: Sequence[Chunk]
    columns: Sequence[str]
    embedder: Embedder | None = None
    sections: list[Section] = field(init=False)
    owners: list[int] = field(init=False)
    """The number of the part that each section belongs to."""

    def __post_init__(self) -> None:
        parts = [sections_of(self.document, chunk.start, chunk.end) for chunk in self.chunks]
        self.owners = [number for number, each in enumerate(parts) for _ in each]
        self.sections = [section for each in parts for section in each]

    @cached_property
    def near(self) -> NDArray[np.float64]:
        """The nearness of each section to each column, shape (sections, columns), 0 for none. It
        joins the section's words, its meaning, and its heading or row label that is most like the
        column's name.
        """
        texts = [section.text for section in self.sections]
        gists = [section.gist for section in self.sections]
        near = nearness(texts, self.columns, self.embedder, gists)
        labels = [[set(stems(label)) for label in section.labels] for section in self.sections]
        for number, words in enumerate(self.columns):
            name = set(stems(words.partition(":")[0]))
            alike = [max((_alike(label, name) for label in of), default=0.0) for of in labels]
            near[:, number] += ranked(np.array(alike))
        return near

    def best(self, column: int) -> list[tuple[int, Section]]:
        """Returns pairs (number of a part, its section nearest to the column) for the parts with
        any nearness; the nearest part comes first.

        Args:
            column: the position of the column in `columns`.
        """
        found: dict[int, Section] = {}
        for number in np.argsort(-self.near[:, column], kind="stable").tolist():
            if self.near[number, column] > 0:
                found.setdefault(self.owners[number], self.sections[number])
        return list(found.items())

    def order(self) -> list[int]:
        """Returns the numbers of the parts: the best part of every column, then the second of every
        column, and so on; the parts that are near to no column come last, in the order of the text.
        """
        ranks = [[number for number, _ in self.best(c)] for c in range(len(self.columns))]
        longest = max(map(len, ranks), default=0)
        turns = (rank[place] for place in range(longest) for rank in ranks if place < len(rank))
        return list(dict.fromkeys([*turns, *range(len(self.chunks))]))

    def naming(self, name: str) -> list[int]:
        """Returns the numbers of the parts with a heading or a row label that is the name of a
        column.
        """
        words = frozenset(terms(spoken_name(name)))
        named = (
            owner
            for owner, section in zip(self.owners, self.sections, strict=True)
            if any(frozenset(terms(label)) == words for label in section.labels)
        )
        return list(dict.fromkeys(named))

    def searched(self, phrases: Sequence[str]) -> set[int]:
        """Returns the numbers of the parts that hold words of the phrases: for each phrase the
        nearest part.
        """
        texts = [section.text for section in self.sections]
        scores = nearness(texts, phrases) if phrases and texts else np.zeros((0, 0))
        return {self.owners[int(of.argmax())] for of in scores.T if of.any()}

    def outline(self, listed: Sequence[int]) -> list[OutlineLine]:
        """Returns a line for each part, as the gate sees it: their headings, and the lines that are
        nearest to a column; parts that are near to no column come last.
        """
        lines: dict[int, list[str]] = {}
        for column, words in enumerate(self.columns):
            for number, section in self.best(column)[:_NEAREST]:
                lines.setdefault(number, []).append(_line(section, words))
        room = max(_SHORTEST, _OUTLINE // max(1, len(listed)))
        told = []
        for number in sorted(listed, key=lambda number: (number not in lines, number)):
            headings = self._headings(number, room)
            near = (line for line in dict.fromkeys(lines.get(number, ())) if line not in headings)
            told.append(OutlineLine(self.chunks[number], " | ".join([headings, *near])))
        return told

    def _headings(self, number: int, room: int) -> str:
        """Returns the headings above and inside a part, else the rows of its tables, else its first
        words; at most `room` characters.
        """
        chunk = self.chunks[number]
        inside = [
            self.document.text[e.start : e.end]
            for e in self.document.elements
            if e.kind == "heading" and chunk.start <= e.start < chunk.end
        ]
        own = (s for o, s in zip(self.owners, self.sections, strict=True) if o == number)
        headings = [*chunk.context.heading_path[-1:], *inside]
        told = headings or [label for section in own for label in section.labels] or [chunk.text]
        return _cut("; ".join(dict.fromkeys(" ".join(one.split()) for one in told)), room)


def words_of(asked: Sequence[Asked]) -> list[str]:
    """Returns the words to look for in a text: the name and description of each column."""
    return [column_words(a, c) for a in asked for c in a.columns]


def column_words(asked: Asked, column: Column) -> str:
    """Returns a column's name and description."""
    return f"{spoken_name(column.name)}: {column.description or asked.table.row}"


@dataclass(frozen=True, slots=True)
class ChosenParts:
    """The parts of a document that are read, and why the other parts are not.

    Args:
        parts: the numbers of the parts that are read.
        left_out: the reason for each part that is not read, by chunk id: under "pruned" those
            that were left out without asking the model, under "gated" those that it left out.
    """

    parts: tuple[int, ...]
    left_out: dict[Literal["pruned", "gated"], dict[str, str]]


async def choose_parts(
    session: Session, ranked: RankedParts, asked: Sequence[Asked], card: str = ""
) -> ChosenParts:
    """Returns the parts of a long document to read for some columns. The model is not asked when
    each column is named by a heading or a row.
    """
    # In a thread, so that the calls under way go on meanwhile.
    await asyncio.to_thread(lambda: ranked.near)
    model = session.models.model_for("gate")
    gate = ways_of(model).gate
    chosen, left = named_parts(ranked, asked)
    listed = [number for number in ranked.order() if number not in chosen][: gate.most]
    gated = Gated({ranked.chunks[number].id: _NAMED_ELSEWHERE for number in listed})
    if left:
        gated = await gate.out(ranked.outline(listed), left, model, card)
    chosen |= {number for number in listed if ranked.chunks[number].id not in gated.out}
    chosen |= ranked.searched(gated.search)
    out = [n for n in range(len(ranked.chunks)) if n not in chosen]
    ids = {n: ranked.chunks[n].id for n in out}
    return ChosenParts(
        tuple(sorted(chosen)),
        {
            "pruned": {ids[n]: _NEARER for n in out if n not in listed},
            "gated": {ids[n]: gated.out[ids[n]] for n in out if n in listed},
        },
    )


def named_parts(ranked: RankedParts, asked: Sequence[Asked]) -> tuple[set[int], list[Asked]]:
    """Returns (parts, asked): the parts that a heading or a row label names as the place of a
    column, when they are few; and the columns that are left for the model. It is always asked about
    a table with several rows in a document, since any part may hold one.
    """
    chosen: set[int] = set()
    left = []
    for one in asked:
        columns = []
        for column in one.columns:
            parts = ranked.naming(column.name) if one.table.grain == "document" else []
            if 0 < len(parts) <= _NAMED:
                chosen.update(parts)
            else:
                columns.append(column)
        if columns:
            left.append(replace(one, columns=tuple(columns)))
    return chosen, left


def _line(section: Section, words: str) -> str:
    """Returns the row or sentence of a section that is most like a column, in at most 80 characters
    around the first word that they share.
    """
    name = set(stems(words.partition(":")[0]))
    said = set(stems(words))
    spans = () if section.table else sentence_spans(section.text)
    lines = [*section.labels, *(section.text[start:end] for start, end in spans)]
    lines = [" ".join(line.split()) for line in lines if line.strip()]

    def like(line: str) -> float:
        own = set(stems(line))
        return (2 * len(own & name) + len(own & said)) / (len(own) + 8)

    best = max(lines, key=like)
    places = [best.lower().find(word) for word in name]
    first = min((place for place in places if place > 0), default=0)
    return _cut(best[max(0, first - _LINE // 2) :], _LINE)


def _alike(label: set[str], name: set[str]) -> float:
    """Returns the share (0 to 1) of words that a label and a name have in common."""
    return len(label & name) / max(1, len(label | name))


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1].rstrip() + "…"
