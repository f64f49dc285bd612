"""What the rows of a table show only together: the vote of a list's lines, two columns that name one fact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sliders.executor.session import Session
from sliders.extraction.categories import categorised
from sliders.extraction.cell import Cell, Grounding, Row, Span, with_changed
from sliders.extraction.coerce import Coerced
from sliders.extraction.consensus import Line, agreed
from sliders.extraction.labelled import settled_by_labels
from sliders.extraction.listed_names import counted_names
from sliders.extraction.neighbours import with_neighbours
from sliders.extraction.parts import parted
from sliders.extraction.records import Record, records_of
from sliders.extraction.sentences import counts_deaths, nobody_died
from sliders.extraction.titles import dated, titled
from sliders.extraction.twins import filled_by_twins
from sliders.schema.types import Table


def agree(session: Session, table: Table) -> int:
    """Settle by code what the rows of a table show together; the number of rows that changed.

    The same cells come out however often it runs: a run that was killed before it does it again.
    """
    if session.catalog.extractions.count(table.name) < _FEWEST_ROWS:
        return 0
    if session.catalog.knowledge.statistic(f"agreed:{table.name}") == _state(session, table):
        return 0
    changed = agreed(_lines(session, table), table.columns) if table.grain == "many" else []
    with session.catalog.database.transaction():
        session.catalog.extractions.save(changed)
        rows = session.catalog.extractions.rows(table.name)
        filled = filled_by_twins(rows, table.columns)
        rows = _saved(session, rows, filled)
        named, parts = _of_documents(session, table, rows) if table.grain == "document" else ([], [])
        session.catalog.knowledge.set_statistic(f"agreed:{table.name}", _state(session, table))
    _decide(session, table, changed, "as most lines of the list have them")
    _decide(session, table, filled, "as a column that stands on the same words in the other rows")
    _decide(session, table, named, "as the names of most documents have them")
    _decide(session, table, parts, "as the other rows and the whole of the text have them")
    return len(changed) + len(filled) + len(named) + len(parts)


def _of_documents(session: Session, table: Table, rows: list[Row]) -> tuple[list[Row], list[Row]]:
    """What rows of one document each show: names and dates of files; phrases parted, cut to the terms of their column,
    and counts that the whole text tells."""
    files = {d.id: d.name for d in session.catalog.documents.all()}
    named = [*titled(rows, table, files), *dated(rows, table, files)]
    rows = _saved(session, rows, named)
    labels = settled_by_labels(rows)
    rows = _saved(session, rows, labels)
    texts = _Texts(session)
    split = parted(rows, table, texts.at)
    rows = _saved(session, rows, split)
    beside = with_neighbours(rows, table, texts.at)
    rows = _saved(session, rows, beside)
    terms = categorised(rows, table, texts.at)
    rows = _saved(session, rows, terms)
    counted = [*texts.without_deaths(rows, table), *counted_names(rows, table)]
    _saved(session, rows, counted)
    return named, [*labels, *split, *beside, *terms, *counted]


def _saved(session: Session, rows: list[Row], changed: Sequence[Row]) -> list[Row]:
    """All rows with the changed cells, which are saved: reading a large table again costs more than settling it."""
    session.catalog.extractions.save(changed)
    return with_changed(rows, changed)


class _Texts:
    """The texts of the documents, one kept at a time."""

    def __init__(self, session: Session) -> None:
        self._documents = session.catalog.documents
        self._last: tuple[str, str] = ("", "")

    def of(self, document_id: str) -> str:
        if self._last[0] != document_id:
            self._last = (document_id, self._documents.text(document_id))
        return self._last[1]

    def at(self, span: Span) -> str:
        return self.of(span.document_id)[span.start : span.end]

    def without_deaths(self, rows: Sequence[Row], table: Table) -> list[Row]:
        """The rows whose count of deaths was read empty, where their whole document tells that there were none."""
        counts = [c for c in table.columns if counts_deaths(c)]
        cells = [(row, column, row.cell(column.name)) for row in rows for column in counts]
        return [
            replace(row, cells=(_zero(cell, Span(row.document_id, start, end), text[start:end], parsed),))
            for row, column, cell in cells
            if cell is not None
            and cell.absence is not None
            and (told := nobody_died(column, text := self.of(row.document_id))) is not None
            for start, end, parsed in (told,)
        ]


def _zero(cell: Cell, span: Span, words: str, parsed: Coerced) -> Cell:
    return replace(
        cell, value=parsed.value, printed=words, span=span, grounding=Grounding.DERIVED, absence=None,
        rationale=parsed.rationale, detail="told by the whole text",
    )  # fmt: skip


def _state(session: Session, table: Table) -> list[object]:
    """What the votes follow from: while it stands, they are not taken again."""
    empty = sum(n for states in session.catalog.extractions.absences(table.name).values() for n in states.values())
    types = sorted(f"{c.name}:{c.type.value}" for c in table.columns)
    return [session.catalog.extractions.count(table.name), empty, types]


def are_entries(session: Session, table: Table, rows: Sequence[Row]) -> bool:
    """Whether the rows of a table are entries of lists."""
    if table.grain != "many" or not rows:
        return False
    documents = {row.chunk_id: row.document_id for row in rows}
    read_from = list(documents)[:_CHUNKS_LOOKED_AT]
    looked_in = dict.fromkeys(documents[chunk] for chunk in read_from)
    chunks = {c.id: c for document in looked_in for c in session.catalog.chunks.of(document)}
    return all(chunk in chunks and records_of(chunks[chunk]) for chunk in read_from)


_CHUNKS_LOOKED_AT = 20


def _decide(session: Session, table: Table, changed: list[Row], how: str) -> None:
    if cells := sum(len(row.cells) for row in changed):
        session.decide("extract", f"table:{table.name}", "settled by vote", f"{cells} cells {how}")


_FEWEST_ROWS = 8


def _lines(session: Session, table: Table) -> list[Line]:
    """The rows that were read from lines of lists, with their lines."""
    records: dict[str, dict[int, Record]] = {}
    chunks = {c.id: c for c in session.catalog.chunks.all()}
    out = []
    for row in session.catalog.extractions.rows(table.name):
        if row.chunk_id not in records:
            chunk = chunks.get(row.chunk_id)
            records[row.chunk_id] = {r.ordinal: r for r in records_of(chunk)} if chunk is not None else {}
        record = records[row.chunk_id].get(row.ordinal)
        if record is not None and _inside(row, record):
            out.append(Line(row, record.text, record.start))
    return out


def _inside(row: Row, record: Record) -> bool:
    end = record.start + len(record.text)
    return all(c.span is None or (record.start <= c.span.start and c.span.end <= end) for c in row.cells)
