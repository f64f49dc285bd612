"""A query over short documents reads many of them in a call, each once for all that it may need."""

from __future__ import annotations

from pathlib import Path

import sliders
from benchmarks.fidelity.sight import documents_shown
from sliders.llm import FULL
from sliders.llm.testing import ONE_DOCUMENT
from sliders.retrieval import HashEmbedder
from tests.worlds import Reader, document

QUERY = "SELECT name, keeper FROM things WHERE cost > 5 AND length < 40"
NUMBER = 24


def workspace(folder: Path, reader: Reader, name: str) -> sliders.Workspace:
    """A workspace of reports, of which every third has no keeper."""
    ws = sliders.Workspace(folder / name, model=reader.model, embedder=HashEmbedder())
    for number in range(NUMBER):
        keeper = {"keeper": f"Ida Holm{number}"} if number % 3 else {}
        facts = {"cost": f"{number} euros", "length": f"{2 * number} metres", **keeper}
        ws.add_text(document(f"Thing{number}", **facts), f"{number:02}.txt")
    ws.pin_schema(
        {
            "tables": [
                {
                    "name": "things",
                    "row": "a thing",
                    "grain": "document",
                    "columns": {
                        "name": "text",
                        "cost": "number",
                        "length": "number",
                        "keeper": "text",
                    },
                }
            ]
        }
    )
    return ws


def test_documents_share_the_calls_of_a_query(tmp_path: Path) -> None:
    rows, calls = [], []
    for dialect in (FULL, ONE_DOCUMENT):
        reader = Reader(dialect=dialect)
        with workspace(tmp_path, reader, f"{dialect.documents_per_call}.db") as ws:
            rows.append(ws.query(QUERY).to_numpy().tolist())
            calls.append([len(documents_shown(prompt)) for prompt in reader.asked("extract")])
            asked = len(reader.model.history)
            assert ws.query(QUERY).to_numpy().tolist() == rows[-1]
            assert len(reader.model.history) == asked, "nothing is paid for twice"
    assert rows[0] == rows[1] and len(rows[0]) == 14
    assert len(calls[0]) <= 3 and sum(calls[0]) == NUMBER, "each document is read once"
    assert len(calls[1]) >= NUMBER


def test_a_limit_reads_no_more_documents_than_it_needs(tmp_path: Path) -> None:
    reader = Reader(dialect=FULL)
    with workspace(tmp_path, reader, "w.db") as ws:
        frame = ws.query("SELECT name FROM things WHERE cost > 2 LIMIT 2")
    assert len(frame) == 2
    assert sum(len(documents_shown(prompt)) for prompt in reader.asked("extract")) < NUMBER
