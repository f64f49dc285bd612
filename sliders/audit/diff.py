"""Changes between two runs: of answers, rows and cells, each with its cause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sliders.errors import StoreError
from sliders.extraction.cell import Scalar
from sliders.markup import note, table_html
from sliders.schema.types import Schema
from sliders.store.catalog import Catalog
from sliders.store.data_rows import DataRow
from sliders.store.lineage import Lineage, lineages
from sliders.store.records import Run, StoredDocument, TableVersion

CauseKind = Literal[
    "document", "correction", "model", "column", "calibration", "repair", "statement", "rows"
]
SHOWN_CHANGES = 20
_SHOWN_PARTS = 10


def said(value: Any) -> str:
    """Returns a value as Python writes it; a whole number without ".0"."""
    return repr(int(value) if isinstance(value, float) and value.is_integer() else value)


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause of a change: its kind, and its description in words."""

    kind: CauseKind
    text: str


@dataclass(frozen=True, slots=True)
class CellChange:
    """A value that differs between two runs; `before` and `after` are the values that the tables
    show.
    """

    table: str
    document: str
    row_id: str
    column: str
    before: Scalar
    after: Scalar
    cause: Cause

    def __str__(self) -> str:
        return (
            f"{self.table}.{self.column} of {self.document}: {said(self.before)} -> "
            f"{said(self.after)} ({self.cause.text})"
        )


@dataclass(frozen=True, slots=True)
class RowChange:
    """A row that only one of two runs has."""

    table: str
    document: str
    row_id: str
    change: Literal["new", "gone"]
    values: Mapping[str, Scalar]
    cause: Cause

    def __str__(self) -> str:
        held = ", ".join(
            f"{name} {said(value)}" for name, value in self.values.items() if value is not None
        )
        return f"{self.table}: {self.change} row of {self.document}: {held} ({self.cause.text})"


def only_changed(before: Any, after: Any) -> tuple[Any, Any]:
    """Returns (before, after): two results of one question, each without the rows that both
    have.
    """
    if not isinstance(before, list) or not isinstance(after, list):
        return before, after
    return [row for row in before if row not in after], [row for row in after if row not in before]


def _same_thing(row: Any, other: Any) -> bool:
    """True when two rows of a result begin with the same name."""
    return isinstance(row, list) and isinstance(other, list) and row[:1] == other[:1]


def _row_said(row: Any) -> str:
    return ", ".join(map(said, row)) if isinstance(row, list) else said(row)


def _cells_said(row: list[Any], now: list[Any]) -> str:
    pairs = zip(row[1:], now[1:], strict=False)
    return f"{said(row[0])}: " + ", ".join(f"{said(a)} -> {said(b)}" for a, b in pairs if a != b)


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """A question whose answer differs between two runs."""

    question: str
    before: Any
    after: Any
    causes: tuple[Cause, ...]

    def __str__(self) -> str:
        why = "; ".join(cause.text for cause in self.causes)
        return f"{self.question} {'; '.join(self._changes())} ({why})"

    def _changes(self) -> list[str]:
        """The differences in words; of lists and tables only the changed rows."""
        gone, new = only_changed(self.before, self.after)
        if not isinstance(gone, list) or not isinstance(new, list):
            return [f"{said(gone)} -> {said(new)}"]
        told = []
        for row in gone:
            now = next((other for other in new if _same_thing(row, other)), None)
            told.append(f"gone {_row_said(row)}" if now is None else _cells_said(row, now))
            new = [other for other in new if other is not now]
        told += [f"new {_row_said(row)}" for row in new]
        more = len(told) - _SHOWN_PARTS
        told = told[:_SHOWN_PARTS] + ([f"and {more} more"] if more > 0 else [])
        return told or ["the same rows in another order"]


