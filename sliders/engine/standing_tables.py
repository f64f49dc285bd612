"""Later questions over tables that are filled: a question over known columns is answered at once;
for any other question, columns are planned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sliders.answer.result import SqlAnswer
from sliders.answer.sql_agent import answer_question, first_turns
from sliders.answer.sql_writer import SqlQuestion
from sliders.engine.question import Need, Question, StandingAnswer
from sliders.engine.question_columns import known_need, plan_tables
from sliders.engine.session import Session
from sliders.engine.statements import ShownTables, whole_tables
from sliders.engine.table_stages import settle_tables
from sliders.engine.tables_read import tables_read
from sliders.engine.ways import ways_of
from sliders.errors import BudgetExceeded
from sliders.schema.hints import Hints


async def needs_of(session: Session, questions: Sequence[Question]) -> list[Need]:
    """Returns the needs of questions, in order; those that were not planned with their hints are
    planned now.
    """
    planned = [question.need for question in questions if question.need is not None]
    if len(planned) < len(questions):
        words = [question.words for question in questions]
        alone = any(question.alone for question in questions)
        return await (plan_tables if alone else needs_of_texts)(session, words)
    pairs = zip(planned, questions, strict=True)
    return [replace(need, question=question.words) for need, question in pairs]


async def needs_of_texts(session: Session, questions: Sequence[str]) -> list[Need]:
    """Returns the needs of questions without hints, in order. The need of a question that the
    filled tables answer has the columns of its statement, and the answer.
    """
    fresh = [q for q in dict.fromkeys(questions) if known_need(session, q) is None]
    needs = await _answered(session, fresh)
    rest = [question for question in questions if question not in needs]
    if rest:
        needs |= dict(zip(rest, await plan_tables(session, rest), strict=True))
    return [needs[question] for question in questions]


async def _answered(session: Session, questions: Sequence[str]) -> dict[str, Need]:
    """Returns the needs of the questions that the filled tables answer, by question."""
    model = session.models.model_for("answer")
    writer, needs = ways_of(model).sql.standing, dict[str, Need]()
    read = any(not table.given for table in session.filled)
    if not (questions and read and writer and model.dialect.standing_first):
        return needs
    async with session.standing():
        await settle_tables(session, tables=[table.name for table in session.filled])
        shown = whole_tables(session)
        asked = [SqlQuestion(question) for question in questions]
        turns = await first_turns(asked, shown.profiles, model, writer)
        for question in questions:
            try:
                found = await answer_question(
                    question,
                    (),
                    shown.run_sql,
                    model,
                    profiles=shown.profiles,
                    writer=writer,
                    first=turns.get(question),
                )
            except BudgetExceeded:  # the next stage says so
                break
            if found.status == "answered":
                needs[question] = _need(session, found, shown)
    return needs


def _need(session: Session, found: SqlAnswer, shown: ShownTables) -> Need:
    """Returns the need of a question that was answered: the columns of its statement, with the keys
    of their tables.
    """
    views = [profile.view for profile in shown.profiles]
    asked = session.catalog.extractions.columns_asked
    columns = {}
    for read in tables_read(session, found.sql, views):
        named = [column.name for column in read.columns] or sorted(asked(read.table.name))
        columns[read.table.name] = tuple(dict.fromkeys([*read.table.key, *named]))
    told = ", ".join(f"{table} ({', '.join(names)})" for table, names in columns.items())
    session.decide("schema", "question", "columns known", told)
    answer = StandingAnswer(found, shown.profiles)
    return Need(found.question, columns, hints=Hints(found.question), standing=answer)
