"""From questions and samples of documents to tables that would answer the questions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sliders.errors import CallFailed, ModelError, TruncatedReply
from sliders.llm.dialect import Dialect
from sliders.llm.model import Message, Model, Request, Response
from sliders.llm.prompts import joined_hash, load_prompt
from sliders.schema.critique import Issue, criticize
from sliders.schema.extend import Embed, merge_table
from sliders.schema.hint_replies import hints_told
from sliders.schema.hints import Hints
from sliders.schema.proposal import Proposal, SchemaReply, proposal_of, with_safe_names
from sliders.schema.sample import Sample, fitted
from sliders.schema.types import Grain, Schema, Table

_REPLY_TOKENS = 8000
_UNSAID = "what it asks for"
RowsTold = Callable[[Sequence[Table]], Awaitable[Sequence[Sequence[Collection[str]]]]]
"""The names of the rows that some documents list: for each table, a set of names for each
document.
"""


@dataclass(frozen=True, slots=True)
class Induced:
    """The schema after some questions, and the columns that each of them needs.

    `needs` maps a question to names "table.column", `uncovered` a question to the part that no
    column holds; `issues` are the faults that stayed after the model was asked again, `tokens` the
    tokens of the calls, `drafts` the SQL that the model drafted for a question (compact dialect),
    `hints` the hints of questions that were read in the same call.
    """

    schema: Schema
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    uncovered: Mapping[str, str] = field(default_factory=dict)
    issues: tuple[Issue, ...] = ()
    tokens: int = 0
    drafts: Mapping[str, str] = field(default_factory=dict)
    hints: Mapping[str, Hints] = field(default_factory=dict)


class InduceSchema(Protocol):
    """Asks a model for the tables of some questions, and returns the new schema with the columns
    that each question needs.

    `samples` are beginnings of documents of different kinds; the model's dialect limits their
    number and length. `grain` is the number of rows per document by the documents' structure, None
    for unknown; `rows_told` lists rows of some documents. `progress` is called with the number of
    questions that are done. Raises ModelError: the model gave no usable proposal.
    """

    async def __call__(
        self,
        questions: Sequence[str],
        samples: Sequence[Sample],
        schema: Schema,
        model: Model,
        embed: Embed,
        *,
        grain: Grain | None = None,
        rows_told: RowsTold | None = None,
        progress: Callable[[int], None] = ...,
    ) -> Induced: ...


@dataclass(frozen=True, slots=True)
class Induction:
    """The functions by which a model is asked for tables: `induce` asks, `requests` returns its
    calls when nothing is corrected, `prompts` are the names of all prompts that lead to a schema;
    `reads_hints` is True when the same calls read the hints of the questions.
    """

    induce: InduceSchema
    requests: Callable[[Sequence[str], Sequence[Sample], Schema, Dialect], list[Request]]
    prompts: tuple[str, ...]
    reads_hints: bool = False

    def hash(self, dialect: Dialect) -> str:
        """A hash of all these prompts; when a prompt changes, the columns of questions are planned
        again.
        """
        return joined_hash(*(load_prompt(f"schema/{name}", dialect) for name in self.prompts))


def induction_prompt(
    questions: Sequence[str], samples: Sequence[Sample], schema: Schema, dialect: Dialect
) -> Request:
    """Returns the request for the tables that these questions need beside the current ones."""
    prompt, guidelines, advice = (
        load_prompt("schema/induce", dialect),
        load_prompt("schema/guidelines", dialect),
        load_prompt("schema/advice", dialect),
    )
    return Request(
        stage="schema",
        messages=prompt.render(
            samples=list(samples),
            questions=list(questions),
            standing=[_told(table) for table in schema.tables],
            guidelines=guidelines.system.content,
            advice=advice.system.content,
        ),
        prompt_hash=joined_hash(prompt, guidelines, advice),
        reply=SchemaReply,
        max_tokens=_REPLY_TOKENS,
    )


async def induce_schema(
    questions: Sequence[str],
    samples: Sequence[Sample],
    schema: Schema,
    model: Model,
    embed: Embed,
    *,
    grain: Grain | None = None,
    rows_told: RowsTold | None = None,
    progress: Callable[[int], None] = lambda _done: None,
) -> Induced:
    """Asks for the tables that the questions need, has faults corrected once, and merges the reply
    into the schema; see `InduceSchema`. The number of rows per document is the model's; `grain` and
    `rows_told` are not used.
    """
    if (known := pinned_need(questions, schema)) is not None:
        return known
    shown = fitted(samples, model)

    async def propose(batch: Sequence[str], standing: Schema) -> Proposed:
        return await _proposed(batch, shown, standing, model)

    def take(found: Induced, one: Proposed) -> Induced:
        return with_proposal(found, one, *merged(found.schema, one.proposal, embed, near=False))

    size = model.dialect.question_batch
    return await in_batches(questions, size, Induced(schema), propose, take, progress)


def induction_requests(
    questions: Sequence[str], samples: Sequence[Sample], schema: Schema, dialect: Dialect
) -> list[Request]:
    """Returns the calls for these questions, in batches of the dialect's size."""
    size = dialect.question_batch
    batches = [questions[at : at + size] for at in range(0, len(questions), size)]
    return [induction_prompt(batch, samples, schema, dialect) for batch in batches]


