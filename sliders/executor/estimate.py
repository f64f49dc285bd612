"""What a question would cost, said before anything is asked (contract 10). No model is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sliders.executor.asking import check
from sliders.executor.fill import Work, missing_work
from sliders.executor.needs import known_needs
from sliders.executor.sampling import grain_of, samples
from sliders.executor.session import Session
from sliders.extraction.request import chunk_document, record_prompt, rows_prompt
from sliders.llm.model import Request
from sliders.llm.usage import PriceTable
from sliders.schema.induction import induction_prompt
from sliders.schema.types import Column, Schema, Table

_ASSUMED_COLUMNS = 4
"""Columns of a question whose schema is not known yet."""
_TOKENS_PER_VALUE = 16
_SCHEMA_REPLY = 200
_ANSWER_CALLS, _ANSWER_PROMPT, _ANSWER_REPLY = 1, 600, 60
_GATE_PROMPT, _GATE_REPLY, _GATE_PASSES = 90, 6, 0.6
_EMBEDDED_PROMPT_SPEED, _EMBEDDED_REPLY_SPEED = 70.0, 28.0
"""Tokens a second of the embedded model on 2 cores."""
_HOSTED_LATENCY, _HOSTED_REPLY_SPEED = 1.0, 60.0
"""Seconds a call and tokens a second that a hosted model usually keeps."""


@dataclass(frozen=True, slots=True)
class StageEstimate:
    """Calls and tokens that one stage would take."""

    stage: str
    calls: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would take: by stage, and in US dollars and minutes. `assumptions` are lines for the user."""

    stages: tuple[StageEstimate, ...]
    cost: float
    minutes: float
    assumptions: tuple[str, ...] = ()

    @property
    def calls(self) -> int:
        """Calls of all stages."""
        return sum(stage.calls for stage in self.stages)

    @property
    def tokens(self) -> int:
        """Prompt and generated tokens of all stages."""
        return sum(stage.prompt_tokens + stage.completion_tokens for stage in self.stages)

    def __str__(self) -> str:
        lines = [f"{'stage':<10}{'calls':>7}{'prompt tokens':>15}{'generated':>11}"]
        lines += [
            f"{s.stage:<10}{s.calls:>7}{s.prompt_tokens:>15}{s.completion_tokens:>11}" for s in self.stages
        ]
        lines.append(f"in all {self.calls} calls, {self.tokens} tokens, ${self.cost:.4f}, {self.minutes:.1f} minutes")
        return "\n".join([*lines, *(f"assumed: {line}" for line in self.assumptions)])


def estimate(session: Session, questions: Sequence[str]) -> Estimate:
    """Calls, tokens, money and minutes that `ask_many` would take for these questions in this workspace.

    Raises:
        PlanError: a question is empty, or there is no document.
    """
    check(session, questions)
    schema = session.catalog.schemas.current() or Schema()
    assumptions: list[str] = []
    schema_calls: list[Request] = []
    wanted: dict[str, tuple[Table, list[str]]] = {}
    for question in questions:
        table, columns = _needs(session, question, schema, schema_calls, assumptions)
        known = wanted.setdefault(table.name, (table, []))[1]
        known.extend(name for name in columns if name not in known)
    stages = [_requests(session, "schema", schema_calls, _SCHEMA_REPLY)]
    work = {name: _units(session, table, columns) for name, (table, columns) in wanted.items()}
    stages += [_gate(session, [unit for units in work.values() for unit in units], assumptions)]
    stages += [_extraction(session, [(wanted[name][0], units) for name, units in work.items()])]
    stages += [
        StageEstimate("answer", _ANSWER_CALLS * len(questions), _ANSWER_PROMPT * len(questions),
                      _ANSWER_REPLY * len(questions))
    ]
    assumptions.append("one SQL statement a question, and no conflicts that the model must settle")
    cost, minutes = _money_and_time(session, stages, assumptions)
    return Estimate(tuple(stages), cost, minutes, tuple(dict.fromkeys(assumptions)))


