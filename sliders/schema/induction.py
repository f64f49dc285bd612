"""From a question and samples of the documents to the table that would answer it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sliders.errors import ModelRefusal, TruncatedReply
from sliders.llm.model import Model, Request, Response
from sliders.llm.prompts import load_prompt
from sliders.schema.guidelines import guidelines_for
from sliders.schema.lint import LintIssue, counted_nouns, lint_table, subject
from sliders.schema.literals import uncovered
from sliders.schema.merging import Embed, merge_table
from sliders.schema.names import kind_of, snake_name, spoken_name
from sliders.schema.schema import Column, ColumnType, Grain, Schema, Table

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
    question: str,
    samples: Sequence[str],
    schema: Schema,
    model: Model,
    embed: Embed,
    *,
    grain: Grain | None = None,
    others: Sequence[str] = (),
    names: Sequence[str] = (),
    shape: Callable[[Table], Table] | None = None,
    texts: Sequence[str] = (),
) -> Induction:
    """Ask which facts the question needs, repair the proposal, and merge it into the schema that stands.

    Names, dates and codes of the question that no proposed column covers are asked for once more: a question about one
    named thing cannot be answered without the column that holds the name.

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
    reply = await model.generate(induction_prompt(question, samples, schema))
    spent = 0
    if schema.tables and _strangers(reply, question):  # copied from the columns that exist, not read from the question
        spent, reply = reply.usage.tokens, await model.generate(induction_prompt(question, samples, Schema()))
    noun = _row_noun([question, *others])
    proposal, tokens = _proposal(reply, grain, question, noun), spent + reply.usage.tokens
    open_parts = uncovered(question, [str(p.get("asked", "")) for p in _parts(reply)], proposal, texts)
    if open_parts and shape is None:
        again = await model.generate(induction_prompt(question, samples, schema, open_parts))
        tokens += again.usage.tokens
        extra = _proposal(again, grain, question, noun).columns
        proposal = replace(proposal, columns=(*proposal.columns, *_new_roles(extra, proposal)))
    if grain is None and proposal.grain == "many" and not any(t.name == proposal.name for t in schema.tables):
        found, spent = (False, 0) if _is_the_document(proposal.row, names) else await _several(proposal.row, samples, model)
        proposal, tokens = proposal if found else replace(proposal, grain="document"), tokens + spent
    if shape is None and grain is None:
        proposal, spent = await _about(question, proposal, samples, model)
        tokens += spent
    linted, issues = lint_table(proposal, "\n".join([question, *others]))
    merged, home, needed = merge_table(schema, shape(linted) if shape is not None else linted, embed)
    return Induction(merged, home, needed, issues, tokens)


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


async def _about(question: str, proposal: Table, samples: Sequence[str], model: Model) -> tuple[Table, int]:
    """The proposal with a row for each thing that the question is about, where a document names several of them.

    "Which player scored the most points" asks of players, whatever the documents are about.
    """
    noun = subject(question)
    named = any(c.name == noun and c.type is ColumnType.TEXT for c in proposal.columns)
    if proposal.grain != "document" or not named or noun in proposal.row.split():
        return proposal, 0
    found, tokens = await _several(noun, samples, model)
    if not found:
        return proposal, tokens
    row = f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    columns = _measured(proposal.columns, question)
    name = noun if noun.endswith("s") else noun + "s"
    return replace(proposal, name=name, columns=columns, row=row, grain="many"), tokens


def _measured(columns: Sequence[Column], question: str) -> tuple[Column, ...]:
    """The one number column under the noun that the question measures ("30 or more points" is no `score` of a player)."""
    numbers = [c for c in columns if c.type in (ColumnType.INTEGER, ColumnType.NUMBER)]
    noun = _MEASURE.search(question.lower())
    if len(numbers) != 1 or noun is None or any(c.name == noun[1] for c in columns):
        return tuple(columns)
    return tuple(replace(c, name=noun[1], description="") if c is numbers[0] else c for c in columns)


_MEASURE = re.compile(
    r"(?:\d[\d,.]*\s+or\s+(?:more|fewer|less)|(?:fewer|more|less) than \d[\d,.]*|at (?:least|most) \d[\d,.]*|"
    r"the (?:most|fewest))\s+([a-z]+s)\b"
)

