"""What goes in and out of the SQL agent: the tables that it may see, how SQL is run, and the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from sliders.extraction.cell import Scalar
from sliders.llm.model import Usage
from sliders.schema.types import Column, Table

Status = Literal["answered", "not_found", "incomplete"]
Action = Literal["answer", "look", "cannot"]
Value = Scalar | list[Scalar] | list[list[Scalar]]


class QueryResult(Protocol):
    """Rows of one statement: `columns` names, `rows` of scalars, `truncated` when the row limit cut them."""

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

    `row_id` is the hidden column that citations are made from; `document` names the file of each row and is shown.
    Either is empty when the table has none.
    """

    table: Table
    row_id: str = "row_id"
    document: str = "document"

    @property
    def name(self) -> str:
        """The table's name in SQL."""
        return self.table.name

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that a query may use, the document's name last."""
        if self.document and self.document not in self.table.column_names:
            return (*self.table.columns, Column(self.document, description="file that the row was read from"))
        return self.table.columns


@dataclass(frozen=True, slots=True)
class SqlAttempt:
    """One turn of the model: `written` is its reply, `sql` the statement that ran (the same but for SQL dialect).

    `findings` is what code found odd about the result, in words; `error` why it did not run, or the model's reason for
    `cannot`; `rows` the number of rows that came back.
    """

    written: str
    sql: str
    action: Action = "answer"
    findings: tuple[str, ...] = ()
    error: str = ""
    rows: int = 0


@dataclass(frozen=True, slots=True)
class SqlAnswer:
    """The answer of a question over tables.

    `value` is the bare number, string, list (one column) or table (list of rows), None when nothing was found. `sql` is
    the statement that gave it, `columns` and `rows` its result as run; `reason` says why there is no answer or what is
    doubtful about it. `others` are the numbers that earlier statements of the model gave.
    """

    question: str
    status: Status
    value: Value
    text: str
    sql: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Scalar, ...], ...] = ()
    reason: str = ""
    attempts: tuple[SqlAttempt, ...] = ()
    usage: Usage = field(default_factory=Usage)
    others: tuple[int | float, ...] = ()
