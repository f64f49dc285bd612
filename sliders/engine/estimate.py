"""The estimate of a question's cost, made without calling a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sliders.answer.sql_writer import SqlQuestion
from sliders.engine.choose_chunks import LONG
from sliders.engine.document_samples import samples
from sliders.engine.fill import ChunkWork, missing_work
from sliders.engine.question_columns import known_need
from sliders.engine.session import Session
from sliders.engine.shared_calls import SharedCalls, in_calls
from sliders.engine.understand import check
from sliders.engine.ways import ways_of
from sliders.extraction.prompt import Asked, chunk_document
from sliders.extraction.second_opinion import STAGE as DOUBT
from sliders.llm.model import Request
from sliders.llm.usage import PriceTable
from sliders.markup import note, table_html
from sliders.progress import counted
from sliders.schema.sample import fitted
from sliders.schema.types import Column, Table

_ASSUMED_COLUMNS, _MOST_ASSUMED = 3, 24
"""The columns of a table whose schema is not known yet, beside one for each question; and the most
of them.
"""
_TOKENS_PER_VALUE = 16
_HINTS_REPLY, _SCHEMA_REPLY, _NEED_REPLY = 12, 150, 50
_ANSWER_REPLY, _SHOWN_COLUMN = 45, 35
"""The tokens of a statement, and those of a column as the prompt for it shows it."""
_GATE_FRAME, _GATE_REPLY = 450, 3
"""The tokens of a gate's prompt beside its parts, and of its reply for each part."""
_PARTS_READ = 6
_DOUBTED = 10
"""The parts of a long document that are usually read."""
_EMBEDDED_PROMPT_SPEED, _EMBEDDED_REPLY_SPEED = 70.0, 28.0
"""Tokens a second of the embedded model on 2 cores."""
_HOSTED_LATENCY, _HOSTED_REPLY_SPEED = 1.0, 60.0
"""The usual seconds of a call, and the usual tokens a second, of a hosted model."""


