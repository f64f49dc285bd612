"""Pinned tables get their row described once; nothing that the user gave changes."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from sliders.llm import COMPACT, FULL, Dialect
from sliders.llm.testing import ScriptedModel
from sliders.schema import Grain, Schema, complete_schema, schema_from
from tests.schema.helpers import SAMPLES

PINNED = schema_from({"Sailings": {"Captain": "text", "order": "integer"}})


def complete(
    schema: Schema, said: str = "one", dialect: Dialect = FULL, grain: Grain | None = None
) -> tuple[Schema, int]:
    model = ScriptedModel(
        {"schema": {"row": "one sailing", "rows_per_document": said}}, dialect=dialect
    )
    return asyncio.run(complete_schema(schema, SAMPLES, model, grain=grain)), len(model.history)


@pytest.mark.parametrize("dialect", [FULL, COMPACT])
def test_the_row_is_described_and_nothing_else_changes(dialect: Dialect) -> None:
    done, calls = complete(PINNED, dialect=dialect)
    table = done.tables[0]
    assert (table.row, table.grain, calls) == ("one sailing", "document", 1)
    assert replace(table, row="", grain="many") == PINNED.tables[0]
    assert complete(done)[1] == 0


def test_the_user_and_the_structure_know_better_than_the_model() -> None:
    single = Schema((replace(PINNED.tables[0], grain="document"),))
    assert complete(single, "several")[0].tables[0].grain == "document"
    assert complete(PINNED, "one", grain="many")[0].tables[0].grain == "many"
    assert complete(PINNED, "several")[0].tables[0].grain == "many"
