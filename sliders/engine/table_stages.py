"""Two stages that questions and queries share: filling the cells of tables, and settling the
tables.
"""

from __future__ import annotations

from collections.abc import Sequence

from sliders.engine.fill import fill_cells
from sliders.engine.left_out_sample import audit
from sliders.engine.odds_cut import judge_table
from sliders.engine.question import Need
from sliders.engine.session import Session
from sliders.engine.settle import settle_data_table
from sliders.errors import BudgetExceeded
from sliders.schema.types import Table


async def fill_for(session: Session, needs: Sequence[Need]) -> str:
    """Extracts the columns that questions need. Returns why it stopped early; "" when
    it did not.
    """
    wanted: dict[str, list[str]] = {}
    for table in session.schema.tables:
        needed = {name for need in needs for name in need.columns.get(table.name, ())}
        if columns := [name for name in table.column_names if name in needed]:
            wanted[table.name] = columns
    questions = [need.question for need in needs]
    stopped = (await fill_cells(session, wanted, questions)).stopped
    share = session.settings.audit_share
    if share and not stopped:
        stopped = await audit(session, wanted, share, questions)
    if stopped:
        session.decide("extract", "tables", "stopped", stopped)
    return stopped


async def settle_tables(
    session: Session, stopped: str = "", tables: Sequence[str] | None = None
) -> str:
    """Brings data tables up to date with their cells. Returns why it stopped early; "" when it did
    not.

    Judgements are cut by the whole collection first, then rows are reconciled.

    Args:
        stopped: why filling the tables stopped early; then no model is called.
        tables: names of tables; all tables when left out.
    """
    for table in session.schema.tables:
        if tables is None or table.name in tables:
            session.progress("reconcile", detail=table.name)
            judge_table(session, table)
            stopped = await settle_table(session, table, not stopped) or stopped
    return stopped


async def settle_table(session: Session, table: Table, model: bool) -> str:
    """Reconciles a table, by code alone once the budget ends. Returns why the budget ended; "" when
    it did not.
    """
    try:
        await settle_data_table(session, table, model=model)
        return ""
    except BudgetExceeded as error:
        session.decide("reconcile", "table", "stopped", str(error), table=table.name)
        await settle_data_table(session, table, model=False)
        return str(error)
