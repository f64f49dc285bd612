"""Groups of rows become rows: the clear ones by array operations, the contradictory ones one by one."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from sliders.extraction.cell import Scalar
from sliders.reconcile.agent import Step
from sliders.reconcile.keys import KeyPlan, group_extremes, sorted_groups
from sliders.reconcile.profile import Codes
from sliders.reconcile.relation import MemoryRelation
from sliders.reconcile.settle import Ruling, Side, settle
from sliders.reconcile.values import CellSource, DocumentSource, Options, Verdict

GIANT_GROUP = 2000  # rows of one contradictory group beyond which comparing them says nothing; they stay apart


Role = Literal["key", "dimension", "measure", "prose", "other"]
"""What a column is to a group: its key, a place, period or class that tells things apart, an amount, or something else."""


@dataclass(slots=True)
class Frame:
    """The table while it is worked on: codes to compare by, values, and the row that each value comes from."""

    relation: MemoryRelation
    names: tuple[str, ...]
    prose: tuple[bool, ...]
    units: tuple[str, ...]
    codes: list[Codes]
    values: list[Sequence[Scalar]]
    origins: list[Codes]
    documents: Codes
    chunks: Codes
    roles: tuple[Role, ...] = ()

    def side(self, column: int, rows: Sequence[int]) -> Side:
        """The side of a conflict that these rows (of one code) make."""
        first = int(self.origins[column][rows[0]])
        document_id = self.relation.document_ids[first]
        document = self.relation.documents.get(document_id, DocumentSource(document_id))
        votes = len({int(self.chunks[r]) for r in rows})
        source: CellSource = self.relation.source(first, self.names[column])
        value = self.values[column][first]
        return Side(int(self.codes[column][rows[0]]), value, tuple(rows), source, document, votes)


@dataclass(slots=True)
class Pending:
    """A contradiction that code leaves open: it waits for the model, or stays visible."""

    column: int
    sides: tuple[Side, ...]
    verdict: Ruling | None = None


@dataclass(slots=True)
class Cluster:
    """Rows that are one thing, with at least one contradiction among them; `doubtful` when they only may be one.

    `outcome` is what a model made of it, `target` the row that stays by its program.
    """

    rows: list[int]
    key: tuple[Scalar, ...]
    one_document: bool
    picks: dict[int, int] = field(default_factory=dict)
    settled: list[tuple[Pending, Ruling]] = field(default_factory=list)
    pending: list[Pending] = field(default_factory=list)
    doubtful: bool = False
    outcome: Verdict | None = None
    steps: tuple[Step, ...] = ()
    target: int | None = None

    @property
    def dropped(self) -> bool:
        """Whether its rows are no one thing after all."""
        return self.outcome == "apart" or (self.doubtful and self.outcome != "repaired")

    @property
    def still_open(self) -> list[Pending]:
        """The contradictions that nothing settled."""
        return [] if self.dropped else [p for p in self.pending if p.verdict is None]


@dataclass(frozen=True, slots=True)
class Part:
    """An output row: its source row numbers and, by column, the row number that gives the value (-1 for empty).

    `sums` are the declared aggregates: column and the sum of the values of the sources. `target` is the row that the others
    are merged into, the first one when left out.
    """

    rows: tuple[int, ...]
    picks: tuple[int, ...]
    flags: tuple[str, ...] = ()
    sums: tuple[tuple[int, float], ...] = ()
    target: int | None = None

    @property
    def stays(self) -> int:
        """The row that stands for all."""
        return self.rows[0] if self.target is None else self.target


@dataclass(slots=True)
class Merged:
    """What grouping gave: finished parts, clusters with contradictions, and how many rows of one key stay apart."""

    parts: list[Part]
    clusters: list[Cluster]
    kept_apart: int = 0


def merge_groups(
    frame: Frame, groups: Codes, plan: KeyPlan, forced: frozenset[int], options: Options, rules: bool = True,
    doubtful: frozenset[int] = frozenset(),
) -> Merged:
    """Merge each group's rows where nothing contradicts; put the rest into clusters with what code can settle.

    Args:
        groups: the group of each row.
        forced: groups that a human merged; they are never split.
        rules: settle by general rules and votes, too.
        doubtful: groups whose rows only may be one thing.
    """
    order, starts = sorted_groups(groups)
    sizes = np.diff(np.r_[starts, len(order)])
    contradictory, picks = _first_values(frame, order, starts)
    merged = Merged([], [])
    rows = order.tolist()
    columns = zip(*(p.tolist() for p in picks), strict=True) if picks else iter(() for _ in starts)
    spans = [rows[start : start + size] for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)]
    disputed = [span for span, open_ in zip(spans, contradictory.tolist(), strict=True) if open_]
    whole = plan.certain or _few_split(frame, disputed, plan, len(starts))
    for members, open_, picked in zip(spans, contradictory.tolist(), columns, strict=True):
        group = int(groups[members[0]]) if open_ or doubtful else -1
        if group in doubtful:
            cluster = settle_cluster(frame, members, plan, options, rules=False)
            cluster.doubtful = True
            merged.clusters.append(cluster)
        elif open_:
            _contradictory_group(frame, members, plan, whole or group in forced, options, merged, rules)
        else:
            merged.parts.append(Part(tuple(members), picked))
    return merged


def _first_values(frame: Frame, order: Codes, starts: Codes) -> tuple[npt.NDArray[np.bool_], list[Codes]]:
    """Which groups contradict themselves, and by column each group's first row with a value (-1 where none has)."""
    contradictory = np.zeros(len(starts), dtype=bool)
    picks = []
    positions = np.arange(len(order), dtype=np.int64)
    for codes in frame.codes:
        low, high = group_extremes(codes, order, starts)
        contradictory |= (high >= 0) & (low < high)
        filled = np.where(codes[order] >= 0, positions, len(order))
        first = np.minimum.reduceat(filled, starts) if len(starts) else starts
        picks.append(np.where(first < len(order), order[np.minimum(first, len(order) - 1)], -1))
    return contradictory, picks


