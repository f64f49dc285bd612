"""What proposals make of a schema, batch of questions by batch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sliders.errors import CallFailed, ModelError, TruncatedReply
from sliders.schema.critique import Issue
from sliders.schema.extend import Embed, merge_table
from sliders.schema.proposal import Proposal, with_safe_names
from sliders.schema.types import Schema, Table

RowsTold = Callable[[Sequence[Table]], Awaitable[Sequence[Sequence[Collection[str]]]]]
"""The names of the rows that some documents list: for each table one collection
of names a document.
"""

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


@dataclass(frozen=True, slots=True)
class Proposed:
    """What the model proposed for a batch of questions, the faults that it still has,
    and the tokens spent.
    """

    batch: Sequence[str]
    proposal: Proposal
    issues: tuple[Issue, ...]
    tokens: int


def pinned_need(questions: Sequence[str], schema: Schema) -> Induced | None:
    """All columns for each question, where the user gave every table; else None."""
    if not schema.tables or not all(table.pinned for table in schema.tables):
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
    """The schema after the proposals for all questions, asked in batches of `size`.

    Args:
        found: what stands before.
        propose: asks for the tables of a batch beside those of a schema.
        take: adds a proposal to what was found.
        progress: called with the number of questions that are through.

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
    """The schema as it was, with the batch's questions uncovered."""
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
    """What was found, with what the questions of a proposal need of the schema.

    Args:
        names: "table.column" of the schema, by the proposal's own "table.column".
    """
    needs, uncovered = dict(found.needs), dict(found.uncovered)
    for number, question in enumerate(one.batch, 1):
        asked = one.proposal.needs.get(number, ())
        needs[question] = tuple(dict.fromkeys(names[name] for name in asked if name in names))
        missing = [name for name in asked if name not in names]
        said = one.proposal.uncovered
        what = [said[number]] if number in said else []
        what += missing or ([_UNSAID] if not asked and not what else [])
        if what:
            uncovered[question] = "; ".join(what)
    issues, tokens = (*found.issues, *one.issues), found.tokens + one.tokens
    return Induced(schema, needs, uncovered, issues, tokens, found.drafts)


def merged(
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
