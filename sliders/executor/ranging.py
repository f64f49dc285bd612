"""From an answer's own statement to its range: which cells under it are in doubt, and what else they could hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import fmean, pvariance

from sqlglot import exp

from sliders.answer.citations import columns_used
from sliders.answer.dialects import parse_select
from sliders.answer.findings import tied_rows
from sliders.answer.range import AnswerRange, Doubt, Kind, Number, Place, State, bundled, counted, measure, number_in, widened
from sliders.answer.result import Completeness, SqlAnswer
from sliders.answer.turns import TableView
from sliders.errors import QueryError, StoreError
from sliders.executor.auditing import audited, extrapolated
from sliders.executor.corrections import OpenConflict, conflicts, document_names, holding
from sliders.executor.session import Session
from sliders.extraction.cell import Absence, Cell, How, Row, Scalar
from sliders.extraction.judge import LIKELY_NULL, TOLD, judge
from sliders.extraction.prompt_compact import YES_NO, chosen_value, is_judged
from sliders.reconcile.variants import variant_pairs
from sliders.schema.types import Column, ColumnType, Table
from sliders.store.records import Correction, Relation
from sliders.store.sandbox import Change, Sandbox
from sliders.values.parse import parse_value

WRONG_SIDE = 0.02
"""A value near its column's cut moves an answer when it lies on the wrong side with this probability, taking both sides as
normal and equally wide. Of 1,200 simulated collections (12 to 60 documents, sides 2 to 6 deviations apart), the range then held
93% of the wrong counts and was a point for 60% of the right ones; a share of 0.25 of the distance gave 96% and 27%."""
_LIKELY = log(1 / WRONG_SIDE - 1)
MOST_DOUBTS = 300
_ROWS_READ = 3_000_000
"""Rows that all recomputations together may go over: large tables are tried in larger bundles."""
_COMPARED = (exp.EQ, exp.NEQ, exp.In, exp.Like)
_SAID = (Absence.UNGROUNDED, Absence.NOT_PARSED)
_UNSETTLED: tuple[Kind, ...] = ("unverified", "unfound", "cut", "conflict", "merge", "name")
"""Doubts that warn. Of 30 answers of an embedded model over five sets that nobody looked at, which stood without a warning, those
moved by a value near the cut were 2 wrong and 1 right; of 32 of a strong reader none is moved by these."""


def try_doubts(
    session: Session, found: SqlAnswer, views: Sequence[TableView], ledger: Completeness
) -> tuple[AnswerRange | None, str]:
    """What an answer would be with other values in the cells that are in doubt.

    Returns:
        The range of a numeric answer, None of any other and of tables that are too large to be tried; and which values that
        nobody verified or settled its rows rest on, in words: with other ones, each alone or all of a kind, they would change.
    """
    reads = tables_read(session, found.sql, views)
    value = None if found.value is None or isinstance(found.value, str) else number_in(found.rows)  # "yes" is no number
    try:
        doubts = [doubt for read in reads for doubt in _Table(session, read, found.sql).doubts()]
        if value is None and not any(doubt.kind in _UNSETTLED for doubt in doubts):
            return None, ""  # nothing to try: the tables need no copy
        with Sandbox(session.catalog.database, [r.relation for r in reads]) as sandbox:
            measured = None if value is None else _measured(session, found, value, reads, doubts, sandbox, ledger)
            return measured, _rests_on(found.sql, doubts, sandbox)
    except (StoreError, QueryError) as error:
        session.decide("answer", "range", "left out", str(error))
        return None, "" if ledger.complete else f"what it rests on could not be tried: {error}"


def _rests_on(sql: str, every: Sequence[Doubt], sandbox: Sandbox) -> str:
    """The first kind of unsettled values of which others would change the rows of an answer, in words; "" for none."""
    before = Counter(sandbox.run(sql).rows)
    for kind in _UNSETTLED:
        doubts = [doubt for doubt in every if doubt.kind == kind]
        states: list[State] = [option for d in bundled(doubts, _most(sandbox)) for option in d.options]
        together = [cell for doubt in doubts for cell in doubt.options[0]]
        for state in (*states, *([together] if together else [])):
            with sandbox.changed(_changes(state)):
                if Counter(sandbox.run(sql).rows) != before:
                    return counted(kind, len(doubts))
    return ""


def _most(sandbox: Sandbox) -> int:
    """How many states of a sandbox are tried."""
    return max(10, min(MOST_DOUBTS, _ROWS_READ // (4 * max(1, sandbox.rows))))


@dataclass(frozen=True, slots=True)
class TableRead:
    """A table that the statement reads, and those of its columns that it names."""

    table: Table
    relation: Relation
    columns: tuple[Column, ...]


def tables_read(session: Session, sql: str, views: Sequence[TableView]) -> list[TableRead]:
    """The schema's tables that a statement reads, each with the columns that it names; none where it does not parse."""
    used = columns_used(sql, views)
    found = []
    for table in session.schema.tables:
        relation = session.catalog.schemas.relation(table.name)
        if relation.relation in used:
            named = {name.lower() for name in used[relation.relation]}
            columns = tuple(c for c in table.columns if relation.sql_name(c.name).lower() in named)
            found.append(TableRead(table, relation, columns))
    return found


