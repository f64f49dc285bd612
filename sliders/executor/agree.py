"""The vote of a list's lines over its table, after the lines were read: by code, once for each state of the rows."""

from __future__ import annotations

from sliders.executor.session import Session
from sliders.extraction.cells import Row
from sliders.extraction.consensus import FEWEST_LINES, Line, agreed
from sliders.extraction.records import Record, records_of
from sliders.schema.schema import Table


def agree(session: Session, table: Table) -> int:
    """Settle the labels of a table whose rows are lines of lists; the number of rows that changed.

    The same cells come out however often it runs: a run that was killed before it does it again.
    """
    if table.grain != "many":
        return 0
    types = sorted(f"{c.name}:{c.type.value}" for c in table.columns)
    count = session.catalog.extractions.count(table.name)
    state = [count, types]
    if count < FEWEST_LINES or session.catalog.knowledge.statistic(f"agreed:{table.name}") == state:
        return 0
    changed = agreed(_lines(session, table), table.columns)
    with session.catalog.database.transaction():
        session.catalog.extractions.save(changed)
        session.catalog.knowledge.set_statistic(f"agreed:{table.name}", state)
    if changed:
        cells = sum(len(row.cells) for row in changed)
        session.decide(
            "extract", f"table:{table.name}", "settled by vote", f"{cells} cells as most lines of the list have them"
        )
    return len(changed)


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
