"""The columns that questions need. One call plans them for all questions; they are stored, so that
the same question asked later needs no planning.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Literal

from sliders.engine.document_samples import grain_of, rows_told, samples
from sliders.engine.question import Need
from sliders.engine.session import Session
from sliders.engine.ways import ways_of
from sliders.errors import BudgetExceeded, CallFailed
from sliders.schema.complete import complete_schema
from sliders.schema.extend import with_added
from sliders.schema.induce import Induced, pinned_whole
from sliders.schema.types import ColumnType, Schema, Table
from sliders.store.facts import QuestionColumns

_NO_FACT = "no fact of the documents was found that the question needs"


async def plan_tables(session: Session, questions: Sequence[str]) -> list[Need]:
    """Returns the needs of each question, in order. The schema is extended when needed,
    and stored.
    """
    session.progress("schema")
    await describe_pinned(session)
    known = {q: need for q in questions if (need := known_need(session, q)) is not None}
    fresh = [q for q in dict.fromkeys(questions) if q not in known]
    if fresh:
        async with session.catalog.claims.turn(
            "schema"
        ):  # another writer may have extended it meanwhile
            known |= {q: need for q in fresh if (need := known_need(session, q)) is not None}
            if fresh := [q for q in fresh if q not in known]:
                known |= await _induced(session, fresh, session.schema)
    return [known[q] for q in questions]


async def _induced(session: Session, questions: Sequence[str], schema: Schema) -> dict[str, Need]:
    model = session.models.model_for("schema")
    try:
        induced = await ways_of(model).induction.induce(
            questions,
            samples(session, questions, keep=True),
            schema,
            model,
            session.embedder.embed,
            grain=grain_of(session),
            rows_told=partial(rows_told, session),
            progress=lambda done: session.progress("schema", done, len(questions)),
        )
    except (CallFailed, BudgetExceeded) as error:
        session.decide("schema", "question", "refused", str(error))
        ended: Literal["incomplete", "failed"] = (
            "incomplete" if isinstance(error, BudgetExceeded) else "failed"
        )
        return {q: Need(q, reason=f"no schema: {error}", ended=ended) for q in questions}
    needs = {q: _need(q, induced) for q in questions}
    with (
        session.catalog.database.transaction()
    ):  # a kill leaves both or neither: the call is not made again
        _record(session, induced, schema)
        for need in needs.values():
            if need.columns:
                _keep(session, need)
    return needs


def _need(question: str, induced: Induced) -> Need:
    columns: dict[str, tuple[str, ...]] = {}
    for name in induced.needs.get(question, ()):
        table, _, column = name.partition(".")
        columns[table] = (*columns.get(table, ()), column)
    for name, asked in columns.items():
        columns[name] = _telling(induced.schema.table(name), asked)
    uncovered = induced.uncovered.get(question, "")
    lacking = f"no column holds {uncovered}" if uncovered else _NO_FACT
    reason = "" if columns else lacking
    draft, hints = induced.drafts.get(question, ""), induced.hints.get(question)
    return Need(question, columns, uncovered, reason, draft, hints)


_BESIDE = 2
"""The number of columns beside the key that are read too: they tell apart rows without a key, and
let new cells find them.
"""


def _telling(table: Table, asked: Sequence[str]) -> tuple[str, ...]:
    """Returns the columns to read of a table: its key first, so that later columns find their rows,
    then columns that identify a row without a key.
    """
    names = dict.fromkeys([*table.key, *asked])
    if table.grain == "many" and table.key:
        others = [
            column
            for column in table.columns
            if column.name not in names and column.reading == "stated"
        ]
        others.sort(key=lambda column: column.type is not ColumnType.TEXT)
        names |= dict.fromkeys(
            column.name for column in others[: max(0, _BESIDE - len(set(asked) - set(table.key)))]
        )
    return tuple(names)


def _record(session: Session, induced: Induced, before: Schema) -> None:
    for issue in induced.issues:
        session.decide("schema", "column", "refused once", f"{issue.subject}: {issue.reason}")
    if induced.schema != before:
        session.catalog.schemas.save(
            with_added(induced.schema, before, session.schema), "extended for questions"
        )
        names = ", ".join(f"{t.name} ({', '.join(t.column_names)})" for t in induced.schema.tables)
        session.decide("schema", "tables", "extended", names, induced.tokens)


async def describe_pinned(session: Session) -> None:
    """Asks the model once what the rows of pinned tables are."""
    if not any(t.pinned and not t.row for t in session.schema.tables):
        return
    model, before = session.models.model_for("schema"), session.schema
    try:
        completed = await complete_schema(
            before, samples(session, keep=True), model, grain=grain_of(session)
        )
    except (
        CallFailed,
        BudgetExceeded,
    ) as error:  # read as given; a spent budget is said by the next stage
        session.decide("schema", "pinned tables", "not described", str(error))
        return
    session.catalog.schemas.save(
        with_added(completed, before, session.schema), "pinned tables described"
    )
    for table in completed.tables:
        if table.pinned:
            session.decide(
                "schema",
                "table",
                "described",
                f"one row: {table.row}; grain {table.grain}",
                table=table.name,
            )


def known_need(session: Session, question: str) -> Need | None:
    """Returns the stored need of a question; None when the question is new or its columns are gone.
    In a schema that is pinned whole, a question needs all columns.
    """
    schema = session.schema
    if pinned_whole(schema):
        return Need(question, {t.name: t.column_names for t in schema.tables})
    kept = session.catalog.figures.question(_key(session, question))
    if kept is None:
        return None
    there = {t.name: set(t.column_names) for t in schema.tables}
    if not all(set(names) <= there.get(table, set()) for table, names in kept.columns.items()):
        return None
    return Need(question, kept.columns, kept.uncovered, draft=kept.draft, hints=kept.hints)


def _keep(session: Session, need: Need) -> None:
    """Stores the need of a question, for this model and this prompt."""
    kept = QuestionColumns(dict(need.columns), need.uncovered, need.draft, need.hints)
    session.catalog.figures.keep_question(_key(session, need.question), need.question, kept)


def _key(session: Session, question: str) -> str:
    model = session.models.model_for("schema")
    parts = (model.name, ways_of(model).induction.hash(model.dialect), question)
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]
