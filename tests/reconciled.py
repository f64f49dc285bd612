"""Reconciliation as the product runs it: the repairs as SQL over the rows, and the rows that they leave."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from benchmarks.repair import rows_left
from sliders.llm.model import Model
from sliders.reconcile.reconcile import reconcile_table
from sliders.reconcile.relation import MemoryRelation
from sliders.reconcile.repairs import Options, Reconciliation
from sliders.schema.types import Table


@dataclass(frozen=True)
class Left:
    """A row that is left: its values, and the rows that went into it."""

    values: tuple[Any, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Reconciled:
    """A reconciliation (its attributes are those of this) and the rows that its SQL leaves."""

    rows: tuple[Left, ...]
    result: Reconciliation

    def __getattr__(self, name: str) -> Any:
        return getattr(self.result, name)


def reconciled(table: Table, relation: MemoryRelation, options: Options | None = None, model: Model | None = None) -> Reconciled:
    """Reconcile a table and run what comes out."""
    result = asyncio.run(reconcile_table(table, relation, options, model))
    after = rows_left(table, relation, result)
    rows = tuple(Left(row[:-4], tuple(json.loads(str(row[-1]))) if row[-1] else (str(row[-2]),)) for row in after)
    assert len(rows) == result.rows
    return Reconciled(rows, result)
