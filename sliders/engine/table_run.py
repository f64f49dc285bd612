"""Lazy extraction: one document at a time, one attribute at a time, only what the
verdict still depends on.

The segments nearest to an attribute's evidence are sent first; further ones only while the value is
not found and it is still likely enough to be there. Attributes whose segments coincide are asked
for in one call where that is cheaper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sliders.documents.document import Document
from sliders.engine.filling import Filling
from sliders.engine.join_values import JoinNames
from sliders.engine.query_binding import DOCS
from sliders.engine.query_cells import Known, Shown, cells_of_one_row, load_known, save_cells
from sliders.engine.query_evidence import WEIGHTS, Learned, load_learned, save_learned
from sliders.engine.runner import Reading
from sliders.engine.segment_ranking import Ranking, chance_between, rank_segments
from sliders.engine.session import Session
from sliders.extraction.cell import Absence, Cell, Scalar
from sliders.extraction.prompt import Asked
from sliders.query.cost import Rounds, Statistics, expected_tokens, rounds
from sliders.query.explain import DocumentTrace, Step, Verdict
from sliders.query.filter_order import Ordered, order
from sliders.query.filters import Expression, Filter, leaves, reduce
from sliders.query.predicates import SYSTEM
from sliders.retrieval.segment_index import SegmentIndex
from sliders.schema.types import Table
from sliders.store.materialise import enters

_VALUE = 20_000
"""Tokens that finding a value is worth (or one reading of its document, where that is more):
segments are sent while their tokens are fewer than that times the chance that they hold it.
"""
_BEYOND = 0.25
"""Factor of that worth beyond gamma."""
_DOUBT = 0.1
"""How much less likely than elsewhere a document that the index excludes is thought
to state an attribute.
"""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Documents of a table: those to work on, those excluded, and the audited part of these."""

    chosen: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    audited: tuple[str, ...] = ()
    sampled: tuple[str, ...] = ()

    @property
    def to_read(self) -> tuple[str, ...]:
        """Those to work on, and the audited ones."""
        return (*self.chosen, *self.audited)


