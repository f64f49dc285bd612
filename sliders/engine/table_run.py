"""One table of a running query: the calls that its plan asks for, and what the planner learns from
their results.

An *attribute* is a column that the query reads. A *segment* is the part of a document that a search
returns; a call reads a few segments. *Evidence* are the vectors by which the search finds an
attribute.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sliders.engine.cell_plan import CellPlan
from sliders.engine.query_cells import cells_of_one_row, load_known, save_cells
from sliders.engine.query_evidence import WEIGHTS, save_learned
from sliders.engine.runner import DocumentPart, ExtractionCall
from sliders.engine.segment_ranking import rank_segments
from sliders.engine.shared_calls import in_calls
from sliders.extraction.cell import Absence, Cell
from sliders.extraction.extract import Extraction
from sliders.extraction.prompt import Asked
from sliders.query.explain import CallTrace, DocumentTrace, Verdict
from sliders.query.filters import Expression, Filter, leaves
from sliders.store.materialise import enters


@dataclass(frozen=True, slots=True)
class Candidates:
    """The documents of a table, by id: `chosen` to be read, `excluded` by the search, `audited`
    (excluded, but read as a check), and `sampled` (read to learn from).
    """

    chosen: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    audited: tuple[str, ...] = ()
    sampled: tuple[str, ...] = ()

    @property
    def to_read(self) -> tuple[str, ...]:
        """The chosen and the audited documents."""
        return (*self.chosen, *self.audited)


@dataclass(slots=True)
class TableRun(CellPlan):
    """One table of a running query: its plan, its results and its costs.

    Args:
        candidates: the documents of the table.
        filters: the conditions whose selectivity is counted.
        steps: the calls so far, by document.
        given_up: the attributes for which no more segments are read, by document.
        unsaved: the cells that are not stored yet, by document and attribute.
        refused: values that a check refused, by document and attribute. When nothing better is
            found, the cell stays empty for that reason.
    """

    candidates: Candidates = field(default_factory=Candidates)
    filters: tuple[Filter, ...] = ()
    steps: dict[str, list[CallTrace]] = field(default_factory=dict)
    given_up: dict[str, set[str]] = field(default_factory=dict)
    unsaved: dict[str, dict[str, Cell]] = field(default_factory=dict)
    refused: dict[tuple[str, str], Cell] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """The tokens sent so far."""
        return sum(step.tokens for steps in self.steps.values() for step in steps)

    async def finish(
        self,
        documents: Sequence[str],
        where: Expression | None,
        selected: Sequence[str] = (),
        *,
        whole: bool = False,
    ) -> None:
        """Reads the cells of documents that the query still needs, call by call (see `next_call`),
        and stores them. Documents that need the same attributes share calls.

        Args:
            documents: the ids of the documents.
            where: the condition of the query on this table; None for none.
            selected: the attributes that a row which passes must have.
            whole: True asks for all missing attributes of such a row in one call.
        """
        waiting = list(documents)
        while waiting:
            alike: dict[tuple[str, ...], dict[str, tuple[int, ...]]] = {}
            for document_id in waiting:
                while call := self.next_call(document_id, where, selected, whole=whole):
                    if call.rows:
                        alike.setdefault(tuple(call.attributes), {})[document_id] = call.rows
                        break
                    self._give_up(document_id, call.attributes)
            for names, rows in alike.items():
                await self.ask(names, rows)
            waiting = [document_id for rows in alike.values() for document_id in rows]
        self._save(documents)

    def refresh(self) -> bool:
        """Loads the known values from the table again. Returns True when any of them changed."""
        before = self.known
        self.known, self.shown = load_known(self.session, self.table)
        return any(
            values != before.get(document_id, {})
            for document_id, values in self.known.items()
            if values
        )

    async def ask(self, names: Sequence[str], rows: Mapping[str, Sequence[int]]) -> None:
        """Asks for these attributes in segments of each document, in as few calls as these may
        share. The values found count as known from now on.

        Args:
            names: the attributes.
            rows: the segments of each document, by their row in the index.
        """
        table = replace(self.table, grain="document")
        asked, parts = (Asked(table, tuple(map(table.column, names))),), []
        for document_id, some in rows.items():
            document = self.document(document_id)
            places = self.index.places(document_id, sorted(some))
            tokens = sum(self.index.sizes(document_id)[row] for row in some)
            parts.append(
                DocumentPart.of_pieces(document, places, self.filling.context(document), tokens)
            )
        model = self.session.models.model_for("extract")
        for size in in_calls([part.chunk.text for part in parts], asked, model, 0):
            call = ExtractionCall(tuple(parts[:size]), asked)
            del parts[:size]
            found = await self.filling.read(call)
            for part, extraction in zip(call.parts, found, strict=True):
                self._take(part, names, rows[part.document.id], extraction)
            self.filling.save(call, found, (), ())

    def _take(
        self, part: DocumentPart, names: Sequence[str], rows: Sequence[int], extraction: Extraction
    ) -> None:
        """Takes the values that a call found in a part of a document."""
        document_id, table = part.document.id, self.table
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
        trace = CallTrace(tuple(names), part.chunk.tokens, tuple(found))
        self.steps.setdefault(document_id, []).append(trace)

    def reopen(self, document_id: str) -> bool:
        """Forgets that attributes are not stated when the evidence now points to segments that were
        not sent. Returns True when any attribute is open again.
        """
        found = False
        for name in sorted(self.given_up.pop(document_id, ())):
            if self.known[document_id].get(name) is None and self.next_rows(document_id, name):
                self.known[document_id].pop(name, None)
                self.statistics.stated[name].trials -= 1
                found = True
        return found

    def _give_up(self, document_id: str, attributes: Sequence[str]) -> None:
        """Ends the reading of attributes. Each is empty for the reason that its last reading gave,
        unless `reopen` opens it again. An attribute that was only searched as a join value stays
        unknown, but its document joins nothing.
        """
        for name in attributes:
            if name in self.join_names.names:
                self.join_names.unjoined.add((document_id, name))
                continue
            self.given_up.setdefault(document_id, set()).add(name)
            empty = Cell(name, absence=Absence.NOT_STATED)
            self._know(document_id, self.refused.pop((document_id, name), empty))

    def _stands(self, cell: Cell) -> bool:
        """Says whether the table shows the value of a cell."""
        return enters(cell, self.session.settings.unverified)

    def _know(self, document_id: str, cell: Cell) -> None:
        """Takes a cell as known: the counts and the evidence learn from its value, and from the
        segment where it stands.
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
        # Only documents that print a join value were read: the share of all documents that state
        # the attribute is unknown.
        fair = cell.column not in self.join_names.names
        self.learned.learn(cell.column, cell.absence is None if fair else None, rank, vector)
        self.statistics.observe(self.filters, self.values(document_id), cell.column)
        if self.keeps:
            self.unsaved.setdefault(document_id, {})[cell.column] = cell

    def _save(self, documents: Sequence[str]) -> None:
        """Stores the cells of documents that have a row. Other documents have no value so far, and
        may get one later.
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
        """Stores the cells, the evidence and the counts."""
        if self.keeps:
            self._save(list(self.unsaved))
            save_cells(self.session, self.table, self.unsaved, row=False)
            self.unsaved.clear()
            save_learned(self.session, self.learned)

    def _orders(self, document_id: str, attribute: str) -> list[list[int]]:
        """Returns the order of a document's segments under each of `WEIGHTS`; [] while there is no
        evidence.
        """
        evidence = self.learned.evidence.get(attribute)
        if evidence is None or evidence.sources == 0:
            return []
        layout = self.learned.layout(attribute)
        spoken = self.learned.spoken.get(attribute)
        return [
            list(rank_segments(self.index, document_id, evidence, layout, weights, spoken).sequence)
            for weights in WEIGHTS
        ]

    def traces(self, accepted: Container[str]) -> Iterator[DocumentTrace]:
        """Yields the calls and the outcome of each document."""
        sampled, excluded = set(self.candidates.sampled), set(self.candidates.excluded)
        for document_id in self.index.entries:
            steps = tuple(self.steps.get(document_id, ()))
            verdict: Verdict = "not read"
            if document_id in sampled:
                verdict = "sampled"
            elif document_id in accepted:
                verdict = "accepted"
            elif document_id in excluded and not steps:
                verdict = "excluded"
            elif steps or document_id in self.known:
                verdict = "rejected"
            name, whole = self.names.get(document_id, document_id), self.index.sizes(document_id)
            spent = sum(step.tokens for step in steps)
            yield DocumentTrace(self.table.name, name, steps, verdict, spent, sum(whole))

    def conditions(self, where: Expression | None) -> None:
        """Sets the conditions whose selectivity is counted from now on. The values of documents
        that are known already are counted at once.

        Args:
            where: the query's condition on this table; None for none.
        """
        self.filters = tuple(leaves(where))
        for leaf in self.filters:
            if leaf.key in self.statistics.filters:
                continue
            for document_id in list(self.known):
                values = self.values(document_id)
                if all(name in values for name in leaf.attributes) and self.has_values(document_id):
                    self.statistics.observe([leaf], values, leaf.attributes[0])


def _tells(cell: Cell) -> bool:
    """Says whether a cell holds content: a value, or a reason for being empty other than "not
    stated" and "does not apply".
    """
    return cell.absence not in (Absence.NOT_STATED, Absence.DOES_NOT_APPLY)
