"""What a table's runs teach: evidence by attribute and running figures, kept in the workspace for later queries."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sliders.chunks.embeddings import Embedder, Vectors
from sliders.chunks.evidence import Evidence, build_evidence, seed_evidence
from sliders.executor.session import Session
from sliders.plan.cost import Depths, Share, Statistics
from sliders.schema.names import spoken_name
from sliders.schema.schema import Column, Table

_LEVEL = "query evidence"
_KEPT_VECTORS = 64
_ENOUGH = 2


@dataclass(slots=True)
class Learned:
    """Evidence and figures of one table. Evidence is rebuilt whenever twice as many segments held the attribute."""

    table: str
    statistics: Statistics = field(default_factory=Statistics)
    evidence: dict[str, Evidence] = field(default_factory=dict)
    vectors: dict[str, list[Vectors]] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)

    def learn(self, attribute: str, stated: bool, rank: int | None, vector: Vectors | None) -> None:
        """One more document is known: whether it states the attribute, and where (`rank` None: found without a search)."""
        self.statistics.stated.setdefault(attribute, Share()).add(stated)
        if rank is not None:
            self.statistics.depths.setdefault(attribute, Depths()).add(rank)
        if vector is None:
            return
        held = self.vectors.setdefault(attribute, [])
        held.append(vector)
        if attribute in self.evidence and len(held) >= 2 * max(_ENOUGH, self.used.get(attribute, 0)):
            self.rebuild(attribute)

    def deep(self, attribute: str, rank: int) -> None:
        """A sampled value lies at this rank, judged by the evidence of the other documents."""
        self.statistics.depths.setdefault(attribute, Depths()).add(rank)

    def rebuild(self, attribute: str) -> None:
        """Evidence from all segments that held the attribute so far."""
        held = self.vectors.get(attribute, [])
        if held:
            self.evidence[attribute] = build_evidence(attribute, np.stack(held[-_KEPT_VECTORS:]))
            self.used[attribute] = len(held)

    def knows(self, attribute: str) -> bool:
        """Whether there is evidence of the attribute from documents."""
        return attribute in self.evidence and self.evidence[attribute].sources >= _ENOUGH


def description_vector(embedder: Embedder, table: Table, column: Column) -> Vectors:
    """The vector of an attribute's name and description, shape (d,)."""
    words = spoken_name(column.name)
    said = column.description or table.row or spoken_name(table.name)
    vector: Vectors = embedder.embed([f"{words}: {said}" if said else words])[0]
    return vector


def seeds(embedder: Embedder, table: Table, attributes: tuple[str, ...]) -> dict[str, Evidence]:
    """Evidence of attributes from their names and descriptions."""
    return {
        name: seed_evidence(name, description_vector(embedder, table, table.column(name))) for name in attributes
    }


def load_learned(session: Session, table: Table) -> Learned:
    """What earlier queries learned of the table."""
    knowledge = session.catalog.knowledge
    kept = knowledge.statistic(f"optimizer:{table.name}", {})
    learned = Learned(table.name, Statistics.from_json(kept))
    prefix = f"{table.name}."
    for owner, vectors in knowledge.vectors(_LEVEL, session.embedder.name).items():
        if owner.startswith(prefix) and owner[len(prefix) :] in table.column_names:
            attribute = owner[len(prefix) :]
            learned.vectors[attribute] = list(vectors)
            learned.rebuild(attribute)
    return learned


def save_learned(session: Session, learned: Learned) -> None:
    """Keeps it for later queries."""
    knowledge = session.catalog.knowledge
    knowledge.set_statistic(f"optimizer:{learned.table}", learned.statistics.to_json())
    arrays = {f"{learned.table}.{name}": np.stack(held[-_KEPT_VECTORS:]) for name, held in learned.vectors.items() if held}
    if arrays:
        knowledge.save_vectors(_LEVEL, session.embedder.name, arrays)
