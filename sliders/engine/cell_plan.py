"""The plan of one table in a query: which cells the query still needs, and which call reads the
next of them.

An *attribute* is a column that the query reads, a *segment* is the part of a document that a search
returns. The *evidence* of an attribute are the vectors that find it, with the distance *gamma* up
to which segments count as near. The nearest segments are sent first; farther segments are sent only
while the value is not found and still likely to be there. Attributes with the same segments are
asked for in one call when that is cheaper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sliders.documents.document import Document
from sliders.engine.filling import Filling
from sliders.engine.join_values import JoinNames
from sliders.engine.query_binding import DOCS
from sliders.engine.query_cells import KnownValues, ShownRows, load_known
from sliders.engine.query_evidence import Learned, load_learned
from sliders.engine.segment_ranking import SegmentOrder, chance_between, rank_segments
from sliders.engine.session import Session
from sliders.extraction.cell import Scalar
from sliders.query.cost import Rounds, Statistics, expected_tokens, rounds
from sliders.query.filter_order import Ordered, order
from sliders.query.filters import Expression, Filter, leaves, reduce
from sliders.query.predicates import SYSTEM
from sliders.retrieval.segment_index import SegmentIndex
from sliders.schema.types import Table

_VALUE = 20_000
"""The tokens that a found value is worth; the tokens of reading its whole document if these are
more. Segments are sent while they have fewer tokens than this worth times the chance that they hold
the value.
"""
_SHORT = 3_000
"""The tokens of a document that is read at once, together with others."""
_BEYOND = 0.25
"""The factor of this worth for segments farther than gamma."""
_DOUBT = 0.1
"""The factor of the chance that a document states an attribute, when the index excludes the
document.
"""


@dataclass(frozen=True, slots=True)
class NextCall:
    """The next call about a document: the attributes to ask for, and the segments to send. Without
    segments, nothing more is worth reading for these attributes.
    """

    attributes: tuple[str, ...]
    rows: tuple[int, ...]


@dataclass(slots=True)
class CellPlan:
    """The known values of a table, and the plan for the rest.

    Args:
        filling: the extraction under way.
        table: the table.
        attributes: the columns that the query reads.
        index: the segments with their vectors.
        keeps: True uses the workspace's cells and evidence, and stores new ones.
        names: the names of documents, by id.
        learned: the evidence and the counts.
        frame: the tokens of a call beside its segments.
        known: the known values, by document.
        shown: the rows that the table shows, by document.
        join_names: the join values that documents are searched for.
        doubted: the documents that the index excludes.
        failed: why attributes could not be read, by document.
        sent: the segments that were sent, by document and attribute.
        ranked: all segments in the order of the search, by document and attribute.
        documents: the documents that were read last.
    """

    filling: Filling
    table: Table
    attributes: tuple[str, ...]
    index: SegmentIndex
    keeps: bool
    names: Mapping[str, str]
    learned: Learned = field(init=False)
    frame: int = field(init=False)
    known: KnownValues = field(default_factory=lambda: KnownValues(dict))
    shown: ShownRows = field(default_factory=dict)
    join_names: JoinNames = field(default_factory=JoinNames)
    doubted: frozenset[str] = frozenset()
    failed: dict[str, dict[str, str]] = field(default_factory=dict)
    sent: dict[tuple[str, str], set[int]] = field(default_factory=dict)
    ranked: dict[tuple[str, str], SegmentOrder] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.frame = self.session.runner.frame_tokens(self.session.models.model_for("extract"))
        self.learned = Learned(self.table.name)
        if self.keeps:
            self.learned = load_learned(self.session, self.table)
            self.known, self.shown = load_known(self.session, self.table)
        read = Counter(name for values in self.known.values() for name in values)
        if any(0 < read[name] < len(self.known) for name in self.attributes):
            self.filling.rests_on_earlier()

    @property
    def session(self) -> Session:
        """The session of the query."""
        return self.filling.session

    @property
    def statistics(self) -> Statistics:
        """The counts of the table."""
        return self.learned.statistics

    def values(self, document_id: str) -> dict[str, Scalar]:
        """Returns the known values of a document, with its name and id. An attribute whose reading
        failed is None for this query.
        """
        failed = dict.fromkeys(self.failed.get(document_id, ()))
        system = {SYSTEM[0]: self.names.get(document_id, document_id), SYSTEM[1]: document_id}
        nulls = self.join_names.nulls(document_id)
        return {**failed, **nulls, **self.known[document_id], **system}

    def rows(self, document_id: str) -> Sequence[Mapping[str, Scalar]]:
        """Returns the rows of the table that come from a document; before the table has one, the
        known values as a row.
        """
        return self.shown.get(document_id) or [self.values(document_id)]

    def passes(self, document_id: str, where: Expression | None) -> bool:
        """Says whether a decided document passes a condition, by its known values or by a row of
        the table.
        """
        values = (self.values(document_id), *self.rows(document_id))
        return any(reduce(where, row) is True for row in values)

    def is_row(self, document_id: str) -> bool:
        """Says whether an accepted document is a row: always for `docs`; otherwise when a value is
        stated, or when the condition asked for none.
        """
        if self.table.name == DOCS:
            return True
        known = self.known[document_id]
        asked = [name for name in self.attributes if name in known]
        return not asked or self.has_values(document_id)

    def has_values(self, document_id: str) -> bool:
        """Says whether the document states a value for at least one of the attributes."""
        known = self.known[document_id]
        return any(known.get(name) is not None for name in self.table.column_names)

    def document(self, document_id: str) -> Document:
        """Returns a document of the workspace. At most 65 documents are kept in memory.

        Raises:
            StoreError: the workspace has no document of this id.
        """
        if document_id not in self.documents:
            if len(self.documents) > 64:
                self.documents.clear()
            self.documents[document_id] = self.session.catalog.documents.get(document_id)
        return self.documents[document_id]

    def next_call(
        self,
        document_id: str,
        where: Expression | None,
        selected: Sequence[str] = (),
        *,
        whole: bool = False,
    ) -> NextCall | None:
        """Returns the next call for a document, None when all is known: first for the attributes
        that still decide the condition, then for the selected attributes of a row that passes.

        Args:
            whole: True asks for everything that is missing, in all segments worth their tokens.
        """
        values = self.values(document_id)
        beside = [n for n in self._beside() if n not in values]
        if read := tuple(name for name in beside if self.sent.get((document_id, name))):
            return NextCall(read, ())  # the whole document does not tell them
        rest = reduce(where, values)
        missing = [name for name in selected if name not in values]
        if rest is not False and self.shares(document_id) and not self.join_names.names:
            open_leaves = () if rest is True else leaves(rest)
            needed = [n for leaf in open_leaves for n in leaf.attributes if n not in values]
            asked = [*needed, *missing] if needed or self.passes(document_id, where) else []
            return self._at_once(document_id, [*asked, *beside]) if asked else None
        if not isinstance(rest, bool):
            ordered = self.ordered(rest, document_id, frozenset(selected))
            leaf = self.next_filter(ordered, rest, document_id, frozenset(selected))
            needs = _chances(ordered, selected, values)
            attribute = next(name for name in leaf.attributes if name not in values)
        elif missing and self.passes(document_id, where):
            needs, attribute = dict.fromkeys(missing, 1.0), missing[0]
        else:
            return None
        if whole:
            every = {row for name in missing for row in self.next_rows(document_id, name)}
            return NextCall(tuple(missing), tuple(sorted(every)))
        if near := self.next_rows(document_id, attribute):
            return NextCall(*self._companions(document_id, attribute, near, needs))
        return NextCall((attribute,), ())

    def _beside(self) -> list[str]:
        """Returns the attributes of `docs` that are described or were asked for before, beside
        those of the query: a short document that is read is read for them, too.
        """
        columns = self.table.column_names if self.table.name == DOCS else ()
        return [name for name in columns if name not in self.attributes]

    def shares(self, document_id: str) -> bool:
        """Says whether a document is so short that it shares calls with others. Such a document is
        read once for all attributes that the condition or the selection may need.
        """
        model = self.session.models.model_for("extract")
        size = sum(self.index.sizes(document_id))
        return self.frame > 0 and model.dialect.documents_per_call > 1 and size <= _SHORT

    def groups(self, documents: Iterable[str], most: int | None = None) -> list[tuple[str, ...]]:
        """Returns documents in groups that are read together.

        Args:
            most: the most documents of a group, when not all have to be read.
        """
        model, groups = self.session.models.model_for("extract"), list[list[str]]()
        size = min(model.dialect.documents_per_call, most or model.dialect.documents_per_call)
        room = 0
        for document_id in documents:
            shares = self.shares(document_id)
            if not (shares and 0 < room < size):
                groups.append([])
                room = size
            groups[-1].append(document_id)
            room = room - 1 if shares else 0
        return list(map(tuple, groups))

    def _at_once(self, document_id: str, wanted: Sequence[str]) -> NextCall:
        """Returns the call that reads a whole document for these attributes."""
        names = tuple(dict.fromkeys(wanted))
        every = range(len(self.index.sizes(document_id)))
        sent = [self.sent.get((document_id, name), set()) for name in names]
        rows = [row for row in every if any(row not in one for one in sent)]
        return NextCall(names, tuple(every if rows else ()))

    def next_filter(
        self, ordered: Ordered, _rest: Expression, _document_id: str, _selected: frozenset[str]
    ) -> Filter:
        """Returns the condition to evaluate next: by its selectivity, and by its cost in this
        document.
        """
        return next(ordered.filters())

    def next_rows(self, document_id: str, attribute: str) -> list[int]:
        """Returns the segments of the next round; [] when no more are worth their tokens."""
        ranking = self.ranking(document_id, attribute)
        sent = self.sent.setdefault((document_id, attribute), set())
        left = [row for row in ranking.sequence if row not in sent]
        if not left:
            return []
        place = ranking.sequence.index(left[0])
        inside = place < ranking.within
        count = max(1, ranking.within - place) if inside else len(left)
        plan = rounds([ranking.sizes[row] for row in left[:count]], self.frame / 2)
        batch = left[: max(plan.upto[0], min(len(sent), count))]
        if place == 0 and document_id not in self.doubted:
            return batch
        stated, price = self._stated(document_id, attribute), self._price(ranking, inside)
        held = [
            self.statistics.found_within(attribute, place + more) for more in range(len(batch) + 1)
        ]
        for number, row in enumerate(batch):
            if chance_between(stated, held[number], held[number + 1]) * price < ranking.sizes[row]:
                return batch[:number]
        return batch

    def _price(self, ranking: SegmentOrder, inside: bool) -> float:
        """Returns the most tokens that may be spent on a value of this document; `inside` for
        segments within gamma.
        """
        return max(_VALUE, sum(ranking.sizes)) * (1.0 if inside else _BEYOND)

    def _companions(
        self, document_id: str, attribute: str, rows: list[int], needs: Mapping[str, float]
    ) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Returns the attributes of a call, and its segments. Another attribute joins when it adds
        fewer tokens than it would cost later, times the chance that it is needed.
        """
        asked, chosen = [attribute], list(rows)
        sizes = self.index.sizes(document_id)
        others = [name for name in needs if name != attribute]
        for name in sorted(others, key=lambda name: -needs[name]):
            wanted = self.next_rows(document_id, name)
            extra = [row for row in wanted if row not in chosen]
            later = sum(sizes[row] for row in wanted) + self.frame
            added = sum(sizes[row] for row in extra)
            coincide = len(extra) < len(wanted) and added <= needs[name] * later
            if wanted and (coincide or (needs[name] >= 1.0 and self.frame > 0)):
                asked.append(name)
                chosen += extra
        return tuple(asked), tuple(chosen)

    def ordered(
        self, rest: Expression, document_id: str, selected: frozenset[str] = frozenset()
    ) -> Ordered:
        """Returns the best order of the conditions that are not decided for a document."""
        known = self.known[document_id]
        costs: dict[str, float] = {}

        def cost(leaf: Filter) -> float:
            total = 0.0
            for name in leaf.attributes:
                if name not in known and name not in SYSTEM:
                    if name not in costs:
                        costs[name] = self.cost(document_id, name)
                    total += costs[name]
            return total

        return order(rest, self.statistics.selectivity, cost, selected)

    def cost(self, document_id: str, attribute: str) -> float:
        """Returns the expected tokens of reading an attribute of a document: its segments, round by
        round, and the frame of each call.
        """
        ranking = self.ranking(document_id, attribute)
        sent = self.sent.get((document_id, attribute), ())
        near = [row for row in ranking.sequence[: max(1, ranking.within)] if row not in sent]
        plan = rounds([ranking.sizes[row] for row in near], self.frame / 2)
        within = [self.statistics.found_within(attribute, upto) for upto in plan.upto]
        stated = self._stated(document_id, attribute)
        depth = min(1, len(within))
        while depth < len(within):
            chance = chance_between(stated, within[depth - 1], within[depth])
            if chance * self._price(ranking, True) < plan.tokens[depth]:
                break
            depth += 1
        plan = Rounds(plan.upto[:depth], plan.tokens[:depth])
        return expected_tokens(plan, stated, within[:depth], self.frame)

    def _stated(self, document_id: str, attribute: str) -> float:
        """Returns the chance (0 to 1) that a document states the attribute."""
        share = self.statistics.share_stated(attribute)
        if document_id in self.doubted and not self.has_values(document_id):
            return share * _DOUBT
        return share

    def ranking(self, document_id: str, attribute: str) -> SegmentOrder:
        """Returns the segments of a document, the nearest first."""
        evidence, layout = self.learned.evidence[attribute], self.learned.layout(attribute)
        held = self.ranked.get((document_id, attribute))
        if held is None or held.evidence is not evidence or held.weights != layout.weights:
            spoken = self.learned.spoken.get(attribute)
            held = rank_segments(self.index, document_id, evidence, layout, layout.weights, spoken)
            self.ranked[document_id, attribute] = held
        if attribute not in self.join_names.names:
            return held
        return held.only(self.join_names.rows(self.document(document_id), self.index, attribute))


def _chances(ordered: Ordered, selected: Sequence[str], known: Container[str]) -> dict[str, float]:
    """Returns the chance (0 to 1) that each attribute will be read, by the order of the
    conditions.
    """
    chances = dict.fromkeys(selected, ordered.probability)
    for leaf, chance in ordered.reached():
        for name in leaf.attributes:
            chances[name] = max(chance, chances.get(name, 0.0))
    return {name: chance for name, chance in chances.items() if name not in known}