def _needs(
    session: Session, question: str, schema: Schema, calls: list[Request], assumptions: list[str]
) -> tuple[Table, tuple[str, ...]]:
    """The table and columns that a question needs: known when its schema was induced before, assumed otherwise."""
    if schema.tables and all(table.pinned for table in schema.tables):
        return schema.tables[0], schema.tables[0].column_names
    known = known_needs(session, question)
    if known is not None:
        return known
    texts, grain = samples(session, question), grain_of(session)
    request = induction_prompt(question, texts, schema)
    if session.models.model_for("schema").known(request) is None:
        calls.append(request)
    assumptions.append(f"{_ASSUMED_COLUMNS} columns that no chunk was asked for yet, for a question that is new here")
    columns = tuple(Column(f"assumed_{number}") for number in range(_ASSUMED_COLUMNS))
    return Table("assumed", columns, row="assumed", grain=grain or "document"), tuple(c.name for c in columns)


def _units(session: Session, table: Table, columns: Sequence[str]) -> list[Work]:
    """The missing work, without what pruning drops of long documents (two chunks a column are kept, and the ends)."""
    work = missing_work(session, table, columns)
    if table.grain != "document":
        return work
    most = 2 * len(columns) + 2
    taken: dict[str, int] = {}
    kept = []
    for item in work:
        taken[item.chunk.document_id] = taken.get(item.chunk.document_id, 0) + 1
        if taken[item.chunk.document_id] <= max(most, 4):
            kept.append(item)
    return kept


def _requests(session: Session, stage: str, requests: Sequence[Request], reply: int) -> StageEstimate:
    count = session.models.model_for(stage).count_tokens
    prompt = sum(count(message.content) for request in requests for message in request.messages)
    return StageEstimate(stage, len(requests), prompt, reply * len(requests))


def _gate(session: Session, work: Sequence[Work], assumptions: list[str]) -> StageEstimate:
    gated = [item for item in work if not item.sole]
    if gated:
        assumptions.append(f"{_GATE_PASSES:.0%} of the chunks of longer documents pass the gate")
    prompt = sum(item.chunk.tokens + _GATE_PROMPT for item in gated)
    return StageEstimate("gate", len(gated), prompt, _GATE_REPLY * len(gated))


def _extraction(session: Session, work: Sequence[tuple[Table, Sequence[Work]]]) -> StageEstimate:
    model = session.models.model_for("extract")
    calls, prompt, reply = 0.0, 0.0, 0.0
    for table, items in work:
        for item in items:
            share = 1.0 if item.sole else _GATE_PASSES
            text = chunk_document(item.chunk)
            request = (
                record_prompt(text, table, item.columns)
                if table.grain == "document"
                else rows_prompt(text, item.chunk.tokens, table, item.columns)
            )
            calls += share
            prompt += share * sum(model.count_tokens(message.content) for message in request.messages)
            reply += share * _TOKENS_PER_VALUE * len(item.columns)
    return StageEstimate("extract", round(calls), round(prompt), round(reply))


def _money_and_time(session: Session, stages: Sequence[StageEstimate], assumptions: list[str]) -> tuple[float, float]:
    prices = PriceTable.load(session.settings.prices)
    cost = seconds = 0.0
    for stage in stages:
        name = session.settings.model_name(stage.stage)
        cost += prices.cost(name, stage.prompt_tokens, stage.completion_tokens)
        if session.settings.base_url is None and name == "local":
            seconds += stage.prompt_tokens / _EMBEDDED_PROMPT_SPEED + stage.completion_tokens / _EMBEDDED_REPLY_SPEED
        else:
            parallel = max(1, min(session.settings.concurrency, stage.calls))
            alone = stage.calls * _HOSTED_LATENCY + stage.completion_tokens / _HOSTED_REPLY_SPEED
            seconds += alone / parallel
    assumptions.append(
        "the embedded model reads 70 and writes 28 tokens a second" if session.settings.is_local
        else "a call takes a second and 60 generated tokens another"
    )
    return cost, seconds / 60