@dataclass(slots=True)
class TableRun:
    """One table of a running query: what is known, believed and spent.

    `keeps` says whether cells and evidence of the workspace are used, and new ones kept; `names`
    are those of documents. By document: `doubted` ones are those that the index excludes, `steps`
    the calls so far, `failed` why attributes could not be read, `given_up` attributes of which
    nothing more is read, `unsaved` cells that are not in the workspace yet. By document and
    attribute: `sent` segments, `ranked` all of them, and what was `refused`, which is why nothing
    stands where nothing better is found.
    """

    filling: Filling
    table: Table
    attributes: tuple[str, ...]
    index: SegmentIndex
    keeps: bool
    names: Mapping[str, str]
    learned: Learned = field(init=False)
    frame: int = field(init=False)
    """Tokens of a call beside its segments: instructions and fields."""
    known: Known = field(default_factory=lambda: Known(dict))
    shown: Shown = field(default_factory=dict)
    candidates: Candidates = field(default_factory=Candidates)
    filters: tuple[Filter, ...] = ()
    join_names: JoinNames = field(default_factory=JoinNames)
    doubted: frozenset[str] = frozenset()
    steps: dict[str, list[Step]] = field(default_factory=dict)
    failed: dict[str, dict[str, str]] = field(default_factory=dict)
    given_up: dict[str, set[str]] = field(default_factory=dict)
    unsaved: dict[str, dict[str, Cell]] = field(default_factory=dict)
    sent: dict[tuple[str, str], set[int]] = field(default_factory=dict)
    ranked: dict[tuple[str, str], Ranking] = field(default_factory=dict)
    refused: dict[tuple[str, str], Cell] = field(default_factory=dict)
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
        """The table's running figures."""
        return self.learned.statistics

    def values(self, document_id: str) -> dict[str, Scalar]:
        """What is known of a document, its name and id included; a failed attribute is
        null for this query.
        """
        failed = dict.fromkeys(self.failed.get(document_id, ()))
        system = {SYSTEM[0]: self.names.get(document_id, document_id), SYSTEM[1]: document_id}
        nulls = self.join_names.nulls(document_id)
        return {**failed, **nulls, **self.known[document_id], **system}

    @property
    def tokens(self) -> int:
        """Tokens sent so far."""
        return sum(step.tokens for steps in self.steps.values() for step in steps)

    # planning

    def ordered(
        self, rest: Expression, document_id: str, selected: frozenset[str] = frozenset()
    ) -> Ordered:
        """The best order of what is left to decide for a document."""
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
        """Expected tokens of reading an attribute of a document: its segments by their rounds,
        and each call's frame.
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
        """The chance that a document states the attribute."""
        share = self.statistics.share_stated(attribute)
        if document_id in self.doubted and not self.has_values(document_id):
            return share * _DOUBT
        return share

    def ranking(self, document_id: str, attribute: str) -> Ranking:
        """Segments of a document, nearest first."""
        evidence, layout = self.learned.evidence[attribute], self.learned.layout(attribute)
        held = self.ranked.get((document_id, attribute))
        if held is None or held.evidence is not evidence or held.weights != layout.weights:
            spoken = self.learned.spoken.get(attribute)
            held = rank_segments(self.index, document_id, evidence, layout, layout.weights, spoken)
            self.ranked[document_id, attribute] = held
        if attribute not in self.join_names.names:
            return held
        return held.only(self.join_names.rows(self.document(document_id), self.index, attribute))

    # evaluation

    async def decide(
        self, document_id: str, where: Expression | None, selected: frozenset[str] = frozenset()
    ) -> bool:
        """Whether a document passes, reading as little as the verdict needs."""
        while True:
            rest = reduce(where, self.values(document_id))
            if isinstance(rest, bool):
                return rest or any(reduce(where, row) is True for row in self.rows(document_id))
            leaf = self.next_filter(rest, document_id, selected)
            values = self.values(document_id)
            attribute = next(name for name in leaf.attributes if name not in values)
            await self.read(document_id, attribute, self._needs(rest, document_id, selected))

    def rows(self, document_id: str) -> Sequence[Mapping[str, Scalar]]:
        """The rows of the table that come from a document; before it is in the table, what is known
        of it.
        """
        return self.shown.get(document_id) or [self.values(document_id)]

    def refresh(self) -> bool:
        """Knows a document again as the table shows it now; whether that is news."""
        before = self.known
        self.known, self.shown = load_known(self.session, self.table)
        return any(
            values != before.get(document_id, {})
            for document_id, values in self.known.items()
            if values
        )

    def next_filter(self, rest: Expression, document_id: str, selected: frozenset[str]) -> Filter:
        """The filter that is evaluated next: by selectivity and this document's own cost."""
        return next(self.ordered(rest, document_id, selected).filters())

    def _needs(
        self, rest: Expression, document_id: str, selected: frozenset[str]
    ) -> dict[str, float]:
        """The chance that each attribute will be read for this document."""
        ordered = self.ordered(rest, document_id, selected)
        chances = {name: ordered.probability for name in selected}
        for leaf, chance in ordered.reached():
            for name in leaf.attributes:
                chances[name] = max(chance, chances.get(name, 0.0))
        known = self.values(document_id)
        return {name: chance for name, chance in chances.items() if name not in known}

    async def complete(self, document_id: str, attributes: Sequence[str]) -> None:
        """Reads what is still unknown of these attributes; all of them are needed."""
        while missing := [name for name in attributes if name not in self.values(document_id)]:
            await self.read(document_id, missing[0], dict.fromkeys(missing, 1.0))

    async def complete_thoroughly(self, document_id: str, attributes: Sequence[str]) -> None:
        """Reads attributes of a sampled document; every segment is sent once, for
        all that is missing.
        """
        while missing := [name for name in attributes if name not in self.values(document_id)]:
            rows = sorted({row for name in missing for row in self.next_rows(document_id, name)})
            if not rows:
                for name in missing:
                    self._give_up(document_id, name)
                return
            await self.ask(document_id, missing, rows)

    async def read(self, document_id: str, attribute: str, needs: Mapping[str, float]) -> None:
        """Reads one attribute to its end: found, or given up; others of `needs` ride along
        where that is cheaper.
        """
        while attribute not in self.values(document_id):
            rows = self.next_rows(document_id, attribute)
            if rows:
                await self.ask(document_id, *self._companions(document_id, attribute, rows, needs))
            else:
                self._give_up(document_id, attribute)

    def next_rows(self, document_id: str, attribute: str) -> list[int]:
        """Segments of the next round, none when it is not worth while any more."""
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

    def _price(self, ranking: Ranking, inside: bool) -> float:
        """Tokens that a value of this document is worth."""
        return max(_VALUE, sum(ranking.sizes)) * (1.0 if inside else _BEYOND)

    def _companions(
        self, document_id: str, attribute: str, rows: list[int], needs: Mapping[str, float]
    ) -> tuple[list[str], list[int]]:
        """Attributes asked for in the same call, and the segments of the call.

        Another attribute joins when the tokens that it adds are fewer than those it would cost
        later, times the chance that it is needed at all (segments that coincide add nothing).
        """
        asked, chosen = [attribute], list(rows)
        sizes = self.index.sizes(document_id)
        for name in sorted(needs, key=lambda name: -needs[name]):
            if name == attribute or name in self.values(document_id):
                continue
            wanted = self.next_rows(document_id, name)
            extra = [row for row in wanted if row not in chosen]
            later = sum(sizes[row] for row in wanted) + self.frame
            added = sum(sizes[row] for row in extra)
            coincide = len(extra) < len(wanted) and added <= needs[name] * later
            if wanted and (coincide or (needs[name] >= 1.0 and self.frame > 0)):
                asked.append(name)
                chosen += extra
        return asked, chosen

    async def ask(self, document_id: str, names: Sequence[str], rows: Sequence[int]) -> None:
        """One call: these attributes from these segments. What is found is known from now on."""
        document, table = self.document(document_id), replace(self.table, grain="document")
        places = self.index.places(document_id, sorted(rows))
        tokens = sum(self.index.sizes(document_id)[row] for row in rows)
        asked = [Asked(table, tuple(map(table.column, names)))]
        context = self.filling.context(document)
        reading = Reading.of_pieces(document, places, asked, context, tokens)
        extraction = await self.filling.read(reading)
        for name in names:
            self.sent.setdefault((document_id, name), set()).update(rows)
        found = []
        if failure := extraction.failure(table.name):
            self.failed.setdefault(document_id, {}).update(dict.fromkeys(names, failure))
        for cell in () if failure else cells_of_one_row(extraction.rows, names):
            if not self._stands(cell):
                if cell.absence is not Absence.NOT_STATED:
                    self.refused[document_id, cell.column] = cell
            elif cell.column not in self.known[document_id]:
                found.append(cell.column)
                self._know(document_id, cell)
        self.steps.setdefault(document_id, []).append(Step(tuple(names), tokens, tuple(found)))
        self._save([document_id])
        self.filling.save(reading, extraction, (), ())

    def reopen(self, document_id: str) -> bool:
        """Forgets that attributes are not stated where what was learned since points to
        segments that were not sent.
        """
        found = False
        for name in sorted(self.given_up.pop(document_id, ())):
            if self.known[document_id].get(name) is None and self.next_rows(document_id, name):
                self.known[document_id].pop(name, None)
                self.statistics.stated[name].trials -= 1
                found = True
        return found

    def _give_up(self, document_id: str, attribute: str) -> None:
        """Nothing more is read for an attribute: it is empty for the reason that its reading had,
        unless `reopen` finds better.

        Of an attribute that was only sought, nothing is known but that it joins nothing.
        """
        if attribute in self.join_names.names:
            self.join_names.unjoined.add((document_id, attribute))
            return
        self.given_up.setdefault(document_id, set()).add(attribute)
        empty = Cell(attribute, absence=Absence.NOT_STATED)
        self._know(document_id, self.refused.pop((document_id, attribute), empty))
        self._save([document_id])

    def _stands(self, cell: Cell) -> bool:
        return enters(cell, self.session.settings.unverified)

    def _know(self, document_id: str, cell: Cell) -> None:
        """A value, or that there is none, is known: figures and evidence learn from it, and from
        the segment where it stands.
        """
        stands, rank, row = self._stands(cell), None, None
        if stands and cell.span is not None:
            row = self.index.row_at(document_id, cell.span.start)
        if row is not None:
            layout = self.learned.layout(cell.column)
            ranks = [order.index(row) for order in self._orders(document_id, cell.column)]
            rank = ranks[WEIGHTS.index(layout.weights)] if ranks else None
            layout.learn(row, len(self.index.sizes(document_id)), ranks)
        self.shown.pop(document_id, None)  # the table does not show it yet
        self.known[document_id][cell.column] = cell.value if stands else None
        vector = self.index.vectors(document_id)[row] if row is not None else None
        # Only documents that print a join value were looked at: how many of all state the
        # attribute is not seen.
        fair = cell.column not in self.join_names.names
        self.learned.learn(cell.column, cell.absence is None if fair else None, rank, vector)
        self.statistics.observe(self.filters, self.values(document_id), cell.column)
        if self.keeps:
            self.unsaved.setdefault(document_id, {})[cell.column] = cell

    def _save(self, documents: Sequence[str]) -> None:
        """Stores the cells of documents that are rows; of the others nothing is stated or refused
        so far, and something may be found yet.
        """
        rows = {
            document_id: cells
            for document_id in documents
            if (cells := self.unsaved.get(document_id))
            and (self.is_row(document_id) or any(map(_tells, cells.values())))
        }
        save_cells(self.session, self.table, rows, row=True)
        for document_id in rows:
            del self.unsaved[document_id]

    def save(self) -> None:
        """Stores what was read and learned."""
        if self.keeps:
            self._save(list(self.unsaved))
            save_cells(self.session, self.table, self.unsaved, row=False)
            self.unsaved.clear()
            save_learned(self.session, self.learned)

    def _orders(self, document_id: str, attribute: str) -> list[list[int]]:
        """The order of segments under each of `WEIGHTS`; none before there is evidence."""
        evidence = self.learned.evidence.get(attribute)
        if evidence is None or evidence.sources == 0:
            return []
        layout = self.learned.layout(attribute)
        spoken = self.learned.spoken.get(attribute)
        return [
            list(rank_segments(self.index, document_id, evidence, layout, weights, spoken).sequence)
            for weights in WEIGHTS
        ]

    def document(self, document_id: str) -> Document:
        """The document; those read last are kept."""
        if document_id not in self.documents:
            if len(self.documents) > 64:
                self.documents.clear()
            self.documents[document_id] = self.session.catalog.documents.get(document_id)
        return self.documents[document_id]

    def traces(self, accepted: Container[str]) -> Iterator[DocumentTrace]:
        """What happened to each document."""
        found = self.candidates
        for document_id in self.index.entries:
            steps = tuple(self.steps.get(document_id, ()))
            verdict: Verdict = "not read"
            if document_id in found.sampled:
                verdict = "sampled"
            elif document_id in accepted:
                verdict = "accepted"
            elif document_id in found.excluded and not steps:
                verdict = "excluded"
            elif steps or document_id in self.known:
                verdict = "rejected"
            name, whole = self.names.get(document_id, document_id), self.index.sizes(document_id)
            spent = sum(step.tokens for step in steps)
            yield DocumentTrace(self.table.name, name, steps, verdict, spent, sum(whole))

    def conditions(self, where: Expression | None) -> None:
        """The filters whose selectivity is counted from now on; known documents count at once."""
        self.filters = tuple(leaves(where))
        for leaf in self.filters:
            if leaf.key in self.statistics.filters:
                continue
            for document_id in list(self.known):
                values = self.values(document_id)
                if all(name in values for name in leaf.attributes) and self.has_values(document_id):
                    self.statistics.observe([leaf], values, leaf.attributes[0])

    def is_row(self, document_id: str) -> bool:
        """Whether an accepted document is a row: each of `docs`; else something is stated, or the
        condition did not ask.
        """
        if self.table.name == DOCS:
            return True
        known = self.known[document_id]
        asked = [name for name in self.attributes if name in known]
        return not asked or self.has_values(document_id)

    def has_values(self, document_id: str) -> bool:
        """Whether anything of the table is stated: a document of which nothing is known to
        be stated is no row.
        """
        known = self.known[document_id]
        return any(known.get(name) is not None for name in self.table.column_names)


def _tells(cell: Cell) -> bool:
    """Whether a cell tells more than that nothing is stated."""
    return cell.absence not in (Absence.NOT_STATED, Absence.DOES_NOT_APPLY)
