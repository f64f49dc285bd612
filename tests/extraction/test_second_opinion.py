"""A second model is asked about doubtful cells alone, and clears a doubt with words alone."""

from __future__ import annotations

from typing import Any

import pytest

from sliders.extraction import Extraction, read_chunks, second_opinions
from sliders.llm.testing import FunctionModel

from .passages import FERRIES, asked_for, source_of

TEXT = "The ferry Merrow takes 20 cars, and in winter 12 cars."


async def asked(said: Any) -> tuple[Extraction, FunctionModel]:
    """What is left after a first model is unsure of the cars, and a second one says something."""
    unsure = {"value": 20, "words": ["20 cars"], "sure": False}
    first = FunctionModel(lambda _: {"rows": [{"cells": {"name": "Merrow", "cars": unsure}}]})
    second = FunctionModel(lambda _: said, name="large")
    sources, tables = [source_of(TEXT)], asked_for(FERRIES)
    found = await read_chunks(sources, tables, first)
    assert [cell.column for cell in found[0].rows[0].cells if cell.doubt] == ["cars"]
    (again,) = await second_opinions(sources, found, tables, second)
    return again, second


def cars(found: Extraction) -> Any:
    return found.rows[0].cell("cars")


@pytest.mark.parametrize(
    ("said", "clear", "told"),
    [
        ({"value": 20, "words": ["20 cars"]}, True, "the doubt goes"),
        ({"value": 20, "words": ["20 lorries"]}, False, "the doubt stays"),
        ({"value": 20, "words": ["20 cars"], "sure": False}, False, "the doubt stays"),
        ({"value": 12, "words": ["12 cars"]}, False, "large 12; the doubt stays"),
        ({"value": None}, False, "large None; the doubt stays"),
    ],
)
async def test_agreement_clears_a_doubt_where_the_words_verify(
    said: dict[str, Any], clear: bool, told: str
) -> None:
    found, second = await asked({"cells": [{"number": 1, **said}]})
    assert cars(found).value == 20 and (cars(found).doubt == "") is clear
    (change,) = found.changes
    assert told in change.told and "large" in change.told and change.before == change.value == 20
    (request,) = second.history
    assert request.stage == "doubt" and "Merrow takes" in request.messages[-1].content
    if said["value"] == 12:
        assert "large reads 12" in cars(found).doubt


async def test_a_reply_without_the_cell_changes_nothing() -> None:
    found, _ = await asked({"cells": [{"number": 7, "value": 20, "words": ["20 cars"]}]})
    assert cars(found).doubt and not found.changes


async def test_nothing_is_asked_where_nothing_is_doubtful() -> None:
    said = {"rows": [{"cells": {"name": "Merrow", "cars": 20}}]}
    first, second = FunctionModel(lambda _: said), FunctionModel(lambda _: {"cells": []})
    found = await read_chunks([source_of(TEXT)], asked_for(FERRIES), first)
    assert await second_opinions([source_of(TEXT)], found, asked_for(FERRIES), second) == found
    assert second.history == []
