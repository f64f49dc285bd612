"""Long documents: which chunks are read, and the card that stands above them."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest

import sliders
from sliders.engine import Session, card_of, shown_to_gate
from sliders.engine import left_out as not_read
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


def left_out(
    session: Session, asked: list[Asked], most: int, questions: tuple[str, ...] = ()
) -> set[int]:
    document = session.catalog.documents.all()[0]
    chunks = session.catalog.chunks.of(document.id)
    why = not_read(chunks, asked, questions, most, session.embedder)
    assert all(reason for reason in why.values())
    return {chunk.position for chunk in chunks if chunk.id in why}


@pytest.mark.parametrize("keeper_at", [2, 5, 9])
@pytest.mark.parametrize("most", [5, 6])
def test_the_chunk_with_the_columns_words_stays_and_so_does_the_first(
    tmp_path: Path, keeper_at: int, most: int
) -> None:
    with opened(tmp_path, Reader(context_tokens=2600).model) as ws:
        ws.add_text(text(keeper_at), "a.md")
        chunks = ws.session.catalog.chunks.of(ws.session.catalog.documents.all()[0].id)
        holder = next(c.position for c in chunks if "The keeper" in c.text)
        asked = [
            Asked(TABLE, TABLE.columns),
            Asked(Table("sales", (Column("aldous_pier"),)), (Column("aldous_pier"),)),
        ]
        gone = left_out(ws.session, asked, most, ("Who keeps the lighthouse of Aldous Pier?",))
        assert len(chunks) > most and len(chunks) - len(gone) == most
        assert not gone & {0, holder}, "a name on every page tells no page apart"


def test_short_documents_are_read_whole(tmp_path: Path) -> None:
    with opened(tmp_path, Reader().model) as ws:
        ws.add_text("The keeper is Ida Holm.", "a.md")
        assert left_out(ws.session, [Asked(TABLE, TABLE.columns)], 1) == set()


def test_the_gate_sees_what_stands_inside_a_chunk(tmp_path: Path) -> None:
    rows = "\n".join(f"| Item {n} | {n} |" for n in range(4))
    page = (
        "# Notes\n\nWords first.\n\n## Balance sheet\n\n| Line | 2020 |\n|---|---|\n"
        f"{rows}\n\nWords last.\n"
    )
    with opened(tmp_path, Reader().model) as ws:
        (tmp_path / "a.md").write_text(page, encoding="utf-8")
        ws.add(tmp_path / "a.md")
        document = ws.session.catalog.documents.get(ws.session.catalog.documents.all()[0].id)
        (chunk,) = ws.session.catalog.chunks.of(document.id)
        shown = shown_to_gate(chunk, document)
    assert "Balance sheet" in shown and "Item 2" in shown and "Words first" in shown
    assert len(shown) < 2000


def test_the_gate_sees_of_a_table_the_rows_that_the_chunk_holds(tmp_path: Path) -> None:
    rows = "\n".join(f"| Label{n:03} | {'word ' * 12}|" for n in range(120))
    (tmp_path / "a.md").write_text(
        f"# Notes\n\n| Line | told |\n|---|---|\n{rows}\n\nWords last.\n", encoding="utf-8"
    )
    with opened(tmp_path, Reader(context_tokens=2600).model) as ws:
        ws.add(tmp_path / "a.md")
        document = ws.session.catalog.documents.get(ws.session.catalog.documents.all()[0].id)
        chunks = ws.session.catalog.chunks.of(document.id)
        shown = [shown_to_gate(chunk, document) for chunk in chunks]
    assert len(chunks) > 2
    for chunk, told in zip(chunks, shown, strict=True):
        labels = {word for word in chunk.text.split() if word.startswith("Label")}
        seen = {word.strip(";") for word in told.split() if word.startswith("Label")}
        assert seen <= labels and len(seen) > 15


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