def _few_split(frame: Frame, groups: Sequence[list[int]], plan: KeyPlan, documents: int) -> bool:
    """Whether each document is one row and few of them hold rows that contradict each other: a page's margin ("others
    also bought") is then read as a second row of its document, and is none."""
    if not plan.per_document or plan.columns or documents < _ENOUGH_DOCUMENTS:
        return False
    split = sum(len(group) <= GIANT_GROUP and len(compatible_pieces(frame, group)) > 1 for group in groups)
    return split <= _FEW_SPLIT * documents


_ENOUGH_DOCUMENTS, _FEW_SPLIT = 8, 0.2


def _contradictory_group(
    frame: Frame, members: list[int], plan: KeyPlan, certain: bool, options: Options, merged: Merged, rules: bool
) -> None:
    if len(members) > GIANT_GROUP:
        merged.kept_apart += len(members)
        merged.parts.extend(_alone(frame, row, ("open conflict",)) for row in members)
        return
    pieces = [members] if certain else compatible_pieces(frame, members)
    merged.kept_apart += len(pieces) - 1
    for piece in pieces:
        cluster = settle_cluster(frame, piece, plan, options, rules)
        if cluster.pending or cluster.settled:
            merged.clusters.append(cluster)
        else:
            merged.parts.append(Part(tuple(piece), tuple(cluster.picks.get(c, -1) for c in range(len(frame.names)))))


def _alone(frame: Frame, row: int, flags: tuple[str, ...] = ()) -> Part:
    return Part((row,), tuple(row if codes[row] >= 0 else -1 for codes in frame.codes), flags)


def compatible_pieces(frame: Frame, members: Sequence[int]) -> list[list[int]]:
    """Split rows of one key that are different things: they differ in what tells things apart and in an amount, or in most.

    Rows contradict in most when two or more columns do, and more than half of those that they share beside their key.
    """
    pieces: list[list[int]] = []
    known: list[list[set[int]]] = []
    roles = frame.roles or ("other",) * len(frame.codes)
    hard = [(codes, role) for codes, role in zip(frame.codes, roles, strict=True) if role not in ("prose", "key")]
    for row in members:
        own = [int(codes[row]) for codes, _ in hard]
        for place, values in enumerate(known):
            shared = [(c, v, role) for c, v, (_, role) in zip(own, values, hard, strict=True) if c >= 0 and v]
            differing = [role for c, v, role in shared if c not in v]
            against = len(differing)
            other_thing = "dimension" in differing and "measure" in differing
            if not other_thing and (against < 2 or 2 * against <= len(shared)):
                pieces[place].append(row)
                break
        else:
            pieces.append([row])
            known.append([set() for _ in hard])
            place = len(pieces) - 1
        for code, value_set in zip(own, known[place], strict=True):
            if code >= 0:
                value_set.add(code)
    return pieces


