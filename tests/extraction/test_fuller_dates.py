"""A year that a model gives for a date is read as the one full date of the text that has it."""

from __future__ import annotations

from pathlib import Path

import pytest

import sliders
from sliders.extraction.cell import Absence
from sliders.llm.testing import ScriptedModel
from sliders.schema.types import Column, ColumnType, Schema, Table

TEXT = "Ada Lund (19 May 1745 to 8 June 1818) was a chemist. She moved to Falun on 3 May 1770 and left on 9 July 1770."


@pytest.mark.parametrize(("said", "value"), [("1745", "1745-05-19"), ("June 1818", "1818-06-08"), ("1770", None)])
def test_a_year_alone_becomes_the_one_full_date_that_has_it(tmp_path: Path, said: str, value: str | None) -> None:
    born = Column("born", ColumnType.DATE, pinned=True)
    schema = Schema((Table("people", (born,), row="a person", grain="document", pinned=True),))
    model = ScriptedModel({"extract": [{"born": said}]})
    with sliders.Workspace(tmp_path / "w.db", model=model) as workspace:
        workspace.pin_schema(schema)
        workspace.add_text(TEXT, name="lund.txt")
        workspace.extract()
        (row,) = workspace.session.catalog.extractions.rows("people")
    cell = row.cells[0]
    assert cell.value == value
    assert cell.absence is (None if value else Absence.NOT_PARSED)
    assert value is None or TEXT[cell.span.start : cell.span.end] == cell.printed
