"""A column that a schema gets after its table was filled: empty everywhere until it is
asked, never its own name.
"""

from __future__ import annotations

import csv
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sliders import Workspace
from sliders.audit import collect
from tests.worlds import Reader, document

TEXTS = {
    "anchor.txt": document("Anchor", cost="120 euros", keeper="Ida Holm"),
    "crane.txt": document("Crane", cost="75 euros"),
}


def pinned(*columns: str) -> dict[str, Any]:
    kinds = {"name": "text", "cost": "number", "keeper": "text"}
    return {"things": {name: kinds[name] for name in columns}}


@pytest.mark.parametrize("later", [("name", "cost", "keeper"), ("keeper",)])
def test_a_column_that_was_not_asked_yet_is_empty_everywhere(
    place: str | Path, tmp_path: Path, later: tuple[str, ...]
) -> None:
    with Workspace(place, model=Reader().model) as ws:
        for name, text in TEXTS.items():
            ws.add_text(text, name)
        ws.pin_schema(pinned("name", "cost"))
        ws.extract()
        ws.pin_schema(pinned(*later))
        frame = ws.tables["things"]
        ws.export(tmp_path / "out", format="csv")
        ws.export(tmp_path / "out.db")
        (table,) = collect(ws.session.catalog).tables
        assert not ws.verify()
    shown = [*later, "document", "document_id", "row_id"]
    assert list(frame.columns) == shown and len(frame) == 2
    assert frame["keeper"].isna().all()
    with (tmp_path / "out" / "things.csv").open(encoding="utf-8", newline="") as file:
        assert [(row["keeper"], set(row) == set(shown)) for row in csv.DictReader(file)] == [
            ("", True)
        ] * 2
    with closing(sqlite3.connect(tmp_path / "out.db")) as audit:
        assert audit.execute("SELECT t.keeper FROM things t").fetchall() == [(None,)] * 2
    assert [row.values[-1].shown for row in table.rows] == [None, None]
