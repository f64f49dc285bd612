"""Which documents are samples, and how many rows documents list where the model, asked plainly,
says that there are several.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from sliders.api import Workspace
from sliders.engine import rows_told, samples
from sliders.errors import ModelRefusal
from sliders.llm import COMPACT, Request, Response
from sliders.llm.testing import FunctionModel
from sliders.schema import Column, Table

TEXT = "The Merrow, the Tern and the Auk sail from Abbotsquay."
FERRIES = Table("ferries", (Column("name"),), row="a ferry", grain="many")


async def told(
    names: list[str], odds: Mapping[str, float] | Exception | None
) -> tuple[int, list[Request]]:
    """How many rows one document tells of, where the model lists these names and its odds are
    these; what it was asked.
    """

    def reply(request: Request) -> Any:
        if not request.choices:
            return {"rows": [{"name": name} for name in names]}
        return odds if isinstance(odds, Exception) else Response("one", odds=dict(odds or {}))

    model = FunctionModel(reply, dialect=COMPACT)
    documents = SimpleNamespace(all=lambda: [SimpleNamespace(id="d")], text=lambda _: TEXT)
    session: Any = SimpleNamespace(
        models=SimpleNamespace(model_for=lambda _: model),
        catalog=SimpleNamespace(documents=documents),
        decide=lambda *_, **__: None,
    )
    ((rows,),) = await rows_told(session, [FERRIES])
    return len(rows), model.history


@pytest.mark.parametrize(
    ("odds", "rows"),
    [
        ({"one": -2.0, "several": -0.2}, 3),
        ({"one": -0.2, "several": -2.0}, 1),
        (None, 3),
        (ModelRefusal("no choice"), 3),
    ],
)
async def test_several_rows_are_several_where_the_plain_question_says_so(
    odds: Any, rows: int
) -> None:
    found, asked = await told(["Merrow", "Tern", "Auk", "Cormorant"], odds)
    assert found == rows
    assert all(
        request.choices == ("one", "several") and TEXT in request.messages[-1].content
        for request in asked[1:]
    )


@pytest.mark.parametrize("names", [["Merrow"], ["Cormorant", "Merrow"], []])
async def test_one_row_is_one_without_a_question(names: list[str]) -> None:
    found, asked = await told(names, None)
    assert found == ("Merrow" in names) and len(asked) == 1


def test_samples_are_chosen_again_only_where_there_are_other_documents(place: str) -> None:
    subjects = (
        "ferries that sail at night",
        "grades of honey",
        "a bridge of steel",
        "the price of rye",
    )

    def names(ws: Workspace) -> list[str]:
        return [sample.name for sample in samples(ws.session, keep=True)]

    with Workspace(place, model=FunctionModel({}, dialect=COMPACT)) as ws:
        for number, subject in enumerate(subjects):
            ws.add_text(f"{subject.capitalize()}. " * 20, f"{number}.txt")
        first = names(ws)
    with Workspace(place, model=FunctionModel({}, dialect=COMPACT)) as ws:
        with patch.object(
            ws.session.embedder, "embed", side_effect=AssertionError("chosen before")
        ):
            assert names(ws) == first and len(first) == COMPACT.samples
        ws.add_text("A fifth one, of tides. " * 20, "4.txt")
        with patch.object(ws.session.embedder, "embed", wraps=ws.session.embedder.embed) as embed:
            assert len(names(ws)) == COMPACT.samples and embed.called
