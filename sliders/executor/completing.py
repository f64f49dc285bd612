"""Questions over tables whose cells are not all there: a sample first, then what the model's own statement needs.

The model writes its SQL over a table that holds a few documents; the statement is planned as any query over documents, the
cells that it needs are extracted lazily, and the model looks again at the table, which now has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sliders.errors import BudgetExceeded, QueryError
from sliders.executor.fill import fill, missing_work
from sliders.executor.judging import judge_table
from sliders.executor.query import sample_query
from sliders.executor.querying import complete_cells, needed_cells
from sliders.executor.reader import AttributeReader
from sliders.executor.session import Session
from sliders.executor.settle import settle
from sliders.schema.types import Schema, Table

ROUNDS = 2
"""How often a statement may ask for more cells before all columns of the question are filled."""


def can_wait(table: Table) -> bool:
    """Whether a table's cells can be left out until a statement needs them: one row a document, read cell by cell."""
    return table.grain == "document"


async def sample_cells(
    session: Session, table: Table, columns: Sequence[str], *, reader: AttributeReader | None = None
) -> str:
    """Reads these columns from a few documents, so that a statement can be written; why it stopped, or empty.

    Raises:
        ModelUnavailable: the model cannot be reached.
    """
    names = ", ".join(_quoted(name) for name in columns)
    stopped = await sample_query(session, f"SELECT {names} FROM {_quoted(table.name)}", reader=reader)
    session.decide("optimize", f"table:{table.name}", "sampled", "its other cells are read when a statement needs them")
    return stopped


async def complete_statement(
    session: Session, sql: str, columns: Mapping[str, Sequence[str]], *, last: bool = False,
    reader: AttributeReader | None = None,
) -> bool:  # fmt: skip
    """Extracts the cells that a statement still needs; whether there were any, so that it must be written again.

    Args:
        columns: the question's columns by table: filled whole when the statement cannot be planned.
        last: fill them in any case.

    Raises:
        ModelUnavailable: the model cannot be reached.
        BudgetExceeded: the run's limit is reached.
    """
    schema = session.catalog.schemas.current() or Schema()
    needed = None if last or not sql else _needed(sql, schema)
    if needed is None:
        if not missing_work(session, columns):
            return False
        filled = await fill(session, columns)
        for name in columns:
            judge_table(session, schema.table(name))
            await settle(session, schema.table(name))
        if filled.stopped:
            raise BudgetExceeded(filled.stopped)
        return True
    before = {name: _missing(session, schema.table(name), wanted) for name, wanted in needed.items()}
    if not any(before.values()):
        return False
    await complete_cells(session, sql, reader=reader)
    for name in needed:
        judge_table(session, schema.table(name))
        await settle(session, schema.table(name))
    # A document that no condition lets pass keeps its cells open: only what became known counts.
    return any(_missing(session, schema.table(name), needed[name]) < before[name] for name in needed)


def _needed(sql: str, schema: Schema) -> dict[str, tuple[str, ...]] | None:
    """Columns by table, None for a statement that cannot be planned or that reads tables with several rows a document."""
    try:
        needed = needed_cells(sql, schema).columns
    except QueryError:
        return None
    return dict(needed) if all(can_wait(schema.table(name)) for name in needed) else None


def _missing(session: Session, table: Table, columns: Sequence[str]) -> int:
    """How many cells of a chunk were not asked for yet."""
    names = [name for name in columns if name in table.column_names]
    return sum(len(asked.columns) for work in missing_work(session, {table.name: names}) for asked in work.asked)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

