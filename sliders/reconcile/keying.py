"""The choice of a key by the model: it is asked once for each table, when rows of one key
contradict each other repeatedly, or when rows of several documents share a key.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sliders.errors import CallFailed
from sliders.extraction.cell import Scalar
from sliders.llm.dialect import Dialect
from sliders.llm.model import Model, Request
from sliders.llm.prompts import load_prompt
from sliders.reconcile.column_codes import ColumnTraits
from sliders.schema.types import KeyScope, Table

_SHOWN = 24  # rows that a prompt shows
_SCHEMA = {
    "type": "object",
    "properties": {
        "key": {"type": "array", "items": {"type": "string"}},
        "scope": {"type": "string", "enum": ["document", "collection"]},
        "reason": {"type": "string"},
    },
    "required": ["key", "scope", "reason"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class KeyReply:
    """The key that the model names (() when every row is a thing of its own), and its scope:
    "document" or "collection". When the model is not `sure`, the merged rows stay in doubt.
    """

    key: tuple[str, ...]
    scope: KeyScope
    reason: str
    sure: bool = True


@dataclass(frozen=True, slots=True)
class KeyVerdict:
    """The reply about a key (None when it cannot be used, or decides nothing), the reason, and the
    number of calls.
    """

    reply: KeyReply | None
    reason: str
    calls: int = 0


@dataclass(frozen=True, slots=True)
class KeyCase:
    """Rows that share a key, each with its document. They contradict each other (`disputed`), or
    come from several documents.
    """

    key: tuple[str, ...]
    rows: Sequence[tuple[str, Sequence[Scalar]]]
    disputed: bool


class ProposeKey(Protocol):
    """Asks a model for the key of a table; see `propose_key`."""

    async def __call__(
        self, model: Model, table: Table, profiles: Sequence[ColumnTraits], case: KeyCase
    ) -> KeyVerdict: ...


def key_request(
    table: Table, profiles: Sequence[ColumnTraits], case: KeyCase, dialect: Dialect
) -> Request:
    """Returns the request for the columns that identify one thing in a table, and for
    their scope.
    """
    prompt = load_prompt("reconcile/choose_key", dialect)
    columns = [
        {
            "name": c.name,
            "type": c.type.value,
            "description": c.description,
            "filled": f"{p.coverage:.0%}",
            "distinct": p.distinct,
        }
        for c, p in zip(table.columns, profiles, strict=True)
        if p.coverage  # a column that was never asked for is empty
    ]
    shown = [
        json.dumps(
            {n: v for n, v in zip(table.column_names, row, strict=True) if v is not None}
            | {"document": name},
            ensure_ascii=False,
        )
        for name, row in case.rows[:_SHOWN]
    ]
    messages = prompt.render(
        table=table.name,
        row=table.row,
        key=", ".join(case.key),
        columns=columns,
        rows=shown,
        disputed=case.disputed,
    )
    return Request("reconcile", messages, prompt.hash, _SCHEMA, max_tokens=200)


async def propose_key(
    model: Model, table: Table, profiles: Sequence[ColumnTraits], case: KeyCase
) -> KeyVerdict:
    """Asks the model for the key.

    Raises:
        ModelUnavailable: the model cannot be reached.
    """
    try:
        response = await model.generate(key_request(table, profiles, case, model.dialect))
    except CallFailed as error:
        return KeyVerdict(None, f"the model's reply could not be used ({error})", 1)
    named = tuple(dict.fromkeys(response.data["key"]))
    unknown = [name for name in named if name not in table.column_names]
    if unknown:
        return KeyVerdict(None, f"the model names {unknown[0]!r}, which is no column", 1)
    reason = str(response.data["reason"])
    whole: KeyScope = "collection" if response.data.get("scope") == "collection" else "document"
    return KeyVerdict(KeyReply(named, whole, reason), reason, 1)
