"""From questions and samples of documents to the tables that would answer them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sliders.errors import CallFailed, ModelError, TruncatedReply
from sliders.llm.dialect import Dialect
from sliders.llm.model import Message, Model, Request, Response
from sliders.llm.prompts import load_prompt
from sliders.schema import draft
from sliders.schema.critique import Issue, criticize
from sliders.schema.extend import Embed, merge_table
from sliders.schema.grain import Kind, RowsTold, kinds, row_noun, with_naming
from sliders.schema.proposal import Proposal, SchemaReply, proposal_of, with_safe_names
from sliders.schema.sample import Sample, fitted
from sliders.schema.types import Grain, Schema, Table

_REPLY_TOKENS = 8000
_UNSAID = "no column was proposed for it"


@dataclass(frozen=True, slots=True)
class Induced:
    """The schema after some questions, and what each of them needs of it.

    `needs` maps a question to names "table.column", `uncovered` a question to what it asks
    for that no column holds; `issues` are the faults that stayed after the model was asked
    again, `tokens` what the calls took, `drafts` the statement by question that the model
    drafted (compact dialect).
    """

    schema: Schema
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    uncovered: Mapping[str, str] = field(default_factory=dict)
    issues: tuple[Issue, ...] = ()
    tokens: int = 0
    drafts: Mapping[str, str] = field(default_factory=dict)


def induction_prompt(
    questions: Sequence[str],
    samples: Sequence[Sample],
    schema: Schema,
    dialect: Dialect,
    row: str = "",
) -> Request:
    """The request for the tables that these questions need beside those that stand.

    In the compact dialect it is about the first question alone, and `row` is what one row is for
    all that are asked together.
    """
    if dialect.name == "compact":
        return draft.induction_prompt(questions[0], samples, schema, dialect, row)
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


def induction_hash(dialect: Dialect) -> str:
    """What all prompts that lead to a schema hash to: with another one of them, what a question
    needs is found anew.
    """
    names = (
        ("induce", "row", "facts", "kind")
        if dialect.name == "compact"
        else ("induce", "guidelines", "again")
    )
    return hashlib.sha256(
        "".join(load_prompt(f"schema/{name}", dialect).hash for name in names).encode()
    ).hexdigest()


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
    reply into what stands.

    Args:
        samples: beginnings of documents of different kinds; as many and as long as the model's
            dialect takes are shown.
        grain: what the documents' structure says about rows per document, for the compact dialect;
            None lets the model say.
        rows_told: lists rows of some documents, so that a small model's word on the
            grain is seen to hold.
        progress: called with the number of questions that are through.

    Raises ModelError: the model gave no usable proposal.
    """
    if schema.tables and all(table.pinned for table in schema.tables):
        every = tuple(
            f"{table.name}.{column}" for table in schema.tables for column in table.column_names
        )
        return Induced(schema, dict.fromkeys(questions, every))
    shown, size = fitted(samples, model), model.dialect.question_batch
    row, tokens = (
        await draft.row_of(questions, model) if model.dialect.name == "compact" else ("", 0)
    )
    found, errors, proposed = Induced(schema, tokens=tokens), list[ModelError](), list[_Proposed]()
    todo = [questions[start : start + size] for start in range(0, len(questions), size)]
    while todo:
        batch = todo.pop(0)
        try:
            proposed.append(await _proposed(batch, shown, found.schema, model, grain, row))
            found = _with_batch(found, proposed[-1], embed, model, grain)
        except CallFailed as error:
            if isinstance(error, TruncatedReply) and len(batch) > 1:
                todo[:0] = [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
                continue
            errors.append(error)
            found = _failed(found, batch, error)
        progress(len(questions) - sum(map(len, todo)))
    if errors and not found.schema.tables:
        raise errors[0]
    if rows_told is not None and grain is None and model.dialect.name == "compact":
        found = await _regrained(found, schema, proposed, embed, model, rows_told)
    return found


@dataclass(frozen=True, slots=True)
class _Proposed:
    """What the model proposed for a batch of questions, the faults that it still has,
    and the tokens spent.
    """

    batch: Sequence[str]
    proposal: Proposal
    issues: tuple[Issue, ...]
    tokens: int


async def _regrained(
    found: Induced,
    standing: Schema,
    proposed: Sequence[_Proposed],
    embed: Embed,
    model: Model,
    rows_told: RowsTold,
) -> Induced:
    """All proposals merged anew with the kinds of rows that the documents show;
    rows of which a document has many are named.
    """
    new = [
        t
        for p in proposed
        for t in p.proposal.tables
        if t.name not in {s.name for s in standing.tables}
    ]
    seen = await kinds(new, rows_told)
    failed = set(found.needs) - {question for one in proposed for question in one.batch}
    spent = found.tokens - sum(one.tokens for one in proposed)
    again = Induced(
        standing, dict.fromkeys(failed, ()), {q: found.uncovered[q] for q in failed}, tokens=spent
    )
    for one in proposed:
        again = _with_batch(
            again, replace(one, proposal=_with_kinds(one.proposal, seen)), embed, model, None
        )
    return again


def _with_kinds(proposal: Proposal, seen: Mapping[str, Kind]) -> Proposal:
    tables, places = [], dict[str, str]()
    for table in proposal.tables:
        kind = seen.get(row_noun(table), Kind(table.grain, table.name, table.row))
        many = kind.grain == "many"
        told = replace(
            table,
            grain=kind.grain,
            name=kind.table if many else table.name,
            row=kind.row if many else table.row,
        )
        tables.append(with_naming(told))
        kept = tables[-1].column_names
        places |= {
            f"{table.name}.{c}": f"{told.name}.{c if c in kept else kept[0]}"
            for c in table.column_names
        }
    naming = tuple(f"{t.name}.{t.columns[0].name}" for t in tables if t.grain == "many")
    needs = {
        n: tuple(dict.fromkeys([*naming, *(places.get(c, c) for c in names)]))
        for n, names in proposal.needs.items()
    }
    return replace(proposal, tables=tuple(tables), needs=needs)


def _with_batch(
    found: Induced, one: _Proposed, embed: Embed, model: Model, grain: Grain | None
) -> Induced:
    proposal = one.proposal
    if grain is not None and model.dialect.name == "compact":
        proposal = _in_one_table(proposal, found.schema, grain)
    small = model.dialect.name == "compact"
    schema, names = _merged(found.schema, proposal, embed, near=small)
    if small:  # whose columns are called without their tables, which it makes up for each question
        names = _elsewhere(proposal, names) | names
    needs, uncovered, drafts = dict(found.needs), dict(found.uncovered), dict(found.drafts)
    for number, question in enumerate(one.batch, 1):
        asked = proposal.needs.get(number, ())
        needs[question] = tuple(dict.fromkeys(names[name] for name in asked if name in names))
        missing = [name for name in asked if name not in names]
        what = [proposal.uncovered[number]] if number in proposal.uncovered else []
        what += missing or ([_UNSAID] if not asked and not what else [])
        if what:
            uncovered[question] = "; ".join(what)
        if number in proposal.drafts and proposal.tables:
            drafts[question] = draft.standing_draft(
                proposal.drafts[number], proposal.tables[0].name, names
            )
    return Induced(
        schema, needs, uncovered, (*found.issues, *one.issues), found.tokens + one.tokens, drafts
    )


async def _proposed(
    batch: Sequence[str],
    samples: Sequence[Sample],
    schema: Schema,
    model: Model,
    grain: Grain | None,
    row: str,
) -> _Proposed:
    """The model's proposal after at most one correction."""
    request = induction_prompt(batch, samples, schema, model.dialect, row)
    reply = await model.generate(request)
    first = await _read(reply, batch, schema, model, grain, row)
    small = model.dialect.name == "compact"
    seen = " ".join([batch[0], *(sample.text for sample in samples)])
    copies = draft.copied(first.proposal, request, seen) if small else ()
    first = replace(first, issues=(*first.issues, *copies))
    if not first.issues:
        return first
    if small:  # shown its reply, it would write that once more
        row = row or (draft.ANY_ROW if copies else draft.row_said(reply.data))
        correction = draft.facts_prompt(batch[0], samples, schema, model.dialect, row)
    else:
        correction = _again(request, reply, first.issues, model.dialect)
    try:
        second = await _read(await model.generate(correction), batch, schema, model, grain, row)
    except CallFailed:
        return first
    if small:
        second = replace(
            second, issues=(*second.issues, *draft.copied(second.proposal, correction, seen))
        )
    filled = (
        [] if copies or not small else [_filled(first, second.proposal, schema)]
    )  # a copy is not mended by more columns
    tries = [*filled, first, second] if small else [second, first]
    return replace(min(tries, key=lambda one: len(one.issues)), tokens=first.tokens + second.tokens)


def _filled(one: _Proposed, other: Proposal, standing: Schema) -> _Proposed:
    """The proposal with the columns that it needs and does not have, as
    another one describes them.
    """
    if not one.proposal.tables:
        return one
    needed = {name.partition(".")[2] for names in one.proposal.needs.values() for name in names}
    described = {column.name: column for table in other.tables for column in table.columns}
    table = one.proposal.tables[0]
    added = [
        described[name] for name in sorted(needed - set(table.column_names)) if name in described
    ]
    tables = (replace(table, columns=(*table.columns, *added)), *one.proposal.tables[1:])
    proposal = replace(one.proposal, tables=tables)
    return replace(one, proposal=proposal, issues=_faults(proposal, one.batch, standing))


async def _read(
    reply: Response,
    batch: Sequence[str],
    standing: Schema,
    model: Model,
    grain: Grain | None,
    row: str,
) -> _Proposed:
    """The proposal of a reply with its faults."""
    if model.dialect.name != "compact":
        proposal, tokens = proposal_of(reply.data), 0
    else:
        proposal, tokens = await draft.with_kinds(
            draft.proposal_of(reply.data, batch[0], standing, grain, row), model
        )
    return _Proposed(
        batch, proposal, _faults(proposal, batch, standing), reply.usage.tokens + tokens
    )


def _faults(proposal: Proposal, batch: Sequence[str], standing: Schema) -> tuple[Issue, ...]:
    found = criticize(proposal.tables, proposal.needs, proposal.uncovered, batch, standing)
    return (*found, *draft.at_odds(proposal))


def _elsewhere(proposal: Proposal, names: Mapping[str, str]) -> dict[str, str]:
    """Needed columns whose table went another way, by the column's name."""
    columns = {name.partition(".")[2]: name for name in names.values()}
    asked = {name: name.partition(".")[2] for needed in proposal.needs.values() for name in needed}
    return {name: columns[column] for name, column in asked.items() if column in columns}


def _failed(found: Induced, batch: Sequence[str], error: ModelError) -> Induced:
    """The schema as it was, with the batch's questions uncovered."""
    needs, uncovered = (
        {**found.needs, **dict.fromkeys(batch, ())},
        {**found.uncovered, **dict.fromkeys(batch, _UNSAID)},
    )
    return replace(
        found, needs=needs, uncovered=uncovered, issues=(*found.issues, Issue("schema", str(error)))
    )


def _in_one_table(proposal: Proposal, standing: Schema, grain: Grain) -> Proposal:
    """The proposal for the table that stands, where the documents' structure says that all
    rows are of one kind.
    """
    home = next((t.name for t in standing.tables if t.grain == grain and not t.pinned), None)
    if home is None:
        return proposal
    own = {f"{t.name}.{c}": f"{home}.{c}" for t in proposal.tables for c in t.column_names}
    return replace(
        proposal,
        tables=tuple(replace(table, name=home) for table in proposal.tables),
        needs={
            number: tuple(own.get(name, name) for name in names)
            for number, names in proposal.needs.items()
        },
    )


def _again(request: Request, reply: Response, issues: Sequence[Issue], dialect: Dialect) -> Request:
    """The same request with the reply and its faults."""
    prompt = load_prompt("schema/again", dialect)
    said = Message("assistant", reply.text)
    return replace(request, messages=(*request.messages, said, *prompt.render(issues=list(issues))))


def _merged(
    schema: Schema, proposal: Proposal, embed: Embed, *, near: bool
) -> tuple[Schema, dict[str, str]]:
    """The schema with the proposed tables in it, and the name that stands for each
    "table.column" that may be named.

    A list may be that of a table with another name where the model makes up a table for
    each question (`near`): "imports" lie near "exports" (cosine .74), "arrivals" nearer
    to "departures" (.85).
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
        } | names  # also what stood there before
    return schema, names


def _told(table: Table) -> str:
    """A standing table in one paragraph for the prompt."""
    columns = "; ".join(f"{c.name} ({c.type.value}) {c.description}".strip() for c in table.columns)
    fixed = ", fixed" if table.pinned else ""
    return f"{table.name} (one row: {table.row or 'not said'}{fixed}): {columns}"