def settle_cluster(frame: Frame, rows: list[int], plan: KeyPlan, options: Options, rules: bool) -> Cluster:
    """Choose each column's value by rule; what stays open is pending."""
    one_document = len({int(frame.documents[r]) for r in rows}) == 1
    key = tuple(
        next((frame.values[c][int(frame.origins[c][r])] for r in rows if frame.codes[c][r] >= 0), None)
        for c in map(frame.names.index, plan.columns)
    )
    cluster = Cluster(list(rows), key, one_document and plan.per_document)
    for column, codes in enumerate(frame.codes):
        by_code: dict[int, list[int]] = {}
        for row in rows:
            if codes[row] >= 0:
                by_code.setdefault(int(codes[row]), []).append(row)
        if not by_code:
            continue
        if len(by_code) == 1:
            cluster.picks[column] = next(iter(by_code.values()))[0]
            continue
        sides = [frame.side(column, some) for some in by_code.values()]
        if frame.prose[column]:
            fullest = max(sides, key=lambda s: len(str(s.value)))
            cluster.picks[column] = fullest.rows[0]
            verdict = Ruling(sides.index(fullest), "deduplicate", "two wordings; the longer one stands for both")
            cluster.settled.append((Pending(column, tuple(sides)), verdict))
            continue
        wanted = frame.units[column].strip().lower()
        sides.sort(key=lambda s: s.source.unit.strip().lower() != wanted)
        found = settle(sides, frame.names[column], options.criteria, options.precede, rules)
        pending = Pending(column, tuple(sides), found)
        if found is None:
            cluster.pending.append(pending)
        else:
            cluster.picks[column] = sides[found.side].rows[0]
            cluster.settled.append((pending, found))
    return cluster


def provisional(pending: Pending) -> int:
    """The side that stands in where a table needs one value: most sources, then verbatim words, then the first."""
    ranks = [(s.votes, s.source.grounding.value in ("exact", "normalized"), -min(s.rows)) for s in pending.sides]
    return ranks.index(max(ranks))


def total(sides: Sequence[Side]) -> float:
    """The sum over all rows of a contradiction, for a column that is declared additive."""
    return math.fsum(float(s.value) * len(s.rows) for s in sides if isinstance(s.value, int | float))


def finish_cluster(frame: Frame, cluster: Cluster) -> list[Part]:
    """The output rows of a cluster: one, or, where a contradiction stays open, one per combination of open values."""
    width = len(frame.names)
    if cluster.doubtful and cluster.outcome != "repaired":
        return [_alone(frame, row) for row in cluster.rows]
    for pending in cluster.pending:
        if pending.verdict is not None and pending.verdict.operation != "aggregate":
            cluster.picks[pending.column] = pending.sides[pending.verdict.side].rows[0]
    sums = tuple(
        (p.column, total(p.sides)) for p in cluster.pending if p.verdict and p.verdict.operation == "aggregate"
    )
    still = [p for p in cluster.pending if p.verdict is None]
    if cluster.outcome != "apart" and (cluster.one_document or not still):
        for pending in still:
            cluster.picks[pending.column] = pending.sides[provisional(pending)].rows[0]
        flags = ("open conflict",) if still else ()
        picks = tuple(cluster.picks.get(c, -1) for c in range(width))
        return [Part(tuple(cluster.rows), picks, flags, sums, cluster.target)]
    return _open_parts(frame, cluster, still, sums)


def _open_parts(
    frame: Frame, cluster: Cluster, still: Sequence[Pending], sums: tuple[tuple[int, float], ...]
) -> list[Part]:
    """One row per combination of the values that stay open; of things that are apart nothing is shared."""
    apart, width = cluster.outcome == "apart", len(frame.names)
    bins: list[tuple[list[int], list[int]]] = []
    for row in sorted(cluster.rows, key=lambda r: sum(int(frame.codes[p.column][r]) < 0 for p in still)):
        said = [int(frame.codes[p.column][row]) for p in still]
        for rows, values in bins:
            if all(a < 0 or b < 0 or a == b for a, b in zip(said, values, strict=True)):
                rows.append(row)
                values[:] = [max(a, b) for a, b in zip(said, values, strict=True)]
                break
        else:
            bins.append(([row], said))
    parts = []
    for rows, _ in bins:
        rows.sort()
        own = {c: next((r for r in rows if frame.codes[c][r] >= 0), -1 if apart else p) for c, p in cluster.picks.items()}
        for pending, verdict in cluster.settled if not apart else ():
            own[pending.column] = pending.sides[verdict.side].rows[0]
        for pending in cluster.pending:
            if pending.verdict is not None:
                continue
            own[pending.column] = next((r for r in rows if frame.codes[pending.column][r] >= 0), -1)
        flags = () if apart else ("open conflict",)
        parts.append(Part(tuple(rows), tuple(own.get(c, -1) for c in range(width)), flags, sums))
    return parts


def row_id(ids: Iterable[str]) -> str:
    """A stable identifier of a merged row: the row's own where it stands alone, else derived from its sources."""
    sources = list(ids)
    if len(sources) == 1:
        return sources[0]
    return "m" + hashlib.sha256("\x1f".join(sorted(sources)).encode()).hexdigest()[:20]
