"""The inputs and results of the SQL agent: the tables that it may see, the function that runs SQL,
and each turn of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from sliders.extraction.cell import Scalar
from sliders.schema.types import Column, Table
from sliders.store.records import RelationColumn

Action = Literal["answer", "look", "cannot"]
Asks = Literal["", "number", "one", "several", "yes_no"]
"""The kind of answer that the question asks for, as the model says: a number, one thing, a list or
table, yes or no; "" when it does not say.
"""
Value = Scalar | list[Scalar] | list[list[Scalar]]


class QueryResult(Protocol):
    """The rows of one statement: the names of its `columns`, the `rows` of scalars, and `truncated`
    when a limit cut rows off.
    """

    @property
    def columns(self) -> Sequence[str]: ...

    @property
    def rows(self) -> Sequence[Sequence[Any]]: ...

    @property
    def truncated(self) -> bool: ...


#: Runs one read-only statement; raises `StoreError` (`UnsafeStatement` among them) or `QueryError`.
RunSql = Callable[[str], QueryResult]


@dataclass(frozen=True, slots=True)
class TableView:
    """A filled table as the agent sees it.

    `row_id` is the hidden column from which citations are made; `document` is the column with the
    file of each row, which is shown. Either is empty when the table has none. `companions` belong
    to columns of the table (`companion_of` is the SQL name); `judged` gives the number of judged
    values, for columns that have some.
    """

    table: Table
    row_id: str = "row_id"
    document: str = "document"
    companions: tuple[RelationColumn, ...] = ()
    judged: tuple[tuple[str, int], ...] = ()

    @property
    def name(self) -> str:
        """The table's name in SQL."""
        return self.table.name

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that a query may use, the document's name last."""
        if self.document and self.document not in self.table.column_names:
            return (
                *self.table.columns,
                Column(self.document, description="file that the row was read from"),
            )
        return self.table.columns


@dataclass(frozen=True, slots=True)
class SqlTurn:
    """One turn of the model: `written` is its reply, `sql` the statement that ran (the same, but in
    SQLite's dialect).

    `findings` are the oddities of the result in words; `error` is why it did not run, or the
    model's reason for `cannot`; `rows` the number of rows in the result; `asks` the kind of answer
    that the question asks for, as the model says; `meant` the words of the question that, by the
    model, ask for exactly what a finding calls odd.
    """

    written: str
    sql: str
    action: Action = "answer"
    findings: tuple[str, ...] = ()
    error: str = ""
    rows: int = 0
    asks: Asks = ""
    meant: str = ""
