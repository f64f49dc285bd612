"""The repair agent: a model proposes a SQL program for one group, the guard checks it, a refusal goes back once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sliders.errors import BudgetExceeded, ModelRefusal, RepairError, TruncatedReply
from sliders.extraction.cell import Scalar
from sliders.llm.dialect import Dialect
from sliders.llm.model import Model, Request
from sliders.llm.prompts import load_prompt
from sliders.reconcile.guard import Group, Program, run_program
from sliders.schema.types import Table

_OPERATIONS = ("deduplicate", "consolidate", "resolve_conflict", "aggregate", "leave")
_ATTEMPTS = 2
_SCHEMA = {
    "type": "object",
    "properties": {
        "operation": {"type": "string", "enum": list(_OPERATIONS)},
        "column": {"type": "string"},
        "statements": {"type": "array", "items": {"type": "string"}},
        "reason": {"type": "string"},
    },
    "required": ["operation", "column", "statements", "reason"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Proposal:
    """What came of asking: the program that passed the guard and the values it leaves, or None and why."""

    program: Program | None
    values: tuple[Scalar, ...]
    reason: str
    calls: int


def repair_request(
    table: Table,
    group: Group,
    words: Sequence[str],
    columns: Sequence[str],
    additive: frozenset[str],
    failure: str,
    dialect: Dialect,
) -> Request:
    """The call that proposes a repair of one group; pure.

    Args:
        words: for each row, the words and places that its values were read from.
        columns: the columns whose values contradict.
    """
    prompt = load_prompt("reconcile/repair_group", dialect)
    lines = [
        f"{row}: {json.dumps(dict(zip(group.columns, values, strict=True)), ensure_ascii=False)} | {said}"
        for (row, values), said in zip(group.rows.items(), words, strict=True)
    ]
    messages = prompt.render(
        table=table.name,
        row=table.row,
        columns=", ".join(columns),
        lines=lines,
        additive=", ".join(sorted(additive)) or "none",
        failure=failure,
    )
    return Request("reconcile", messages, prompt.hash, _SCHEMA, max_tokens=400)


async def propose_repair(
    model: Model,
    table: Table,
    group: Group,
    words: Sequence[str],
    columns: Sequence[str],
    additive: frozenset[str] = frozenset(),
) -> Proposal:
    """Ask for a program until the guard lets one pass, twice at most; a refusal leaves the group as it was."""
    failure, calls = "", 0
    for _ in range(_ATTEMPTS):
        try:
            response = await model.generate(repair_request(table, group, words, columns, additive, failure, model.dialect))
        except (ModelRefusal, TruncatedReply, BudgetExceeded) as error:
            return Proposal(None, (), f"the model's reply could not be used ({error})", calls)
        calls += 1
        program = _program(response.data)
        if program is None:
            return Proposal(None, (), "the model leaves it as it is", calls)
        try:
            if program.column not in columns:
                raise RepairError(f"{program.column!r} is not in contradiction; repair one of {', '.join(columns)}")
            repaired = run_program(group, program, additive)
        except RepairError as error:
            failure = str(error)
            continue
        place = group.columns.index(program.column)
        values = {v[place]: None for v in repaired.rows.values() if v[place] is not None}
        return Proposal(program, tuple(values), program.reason, calls)
    return Proposal(None, (), f"the repair was refused: {failure}", calls)


def _program(data: object) -> Program | None:
    if not isinstance(data, dict) or data.get("operation") not in _OPERATIONS[:-1]:
        return None
    statements = tuple(str(s) for s in data.get("statements") or ())
    return Program(data["operation"], str(data.get("column", "")), statements, str(data.get("reason", "")))
