"""One short run with the real embedded model, from its file to a cited answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from sliders import Workspace
from sliders.compact import ensure_model
from sliders.errors import ModelUnavailable
from sliders.settings import default_cache_dir
from tests.worlds import document


@pytest.fixture(scope="module")
def model_file() -> Path:
    """The checked file, fetched when it is not there."""
    pytest.importorskip("xllamacpp", reason="the embedded model needs the extra 'local'")
    try:
        return ensure_model(default_cache_dir())
    except ModelUnavailable as error:
        if "hash" in str(error).lower() or "sha-256" in str(error).lower():
            raise  # a wrong file is a failure, not a missing network
        pytest.skip(f"the embedded model cannot be fetched here: {error}")


@pytest.mark.embedded
def test_the_embedded_model_answers_with_citations(
    model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SLIDERS_MODEL", "SLIDERS_BASE_URL", "SLIDERS_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert model_file.is_file()
    costs = {"Anchor": 120, "Beacon": 340, "Crane": 75}
    with Workspace(tmp_path / "ws.db") as ws:
        for name, cost in costs.items():
            ws.add_text(document(f"{name} Lighthouse", cost=f"{cost} euros"), f"{name.lower()}.txt")
        answer = ws.ask("What is the total cost of the lighthouses?")
        table = ws.schema.tables[0].name
        shown = ws.tables[table]
        problems = ws.verify()
    numbers = set(shown.select_dtypes("number").stack().tolist())
    assert set(costs.values()) <= numbers, "each cost was read from its document"
    assert answer.status == "answered"
    assert answer.value == sum(costs.values())
    assert {citation.document for citation in answer.citations} == {
        f"{name.lower()}.txt" for name in costs
    }
    assert problems == []
