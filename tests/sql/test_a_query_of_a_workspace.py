"""SQL that somebody writes over a workspace: it sees the tables that were filled, and can neither
change them nor see anything else.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sliders import Workspace
from sliders.errors import UnsafeStatement
from sliders.retrieval import HashEmbedder
from tests.worlds import TEXTS, Reader


@pytest.fixture
def ws(place: str | Path) -> Iterator[Workspace]:
    with Workspace(place, model=Reader().model, embedder=HashEmbedder()) as ws:
        for name, text in TEXTS.items():
            ws.add_text(text, name)
        ws.ask("What is the total length?")
        yield ws


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT name FROM things WHERE length > 20 ORDER BY name", [["Anchor"], ["Crane"]]),
        ("SELECT COUNT(*), SUM(length) FROM things", [[3, 90]]),
        ("SELECT document FROM things WHERE name = 'Crane'", [["crane.txt"]]),
        (
            "WITH long AS (SELECT * FROM things WHERE length > 40) SELECT name FROM long",
            [["Crane"]],
        ),
    ],
)
def test_a_query_gives_what_the_documents_state(
    ws: Workspace, sql: str, rows: list[list[object]]
) -> None:
    assert ws.query(sql).to_numpy().tolist() == rows


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM things",
        "UPDATE things SET length = 0",
        "DROP TABLE things",
        "SELECT * FROM sl_calls",
        "SELECT 1; SELECT 2",
    ],
)
def test_a_statement_that_writes_or_looks_behind_the_tables_is_refused(
    ws: Workspace, sql: str
) -> None:
    with pytest.raises(UnsafeStatement):
        ws.query(sql)
    assert ws.query("SELECT SUM(length) AS total FROM things")["total"].tolist() == [90]
