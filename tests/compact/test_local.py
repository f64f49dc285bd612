"""The embedded model's child process; the tests that need its file run where it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sliders.compact import EMBEDDED, LocalServer, download_bar, local_model, physical_cores
from sliders.errors import ModelUnavailable
from sliders.llm import Message, Request
from sliders.settings import Settings, default_cache_dir
from tests.llm.requests import rows_request

needs_file = pytest.mark.skipif(
    not EMBEDDED.path(default_cache_dir()).is_file(),
    reason="the embedded model's file is not in the cache",
)


def test_one_model_a_process_for_equal_settings(tmp_path: Path) -> None:
    first = local_model(Settings(cache_dir=tmp_path))
    assert local_model(Settings(cache_dir=tmp_path)) is first
    assert local_model(Settings(cache_dir=tmp_path, local_context_tokens=4096)) is not first


def test_cores_are_counted() -> None:
    assert 1 <= physical_cores() <= (os.cpu_count() or 1)


async def test_the_guard_stops_it_before_anything_starts(tmp_path: Path) -> None:
    nowhere = tmp_path / "cache"
    with pytest.raises(ModelUnavailable, match="ALLOW_REQUESTS"):
        await local_model(Settings(cache_dir=nowhere)).generate(rows_request())
    assert os.listdir(tmp_path) == []


def test_a_file_that_is_no_model_gives_one_clear_line(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    path = tmp_path / "bad.gguf"
    path.write_bytes(b"not a model")
    with pytest.raises(ModelUnavailable, match="did not start"):
        LocalServer(path, 512, tmp_path / "log")


def test_the_bar_says_once_what_is_fetched_and_how_large(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with download_bar() as report:
        for done in (0, 10, 20):
            report("fetching", done, 1_117_320_768)
    told = capsys.readouterr().err
    assert told.count("1.12 GB") == 1 and EMBEDDED.file in told.replace("\n", "")


@pytest.mark.embedded
@pytest.mark.slow
@needs_file
async def test_it_answers_compactly_and_its_child_ends_with_it() -> None:
    model = local_model(Settings(local_context_tokens=2048))
    response = await model.generate(
        rows_request("Ann is 4 years old. Bob is 61 years old.", max_tokens=80)
    )
    await model.aclose()
    assert [row["age"] for row in response.data["rows"]] == [4, 61]
    assert response.text == json.dumps(response.data, separators=(",", ":"))
    assert response.usage.completion_tokens < 40
    model.stop()


@pytest.mark.embedded
@pytest.mark.slow
@needs_file
async def test_the_odds_of_a_choice_follow_the_text() -> None:
    model = local_model(Settings(local_context_tokens=2048))
    odds = []
    for told in ("The pilot was killed in the crash.", "The pilot walked away unhurt."):
        question = Message("user", f"{told}\n\nDid the pilot die? Answer yes or no.")
        odds.append(
            (await model.generate(Request("extract", (question,), choices=("yes", "no")))).odds
        )
    await model.aclose()
    model.stop()
    assert odds[0]["yes"] - odds[0]["no"] > odds[1]["yes"] - odds[1]["no"]
    assert all(-20 < log <= 0 for found in odds for log in found.values())


@pytest.mark.embedded
@pytest.mark.slow
@needs_file
def test_killing_the_parent_ends_the_child() -> None:
    program = (
        "import time, sys; from pathlib import Path; from sliders.compact import EMBEDDED, "
        "LocalServer; from sliders.settings import default_cache_dir; s = LocalServer("
        "EMBEDDED.path(default_cache_dir()), 512, Path(sys.argv[1])); "
        "print(s.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program, os.devnull],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    for _ in range(100):
        if not Path(f"/proc/{child}").exists():
            break
        time.sleep(0.1)
    assert not Path(f"/proc/{child}").exists()
