"""What the model is asked, in batches: contradictions that code leaves open, and pairs of names in the open band.

The model picks one of the values that stand in the sources, by number. It cannot write a value, so it invents none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sliders.errors import BudgetExceeded, ModelRefusal, TruncatedReply
from sliders.llm.dialect import Dialect
from sliders.llm.model import Model, Request
from sliders.llm.prompts import load_prompt
from sliders.schema.types import Table

_QUOTE_SHOWN = 240  # characters of a quote that a prompt shows
_MAX_CANDIDATES = 8
SameOrNot = Literal["same", "different", "unsure", ""]
_VERDICTS = ("same", "different", "unsure")


@dataclass(frozen=True, slots=True)
class Option:
    """A candidate of a case as the model sees it."""

    value: str
    quote: str
    unit: str = ""
    section: str = ""
    document: str = ""
    date: str = ""
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One contradiction."""

    column: str
    about: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Pick:
    """The model's choice for a case: the place of an option, or None to leave it open; `answered` when it said so."""

    option: int | None
    reason: str
    answered: bool = False


@dataclass(frozen=True, slots=True)
class NamePair:
    """Two printed names and the words around them."""

    left: str
    right: str
    left_quote: str
    right_quote: str


def settle_request(table: Table, cases: Sequence[Case], dialect: Dialect) -> Request:
    """The call that settles some contradictions of one table; pure."""
    prompt = load_prompt("reconcile/settle_conflicts", dialect)
    shown = [
        {
            "number": number,
            "column": case.column,
            "description": table.column(case.column).description,
            "about": case.about,
            "candidates": [_candidate(n, o) for n, o in enumerate(case.options[:_MAX_CANDIDATES], 1)],
        }
        for number, case in enumerate(cases, 1)
    ]
    schema = _list_schema(
        "choices",
        {"case": {"type": "integer"}, "candidate": {"type": "integer"}, "reason": {"type": "string", "maxLength": 120}},
    )
    messages = prompt.render(table=table.name, row=table.row, cases=shown)
    return Request("reconcile", messages, prompt.hash, schema, max_tokens=64 + 48 * len(cases))


def match_request(column: str, description: str, pairs: Sequence[NamePair], dialect: Dialect) -> Request:
    """The call that decides some pairs of names of one column; pure."""
    prompt = load_prompt("reconcile/match_names", dialect)
    shown = [
        {
            "number": number,
            "left": pair.left,
            "right": pair.right,
            "left_quote": pair.left_quote[:_QUOTE_SHOWN],
            "right_quote": pair.right_quote[:_QUOTE_SHOWN],
        }
        for number, pair in enumerate(pairs, 1)
    ]
    verdict = {"type": "string", "enum": list(_VERDICTS)}
    schema = _list_schema("pairs", {"pair": {"type": "integer"}, "verdict": verdict})
    messages = prompt.render(column=column, description=description, pairs=shown)
    return Request("reconcile", messages, prompt.hash, schema, max_tokens=64 + 24 * len(pairs))


def _candidate(number: int, option: Option) -> dict[str, Any]:
    return {
        "number": number,
        "value": option.value,
        "quote": option.quote[:_QUOTE_SHOWN],
        "unit": option.unit,
        "section": option.section,
        "document": option.document,
        "date": option.date,
        "rationale": option.rationale[:_QUOTE_SHOWN],
    }


def _list_schema(name: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    item = {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
    listed = {"type": "array", "items": item}
    return {"type": "object", "properties": {name: listed}, "required": [name], "additionalProperties": False}


async def settle_cases(model: Model, table: Table, cases: Sequence[Case], batch: int) -> tuple[list[Pick], int]:
    """Settle contradictions, `batch` a call, concurrently as far as the model allows; returns picks and calls made.

    A reply that cannot be used leaves its cases open, with the reason.
    """
    starts = range(0, len(cases), max(1, batch))
    replies = await asyncio.gather(
        *(_ask(model, settle_request(table, cases[s : s + batch], model.dialect), "choices") for s in starts)
    )
    picks: list[Pick] = []
    for start, (items, failure) in zip(starts, replies, strict=True):
        chosen: dict[int, Pick] = {}
        for item in items:
            case, candidate = item.get("case"), item.get("candidate")
            if isinstance(case, int) and isinstance(candidate, int):
                chosen.setdefault(case, Pick(candidate - 1, str(item.get("reason", "")), True))
        for number, case_ in enumerate(cases[start : start + batch], 1):
            pick = chosen.get(number, Pick(None, failure or "the model gave no choice for it"))
            if pick.option is not None and not 0 <= pick.option < min(len(case_.options), _MAX_CANDIDATES):
                pick = Pick(None, pick.reason or "the model could not tell", True)
            picks.append(pick)
    return picks, len(replies)


async def match_names(
    model: Model, column: str, description: str, pairs: Sequence[NamePair], batch: int = 10
) -> tuple[list[SameOrNot], int]:
    """Whether the names of each pair mean one thing, "" where no usable reply came; and the calls made."""
    starts = range(0, len(pairs), batch)
    replies = await asyncio.gather(
        *(_ask(model, match_request(column, description, pairs[s : s + batch], model.dialect), "pairs") for s in starts)
    )
    verdicts: list[SameOrNot] = [""] * len(pairs)
    for start, (items, _) in zip(starts, replies, strict=True):
        for item in items:
            number, verdict = item.get("pair"), item.get("verdict")
            if isinstance(number, int) and 1 <= number <= min(batch, len(pairs) - start):
                verdicts[start + number - 1] = verdict if verdict in _VERDICTS else ""
    return verdicts, len(replies)


async def _ask(model: Model, request: Request, name: str) -> tuple[list[dict[str, Any]], str]:
    """The items of the reply, and, where there are none, why."""
    try:
        response = await model.generate(request)
    except (ModelRefusal, TruncatedReply, BudgetExceeded) as error:
        return [], f"the model's reply could not be used ({error})"
    data = response.data if isinstance(response.data, dict) else {}
    items = data.get(name)
    if not isinstance(items, list):
        return [], "the model's reply held no list of choices"
    return [item for item in items if isinstance(item, dict)], ""
