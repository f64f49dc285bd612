"""Workspaces that were made before open as they are: commands say of them what they said then.

How they were made is in `tests/workspaces/make.py`; `full` and `server` are of layout 5, `older`
is of layout 4.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

import sliders
from sliders.errors import StoreError
from tests.workspaces import kept, texts, told

NEWER = 1000


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [
        v
        for v in os.environ
        if v.startswith(("SLIDERS_", "OPENAI_")) and v != "SLIDERS_TEST_POSTGRES"
    ]:
        monkeypatch.delenv(variable)


@pytest.mark.parametrize("name", kept.NAMES)
def test_an_old_workspace_says_what_it_said(name: str, tmp_path: Path) -> None:
    place = kept.migrated(name, tmp_path)
    for kind, tell in texts.KINDS.items():
        assert texts.difference(name, kind, tell(place, tmp_path)) == ""


def test_a_file_of_an_older_layout_is_opened_for_writing_once(tmp_path: Path) -> None:
    place = kept.laid_out("older", tmp_path)
    assert told.said(["tables", "-w", place], place).splitlines()[1:] == [
        "(exit code 1)",
        "! sliders: workspace 'WORKSPACE' has an old layout (4); "
        "open it once for writing to migrate it",
    ]
    before = Path(place).read_bytes()
    with pytest.raises(StoreError, match="has an old layout"):
        sliders.Workspace(place, write=False)
    assert Path(place).read_bytes() == before
    with sliders.Workspace(place):
        pass
    assert "(exit code 0)" in told.said(["tables", "-w", place], place)


def newer_file(folder: Path) -> str:
    place = kept.laid_out("full", folder)
    with contextlib.closing(sqlite3.connect(place)) as made:
        made.execute(f"PRAGMA user_version = {NEWER}")
    return place


def newer_on_server(folder: Path) -> str:
    place = kept.laid_out("server", folder)
    address, schema = kept.address_of(place)
    with psycopg.connect(address, autocommit=True) as server:
        server.execute(f"UPDATE {schema}.sl_meta SET value = '{NEWER}' WHERE name = 'layout'")
    return place


COMMANDS = (
    ["tables"],
    ["runs"],
    ["schema"],
    ["conflicts"],
    ["decisions"],
    ["diff"],
    ["why", "works"],
    ["view", "--out", "FOLDER/page.html"],
    ["export", "FOLDER/audit.db"],
    ["query", "SELECT firm FROM works"],
    ["explain", "How many works are done?"],
    ["ask", "How many works are done?"],
    ["extract"],
    ["reconcile"],
    ["undo", "works"],
    ["revoke", "1"],
    ["set-value", "works", "cost", "1", "--where", "part=Deck"],
)


@pytest.mark.parametrize("make", [newer_file, newer_on_server])
def test_a_newer_workspace_is_refused_in_one_line(
    make: Callable[[Path], str], tmp_path: Path
) -> None:
    place = make(tmp_path)
    before = b"" if "://" in place else Path(place).read_bytes()
    commands = [[*command, "-w", place] for command in COMMANDS] + (
        [] if "://" in place else [["verify", place]]
    )
    for command in commands:
        text = told.said([part.replace("FOLDER", str(tmp_path)) for part in command], place)
        heading, code, *lines = text.splitlines()
        assert code == "(exit code 1)" and len(lines) == 1, text
        assert (
            f"has layout {NEWER}, this version of sliders knows" in lines[0]
            and "upgrade with: " in lines[0]
        ), heading
    assert not {"page.html", "audit.db"} & {path.name for path in tmp_path.iterdir()}
    assert "://" in place or Path(place).read_bytes() == before