@dataclass(frozen=True, slots=True)
class Difference:
    """All changes between two runs, named by their numbers; `same` are the questions whose answer
    did not change.
    """

    first: int
    second: int
    answers: tuple[AnswerChange, ...] = ()
    rows: tuple[RowChange, ...] = ()
    cells: tuple[CellChange, ...] = ()
    same: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.answers or self.rows or self.cells)

    def __str__(self) -> str:
        head = f"run {self.first} to run {self.second}: "
        if not self:
            return head + "nothing changed"
        counts = ((self.answers, "answer"), (self.rows, "row"), (self.cells, "value"))
        told = (
            f"{len(changes)} {name}{'s' * (len(changes) > 1)}"
            for changes, name in counts
            if changes
        )
        lines = [head + ", ".join(told) + " changed"]
        for changes, name in counts:
            lines += [f"  {change}" for change in changes[:SHOWN_CHANGES]]
            more = len(changes) - SHOWN_CHANGES
            lines += [f"  and {more} more {name}s (--json lists them all)"] if more > 0 else []
        return "\n".join(lines + [f"  the same: {question}" for question in self.same])

    def _repr_html_(self) -> str:
        changes = [
            ("answer", a.question, "", a.before, a.after, "; ".join(c.text for c in a.causes))
            for a in self.answers
        ]
        changes += [
            (
                "row",
                r.document,
                r.table,
                *(("", "new") if r.change == "new" else ("gone", "")),
                r.cause.text,
            )
            for r in self.rows
        ]
        changes += [
            ("value", c.document, f"{c.table}.{c.column}", c.before, c.after, c.cause.text)
            for c in self.cells
        ]
        head = ("what", "of", "in", f"run {self.first}", f"run {self.second}", "because")
        return table_html(head, changes, most=100) if changes else note(str(self))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


def difference(catalog: Catalog, first: int | None = None, second: int | None = None) -> Difference:
    """Returns the changes between two runs, the earlier one first. Without numbers: between the
    last run and the one before it that asked the same questions.

    Raises:
        StoreError: there is no such run, or no two runs to compare.
    """
    before, after = _pair(catalog.journal.runs(), first, second)
    context = _DiffContext(catalog, before, after)
    rows: list[RowChange] = []
    cells: list[CellChange] = []
    touched: dict[str, list[Cause]] = {}
    for table in (catalog.schemas.current() or Schema()).tables:
        changed = list(_table_changes(context, table.name))
        rows += [change for change in changed if isinstance(change, RowChange)]
        cells += [change for change in changed if isinstance(change, CellChange)]
        if changed:
            relation = catalog.schemas.relation(table.name).relation
            touched[relation.lower()] = [change.cause for change in changed]
    answers, same = _answer_changes(before, after, touched)
    return Difference(before.id, after.id, tuple(answers), tuple(rows), tuple(cells), tuple(same))


def _pair(runs: Sequence[Run], first: int | None, second: int | None) -> tuple[Run, Run]:
    known = {run.id: run for run in runs}
    for number in (first, second):
        if number is not None and number not in known:
            raise StoreError(f"there is no run {number}; list them with: sliders runs")
    if first is not None and second is not None:
        earlier, later = sorted((first, second))
        return known[earlier], known[later]
    for last in (
        [known[first]]
        if first is not None
        else [run for run in reversed(runs) if run.kind == "ask"]
    ):
        asked = [run for run in runs if run.id != last.id and _asked(run) & _asked(last)]
        if asked:
            before, after = sorted((asked[-1], last), key=lambda run: run.id)
            return before, after
    raise StoreError("no question was asked twice; name two runs, see: sliders runs")


def _asked(run: Run) -> set[str]:
    """The questions of a run; one command may ask several."""
    return {str(answer["question"]) for answer in run.outcome.get("answers", ())} or {run.question}


