"""The sample of a query: some documents are read in full, to learn where attributes stand and how often filters hold.

QUEST, section 4.2: about 5% of the candidates; the segments that held values are the evidence, and both thresholds follow
from them. A document beyond tau is excluded with its distance, and a share of the excluded is audited all the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sliders.chunks.evidence import MARGIN, build_evidence, query_vector
from sliders.chunks.index import DocumentHit, distances_to
from sliders.executor.lazy import TableRun
from sliders.executor.learning import description_vector, seeds

SHARE, FEWEST = 0.05, 3
"""Share of the candidates that is sampled, and the least number of documents."""
_AUDITED = 0.1
_FEWEST_RELEVANT = 2
_STRANGE_SHARE = 0.25
"""Share of irrelevant documents in the sample from which on excluding documents is worth its risk."""
_TIE = 0.02
"""A document this little nearer to irrelevant ones than to relevant ones is read."""
_ANY = 2.0
"""The largest distance there is: excludes nothing."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Documents of a table: those to work on, those excluded with their distance, and the audited part of these."""

    chosen: tuple[str, ...]
    excluded: tuple[DocumentHit, ...] = ()
    audited: tuple[str, ...] = ()
    sampled: tuple[str, ...] = ()


def sample_size(candidates: int) -> int:
    """Documents to read in full."""
    return min(candidates, max(FEWEST, math.ceil(SHARE * candidates)))


async def prepare(run: TableRun, *, joins: bool = False) -> Candidates:
    """Samples what is not known yet, sets evidence and thresholds, and chooses the candidates.

    Args:
        joins: the query joins tables. Then documents of two kinds are often about one thing, and near each other for it,
            so that documents are compared with all the sampled ones of a kind, not with the nearest one alone.
    """
    hits = _by_distance(run)
    new = tuple(name for name in run.attributes if not run.learned.knows(name))
    named = seeds(run.index.embedder, run.table, run.attributes)
    run.learned.evidence.update({name: seed for name, seed in named.items() if name in new})
    run.learned.spoken.update({name: seed.centres for name, seed in named.items()})
    sampled: list[str] = []
    if new and hits:
        sampled = await _sample(run, [hit.document_id for hit in hits], new)
        await _learn(run, sampled, new)
    return _candidates(run, hits, tuple(sampled), joins)


def _by_distance(run: TableRun) -> tuple[DocumentHit, ...]:
    """All documents by the distance of their key sentences to e(Q)."""
    columns = [run.table.column(name) for name in run.attributes]
    vectors = [description_vector(run.index.embedder, run.table, column) for column in columns]
    if not vectors:
        return tuple(DocumentHit(document_id, 0.0) for document_id in run.index.index.document_ids)
    return run.index.index.search_documents(query_vector(np.stack(vectors)))


async def _sample(run: TableRun, documents: Sequence[str], names: Sequence[str]) -> list[str]:
    """Reads documents spread over the distances; then the nearest ones, while too few of them had any value.

    What is known so far says where to begin, and an attribute is read on until it is found or hardly to be expected.
    """
    size = sample_size(len(documents))
    chosen = [documents[int((number + 0.5) * len(documents) / size)] for number in range(size)]
    done: list[str] = []
    relevant = 0
    while chosen and len(done) < 2 * size:
        document_id = chosen.pop(0)
        await run.complete_thoroughly(document_id, names)
        done.append(document_id)
        relevant = sum(run.has_values(each) for each in done)
        if not chosen and relevant < _FEWEST_RELEVANT:
            # The nearest ones are the likeliest to be of the right kind.
            chosen = [each for each in documents if each not in done][:1]
    return done


async def _learn(run: TableRun, sampled: Sequence[str], names: Sequence[str]) -> None:
    """Synthesized texts are the evidence of an attribute that no sampled document states."""
    for name in names:
        if run.learned.vectors.get(name):
            continue
        texts = await run.reader.synthesize(run.table, run.table.column(name))
        if texts:
            run.learned.evidence[name] = build_evidence(name, run.index.embedder.embed(texts))
        how = f"{len(texts)} synthesized texts" if texts else "its name and description"
        run.session.decide(
            "optimize", f"column:{name}", "no sample",
            f"none of {len(sampled)} sampled documents states it; evidence is {how}",
        )  # fmt: skip