TABLES = Induction(
    induce_schema, induction_requests, ("induce", "guidelines", "advice", "again"), reads_hints=True
)
"""The induction of a model that is asked for the tables of many questions at once."""


async def _proposed(
    batch: Sequence[str], samples: Sequence[Sample], schema: Schema, model: Model
) -> Proposed:
    """Returns the model's proposal after at most one correction."""
    request = induction_prompt(batch, samples, schema, model.dialect)
    reply = await model.generate(request)
    first = _read(reply, batch, schema)
    if not first.issues:
        return first
    correction = _again(request, reply, first.issues, model.dialect)
    try:
        second = _read(await model.generate(correction), batch, schema)
    except CallFailed:
        return first
    better = min((second, first), key=lambda one: len(one.issues))
    return replace(better, tokens=first.tokens + second.tokens)


def _read(reply: Response, batch: Sequence[str], standing: Schema) -> Proposed:
    """Returns the proposal in a reply, with its faults."""
    proposal = proposal_of(reply.data)
    said = proposal.uncovered | dict.fromkeys(proposal.no_question, "nothing is asked")
    faults = criticize(proposal.tables, proposal.needs, said, batch, standing)
    return Proposed(batch, proposal, faults, reply.usage.tokens)


def _again(request: Request, reply: Response, issues: Sequence[Issue], dialect: Dialect) -> Request:
    """The same request with the reply and its faults."""
    prompt = load_prompt("schema/again", dialect)
    said = Message("assistant", reply.text)
    return replace(request, messages=(*request.messages, said, *prompt.render(issues=list(issues))))


def _told(table: Table) -> str:
    """A current table in one paragraph for the prompt."""
    columns = "; ".join(f"{c.name} ({c.type.value}) {c.description}".strip() for c in table.columns)
    fixed = ", fixed" if table.pinned else ""
    return f"{table.name} (one row: {table.row or 'not said'}{fixed}): {columns}"


@dataclass(frozen=True, slots=True)
class Proposed:
    """The model's proposal for a batch of questions, the faults that it still has, and the tokens
    spent.
    """

    batch: Sequence[str]
    proposal: Proposal
    issues: tuple[Issue, ...]
    tokens: int


def pinned_whole(schema: Schema) -> bool:
    """Says whether the user gave the columns of every table that is read from documents."""
    read = [table for table in schema.tables if not table.given]
    return bool(read) and all(table.pinned for table in read)


def pinned_need(questions: Sequence[str], schema: Schema) -> Induced | None:
    """Returns all columns for each question, if the user gave every table; else None."""
    if not pinned_whole(schema):
        return None
    every = tuple(f"{t.name}.{column}" for t in schema.tables for column in t.column_names)
    return Induced(schema, dict.fromkeys(questions, every))


