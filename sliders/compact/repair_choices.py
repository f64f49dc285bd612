"""Repairs by a small model: one question about each group, answered by one token: which row is
right, or whether two rows are one thing.

The model never writes a value or a statement. It chooses among rows, code writes the SQL that
copies the values of the chosen row, and the same guard checks it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sliders.compact.key_reach import count_things
from sliders.errors import CallFailed, RepairError
from sliders.llm.dialect import Dialect
from sliders.llm.model import Model, Request, Response
from sliders.llm.prompts import load_prompt
from sliders.reconcile.guard import Outcome, repaired
from sliders.reconcile.repair_agent import Repairer
from sliders.reconcile.repairs import Case, Options
from sliders.reconcile.statements import copy_sql
from sliders.reconcile.variants import shortened
from sliders.schema.types import Table
from sliders.store.facts import Operation, Program

_LETTERS = "ABCDEF"
_NONE = "N"
_SAME, _STANDS_FOR = ("yes", "no"), ("B", "A")  # the first of them joins two names
_MARGIN = 0.4  # natural log-odds between the best option and the next below which nothing is chosen
_NOTES = 2  # lines of a row that are shown


def choice_request(table: Table, case: Case, rules: Sequence[str], dialect: Dialect) -> Request:
    """Returns the request with the question about one case; nothing is sent."""
    if (
        case.kind == "names"
        and len(case.choices) == len(_SAME)
        and len(case.open) == 1
        and not rules
    ):
        return _name_request(case, dialect)
    prompt = load_prompt(
        "reconcile/choose" if case.kind == "conflict" else "reconcile/same", dialect
    )
    shown = [
        _option(case, letter, rows) for letter, rows in zip(_LETTERS, case.choices, strict=False)
    ]
    named = [c.description for c in table.columns if c.name in case.open and c.description]
    messages = prompt.render(
        row=table.row or table.name,
        open=", ".join(case.open),
        described="; ".join(named),
        about=case.about,
        options=shown,
        rules=rules,
    )
    choices = (*_LETTERS[: len(shown)], _NONE) if case.kind == "conflict" else _SAME
    return Request("reconcile", messages, prompt.hash, choices=choices, max_tokens=1)


def _name_request(case: Case, dialect: Dialect) -> Request:
    """Returns the question about two names by themselves, since a small model says no to any two
    names beside the figures of their rows. When a passage names both, it is asked whether one
    stands for the other there; else what the shorter name, or its words with a full stop, mean: it
    knows this better than whether two names are one.
    """
    place = case.group.columns.index(case.open[0])
    short, full = sorted((str(case.group.rows[rows[0]][place]) for rows in case.choices), key=len)
    noted = (note for lines in case.notes.values() for note in lines)
    words = next((note for note in noted if full in note and short in note.replace(full, "")), "")
    part, meant = (not words and shortened(short, full)) or (short, full)
    prompt = load_prompt("reconcile/stands_for", dialect)
    messages = prompt.render(
        part=part, meant=meant, name="" if part == short else short, words=words
    )
    return Request(
        "reconcile", messages, prompt.hash, choices=_SAME if words else _STANDS_FOR, max_tokens=1
    )


def _option(case: Case, letter: str, rows: Sequence[str]) -> dict[str, object]:
    wanted = case.open if case.kind == "conflict" else case.group.columns
    first = dict(zip(case.group.columns, case.group.rows[rows[0]], strict=True))
    told = {name: first[name] for name in wanted if first[name] is not None}
    notes = list(dict.fromkeys(note for row in rows for note in case.notes.get(row, ())))
    return {
        "letter": letter,
        "values": json.dumps(told, ensure_ascii=False),
        "notes": notes[:_NOTES],
    }


async def choose_cases(
    model: Model, table: Table, cases: Sequence[Case], options: Options, spare: int = 0
) -> tuple[list[Outcome], int]:
    """Returns the outcome of the model's choice for each case, and the number of calls: two for a
    contradiction, one for any other case. `spare` is not used.

    Raises:
        ModelUnavailable: the model cannot be reached.
    """
    found = await asyncio.gather(*(_odds(model, table, case, options.rules) for case in cases))
    return [
        Outcome("open", one, answered=False)
        if isinstance(one, str)
        else _chosen(case, one, options.additive(table))
        for case, one in zip(cases, found, strict=True)
    ], len(cases) + sum(case.kind == "conflict" for case in cases)


CHOICES = Repairer(choose_cases, count_things, writes_programs=False)
"""The repairer of a model that chooses among the rows of each case."""


async def _odds(
    model: Model, table: Table, case: Case, rules: Sequence[str]
) -> dict[str, float] | str:
    """Returns the log-probability (natural) of each choice, or why there is none. A small model
    prefers the rows that stand first, so contradicting rows are shown in both orders, and the mean
    counts.
    """
    shown = [case]
    if case.kind == "conflict":
        shown.append(replace(case, choices=case.choices[: len(_LETTERS)][::-1]))
    requests = [choice_request(table, one, rules, model.dialect) for one in shown]
    try:
        replies = await asyncio.gather(*(model.generate(request) for request in requests))
    except CallFailed as error:
        return f"the model's reply could not be used ({error})"
    odds = [
        _of_reply(reply, request.choices) for reply, request in zip(replies, requests, strict=True)
    ]
    if case.kind != "conflict":
        return odds[0]
    *letters, none = requests[0].choices
    turned = dict(zip([*letters, none], [*letters[::-1], none], strict=True))
    return {letter: (odds[0][letter] + odds[1][other]) / 2 for letter, other in turned.items()}


def _of_reply(reply: Response, choices: Sequence[str]) -> dict[str, float]:
    """Returns the log-probability of each choice; for a server without odds from the reply
    alone.
    """
    if reply.odds:
        return {choice: reply.odds[choice] for choice in choices}
    return {choice: 0.0 if choice == reply.text else -9.0 for choice in choices}


def _chosen(case: Case, odds: Mapping[str, float], additive: frozenset[str]) -> Outcome:
    if case.kind != "conflict":
        same, other = odds.values()
        said = f"the model says that they are one by {same - other:.1f}"
        if same - other < _MARGIN:
            return Outcome("apart", said)
        programs = _copies(case, "canonicalize", (), said)
    else:
        best, second = sorted(odds, key=lambda choice: -odds[choice])[:2]
        margin = odds[best] - odds[second]
        said = f"the model chose {best} by {margin:.1f} over {second}"
        clear = best != _NONE and margin >= _MARGIN
        programs = (
            _copies(case, "resolve_conflict", case.choices[_LETTERS.index(best)], said)
            if clear
            else ()
        )
        if not programs:
            return Outcome("open", said)
    try:
        return repaired(case, programs, additive)
    except RepairError as error:
        return Outcome("open", f"the repair was refused: {error}")


def _copies(
    case: Case, operation: Operation, chosen: Sequence[str], reason: str
) -> tuple[Program, ...]:
    """Returns the programs that copy a value of every open column into all rows: from the chosen
    rows (no program when they lack a value that others contradict each other about), else from the
    side with most rows, then the longest value.
    """
    programs = []
    for name in case.open:
        place = case.group.columns.index(name)
        values = {row: cells[place] for row, cells in case.group.rows.items()}
        rows = chosen or max(
            case.choices, key=lambda rows: (len(rows), max(len(str(values[r] or "")) for r in rows))
        )
        source = next((row for row in rows if values[row] is not None), None)
        if source is not None:
            programs.append(
                Program(operation, name, (copy_sql(name, source, list(values), "rows"),), reason)
            )
        elif chosen:
            return ()
    return tuple(programs)
