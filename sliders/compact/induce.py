"""Schema induction for a small model: the model is asked for one question at a time, by the SQL
that would answer it, and the proposals are merged into one schema.

A *proposal* is the tables that a reply names for a question, and the columns that the question
needs. The *standing* schema is the schema before the induction. A table's *grain* says how many
rows a document gives: one ("document") or several ("many").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sliders.compact.draft import (
    draft_prompt,
    drafted,
    facts_prompt,
    row_of,
    row_prompt,
    row_said,
    standing_draft,
)
from sliders.compact.grain import Kind, kinds, with_naming
from sliders.errors import CallFailed
from sliders.llm.dialect import Dialect
from sliders.llm.model import Model, Request, Response
from sliders.schema.critique import Issue, criticize
from sliders.schema.extend import Embed
from sliders.schema.induce import (
    Induced,
    Induction,
    Proposed,
    RowsTold,
    in_batches,
    merged,
    pinned_need,
    with_proposal,
)
from sliders.schema.proposal import Proposal
from sliders.schema.row_names import row_noun
from sliders.schema.sample import Sample, fitted
from sliders.schema.types import Grain, Schema


async def induce_by_drafts(
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
    """Returns the schema that the questions need (see `InduceSchema`). When `grain` is None, the
    model says it, and `rows_told` checks that against the documents.
    """
    if (known := pinned_need(questions, schema)) is not None:
        return known
    row, tokens = await row_of(questions, model)
    drafting = _Drafting(fitted(samples, model), model, embed, grain, row)

    async def propose(batch: Sequence[str], standing: Schema) -> Proposed:
        one = await drafting.proposed(batch, standing)
        drafting.proposals.append(one)
        return one

    before = Induced(schema, tokens=tokens)
    found = await in_batches(questions, 1, before, propose, drafting.taken, progress)
    if rows_told is None or grain is not None:
        return found
    return await drafting.regrained(found, schema, rows_told)


def draft_requests(
    questions: Sequence[str], samples: Sequence[Sample], schema: Schema, dialect: Dialect
) -> list[Request]:
    """Returns the requests of an induction: one for each question, in order, and, when there are
    several questions, a last one that asks for the kind of row that all of them are about.
    """
    requests = [draft_prompt(question, samples, schema) for question in questions]
    return [*requests, *([row_prompt(questions)] if len(questions) > 1 else [])]


DRAFTS = Induction(induce_by_drafts, draft_requests, ("induce", "row", "facts"))
"""The way of asking a model that drafts the SQL of one question at a time."""


@dataclass(frozen=True, slots=True)
class _Drafting:
    """The state of one induction: `row` is the kind of row that all questions are about,
    `proposals` are the proposals so far.
    """

    samples: Sequence[Sample]
    model: Model
    embed: Embed
    grain: Grain | None
    row: str
    proposals: list[Proposed] = field(default_factory=list)

    async def proposed(self, batch: Sequence[str], standing: Schema) -> Proposed:
        """Returns the model's proposal for a question. A faulty proposal is corrected at most once,
        by another prompt: a model that sees its own reply would write it again.
        """
        (question,) = batch
        request = draft_prompt(question, self.samples, standing, self.row)
        reply = await self.model.generate(request)
        first = self._read(reply, question, standing, self.row)
        if not first.issues:
            return first
        row = self.row or row_said(reply.data)
        correction = facts_prompt(question, self.samples, standing, row)
        try:
            reply = await self.model.generate(correction)
            second = self._read(reply, question, standing, row)
        except CallFailed:
            return first
        filled = _filled(first, second.proposal, standing)
        better = min([filled, first, second], key=lambda one: len(one.issues))
        return replace(better, tokens=first.tokens + second.tokens)

    def _read(self, reply: Response, question: str, standing: Schema, row: str) -> Proposed:
        """Returns the proposal of a reply, with its faults."""
        proposal = drafted(reply.data, question, standing, self.grain, row)
        issues = _faults(proposal, [question], standing)
        return Proposed([question], proposal, issues, reply.usage.tokens)

    def taken(self, found: Induced, one: Proposed) -> Induced:
        """Returns the induced schema with one more proposal merged into it."""
        if self.grain is not None:
            one = replace(one, proposal=_in_one_table(one.proposal, found.schema, self.grain))
        schema, names = merged(found.schema, one.proposal, self.embed, near=True)
        # The draft names columns without tables: the model makes up a table for each question.
        names = _elsewhere(one.proposal, names) | names
        found, drafts = with_proposal(found, one, schema, names), dict(found.drafts)
        for number, question in enumerate(one.batch, 1):
            if number in one.proposal.drafts and one.proposal.tables:
                drafts[question] = standing_draft(
                    one.proposal.drafts[number], one.proposal.tables[0].name, names
                )
        return replace(found, drafts=drafts)

    async def regrained(self, found: Induced, standing: Schema, rows_told: RowsTold) -> Induced:
        """Returns all proposals merged again, with the grain that the documents show. Tables with
        several rows for each document get a column that names the row.
        """
        names = {table.name for table in standing.tables}
        new = [t for one in self.proposals for t in one.proposal.tables if t.name not in names]
        seen = await kinds(new, rows_told)
        failed = set(found.needs) - {question for one in self.proposals for question in one.batch}
        spent = found.tokens - sum(one.tokens for one in self.proposals)
        uncovered = {q: found.uncovered[q] for q in failed}
        again = Induced(standing, dict.fromkeys(failed, ()), uncovered, tokens=spent)
        for one in self.proposals:
            again = self.taken(again, replace(one, proposal=_with_kinds(one.proposal, seen)))
        return again


def _with_kinds(proposal: Proposal, seen: Mapping[str, Kind]) -> Proposal:
    """Returns the proposal with the grain, name and row of each table that the documents show."""
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


def _filled(one: Proposed, other: Proposal, standing: Schema) -> Proposed:
    """Returns the proposal with the columns that it needs and lacks, as another proposal describes
    them.
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


def _faults(proposal: Proposal, batch: Sequence[str], standing: Schema) -> tuple[Issue, ...]:
    """Returns the faults of a proposal: what a check of its tables and needs finds."""
    return criticize(proposal.tables, proposal.needs, proposal.uncovered, batch, standing)


def _elsewhere(proposal: Proposal, names: Mapping[str, str]) -> dict[str, str]:
    """Returns the needed columns that were merged into another table than the proposal named, by
    the proposal's own name.
    """
    columns = {name.partition(".")[2]: name for name in names.values()}
    asked = {name: name.partition(".")[2] for needed in proposal.needs.values() for name in needed}
    return {name: columns[column] for name, column in asked.items() if column in columns}


def _in_one_table(proposal: Proposal, standing: Schema, grain: Grain) -> Proposal:
    """Returns the proposal with all its columns in the one standing table of that grain; the
    proposal itself when there is no such table. Used when the structure of the documents shows that
    all rows are of one kind.
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
