"""A list whose reply was cut is read in halves; one that says its names again is cut once, not on and on."""

from __future__ import annotations

import json
from pathlib import Path

import sliders
from sliders.llm.model import Request, Response
from sliders.llm.testing import FunctionModel
from sliders.schema.schema import Column, ColumnType, Schema, Table

NAMES = [f"Keeper{letter}" for letter in "abcdefghijkl"]
WINTER = "times in the long winter of that year, when the ice lay about the old tower."
TEXT = " ".join(f"{name} lit the lamp {n + 3} {WINTER}" for n, name in enumerate(NAMES))


def extracted(tmp_path: Path, looping: bool) -> tuple[list[str], int]:
    calls: list[str] = []

    def reply(request: Request) -> Response:
        text = request.messages[-1].content
        told = [name for name in NAMES if name in text]
        calls.append(request.stage)
        rows = [{"keeper": name, "times": None} for name in told[:4]]
        if looping:
            rows += [{"keeper": told[n % 2], "times": str(n)} for n in range(6)]
        cut = looping or len(told) > 4
        data = {"rows": rows}
        return Response(text=json.dumps(data), data=data, finish_reason="length" if cut else "stop")

    columns = (Column("keeper", pinned=True), Column("times", ColumnType.INTEGER, pinned=True))
    schema = Schema((Table("keepers", columns, row="a keeper", grain="many", pinned=True),))
    with sliders.Workspace(tmp_path / "w.db", model=FunctionModel(reply)) as ws:
        ws.pin_schema(schema)
        ws.add_text(TEXT, name="log.txt")
        ws.extract()
        rows = ws.session.catalog.extractions.rows("keepers")
    return sorted({str(row.cells[0].value) for row in rows}), calls.count("extract")


def test_a_list_that_does_not_fit_is_read_in_halves(tmp_path: Path) -> None:
    names, _ = extracted(tmp_path, looping=False)
    assert names == NAMES


def test_a_list_that_repeats_its_names_is_cut_once(tmp_path: Path) -> None:
    names, calls = extracted(tmp_path, looping=True)
    assert calls == 3
    assert set(names) >= set(NAMES[:2])
