"""The optimizer's benchmark with a model: a double that copies from the prompt stands for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks import optimizer_suites
from benchmarks.optimizer_model import measure_model
from benchmarks.optimizer_suites import open_suite
from sliders.llm import Request
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from tests.worlds import asked_columns, shape_of

FOLLOWS = {"name": r"person is (\w+ \w+)", "birth_place_partial": r"born in the town of (\w+)"}
TOWNS = ("Arden", "Brill")


@pytest.fixture
def evals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite of ten short documents."""
    monkeypatch.setattr(optimizer_suites, "SUITES", {"tiny": (("people", tuple(FOLLOWS)),)})
    monkeypatch.setattr("benchmarks.optimizer_model.SUITES", {"tiny": ()})
    docs, tables = tmp_path / "tiny" / "dev" / "docs", tmp_path / "tiny" / "dev" / "tables"
    docs.mkdir(parents=True)
    tables.mkdir()
    lines = ["doc,name,birth_place_partial"]
    for number in range(10):
        name, town = f"Ada Mill{'abcdefghij'[number]}", TOWNS[number % 2]
        (docs / f"p{number}.txt").write_text(
            f"The person is {name}.\n\nThe person was born in the town of {town}.\n"
        )
        lines.append(f"p{number}.txt,{name},{town}")
    (tables / "people.csv").write_text("\n".join(lines))
    return tmp_path


def copying(right: bool = True) -> FunctionModel:
    """Copies what follows the attribute's words; a wrong one finds nothing."""

    def reply(request: Request) -> Any:
        prompt = request.messages[-1].content
        if "rows" not in shape_of(request)["properties"]:
            return {"texts": []}
        rows = []
        for table, columns in asked_columns(prompt):
            found = {name: re.search(FOLLOWS[name], prompt) for name in columns} if right else {}
            cells = {
                name: {"value": match[1], "words": [match[1]]}
                for name, match in found.items()
                if match
            }
            rows.append({"table": table, "cells": cells})
        return {"rows": rows}

    return FunctionModel(reply, context_tokens=16_000)


def measured(evals: Path, model: FunctionModel, **changes: Any) -> dict[str, float]:
    options: dict[str, Any] = {"count": 3, "documents": 6, "minutes": 5.0} | changes
    return measure_model(evals, ["tiny"], seed=1, model=model, embedder=HashEmbedder(), **options)


def test_a_model_that_reads_rightly_scores_like_the_double(evals: Path) -> None:
    figures = measured(evals, copying())
    assert figures["model_queries"] == 3
    assert figures["model_f1"] == figures["double_f1"] == 1.0
    assert 0 < figures["model_vs_scan"] <= 1.5


def test_a_model_that_finds_nothing_scores_nothing(evals: Path) -> None:
    figures = measured(evals, copying(right=False))
    assert figures["model_f1"] == 0.0
    assert figures["double_f1"] == 1.0


def test_no_query_is_begun_after_the_time(evals: Path) -> None:
    assert measured(evals, copying(), minutes=0.0) == {"model_queries": 0}


def test_some_documents_are_spread_over_all(evals: Path, tmp_path: Path) -> None:
    suite = open_suite("tiny", evals, tmp_path / "cache", documents=3, embedder=HashEmbedder())
    with suite.workspace:
        assert sorted(suite.names.values()) == ["p0.txt", "p3.txt", "p6.txt"]
        assert set(suite.tables["people"].rows) == {"p0.txt", "p3.txt", "p6.txt"}
