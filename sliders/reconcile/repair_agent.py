"""The agent that repairs cases which code leaves open: a model sees the source of each value,
decides, and writes SQL.

A case is a group of rows that contradict each other, that print one name in several forms, or that
may be one thing. The model may look at more of the tables. It replies with programs over a group,
or says that its rows are different things, or that it cannot tell. `guard` checks each program; a
refusal is sent back with its reason once, then the group stays unchanged.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sliders.errors import CallFailed, RepairError, StoreError
from sliders.llm.dialect import Dialect
from sliders.llm.model import Model, Request
from sliders.llm.prompts import joined_hash, load_prompt
from sliders.reconcile.guard import Outcome, repaired
from sliders.reconcile.keying import ProposeKey, propose_key
from sliders.reconcile.repairs import Case, Options
from sliders.schema.types import Table
from sliders.sentences import Sentences
from sliders.store.facts import Operation, Program, Verdict

say = Sentences("reconcile")


class RepairCases(Protocol):
    """Decides on cases. Returns the outcomes in order, and the number of calls; see
    `repair_cases`.
    """

    async def __call__(
        self, model: Model, table: Table, cases: Sequence[Case], options: Options, spare: int = 0
    ) -> tuple[list[Outcome], int]: ...


@dataclass(frozen=True, slots=True)
class Repairer:
    """The way in which a model repairs: `repair` decides on cases, `propose_key` on the key and its
    scope. `writes_programs` is True when the model reads rows and writes SQL; such a model is asked
    for the key of rows that contradict each other too.
    """

    repair: RepairCases
    propose_key: ProposeKey
    writes_programs: bool


_OPERATIONS: tuple[Operation, ...] = (
    "deduplicate",
    "consolidate",
    "resolve_conflict",
    "aggregate",
    "canonicalize",
)
_ATTEMPTS, _LOOKS = 2, 2
_GROUP_TOKENS, _BATCH_TOKENS = 400, 4000
_REPLIED: Mapping[str, Verdict] = {"apart": "apart", "leave": "open"}
_SCHEMA = {
    "type": "object",
    "properties": {
        "looks": {"type": "array", "items": {"type": "string"}},
        "repairs": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "group": {"type": "integer"},
                    "operation": {"type": "string", "enum": [*_OPERATIONS, *_REPLIED]},
                    "column": {"type": "string"},
                    "statements": {"type": "array", "items": {"type": "string"}},
                    "reason": {"type": "string"},
                },
                "required": ["group", "operation", "column", "statements", "reason"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["looks", "repairs"],
    "additionalProperties": False,
}


def repair_request(
    table: Table,
    cases: Mapping[int, Case],
    options: Options,
    dialect: Dialect,
    refused: Mapping[int, str] | None = None,
    seen: Sequence[tuple[str, str]] = (),
    may_look: bool = False,
) -> Request:
    """Returns the request that repairs some groups of one table.

    Args:
        cases: the cases by number.
        refused: why the last program of a group was refused.
        seen: the statements that the model looked with, and their results.
    """
    prompt = load_prompt("reconcile/repair", dialect)
    names = next(iter(cases.values())).group.columns
    columns = [
        {
            "name": name,
            "type": c.type.value,
            "description": c.description,
            "unit": " ".join(filter(None, (c.scale, c.currency, c.unit))),
        }
        for name, c in zip(names, table.columns, strict=True)
    ]
    messages = prompt.render(
        table=table.name,
        row=table.row,
        key=", ".join(table.key),
        columns=columns,
        rules=options.rules,
        groups=[_group(number, case, refused or {}) for number, case in cases.items()],
        additive=", ".join(sorted(options.additive(table))) or "none",
        seen=seen,
        may_look=may_look,
    )
    said = joined_hash(prompt, say)
    return Request("reconcile", messages, said, _SCHEMA, max_tokens=200 + 250 * len(cases))


def _group(number: int, case: Case, refused: Mapping[int, str]) -> dict[str, Any]:
    return {
        "number": number,
        "kind": case.kind,
        "about": case.about,
        "open": ", ".join(case.open),
        "rows": [_shown(case, row) for row in case.group.rows],
        "refused": refused.get(number, ""),
    }


def _shown(case: Case, row: str) -> dict[str, Any]:
    values = dict(zip(case.group.columns, case.group.rows[row], strict=True))
    told = {name: value for name, value in values.items() if value is not None}
    return {
        "id": row,
        "values": json.dumps(told, ensure_ascii=False),
        "notes": case.notes.get(row, ()),
    }


async def repair_cases(
    model: Model, table: Table, cases: Sequence[Case], options: Options, spare: int = 0
) -> tuple[list[Outcome], int]:
    """Decides on all cases, several small ones in a call. Returns the outcomes in order, and the
    number of calls: at most one for each case, and the spare ones.

    Args:
        spare: more calls, for looks and second attempts.

    Raises:
        ModelUnavailable: the model cannot be reached.
    """
    batches = _batches(model, cases, options.batch)
    spare_calls = asyncio.Semaphore(spare + len(cases) - len(batches))
    found = await asyncio.gather(
        *(_repair(model, table, batch, options, spare_calls) for batch in batches)
    )
    return [outcome for outcomes, _ in found for outcome in outcomes], sum(
        calls for _, calls in found
    )


PROGRAMS = Repairer(repair_cases, propose_key, writes_programs=True)
"""The way of a model that writes SQL."""


def _batches(model: Model, cases: Sequence[Case], most: int) -> list[list[Case]]:
    """Returns the cases in groups that share a call."""
    batches: list[list[Case]] = []
    room = 0
    for case in cases:
        size = max(_GROUP_TOKENS, model.count_tokens(repr((case.group.rows, case.notes))))
        if not batches or len(batches[-1]) >= most or size > room:
            batches.append([])
            room = _BATCH_TOKENS
        batches[-1].append(case)
        room -= size
    return batches


async def _repair(
    model: Model, table: Table, cases: Sequence[Case], options: Options, spare: asyncio.Semaphore
) -> tuple[list[Outcome], int]:
    """Asks until every case is decided, or the attempts and the `spare` calls are used up. Returns
    the outcomes and the number of calls.
    """
    waiting = dict(enumerate(cases, 1))
    outcomes = dict.fromkeys(waiting, Outcome("open", "the model only looked", answered=False))
    refused: dict[int, str] = {}
    seen: list[tuple[str, str]] = []
    attempts = calls = 0
    while waiting and attempts < _ATTEMPTS and not (calls and spare.locked()):
        if calls:
            await spare.acquire()
        may_look = options.look is not None and len(seen) < _LOOKS and not spare.locked()
        request = repair_request(table, waiting, options, model.dialect, refused, seen, may_look)
        try:
            response = await model.generate(request)
        except CallFailed as error:
            why = f"the model's reply could not be used ({error})"
            failed = Outcome("open", why, answered=False)
            return list((outcomes | dict.fromkeys(waiting, failed)).values()), calls
        calls += 1
        data = response.data if isinstance(response.data, dict) else {}
        if may_look and options.look is not None and data.get("looks"):
            seen += [(sql, _look(options.look, sql)) for sql in data["looks"][: _LOOKS - len(seen)]]
            if not data.get("repairs"):
                continue
        attempts += 1
        replied = [one for one in data.get("repairs") or () if isinstance(one, dict)]
        for number, case in list(waiting.items()):
            mine = [one for one in replied if one.get("group") == number]
            try:
                outcomes[number] = _decided(case, mine, options.additive(table))
                del waiting[number]
            except RepairError as error:
                refused[number] = str(error)
                outcomes[number] = Outcome("open", f"the repair was refused: {error}")
    return list(outcomes.values()), calls


def _look(look: Callable[[str], str], sql: str) -> str:
    try:
        return look(sql)
    except StoreError as error:
        return str(error)


def _decided(case: Case, replied: Sequence[Mapping[str, Any]], additive: frozenset[str]) -> Outcome:
    """Returns the outcome of the model's reply for one case.

    Raises:
        RepairError: a program is refused, or the programs leave a contradiction.
    """
    for one in replied:
        if one["operation"] in _REPLIED:
            return Outcome(_REPLIED[one["operation"]], one["reason"])
    programs = [
        Program(one["operation"], one["column"], tuple(one["statements"]), one["reason"])
        for one in replied
        if one["operation"] in _OPERATIONS
    ]
    if not programs:
        raise RepairError(say("no_program"))
    return repaired(case, programs, additive)