def _new_roles(extra: Sequence[Column], proposal: Table) -> list[Column]:
    """Columns for names that the question says, without one column for several names: they fill the roles that stand."""
    names = Counter(c.name for c in extra)
    roles = [c for c in proposal.columns if c.type is ColumnType.TEXT]
    return [c for c in extra if names[c.name] == 1 or len(roles) < names[c.name]]


def _strangers(reply: Response, question: str) -> bool:
    """Whether most parts of a proposal were asked for in words that the question does not have."""
    said = {w.rstrip("s") for w in re.findall(r"[^\W_]+", question.lower())}
    foreign = 0
    parts = _parts(reply)
    for part in parts:
        asked = [w.rstrip("s") for w in re.findall(r"[^\W_]+", str(part.get("asked", "")).lower())]
        foreign += "_" in str(part.get("asked", "")) or 2 * sum(w in said for w in asked) < len(asked)
    return 2 * foreign > len(parts)


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


def _parts(reply: Response) -> list[dict[str, Any]]:
    data = reply.data if isinstance(reply.data, dict) else {}
    return [part for part in data.get("columns", []) if isinstance(part, dict) and part.get("name")]


def _row_noun(questions: Sequence[str]) -> str:
    """What most of several questions count ("how many of the sailings"): one row of the table is one of these."""
    nouns = Counter(noun for question in questions for noun in counted_nouns(question))
    best = nouns.most_common(1)
    if not best or best[0][1] < max(_FEWEST_COUNTS, _COUNT_SHARE * len(questions)):
        return ""
    return best[0][0]


_FEWEST_COUNTS, _COUNT_SHARE = 3, 0.3


def _proposal(reply: Response, grain: Grain | None, question: str, counted: str = "") -> Table:
    data = reply.data if isinstance(reply.data, dict) else {}
    said: Grain = "many" if data.get("in_document") == "several" else "document"
    parts = _own_names([{**part, "asked": _as_written(part, question)} for part in _parts(reply)])
    columns = tuple(
        Column(_name(part, question), _type(part, question), _asked(part, question), examples=_example(part))
        for part in parts
    )
    row = kind_of(str(data.get("row", "")).strip().rstrip("."))
    if counted:
        row = f"{'an' if counted[0] in 'aeiou' else 'a'} {counted}"
    noun = snake_name(row.split(" of ")[0].removeprefix("a ").removeprefix("an ").removeprefix("the "), "fact")
    return Table(noun if noun.endswith("s") else noun + "s", columns, row=row, grain=grain or said)


def _as_written(part: dict[str, Any], question: str) -> str:
    """The words of the question as the question writes them: a name in small letters would pass for a plain word."""
    asked = str(part.get("asked", "")).strip()
    at = question.lower().find(asked.lower())
    return question[at : at + len(asked)] if asked and at >= 0 else asked


