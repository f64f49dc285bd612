"""Long documents: which chunks are read, and the card that stands above them."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest

import sliders
from sliders.engine import RankedParts, Session, card_of, words_of
from sliders.errors import ModelRefusal
from sliders.extraction import Asked
from sliders.llm import COMPACT, FULL, Dialect, Request
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Grain, Schema, Table
from tests.worlds import Reader

PAGES = 12
TABLE = Table(
    "firms",
    (Column("keeper", description="who keeps the lighthouse"),),
    row="a firm",
    grain="document",
    pinned=True,
)
CARD = {
    "title": "Yearly report",
    "kind": "report",
    "who": "Aldous Pier",
    "date": "2020",
    "period": "",
    "about": "ropes",
}


def text(keeper_at: int) -> str:
    """A document of many chunks that names its firm on every page, and its keeper on one."""
    pages = []
    for page in range(PAGES):
        told = " The keeper of the lighthouse is Ida Holm." if page == keeper_at else ""
        pages.append(
            f"# Page {page}\n\nAldous Pier sells rope. "
            + f"Aldous Pier was glad of day {page}. " * 60
            + told
        )
    return "\n\n".join(pages)


def opened(tmp_path: Path, model: FunctionModel) -> sliders.Workspace:
    return sliders.Workspace(tmp_path / "w.db", model=model, embedder=HashEmbedder())


def ranked(session: Session, asked: list[Asked]) -> RankedParts:
    document = session.catalog.documents.get(session.catalog.documents.all()[0].id)
    chunks = session.catalog.chunks.of(document.id)
    return RankedParts(document, chunks, words_of(asked), session.embedder)


@pytest.mark.parametrize("keeper_at", [2, 5, 9])
def test_the_part_with_a_columns_words_comes_first_whatever_stands_on_every_page(
    tmp_path: Path, keeper_at: int
) -> None:
    with opened(tmp_path, Reader(context_tokens=2600).model) as ws:
        ws.add_text(text(keeper_at), "a.md")
        asked = [
            Asked(TABLE, TABLE.columns),
            Asked(Table("sales", (Column("aldous_pier"),)), (Column("aldous_pier"),)),
        ]
        parts = ranked(ws.session, asked)
        holder = next(c.position for c in parts.chunks if "The keeper" in c.text)
        assert parts.order()[0] == holder, "a name on every page tells no page apart"
        assert sorted(parts.order()) == list(range(len(parts.chunks)))


def test_an_outline_lists_all_parts_in_few_words_those_near_to_a_column_first(
    tmp_path: Path,
) -> None:
    rows = "\n".join(f"| Item {n} | {n} |" for n in range(9))
    table = (
        f"## Balance sheet\n\n| Line | 2020 |\n|---|---|\n| Lighthouse keeper | Ida Holm |\n{rows}"
    )
    with opened(tmp_path, Reader(context_tokens=2600).model) as ws:
        (tmp_path / "a.md").write_text(f"{text(-1)}\n\n{table}\n", encoding="utf-8")
        ws.add(tmp_path / "a.md")
        parts = ranked(ws.session, [Asked(TABLE, (Column("lighthouse_keeper"),))])
        listed = parts.outline(range(len(parts.chunks)))
    assert {one.chunk.id for one in listed} == {chunk.id for chunk in parts.chunks}
    told = next(one.told for one in listed[:3] if "Lighthouse keeper" in one.told)
    assert "Balance sheet" in told
    assert "Page 3" in "".join(one.told for one in listed)
    assert sum(len(one.told) for one in listed) < 6_000


def test_a_row_that_is_called_like_a_column_needs_no_model(tmp_path: Path) -> None:
    column = Column("lighthouse_keeper", description="the name of the keeper")
    table = Table("firms", (column,), row="a firm", grain="document", pinned=True)
    page = f"{text(-1)}\n\n| Line | told |\n|---|---|\n| Lighthouse keeper | Ida Holm |\n"
    reader = Reader(context_tokens=2600)
    with opened(tmp_path, reader.model) as ws:
        (tmp_path / "a.md").write_text(page, encoding="utf-8")
        ws.add(tmp_path / "a.md")
        ws.pin_schema(Schema((table,)))
        ws.extract()
        tasks = ws.session.catalog.extractions.tasks("firms")
    assert not [request for request in reader.model.history if request.stage == "gate"]
    assert sum(task.state == "done" for task in tasks) == 1 < len(tasks)


def test_the_words_that_the_gate_names_are_searched_for_in_the_parts_that_it_left_out(
    tmp_path: Path,
) -> None:
    def reply(request: Request) -> object:
        if "title" in (request.reply.model_fields if request.reply else {}):
            return CARD
        if request.stage == "gate":
            return {"parts": [], "search": ["keeper of the lighthouse"]}
        told = "Ida Holm" in request.messages[-1].content
        cells = {"keeper": {"value": "Ida Holm", "words": ["Ida Holm"]}} if told else {}
        return {"rows": [{"table": "firms", "cells": cells}]}

    model = FunctionModel(reply, context_tokens=2600)  # type: ignore[arg-type]
    with opened(tmp_path, model) as ws:
        ws.add_text(text(7), "a.md")
        ws.pin_schema(Schema((TABLE,)))
        ws.extract()
        assert list(ws.tables["firms"]["keeper"]) == ["Ida Holm"]


# cards


def carded(
    tmp_path: Path, page: str, card: object = CARD, dialect: Dialect = FULL
) -> tuple[list[str], list[Request], int]:
    """The card of a document, asked for twice; the calls for it; and its decisions."""

    def reply(request: Request) -> object:
        return card

    model = FunctionModel(reply, dialect=dialect, context_tokens=2600)  # type: ignore[arg-type]
    with opened(tmp_path, model) as ws:
        ws.add_text(page, "a.md")
        document = ws.session.catalog.documents.get(ws.session.catalog.documents.all()[0].id)
        cards = [asyncio.run(card_of(ws.session, document)) for _ in range(2)]
        return (
            cards,
            model.history,
            len(ws.session.catalog.journal.decisions(verdict="card by code")),
        )


def test_a_card_is_made_once_and_kept(tmp_path: Path) -> None:
    cards, calls, _ = carded(tmp_path, text(3))
    assert (
        cards == ["file a; Yearly report; report; Aldous Pier; 2020; ropes"] * 2 and len(calls) == 1
    )


@pytest.mark.parametrize("dialect", [FULL, COMPACT])
def test_of_a_document_of_one_chunk_the_file_is_named_and_nobody_is_asked(
    tmp_path: Path, dialect: Dialect
) -> None:
    assert carded(tmp_path, "The keeper is Ida Holm.", dialect=dialect) == (
        ["file a", "file a"],
        [],
        0,
    )


@pytest.mark.parametrize("dialect", [FULL, COMPACT])
def test_without_a_model_the_first_lines_are_the_card(tmp_path: Path, dialect: Dialect) -> None:
    cards, calls, said = carded(tmp_path, text(3), ModelRefusal("no"), dialect)
    assert "Aldous Pier sells rope" in cards[0]
    assert (bool(calls), bool(said)) == (dialect is FULL, dialect is FULL)


@pytest.mark.parametrize("grain", ["many", "document"])
def test_cards_of_several_documents_are_asked_together_where_rows_need_them(
    tmp_path: Path, grain: Grain
) -> None:
    def reply(request: Request) -> object:
        if "cards" in (request.reply.model_fields if request.reply else {}):
            listed = re.findall(r'number="(\d+)" name="(\w+)', request.messages[-1].content)
            return {"cards": [{**CARD, "document": n, "who": name} for n, name in listed[:2]]}
        return {"rows": []} if request.json_schema else {"parts": list(range(1, 40))}

    model = FunctionModel(reply, context_tokens=2600)  # type: ignore[arg-type]
    with opened(tmp_path, model) as ws:
        for name in "abc":
            ws.add_text(text(3) + name, f"{name}.md")
        ws.pin_schema(Schema((replace(TABLE, grain=grain),)))
        ws.extract()
    asked = [r for r in model.history if r.reply and "cards" in r.reply.model_fields]
    listed = [r.messages[-1].content.count("<document ") for r in asked]
    assert listed == ([3, 1] if grain == "many" else []), "what one reply lacks is asked alone"
    for name in "abc" if grain == "many" else "":
        assert any(
            f"From: file {name}; Yearly report; report; {name};" in r.messages[-1].content
            for r in model.history
        )


def test_the_card_stands_above_every_chunk_that_is_read(tmp_path: Path) -> None:
    def reply(request: Request) -> object:
        if "title" in (request.reply.model_fields if request.reply else {}):
            return CARD
        return {"rows": []} if request.json_schema else {"parts": list(range(1, 40))}

    model = FunctionModel(reply, context_tokens=2600)  # type: ignore[arg-type]
    with opened(tmp_path, model) as ws:
        ws.add_text(text(3), "a.md")
        ws.pin_schema(Schema((replace(TABLE, grain="many"),)))
        ws.extract()
    read = [
        r.messages[-1].content
        for r in model.history
        if r.json_schema and "rows" in r.json_schema["properties"]
    ]
    assert len(read) > 1 and all(
        "From: file a; Yearly report; report; Aldous Pier" in content for content in read
    )
