"""Every question about the shared reports has the answer that they state, with the words that say
so.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sliders import Workspace
from sliders.retrieval import HashEmbedder
from tests.worlds import ANSWERS, TEXTS, Reader


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    place = tmp_path_factory.mktemp("world") / "w.db"
    with Workspace(place, model=Reader().model, embedder=HashEmbedder()) as ws:
        for name, text in TEXTS.items():
            ws.add_text(text, name)
        yield ws


@pytest.mark.parametrize(("question", "value"), ANSWERS.items())
def test_an_answer_is_what_the_documents_state(ws: Workspace, question: str, value: object) -> None:
    answer = ws.ask(question)
    assert (answer.status, answer.value) == ("answered", value)
    assert answer.citations and not answer.doubts
    for citation in answer.citations:
        assert citation.quote in TEXTS[citation.document]
    assert ws.verify() == []
