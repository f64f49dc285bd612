"""A folder that is added again: files that were deleted, renamed or changed are noticed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sliders import Workspace
from sliders.cli import run
from sliders.retrieval import HashEmbedder
from tests.worlds import TEXTS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "papers"
    (root / "sub").mkdir(parents=True)
    for name, text in TEXTS.items():
        (root / name).write_text(text, "utf-8")
    (root / "sub" / "note.txt").write_text("A note on nothing.", "utf-8")
    return root


def names(ws: Workspace) -> set[str]:
    return {one.name for one in ws.session.catalog.documents.all()}


def test_deleted_renamed_and_changed_files_are_told(folder: Path, tmp_path: Path) -> None:
    with Workspace(tmp_path / "w.db", embedder=HashEmbedder()) as ws:
        ws.add(folder)
        (folder / "anchor.txt").unlink()
        (folder / "beacon.txt").rename(folder / "light.txt")
        (folder / "crane.txt").write_text(f"{TEXTS['crane.txt']}More.", "utf-8")
        report = ws.add(folder)
        assert str(report) == "0 new, 1 changed, 1 renamed, 1 known, 1 gone"
        assert report.gone == ("anchor.txt",)
        assert report.warnings == (
            "beacon.txt is now light.txt",
            "anchor.txt is no longer there and was kept; take it out with: sliders remove, or "
            "add --prune",
        )
        assert names(ws) == {"anchor.txt", "light.txt", "crane.txt", "sub/note.txt"}
        assert ws.verify() == []


def test_prune_takes_deleted_files_out(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["-w", str(tmp_path / "w.db")]
    assert run(["add", str(folder), *place]) == 0
    (folder / "anchor.txt").unlink()
    assert run(["add", str(folder), "--prune", *place]) == 0
    told = capsys.readouterr()
    assert "0 new, 3 known, 1 gone" in told.out
    assert "anchor.txt is no longer there and was taken out" in told.err
    with Workspace(tmp_path / "w.db", embedder=HashEmbedder()) as ws:
        assert names(ws) == {"beacon.txt", "crane.txt", "sub/note.txt"}


def test_a_folder_below_that_cannot_be_read_is_skipped_and_told(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain: Callable[..., Any] = os.scandir

    def refuse(path: Any) -> Any:
        if str(path).endswith("sub"):
            raise PermissionError(13, "Permission denied", str(path))
        return plain(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with Workspace(tmp_path / "w.db", embedder=HashEmbedder()) as ws:
        report = ws.add(folder)
        assert len(report.new) == 3 and report.passed_over == ("sub/",)
        why = "skipped sub/: the folder cannot be read (Permission denied); change its rights"
        assert report.warnings == (why,)
        assert ws.add(folder).gone == ()
