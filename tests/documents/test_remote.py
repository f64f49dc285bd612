"""Files far away: read through fsspec's drivers, limited, and one clear line
when they cannot be.
"""

from __future__ import annotations

import functools
import http.server
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

import sliders
from sliders.documents import (
    LoadFailure,
    SourceFile,
    discover,
    is_address,
    load,
    load_each,
    load_source,
    shown,
)
from sliders.errors import DocumentError


@pytest.fixture
def memory() -> Iterator[None]:
    files = fsspec.filesystem("memory")
    texts = {
        "a.txt": "The lamp is lit.",
        "sub/b.md": "# Two\n\nA bridge.",
        "sub/c.bin": "no",
        ".d.txt": "hidden",
    }
    for name, text in texts.items():
        files.pipe_file(f"/shelf/{name}", text.encode())
    yield
    files.rm("/shelf", recursive=True)


class _Web(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; `/secret` is refused, `/unsized` says no length."""

    def do_GET(self) -> None:
        if self.path.startswith("/secret"):
            self.send_error(403)
        elif self.path.startswith("/unsized"):
            self.send_response(200)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(b"word " * 1_000_000)
        else:
            super().do_GET()

    do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "page.html").write_text("<html><body><p>The keeper lives here.</p></body></html>")
    (tmp_path / "blank.txt").write_text("")
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Web, directory=str(tmp_path))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_a_folder_a_glob_and_a_file_of_a_driver(memory: None) -> None:
    assert [s.name for s in discover("memory://shelf")] == [
        "memory:///shelf/a.txt",
        "memory:///shelf/sub/b.md",
    ]
    assert [s.name for s in discover("memory://shelf/*.txt")] == ["memory:///shelf/a.txt"]
    document = load("memory://shelf/a.txt")
    assert (document.name, document.source, document.text) == (
        "memory://shelf/a.txt",
        "memory://shelf/a.txt",
        "The lamp is lit.",
    )
    assert document.modified is not None


def test_an_archive_is_a_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("a.txt", "The first text.")
        archive.writestr("in/b.txt", "The second text.")
    found = discover(f"zip://::{tmp_path}/all.zip")
    assert [s.name for s in found] == [
        f"zip://a.txt::{tmp_path}/all.zip",
        f"zip://in/b.txt::{tmp_path}/all.zip",
    ]
    assert [d.text for d in load_each(found) if not isinstance(d, LoadFailure)] == [
        "The first text.",
        "The second text.",
    ]


def test_a_file_address_is_a_path(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Some words.")
    assert [s.name for s in discover([f"file://{tmp_path}", str(tmp_path / "a.txt")])] == ["a.txt"]


def test_a_web_page_is_cited_under_its_address(web: str, tmp_path: Path) -> None:
    with sliders.Workspace(tmp_path / "w.db") as ws:
        ws.add(f"{web}/page.html?version=2")
        stored = ws.session.catalog.documents.all()[0]
    assert (stored.name, stored.source) == (f"{web}/page.html?version=2",) * 2
    assert stored.media_type == "text/html"


def test_keys_in_addresses_are_neither_shown_nor_kept(web: str) -> None:
    signed = (
        web.replace("http://", "http://me:pass@") + "/page.html?X-Amz-Date=1&X-Amz-Signature=0123"
    )
    assert shown(signed) == f"{web}/page.html"
    assert [s.name for s in discover(signed)] == [f"{web}/page.html"]
    assert (
        shown("zip://a.txt::https://me:pass@host/z.zip?sig=1") == "zip://a.txt::https://host/z.zip"
    )
    with pytest.raises(DocumentError) as told:
        discover(f"{web}/nothing.txt?token=0123")
    assert "0123" not in str(told.value)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("{web}/nothing.txt", "the server answers 404"),
        ("{web}/secret.txt", "the server answers 403"),
        ("http://127.0.0.1:9/a.txt", "cannot be read .*Connect call failed"),
        ("memory://nowhere/a.txt", "there is no such file"),
        ("memory://nowhere/*.txt", "no documents in"),
        ("abfs://box/a.txt", "abfs:// needs a driver that is not installed"),
        ("nosuch://box/a.txt", "no driver knows"),
        ("zip://a.txt::{web}/page.html", "cannot be read"),
    ],
)
def test_what_cannot_be_reached_is_one_line(web: str, address: str, words: str) -> None:
    with pytest.raises(DocumentError, match=words) as told:
        discover(address.format(web=web))
    assert "\n" not in str(told.value)


def test_a_file_beyond_the_limit_is_not_read(web: str, memory: None, tmp_path: Path) -> None:
    for address in (f"{web}/unsized.txt", f"{web}/page.html", "memory://shelf/a.txt"):
        with pytest.raises(DocumentError, match=r"more than 0 MB; raise SLIDERS_MAX_FILE_MB"):
            load_source(SourceFile(Path(), address, address), max_bytes=10)
    (tmp_path / "long.txt").write_text("word " * 300_000)
    with sliders.Workspace(tmp_path / "w.db", max_file_mb=1) as ws:
        far = [f"{web}/{name}" for name in ("unsized.txt", "long.txt", "page.html", "blank.txt")]
        report = ws.add([*far, str(tmp_path / "long.txt")])
    assert len(report.new) == 1
    assert sorted(f.message.split(": ", 1)[1][:12] for f in report.failures) == [
        "1 MB is more",
        "1 MB is more",
        "it is more t",
        "the file is ",
    ]


def test_what_is_an_address() -> None:
    assert all(map(is_address, ["s3://b/x", "https://h", "zip://a::b", "ABFSS://x"]))
    assert not any(
        map(is_address, ["C://x", "a/b", "What is http://x about?", Path("s3://b"), "//host/x"])
    )
