"""The documentation's site is built without a warning, and opens from the disk."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_site_is_built_whole_and_fetches_nothing(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert built.returncode == 0, built.stderr
    pages = {path.stem for path in (ROOT / "docs").rglob("*.md")}
    assert {path.stem for path in tmp_path.rglob("*.html")} - {"404"} == pages
    text = (tmp_path / "api.html").read_text(encoding="utf-8")
    assert "sliders.api.Workspace.ask_many" in text and "GoldCheck" in text
    for page in tmp_path.rglob("*.html"):
        fetched = re.findall(
            r"<(?:script|link rel=\"stylesheet\")[^>]*(?:src|href)=\"(https?:[^\"]+)\"",
            page.read_text(encoding="utf-8"),
        )
        assert fetched == [], page
