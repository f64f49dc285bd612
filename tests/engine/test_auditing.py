"""An audited sample: parts that the gate left out are read after all, and what
they changed is told.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import sliders
from sliders.answer import Answer
from sliders.engine import extrapolated
from sliders.errors import SettingsError
from sliders.llm import Request
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType
from tests.worlds import reply, shape_of

FILLER = "Nothing of note was seen on that day by anyone who was there. " * 90
THINGS = Table(
    "things",
    (Column("name"), Column("cost", ColumnType.NUMBER)),
    row="a thing",
    key=("name",),
    pinned=True,
)
QUESTION = "What is the total cost?"


def long_text() -> str:
    """A document of many parts: the first states a cost, and so does the last, which the gate
    does not let through.
    """
    parts = [FILLER.replace("day", f"day {part}") for part in range(8)]
    return (
        "The name is Anchor. The cost is 100 euros.\n\n"
        + "\n\n".join(parts)
        + "\n\nThe name is Beacon. The cost is 30 euros."
    )


MARKS = {"Anchor": "day 0", "Beacon": "The name is Beacon"}


def stated(words: tuple[str, int]) -> dict[str, object]:
    """A row as a good model gives it."""
    name, cost = words
    cells = {
        "name": {"value": name, "words": [name]},
        "cost": {"value": cost, "words": [f"{cost} euros"]},
    }
    return {"table": "things", "cells": cells}


def asked(path: str | Path, share: float) -> tuple[Answer, int]:
    def function(request: Request) -> object:
        if request.stage == "gate":
            return {"parts": [1]}
        prompt = "\n".join(m.content for m in request.messages)
        if "rows" in shape_of(request).get(
            "properties", ()
        ):  # the head of the document stands above each part
            return {
                "rows": [
                    stated(words)
                    for words in (("Anchor", 100), ("Beacon", 30))
                    if MARKS[words[0]] in prompt
                ]
            }
        return reply(request)

    model = FunctionModel(function, context_tokens=4000)
    with sliders.Workspace(path, model=model, embedder=HashEmbedder(), audit_share=share) as ws:
        ws.pin_schema(Schema((THINGS,)))
        ws.add_text(long_text(), "long.txt")
        answer = ws.ask(QUESTION)
        return answer, sum(request.stage == "extract" for request in model.history)


def test_without_an_audit_unread_parts_are_a_doubt(place: str | Path) -> None:
    answer, _ = asked(place, 0.0)
    assert answer.value == 100 and answer.range is not None and answer.range.is_point
    assert any("left out unread" in note for note in answer.range.notes)


def test_a_part_that_is_read_after_all_counts_and_widens_the_range(place: str | Path) -> None:
    _, before = asked(place, 0.0)
    answer, reads = asked(place, 1.0)
    assert answer.value == 130 and reads > 0 and before > 0
    assert answer.range is not None and any(
        "which changed it; still left out: 0" in d for d in answer.range.notes
    )
    again, reads = asked(place, 1.0)
    assert again.value == 130 and reads == 0


def test_what_a_sample_changed_is_extrapolated() -> None:
    assert (
        extrapolated(130, 100, 2, 4) == 190
        and extrapolated(100, 100, 5, 50) == 100
        and extrapolated(3, None, 1, 2) == 3
    )


def test_a_share_is_between_nothing_and_all(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="audit_share"):
        sliders.Workspace(tmp_path / "w.db", audit_share=1.5)
