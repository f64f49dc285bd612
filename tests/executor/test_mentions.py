"""A count of what no document mentions is zero; a question without a column of its own is asked of the table of the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sliders
from sliders.llm.testing import FunctionModel

CRANES = {
    "a.txt": "The crane on the north quay was made by Lund and lifts 40 tons.",
    "b.txt": "The crane on the south quay was made by Moe and lifts 60 tons.",
    "c.txt": "The crane on the old quay lifts 50 tons.",
}


def reply(request: object) -> str:
    stage, text = request.stage, request.messages[-1].content  # type: ignore[attr-defined]
    if stage == "schema":
        if "heavy" in text:
            columns = [{"asked": "cranes", "name": "crane_count", "type": "integer"}]
        else:
            columns = [
                {"asked": "Vik Works", "name": "maker", "type": "text"},
                {"asked": "tons", "name": "tons", "type": "integer"},
            ]
        return json.dumps({"columns": columns, "row": "a crane", "in_document": "one"})
    if stage == "extract":
        maker = next((name for name in ("Lund", "Moe") if f"made by {name}" in text), None)
        return json.dumps({"maker": maker, "tons": next(n for n in ("40", "60", "50") if f"{n} tons" in text)})
    tested = "tons > 45" if "heavy" in text else "maker = 'Vik Works'"
    return f"SELECT COUNT(*) FROM cranes WHERE {tested}"


def written(folder: Path, more: str = "") -> Path:
    folder.mkdir()
    for name, text in CRANES.items():
        (folder / name).write_text(text + more)
    return folder


@pytest.mark.parametrize(("more", "status", "value"), [("", "answered", 0), (" Vik\nWorks sold the rails.", "not_found", None)])
def test_what_no_document_mentions_is_counted_as_none(tmp_path: Path, more: str, status: str, value: object) -> None:
    with sliders.Workspace(tmp_path / "w.db", model=FunctionModel(reply)) as ws:
        ws.add(written(tmp_path / "docs", more))
        answer = ws.ask("How many cranes were made by Vik Works?")
    assert (answer.status, answer.value) == (status, value)


def test_a_question_without_a_column_of_its_own_is_asked_of_the_table_of_the_others(tmp_path: Path) -> None:
    with sliders.Workspace(tmp_path / "w.db", model=FunctionModel(reply)) as ws:
        ws.add(written(tmp_path / "docs"))
        heavy, _ = ws.ask_many(["How many heavy cranes are there?", "How many cranes were made by Vik Works?"])
    assert (heavy.status, heavy.value) == ("answered", 2)
