"""The ways in which a model writes SQL: the protocols, and the way of large models (the full
dialect), which take steps. A step is a statement that answers, a look-up, or a reason why there is
no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from sliders.answer.finding import Kind
from sliders.answer.profile import TableProfile
from sliders.answer.result import SqlAnswer
from sliders.answer.sql_prompt import Shown, Turn, on_one_line, result_lines, shown_values
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


class SecondLook(Protocol):
    """Compares the answer with a second source, and adds doubts to it."""

    async def __call__(
        self, answer: SqlAnswer, profiles: Sequence[TableProfile], run_sql: RunSql, model: Model
    ) -> SqlAnswer: ...


@dataclass(frozen=True, slots=True)
class SqlWriter:
    """A way in which a model writes SQL.

    Args:
        shown: how much of the tables it sees.
        request: makes the request for the next turn.
        attempt: reads a reply.
        second_look: runs after the answer.
        statements: the least number of statements that are asked for.
        repeats: the model tends to repeat a statement without regard to findings. The same
            statement over a value that no row has is asked for once more, and a count of 0 is not
            believed.
    """

    shown: Shown
    request: SqlRequest
    attempt: Callable[[Response], SqlTurn]
    second_look: SecondLook
    statements: int
    repeats: bool


class SqlStep(LenientReply):
    """One turn of the model in the full dialect."""

    action: Literal["answer", "look", "cannot"]
    asks: str = ""
    meant: str = ""
    sql: str = ""
    reason: str = ""


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
) -> Request:
    """Returns the request for the next step: tables, question, and the steps so far with the
    sentences that were sent back. `draft` is not used.
    """
    prompt, again = load_prompt("answer/write_sql", FULL), load_prompt("answer/refine_sql", FULL)
    messages = prompt.render(**shown_values(question, profiles, _SHOWN, uncovered))
    for turn in turns:
        said = again.render(
            told=list(map(on_one_line, (*_preview(turn), *turn.told))),
            question=question,
            looked=turn.attempt.action == "look",
            last=last and turn is turns[-1],
        )
        messages = (*messages, Message("assistant", turn.attempt.written), *said)
    return Request(
        "answer",
        messages,
        joined_hash(prompt, again, say),
        max_tokens=_SHOWN.max_tokens,
        temperature=temperature,
        reply=SqlStep,
    )


def _preview(turn: Turn) -> Sequence[str]:
    """Returns the first rows of a result with findings; () otherwise."""
    if turn.result is None or not turn.told:
        return ()
    return say("statement_gave"), *result_lines(turn.result, PREVIEW_ROWS)


def step_attempt(reply: Response) -> SqlTurn:
    """Returns the step of a reply: its action, its unchanged statement, and why it
    cannot answer.
    """
    data = reply.data if isinstance(reply.data, Mapping) else {}
    action = data.get("action")
    kind: Action = "look" if action == "look" else "cannot" if action == "cannot" else "answer"
    asks: Asks = next((one for one in get_args(Asks) if one == data.get("asks")), "")
    reason = str(data.get("reason") or "") if kind == "cannot" else ""
    sql, meant = statement_in(str(data.get("sql") or "")), str(data.get("meant") or "")
    return SqlTurn(reply.text, sql, kind, error=reason, asks=asks, meant=meant)


async def _no_second_look(
    answer: SqlAnswer, profiles: Sequence[TableProfile], run_sql: RunSql, model: Model
) -> SqlAnswer:
    return answer


STEPS = SqlWriter(
    shown=_SHOWN,
    request=step_sql_request,
    attempt=step_attempt,
    second_look=_no_second_look,
    statements=1,
    repeats=False,
)
"""The way of a model that takes steps."""
