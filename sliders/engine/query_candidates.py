"""The sample of a query: some documents are read in full, to learn in which segments attributes
stand and how often conditions hold (QUEST, section 4.2).

The sample is about 5% of the documents. The segments that held values become the evidence, which
sets both thresholds. A document farther than the threshold *tau* is excluded, and its distance is
recorded; a share of the excluded documents is read all the same (audited). A document with values
is *relevant*.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from sliders.engine.query_evidence import description_vector
from sliders.engine.table_run import Candidates, TableRun
from sliders.retrieval.embeddings import Vectors
from sliders.retrieval.evidence import MARGIN, query_vector

SHARE, FEWEST = 0.05, 3
"""The share of the documents that is sampled, and the least number of sampled documents."""
_AUDITED = 0.1
_FEWEST_RELEVANT = 2
_STRANGE_SHARE = 0.25
"""The share of irrelevant documents in the sample from which on excluding documents is worth its
risk.
"""
_TIE = 0.02
"""The difference of distances up to which a document that is nearer to irrelevant documents is read
all the same.
"""
_ANY = 2.0
"""The largest possible distance, which excludes nothing."""


def sample_size(candidates: int) -> int:
    """Returns the number of documents to read in full."""
    return min(candidates, max(FEWEST, math.ceil(SHARE * candidates)))


async def prepare(run: TableRun) -> Candidates:
    """Reads the sample, sets evidence and thresholds, and returns the documents to read."""
    distances = _distances(run)
    new = run.learned.seed(run.index.embedder, run.table, run.attributes)
    sampled: list[str] = []
    if new and distances:
        sampled = await _sample(run, list(distances), new)
    return _candidates(run, distances, tuple(sampled))


def _distances(run: TableRun) -> dict[str, float]:
    """Returns all documents with the distance of their key sentences to the mean of the attributes'
    evidence (e(Q) in QUEST), the nearest first.
    """
    columns = [run.table.column(name) for name in run.attributes]
    vectors = [description_vector(run.index.embedder, run.table, column) for column in columns]
    if vectors:
        return run.index.by_distance(query_vector(np.stack(vectors)))
    return dict.fromkeys(run.index.entries, 0.0)


async def _sample(run: TableRun, documents: Sequence[str], names: Sequence[str]) -> list[str]:
    """Reads documents spread over the distances, then the nearest ones while too few had a value.
    Returns the ids of the documents that were read.
    """
    size = sample_size(len(documents))
    chosen = [documents[int((number + 0.5) * len(documents) / size)] for number in range(size)]
    done: list[str] = []
    relevant = 0
    while chosen and len(done) < 2 * size:
        group = run.groups(chosen)[0]
        chosen = [each for each in chosen if each not in group]
        await run.finish(group, None, names, whole=True)
        done += group
        relevant = sum(run.has_values(each) for each in done)
        if not chosen and relevant < _FEWEST_RELEVANT:
            # The nearest ones are the likeliest to be of the right kind.
            chosen = [each for each in documents if each not in done][:1]
    return done


def _candidates(
    run: TableRun, distances: Mapping[str, float], sampled: tuple[str, ...]
) -> Candidates:
    """Returns the documents within tau, and an audited share of the others.

    No document is excluded unless the sample shows two different kinds: at least two relevant
    documents and an irrelevant one, with every relevant document nearer to the other relevant ones
    than to the irrelevant ones. (A document without a query's few attributes is often of the same
    kind as documents that have them.)
    """
    relevant = [each for each in distances if run.has_values(each)]
    strange = [each for each in sampled if not run.has_values(each)]
    figures, about = run.session.catalog.figures, (run.table.name, sorted(run.attributes))
    tau = figures.distance(*about) if run.keeps else 0.0
    if sampled or not tau:
        differ = _kinds_differ(run, [each for each in relevant if each in sampled], strange)
        tau = max(distances[each] for each in relevant) + MARGIN if differ else _ANY
        if run.keeps:
            figures.keep_distance(*about, tau)
    kin = _likeness(run, relevant, strange) if tau < _ANY else {}
    excluded = [
        each
        for each in distances
        if not run.has_values(each) and _outside(distances[each], tau, kin.get(each, 0.0))
    ]
    count = math.ceil(_AUDITED * len(excluded))
    audited = {excluded[int((n + 0.5) * len(excluded) / count)] for n in range(count)}
    for each in excluded:
        if each not in audited:
            _record(run, each, distances[each], tau, kin.get(each, 0.0))
    out = set(excluded)
    chosen = tuple(each for each in distances if each not in out)
    return Candidates(chosen, tuple(excluded), tuple(sorted(audited)), sampled)


def _outside(distance: float, tau: float, likeness: float) -> bool:
    """Says whether a document is excluded: it is beyond tau and not clearly like the relevant
    documents, or it is clearly like the irrelevant ones. Tau alone, from few documents, is not
    reliable enough.
    """
    return likeness > _TIE or (distance > tau and likeness > -_TIE)


def _kinds_differ(run: TableRun, relevant: Sequence[str], strange: Sequence[str]) -> bool:
    """Says whether every sampled relevant document is nearer, on average, to the other relevant
    ones than to the irrelevant ones.
    """
    if len(relevant) < _FEWEST_RELEVANT or len(strange) < _STRANGE_SHARE * (
        len(relevant) + len(strange)
    ):
        return False
    ours, theirs = _documents(run, relevant), _documents(run, strange)
    own, other = ours @ ours.T, ours @ theirs.T
    np.fill_diagonal(own, 0.0)
    return bool((own.sum(axis=1) / (len(ours) - 1) > other.mean(axis=1)).all())


def _likeness(run: TableRun, relevant: Sequence[str], strange: Sequence[str]) -> dict[str, float]:
    """Returns how much nearer each document is to the sampled irrelevant documents than to the
    sampled relevant documents (difference of distances).
    """
    if not relevant or not strange:
        return {}
    ids = list(run.index.entries)
    vectors = _documents(run, ids)
    near, far = (
        1.0 - (vectors @ _documents(run, group).T).mean(axis=1) for group in (relevant, strange)
    )
    return {document_id: float(a - b) for document_id, a, b in zip(ids, near, far, strict=True)}


def _documents(run: TableRun, document_ids: Sequence[str]) -> Vectors:
    return np.stack([run.index.entries[document_id].document for document_id in document_ids])


def _record(run: TableRun, document_id: str, distance: float, tau: float, kin: float) -> None:
    name = run.names.get(document_id, document_id)
    reason = (
        f"its distance to the attributes of {run.table.name} is {distance:.3f}, the "
        f"threshold {tau:.3f}"
    )
    if distance <= tau:
        reason = f"it is more like sampled documents without values (by {kin:.3f}); {reason}"
    run.session.decide("optimize", "document", "excluded", reason, document=name)
