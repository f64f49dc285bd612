"""A workspace that is closed and opened again is the same one, for who writes and for who reads
beside.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sliders import Workspace
from sliders.retrieval import HashEmbedder
from tests.worlds import ANSWERS, TEXTS, Reader


def opened(place: str | Path, **options: bool) -> Workspace:
    return Workspace(place, model=Reader().model, embedder=HashEmbedder(), **options)


def told(ws: Workspace) -> tuple[object, ...]:
    """Rows, runs and evidence as the workspace tells them."""
    frame = ws.tables["things"]
    why = [str(ws.why(row)) for row in frame["row_id"]]
    return frame.to_csv(), [(run.question, run.status) for run in ws.runs()], why


@pytest.fixture
def answered(place: str | Path) -> str | Path:
    """The place of a workspace in which all questions of the world were asked."""
    with opened(place) as ws:
        for name, text in TEXTS.items():
            ws.add_text(text, name)
        answers = ws.ask_many(list(ANSWERS))
    assert {answer.question: answer.value for answer in answers} == ANSWERS
    return place


def test_it_tells_the_same_when_it_is_opened_again(answered: str | Path) -> None:
    with opened(answered) as ws:
        first = told(ws)
        assert ws.verify() == []
    with opened(answered, write=False) as ws:
        assert told(ws) == first


def test_who_reads_beside_sees_what_stands(answered: str | Path) -> None:
    with opened(answered) as ws, opened(answered, write=False) as beside:
        assert told(beside) == told(ws)
        ws.set_value("things", "cost", "80 euros", {"name": "Crane"})
        ws.reconcile()
        assert told(beside) == told(ws)
        assert sorted(beside.tables["things"]["cost"]) == [80, 120, 340]
