"""The benchmark of the judged kind: labels of sets and written inputs, and its figures."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.planning.bench import Bench
from benchmarks.planning.kinds import compare, measured
from benchmarks.planning.labels import Labelled, kind_of, labelled
from sliders.llm.testing import requests_allowed
from sliders.settings import Settings
from tests.fake_server import FakeServer, Scripted


def made(folder: Path) -> Path:
    """One set with four questions of three kinds, and one whose label says nothing."""
    rows = [
        {"question": f"{kind} {n}?", "kind": kind}
        for n in range(2)
        for kind in ("lookup", "count", "multihop_2hop", "odd")
    ]
    (folder / "set" / "dev").mkdir(parents=True)
    (folder / "set" / "dev" / "gold.json").write_text(json.dumps(rows), encoding="utf-8")
    return folder


def test_labels_of_the_sets_say_the_kind() -> None:
    kinds = [
        kind_of({"kind": kind})
        for kind in ("lookup", "multihop_comparison", "tatqa_arithmetic", "group_sum", "odd", "")
    ]
    assert kinds == ["fact", "several", "calculation", "all", None, None]


def test_as_many_of_each_kind_as_there_are(tmp_path: Path) -> None:
    rows = labelled(14, ["set"], made(tmp_path))
    assert (
        sorted(row.kind for row in rows)
        == ["all"] * 2 + ["fact"] * 2 + ["no question"] * 2 + ["steps"] * 2
    )
    assert rows == labelled(14, ["set"], tmp_path)
    assert all("odd" not in row.text for row in rows)


def test_refused_questions_are_counted() -> None:
    rows = [
        Labelled("a", "fact"),
        Labelled("b", "all"),
        Labelled("c", "no question"),
        Labelled("d", "no question"),
    ]
    figures = measured(rows, ["fact", "no question", "no question", ""])
    assert (figures["analyzer.kind"], figures["analyzer.kind_questions"]) == (0.5, 4)
    assert (figures["analyzer.refused_questions"], figures["analyzer.answered_no_questions"]) == (
        1,
        1,
    )


def test_a_server_is_asked_once(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(
        "benchmarks.planning.kinds.labelled",
        lambda number, folder: labelled(number, ["set"], folder),
    )
    kinds = [row.kind for row in labelled(14, ["set"], made(tmp_path))]
    said = {"kinds": ["explanation", *kinds[1:]], "hints": []}
    with requests_allowed(), FakeServer(lambda body: Scripted(json.dumps(said))) as server:
        settings = Settings.from_env(model="reader", base_url=server.base_url, api_key="k")
        bench = Bench(tmp_path / "out", settings, 1, tmp_path)
        figures = [compare(bench, 14) for _ in range(2)]
        assert len(server.bodies) == 1
    assert figures[0] == figures[1] and figures[0]["analyzer.kind"] == 0.875
