"""The benchmark of reconciliation: slopes, the plot, and both sides of one workspace."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.growth import exponent, picture
from benchmarks.reconcile import measure
from benchmarks.reconcile_effect import as_extracted, copied, located, side
from benchmarks.suites import GoldQuestion
from sliders import Workspace
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType
from tests.worlds import Reader, document

SIZES = (10_000, 30_000, 100_000, 300_000)
SCHEMA = Schema(
    (
        Table(
            "things",
            (Column("name"), Column("cost", ColumnType.NUMBER)),
            row="a thing",
            grain="document",
            key=("name",),
            key_scope="collection",
            pinned=True,
        ),
    )
)


@pytest.mark.parametrize(("cost", "slope"), [(lambda n: n, 1.0), (lambda n: n * n, 2.0)])
def test_the_exponent_is_the_slope(cost: object, slope: float) -> None:
    assert callable(cost)
    found, law = exponent(SIZES, [cost(n) for n in SIZES])
    assert found == pytest.approx(slope) and 1.05 < law < 1.12


def test_costs_of_n_log_n_have_the_slope_of_n_log_n() -> None:
    found, law = exponent(SIZES, [n * math.log(n) for n in SIZES])
    assert found == law


def test_the_picture_has_a_panel_for_what_grows_and_cuts_what_leaves_it() -> None:
    points = [
        {"axis": axis, "size": size, "tokens": 100 * size, "prompt": 150 * size * size}
        for axis in ("documents", "questions")
        for size in (1, 2, 8)
    ]
    root = ElementTree.fromstring(picture(points))
    lines = [e.attrib["points"].split() for e in root.iter() if e.tag.endswith("polyline")]
    assert [len(points) for points in lines] == [3, 3, 3, 3]
    heights = [[float(p.split(",")[1]) for p in points] for points in lines]
    assert all(h == sorted(h, reverse=True) and h[-1] >= 30 for h in heights)


def test_a_size_is_measured_with_no_more_calls_than_conflict_groups() -> None:
    figures = measure(2000)
    assert figures["calls"] <= figures["conflict_groups"]
    assert figures["output_rows"] == 600


def test_both_sides_of_a_workspace_differ_in_the_tables_alone(tmp_path: Path) -> None:
    folder = tmp_path / "w_things"
    folder.mkdir()
    with Workspace(folder / "answers.db", model=Reader().model) as ws:
        ws.session.catalog.schemas.save(SCHEMA)
        for name in ("a.txt", "b.txt"):
            ws.add_text(document("Crane", cost="90 euros", keeper=name), name)
        ws.extract()
    copy = copied(folder / "answers.db", tmp_path)
    question = GoldQuestion("q1", "What is the total cost?", (90,), "number")
    with Workspace(copy, model=Reader().model) as ws:
        on = asyncio.run(side(ws, [question], Reader().model))
        as_extracted(ws)
        off = asyncio.run(side(ws, [question], Reader().model))
    assert (on.right, on.rows, off.right, off.rows) == (("q1",), 1, (), 2)
    with Workspace(folder / "answers.db", model=Reader().model) as ws:
        assert len(ws.tables["things"]) == 1


def test_a_workspace_names_its_suite(tmp_path: Path) -> None:
    for name in ("list", "price_list"):
        (tmp_path / name / "docs").mkdir(parents=True)
        (tmp_path / name / "docs" / "a.txt").write_text("A.", encoding="utf-8")
        (tmp_path / name / "gold.json").write_text("[]", encoding="utf-8")
    assert located(f"{tmp_path}/w_price_list/answers.db", tmp_path)[0].name == "price_list"
    assert located(f"list={tmp_path}/x.db", tmp_path)[0].name == "list"
