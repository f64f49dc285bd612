"""From questions and samples of documents to the tables that would answer them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sliders.errors import CallFailed
from sliders.llm.dialect import Dialect
from sliders.llm.model import Message, Model, Request, Response
from sliders.llm.prompts import load_prompt
from sliders.schema.critique import Issue, criticize
from sliders.schema.extend import Embed
from sliders.schema.proposal import SchemaReply, proposal_of
from sliders.schema.proposed import (
    Induced,
    Proposed,
    RowsTold,
    in_batches,
    merged,
    pinned_need,
    with_proposal,
)
from sliders.schema.sample import Sample, fitted
from sliders.schema.types import Grain, Schema, Table

_REPLY_TOKENS = 8000


class InduceSchema(Protocol):
    """Asks which tables questions need, as `induce_schema` does."""

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
    ) -> Induced:
        """The schema after these questions, and what each of them needs of it.

        Args:
            samples: beginnings of documents of different kinds; as many and as long as the
                model's dialect takes are shown.
            grain: what the documents' structure says about rows per document; None where it does
                not say.
            rows_told: lists rows of some documents.
            progress: called with the number of questions that are through.

        Raises ModelError: the model gave no usable proposal.
        """
        ...


@dataclass(frozen=True, slots=True)
class Induction:
    """How a model is asked for tables: `induce` asks, `requests` are the calls that it makes where
    nothing is corrected, `prompts` the names of all prompts that lead to a schema.
    """

    induce: InduceSchema
    requests: Callable[[Sequence[str], Sequence[Sample], Schema, Dialect], list[Request]]
    prompts: tuple[str, ...]

    def hash(self, dialect: Dialect) -> str:
        """What all prompts hash to: with another one of them, what a question needs is found
        anew.
        """
        hashes = (load_prompt(f"schema/{name}", dialect).hash for name in self.prompts)
        return hashlib.sha256("".join(hashes).encode()).hexdigest()


def induction_prompt(
    questions: Sequence[str], samples: Sequence[Sample], schema: Schema, dialect: Dialect
) -> Request:
    """The request for the tables that these questions need beside those that stand."""
    prompt, guidelines = (
        load_prompt("schema/induce", dialect),
        load_prompt("schema/guidelines", dialect),
    )
    return Request(
        stage="schema",
        messages=prompt.render(
            samples=list(samples),
            questions=list(questions),
            standing=[_told(table) for table in schema.tables],
            guidelines=guidelines.system.content,
        ),
        prompt_hash=hashlib.sha256(f"{prompt.hash}{guidelines.hash}".encode()).hexdigest(),
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
    """Ask which tables the questions need, have faults corrected once, and merge the
    reply into what stands; see `InduceSchema`.

    Args:
        grain: not used: the model says of each table how many rows a document has.
        rows_told: not used.
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
    """The calls for these questions, in batches as the dialect takes them."""
    size = dialect.question_batch
    batches = [questions[at : at + size] for at in range(0, len(questions), size)]
    return [induction_prompt(batch, samples, schema, dialect) for batch in batches]


TABLES = Induction(induce_schema, induction_requests, ("induce", "guidelines", "again"))
"""A model that is asked for the tables of many questions at once."""


async def _proposed(
    batch: Sequence[str], samples: Sequence[Sample], schema: Schema, model: Model
) -> Proposed:
    """The model's proposal after at most one correction."""
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
    """The proposal of a reply with its faults."""
    proposal = proposal_of(reply.data)
    faults = criticize(proposal.tables, proposal.needs, proposal.uncovered, batch, standing)
    return Proposed(batch, proposal, faults, reply.usage.tokens)


def _again(request: Request, reply: Response, issues: Sequence[Issue], dialect: Dialect) -> Request:
    """The same request with the reply and its faults."""
    prompt = load_prompt("schema/again", dialect)
    said = Message("assistant", reply.text)
    return replace(request, messages=(*request.messages, said, *prompt.render(issues=list(issues))))


def _told(table: Table) -> str:
    """A standing table in one paragraph for the prompt."""
    columns = "; ".join(f"{c.name} ({c.type.value}) {c.description}".strip() for c in table.columns)
    fixed = ", fixed" if table.pinned else ""
    return f"{table.name} (one row: {table.row or 'not said'}{fixed}): {columns}"