async def in_batches(
    questions: Sequence[str],
    size: int,
    found: Induced,
    propose: Callable[[Sequence[str], Schema], Awaitable[Proposed]],
    take: Callable[[Induced, Proposed], Induced],
    progress: Callable[[int], None],
) -> Induced:
    """Returns the schema after the proposals for all questions: `propose` asks for the tables of a
    batch of `size` questions, `take` adds them to the result so far.

    Raises ModelError: the model gave no usable proposal.
    """
    errors = list[ModelError]()
    todo = [questions[start : start + size] for start in range(0, len(questions), size)]
    while todo:
        batch = todo.pop(0)
        try:
            found = take(found, await propose(batch, found.schema))
        except CallFailed as error:
            if isinstance(error, TruncatedReply) and len(batch) > 1:
                todo[:0] = [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
                continue
            errors.append(error)
            found = _failed(found, batch, error)
        progress(len(questions) - sum(map(len, todo)))
    if errors and not found.schema.tables:
        raise errors[0]
    return found


def _failed(found: Induced, batch: Sequence[str], error: ModelError) -> Induced:
    """Returns the schema unchanged, with the batch's questions as not covered."""
    needs, uncovered = (
        {**found.needs, **dict.fromkeys(batch, ())},
        {**found.uncovered, **dict.fromkeys(batch, _UNSAID)},
    )
    return replace(
        found, needs=needs, uncovered=uncovered, issues=(*found.issues, Issue("schema", str(error)))
    )


def with_proposal(
    found: Induced, one: Proposed, schema: Schema, names: Mapping[str, str]
) -> Induced:
    """Returns the result with the columns that the questions of a proposal need; `names` maps the
    proposal's "table.column" to the schema's.
    """
    needs, uncovered, hints = dict(found.needs), dict(found.uncovered), dict(found.hints)
    for number, question in enumerate(one.batch, 1):
        asked = one.proposal.needs.get(number, ())
        needs[question] = tuple(dict.fromkeys(names[name] for name in asked if name in names))
        missing = [name for name in asked if name not in names]
        said = one.proposal.uncovered
        what = [said[number]] if number in said else []
        what += missing or ([_UNSAID] if not asked and not what else [])
        if what:
            uncovered[question] = "; ".join(what)
        if one.proposal.hints is not None:
            told = hints_told(question, one.proposal.hints.get(number))
            idle = number in one.proposal.no_question
            hints[question] = replace(told, kind="no question") if idle else told
    issues, tokens = (*found.issues, *one.issues), found.tokens + one.tokens
    return Induced(schema, needs, uncovered, issues, tokens, found.drafts, hints)


def merged(
    schema: Schema, proposal: Proposal, embed: Embed, *, near: bool
) -> tuple[Schema, dict[str, str]]:
    """Returns the schema with the proposed tables in it, and the schema's name for each
    "table.column" of the proposal.

    With `near`, for models that make a table for each question, a proposal of many rows may match a
    table of another name. Otherwise it may not, since embeddings mislead: "imports" lie near
    "exports" (cosine .74), "arrivals" nearer to "departures" (.85).
    """
    standing = schema
    tables, safe = with_safe_names(proposal.tables, [table.name for table in schema.tables])
    places = {f"{t.name}.{c}": f"{t.name}.{c}" for t in standing.tables for c in t.column_names}
    names = dict(places)
    free, homes = list(standing.tables), dict[str, Table]()
    for table in tables:
        others = {other.name for other in tables if other is not table}
        alike = [t for t in free if near or t.grain == "document" or t.name == table.name]
        rivals = Schema(tuple(t for t in alike if t.name not in others))
        merged = merge_table(schema, table, embed, rivals=rivals)
        schema, free = merged.schema, [t for t in free if t.name != merged.table.name]
        places |= {
            f"{table.name}.{old}": f"{merged.table.name}.{new}"
            for old, new in merged.places.items()
        }
        homes[table.name] = merged.table
    names |= {written: places[plain] for written, plain in safe.items() if plain in places}
    for written, plain in zip(
        (t.name for t in proposal.tables if t.columns), homes.values(), strict=True
    ):
        names = {
            f"{written}.{c}": f"{plain.name}.{c}" for c in plain.column_names
        } | names  # also the names from before
    return schema, names