class _DiffContext:
    """The records from which causes are found: documents, calls and decisions between two runs."""

    def __init__(self, catalog: Catalog, before: Run, after: Run) -> None:
        self.catalog, self.before, self.after = catalog, before, after
        self.documents: dict[str, StoredDocument] = {
            d.id: d for d in catalog.documents.all(superseded=True)
        }
        self.since, self.until = before.finished or before.started, after.finished or after.started
        self.decisions = [d for d in catalog.journal.decisions() if self.since < d.at <= self.until]

    def version(self, table: str, until: str) -> TableVersion | None:
        """The version of a table that was current at a moment (ISO time); None before the first."""
        return next(
            (v for v in reversed(self.catalog.tables.versions(table)) if v.created <= until), None
        )

    def document_cause(self, row: DataRow, change: Literal["new", "gone"]) -> Cause | None:
        """The change of a row's document (added, changed or removed), when it explains the row;
        else None.
        """
        document = self.documents.get(row.document_id)
        if document is None:
            return Cause("document", f"{row.document} was removed")
        if change == "gone":
            return (
                Cause("document", f"{row.document} was changed") if document.superseded_by else None
            )
        if not self.since < document.added <= self.until:
            return None
        return Cause(
            "document", f"{row.document} was {'changed' if document.version > 1 else 'added'}"
        )


def _table_changes(context: _DiffContext, table: str) -> Iterator[RowChange | CellChange]:
    old, new = context.version(table, context.since), context.version(table, context.until)
    if new is None or (old is not None and old.version == new.version):
        return
    tables = context.catalog.tables
    before = {row.row_id: row for row in tables.rows_of(old)} if old is not None else {}
    after = {row.row_id: row for row in tables.rows_of(new)}
    pairs = [(row, after[row.row_id]) for row in before.values() if row.row_id in after]
    paired, gone, fresh = _of_changed_documents(
        context,
        [r for r in before.values() if r.row_id not in after],
        [r for r in after.values() if r.row_id not in before],
    )
    merged = {source: row for row in after.values() for source in row.sources}
    for row in gone:
        cause = context.document_cause(row, "gone")
        if cause is None and row.row_id in merged:
            cause = Cause("repair", f"it was merged with the row of {merged[row.row_id].document}")
        yield RowChange(table, row.document, row.row_id, "gone", row.values, cause or _repair(new))
    for row in fresh:
        cause = context.document_cause(row, "new") or _read(context, new)
        yield RowChange(table, row.document, row.row_id, "new", row.values, cause)
    asked = set(old.columns) if old is not None else set()
    yield from _cell_changes(context, new, pairs, asked)
    for first, second in paired:
        why = Cause("document", f"{second.document} was changed")
        for column, value in second.values.items():
            if value != first.values.get(column):
                yield CellChange(
                    table,
                    second.document,
                    second.row_id,
                    column,
                    first.values.get(column),
                    value,
                    why,
                )


def _of_changed_documents(
    context: _DiffContext, gone: Sequence[DataRow], fresh: Sequence[DataRow]
) -> tuple[list[tuple[DataRow, DataRow]], list[DataRow], list[DataRow]]:
    """Returns pairs of rows from the old and the new text of a document, when both texts gave
    equally many rows; then the rows without a partner on either side.
    """
    old: dict[str, list[DataRow]] = {}
    new: dict[str, list[DataRow]] = {}
    for row in gone:
        document = context.documents.get(row.document_id)
        while document is not None and document.superseded_by:
            document = context.documents.get(document.superseded_by)
        old.setdefault(document.id if document is not None else "", []).append(row)
    for row in fresh:
        new.setdefault(row.document_id, []).append(row)
    alike = {name for name, rows in old.items() if len(rows) == len(new.get(name, ()))}
    pairs = [pair for name in sorted(alike) for pair in zip(old[name], new[name], strict=True)]
    left = [row for name, rows in old.items() if name not in alike for row in rows]
    return pairs, left, [row for name, rows in new.items() if name not in alike for row in rows]


def _repair(version: TableVersion) -> Cause:
    return Cause("repair", f"{version.operation}: {version.reason}"[:300])


def _read(context: _DiffContext, version: TableVersion) -> Cause:
    if context.before.settings.get("model") != context.after.settings.get("model"):
        return Cause(
            "model",
            f"read by {context.after.settings.get('model')}, before by "
            f"{context.before.settings.get('model')}",
        )
    return _repair(version)


