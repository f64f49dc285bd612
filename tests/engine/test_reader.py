"""Reading attributes from segments of a document: every place goes back to where it
stands in the document.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import sliders
from sliders.engine import DocumentPart, ExtractionCall
from sliders.extraction import Asked
from sliders.llm.testing import ScriptedModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Table
from sliders.values import ColumnType, Context

FILLER = "Nothing was said of it that day. " * 20
TEXT = (
    f"The ferry has 2 pilots.\n\n{FILLER}\n\nShe took 15 passengers.\n\n{FILLER}\n\n"
    "The master was Ida Holm.\n"
)
TABLE = Table(
    "ferries",
    (Column("aboard", ColumnType.INTEGER), Column("master")),
    row="a ferry",
    grain="document",
)


def test_all_words_of_a_computed_value_stand_at_their_places_in_the_document(
    tmp_path: Path,
) -> None:
    cells = {
        "aboard": {
            "value": 17,
            "words": ["2 pilots", "15 passengers"],
            "how": "computed",
            "why": "2 + 15",
        },
        "master": {"value": "Ida Holm", "words": ["Ida Holm"]},
    }
    model = ScriptedModel({"extract": {"rows": [{"table": "ferries", "cells": cells}]}})
    with sliders.Workspace(tmp_path / "w.db", model=model, embedder=HashEmbedder()) as ws:
        ws.add_text(TEXT, "a.txt")
        document = ws.session.catalog.documents.get(ws.session.catalog.documents.all()[0].id)
        starts = [document.text.index(words) for words in ("The ferry", "She took", "The master")]
        places = [(start, start + 24) for start in starts]
        part = DocumentPart.of_pieces(document, places, Context(), 20)
        reading = ExtractionCall((part,), (Asked(TABLE, TABLE.columns),))
        (found,) = asyncio.run(
            ws.session.runner.read(reading, ws.session.models.model_for("extract"))
        )
    aboard, master = found.rows[0].cells
    assert (aboard.value, aboard.doubt, master.value) == (17, "", "Ida Holm")
    assert aboard.span is not None and master.span is not None
    shown = [
        document.text[span.start : span.end] for span in (aboard.span, *aboard.parts, master.span)
    ]
    assert shown == ["2 pilots", "15 passengers", "Ida Holm"]
    assert FILLER.strip() not in model.history[0].messages[-1].content, "only the segments are sent"