def _measured(
    session: Session, found: SqlAnswer, value: Number, reads: Sequence[TableRead], doubts: Sequence[Doubt], sandbox: Sandbox,
    ledger: Completeness,
) -> AnswerRange:  # fmt: skip
    def recompute(state: State) -> Number | None:
        with sandbox.changed(_changes(state)):
            return number_in(sandbox.run(found.sql).rows)

    measured = measure(value, bundled(doubts, _most(sandbox)), recompute)
    tied = [n for row in tied_rows(parse_select(found.sql), found.rows, sandbox.run) if (n := number_in([row])) is not None]
    measured = widened(measured, "tie", len(tied), tied)
    others = [other for other in found.others if other != value]
    measured = widened(measured, "statement", len(others), others)
    return _with_unread(session, measured, reads, found.sql, sandbox, ledger)


def _changes(state: State) -> Iterator[Change]:
    rows: dict[tuple[str, str], dict[str, Scalar]] = {}
    for place, value in state:
        rows.setdefault((place.relation, place.row_id), {})[place.column] = value
    return (Change(name, row_id, None if "" in values else values) for (name, row_id), values in rows.items())


def _with_unread(
    session: Session, measured: AnswerRange, reads: Sequence[TableRead], sql: str, sandbox: Sandbox, ledger: Completeness
) -> AnswerRange:
    """The parts that were not read: by what an audited sample of them changed, else as a doubt without a figure."""
    silent = ledger.documents - ledger.documents_with_rows
    doubts = [f"{silent} of {ledger.documents} documents gave no rows"] if silent > 0 else []
    chunks = audited(session, [read.table.name for read in reads])
    if chunks:
        without = {r.relation.relation: _rows_only_from(session, r.table.name, chunks) for r in reads}
        gone = [Change(name, row_id, None) for name, rows in without.items() for row_id in rows]
        with sandbox.changed(gone):
            before = number_in(sandbox.run(sql).rows)
        number = extrapolated(measured.value, before, len(chunks), ledger.gated_chunks)
        measured = widened(measured, "unread", ledger.gated_chunks, [number])
        changed = "changed it" if before != measured.value else "changed nothing"
        doubts.append(f"{len(chunks)} parts were read after all and {changed}, {ledger.gated_chunks} are left")
    elif ledger.gated_chunks:
        doubts.append(f"{ledger.gated_chunks} parts of documents were left out unread")
    return replace(measured, doubts=tuple(doubts))


def _rows_only_from(session: Session, table: str, chunks: frozenset[str]) -> list[str]:
    """Rows of a data table that nothing but these chunks gave."""
    chunk_of = {row.id: row.chunk_id for row in session.catalog.extractions.iterate(table)}
    sources = session.catalog.tables.merged_rows(table)
    merged = {source for of_row in sources.values() for source in of_row}
    alone = [row for row, chunk in chunk_of.items() if chunk in chunks and row not in merged]
    return alone + [row for row, of_row in sources.items() if all(chunk_of.get(s, "") in chunks for s in of_row)]