def _held(row: DataRow, column: str, printed: Mapping[str, str]) -> Scalar:
    """Returns the value that a row had in a column. Before any names were joined, the canonical
    form was the printed name.
    """
    return row.values.get(column, row.values.get(printed.get(column, "")))


def _cell_changes(
    context: _DiffContext,
    new: TableVersion,
    pairs: Sequence[tuple[DataRow, DataRow]],
    asked: set[str],
) -> Iterator[CellChange]:
    catalog = context.catalog
    relation = catalog.schemas.relation(new.table)
    names = {c.sql_name: c.name for c in (*relation.columns, *new.companions)}
    beside = {c.sql_name for c in new.companions}
    printed = {
        c.sql_name: relation.sql_name(c.companion_of)
        for c in new.companions
        if c.role == "canonical"
    }
    changed = [
        (first, second, column)
        for first, second in pairs
        for column in new.columns
        if _held(first, column, printed) != second.values[column]
    ]
    found = lineages(catalog, new.table, [second.row_id for _, second, _ in changed], new)
    cells = (c for one in found.values() for row in one.sources for c in row.cells)
    runs = catalog.calls.runs(cell.call_id for cell in cells if cell.call_id)
    for first, second, column in changed:
        name = names.get(column, column)
        before, after = _held(first, column, printed), second.values[column]
        lineage = found[second.row_id]
        cause = (
            _person(context, lineage, name)
            or (
                Cause("column", f"{name} was asked for the first time")
                if column not in asked | beside
                else None
            )
            or _reading(context, [row.cell(name) for row in lineage.sources], runs)
            or _cut(context, new.table, name)
            or _repaired(new, lineage, name)
        )
        yield CellChange(new.table, second.document, second.row_id, name, before, after, cause)


def _person(context: _DiffContext, lineage: Lineage, column: str) -> Cause | None:
    if column in lineage.decided:
        return Cause("correction", lineage.decided[column].words)
    back = [d for d in context.decisions if (d.verdict, d.table) == ("revoked", lineage.table)]
    return Cause("correction", back[-1].reason) if back else None


def _reading(context: _DiffContext, cells: Iterable[Any], runs: Mapping[str, int]) -> Cause | None:
    """Returns the call that gave a value, with its model, when it was made after the first run;
    else None.
    """
    later = [
        cell for cell in cells if cell is not None and runs.get(cell.call_id, 0) > context.before.id
    ]
    if not later:
        return None
    model = later[0].model or str(context.after.settings.get("model"))
    return Cause("model", f"read again by {model}, prompt {later[0].prompt_hash[:8]}")


def _cut(context: _DiffContext, table: str, column: str) -> Cause | None:
    made = [
        d
        for d in context.decisions
        if (d.table, d.column, d.verdict) == (table, column, "calibrated")
    ]
    return Cause("calibration", made[-1].reason) if made else None


def _repaired(version: TableVersion, lineage: Lineage, column: str) -> Cause:
    declared = (change.made for change in lineage.changes)
    return next(
        (Cause("repair", f"{d.kind}: {d.reason}") for d in declared if d.column == column),
        _repair(version),
    )


def _answer_changes(
    before: Run, after: Run, touched: Mapping[str, Sequence[Cause]]
) -> tuple[list[AnswerChange], list[str]]:
    """Returns the changed answers to questions of both runs, and the questions whose answer is the
    same.
    """
    earlier = {answer["question"]: answer for answer in before.outcome.get("answers", ())}
    changed, same = [], []
    for answer in after.outcome.get("answers", ()):
        known = earlier.get(answer["question"])
        if known is None:
            continue
        if known["value"] == answer["value"]:
            same.append(answer["question"])
            continue
        causes = (
            [Cause("statement", "another SQL statement answers")]
            if known["sql"] != answer["sql"]
            else []
        )
        causes += [
            c
            for name, why in touched.items()
            if name in answer["sql"].lower()
            for c in dict.fromkeys(why)
        ]
        causes = causes[:5] or [Cause("rows", "the rows of its tables changed")]
        changed.append(
            AnswerChange(answer["question"], known["value"], answer["value"], tuple(causes))
        )
    return changed, same
