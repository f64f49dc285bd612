"""From an answer's own statement to its range and its doubts: what it would be with other values under it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from shlex import quote

from sliders.answer.dialects import parse_select, without_limit
from sliders.answer.doubts import Doubt, Rows, change_size, effect_words
from sliders.answer.findings import tied_rows
from sliders.answer.range import AnswerRange, Kind, Number, State, Variation, bundled, counted, measure, number_in, widened
from sliders.answer.result import Completeness, SqlAnswer
from sliders.answer.turns import TableView
from sliders.errors import QueryError, StoreError
from sliders.executor.auditing import audited, extrapolated
from sliders.executor.session import Session
from sliders.executor.tables_read import TableRead, tables_read
from sliders.executor.variations import TableVariations
from sliders.extraction.cell import Scalar
from sliders.store.sandbox import Change, Sandbox

MOST_VARIATIONS = 300
_ROWS_READ = 3_000_000
"""Rows that all recomputations together may go over: large tables are tried in larger bundles."""
_UNSETTLED: tuple[Kind, ...] = ("conflict", "unverified", "unfound", "cut", "merge", "name", "row", "bound")
"""Variations that are doubts. Of 30 answers of an embedded model over five sets that nobody looked at, which stood without a
warning, those moved by a value near the cut were 2 wrong and 1 right; of 32 of a strong reader none is moved by these."""


def try_variations(
    session: Session, found: SqlAnswer, views: Sequence[TableView], ledger: Completeness
) -> tuple[AnswerRange | None, tuple[Doubt, ...]]:
    """What an answer would be with other values in what is in doubt.

    Returns:
        The range of a numeric answer, None of any other and of tables that are too large to be tried; and the doubts: values
        that nobody verified or settled and with others of which, each alone or all of a kind, the rows of the answer would be
        others; those that change most stand first.
    """
    reads = tables_read(session, found.sql, views)
    value = None if found.value is None or isinstance(found.value, str) else number_in(found.rows)  # "yes" is no number
    try:
        variations = [variation for read in reads for variation in TableVariations(session, read, found.sql).every()]
        tree = parse_select(found.sql)
        inexact = [variation for variation in variations if variation.kind == "inexact"]
        variations = [variation for variation in variations if variation.kind != "inexact"]
        told = inexact or any(one.kind in _UNSETTLED for one in variations)
        if value is None and not tree.args.get("limit") and not told:
            return None, found.doubts  # nothing to try: the tables need no copy
        with Sandbox(session.catalog.database, [r.relation for r in reads]) as sandbox:
            trial = _Trial(sandbox, found)
            measured = None if value is None else _measured(session, trial, value, reads, variations, ledger)
            return measured, (*found.doubts, *trial.doubts(variations), *trial.inexact(inexact))
    except (StoreError, QueryError) as error:
        session.decide("answer", "range", "left out", str(error))
        return None, (*found.doubts, *_untried(ledger, str(error)))


def _untried(ledger: Completeness, error: str) -> Iterator[Doubt]:
    """What could not be tried, as one doubt."""
    remarks = Completeness(
        ungrounded_cells=ledger.ungrounded_cells, unparsed_cells=ledger.unparsed_cells, open_conflicts=ledger.open_conflicts,
        unverified_cells=ledger.unverified_cells,
    ).remarks()  # fmt: skip
    if remarks:
        yield Doubt("unverified", ", ".join(remarks), "", f"what they change could not be tried: {error}", "sliders conflicts")


class _Trial:
    """An answer's statement over a copy of its tables: its rows as they are, and with other values; each state is run once."""

    def __init__(self, sandbox: Sandbox, found: SqlAnswer) -> None:
        self.sandbox, self.found = sandbox, found
        self._known: dict[tuple[object, ...], Rows] = {}
        self.most = max(10, min(MOST_VARIATIONS, _ROWS_READ // (4 * max(1, sandbox.rows))))

    def rows(self, state: State = ()) -> Rows:
        """The rows of the statement in a state."""
        key = tuple(state)
        if key not in self._known:
            with self.sandbox.changed(_changes(key)):
                self._known[key] = self.sandbox.run(self.found.sql).rows
        return self._known[key]

    def number(self, state: State) -> Number | None:
        """The number of the statement in a state."""
        return number_in(self.rows(state))

    def doubts(self, every: Sequence[Variation]) -> list[Doubt]:
        """What unsettled values would change, those that change most first."""
        sized = [one for kind in _UNSETTLED for one in self._of_kind(kind, [v for v in every if v.kind == kind])]
        sized.sort(key=lambda one: -one[0])
        return [*(doubt for _, doubt in sized), *self._tie()]

    def _of_kind(self, kind: Kind, variations: Sequence[Variation]) -> list[tuple[float, Doubt]]:
        """The doubts of a kind: each alone, or, where none alone changes the rows, all together."""
        alone = [one for v in bundled(variations, self.most) if (one := self._doubt(v, v.options)) is not None]
        if alone or len(variations) < 2:
            return alone
        together = tuple(cell for v in variations if v.options for cell in v.options[0])
        several = replace(variations[0], thing=f"{counted(kind, len(variations))} together: {variations[0].thing} and others")
        found = self._doubt(several, [together])
        return [] if found is None else [found]

    def _doubt(self, variation: Variation, options: Sequence[State]) -> tuple[float, Doubt] | None:
        before = self.rows()
        others = [rows for option in options if Counter(rows := self.rows(option)) != Counter(before)]
        if not others:
            return None
        effect = effect_words(before, others)
        return change_size(before, others), Doubt(variation.kind, variation.thing, variation.place, effect, variation.command)

    def inexact(self, variations: Sequence[Variation]) -> Iterator[Doubt]:
        """The estimates and open bounds that the rows of the answer rest on: what they could be, no words say."""
        for one in bundled(variations, self.most):
            if any(Counter(self.rows(option)) != Counter(self.rows()) for option in one.options):
                yield Doubt("inexact", one.thing, one.place, "the answer is no more exact than that", one.command)

    def tied(self) -> list[tuple[object, ...]]:
        """The rows that are ordered equally with the last one that a LIMIT shows."""
        return tied_rows(parse_select(self.found.sql), self.found.rows, self.sandbox.run)

    def _tie(self) -> Iterator[Doubt]:
        shown = self.found.rows
        others = [row for row in self.tied() if row not in shown]
        if others:
            effect = effect_words(shown, [(*shown[:-1], row) for row in others])
            command = f"sliders query {quote(without_limit(self.found.sql))}"
            yield Doubt("tie", f"{counted('tie', len(others))} with the last one shown", "", effect, command)


def _measured(
    session: Session, trial: _Trial, value: Number, reads: Sequence[TableRead], variations: Sequence[Variation],
    ledger: Completeness,
) -> AnswerRange:  # fmt: skip
    measured = measure(value, bundled(variations, trial.most), trial.number)
    tied = [n for row in trial.tied() if (n := number_in([row])) is not None]
    measured = widened(measured, "tie", len(tied), tied)
    others = [other for other in trial.found.others if other != value]
    measured = widened(measured, "statement", len(others), others)
    return _with_unread(session, measured, reads, trial.found.sql, trial.sandbox, ledger)


def _changes(state: State) -> Iterator[Change]:
    rows: dict[tuple[str, str], dict[str, Scalar]] = {}
    for place, value in state:
        rows.setdefault((place.relation, place.row_id), {})[place.column] = value
    return (Change(name, row_id, None if "" in values else values) for (name, row_id), values in rows.items())


def _with_unread(
    session: Session, measured: AnswerRange, reads: Sequence[TableRead], sql: str, sandbox: Sandbox, ledger: Completeness
) -> AnswerRange:
    """The parts that were not read: by what an audited sample of them changed, else as a note without a figure."""
    silent = ledger.documents - ledger.documents_with_rows
    notes = [f"{silent} of {ledger.documents} documents gave no rows"] if silent > 0 else []
    chunks = audited(session, [read.table.name for read in reads])
    if chunks:
        without = {r.relation.relation: _rows_only_from(session, r.table.name, chunks) for r in reads}
        gone = [Change(name, row_id, None) for name, rows in without.items() for row_id in rows]
        with sandbox.changed(gone):
            before = number_in(sandbox.run(sql).rows)
        number = extrapolated(measured.value, before, len(chunks), ledger.gated_chunks)
        measured = widened(measured, "unread", ledger.gated_chunks, [number])
        changed = "changed it" if before != measured.value else "changed nothing"
        notes.append(f"{len(chunks)} parts were read after all and {changed}, {ledger.gated_chunks} are left")
    elif ledger.gated_chunks:
        notes.append(f"{ledger.gated_chunks} parts of documents were left out unread")
    return replace(measured, notes=(*map(str, ledger.missing), *notes))


def _rows_only_from(session: Session, table: str, chunks: frozenset[str]) -> list[str]:
    """Rows of a data table that nothing but these chunks gave."""
    chunk_of = {row.id: row.chunk_id for row in session.catalog.extractions.iterate(table)}
    sources = session.catalog.tables.merged_rows(table)
    merged = {source for of_row in sources.values() for source in of_row}
    alone = [row for row, chunk in chunk_of.items() if chunk in chunks and row not in merged]
    return alone + [row for row, of_row in sources.items() if all(chunk_of.get(s, "") in chunks for s in of_row)]