class _Table:
    """One table that the statement reads, with what was read for it: what of it is in doubt.

    `shown` are its current values by row and SQL column name, `sources` the read rows of each current row that is not one itself.
    """

    def __init__(self, session: Session, read: TableRead, sql: str) -> None:
        self.session, self.read, self.sql, self.name = session, read, sql, read.table.name
        self.rows = {row.id: row for row in session.catalog.extractions.iterate(self.name)}
        self.sources = session.catalog.tables.merged_rows(self.name)
        self.row_of = {source: row_id for row_id, of_row in self.sources.items() for source in of_row}
        self.shown = _shown(session, read)
        self.open = conflicts(session, self.name)

    def doubts(self) -> Iterator[Doubt]:
        """All doubts: open conflicts, rows that may be one thing, names that may be one, doubtful cells, silent documents."""
        disputed: set[tuple[str, str]] = set()
        for place, values in self._conflicts():
            disputed.add((place.row_id, place.column))
            yield Doubt("conflict", tuple(((place, value),) for value in values))
        yield from self.one_thing()
        yield from self._open_names()
        others = {column.name: self._others(column) for column in self.read.columns}
        for column in self.read.columns:
            for place, doubted in self._cells(column, others[column.name]):
                if (place.row_id, place.column) not in disputed:
                    yield Doubt(doubted.kind, tuple(((place, option),) for option in doubted.options))
        yield from self._rowless(others)

    def _place(self, row_id: str, column: str = "") -> Place:
        return Place(self.read.relation.relation, row_id, self.read.relation.sql_name(column) if column else "")

    def _conflicts(self) -> Iterator[tuple[Place, list[Scalar]]]:
        """Open conflicts over columns that the statement reads, each with the values that do not stand."""
        names = {column.name for column in self.read.columns}
        for conflict in self.open:
            for row_id in self._rows_of(conflict) if conflict.column in names else ():
                place = self._place(row_id, conflict.column)
                stands = self.shown[row_id][place.column]
                yield place, [side["value"] for side in conflict.candidates if side["value"] != stands]

    def _rows_of(self, conflict: OpenConflict) -> set[str]:
        """The current rows that the sides of a conflict went into."""
        return self._current(source for side in conflict.candidates for source in side.get("rows", ()))

    def _current(self, sources: Iterable[str]) -> set[str]:
        return {self.row_of.get(source, source) for source in sources} & self.shown.keys()

    def one_thing(self) -> Iterator[Doubt]:
        """Rows that may be one thing, of which one stays then: sides of a contradiction, and those that nobody settled."""
        groups = {tuple(sorted(self._rows_of(conflict))) for conflict in self.open}
        for decision in self.session.catalog.journal.decisions(stage="reconcile", verdict="left open"):
            groups.add(tuple(sorted(self._current(decision.subject.removeprefix(f"{self.name} ").split(", ")))))
        for group in sorted(g for g in groups if len(g) > 1):
            rows = [(self._place(row_id), None) for row_id in group]
            yield Doubt("merge", tuple(tuple(row for row in rows if row is not stays) for stays in rows), len(group) - 1)

    def _open_names(self) -> Iterator[Doubt]:
        """Pairs of a column's values that may be one name and that nobody told apart: all rows take either form."""
        for column in self.read.columns:
            if column.type is not ColumnType.TEXT:
                continue
            holders: dict[str, list[Place]] = {}
            for row_id, values in self.shown.items():
                place = self._place(row_id, column.name)
                if isinstance(value := values[place.column], str):
                    holders.setdefault(value, []).append(place)
            forms = list(holders)
            subject = f"{self.name}.{column.name}"
            told = {d.verdict for d in self.session.catalog.journal.decisions(subject=subject)}
            for pair in variant_pairs(forms):
                left, right = forms[pair.left], forms[pair.right]
                if not {f"{left!r} and {right!r}: two names", f"{right!r} and {left!r}: two names"} & told:
                    changes = (tuple((place, to) for place in holders[of]) for of, to in ((left, right), (right, left)))
                    yield Doubt("name", tuple(changes))

    def _cells(self, column: Column, others: Sequence[Scalar]) -> Iterator[tuple[Place, _Doubted]]:
        """The values of a column that may be other ones, but those that a person decided."""
        near = _near_cut(self.rows.values(), column)
        decisions, named = self.session.catalog.knowledge.corrections(self.name), document_names(self.session.catalog)
        for row_id, values in self.shown.items():
            place = self._place(row_id, column.name)
            of_row = [self.rows[s] for s in self.sources.get(row_id, (row_id,)) if s in self.rows]
            cells = [cell for row in of_row if (cell := row.cell(column.name)) is not None]
            if cells and any(cell.value is not None for row in of_row for cell in row.cells):  # else it is a row of nothing
                doubted = _in_doubt(column, values[place.column], cells, near, others)
                if doubted.options and not _decided(decisions, column.name, of_row, named):
                    yield place, doubted

    def _others(self, column: Column) -> list[Scalar]:
        """What an empty cell of a column could hold, as far as the statement can tell a difference."""
        name = self.read.relation.sql_name(column.name)
        if column.type is ColumnType.BOOLEAN:
            return [True, False]
        if column.type in (ColumnType.TEXT, ColumnType.CATEGORY):
            return list(_literals(self.sql, name))
        known = [value for row in self.shown.values() if (value := row[name]) is not None]
        numbers = [value for value in known if isinstance(value, int | float)]
        texts = [value for value in known if isinstance(value, str)]
        extremes: list[Scalar] = [min(numbers), max(numbers)] if numbers else [min(texts), max(texts)] if texts else []
        return list(dict.fromkeys(extremes))

    def _rowless(self, others: Mapping[str, Sequence[Scalar]]) -> Iterator[Doubt]:
        """Documents that were read without a row of any table, or whose reading failed: each could have been one."""
        if self.read.table.grain != "document":
            return
        extractions, places = self.session.catalog.extractions, self.session.catalog.chunks.places()
        tried = {task.chunk_id for state in ("done", "failed") for task in extractions.tasks(self.name, state)}
        tables = self.session.schema.tables
        known = {row.document_id for row in self.rows.values()}
        known |= {document for table in tables for document in extractions.documents_with_rows(table.name)}
        for document in sorted({document for chunk, document in places if chunk in tried} - known):
            row_id = f"unread:{document}"
            head = (Place(self.read.relation.relation, row_id, "document"), document)
            yield Doubt("document", tuple(
                (head, *((self._place(row_id, name), values[n % len(values)]) for name, values in others.items() if values))
                for n in range(max([1, *map(len, others.values())]))
            ))  # fmt: skip


