"""A value of a question that no row prints is judged: every document is asked whether it is the one
meant.

The value becomes a column of its own, one token a document, cut over the collection, and the model
writes its SQL again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sliders.answer.literals import Unheld
from sliders.compact.write_sql import is_value_question
from sliders.engine.fill import fill_cells
from sliders.engine.odds_cut import judge_table
from sliders.engine.session import Session
from sliders.engine.settle import settle_data_table
from sliders.schema.names import free_name, snake_name
from sliders.schema.types import Column, ColumnType, Schema, Table

_MOST = 2
"""Values of one statement that are judged; a list of many is no slip of a name."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A new column of a table, and the note for the model that writes the statement."""

    table: str
    column: str
    note: str


async def judge_values(
    session: Session, question: str, unheld: Sequence[Unheld]
) -> tuple[Judged, ...]:
    """Reads, for each value that no row prints, whether each document is meant by it.

    Raises:
        BudgetExceeded: the run's limit is reached.
        ModelUnavailable: the model cannot be reached.
    """
    schema = session.catalog.schemas.current() or Schema()
    wanted = list(dict.fromkeys(p for one in unheld for p in _place(session, schema, one)))
    if not 0 < len(wanted) <= _MOST:
        return ()
    found = []
    for table, column, value in wanted:
        schema = session.catalog.schemas.current() or Schema()
        found.append(await _judged(session, schema, schema.table(table), column, value, question))
    return tuple(found)


def _place(session: Session, schema: Schema, one: Unheld) -> Iterator[tuple[str, str, str]]:
    """Table, column and value by their names in the schema, of a table with one row a document."""
    for table in schema.tables:
        relation = session.catalog.schemas.relation(table.name)
        if (
            relation.relation == one.table.view.name
            and table.grain == "document"
            and not table.pinned
        ):
            names = (
                c for c in table.column_names if relation.sql_name(c) == one.column.column.name
            )
            yield from ((table.name, name, one.literal) for name in names)


async def _judged(
    session: Session, schema: Schema, table: Table, column: str, value: str, question: str
) -> Judged:
    asked = table.column(column).description or column
    described = is_value_question(asked, value)
    name = next((c.name for c in table.columns if c.description == described), "")
    if not name:
        name = free_name(snake_name(f"{column} {value}"), table.column_names)
        new = replace(
            table,
            columns=(*table.columns, Column(name, ColumnType.BOOLEAN, described, reading="judged")),
        )
        tables = tuple(new if t.name == table.name else t for t in schema.tables)
        session.catalog.schemas.save(Schema(tables), "a value that no row prints is judged")
        session.decide(
            "answer",
            "column",
            "judged",
            f"no row has {value!r} in {column}",
            table=table.name,
            column=name,
        )
        table = new
    await fill_cells(session, {table.name: (name,)}, [question])
    judge_table(session, table)
    await settle_data_table(session, table)
    written = session.catalog.schemas.relation(table.name).sql_name(name)
    return Judged(
        table.name,
        name,
        f"no row has {value!r} in {column}; {written} = 1 where it is {value!r} all the same",
    )
