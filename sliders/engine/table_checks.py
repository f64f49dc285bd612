"""The checks that a pinned schema declares, run on the tables: the rows that fail, and the doubts
of answers that read their columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sliders.answer.doubts import Doubt, named
from sliders.engine.session import Session
from sliders.engine.tables_read import TableRead
from sliders.errors import SchemaError, SlidersError
from sliders.progress import counted
from sliders.schema.checks import Check
from sliders.schema.types import Table
from sliders.sql.quoting import quote_identifier, quote_literal
from sliders.store.cage import run_readonly
from sliders.store.records import Relation

_MOST_ROWS = 20


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """A check that does not hold.

    Args:
        table: the table's name.
        check: the check.
        rows: how many rows fail; 0 where the check could not run.
        columns: the names of the values in `first`.
        first: the first rows that fail.
        error: why the check could not run; "" where it ran.
    """

    table: str
    check: Check
    rows: int
    columns: tuple[str, ...] = ()
    first: tuple[tuple[object, ...], ...] = ()
    error: str = ""

    def __str__(self) -> str:
        if self.error:
            return f"the check of {self.table}, {self.check}, could not run: {self.error}"
        rows = counted(self.rows, "row")
        return f"the check of {self.table}, {self.check}, fails in {rows}"


def failed_checks(session: Session, tables: Iterable[Table] | None = None) -> list[FailedCheck]:
    """Runs the checks of these tables, of all tables when left out. Returns the checks that failed
    (some rows break them) and those that could not run.
    """
    asked = session.schema.tables if tables is None else tables
    outcomes = [_outcome(session, table, check) for table in asked for check in table.checks]
    return [one for one in outcomes if one.rows or one.error]


def check_doubts(session: Session, reads: Sequence[TableRead]) -> Iterator[Doubt]:
    """Yields a doubt for each check that fails on columns that an answer reads."""
    for read in reads:
        columns = {column.name for column in read.columns}
        checks = tuple(c for c in read.table.checks if not c.columns or columns & {*c.columns})
        for failed in (_outcome(session, read.table, check) for check in checks):
            if failed.rows or failed.error:
                place = failed.columns.index("document") if "document" in failed.columns else None
                documents = [] if place is None else [str(row[place]) for row in failed.first]
                yield Doubt(
                    "value",
                    str(failed),
                    named(tuple(dict.fromkeys(documents))) if documents else read.table.name,
                    "the answer reads what the check is about",
                    "sliders check",
                )


def _outcome(session: Session, table: Table, check: Check) -> FailedCheck:
    relation = session.catalog.schemas.relation(table.name)
    if relation.current_version is None:
        return FailedCheck(table.name, check, 0)
    shown = [r for r in session.catalog.schemas.relations() if r.current_version is not None]
    try:
        sql = _statement(session, relation, check)
        found = run_readonly(session.catalog.database, sql, tables=[r.relation for r in shown])
    except SlidersError as error:  # a person's SELECT, or a table that is not there yet
        return FailedCheck(table.name, check, 0, error=str(error))
    return FailedCheck(
        table.name, check, len(found.rows), tuple(found.columns), tuple(found.rows[:_MOST_ROWS])
    )


def _statement(session: Session, relation: Relation, check: Check) -> str:
    """The SELECT of the rows that fail.

    Raises:
        SchemaError: the other table of a relation has no such column.
    """
    if check.kind == "sql":
        return check.sql
    names = [quote_identifier(relation.sql_name(name)) for name in check.columns]
    listed, table = ", ".join(names), quote_identifier(relation.relation)
    if check.kind == "unique":
        filled = " AND ".join(f"{name} IS NOT NULL" for name in names)
        return (
            f"SELECT {listed}, count(*) AS times, min(document) AS document FROM {table} "
            f"WHERE {filled} GROUP BY {listed} HAVING count(*) > 1"
        )
    [name] = names
    return (
        f"SELECT document, {name}, row_id FROM {table} WHERE {_fails(session, name, check)} "
        "ORDER BY document, row_id"
    )


def _fails(session: Session, name: str, check: Check) -> str:
    if check.kind == "not_null":
        return f"{name} IS NULL"
    if check.kind == "range":
        bounds = [
            f"{name} {sign} {quote_literal(bound)}"
            for sign, bound in (("<", check.least), (">", check.most))
            if bound is not None
        ]
        return " OR ".join(bounds)
    if check.kind == "values":
        return f"{name} NOT IN ({', '.join(map(quote_literal, check.values))})"
    other = session.catalog.schemas.relation(check.table)
    if check.column not in {column.name for column in other.columns}:
        raise SchemaError(
            f"table {check.table!r} has no column {check.column!r}; correct the check in the schema"
        )
    column = quote_identifier(other.sql_name(check.column))
    return (
        f"{name} NOT IN (SELECT {column} FROM {quote_identifier(other.relation)} "
        f"WHERE {column} IS NOT NULL)"
    )
