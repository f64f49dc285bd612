"""A workspace or folder that is removed while it is used, and cells that look like formulas."""

from __future__ import annotations

import csv
import os
import shutil
from pathlib import Path

import pytest

from sliders.cli import run
from sliders.errors import StoreError
from tests.engine.test_undo_and_plain_queries import QUESTION, text, workspace


@pytest.mark.parametrize("what", ["file", "folder", "moved", "replaced"])
def test_a_workspace_that_is_gone_is_told_and_nothing_is_lost_in_silence(
    what: str, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    file = folder / "w.db"
    ws = workspace(file)
    ws.ask(QUESTION)
    if what == "file":
        file.unlink()
    elif what == "folder":
        shutil.rmtree(folder)
    elif what == "moved":
        folder.rename(tmp_path / "out")
    else:
        shutil.copy(file, folder / "copy.db")
        os.replace(folder / "copy.db", file)
    for act in (lambda: ws.add_text(text("Door", 5), "d.txt"), lambda: ws.ask(QUESTION)):
        with pytest.raises(StoreError, match="moved, removed or replaced"):
            act()
    ws.close()


def test_a_workspace_that_stays_is_written(tmp_path: Path) -> None:
    with workspace(tmp_path / "w.db") as ws:
        ws.add_text(text("Door", 5), "d.txt")
        assert ws.ask(QUESTION).value == 45


def test_a_folder_that_is_gone_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    shutil.rmtree(folder)
    for command in (["tables"], ["add", "."], ["export", "o.db"], ["view"]):
        assert run(command) == 1
        told = capsys.readouterr().err
        assert told.count("\n") == 1 and ("gone" in told or "does not exist" in told)


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@a", " =1", "\t=1", "＝1", "|a"])
def test_text_that_looks_like_a_formula_is_told_apart(
    cell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with workspace(tmp_path / "w.db") as ws:
        ws.ask(QUESTION)
        ws.set_value("things", "keeper", cell, {"name": "Beacon"})
        ws.reconcile()
    place = ["-w", str(tmp_path / "w.db")]
    for safe, before in ((["--csv-safe"], "'"), (["--format", "csv"], "")):
        target = tmp_path / f"out{len(before)}"
        assert run(["export", str(target), *safe, *place]) == 0
        capsys.readouterr()
        with (target / "things.csv").open(newline="") as file:
            kept = {line["name"]: line["keeper"] for line in csv.DictReader(file)}
        assert kept["Beacon"].startswith(before) and kept["Beacon"].lstrip("'") in (
            cell,
            cell.strip(),
        )
        assert run(["query", "SELECT keeper, -cost AS less FROM things", *safe, *place]) == 0
        printed = list(csv.DictReader(capsys.readouterr().out.splitlines()))
        assert any(line["keeper"].startswith(before + cell.strip()) for line in printed)
        assert all(not line["less"].startswith("'") for line in printed)


def test_two_formats_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["query", "SELECT 1", "--csv-safe", "--format", "markdown"]) == 2
    assert run(["export", "out", "--csv-safe", "--format", "excel"]) == 2
    assert "two formats" in capsys.readouterr().err
