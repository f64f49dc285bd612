"""A value that a question names and no row prints: every document is judged, and the model writes
its statement again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sliders
from sliders.llm import COMPACT, Request
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder

WOODS = [
    "Bavarian oak",
    "Norwegian pine",
    "Saxon beech",
    "Finnish birch",
    "Hessian ash",
    "Swedish fir",
] * 2
GERMAN = ("Bavarian", "Saxon", "Hessian")
QUESTION = "How many chairs are made of German wood?"
PROPOSED = {
    "sql": "SELECT COUNT(*) FROM chairs WHERE wood = 'German wood'",
    "row": "a chair",
    "in_document": "one",
    "columns": [
        {
            "asked": "made of wood",
            "name": "wood",
            "question": "What wood is it made of?",
            "type": "text",
        }
    ],
}


class Reader:
    """Copies the wood, judges its country, and counts by whichever column is shown."""

    def __init__(self) -> None:
        self.judged = 0

    def __call__(self, request: Request) -> Any:
        content = request.messages[-1].content
        if request.stage == "schema":
            return "D" if request.choices else PROPOSED  # D: other words
        if request.choices:
            assert "What wood is it made of? Is it German wood?" in content
            self.judged += 1
            return (
                {"yes": -0.1, "no": -5.0}
                if any(g in content for g in GERMAN)
                else {"yes": -5.0, "no": -0.1}
            )
        if request.stage == "extract":
            return {"wood": content.split("made of ")[1].split(".")[0]}
        test = "wood_german_wood = 1" if "wood_german_wood" in content else "wood = 'German wood'"
        return f"SELECT COUNT(*) FROM chairs WHERE {test}"


def asked(path: Path, reader: Reader, times: int = 1) -> sliders.Answer:
    with sliders.Workspace(
        path / "w.db", model=FunctionModel(reader, dialect=COMPACT), embedder=HashEmbedder()
    ) as ws:
        for number, wood in enumerate(WOODS):
            ws.add_text(f"Chair {number}. It is made of {wood}.", f"{number:02}.txt")
        return [ws.ask(QUESTION) for _ in range(times)][-1]


def test_the_documents_are_judged_where_no_row_prints_the_value(tmp_path: Path) -> None:
    reader = Reader()
    answer = asked(tmp_path, reader)
    assert answer.value == sum(wood.startswith(GERMAN) for wood in WOODS) and reader.judged == len(
        WOODS
    )
    assert "wood_german_wood = 1" in answer.sql and answer.completeness.judged_cells == len(WOODS)


def test_the_same_question_again_judges_nothing_anew(tmp_path: Path) -> None:
    reader = Reader()
    assert asked(tmp_path, reader, times=2).value == 6 and reader.judged == len(WOODS)
