"""Model files of the user: what their head says, how they are asked, and how they are fetched."""

from __future__ import annotations

import hashlib
import http.server
import json
import struct
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from sliders.cli import run
from sliders.compact import model_head, pull_file
from sliders.engine import connect
from sliders.errors import ModelUnavailable
from sliders.llm import COMPACT, FULL
from sliders.llm.testing import requests_allowed
from sliders.settings import Budget, Settings


def text(words: str) -> bytes:
    return struct.pack("<Q", len(words)) + words.encode()


def gguf(folder: Path, *, billions: float, name: str = "tiny.gguf") -> Path:
    """A file with the head of a model of so many parameters, and no weights."""
    members = [
        text("general.architecture") + struct.pack("<I", 8) + text("llama"),
        text("llama.context_length") + struct.pack("<II", 4, 2048),
        text("tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b"),
    ]
    sizes = (1000, int(billions * 1e6))
    tensor = text("weights") + struct.pack("<IQQIQ", 2, *sizes, 0, 0)
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, len(members))
    path = folder / name
    path.write_bytes(head + b"".join(members) + tensor)
    return path


def test_a_head_tells_size_and_window(tmp_path: Path) -> None:
    head = model_head(gguf(tmp_path, billions=1.5))
    assert (head.name, head.parameters, head.context_tokens) == ("tiny", 1_500_000_000, 2048)
    assert head.identity != model_head(gguf(tmp_path, billions=7, name="other.gguf")).identity


@pytest.mark.parametrize("content", [b"", b"GGUF", b"#!/bin/sh", b"GGUF" + bytes(20) + b"\xff" * 9])
def test_what_is_no_model_file_is_said(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / f"{len(content)}.gguf"
    path.write_bytes(content)
    if content.endswith(b"\xff"):
        path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + b"\xff" * 9)
    with pytest.raises(ModelUnavailable, match="no GGUF file"):
        model_head(path)
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        model_head(tmp_path / "none.gguf")


def test_small_files_are_asked_compactly_large_ones_fully_unless_told_otherwise(
    tmp_path: Path,
) -> None:
    small = str(gguf(tmp_path, billions=1.5))
    large = str(gguf(tmp_path, billions=7, name="large.gguf"))
    for name, dialect, wanted in (
        (small, "auto", COMPACT),
        (large, "auto", FULL),
        (small, "full", FULL),
        (large, "compact", COMPACT),
    ):
        models = connect(Settings(model=name, dialect=dialect, cache_dir=tmp_path))
        model = models.model_for("extract")
        assert model.dialect is wanted and models.serves_one("extract")
        assert (model.name, model.context_tokens) == (Path(name).stem, 2048)
    at_a_server = Settings(model=small, base_url="http://127.0.0.1:1/v1")
    assert connect(at_a_server).model_for("extract").dialect is FULL
    with pytest.raises(ModelUnavailable, match=r"nowhere\.gguf"):
        connect(Settings(model=str(tmp_path / "nowhere.gguf")))


def test_a_file_costs_nothing_so_that_a_limit_of_money_needs_no_price(tmp_path: Path) -> None:
    settings = Settings(model=str(gguf(tmp_path, billions=1)), budget=Budget(max_cost=1.0))
    assert connect(settings).model_for("extract").name == "tiny"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server of the files in a folder."""
    served = tmp_path / "served"
    served.mkdir()
    gguf(served, billions=1)
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(served))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with requests_allowed():
            yield f"http://127.0.0.1:{server.server_address[1]}/tiny.gguf"
        server.shutdown()


def test_a_file_is_fetched_once_and_only_with_its_hash(address: str, tmp_path: Path) -> None:
    right = hashlib.sha256((tmp_path / "served" / "tiny.gguf").read_bytes()).hexdigest()
    path = pull_file(address, right, tmp_path / "cache")
    assert path == tmp_path / "cache" / "models" / "tiny.gguf"
    assert model_head(path).parameters == 10**9
    with pytest.raises(ModelUnavailable, match="SHA-256"):
        pull_file(address, "0" * 64, tmp_path / "other")
    with pytest.raises(ModelUnavailable, match="404"):
        pull_file(address + "x", right, tmp_path / "other")


def test_the_command_wants_a_hash(
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SLIDERS_CACHE_DIR", str(tmp_path / "cache"))
    assert run(["model", "pull", address]) == 2
    assert "--sha256" in capsys.readouterr().err
    right = hashlib.sha256((tmp_path / "served" / "tiny.gguf").read_bytes()).hexdigest()
    assert run(["model", "pull", address, "--sha256", right, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sha256"] == right
