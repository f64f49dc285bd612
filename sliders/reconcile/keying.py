"""The choice of a key by the model: it is asked once for each table, when rows of one key
contradict each other repeatedly, or when rows of several documents share a key.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

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
    "document" or "collection".
    """

    key: tuple[str, ...]
    scope: KeyScope
    reason: str


@dataclass(frozen=True, slots=True)
class KeyCase:
    """Rows that share a key, each with its document. They contradict each other (`disputed`), or
    come from several documents.
    """

    key: tuple[str, ...]
    rows: Sequence[tuple[str, Sequence[Scalar]]]
    disputed: bool


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
) -> tuple[KeyReply | None, str]:
    """Asks the model for the key. Returns its reply (None when it cannot be used), and the reason.

    Raises:
        ModelUnavailable: the model cannot be reached.
    """
    try:
        response = await model.generate(key_request(table, profiles, case, model.dialect))
    except CallFailed as error:
        return None, f"the model's reply could not be used ({error})"
    named = tuple(dict.fromkeys(response.data["key"]))
    unknown = [name for name in named if name not in table.column_names]
    if unknown:
        return None, f"the model names {unknown[0]!r}, which is no column"
    reason = str(response.data["reason"])
    whole: KeyScope = "collection" if response.data.get("scope") == "collection" else "document"
    return KeyReply(named, whole, reason), reason
