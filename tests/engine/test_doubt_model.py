"""A second model is asked about the doubtful cells of a workspace; the records say what it said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sliders import Workspace
from sliders.engine import estimate
from sliders.errors import SettingsError
from sliders.llm import Request
from sliders.llm.testing import ONE_DOCUMENT, FunctionModel
from sliders.settings import Settings
from tests.worlds import TEXTS, reply


def unsure(request: Request) -> Any:
    """The perfect reader, unsure of every cost."""
    said = reply(request)
    for row in said.get("rows", ()) if isinstance(said, dict) else ():
        cells = row.get("cells", {})
        if "cost" in cells:
            held = cells["cost"] if isinstance(cells["cost"], dict) else {"value": cells["cost"]}
            cells["cost"] = {"words": f"{held['value']} euros", **held, "sure": False}
    return said


def agrees(request: Request) -> Any:
    prompt = request.messages[-1].content
    cost = next(n for n in (120, 340, 75) if f"{n} euros" in prompt)
    return {"cells": [{"number": 1, "value": cost, "words": [f"{cost} euros"]}]}


def test_a_second_model_is_asked_about_doubtful_cells_alone(tmp_path: Path) -> None:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    first = FunctionModel(unsure, dialect=ONE_DOCUMENT, name="small")
    second = FunctionModel(agrees, name="large")
    files = [tmp_path / name for name in TEXTS]
    with Workspace(tmp_path / "one.db", model=first) as ws:
        ws.add(files)
        assert ws.ask("What is the total cost?").doubts
    with Workspace(tmp_path / "two.db", model={"": first, "doubt": second}) as ws:
        ws.add(files)
        planned = estimate(ws.session, ["What is the total cost?"])
        assert "doubt" in str(planned) and "is asked about it" in str(planned)
        answer = ws.ask("What is the total cost?")
        assert (answer.value, answer.doubts) == (535, ())
        assert [request.stage for request in second.history] == ["doubt"] * 3
        told = ws.session.catalog.database.query(
            "SELECT reason FROM sl_decisions WHERE verdict = 'asked a second model'"
        )
    assert len(told) == 3 and all("small reads" in one and "large" in one for (one,) in told)


def test_a_doubt_model_is_a_setting() -> None:
    settings = Settings.from_env({"SLIDERS_DOUBT_MODEL": "large", "SLIDERS_MODEL": "small"})
    assert settings.model_name("doubt") == "large"
    with pytest.raises(SettingsError, match="doubt_model"):
        settings.changed(executor="ray")
