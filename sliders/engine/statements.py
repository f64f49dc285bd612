"""The SQL statements of questions. Questions over the same tables are asked in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sliders.answer.profile import TableProfile, profile_tables
from sliders.answer.result import SqlAnswer
from sliders.answer.sql_agent import answer_question, first_turns
from sliders.answer.sql_writer import SqlQuestion
from sliders.answer.turns import QueryResult, RunSql, SqlTurn
from sliders.engine.question import Need
from sliders.engine.session import Session
from sliders.engine.tables_read import view_of
from sliders.engine.ways import ways_of
from sliders.store.cage import run_readonly


@dataclass(frozen=True, slots=True)
class ShownTables:
    """Tables as the agent sees them.

    Args:
        profiles: the tables with their views.
        run_sql: runs statements over them.
        whole: True when no table and no column of the workspace is left out.
        turns: the agent's first turns, by question, where several questions were asked at once.
        answer: the agent's answer, where it is known.
    """

    profiles: Sequence[TableProfile]
    run_sql: RunSql
    whole: bool
    turns: Mapping[str, SqlTurn] = field(default_factory=dict)
    answer: SqlAnswer | None = None


async def shown_tables(session: Session, needs: Sequence[Need]) -> dict[str, ShownTables]:
    """Returns the tables that each question is answered from, by question. Questions that share a
    table see the tables and columns that any of them needs, and are asked in one call. An answer
    from tables that stood is kept where they are still the same.
    """
    model, out = session.models.model_for("answer"), _still_standing(session, needs)
    writer = ways_of(model).sql
    there = [need for need in needs if need.columns and need.question not in out]
    for group in sharing(there) if writer.several else [[need] for need in there]:
        shown = _shown(session, group)
        asked = [SqlQuestion(need.question, need.uncovered) for need in group]
        turns = await first_turns(asked, shown.profiles, model, writer)
        out |= {need.question: replace(shown, turns=turns) for need in group}
    return out


def _still_standing(session: Session, needs: Sequence[Need]) -> dict[str, ShownTables]:
    """Returns the tables of the questions whose answer from them is known, by question."""
    given = {need.question: need.standing for need in needs if need.standing is not None}
    shown = whole_tables(session) if given else None
    return {
        question: replace(shown, answer=one.answer)
        for question, one in given.items()
        if shown is not None and shown.profiles == one.profiles
    }


def sharing(needs: Iterable[Need]) -> list[list[Need]]:
    """Returns needs in groups, so that two needs with a table in common are in one group."""
    groups: list[list[Need]] = []
    for need in needs:
        near = [g for g in groups if any(set(need.columns) & set(one.columns) for one in g)]
        groups = [g for g in groups if g not in near]
        groups.append([*(one for group in near for one in group), need])
    return groups


async def statement(
    session: Session, need: Need, shown: ShownTables
) -> tuple[SqlAnswer, Sequence[TableProfile]]:
    """Returns the agent's answer, and the tables as it saw them. When the agent says that these
    tables cannot answer, it is shown all tables and columns of the workspace.
    """
    if shown.answer is not None:
        return shown.answer, shown.profiles
    model = session.models.model_for("answer")
    writer, attempts = ways_of(model).sql, tuple[SqlTurn, ...]()
    while True:
        found = await answer_question(
            need.question,
            (),
            shown.run_sql,
            model,
            uncovered=need.uncovered,
            draft=need.draft,
            profiles=shown.profiles,
            writer=writer,
            first=shown.turns.get(need.question),
        )
        found = replace(found, attempts=(*attempts, *found.attempts))
        if shown.whole or not found.attempts or found.attempts[-1].action != "cannot":
            break
        shown, attempts = whole_tables(session), found.attempts
    return await writer.second_look(found, shown.profiles, shown.run_sql, model), shown.profiles


def whole_tables(session: Session) -> ShownTables:
    """Returns all tables of the workspace, with all columns."""
    return _shown(session, ())


def _shown(session: Session, needs: Sequence[Need]) -> ShownTables:
    """The tables and columns that any of these questions needs; all of them without a need, and for
    models that are asked for one statement at a time.
    """
    wanted: dict[str, set[str]] = {}
    if ways_of(session.models.model_for("answer")).sql.several is not None:
        for table, columns in (pair for need in needs for pair in need.columns.items()):
            wanted.setdefault(table, set()).update(columns)
    tables = sorted(session.filled, key=lambda t: not any(t.name in n.columns for n in needs))
    whole = [view_of(session, table) for table in tables]
    views = [
        view_of(session, table, {*wanted[table.name], *table.key}) if wanted else view
        for table, view in zip(tables, whole, strict=True)
        if not wanted or table.name in wanted
    ]
    names = [view.name for view in views]

    def run_sql(sql: str) -> QueryResult:
        return run_readonly(session.catalog.database, sql, tables=names)

    return ShownTables(profile_tables(views, run_sql), run_sql, views == whole)
