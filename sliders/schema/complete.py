"""The description of one row of a pinned table, asked for when the user did not give it; names,
types and columns stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel

from sliders.llm.dialect import Dialect
from sliders.llm.model import Model, Request
from sliders.llm.prompts import load_prompt
from sliders.schema.names import spoken_name
from sliders.schema.sample import Sample, fitted
from sliders.schema.types import Grain, Schema, Table


class CompletionReply(BaseModel):
    """What one row is, and how many rows a document fills."""

    row: str
    rows_per_document: Literal["one", "several"]


def completion_prompt(table: Table, samples: Sequence[Sample], dialect: Dialect) -> Request:
    """Returns the request that asks what one row of a pinned table is."""
    prompt = load_prompt("schema/complete", dialect)
    columns = ", ".join(map(spoken_name, table.column_names))
    return Request(
        stage="schema",
        messages=prompt.render(
            samples=list(samples), table=spoken_name(table.name), columns=columns
        ),
        prompt_hash=prompt.hash,
        reply=CompletionReply,
        max_tokens=120,
    )


async def complete_schema(
    schema: Schema, samples: Sequence[Sample], model: Model, *, grain: Grain | None = None
) -> Schema:
    """Returns the schema with a description of the row for each pinned table; one call for each
    that has none.

    Args:
        grain: the number of rows per document by the documents' structure. A table for which the
            user chose one row per document keeps it.

    Raises:
        ModelError: the model gave no usable reply.
    """
    shown = fitted(samples, model)
    for table in schema.tables:
        if table.pinned and not table.row:
            request = completion_prompt(table, shown, model.dialect)
            reply = CompletionReply.model_validate((await model.generate(request)).data)
            said: Grain = "document" if reply.rows_per_document == "one" else "many"
            kept = "document" if table.grain == "document" else grain or said
            schema = schema.with_table(
                replace(table, row=reply.row.strip() or spoken_name(table.name), grain=kept)
            )
    return schema
