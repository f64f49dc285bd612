"""What extraction libraries lack to answer a question: attributes before, SQL after;
the same for every one of them.
"""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks.systems.base import Answered, Asked, Task
from benchmarks.systems.client import EndpointError, chat, read

SECONDS = 60.0
"""For one statement: a recursion without end would keep the system from its other questions."""

Extract = Callable[[Task, dict[str, str], Sequence[tuple[str, str]]], list[dict[str, Any]]]

_ATTRIBUTES = {
    "type": "object",
    "required": ["attributes"],
    "properties": {
        "attributes": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "description"],
                "properties": {"name": {"type": "string"}, "description": {"type": "string"}},
            },
        }
    },
}
PLAN = (
    "Beginning of one of several documents:\n{sample}\n\n"
    "Question over all documents: {question}\n\n"
    "A table with one row for each record of the documents shall answer the question with SQL. "
    "Name its columns in snake_case, with a short description each: only what a document states, "
    "at most six. Reply as JSON."
)
QUERY = (
    "CREATE TABLE records (document TEXT, {columns});\n\n"
    "First rows of the table records:\n{rows}\n\n"
    "Every value is text as printed in the documents, NULL where not stated.\n\n"
    "Question: {question}\n\n"
    "Reply with one SQLite statement that answers it, SELECT ... FROM records ..., "
    "and nothing else."
)
AGAIN = "\n\nThis statement fails:\n{sql}\nError: {error}\nWrite it again without the fault."


class BadStatement(RuntimeError):
    """SQL that does not run, after one more try."""

    def __init__(self, sql: str, error: str) -> None:
        super().__init__(error)
        self.sql = sql


def attributes(task: Task, asked: Asked, sample: str) -> dict[str, str]:
    """Column names and descriptions that the model proposes for a question."""
    prompt = PLAN.format(sample=sample[:3000], question=asked.question)
    reply = chat(task.base_url, task.model, prompt, schema=_ATTRIBUTES)
    columns = json.loads(reply).get("attributes") or []
    named = {re.sub(r"\W+", "_", c["name"]).strip("_").lower(): c["description"] for c in columns}
    return {name: said for name, said in named.items() if name and name != "document"}


def query(
    task: Task, asked: Asked, columns: Sequence[str], rows: Sequence[dict[str, Any]]
) -> tuple[str, list[list[Any]]]:
    """The model's SQL for a question over the extracted rows, and its result;
    SQL that fails is written once more.

    Raises:
        BadStatement: the second one fails, too.
    """
    connection = sqlite3.connect(":memory:")
    names = ["document", *columns]
    connection.execute("CREATE TABLE records (" + ", ".join(f'"{n}" TEXT' for n in names) + ")")
    marks = ", ".join("?" * len(names))
    values = [[None if r.get(n) in (None, "") else str(r[n]) for n in names] for r in rows]
    connection.executemany(f"INSERT INTO records VALUES ({marks})", values)
    prompt = QUERY.format(
        columns=", ".join(f"{c} TEXT" for c in columns),
        rows="\n".join(
            json.dumps(dict(zip(names, v, strict=True)), ensure_ascii=False) for v in values[:5]
        ),
        question=asked.question,
    )
    connection.execute("PRAGMA query_only = 1")
    again, deadline = "", 0.0
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
    for _ in range(2):
        sql = _sql(chat(task.base_url, task.model, prompt + again))
        deadline = time.monotonic() + SECONDS
        try:
            return sql, [list(row) for row in connection.execute(sql).fetchall()]
        except sqlite3.Error as error:
            failed, again = error, AGAIN.format(sql=sql, error=error)
    raise BadStatement(sql, str(failed)) from failed


def _sql(said: str) -> str:
    return re.sub(r"^```(?:sql)?|```$", "", said.strip(), flags=re.M).strip()


def run(task: Task, extract: Extract) -> Iterator[Answered]:
    """Attributes, the library's extraction, SQL; SQL that does not run twice is a
    failure with its error.
    """
    documents = [(d.name, read(d)) for d in task.documents]
    for asked in task.questions:
        started = time.perf_counter()
        try:
            columns = attributes(task, asked, documents[0][1])
            rows = extract(task, columns, documents)
            sql, result = query(task, asked, list(columns), rows)
        except (EndpointError, BadStatement, ValueError, KeyError) as error:
            sql = error.sql if isinstance(error, BadStatement) else ""
            spent = round(time.perf_counter() - started, 3)
            yield Answered(
                asked.id, "failed", sql=sql, seconds=spent, error=f"{type(error).__name__}: {error}"
            )
            continue
        empty = not result or result == [[None]]
        yield Answered(
            asked.id,
            "not_found" if empty else "answered",
            None if empty else result,
            json.dumps(result),
            sql,
            seconds=round(time.perf_counter() - started, 3),
        )
