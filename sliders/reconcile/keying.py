"""The key by the agent: asked once where rows that share the key as first thought of contradict each other again and again."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sliders.errors import ModelRefusal, TruncatedReply
from sliders.extraction.cell import Scalar
from sliders.llm.dialect import Dialect
from sliders.llm.model import Model, Request
from sliders.llm.prompts import load_prompt
from sliders.reconcile.column_codes import ColumnProfile
from sliders.schema.types import Table

_SHOWN = 24  # rows that a prompt shows
_SCHEMA = {
    "type": "object",
    "properties": {"key": {"type": "array", "items": {"type": "string"}}, "reason": {"type": "string"}},
    "required": ["key", "reason"],
    "additionalProperties": False,
}


def key_request(
    table: Table, profiles: Sequence[ColumnProfile], key: Sequence[str], rows: Sequence[Sequence[Scalar]], dialect: Dialect
) -> Request:
    """The question what identifies one thing in a table; pure.

    Args:
        key: as it was chosen so far.
        rows: rows that are one thing under it and contradict each other, one after the other.
    """
    prompt = load_prompt("reconcile/choose_key", dialect)
    columns = [
        {"name": c.name, "type": c.type.value, "description": c.description, "filled": f"{p.coverage:.0%}",
         "distinct": p.distinct}
        for c, p in zip(table.columns, profiles, strict=True) if p.coverage  # a column that was never asked for is empty
    ]  # fmt: skip
    shown = [
        json.dumps({n: v for n, v in zip(table.column_names, row, strict=True) if v is not None}, ensure_ascii=False)
        for row in rows[:_SHOWN]
    ]
    messages = prompt.render(table=table.name, row=table.row, key=", ".join(key), columns=columns, rows=shown)
    return Request("reconcile", messages, prompt.hash, _SCHEMA, max_tokens=200)


async def propose_key(
    model: Model, table: Table, profiles: Sequence[ColumnProfile], key: Sequence[str], rows: Sequence[Sequence[Scalar]]
) -> tuple[tuple[str, ...] | None, str]:
    """The key that the model names, empty for "every row is a thing of its own", None where no usable reply came; and why.

    Raises:
        ModelUnavailable: the model cannot be reached.
    """
    try:
        response = await model.generate(key_request(table, profiles, key, rows, model.dialect))
    except (ModelRefusal, TruncatedReply) as error:
        return None, f"the model's reply could not be used ({error})"
    named = tuple(dict.fromkeys(response.data["key"]))
    unknown = [name for name in named if name not in table.column_names]
    if unknown:
        return None, f"the model names {unknown[0]!r}, which is no column"
    return named, str(response.data["reason"])