@dataclass(frozen=True, slots=True)
class StageEstimate:
    """The number of calls and tokens of one stage."""

    stage: str
    calls: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimate of a run: stages, cost in US dollars, and minutes. `assumptions` are lines for
    the user. `unpriced` names models without a known price.
    """

    stages: tuple[StageEstimate, ...]
    cost: float
    minutes: float
    assumptions: tuple[str, ...] = ()
    unpriced: tuple[str, ...] = ()

    @property
    def money(self) -> str:
        """The cost in words; for models without a price it says that no price is known."""
        if not self.unpriced:
            return f"${self.cost:.4f}"
        return f"no price known of {', '.join(self.unpriced)} (SLIDERS_PRICES)"

    @property
    def calls(self) -> int:
        """The calls of all stages."""
        return sum(stage.calls for stage in self.stages)

    @property
    def tokens(self) -> int:
        """The prompt and generated tokens of all stages."""
        return sum(stage.prompt_tokens + stage.completion_tokens for stage in self.stages)

    def __str__(self) -> str:
        lines = [f"{'stage':<10}{'calls':>7}{'prompt tokens':>15}{'generated':>11}"]
        lines += [
            f"{s.stage:<10}{s.calls:>7}{s.prompt_tokens:>15}{s.completion_tokens:>11}"
            for s in self.stages
        ]
        lines.append(
            f"in all {counted(self.calls, 'call')}, {counted(self.tokens, 'token')}, {self.money}, "
            f"{self.minutes:.1f} minutes"
        )
        return "\n".join([*lines, *(f"assumed: {line}" for line in self.assumptions)])

    def _repr_html_(self) -> str:
        rows = [(s.stage, s.calls, s.prompt_tokens, s.completion_tokens) for s in self.stages]
        total = (
            f"in all {counted(self.calls, 'call')}, {counted(self.tokens, 'token')}, {self.money}, "
            f"{self.minutes:.1f} minutes"
        )
        head = ("stage", "calls", "prompt tokens", "generated")
        return table_html(head, rows) + note(
            total, *(f"assumed: {line}" for line in self.assumptions)
        )


def estimate(session: Session, questions: Sequence[str]) -> Estimate:
    """Returns the calls, tokens, money and minutes that `ask_many` would take for these questions.

    Raises:
        PlanError: a question is empty, or there is no document.
    """
    check(session, questions)
    known = {question: known_need(session, question) for question in questions}
    fresh = [question for question, need in known.items() if need is None]
    wanted: dict[str, dict[str, None]] = {}
    for need in filter(None, known.values()):
        for table, columns in need.columns.items():
            wanted.setdefault(table, {}).update(dict.fromkeys(columns))
    work = missing_work(session, {table: list(columns) for table, columns in wanted.items()})
    assumed = min(_MOST_ASSUMED, _ASSUMED_COLUMNS + len(fresh)) if fresh else 0
    work += _assumed_work(session, assumed) if fresh else []
    counts = Counter(item.chunk.document_id for item in work)
    shares = {d: min(1.0, _PARTS_READ / count) for d, count in counts.items() if count > LONG}
    together = ways_of(session.models.model_for("schema")).induction.reads_hints
    read = [q for q, need in known.items() if (need.hints if need else together)]
    unread = [question for question in questions if question not in read]
    extracted = _extraction(session, work, shares)
    stages = (
        _requests(session, "plan", _hint_requests(session, unread), _HINTS_REPLY * len(unread)),
        _requests(
            session,
            "schema",
            _schema_requests(session, fresh),
            _SCHEMA_REPLY + _NEED_REPLY * len(fresh),
        ),
        _gate(session, [item for item in work if item.chunk.document_id in shares]),
        extracted,
        *_doubts(session, extracted),
        _statements(session, questions, assumed + sum(map(len, wanted.values()))),
    )
    prices = PriceTable.load(session.settings.prices)
    cost, minutes = _money_and_time(session, stages, prices)
    names = dict.fromkeys(session.settings.model_name(one.stage) for one in stages if one.calls)
    unpriced = tuple(n for n in names if not session.settings.is_own(n) and not prices.price(n))
    return Estimate(stages, cost, minutes, tuple(_assumptions(session, fresh, shares)), unpriced)


def _statements(session: Session, questions: Sequence[str], columns: int) -> StageEstimate:
    """Returns the estimate of the calls for SQL over tables with that many columns together."""
    model = session.models.model_for("answer")
    writer = ways_of(model).sql
    if writer.several is None:
        requests = [writer.request(question, ()) for question in questions] * writer.statements
    else:
        asked, most = [SqlQuestion(question) for question in questions], writer.several.most
        batches = (asked[at : at + most] for at in range(0, len(asked), most))
        requests = [writer.several.request(batch, ()) for batch in batches]
    sent = _requests(session, "answer", requests, 0)
    prompt = sent.prompt_tokens + _SHOWN_COLUMN * columns * sent.calls
    reply = _ANSWER_REPLY * len(questions) * writer.statements
    return StageEstimate("answer", sent.calls, prompt, reply)


def _assumptions(session: Session, fresh: Collection[str], gated: Collection[str]) -> Iterator[str]:
    """Yields the assumptions of the estimate, in words: about new questions, and about chunks that
    pass the gate.
    """
    if fresh:
        yield (
            f"{min(_MOST_ASSUMED, _ASSUMED_COLUMNS + len(fresh))} columns that no chunk was asked "
            "for yet, for questions that are new here"
        )
    if gated:
        yield f"{_PARTS_READ} chunks of each longer document pass the gate"
    if session.models.second is not None:
        name = session.settings.model_name(DOUBT)
        yield f"one value of {_DOUBTED} is doubtful, and {name} is asked about it"
    yield (
        "no statement that is asked for again, no schema that is corrected, and no conflicts "
        "that the model must settle"
    )
    if session.settings.is_local:
        yield "the embedded model reads 70 and writes 28 tokens a second"
    else:
        yield "a call takes a second and 60 generated tokens another"


def _hint_requests(session: Session, questions: Sequence[str]) -> list[Request]:
    """Returns the requests that read the hints of all questions, without those that the cache
    answers.
    """
    model = session.models.model_for("plan")
    requests = ways_of(model).hints.requests(questions) if questions else []
    return [request for request in requests if model.known(request) is None]


def _schema_requests(session: Session, questions: Sequence[str]) -> list[Request]:
    """Returns the schema requests of new questions, without those that the cache answers."""
    model = session.models.model_for("schema")
    shown = fitted(samples(session, questions), model)
    requests = ways_of(model).induction.requests(questions, shown, session.schema, model.dialect)
    return [request for request in requests if model.known(request) is None]


def _assumed_work(session: Session, number: int) -> list[ChunkWork]:
    """Returns every chunk, asked for `number` unknown columns of a table with one row for each
    document.
    """
    columns = tuple(Column(f"assumed_{n}") for n in range(number))
    asked = Asked(Table("assumed", columns, row="assumed", grain="document"), columns)
    chunks = (c for d in session.catalog.documents.all() for c in session.catalog.chunks.of(d.id))
    return [ChunkWork(chunk, (asked,)) for chunk in chunks]


def _requests(
    session: Session, stage: str, requests: Sequence[Request], reply: int
) -> StageEstimate:
    count = session.models.model_for(stage).count_tokens
    prompt = sum(count(message.content) for request in requests for message in request.messages)
    return StageEstimate(stage, len(requests), prompt, reply * len(requests))


def _gate(session: Session, work: Sequence[ChunkWork]) -> StageEstimate:
    """Returns the estimate of the gate over the chunks of long documents."""
    gate = ways_of(session.models.model_for("gate")).gate
    counts = Counter(item.chunk.document_id for item in work)
    calls = sum(-(-min(count, gate.most) // gate.at_once) for count in counts.values())
    prompt = calls * _GATE_FRAME + sum(gate.seen(item.chunk.tokens) for item in work)
    return StageEstimate("gate", calls, prompt, _GATE_REPLY * len(work))


def _extraction(
    session: Session, work: Sequence[ChunkWork], shares: Mapping[str, float]
) -> StageEstimate:
    model = session.models.model_for("extract")
    reader = ways_of(model).reader
    calls, prompt, reply = 0.0, 0.0, 0.0
    for items, one in _calls(session, work):
        item = items[0]
        share = shares.get(item.chunk.document_id, 1.0)
        texts = [chunk_document(each.chunk) for each in items]
        requests = reader.requests(texts, item.asked, one * len(items))
        calls += share * len(requests)
        prompt += share * sum(
            model.count_tokens(message.content)
            for request in requests
            for message in request.messages
        )
        usual = one or _TOKENS_PER_VALUE * sum(len(asked.columns) for asked in item.asked)
        reply += share * usual * len(items)
    return StageEstimate("extract", round(calls), round(prompt), round(reply))


def _doubts(session: Session, read: StageEstimate) -> list[StageEstimate]:
    """Returns the estimate of the second model's calls, when there is one."""
    if session.models.second is None:
        return []
    calls = -(-read.calls // _DOUBTED)
    tokens = (part // _DOUBTED for part in (read.prompt_tokens, read.completion_tokens))
    return [StageEstimate(DOUBT, calls, *tokens)]


def _calls(
    session: Session, work: Sequence[ChunkWork]
) -> Iterator[tuple[Sequence[ChunkWork], int]]:
    """Yields the chunks that a call reads, and the usual tokens of the reply about one of them; 0
    when nothing is known.
    """
    alike: dict[tuple[Asked, ...], list[ChunkWork]] = {}
    for item in work:
        alike.setdefault(item.asked, []).append(item)
    model = session.models.model_for("extract")
    places = session.catalog.chunks.places()
    for asked, items in alike.items():
        of: dict[str, list[ChunkWork]] = {}
        for item in items:
            of.setdefault(item.chunk.document_id, []).append(item)
        shared = SharedCalls(session, places, of)
        one = shared.reply_of_one(asked)
        for ids in shared.groups(of, one):
            group = [item for document_id in ids for item in of[document_id]]
            if len(ids) == 1:
                yield from (([item], 0) for item in group)
                continue
            for size in in_calls([item.chunk.text for item in group], asked, model, one):
                yield group[:size], one
                del group[:size]


def _money_and_time(
    session: Session, stages: Sequence[StageEstimate], prices: PriceTable
) -> tuple[float, float]:
    cost = seconds = 0.0
    for stage in stages:
        name = session.settings.model_name(stage.stage)
        cost += prices.cost(name, stage.prompt_tokens, stage.completion_tokens)
        if session.settings.is_own(name):
            seconds += (
                stage.prompt_tokens / _EMBEDDED_PROMPT_SPEED
                + stage.completion_tokens / _EMBEDDED_REPLY_SPEED
            )
        else:
            parallel = max(1, min(session.settings.concurrency, stage.calls))
            alone = stage.calls * _HOSTED_LATENCY + stage.completion_tokens / _HOSTED_REPLY_SPEED
            seconds += alone / parallel
    return cost, seconds / 60
