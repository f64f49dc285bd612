"""A collection judged by a small model: the cut comes from all documents, and the
odds stay as they were.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sliders
from sliders.llm import COMPACT, Request, Response
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType

LIKED = Column("liked", ColumnType.BOOLEAN, "Is the film liked?", reading="judged", pinned=True)
TABLE = Table("reviews", (LIKED,), row="a review", grain="document", pinned=True)


def leaning(request: Request) -> Any:
    """Prefers the liked ones, and says no to every one of them."""
    content = request.messages[-1].content
    strength = int(content.split("mark ")[1].split(".")[0]) / 10
    return {"yes": -6.0 + strength, "no": -0.1} if request.choices else {}


def judged(
    place: str | Path, marks: list[int]
) -> tuple[dict[str, Any], list[Any], FunctionModel, sliders.Workspace]:
    model = FunctionModel(leaning, dialect=COMPACT)
    ws = sliders.Workspace(place, model=model, embedder=HashEmbedder())
    for number, mark in enumerate(marks):
        ws.add_text(f"Review {number}. It gets the mark {mark}.", f"{number:02}.txt")
    ws.pin_schema(Schema((TABLE,)))
    ws.extract()
    frame = ws.tables["reviews"]
    names = {d.id: d.name for d in ws.session.catalog.documents.all()}
    rows = ws.session.catalog.extractions.rows("reviews")
    cells = {names[row.document_id]: row.cells[0] for row in rows}
    return cells, list(frame["liked"]), model, ws


MARKS = [2, 30, 4, 33, 1, 29, 3, 31, 5, 28, 2, 32]


def test_the_collection_decides_where_the_cut_is(place: str | Path) -> None:
    cells, shown, model, ws = judged(place, MARKS)
    with ws:
        said = ws.session.catalog.journal.decisions(verdict="calibrated")
        calls = len(model.history)
        ws.extract()
        assert len(model.history) == calls, "judged again by the odds that are kept"
    assert [bool(cells[name].value) for name in sorted(cells)] == [mark > 20 for mark in MARKS]
    assert sum(map(bool, shown)) == 6
    assert all(dict(cell.odds)["no"] == -0.1 for cell in cells.values()), "as the model gave them"
    assert not any(cell.doubt for cell in cells.values()) and said


def test_a_few_documents_keep_the_models_own_word_and_a_doubt(place: str | Path) -> None:
    cells, _, _, ws = judged(place, MARKS[:4])
    ws.close()
    assert [bool(cell.value) for cell in cells.values()] == [False] * 4 and all(
        cell.doubt for cell in cells.values()
    )


def test_documents_that_come_later_move_the_cut_for_all(place: str | Path) -> None:
    _, _, model, ws = judged(place, MARKS[:6])
    with ws:
        for number, mark in enumerate(MARKS[6:], 6):
            ws.add_text(f"Review {number}. It gets the mark {mark}.", f"{number:02}.txt")
        ws.extract()
        assert len(model.history) == len(MARKS), "each document is asked once"
        assert sum(map(bool, ws.tables["reviews"]["liked"])) == 6


@pytest.mark.parametrize("loudest", [0, 1, 2])
def test_a_document_of_many_parts_is_judged_by_the_part_that_tells_most(
    place: str | Path, loudest: int
) -> None:
    quiet = "Nothing was said of it that day. " * 250
    parts = [
        f"It gets the mark {40 if number == loudest else 1}.\n\n{quiet}" for number in range(3)
    ]
    with sliders.Workspace(
        place, model=FunctionModel(_by_loudest, dialect=COMPACT), embedder=HashEmbedder()
    ) as ws:
        ws.add_text("\n\n".join(parts), "long.txt")
        for number, mark in enumerate(MARKS):
            ws.add_text(f"Review {number}. It gets the mark {mark}.", f"{number:02}.txt")
        ws.pin_schema(Schema((TABLE,)))
        ws.extract()
        document = next(d.id for d in ws.session.catalog.documents.all() if d.name == "long.txt")
        rows = [
            row
            for row in ws.session.catalog.extractions.rows("reviews")
            if row.document_id == document
        ]
        assert len(rows) > 1 and all(row.cells[0].value is True for row in rows)
        assert sum(map(bool, ws.tables["reviews"]["liked"])) == 7


def _by_loudest(request: Request) -> Any:
    marks = [int(part.split(".")[0]) for part in request.messages[-1].content.split("mark ")[1:]]
    return {"yes": -6.0 + max(marks, default=0) / 10, "no": -0.1} if request.choices else {}


YEAR = Column("sold", ColumnType.INTEGER, "In which year was it sold?", pinned=True)
SOLD = Table("boats", (YEAR,), row="a boat", grain="document", pinned=True)


def eager(request: Request) -> Response:
    """Gives a year of the document each time, and prefers it far less where the
    document tells of no sale.
    """
    content = request.messages[-1].content
    year = int(content.split("in ")[1][:4])
    told = 9.0 + year % 7 / 10 if "was sold" in content else 0.5 + year % 7 / 10
    return Response(f'{{"sold":{year}}}', {"sold": year}, odds={"sold": told})


def boats(ws: sliders.Workspace, years: range) -> None:
    for year in years:
        ws.add_text(f"The boat {'was sold' if year % 3 else 'burnt'} in {year}.", f"{year}.txt")
    ws.extract()


def test_a_document_that_does_not_tell_it_gives_no_value_where_the_collection_shows_the_cut(
    place: str | Path,
) -> None:
    model = FunctionModel(eager, dialect=COMPACT)
    with sliders.Workspace(place, model=model, embedder=HashEmbedder()) as ws:
        ws.pin_schema(Schema((SOLD,)))
        boats(ws, range(1900, 1905))
        assert len(ws.tables["boats"]["sold"].dropna()) == 5, "too few to set a cut by"
        boats(ws, range(1905, 1915))
        frame = ws.tables["boats"].dropna(subset="sold")
        assert set(frame["sold"]) == {year for year in range(1900, 1915) if year % 3}
        rows = ws.session.catalog.extractions.rows("boats")
        out = [row.cells[0] for row in rows if row.cells[0].absence]
        assert {cell.value for cell in out} == {
            year for year in range(1900, 1915) if not year % 3
        }, "kept for audit"
        assert all("under the cut" in cell.detail for cell in out)
        assert not ws.verify()
        assert len(model.history) == 15
