"""Questions over tables whose cells are not all there: a sample first, then what the model's own statement needs.

The model writes its SQL over a table that holds a few documents; the statement is planned as any query over documents, the
cells that it needs are extracted lazily, and the model looks again at the table, which now has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sliders.errors import BudgetExceeded, QueryError
from sliders.executor.fill import missing_work
from sliders.executor.judging import judge_table
from sliders.executor.query import sample_query
from sliders.executor.querying import complete_cells, fill_and_settle, needed_cells
from sliders.executor.session import Session
from sliders.executor.settle import settle
from sliders.schema.types import Schema, Table
from sliders.store.database import quote_identifier

ROUNDS = 2
"""How often a statement may ask for more cells before all columns of the question are filled."""


def can_wait(table: Table) -> bool:
    """Whether a table's cells can be left out until a statement needs them: one row a document, read cell by cell."""
    return table.grain == "document"


async def sample_cells(session: Session, table: Table, columns: Sequence[str]) -> str:
    """Reads these columns from a few documents, so that a statement can be written; why it stopped, or empty."""
    names = ", ".join(quote_identifier(name) for name in columns)
    stopped = await sample_query(session, f"SELECT {names} FROM {quote_identifier(table.name)}")
    session.decide("optimize", f"table:{table.name}", "sampled", "its other cells are read when a statement needs them")
    return stopped


async def complete_statement(
    session: Session, sql: str, columns: Mapping[str, Sequence[str]], *, last: bool = False
) -> bool:
    """Extracts the cells that a statement still needs; whether there were any, so that it must be written again.

    Args:
        columns: the question's columns by table: filled whole when the statement cannot be planned.
        last: fill them in any case.
    """
    schema = session.catalog.schemas.current() or Schema()
    needed = None if last or not sql else _needed(sql, schema)
    if needed is None:
        if not missing_work(session, columns):
            return False
        if stopped := await fill_and_settle(session, columns):
            raise BudgetExceeded(stopped)
        return True
    before = _missing(session, needed)
    if not before:
        return False
    await complete_cells(session, sql)
    for name in needed:
        judge_table(session, schema.table(name))
        await settle(session, schema.table(name))
    # A document that no condition lets pass keeps its cells open: only what became known counts.
    return _missing(session, needed) < before


def _needed(sql: str, schema: Schema) -> dict[str, tuple[str, ...]] | None:
    """Columns by table, None for a statement that cannot be planned or that reads tables with several rows a document."""
    try:
        needed = needed_cells(sql, schema)
    except QueryError:
        return None
    return needed if all(can_wait(schema.table(name)) for name in needed) else None


def _missing(session: Session, columns: Mapping[str, Sequence[str]]) -> int:
    """How many cells of chunks were not asked for yet."""
    return sum(len(asked.columns) for work in missing_work(session, columns) for asked in work.asked)
