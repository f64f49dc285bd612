"""Long documents: a value is found wherever it stands, and a reader sees what matters."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sliders
from sliders.llm import FULL, Request
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType

SHIPS = Table(
    "ships",
    (Column("draught", description="how deep the hull lies in the water"),),
    row="a ship",
    grain="document",
    pinned=True,
)
TOLD = re.compile(r"she lies (\d+) feet deep")
Chooses = Callable[[str], dict[str, Any]]


class Surveyor:
    """A reader that gives a draught where a text tells it. The gate is another's."""

    def __init__(self, chooses: Chooses, empty: str = "") -> None:
        self.chooses, self.empty = chooses, empty
        self.read: list[str] = []
        self.gates: list[str] = []
        self.model = FunctionModel(self.reply, context_tokens=2600)

    def reply(self, request: Request) -> Any:
        prompt = request.messages[-1].content
        if request.stage == "gate":
            self.gates.append(prompt)
            return self.chooses(prompt)
        asked = set((request.json_schema or {}).get("properties", ()))
        if request.reply is not None:
            asked |= set(request.reply.model_fields)
        if "tables" in asked:
            needs = [{"question": 1, "columns": ["ships.draught"]}]
            return {"tables": [], "needs": needs, "not_covered": []}
        if "sql" in asked:
            sql = "SELECT MAX(draught) FROM ships"
            return {"action": "answer", "sql": sql, "reason": "the largest"}
        if "hints" in asked:
            return {"hints": []}
        if "title" in (request.reply.model_fields if request.reply else {}):
            return {"title": "Survey of a ship"}
        self.read.append(prompt)
        found = TOLD.search(prompt)
        cells = {"draught": {"value": found[1], "words": [found[1]]}} if found else {}
        if "\n- ship (" in prompt and (name := re.search(r"surveyors of the (\w+)", prompt)):
            cells["ship"] = {"value": name[1], "words": [name[1]]}
        row = {"table": "ships", "cells": cells}
        return {"rows": [row | ({"does_not_apply": [self.empty]} if self.empty else {})]}


def survey(name: str, told_on: int, words: str = "she lies {feet} feet deep", feet: int = 9) -> str:
    """A survey of many pages, one of which tells the draught."""
    pages = []
    for page in range(12):
        told = f"With all her stores aboard {words.format(feet=feet)}." if page == told_on else ""
        filler = f"The surveyors of the {name} went on with their work on day {page}. " * 40
        pages.append(f"# Day {page}\n\n{filler}\n\n{told}\n\n{filler}")
    return "\n\n".join(pages)


def filled(
    tmp_path: Path, surveyor: Surveyor, *surveys: str, table: Table = SHIPS
) -> sliders.Workspace:
    workspace = sliders.Workspace(
        tmp_path / "w.db", model=surveyor.model, embedder=HashEmbedder(), concurrency=1
    )
    for number, told in enumerate(surveys):
        workspace.add_text(told, f"{number}.md")
    workspace.pin_schema(Schema((table,)))
    workspace.extract()
    return workspace


def part_of(prompt: str, *words: str) -> list[int]:
    """The numbers of the parts whose lines in an outline have one of these words."""
    lines = re.findall(r'<part number="(\d+)">(.*)', prompt)
    return [int(n) for n, line in lines if any(word in line for word in words)]


def test_a_value_that_the_gate_left_out_is_found_by_the_words_beside_it_in_other_documents(
    tmp_path: Path,
) -> None:
    surveyor = Surveyor(lambda prompt: {"parts": part_of(prompt, "Day 4")})
    surveys = [survey("Ash", 4, feet=9), survey("Elm", 4, feet=12), survey("Fir", 10, feet=15)]
    with filled(tmp_path, surveyor, *surveys) as ws:
        assert sorted(map(str, ws.tables["ships"]["draught"])) == ["12", "15", "9"]
    assert len(surveyor.gates) == 3, "the evidence needs no model"
    assert "feet deep" in surveyor.read[-1]
    assert len(surveyor.read[-1]) < 8_000, "only what is likely is shown"


def test_a_value_that_is_still_missing_is_looked_for_once_by_the_models_own_words(
    tmp_path: Path,
) -> None:
    def chooses(prompt: str) -> dict[str, Any]:
        return {"parts": [1], "search": ["stores aboard"] if len(surveyor.gates) > 1 else []}

    surveyor = Surveyor(chooses)
    with filled(tmp_path, surveyor, survey("Ash", 7)) as ws:
        assert list(map(str, ws.tables["ships"]["draught"])) == ["9"]
    assert len(surveyor.gates) == 2


def test_a_search_without_success_ends(tmp_path: Path) -> None:
    surveyor = Surveyor(lambda prompt: {"parts": []})
    with filled(tmp_path, surveyor, survey("Ash", 99), survey("Elm", 99)) as ws:
        assert len(surveyor.gates) == 2 and not surveyor.read
        ws.extract()
    assert len(surveyor.gates) == 2, "the same is not paid for twice"


def test_an_answer_counts_the_parts_that_were_not_read_for_a_missing_value(tmp_path: Path) -> None:
    surveyor = Surveyor(lambda prompt: {"parts": part_of(prompt, "Day 4")})
    surveys = [survey("Ash", 4, feet=9), survey("Elm", 99)]
    draught = replace(SHIPS.columns[0], type=ColumnType.INTEGER)
    table = replace(SHIPS, columns=(draught, Column("ship", description="its name")))
    with filled(tmp_path, surveyor, *surveys, table=table) as ws:
        (answer,) = ws.ask_many(["What is the largest draught?"])
        tasks = ws.session.catalog.extractions.tasks("ships", "gated")
    assert answer.status == "incomplete"
    (gap,) = [gap for gap in answer.completeness.missing if gap.kind == "value"]
    assert gap.documents == ("1.md",) and "parts were not read for it" in gap.thing, tasks


