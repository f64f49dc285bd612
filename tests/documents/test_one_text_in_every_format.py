"""The same report in every format that is read without an extra: the same rows, each value cited
at its words.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sliders import Workspace
from sliders.retrieval import HashEmbedder
from tests.worlds import TEXTS, Reader

FORMATS: dict[str, Callable[[str], bytes]] = {
    "txt": lambda text: text.encode(),
    "md": lambda text: text.replace("The cost", "**Of note:** The cost").encode(),
    "html": lambda text: (
        "<html><body>" + "".join(f"<p>{line}</p>" for line in text.splitlines()) + "</body></html>"
    ).encode(),
    "utf-16.txt": lambda text: text.encode("utf-16"),
}


@pytest.mark.parametrize("ending", FORMATS)
def test_a_report_fills_the_same_row_and_is_cited_at_its_words(tmp_path: Path, ending: str) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / f"{Path(name).stem}.{ending}").write_bytes(FORMATS[ending](text))
    with Workspace(tmp_path / "w.db", model=Reader().model, embedder=HashEmbedder()) as ws:
        report = ws.add(folder)
        assert (len(report.new), report.failures) == (3, ())
        answer = ws.ask("What is the total cost?")
        frame = ws.tables["things"]
        assert ws.verify() == []
    assert answer.value == 535
    assert dict(zip(frame["name"], frame["cost"], strict=True)) == {
        "Anchor": 120,
        "Beacon": 340,
        "Crane": 75,
    }
    costs = {c.document: c.quote for c in answer.citations if c.column == "cost"}
    assert costs == {
        f"anchor.{ending}": "120 euros",
        f"beacon.{ending}": "340 euros",
        f"crane.{ending}": "75 euros",
    }
