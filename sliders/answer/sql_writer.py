"""The functions by which a model writes SQL: the protocols, and the functions for large models
(full dialect), which take steps. A step is a statement that answers, a look-up, or a reason why
there is no answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Protocol, get_args

from pydantic import Field

from sliders.answer.finding import Kind
from sliders.answer.profile import TableProfile
from sliders.answer.result import SqlAnswer
from sliders.answer.sql_prompt import (
    Shown,
    Turn,
    named_values,
    on_one_line,
    result_lines,
    table_values,
)
from sliders.answer.turns import Action, Asks, RunSql, SqlTurn
from sliders.llm.dialect import FULL
from sliders.llm.model import Message, Model, Request, Response
from sliders.llm.prompts import joined_hash, load_prompt
from sliders.llm.replies import LenientReply
from sliders.sentences import Sentences
from sliders.sql.statement import statement_in

say = Sentences("answer")

PREVIEW_ROWS = 10


class SqlRequest(Protocol):
    """Makes the request for the next turn.

    Args:
        uncovered: the part of the question that no column holds.
        draft: a statement from before the tables were filled.
        last: no turn will follow this one.
    """

    def __call__(
        self,
        question: str,
        profiles: Sequence[TableProfile],
        turns: Sequence[Turn] = (),
        *,
        uncovered: str = "",
        draft: str = "",
        last: bool = False,
        temperature: float = 0.0,
    ) -> Request: ...


@dataclass(frozen=True, slots=True)
class SqlQuestion:
    """A question, and the part of it that no column holds."""

    text: str
    uncovered: str = ""


@dataclass(frozen=True, slots=True)
class SeveralAtOnce:
    """One call for the statements of several questions over the same tables.

    Args:
        request: makes the request for questions and the profiles of their tables.
        attempts: reads a reply: the turn of each question by its number from 1, as if it had been
            asked alone. A question whose turn cannot be read is left out.
        most: the most questions of a call.
    """

    request: Callable[[Sequence[SqlQuestion], Sequence[TableProfile]], Request]
    attempts: Callable[[Response], dict[int, SqlTurn]]
    most: int


class SecondLook(Protocol):
    """Compares the answer with a second statement or source, and adds a doubt when they differ."""

    async def __call__(
        self, answer: SqlAnswer, profiles: Sequence[TableProfile], run_sql: RunSql, model: Model
    ) -> SqlAnswer: ...


@dataclass(frozen=True, slots=True)
class SqlWriter:
    """The functions by which a model writes SQL.

    Args:
        shown: the limits of the tables in the prompt.
        request: makes the request for the next turn.
        attempt: reads a reply.
        second_look: runs after the answer.
        statements: the least number of statements that are asked for.
        repeats: True for a model that tends to repeat its statement whatever the findings say. A
            repeated statement over a value that no row has is asked for once more, and its count of
            0 is not believed.
        mends: True sends a statement that does not run back with its error.
        several: asks for the statements of several questions at once; None asks for each alone.
        standing: the way for a question for which no columns were planned; None plans them always.
    """

    shown: Shown
    request: SqlRequest
    attempt: Callable[[Response], SqlTurn]
    second_look: SecondLook
    statements: int
    repeats: bool
    mends: bool = True
    several: SeveralAtOnce | None = None
    standing: SqlWriter | None = None


class SqlStep(LenientReply):
    """One turn of the model in the full dialect."""

    action: Literal["answer", "look", "cannot"]
    asks: str = ""
    meant: str = ""
    sql: str = ""
    reason: str = ""


class NumberedStep(SqlStep):
    """The first turn of one of several questions."""

    question: int


class SqlSteps(LenientReply):
    """The first turns of several questions."""

    answers: list[NumberedStep] = Field(default_factory=list)


_SHOWN = Shown(60, 2400, 80, 3, 1200, 4, 20, 60_000, frozenset(get_args(Kind)) - {"idle"})


def step_sql_request(
    question: str,
    profiles: Sequence[TableProfile],
    turns: Sequence[Turn] = (),
    *,
    uncovered: str = "",
    draft: str = "",
    last: bool = False,
    temperature: float = 0.0,
    standing: bool = False,
) -> Request:
    """Returns the request for the next step: tables, question, and the steps so far with the
    sentences that were sent back. `draft` is not used. `standing` tables were filled for other
    questions.
    """
    again = load_prompt("answer/refine_sql", FULL)
    first = _first_request([SqlQuestion(question, uncovered)], profiles, standing)
    messages = first.messages
    for turn in turns:
        said = again.render(
            told=list(map(on_one_line, (*_preview(turn), *turn.told))),
            question=question,
            looked=turn.attempt.action == "look",
            last=last and turn is turns[-1],
        )
        messages = (*messages, Message("assistant", turn.attempt.written), *said)
    return replace(first, messages=messages, temperature=temperature)


def several_sql_request(
    questions: Sequence[SqlQuestion], profiles: Sequence[TableProfile], standing: bool = False
) -> Request:
    """Returns the request for the first turns of several questions. It begins as the request for
    any of them alone does.
    """
    room = min(_MOST_TOKENS, _SHOWN.max_tokens + _TOKENS_OF_A_STEP * len(questions))
    first = _first_request(questions, profiles, standing)
    return replace(first, max_tokens=room, reply=SqlSteps)


_TOKENS_OF_A_STEP, _MOST_TOKENS = 300, 8000


def _first_request(
    questions: Sequence[SqlQuestion], profiles: Sequence[TableProfile], standing: bool
) -> Request:
    shown = table_values(_described(profiles) if standing else profiles, _SHOWN)
    prompt, again = load_prompt("answer/write_sql", FULL), load_prompt("answer/refine_sql", FULL)
    listed = [
        {
            "of": f" {number}" if len(questions) > 1 else "",
            "text": question.text,
            "named": named_values(question.text, profiles, _SHOWN.named),
            "uncovered": question.uncovered,
        }
        for number, question in enumerate(questions, 1)
    ]
    return Request(
        "answer",
        prompt.render(**shown, questions=listed, standing=standing),
        joined_hash(prompt, again, say),
        max_tokens=_SHOWN.max_tokens,
        reply=SqlStep,
    )


def _described(profiles: Sequence[TableProfile]) -> list[TableProfile]:
    """Returns profiles whose columns are told in the words that their reader had: these say what a
    column is not.
    """
    out = []
    for profile in profiles:
        columns = (replace(c, column=replace(c.column, meaning="")) for c in profile.columns)
        out.append(replace(profile, columns=tuple(columns)))
    return out


def _preview(turn: Turn) -> Sequence[str]:
    """Returns the first rows of a result with findings; () otherwise."""
    if turn.result is None or not turn.told:
        return ()
    return say("statement_gave"), *result_lines(turn.result, PREVIEW_ROWS)


def step_attempt(reply: Response) -> SqlTurn:
    """Returns the step of a reply: its action, its unchanged statement, and why it
    cannot answer.
    """
    return _turn_of(reply.data if isinstance(reply.data, Mapping) else {}, reply.text)


def step_attempts(reply: Response) -> dict[int, SqlTurn]:
    """Returns the steps of a reply by the number of their question. A question with two steps is
    left out.
    """
    listed = reply.data.get("answers", ()) if isinstance(reply.data, Mapping) else ()
    numbers = [step["question"] for step in listed]
    out = {}
    for step in listed:
        written = {name: value for name, value in step.items() if name != "question" and value}
        if numbers.count(step["question"]) == 1:
            out[step["question"]] = _turn_of(step, json.dumps(written, ensure_ascii=False))
    return out


def _turn_of(data: Mapping[str, Any], written: str) -> SqlTurn:
    action = data.get("action")
    kind: Action = "look" if action == "look" else "cannot" if action == "cannot" else "answer"
    asks: Asks = next((one for one in get_args(Asks) if one == data.get("asks")), "")
    reason = str(data.get("reason") or "") if kind == "cannot" else ""
    sql, meant = statement_in(str(data.get("sql") or "")), str(data.get("meant") or "")
    return SqlTurn(written, sql, kind, error=reason, asks=asks, meant=meant)


async def _no_second_look(
    answer: SqlAnswer, profiles: Sequence[TableProfile], run_sql: RunSql, model: Model
) -> SqlAnswer:
    return answer


_STANDING = SqlWriter(
    shown=_SHOWN,
    request=partial(step_sql_request, standing=True),
    attempt=step_attempt,
    second_look=_no_second_look,
    statements=1,
    repeats=False,
    mends=False,
    several=SeveralAtOnce(
        partial(several_sql_request, standing=True), step_attempts, most=FULL.question_batch
    ),
)
STEPS = replace(
    _STANDING,
    request=step_sql_request,
    mends=True,
    several=SeveralAtOnce(several_sql_request, step_attempts, most=FULL.question_batch),
    standing=_STANDING,
)
"""The writer of a model that takes steps."""