def test_a_column_that_does_not_apply_is_not_searched_for(tmp_path: Path) -> None:
    surveyor = Surveyor(lambda prompt: {"parts": [1]}, empty="draught")
    filled(tmp_path, surveyor, survey("Ash", 7)).close()
    assert len(surveyor.gates) == 1 and len(surveyor.read) == 1


def test_a_reader_sees_the_sections_that_matter_with_a_mark_where_text_is_left_out(
    tmp_path: Path,
) -> None:
    surveyor = Surveyor(lambda prompt: {"parts": part_of(prompt, "Day 4", "Day 5", "Day 7")})
    with filled(tmp_path, surveyor, survey("Ash", 4)) as ws:
        parts = ws.session.catalog.chunks.of(ws.session.catalog.documents.all()[0].id)
        (row,) = ws.session.catalog.extractions.rows("ships")
        span = row.cells[0].span
        text = ws.session.catalog.documents.text(row.document_id)
        assert span is not None and text[span.start : span.end] == "9"
        home = next(part for part in parts if part.id == row.chunk_id)
        assert home.start <= span.start < home.end
        done = [t for t in ws.session.catalog.extractions.tasks("ships") if t.state == "done"]
    read = {t.chunk_id for t in done}
    assert len(surveyor.read) == 1 and "lies 9 feet deep" in surveyor.read[0]
    assert len(surveyor.read[0]) < sum(len(part.text) for part in parts if part.id in read)
    assert "[...]" in surveyor.read[0], "what is left out is marked"


def test_a_column_of_a_later_question_joins_the_row_of_the_same_sections(tmp_path: Path) -> None:
    surveyor = Surveyor(lambda prompt: {"parts": part_of(prompt, "Day")})
    surveyor.model = FunctionModel(surveyor.reply, dialect=replace(FULL, chunk_tokens=200))
    ship = Column("ship", description="its name")
    told = {1: "The surveyors of the Ash wrote.", 4: "With her stores she lies 9 feet deep."}
    days = (f"# Day {n}\n\n{told.get(n, '')} {'All is well. ' * 60}" for n in range(1, 7))
    log = "\n\n".join(days)
    with filled(tmp_path, surveyor, log) as ws:
        (row,) = ws.session.catalog.extractions.rows("ships")
        ws.pin_schema(Schema((replace(SHIPS, columns=(*SHIPS.columns, ship)),)))
        ws.extract()
        assert [r.id for r in ws.session.catalog.extractions.rows("ships")] == [row.id]
        assert ws.tables["ships"][["draught", "ship"]].astype(str).values.tolist() == [["9", "Ash"]]
    assert len(surveyor.read) == 2


PAGES = {
    "de": (
        Column("mitarbeiterzahl", description="Zahl der Mitarbeiter am Ende des Jahres"),
        "Zum Jahresende beschäftigte die Gesellschaft 4.217 Mitarbeiterinnen und Mitarbeiter.",
        "Die Lage auf den Märkten war im Abschnitt {n} weiterhin ruhig und ohne Besonderheiten. ",
        "4.217",
    ),
    "ru": (
        Column("численность", description="число сотрудников компании на конец года"),
        "На конец года в компании работало 5 318 сотрудников.",
        "В разделе {n} описано положение на рынках, которое оставалось спокойным и ровным. ",
        "5 318",
    ),
    "zh": (
        Column("员工人数", description="公司年末的员工总数"),
        "截至年末，公司共有员工6402人，其中研发人员占三成。",
        "第{n}节说明市场情况，本年度市场平稳，没有特别的事项需要说明。",
        "6402",
    ),
}


@pytest.mark.parametrize("language", PAGES)
@pytest.mark.parametrize("told_on", [3, 9])
def test_a_long_document_of_any_language_is_read_where_the_value_stands(
    tmp_path: Path, language: str, told_on: int
) -> None:
    column, told, filler, value = PAGES[language]

    def reply(request: Request) -> Any:
        prompt = request.messages[-1].content
        if request.stage == "gate":  # a reader that knows the word sees it in the outline
            return {"parts": part_of(prompt, told[:14], told[-14:], value)}
        if "title" in (request.reply.model_fields if request.reply else {}):
            return {"title": "2023"}
        shown.append(prompt)
        cells = {column.name: {"value": value, "words": [value]}} if value in prompt else {}
        return {"rows": [{"table": "firms", "cells": cells}]}

    shown: list[str] = []
    pages = [
        f"# {n}\n\n{filler.format(n=n) * 30}\n\n{told if n == told_on else ''}" for n in range(12)
    ]
    model = FunctionModel(reply, context_tokens=2600)
    table = Table("firms", (column,), row=column.name, grain="document", pinned=True)
    with sliders.Workspace(tmp_path / "w.db", model=model, embedder=HashEmbedder()) as ws:
        ws.add_text("\n\n".join(pages), "a.md")
        ws.pin_schema(Schema((table,)))
        ws.extract()
        assert list(ws.tables["firms"].iloc[:, 0]) == [value]
        tasks = ws.session.catalog.extractions.tasks("firms")
    done = {task.chunk_id for task in tasks if task.state == "done"}
    assert 3 * len(done) <= len({task.chunk_id for task in tasks})
