"""The engine's measurements on tiny sizes: what they count is counted right, and the scripted
server does its part.
"""

from __future__ import annotations

import json
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from benchmarks.engine.__main__ import markdown
from benchmarks.engine.child import finish, start
from benchmarks.engine.corpus import files_of, made_up, unpacked
from benchmarks.engine.scale import exponent, scale, warm
from benchmarks.engine.server import COLUMNS, Script, Server, words_for
from benchmarks.engine.stages import Throughput, figures, measure_stages, table
from benchmarks.engine.utilisation import utilisation
from sliders.extraction import Asked, read_prompt
from sliders.llm.testing import requests_allowed

JUDGMENT = "Ash v Elm\n\nHeard on 3 May 2006.\n\n{}\n\nJUDGE: OAK J\n\nJudgment of 9 June 2007.\n"


@pytest.fixture(autouse=True)
def _own_server() -> Iterator[None]:
    with requests_allowed():
        yield


@pytest.fixture
def judgments(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "judgments"
    folder.mkdir()
    for number in range(6):
        (folder / f"{number}.txt").write_text(
            JUDGMENT.format(f"Ground {number} is dismissed. " * 20)
        )
    return sorted(folder.glob("*.txt"))


def _body(content: str = "hello", shape: object = None) -> dict[str, object]:
    form = {"type": "json_schema", "json_schema": {"schema": shape}} if shape else None
    return {"messages": [{"role": "user", "content": content}], "response_format": form}


def test_the_script_copies_words_of_the_document() -> None:
    request = read_prompt([JUDGMENT.format("x")], [Asked(table(), table().columns)], 100)
    (row,) = json.loads(Script().reply(_body(request.messages[-1].content, request.json_schema)))[
        "rows"
    ]
    expected = {
        "case_name": "Ash v Elm",
        "judge": "OAK",
        "hearing_date": "3 May 2006",
        "judgment_date": "9 June 2007",
    }
    assert (row["table"], {name: cell["words"] for name, cell in row["cells"].items()}) == (
        "judgments",
        {name: [words] for name, words in expected.items()},
    )
    assert all(words_for(name, "nothing of it here") is None for name in COLUMNS)


def test_the_server_answers_after_its_latency_and_counts() -> None:
    with Server(0.15) as server:
        began = time.monotonic()
        said = httpx.post(f"{server.base_url}/chat/completions", json=_body()).json()
        assert time.monotonic() - began >= 0.15
        assert said["choices"][0]["message"]["content"] == "not found"
        assert server.counts()["calls"] == 1


def test_one_call_a_chunk_is_measured(tmp_path: Path) -> None:
    found = utilisation(tmp_path / "w.db", chunks=24, slots=8, latency=0.02)
    assert found["utilisation_rows"] == 24
    assert found["utilisation_most_in_flight"] <= 8
    assert found["utilisation"] == pytest.approx(24 * 0.02 / 8 / found["utilisation_seconds"])
    assert found["utilisation"] <= 1


def test_every_stage_is_measured_over_all_chunks(tmp_path: Path, judgments: list[Path]) -> None:
    stages = {stage.stage: stage for stage in measure_stages(judgments, tmp_path / "stages")}
    assert {
        "parse",
        "chunk",
        "store_documents",
        "index_words",
        "ground",
        "store_rows",
        "model_door",
    } <= set(stages)
    assert stages["parse"].chunks == stages["store_rows"].chunks == len(judgments)
    assert (
        stages["ground"].rows
        == stages["store_rows"].rows
        == stages["materialise"].rows
        == len(judgments)
    )
    assert all(stage.seconds > 0 for stage in stages.values())


def test_the_slowest_stage_is_that_of_one_core_and_on_every_call_s_way() -> None:
    one = [
        Throughput("parse", 1.0, 10**6, 100),
        Throughput("ground", 2.0, 10**6, 100, 30),
        Throughput("embed", 1.0, 1, 1),
    ]
    flat = figures(one, [one, one])
    assert flat["slowest_stage_calls_per_s"] == 50
    assert flat["all_stages_calls_per_s"] == pytest.approx(100 / 3)
    assert flat["stages.parse.mb_per_s"] == 1 and flat["stages_two_cores.parse.mb_per_s"] == 2
    assert flat["stages.ground.rows_per_s"] == 15


def test_the_pipeline_runs_whole_and_then_warm(tmp_path: Path, judgments: list[Path]) -> None:
    found = scale(judgments, tmp_path / "w.db", latency=0.5, slots=4)  # calls, not noise, decide
    assert found["documents"] == found["rows"] == len(judgments)
    assert found["answered"] == 1 and found["calls"] >= len(judgments)
    assert found["db_mb"] > 0 and found["peak_mb"] > 50
    again = warm(tmp_path / "w.db", slots=4)
    assert again["warm_same_calls"] == 0 and again["warm_first_calls"] == 2, (
        "its hints, and its SQL"
    )
    assert 0 < again["warm_s"] < found["minutes"] * 60


def test_a_child_takes_more_file_names_than_an_argument_holds(tmp_path: Path) -> None:
    missing = [str(tmp_path / ("x" * 200) / f"{number}.txt") for number in range(1000)]
    with pytest.raises(RuntimeError, match="its error stands above"):
        finish(start("stages", files=missing, folder=str(tmp_path / "stages")))


def test_growth_is_the_slope_of_the_logarithms() -> None:
    runs = [{"tokens": n, "minutes": 3 * n**2} for n in (10.0, 100.0, 1000.0)]
    assert exponent(runs) == pytest.approx(2)
    with pytest.raises(ValueError, match="two sizes"):
        exponent(runs[:1])


def test_documents_are_unpacked_once_and_taken_by_name_up_to_the_size(
    tmp_path: Path, judgments: list[Path]
) -> None:
    (tmp_path / "scale_fca").mkdir()
    with tarfile.open(tmp_path / "scale_fca" / "docs.tar.xz", "w:xz") as tar:
        for path in judgments:
            tar.add(path, f"docs/{path.name}")
    folder = unpacked(tmp_path, tmp_path / "here")
    assert unpacked(tmp_path, tmp_path / "here") == folder
    size = judgments[0].stat().st_size
    assert [p.name for p in files_of(folder, size // 4 + 1)] == ["0.txt", "1.txt"]
    with pytest.raises(FileNotFoundError, match="--evals"):
        unpacked(tmp_path / "nowhere", tmp_path / "there")


def test_made_up_texts_differ_and_are_the_same_every_time() -> None:
    assert len(set(made_up(5))) == 5
    assert list(made_up(5)) == list(made_up(5))


def test_the_table_says_which_goals_are_met() -> None:
    shown = markdown({"utilisation": 0.96, "warm_s": 2.5, "calls": 12345.0})
    assert "| `utilisation` | 0.96 | at least 0.95 | met |" in shown
    assert "| `warm_s` | 2.5 | at most 2 | missed |" in shown
    assert "| `calls` | 12,345 |  |  |" in shown