def _shown(session: Session, read: TableRead) -> dict[str, dict[str, Scalar]]:
    """The values of the current table that the statement reads, by row and SQL column name."""
    names = [read.relation.sql_name(column.name) for column in read.columns]
    _, rows = session.catalog.tables.read(read.table.name, ["row_id", *names])
    return {row[0]: dict(zip(names, row[1:], strict=True)) for row in rows}


@dataclass(frozen=True, slots=True)
class _Doubted:
    """Why a value may be another one, and the other ones; without any it is not in doubt."""

    kind: Kind = "judged"
    options: Sequence[Scalar] = ()


def _in_doubt(
    column: Column, value: Scalar, cells: Sequence[Cell], near: frozenset[Cell], others: Sequence[Scalar]
) -> _Doubted:
    """Whether a value may be another one: all its cells are unverified, near the cut, or exceptions of their column."""
    if value is None:
        said = [c.value for c in cells if c.absence in _SAID and _fits(c.value, column)]
        cut = [c.value for c in cells if c in near and _fits(c.value, column)]
        return _Doubted("unfound", said) if said else _Doubted("cut", cut) if cut else _Doubted("empty", others)
    holding = [c for c in cells if c.absence is None and c.value == value] or [c for c in cells if c.value is not None]
    plainly = is_judged(column)  # a judgement is an exception only in a column of stated values
    if not holding or any(not c.doubt and c not in near and (c.how is not How.JUDGED or plainly) for c in holding):
        return _Doubted()
    unverified, judged = any(c.doubt for c in holding), any(c.how is How.JUDGED for c in holding)
    return _Doubted("unverified" if unverified else "judged" if judged else "cut", _instead(column, value, holding, others))


