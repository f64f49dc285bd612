"""The facts that a query learns about a table: evidence for each attribute (the vectors that find
it), and counts. They are stored in the workspace for later queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from sliders.engine.session import Session
from sliders.query.cost import Depths, Share, Statistics
from sliders.retrieval.embeddings import Embedder, Vectors
from sliders.retrieval.evidence import AttributeEvidence, build_evidence, seed_evidence
from sliders.schema.names import spoken_name
from sliders.schema.types import Column, Table
from sliders.store.facts import Figure

_LEVEL = "query evidence"
_KEPT_VECTORS = 64
_ENOUGH = 2


WEIGHTS = tuple((place, name) for name in (0.5, 0.0) for place in (0.0, 0.25, 0.5, 1.0))
"""Pairs of weights, added to the distance to the evidence: the weight of nearness to the place
where values usually stand, and the weight of the distance to the attribute's name and description.
"""
_KEPT_PLACES = 64


@dataclass(slots=True)
class Layout:
    """The places in documents at which values of an attribute stood, counted in segments from the
    start and from the end.

    Values of forms, headers and signatures keep their place, values in prose do not. `scores`
    holds, for each of `WEIGHTS`, the sum of log2(1 + position) over the found values in the order
    under these weights; the smallest sum is best.
    """

    places: list[tuple[int, int]] = field(default_factory=list)
    scores: list[float] = field(default_factory=lambda: [0.0] * len(WEIGHTS))

    @property
    def weights(self) -> tuple[float, float]:
        """The weights under which values stood nearest to the top so far; the first pair of equally
        good ones.
        """
        best = min(range(len(WEIGHTS)), key=lambda n: (self.scores[n], n))
        return WEIGHTS[best] if self.places else WEIGHTS[0]

    def closeness(self, count: int) -> Vectors:
        """Returns, for each segment of a document, the share (0 to 1) of values that stood at its
        place; shape (count,).
        """
        if not self.places or not count:
            return np.zeros(count, dtype=np.float32)
        rows = np.arange(count)[:, None]
        places = np.array(self.places)[None, :, :]
        start = np.exp2(-np.abs(rows - places[:, :, 0])).mean(axis=1)
        end = np.exp2(-np.abs((count - 1 - rows) - places[:, :, 1])).mean(axis=1)
        closest: Vectors = np.maximum(start, end).astype(np.float32)
        return closest

    def learn(self, row: int, count: int, ranks: list[int]) -> None:
        """Adds a value that stood in segment `row` of `count`. `ranks` are its positions in the
        order, one for each of `WEIGHTS`; empty when the value was found without a search.
        """
        for number, rank in enumerate(ranks):
            self.scores[number] += float(np.log2(1 + rank))
        self.places.append((row, count - 1 - row))
        del self.places[:-_KEPT_PLACES]


@dataclass(slots=True)
class Learned:
    """The evidence and counts of one table. The evidence of an attribute is rebuilt each time the
    number of segments that held it has doubled.
    """

    table: str
    statistics: Statistics = field(default_factory=Statistics)
    evidence: dict[str, AttributeEvidence] = field(default_factory=dict)
    vectors: dict[str, list[Vectors]] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    layouts: dict[str, Layout] = field(default_factory=dict)
    spoken: dict[str, Vectors] = field(default_factory=dict)
    """The vectors of the attributes' names and descriptions."""

    def layout(self, attribute: str) -> Layout:
        """Returns the places of an attribute."""
        return self.layouts.setdefault(attribute, Layout())

    def learn(
        self, attribute: str, stated: bool | None, rank: int | None, vector: Vectors | None
    ) -> None:
        """Counts one more document.

        Args:
            stated: True when the document states the attribute; None when the document was chosen
                for its value, and so says nothing about the share of documents that state it.
            rank: the place of the value's segment in the order; None when it was found without a
                search.
            vector: the vector of that segment; None when there is none.
        """
        if stated is not None:
            self.statistics.stated.setdefault(attribute, Share()).add(stated)
        if rank is not None:
            self.statistics.depths.setdefault(attribute, Depths()).add(rank)
        if vector is None:
            return
        held = self.vectors.setdefault(attribute, [])
        held.append(vector)
        if len(held) <= _ENOUGH or len(held) >= 2 * self.used.get(attribute, 0):
            self.rebuild(attribute)

    def rebuild(self, attribute: str) -> None:
        """Builds the evidence from all segments that held the attribute so far."""
        held = self.vectors.get(attribute, [])
        if held:
            self.evidence[attribute] = build_evidence(attribute, np.stack(held[-_KEPT_VECTORS:]))
            self.used[attribute] = len(held)

    def seed(self, embedder: Embedder, table: Table, attributes: Sequence[str]) -> tuple[str, ...]:
        """Sets the vectors of names and descriptions as evidence for attributes without any from
        documents, and returns these attributes.
        """
        new = []
        for name in attributes:
            seed = seed_evidence(name, description_vector(embedder, table, table.column(name)))
            self.spoken[name] = seed.centres
            if not self.knows(name):
                self.evidence[name] = seed
                new.append(name)
        return tuple(new)

    def knows(self, attribute: str) -> bool:
        """Says whether there is evidence of the attribute from documents."""
        return attribute in self.evidence and self.evidence[attribute].sources >= _ENOUGH


def description_vector(embedder: Embedder, table: Table, column: Column) -> Vectors:
    """Returns the vector of an attribute's name and description, shape (d,)."""
    words = spoken_name(column.name)
    said = column.description or table.row or spoken_name(table.name)
    vector: Vectors = embedder.embed([f"{words}: {said}" if said else words])[0]
    return vector


def load_learned(session: Session, table: Table) -> Learned:
    """Returns the facts that earlier queries learned about the table."""
    knowledge, learned = session.catalog.knowledge, Learned(table.name)
    for one in session.catalog.figures.of(table.name):
        share = Share(one.hits, one.trials)
        if one.kind == "filter":
            learned.statistics.filters[one.subject] = share
            continue
        learned.statistics.stated[one.subject] = share
        learned.statistics.depths[one.subject] = Depths(list(one.ranks))
        if len(one.scores) == len(WEIGHTS):
            learned.layouts[one.subject] = Layout(list(one.places), list(one.scores))
    prefix = f"{table.name}."
    for owner, vectors in knowledge.vectors(_LEVEL, session.embedder.name).items():
        if owner.startswith(prefix) and owner[len(prefix) :] in table.column_names:
            attribute = owner[len(prefix) :]
            learned.vectors[attribute] = list(vectors)
            learned.rebuild(attribute)
    return learned


def _figures(learned: Learned) -> Iterator[Figure]:
    """Yields the counts, one for each filter and each attribute."""
    measured = learned.statistics
    for condition, share in measured.filters.items():
        yield Figure("filter", condition, share.hits, share.trials)
    for name in dict.fromkeys([*measured.stated, *measured.depths, *learned.layouts]):
        share = measured.stated.get(name, Share())
        ranks, layout = measured.depths.get(name, Depths()).ranks, learned.layout(name)
        told = (tuple(ranks), tuple(layout.places), tuple(layout.scores))
        yield Figure("attribute", name, share.hits, share.trials, *told)


def save_learned(session: Session, learned: Learned) -> None:
    """Stores the facts for later queries."""
    knowledge = session.catalog.knowledge
    session.catalog.figures.keep(learned.table, _figures(learned))
    arrays = {
        f"{learned.table}.{name}": np.stack(held[-_KEPT_VECTORS:])
        for name, held in learned.vectors.items()
        if held
    }
    if arrays:
        knowledge.save_vectors(_LEVEL, session.embedder.name, arrays)
