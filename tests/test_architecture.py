"""The architecture page and the contributor's page name files and names that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("docs/architecture.md", "CONTRIBUTING.md")
ROOMS = {path.parent.name for path in (ROOT / "sliders").glob("*/__init__.py")}
TOP = {path.stem for path in (ROOT / "sliders").glob("*.py")} - {"__init__", "__main__"}


@pytest.mark.parametrize("page", PAGES)
def test_files_that_a_page_names_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:[\w.]+/)+[\w.]*)`", text)
    assert named
    missing = [
        name for name in named if not any((r / name).exists() for r in (ROOT, ROOT / "sliders"))
    ]
    assert missing == []


def test_every_room_has_its_line() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    table = page.split("## The rooms")[1].split("**Two dialects.**")[0]
    lines = {
        name
        for line in table.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split("|")[1])
    }
    assert lines == ROOMS | TOP
