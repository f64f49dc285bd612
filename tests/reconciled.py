"""Reconciliation as the product runs it: the repairs as SQL over the rows, and the
rows that they leave.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from benchmarks.repair import canonical_columns, rows_left
from sliders.engine import ways_of
from sliders.llm import COMPACT, Model, Request
from sliders.llm.testing import FunctionModel
from sliders.reconcile import PROGRAMS, MemoryRelation, Options, Reconciliation, reconcile_table
from sliders.schema import Table


@dataclass(frozen=True)
class Left:
    """A row that is left: its values, the rows that went into it, and names by column where
    forms of one were joined.
    """

    values: tuple[Any, ...]
    sources: tuple[str, ...]
    names: dict[str, Any]


@dataclass(frozen=True)
class Reconciled:
    """A reconciliation (its attributes are those of this) and the rows that its SQL leaves."""

    rows: tuple[Left, ...]
    result: Reconciliation

    def __getattr__(self, name: str) -> Any:
        return getattr(self.result, name)


def yes_or_no(verdict: str) -> FunctionModel:
    """A model that picks: it says the same of every pair, and chooses nothing else."""

    def reply(request: Request) -> Any:
        if request.choices:
            said = request.choices[verdict == "no"]
            return {choice: -0.1 if choice == said else -3.0 for choice in request.choices}
        return verdict

    return FunctionModel(reply, dialect=COMPACT)


def reconciled(
    table: Table,
    relation: MemoryRelation,
    options: Options | None = None,
    model: Model | None = None,
) -> Reconciled:
    """Reconcile a table and run what comes out."""
    repairer = ways_of(model).repairer if model else PROGRAMS
    result = asyncio.run(reconcile_table(table, relation, options, model, repairer))
    after = rows_left(table, relation, result)
    size, named = len(table.columns), canonical_columns(result)
    sources = [tuple(json.loads(str(row[-1]))) if row[-1] else (str(row[-2]),) for row in after]
    names = [dict(zip(named, row[size:], strict=False)) for row in after]
    rows = tuple(Left(row[:size], *more) for row, *more in zip(after, sources, names, strict=True))
    assert len(rows) == result.rows
    return Reconciled(rows, result)
