"""The merging of grouped rows: groups without a contradiction become one row by array operations,
the other groups become clusters and are settled one by one.

A *group* is the rows with one key. A *cluster* is a group whose rows differ in a column (a
*dispute*), or only may be one thing. A *code* is the number of a distinct value in its column, -1
for an empty cell. A *unit* is a set of rows of one document that are certainly parts of one thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sliders.extraction.cell import Scalar
from sliders.reconcile.column_codes import Codes, ColumnTraits
from sliders.reconcile.guard import Outcome
from sliders.reconcile.keys import KeyPlan, group_extremes, sorted_groups
from sliders.reconcile.relation import MemoryRelation
from sliders.reconcile.repairs import DocumentSource, Options
from sliders.reconcile.settling import Ruling, Side, settle
from sliders.schema.types import ColumnType, Table
from sliders.values.expected import NUMERIC

# the most rows of a contradictory group that are compared; the rows of larger groups stay apart
GIANT_GROUP = 2000
_ENOUGH_DOCUMENTS, _FEW_SPLIT = 8, 0.2
_RECURS = 3  # rows a value of a text column whose values are classes, not names

Role = Literal["name", "key", "dimension", "measure", "prose", "other"]
"""The role of a column in a group: "name" or "key" (a part of the key, a name when it is text),
"dimension" (a place, period or class that tells things apart), "measure" (an amount), "prose" or
"other".
"""
Part = tuple[int, ...]
"""The numbers of rows that become one row; the first is the row that stays."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The table during the work: its codes (to compare by, after names are repaired) and its
    values, by column. `joined` is the unit of each row: rows of one unit go together, whatever
    becomes of others.
    """

    relation: MemoryRelation
    names: tuple[str, ...]
    units: tuple[str, ...]
    roles: tuple[Role, ...]
    codes: Sequence[Codes]
    values: Sequence[Sequence[Scalar]]
    documents: Codes
    chunks: Codes
    joined: Codes

    def by_unit(self, rows: Sequence[int]) -> list[list[int]]:
        """Returns the rows by unit, in order."""
        found: dict[int, list[int]] = {}
        for row in rows:
            found.setdefault(int(self.joined[row]), []).append(row)
        return list(found.values())

    def side(self, column: int, rows: Sequence[int]) -> Side:
        """Returns the side of a conflict that these rows, all of one code, make."""
        first = rows[0]
        document_id = self.relation.document_ids[first]
        document = self.relation.documents.get(document_id, DocumentSource(document_id))
        source = self.relation.source(first, self.names[column])
        return Side(
            self.values[column][first],
            tuple(rows),
            source,
            document,
            len({int(self.chunks[r]) for r in rows}),
        )


@dataclass(slots=True)
class Dispute:
    """Values of one column that contradict each other. Without a `ruling` they wait for the model,
    or stay open. `lacking` is True when some rows are empty in this column, and the value of the
    other rows may be theirs too.
    """

    column: int
    sides: tuple[Side, ...]
    ruling: Ruling | None
    by_code: bool
    lacking: bool = False


@dataclass(slots=True)
class Cluster:
    """Rows that are one thing, with at least one contradiction among them.

    Args:
        rows: the numbers of the rows.
        key: the values of the key.
        one_row: True when they are one row even while a contradiction is open.
        disputes: the contradictions.
        doubtful: True when it is not certain that the rows are one thing.
        keyless: True when they are doubtful because some lack a part of the key.
        outcome: the decision of the model; None when it was not asked.
    """

    rows: list[int]
    key: tuple[Scalar, ...]
    one_row: bool
    disputes: list[Dispute] = field(default_factory=list)
    doubtful: bool = False
    keyless: bool = False
    outcome: Outcome | None = None

    @property
    def pending(self) -> list[Dispute]:
        """The contradictions that code leaves to the model."""
        return [d for d in self.disputes if not d.by_code]

    @property
    def apart(self) -> bool:
        """True when the rows are not one thing after all."""
        verdict = self.outcome.verdict if self.outcome else None
        return verdict == "apart" or (self.doubtful and verdict != "repaired" and not self.named)

    @property
    def named(self) -> bool:
        """True when a person gave the rows without a whole key the key of the other rows."""
        return self.keyless and any(
            d.lacking and d.ruling is not None and d.by_code for d in self.disputes
        )

    @property
    def still_open(self) -> list[Dispute]:
        """The contradictions that nobody settled."""
        return [] if self.apart else [d for d in self.disputes if d.ruling is None]

    @property
    def unanswered(self) -> bool:
        """True when nobody decided whether rows without a whole key are one thing."""
        return (
            self.keyless
            and not self.named
            and (self.outcome is None or self.outcome.verdict == "open")
        )

    def parts(self, frame: Frame) -> list[Part]:
        """Returns the rows that the cluster becomes: one row, or, when a contradiction stays open
        and the key is not certain, one row for each combination of open values.
        """
        if self.apart and self.doubtful:
            return [tuple(unit) for unit in frame.by_unit(self.rows)]
        if not self.apart and (self.one_row or not self.still_open):
            after = self.outcome.steps[-1].after.rows if self.outcome and self.outcome.steps else ()
            stays = next(
                (r for r in self.rows if frame.relation.row_ids[r] == next(iter(after), None)),
                self.rows[0],
            )
            return [(stays, *(r for r in self.rows if r != stays))]
        columns = [frame.codes[d.column] for d in self.disputes if d.ruling is None]
        bins: list[tuple[list[int], list[int]]] = []
        units = [
            (unit, [max(int(codes[r]) for r in unit) for codes in columns])
            for unit in frame.by_unit(self.rows)
        ]
        for unit, said in sorted(units, key=lambda one: sum(code < 0 for code in one[1])):
            for rows, values in bins:
                if all(a < 0 or b < 0 or a == b for a, b in zip(said, values, strict=True)):
                    rows.extend(unit)
                    values[:] = [max(a, b) for a, b in zip(said, values, strict=True)]
                    break
            else:
                bins.append((unit, said))
        return [tuple(sorted(rows)) for rows, _ in bins]


@dataclass(slots=True)
class Merged:
    """The result of grouping: merged rows without contradiction (`parts`), clusters, the number of
    rows of one key that stay apart, and the first row of each thing that a key was split into.
    """

    parts: list[Part] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)
    kept_apart: int = 0
    split: list[list[int]] = field(default_factory=list)

    def take(self, clusters: Sequence[Cluster]) -> None:
        """Adds the clusters that the rows of one key were split into."""
        self.kept_apart += len(clusters) - 1
        if len(clusters) > 1:
            self.split.append([cluster.rows[0] for cluster in clusters])
        self.clusters += [c for c in clusters if c.disputes]
        self.parts += [tuple(c.rows) for c in clusters if not c.disputes and len(c.rows) > 1]


def roles_of(
    table: Table, profiles: Sequence[ColumnTraits], plan: KeyPlan, rows: int
) -> tuple[Role, ...]:
    """Returns the role of each column, by its type and its values."""
    roles: list[Role] = []
    for column, profile in zip(table.columns, profiles, strict=True):
        if profile.prose:
            roles.append("prose")
        elif plan.per_document:
            roles.append("other")
        elif column.name in plan.columns:
            roles.append("name" if column.type is ColumnType.TEXT else "key")
        elif column.type in NUMERIC and not profile.identifying:
            roles.append("measure")
        else:
            recurs = (
                column.type is not ColumnType.TEXT
                or profile.distinct * _RECURS <= profile.coverage * rows
            )
            roles.append("dimension" if profile.identifying and recurs else "other")
    return tuple(roles)


@dataclass(frozen=True, slots=True)
class Groups:
    """The group of each row, and facts about some groups.

    Args:
        of_rows: the group of each row.
        forced: groups that a person merged; they are never split.
        doubtful: groups whose rows only may be one thing.
        keyless: groups that are doubtful because some rows lack a part of the key.
        certain: True when the user or the model said that rows of one key are one thing; no group
            is split.
        likely: True when a model that is not sure said it. Rows with few contradictions are one row
            while a contradiction is open.
    """

    of_rows: Codes
    forced: frozenset[int]
    doubtful: frozenset[int]
    keyless: frozenset[int]
    certain: bool
    likely: bool = False


def merge_groups(
    frame: Frame, groups: Groups, plan: KeyPlan, options: Options, rules: bool
) -> Merged:
    """Merges the rows of each group without contradiction, and puts the other groups into clusters
    with the rulings that code can make.

    Args:
        rules: True lets code decide by general criteria and votes too.
    """
    several, count = _groups_of_several(frame, groups.of_rows)
    contradictory = [rows for rows, contradicts in several if contradicts]
    whole = groups.certain or plan.certain or _few_split(frame, contradictory, plan, count)
    merged = Merged()
    for rows, contradicts in several:
        group = int(groups.of_rows[rows[0]])
        if group in groups.doubtful:
            keyless = group in groups.keyless
            merged.clusters.append(_doubtful(frame, rows, plan, options, keyless))
        elif not contradicts:
            merged.parts.append(tuple(rows))
        elif len(rows) > GIANT_GROUP:
            merged.kept_apart += len(rows)
        else:
            forced = group in groups.forced
            pieces = [rows] if whole or forced else compatible_pieces(frame, rows)
            clusters = [_settled(frame, piece, plan, options, rules) for piece in pieces]
            for cluster in clusters:
                cluster.one_row |= (groups.certain or groups.likely) and not forced
            merged.take(clusters)
    return merged


def _groups_of_several(frame: Frame, groups: Codes) -> tuple[list[tuple[list[int], bool]], int]:
    """Returns the groups of several rows, each with whether its rows contradict each other, and the
    number of all groups.
    """
    order, starts = sorted_groups(groups)
    contradictory = np.zeros(len(starts), dtype=bool)
    for codes in frame.codes:
        low, high = group_extremes(codes, order, starts)
        contradictory |= (high >= 0) & (low < high)
    ends = np.r_[starts[1:], len(order)]
    several = ends - starts > 1
    rows = order.tolist()
    bounds = (column[several].tolist() for column in (starts, ends, contradictory))
    found = [
        (rows[start:end], contradicts) for start, end, contradicts in zip(*bounds, strict=True)
    ]
    return found, len(starts)


def _doubtful(
    frame: Frame, members: list[int], plan: KeyPlan, options: Options, keyless: bool
) -> Cluster:
    """Returns a cluster of rows that only may be one thing. With `keyless`, some of them lack a
    part of the key.
    """
    cluster = _settled(frame, members, plan, options, rules=False, doubtful=True)
    if keyless:
        cluster.keyless = True
        cluster.disputes += _lacking(frame, cluster, plan)
    return cluster


def _lacking(frame: Frame, cluster: Cluster, plan: KeyPlan) -> list[Dispute]:
    """Returns the disputes about the parts of the key that some rows lack; [] when the rows
    contradict each other elsewhere.
    """
    if cluster.disputes:
        return []
    empty = (
        c
        for c in map(frame.names.index, plan.columns)
        if any(frame.codes[c][r] < 0 for r in cluster.rows)
    )
    column = next(empty)
    sides = tuple(frame.side(column, unit) for unit in frame.by_unit(cluster.rows))
    return [Dispute(column, sides, None, False, lacking=True)]


def _few_split(frame: Frame, groups: Sequence[list[int]], plan: KeyPlan, documents: int) -> bool:
    """Says whether each document is one row and only a few documents have rows that contradict each
    other. Such a second row comes from a page's margin ("others also bought"), and is no row of its
    own.
    """
    if not plan.per_document or plan.columns or documents < _ENOUGH_DOCUMENTS:
        return False
    split = sum(
        len(group) <= GIANT_GROUP and len(compatible_pieces(frame, group)) > 1 for group in groups
    )
    return split <= _FEW_SPLIT * documents


def compatible_pieces(frame: Frame, members: Sequence[int]) -> list[list[int]]:
    """Splits the rows of one key into different things. Rows are different things when they differ
    in a dimension and in a measure, or contradict each other in most columns: in two or more, and
    in more than half of the columns beside the key that both fill.
    """
    pieces: list[list[int]] = []
    known: list[list[set[int]]] = []
    hard = [
        (codes, role)
        for codes, role in zip(frame.codes, frame.roles, strict=True)
        if role not in ("prose", "name", "key")
    ]
    for unit in frame.by_unit(members):
        own = [max(int(codes[row]) for row in unit) for codes, _ in hard]
        for place, values in enumerate(known):
            shared = [
                (c, v, role)
                for c, v, (_, role) in zip(own, values, hard, strict=True)
                if c >= 0 and v
            ]
            differing = [role for c, v, role in shared if c not in v]
            other_thing = "dimension" in differing and "measure" in differing
            if not other_thing and (len(differing) < 2 or 2 * len(differing) <= len(shared)):
                pieces[place].extend(unit)
                break
        else:
            pieces.append(unit)
            known.append([set() for _ in hard])
            place = len(pieces) - 1
        for code, value_set in zip(own, known[place], strict=True):
            if code >= 0:
                value_set.add(code)
    return pieces


def _settled(
    frame: Frame,
    rows: list[int],
    plan: KeyPlan,
    options: Options,
    rules: bool,
    doubtful: bool = False,
) -> Cluster:
    """Returns the cluster of some rows, with the rulings that code can make."""
    one_row = plan.per_document and len({int(frame.documents[r]) for r in rows}) == 1
    keyed = map(frame.names.index, plan.columns)
    key = tuple(
        next((frame.values[c][r] for r in rows if frame.codes[c][r] >= 0), None) for c in keyed
    )
    cluster = Cluster(list(rows), key, one_row, doubtful=doubtful)
    for column, codes in enumerate(frame.codes):
        by_code: dict[int, list[int]] = {}
        for row in rows:
            if codes[row] >= 0:
                by_code.setdefault(int(codes[row]), []).append(row)
        if len(by_code) < 2:
            continue
        sides = [frame.side(column, some) for some in by_code.values()]
        if frame.roles[column] == "prose":
            longest = max(range(len(sides)), key=lambda n: len(str(sides[n].value)))
            found: Ruling | None = Ruling(
                longest, "deduplicate", "two wordings; the longer one stands for both"
            )
        else:
            wanted = frame.units[column].strip().lower()
            sides.sort(key=lambda s: s.source.unit.strip().lower() != wanted)
            # Rows of two keys are in a group because a person or the model put them there.
            named = frame.roles[column] == "name"
            found = settle(
                sides, frame.names[column], options.criteria, options.precede, rules, named
            )
        cluster.disputes.append(Dispute(column, tuple(sides), found, found is not None))
    return cluster


def provisional(dispute: Dispute) -> Side:
    """Returns the side that is shown while nobody decides: the side with most sources, then with
    verbatim words, then with the first row.
    """
    verbatim = ("exact", "normalized")
    return max(
        dispute.sides, key=lambda s: (s.votes, s.source.grounding.value in verbatim, -min(s.rows))
    )
