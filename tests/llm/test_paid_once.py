"""What a workspace pays for: every call is written down, none is paid twice, and a model behind a
server gives the answers that it gives here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sliders import Workspace
from sliders.llm import Usage
from sliders.llm.testing import requests_allowed
from sliders.retrieval import HashEmbedder
from tests.fake_server import FakeServer
from tests.worlds import ANSWERS, TEXTS, Reader, served

QUESTION = next(iter(ANSWERS))


def opened(path: Path, reader: Reader) -> Workspace:
    ws = Workspace(path, model=reader.model, embedder=HashEmbedder())
    for name, text in TEXTS.items():
        ws.add_text(text, name)
    return ws


def test_what_was_paid_for_is_not_asked_again(tmp_path: Path) -> None:
    with opened(tmp_path / "w.db", Reader()) as ws:
        first = ws.ask(QUESTION)
    reader = Reader()
    with opened(tmp_path / "w.db", reader) as ws:
        again = ws.ask(QUESTION)
    assert first.usage.calls > 0 and first.value == again.value == ANSWERS[QUESTION]
    assert reader.model.history == [] and again.usage.calls == 0


def test_every_call_of_a_run_is_written_down(tmp_path: Path) -> None:
    reader = Reader()
    with opened(tmp_path / "w.db", reader) as ws:
        answer = ws.ask(QUESTION)
        ledger = sum(ws.session.catalog.calls.usage(answer.run).values(), Usage())
    assert ledger.calls == answer.usage.calls == len(reader.model.history)
    assert ledger.tokens == answer.usage.tokens > 0


def test_a_model_behind_a_server_gives_the_answers_that_it_gives_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLIDERS_MODEL", raising=False)
    with (
        FakeServer(served) as server,
        requests_allowed(),
        Workspace(
            tmp_path / "w.db",
            model="reader",
            base_url=server.base_url,
            api_key="none",
            dialect="full",
            embedder=HashEmbedder(),
        ) as ws,
    ):
        for name, text in TEXTS.items():
            ws.add_text(text, name)
        answers = ws.ask_many(list(ANSWERS))
    assert {answer.question: answer.value for answer in answers} == ANSWERS
    assert {body["model"] for body in server.bodies} == {"reader"}
