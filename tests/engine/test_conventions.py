"""The order of day and month that a collection shows serves the documents that show none."""

from __future__ import annotations

from pathlib import Path

import pytest

import sliders
from sliders.engine import context_of
from sliders.llm.testing import ScriptedModel
from sliders.schema import Column
from sliders.values import ColumnType, parse_value

DATED = Column("sold_on", ColumnType.DATE)


def workspace(tmp_path: Path, texts: list[str]) -> sliders.Workspace:
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(text)
    ws = sliders.Workspace(tmp_path / "w.db", model=ScriptedModel([]))
    ws.add(tmp_path)
    return ws


@pytest.mark.parametrize(
    ("others", "value"),
    [
        (["Sold 25/03/2019.", "Sold 14/06/2019.", "Sold 30/01/2020."], "2019-08-09"),
        (["Sold 03/25/2019.", "Sold 06/14/2019.", "Sold 01/30/2020."], "2019-09-08"),
        (["Sold 25/03/2019.", "Sold 06/14/2019.", "Sold 30/01/2020."], None),
        (["Sold 25/03/2019.", "Sold 01/02/2019."], None),
    ],
)
def test_all_others_must_agree(tmp_path: Path, others: list[str], value: str | None) -> None:
    with workspace(tmp_path, [*others, "Sold 09/08/2019."]) as ws:
        parsed = parse_value("09/08/2019", DATED, context_of(ws.session, "Sold 09/08/2019."))
    assert parsed.value == value


def test_the_document_itself_comes_first(tmp_path: Path) -> None:
    with workspace(tmp_path, ["Sold 25/03/2019.", "Sold 14/06/2019.", "Sold 30/01/2020."]) as ws:
        context = context_of(ws.session, "Sold 09/08/2019, paid 09/28/2019.")
    assert parse_value("09/08/2019", DATED, context).value == "2019-09-08"
