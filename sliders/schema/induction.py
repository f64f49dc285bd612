"""From a question and samples of the documents to the table that would answer it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sliders.errors import ModelRefusal, TruncatedReply
from sliders.llm.model import Model, Request
from sliders.llm.prompts import load_prompt
from sliders.schema.guidelines import guidelines_for
from sliders.schema.lint import LintIssue, lint_table, subject, without_total
from sliders.schema.literals import uncovered
from sliders.schema.merging import Embed, merge_table
from sliders.schema.names import plural, snake_name, spoken_name, with_article
from sliders.schema.opponents import side_columns, with_groups
from sliders.schema.proposals import measured, new_roles, parts_of, proposal_of, row_noun, strangers, with_counts, with_names
from sliders.schema.types import ColumnType, Grain, Schema, Table
from sliders.schema.truths import with_truths

_TYPES = ("text", "integer", "number", "date")


@dataclass(frozen=True, slots=True)
class Induction:
    """The schema after a question: the table that serves it, the columns that it needs, and what was repaired."""

    schema: Schema
    table: Table
    needed: tuple[str, ...]
    issues: tuple[LintIssue, ...] = ()
    tokens: int = 0


def _reply_schema(parts: Sequence[str] = ()) -> dict[str, Any]:
    asked: dict[str, Any] = {"type": "string", "enum": list(parts)} if parts else {"type": "string", "maxLength": 120}
    column = {
        "type": "object",
        "properties": {
            "asked": asked,
            "name": {"type": "string", "maxLength": 40},
            "type": {"type": "string", "enum": list(_TYPES)},
        },
        "required": ["asked", "name", "type"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "columns": {"type": "array", "items": column, "minItems": 1, "maxItems": len(parts) or 8},
            "row": {"type": "string", "maxLength": 60},
            "in_document": {"type": "string", "enum": ["one", "several"]},
        },
        "required": ["columns", "row", "in_document"],
        "additionalProperties": False,
    }


def induction_prompt(question: str, samples: Sequence[str], schema: Schema, parts: Sequence[str] = ()) -> Request:
    """The request for the columns of one question, or of just these `parts` of it.

    The examples and samples stand first, so that a server's prefix cache serves them.
    """
    prompt = load_prompt("schema/induce")
    return Request(
        stage="schema",
        messages=prompt.render(
            samples=list(samples),
            question=question,
            known=_known(schema),
            guidelines=list(guidelines_for(question, samples)),
            parts=list(parts),
        ),
        prompt_hash=prompt.hash,
        json_schema=_reply_schema(parts),
        max_tokens=450,
    )


def _known(schema: Schema) -> str:
    return ", ".join(f"{c.name} ({c.type.value})" for table in schema.tables for c in table.columns)


async def induce_schema(
    question: str, samples: Sequence[str], schema: Schema, model: Model, embed: Embed, *, grain: Grain | None = None,
    others: Sequence[str] = (), names: Sequence[str] = (), shape: Callable[[Table], Table] | None = None,
    texts: Sequence[str] = (),
) -> Induction:  # fmt: skip
    """Ask which facts the question needs, repair the proposal, and merge it into the schema that stands.

    Args:
        samples: texts of several documents, each short.
        grain: what the documents' structure already says about rows per document, None to let the model say.
        others: questions that are asked together with this one; what any of them counts is a row, not a column.
        texts: beginnings of more documents, which the model does not see: what stands in all of them tells no rows apart.
        names: file names of documents: where most of them name the row ("receipt_7.txt"), the document is the row.
        shape: changes the checked proposal before it is merged, where the documents' own tables say what it must be.

    Raises:
        ModelError: the model gave no usable proposal.
    """
    if schema.tables and all(table.pinned for table in schema.tables):
        table = schema.tables[0]
        return Induction(schema, table, tuple(c for t in schema.tables for c in t.column_names))
    counted = row_noun([question, *others])
    proposal, tokens = await _proposed(
        question, samples, schema, model, grain=grain, counted=counted, texts=texts, complete=shape is None
    )
    standing = next((t for t in schema.tables if t.name == proposal.name), None)
    if grain is None and proposal.grain == "many" and standing is not None:
        proposal = replace(proposal, grain=standing.grain)
    elif grain is None and proposal.grain == "many":
        proposal, spent = await _with_grain(proposal, names, samples, model)
        tokens += spent
    if shape is None and grain is None:
        proposal, spent = await _about(question, proposal, samples, model, schema)
        tokens += spent
    proposal = with_groups(proposal, question)
    proposal = with_names(_own_facts(proposal, schema, question), question, texts or samples)
    proposal = with_truths(with_counts(proposal, question, schema), question, texts or samples)
    linted, issues = lint_table(proposal, "\n".join([question, *others]))
    if grain is None and linted.grain == "many" and all(c.type is not ColumnType.TEXT for c in linted.columns):
        linted = replace(linted, grain="document")  # numbers without a name are no rows
    merged, home, needed = merge_table(schema, shape(linted) if shape is not None else linted, embed, texts)
    return Induction(merged, home, needed, issues, tokens)


async def _proposed(
    question: str, samples: Sequence[str], schema: Schema, model: Model, *, grain: Grain | None, counted: str,
    texts: Sequence[str], complete: bool,
) -> tuple[Table, int]:  # fmt: skip
    """The table that the model proposes, and the tokens that it took.

    Where it is to be `complete`, names, dates and codes of the question that no proposed column covers are asked for
    once more: a question about one named thing cannot be answered without the column that holds the name.
    """
    reply = await model.generate(induction_prompt(question, samples, schema))
    tokens = reply.usage.tokens
    if schema.tables and strangers(reply, question):  # copied from the columns that exist, not read from the question
        reply = await model.generate(induction_prompt(question, samples, Schema()))
        tokens += reply.usage.tokens
    proposal = proposal_of(reply, grain, question, counted)
    plain = without_total(question)
    if plain != question and not lint_table(proposal, question)[0].columns:  # it saw nothing but the sum
        reply = await model.generate(induction_prompt(plain, samples, schema))
        tokens += reply.usage.tokens
        proposal = proposal_of(reply, grain, plain, counted)
    open_parts = uncovered(question, [str(p.get("asked", "")) for p in parts_of(reply)], proposal, texts)
    if open_parts and complete:
        again = await model.generate(induction_prompt(question, samples, schema, open_parts))
        tokens += again.usage.tokens
        extra = proposal_of(again, grain, question, counted).columns
        proposal = replace(proposal, columns=(*proposal.columns, *new_roles(extra, proposal)))
    return proposal, tokens


def probe_prompt(row: str, sample: str) -> Request:
    """The request that lists the things of one kind in a sample, to see whether a document holds several rows."""
    prompt = load_prompt("schema/probe")
    names = {"type": "array", "items": {"type": "string", "maxLength": 80}, "maxItems": 8}
    return Request(
        stage="schema",
        messages=prompt.render(sample=sample, thing=re.sub(r"^(?:an?|the) ", "", row) or "thing"),
        prompt_hash=prompt.hash,
        json_schema={
            "type": "object",
            "properties": {"names": names},
            "required": ["names"],
            "additionalProperties": False,
        },
        max_tokens=200,
    )


async def _about(
    question: str, proposal: Table, samples: Sequence[str], model: Model, schema: Schema
) -> tuple[Table, int]:  # fmt: skip
    """The proposal with a row for each thing that the question is about, where a document names several of them or a
    list of them stands.

    "Which player scored the most points" asks of players, whatever the documents are about.
    """
    noun = subject(question)
    named = any(c.name == noun and c.type is ColumnType.TEXT for c in proposal.columns)
    listed = any(t.name == plural(noun) and t.grain == "many" for t in schema.tables)
    taken_for_granted = noun in proposal.row.split() and not _takes_part(question) and not listed
    if proposal.grain != "document" or not named or noun == "person" or taken_for_granted:
        return proposal, 0
    found, tokens = (True, 0) if listed else await _several(noun, samples, model)
    if not found:
        return proposal, tokens
    event = snake_name((proposal.row.split() or [""])[-1])  # the rows were of it: each stands in one document
    facts = [c for c in proposal.columns if c.name != event or event == noun]
    columns = measured(facts, question)
    return replace(proposal, name=plural(noun), columns=columns, row=with_article(noun), grain="many"), tokens


def _takes_part(question: str) -> bool:
    """Whether a question says that what it is about is one of several ("in one match", "how many times did a keeper")."""
    return bool(re.search(r"^how many times did an? |\bin (?:one|a single|any|each) [a-z]+\b", question.lower()))


async def _with_grain(proposal: Table, names: Sequence[str], samples: Sequence[str], model: Model) -> tuple[Table, int]:
    """The proposal with one row a document, unless a sample names several of its rows."""
    if _is_the_document(proposal.row, names):
        return replace(proposal, grain="document"), 0
    found, tokens = await _several(proposal.row, samples, model)
    return proposal if found else replace(proposal, grain="document"), tokens


def _own_facts(proposal: Table, schema: Schema, question: str) -> Table:
    """The rows of a list without the facts of their whole document that stand in its own table, unless the question
    says them: a small model copies the columns that exist into every new table."""
    whole = {c.name for table in schema.tables if table.grain == "document" for c in table.columns}
    said = set(re.findall(r"[a-z]+", question.lower()))
    if proposal.grain != "many":
        return proposal
    whole -= {c.name for table in schema.tables if table.name == proposal.name for c in table.columns}
    columns = tuple(c for c in proposal.columns if c.name not in whole or set(spoken_name(c.name).split()) <= said)
    return replace(proposal, columns=columns) if columns else proposal


def _is_the_document(row: str, names: Sequence[str]) -> bool:
    words = re.findall(r"[a-z]{3,}", row.lower())
    return bool(words and names) and 2 * sum(words[-1].rstrip("s") in name.lower() for name in names) > len(names)


async def _several(row: str, samples: Sequence[str], model: Model) -> tuple[bool, int]:
    """Whether a sample really names several of what a row is said to be: a claim about rows is checked, not believed."""
    if not samples or re.search(r"\b(?:document|report|file|page|text|filing)\b", row.lower()):
        return False, 0
    sample = max(samples, key=len)
    try:
        reply = await model.generate(probe_prompt(row, sample))
    except (ModelRefusal, TruncatedReply):
        return False, 0
    names = reply.data.get("names", []) if isinstance(reply.data, dict) else []
    grounded = {str(n).strip().lower() for n in names if str(n).strip() and str(n).lower() in sample.lower()}
    return len(grounded) >= _FEWEST_NAMES, reply.usage.tokens


_FEWEST_NAMES = 3


def completion_prompt(table: Table, samples: Sequence[str]) -> Request:
    """The request that says what one row of a pinned table is."""
    prompt = load_prompt("schema/complete")
    return Request(
        stage="schema",
        messages=prompt.render(
            samples=list(samples),
            table=spoken_name(table.name),
            columns=", ".join(map(spoken_name, table.column_names)),
        ),
        prompt_hash=prompt.hash,
        json_schema={
            "type": "object",
            "properties": {
                "row": {"type": "string", "maxLength": 120},
                "rows_per_document": {"type": "string", "enum": ["one", "many"]},
            },
            "required": ["row", "rows_per_document"],
            "additionalProperties": False,
        },
        max_tokens=80,
    )


async def complete_table(table: Table, samples: Sequence[str], model: Model, *, grain: Grain | None = None) -> Table:
    """A pinned table with its row described and its grain known; names, types and order of columns never change.

    A claim that a document holds several rows is checked on a sample, as in `induce_schema`; a row that is described by
    a sentence of the sample would be copied into every document, so that the table's own name stands for it.
    """
    if table.row and grain is None:
        return table
    reply = await model.generate(completion_prompt(table, samples))
    data = reply.data if isinstance(reply.data, dict) else {}
    row = table.row or _kind(str(data.get("row", "")).strip().rstrip("."), table)
    if table.grain == "document":
        grain = "document"  # the user says so
    elif side_columns(table) is not None:
        grain = grain or "many"
    elif grain is None and data.get("rows_per_document") != "one":
        found, _ = await _several(row, samples, model) if _names_its_rows(table, row) else (False, 0)
        grain = "many" if found else "document"
    return replace(table, row=row, grain=grain or "document")


def _names_its_rows(table: Table, row: str) -> bool:
    """Whether a text column says which row of a document is meant ("player" of players, "team" of team lines)."""
    kinds = {word.rstrip("s") for word in f"{spoken_name(table.name)} {row}".lower().split()} | {"name", "title"}
    texts = [c for c in table.columns if c.type in (ColumnType.TEXT, ColumnType.CATEGORY)]
    return any(kinds & {word.rstrip("s") for word in spoken_name(c.name).split()} for c in texts)


_KIND_WORDS = 8


def _kind(said: str, table: Table) -> str:
    """What a model says that a row is, if it is a short phrase and no name; else one of what the table's name says."""
    named = re.search(r"\d|[A-Z]\w*\s+[A-Z]", said)  # a row is a kind of thing: "a shop", never "Vik Lines Ltd"
    if said and len(said.split()) <= _KIND_WORDS and not named:
        return said
    noun = spoken_name(table.name).split()[-1]
    return with_article(re.sub(r"ies$", "y", noun) if noun.endswith("ies") else noun.removesuffix("s"))