def _own_names(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One name for two roles ("winner", "loser": "team") tells nothing apart: each takes the question's own word."""
    names = Counter(str(part["name"]) for part in parts)
    out = []
    for part in parts:
        asked = str(part.get("asked", "")).strip()
        role = names[str(part["name"])] > 1 and re.fullmatch(r"(?:the )?([a-z]+(?: [a-z]+)?)", asked)
        out.append({**part, "name": snake_name(role[1])} if role else part)
    return out


def _name(part: dict[str, Any], question: str = "") -> str:
    """The proposed name; a lone participle gets its noun back from the question ("killed": "people_killed")."""
    name = str(part["name"])
    asked = str(part.get("asked", "")).strip()
    if _OF_IDENTIFIERS.search(name) and _PROPER_NAME.fullmatch(asked):
        return "name"  # what is called by a proper name is not called by a number
    if (named := re.fullmatch(r"(?:different )?([a-z]+) names?", asked)) and "name" not in name:
        return f"{named[1]}_name"
    place = _BESIDE_WORDS.sub("", asked)
    beside = re.search(rf"({_BESIDE}) (?:the )?{re.escape(place)}", f"{asked} {question}") if place[:1].isupper() else None
    if beside:
        return snake_name(beside[1])  # what stands near a place is not in it
    if _differs(asked, name):
        return snake_name(asked)  # "new confirmed cases" are no `new_deaths`, though that column exists
    if _OUTCOME.fullmatch(asked) and (name == asked or asked not in name.split("_")) and _PEOPLE.search(question):
        return f"people_{asked}"  # who is counted stands elsewhere in the question
    nouns = re.findall(
        r"\b(people|persons?|[a-z]+s)\b(?=.*\b" + re.escape(name) + r"\b)", str(part.get("asked", "")).lower()
    )
    if not re.fullmatch(r"[a-z]+ed", name) or not nouns or nouns[-1] in _QUESTION_WORDS:
        return name
    return f"{'people' if nouns[-1].startswith('person') else nouns[-1]}_{name}"


def _differs(asked: str, name: str) -> bool:
    """Whether question and name share a word and each has a telling one that the other lacks."""
    words = {w.rstrip("s") for w in re.findall(r"[a-z]+", asked) if w not in _QUESTION_WORDS and w not in _RELATIONS}
    told = {w.rstrip("s") for w in spoken_name(name).split() if w not in _QUESTION_WORDS}
    return bool(words & told and words - told and told - words) and len(words) <= _NAME_WORDS and asked.islower()


_RELATIONS = frozenset("of the in a an to by for at on as its".split())
_NAME_WORDS = 4
_OUTCOME = re.compile(r"[a-z]+(?:ed|lost)")
_PEOPLE = re.compile(r"\b(?:people|persons?|passengers?|victims?|fatal|lives)\b", re.IGNORECASE)
_OF_IDENTIFIERS = re.compile(r"(?:^|_)(?:id|number|no|code)$")
_BESIDE = r"\b(?:near|next to|close to|opposite|beside)"
_BESIDE_WORDS = re.compile(rf"^.*{_BESIDE} (?:the )?")
_PROPER_NAME = re.compile(r"(?:(?:about|of|in|at|by) )?(?:the )?[A-Z][^\W\d]*(?:[ '’&.-]+[^\W\d]+)*")


def _example(part: dict[str, Any]) -> tuple[str, ...]:
    """The question's words for a column where they name one particular thing ("near Hull pier")."""
    asked = str(part.get("asked", "")).strip()
    return (asked,) if re.search(r"\b[A-Z]", asked) and len(asked.split()) <= _EXAMPLE_WORDS else ()


_EXAMPLE_WORDS = 5


def _type(part: dict[str, Any], question: str = "") -> ColumnType:
    """The proposed type, or integer where the question's own words count or compare with a number."""
    said, asked, name = ColumnType(part.get("type", "text")), str(part.get("asked", "")).strip(), _name(part, question)
    if name.startswith("people_"):
        return ColumnType.INTEGER
    if _OUTCOME.fullmatch(asked) and f"_{name}".endswith(f"_{asked}"):
        return ColumnType.BOOLEAN  # "destroyed": so or not
    if _PROPER_NAME.fullmatch(str(part.get("asked", "")).strip()):
        return ColumnType.TEXT
    return ColumnType.INTEGER if said is ColumnType.TEXT and _COUNTED.search(str(part.get("asked", ""))) else said


_COUNTED = re.compile(
    r"^(?:how many|number of|total number of)\b|\b(?:at least|at most|more than|fewer than|less than|over|under) "
    r"(?:\d|one|two|three|four|five|six|seven|eight|nine|ten)|\b(?:\d[\d,.]*|ten|two|five) or (?:more|fewer|less)\b",
    re.IGNORECASE,
)


def _asked(part: dict[str, Any], question: str) -> str:
    """The question's own words for a column, where they say more than its name does and name no particular thing."""
    asked, name = str(part.get("asked", "")).strip(), _name(part, question)
    words = [w for w in re.findall(r"[a-z]{3,}", asked) if w not in _QUESTION_WORDS]
    told = set(spoken_name(name).split())
    words = list(dict.fromkeys(words))
    if not words or re.search(r"[A-Z\d]", asked) or all(w.rstrip("s") in {t.rstrip("s") for t in told} for w in words):
        return ""
    return f"{spoken_name(name)}; {' '.join(words)}" if len(words) <= 6 else ""


_QUESTION_WORDS = frozenset(
    (
        "all and any are average being between describes did does each eight fewer five for four give gives "
        "had has have highest how its largest least less list lowest many more most much name nine number one "
        "over per reported says seven six smallest stated ten than that the their there three total two under "
        "was were what when where which who whose with"
    ).split()
)


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
    """A pinned table with its row described and its grain known; names, types and order of columns never change."""
    if table.row and grain is None:
        return table
    reply = await model.generate(completion_prompt(table, samples))
    data = reply.data if isinstance(reply.data, dict) else {}
    said: Grain = "document" if data.get("rows_per_document") == "one" else "many"
    return replace(table, row=table.row or str(data.get("row", "")).strip().rstrip("."), grain=grain or said)
