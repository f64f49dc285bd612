"""A list whose reply was cut is read in halves; one that says its names again is cut once, not on and on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sliders
from sliders.llm.model import Request, Response
from sliders.llm.testing import FunctionModel
from sliders.schema.types import Column, ColumnType, Schema, Table

NAMES = [f"Keeper{letter}" for letter in "abcdefghijkl"]
WINTER = "times in the long winter of that year, when the ice lay about the old tower."
COLUMNS = (Column("keeper", pinned=True), Column("times", ColumnType.INTEGER, pinned=True))
KEEPERS = Table("keepers", COLUMNS, row="a keeper", grain="many", pinned=True)
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

    with sliders.Workspace(tmp_path / "w.db", model=FunctionModel(reply)) as ws:
        ws.pin_schema(Schema((KEEPERS,)))
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


def test_an_empty_list_is_asked_again_where_the_text_counts_in_a_unit_of_the_columns(tmp_path: Path) -> None:
    asked: list[int] = []

    def reply(request: Request) -> Response:
        least = request.json_schema["properties"]["rows"].get("minItems", 0)  # type: ignore[index]
        asked.append(least)
        data = {"rows": [{"keeper": "Lund", "times": "4"}, {"keeper": "Moe", "times": "7"}] if least else []}
        return Response(text=json.dumps(data), data=data, finish_reason="stop")

    counted = "Lund lit the lamp 4 times. Moe lit it 7 times."
    for number, (text, calls) in enumerate([(counted, [0, 1]), ("Nobody lit the lamp.", [0])]):
        asked.clear()
        with sliders.Workspace(tmp_path / f"{number}.db", model=FunctionModel(reply)) as ws:
            ws.add_text(text, "log.txt")
            ws.pin_schema(Schema((KEEPERS,)))
            assert ws.extract() == {"keepers": 2 * (len(calls) - 1)}
        assert asked == calls


def test_a_list_of_few_rows_is_asked_again_where_the_text_states_many_numbers(tmp_path: Path) -> None:
    names, asked = ["Lund", "Moe", "Ines", "Brandt", "Vik", "Hallam"], []

    def reply(request: Request) -> Response:
        asked.append(request.json_schema["properties"]["rows"].get("minItems", 0))  # type: ignore[index]
        data = {"rows": [{"keeper": name, "times": None} for name in names[: 6 if asked[-1] else 1]]}
        return Response(text=json.dumps(data), data=data, finish_reason="stop")

    with sliders.Workspace(tmp_path / "w.db", model=FunctionModel(reply)) as ws:
        ws.add_text(" ".join(f"{name} lit the lamp {n + 3} times." for n, name in enumerate(names)), "log.txt")
        ws.pin_schema(Schema((KEEPERS,)))
        assert ws.extract() == {"keepers": 6}
        assert sorted(ws.tables["keepers"]["times"]) == [3, 4, 5, 6, 7, 8]
    assert asked == [0, 3]


def test_a_list_that_loops_over_what_is_no_number_is_read_in_halves(tmp_path: Path) -> None:
    """Standings beside sides are not what the text counts; where the reply says them on and on, halves are asked for."""
    asked: list[str] = []

    def reply(request: Request) -> Response:
        text = request.messages[-1].content
        asked.append(request.stage)
        told = [name for name in NAMES if name in text]
        rows = [{"keeper": name, "times": "1"} for name in told]
        if len(told) == len(NAMES):
            rows = [{"keeper": "Merrow", "times": "6-15"}, {"keeper": "Haldor", "times": "10-12"}] * 6
        data = {"rows": rows}
        cut = "length" if len(told) == len(NAMES) else "stop"
        return Response(text=json.dumps(data), data=data, finish_reason=cut)

    with sliders.Workspace(tmp_path / "w.db", model=FunctionModel(reply)) as ws:
        ws.pin_schema(Schema((KEEPERS,)))
        ws.add_text("Merrow (6-15) and Haldor (10-12) keep towers. " + TEXT, name="log.txt")
        assert ws.extract() == {"keepers": len(NAMES)}
        assert sorted(ws.tables["keepers"]["times"]) == list(range(3, 3 + len(NAMES)))
    assert asked.count("extract") == 3


@pytest.mark.parametrize("empty", [None, "", "null"])
def test_a_name_said_again_without_its_number_is_one_row(tmp_path: Path, empty: str | None) -> None:
    names = NAMES[:3]
    rows = [{"keeper": name, "times": str(n + 3)} for n, name in enumerate(names)]
    rows += [{"keeper": name, "times": empty} for name in [*names, "Hallam"]]

    def reply(request: Request) -> Response:
        return Response(text=json.dumps({"rows": rows}), data={"rows": rows}, finish_reason="stop")

    with sliders.Workspace(tmp_path / "w.db", model=FunctionModel(reply)) as ws:
        ws.pin_schema(Schema((KEEPERS,)))
        lit = " ".join(f"{name} lit the lamp {n + 3} {WINTER}" for n, name in enumerate(names))
        ws.add_text(f"{lit} Hallam slept.", "log.txt")
        ws.extract()
        found = ws.tables["keepers"]
        assert sorted(found["keeper"]) == ["Hallam", *names]
        assert found["times"].sum() == 3 + 4 + 5