def _instead(column: Column, value: Scalar, cells: Sequence[Cell], others: Sequence[Scalar]) -> list[Scalar]:
    """What a doubtful value could be: the next choice of its odds, no longer true, another parse of its words, nothing, or, where
    the reader was not sure of one without odds, what an empty cell could be."""
    if column.type is ColumnType.BOOLEAN:
        return [not value]
    ranked = sorted(cells[0].odds, key=lambda choice: -choice[1])
    chosen = [chosen_value(column, choice) for choice, _ in ranked[:2]] if is_judged(column) and ranked else []
    parsed = [parse_value(cell.printed, column).value for cell in cells if cell.printed]
    any_other = others if cells[0].doubt and not chosen and cells[0].how is not How.COMPUTED else ()
    found: list[Scalar] = [other for other in (*chosen, *parsed, *any_other) if other is not None and other != value]
    return [*dict.fromkeys(found), None]


def _fits(value: Scalar, column: Column) -> bool:
    """Whether what the model said has the column's type: a number column sums no words."""
    if value is None:
        return False
    numeric = column.type in (ColumnType.INTEGER, ColumnType.NUMBER)
    return not numeric or (isinstance(value, int | float) and not isinstance(value, bool))


def _near_cut(rows: Iterable[Row], column: Column) -> frozenset[Cell]:
    """Cells whose odds lie close to where the collection parts yes from no, or what is told from what is not.

    Of a category those whose next choice is as likely as that; where no cut was set, those that are hardly told at all.
    """
    rows = list(rows)
    if column.type is ColumnType.CATEGORY and is_judged(column):
        return _near_next(rows, column)
    leaning = {cell: lean for row in rows if (cell := row.cell(column.name)) is not None and (lean := _lean(cell)) is not None}
    above = [lean for lean, side in leaning.values() if side]
    below = [lean for lean, side in leaning.values() if not side]
    if not above or not below:
        return frozenset(cell for cell, (lean, _) in leaning.items() if TOLD in dict(cell.odds) and lean < LIKELY_NULL)
    cut, distance = (min(above) + max(below)) / 2, abs(fmean(above) - fmean(below))
    spread = (pvariance(above) * len(above) + pvariance(below) * len(below)) / max(1, len(leaning) - 2)
    band = _LIKELY * spread / distance if distance else 0.0
    return frozenset(cell for cell, (lean, _) in leaning.items() if abs(lean - cut) < band)


def _near_next(rows: Iterable[Row], column: Column) -> frozenset[Cell]:
    """Judged cells of a category whose next choice is not much less likely, after the correction by the collection."""
    cells = [c for row in rows if (c := row.cell(column.name)) is not None and c.odds and c.absence is None]
    same = [c for c in cells if {name for name, _ in c.odds} == {name for name, _ in cells[0].odds}]
    found, _ = judge([dict(c.odds) for c in same])
    return frozenset(c for c, judgement in zip(same, found, strict=True) if judgement.margin < _LIKELY)


def _lean(cell: Cell) -> tuple[float, bool] | None:
    """The log-odds of a judged yes or of a stated value being told, and on which side of the cut it stands."""
    odds = dict(cell.odds)
    if TOLD in odds:
        return odds[TOLD], cell.absence is None
    if set(odds) == set(YES_NO) and cell.absence is None:
        return odds[YES_NO[0]] - odds[YES_NO[1]], bool(cell.value)
    return None


def _literals(sql: str, column: str) -> Iterator[str]:
    """The texts that a statement compares a column with."""
    for node in parse_select(sql).find_all(*_COMPARED):
        sides = [node.this, *(node.expressions if isinstance(node, exp.In) else [node.expression])]
        if any(c.name.lower() == column.lower() for side in sides if side is not None for c in side.find_all(exp.Column)):
            yield from (side.name.strip("%") for side in sides if isinstance(side, exp.Literal) and side.is_string)


def _decided(
    decisions: Sequence[Correction], column: str, rows: Sequence[Row], named: Mapping[str, Mapping[str, Scalar]]
) -> bool:
    """Whether a person set or confirmed the value of these rows, of documents that are `named` so."""
    held = [{**named[row.document_id], **{cell.column: cell.value for cell in row.cells}} for row in rows]
    about = (d for d in decisions if d.kind == "set_value" and d.column == column)
    return any(holding(held, decision.subject.get("where", {})) for decision in about)
