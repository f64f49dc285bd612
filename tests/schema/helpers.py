"""What the tests of the schema room share: an embedding of words, replies, and a way to ask."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sliders.engine import ways_of
from sliders.llm import COMPACT, FULL, Dialect
from sliders.llm.testing import ScriptedModel
from sliders.schema import Grain, Induced, Sample, Schema

ROW = {"row": "a sailing"}
"""What questions that are asked together have in common."""
SAMPLES = (
    Sample(
        "merrow.txt", "Log of the ferry Merrow. Captain Ada Lund sailed with barley on 3 May 1998."
    ),
)


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Bags of words as unit vectors: texts without a common word are orthogonal."""
    words = sorted({word for text in texts for word in text.lower().split()})
    rows = np.array(
        [[float(text.lower().split().count(word)) for word in words] for text in texts],
        dtype=np.float32,
    )
    norms: NDArray[np.float32] = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.maximum(norms, 1e-9)).astype(np.float32)


def column(
    name: str, kind: str = "text", description: str = "what stands there", **options: Any
) -> dict[str, Any]:
    return {"name": name, "type": kind, "description": description, **options}


def table(name: str, *columns: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {"name": name, "row": f"one of {name}", "columns": list(columns), **options}


def reply(
    *tables: dict[str, Any],
    needs: Sequence[Sequence[str]] = (),
    missing: Sequence[tuple[int, str]] = (),
) -> dict[str, Any]:
    return {
        "tables": list(tables),
        "needs": [{"question": n, "columns": list(columns)} for n, columns in enumerate(needs, 1)],
        "not_covered": [{"question": n, "what": what} for n, what in missing],
    }


def ask(
    questions: Sequence[str],
    *replies: Any,
    schema: Schema | None = None,
    dialect: Dialect = FULL,
    grain: Grain | None = None,
) -> tuple[Induced, ScriptedModel]:
    row = [ROW] if dialect is COMPACT and len(questions) > 1 else []
    model = ScriptedModel([*row, *replies], dialect=dialect, context_tokens=32768)
    induce = ways_of(model).induction.induce
    found = asyncio.run(induce(questions, SAMPLES, schema or Schema(), model, embed, grain=grain))
    return found, model


def compact(
    sql: str, *columns: tuple[str, str, str], row: str = "a sailing", several: bool = False
) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [
        {"asked": ""} | dict(zip(("name", "question", "type"), part, strict=True))
        for part in columns
    ]
    return {
        "sql": sql,
        "row": row,
        "in_document": "several" if several else "one",
        "columns": parts,
    }


def facts(reply: dict[str, Any], of: str = "one sailing") -> dict[str, Any]:
    """The same proposal as a reply to the request for the facts of one row."""
    columns = [{"of": of, **part} for part in reply["columns"]]
    return {"columns": columns, "in_document": reply["in_document"], "sql": reply["sql"]}


def ask_compact(
    question: str, *replies: Any, schema: Schema | None = None, grain: Grain | None = None
) -> tuple[Induced, ScriptedModel]:
    return ask([question], *replies, schema=schema, dialect=COMPACT, grain=grain)