def _candidates(
    run: TableRun, hits: Sequence[DocumentHit], sampled: tuple[str, ...], joins: bool
) -> Candidates:
    """The documents within tau, and an audited share of the others.

    None is excluded unless the sample shows that the two kinds differ: two relevant documents at least and an irrelevant
    one, and every relevant one is nearer to another of them than to any irrelevant one. (A document that lacks the few
    attributes of a query is often of the same kind as those that have them.)
    """
    relevant = [hit for hit in hits if run.has_values(hit.document_id)]
    strange = [hit.document_id for hit in hits if hit.document_id in sampled and not run.has_values(hit.document_id)]
    key = f"optimizer:tau:{run.table.name}:{','.join(sorted(run.attributes))}"
    tau = float(run.session.catalog.knowledge.statistic(key, 0.0) or 0.0) if run.writer is not None else 0.0
    if sampled or not tau:
        differ = _kinds_differ(run, [hit.document_id for hit in relevant if hit.document_id in sampled], strange, joins)
        tau = max(hit.distance for hit in relevant) + MARGIN if differ else _ANY
        if run.writer is not None:
            run.session.catalog.knowledge.set_statistic(key, tau)
    kin = _likeness(run, [hit.document_id for hit in relevant], strange, joins) if tau < _ANY else {}
    excluded = [hit for hit in hits if not run.has_values(hit.document_id) and _outside(hit, tau, kin)]
    count = math.ceil(_AUDITED * len(excluded))
    audited = {excluded[int((n + 0.5) * len(excluded) / count)].document_id for n in range(count)}
    for hit in excluded:
        if hit.document_id not in audited:
            _record(run, hit, tau, kin.get(hit.document_id, 0.0))
    out = {hit.document_id for hit in excluded}
    chosen = tuple(hit.document_id for hit in hits if hit.document_id not in out)
    return Candidates(chosen, tuple(excluded), tuple(sorted(audited)), sampled)


def _outside(hit: DocumentHit, tau: float, kin: Mapping[str, float]) -> bool:
    """Beyond tau and not clearly like the relevant documents, or clearly like the irrelevant ones.

    Tau alone, from few documents, is too sure of itself: the names of attributes say little of what a document is about.
    """
    likeness = kin.get(hit.document_id, 0.0)
    return likeness > _TIE or (hit.distance > tau and likeness > -_TIE)


def _kinds_differ(run: TableRun, relevant: Sequence[str], strange: Sequence[str], joins: bool) -> bool:
    """Whether every sampled relevant document is nearer to another one than to any irrelevant one.

    In a join: nearer on average to the others of them than to the irrelevant ones.
    """
    if len(relevant) < _FEWEST_RELEVANT or len(strange) < _STRANGE_SHARE * (len(relevant) + len(strange)):
        return False
    index = run.index.index
    ours = np.stack([index.entry(document_id).document for document_id in relevant])
    theirs = np.stack([index.entry(document_id).document for document_id in strange])
    own, other = ours @ ours.T, ours @ theirs.T
    if joins:
        np.fill_diagonal(own, 0.0)
        return bool((own.sum(axis=1) / (len(ours) - 1) > other.mean(axis=1)).all())
    np.fill_diagonal(own, -1.0)
    return bool((own.max(axis=1) > other.max(axis=1)).all())


def _likeness(run: TableRun, relevant: Sequence[str], strange: Sequence[str], joins: bool) -> dict[str, float]:
    """How much nearer each document is to the sampled irrelevant documents than to the relevant ones (evidence, too)."""
    if not relevant or not strange:
        return {}
    index = run.index.index
    ids = index.document_ids
    vectors = np.stack([index.entry(document_id).document for document_id in ids])
    groups = [np.stack([index.entry(document_id).document for document_id in group]) for group in (relevant, strange)]
    near, far = (
        1.0 - (vectors @ group.T).mean(axis=1) if joins else distances_to(vectors, group) for group in groups
    )
    return {document_id: float(a - b) for document_id, a, b in zip(ids, near, far, strict=True)}


def _record(run: TableRun, hit: DocumentHit, tau: float, kin: float) -> None:
    name = run.names.get(hit.document_id, hit.document_id)
    reason = f"its distance to the attributes of {run.table.name} is {hit.distance:.3f}, the threshold {tau:.3f}"
    if hit.distance <= tau:
        reason = f"it is nearer by {kin:.3f} to sampled documents without values; {reason}"
    run.session.decide("optimize", f"document:{name}", "excluded", reason)
