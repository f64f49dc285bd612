"""Chunks cover the document exactly, respect the limit, and are cut where a reader would cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sliders.documents import Document, DocumentBuilder, Element, Page, TextTable, load_text
from sliders.errors import SettingsError
from sliders.retrieval import chunk_document


def words(text: str) -> int:
    return len(text.split())


def quarter(text: str) -> int:
    """Rounds down, so that the parts of a text count less than the whole."""
    return len(text) // 4


def sentences(count: int, size: int = 10, word: str = "word") -> str:
    return " ".join(("The " + f"{word} " * (size - 2) + f"end{n}.") for n in range(count))


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Any text with any sorted elements, gaps with text in them included."""
    alphabet = st.sampled_from(list("aB1 .!?\n\t\"')(,。é"))
    text = draw(st.text(alphabet, max_size=400))
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=12)))
    elements = []
    for start, end in pairwise(cuts):
        kind = draw(st.sampled_from(["heading", "paragraph", "table", "caption", None]))
        if kind is None:
            continue
        rows = ()
        if kind == "table":
            rows = tuple(sorted({start} | draw(st.sets(st.integers(start, end - 1), max_size=4))))
        elements.append(
            Element(
                kind,
                start,
                end,
                draw(st.integers(1, 3)) if kind == "heading" else 0,
                row_starts=rows,
            )
        )
    return Document("d", "d.txt", text, "T", tuple(elements))


@settings(max_examples=300, deadline=None)
@given(documents(), st.integers(1, 60), st.sampled_from([len, quarter, words]))
def test_chunks_cover_the_document_exactly_and_respect_the_limit(doc, max_tokens, count) -> None:
    chunks = chunk_document(doc, max_tokens=max_tokens, count_tokens=count)
    assert "".join(chunk.text for chunk in chunks) == doc.text
    assert [chunk.position for chunk in chunks] == list(range(len(chunks)))
    at = 0
    for chunk in chunks:
        assert (chunk.start, chunk.end) == (at, at + len(chunk.text))
        assert chunk.text
        assert chunk.tokens == count(chunk.text) <= max_tokens
        at = chunk.end
    assert at == len(doc.text)
    assert len({chunk.id for chunk in chunks}) == len(chunks)


def test_a_small_document_is_one_chunk(document) -> None:
    doc = document(
        ("heading", "Title", 1),
        ("paragraph", "One."),
        ("heading", "Next", 1),
        ("paragraph", "Two."),
    )
    (chunk,) = chunk_document(doc, max_tokens=100, count_tokens=words)
    assert chunk.text == doc.text
    assert chunk.kinds == {"heading", "paragraph"}


def test_an_empty_document_has_no_chunks() -> None:
    assert chunk_document(Document("d", "d", "", "", ()), max_tokens=5, count_tokens=words) == ()


def test_a_limit_without_room_is_refused(document) -> None:
    with pytest.raises(SettingsError, match="max_tokens is 0"):
        chunk_document(document(("paragraph", "One.")), max_tokens=0, count_tokens=words)


def test_a_section_that_fits_is_not_cut(document) -> None:
    doc = document(
        ("heading", "A", 1),
        ("paragraph", sentences(3)),
        ("paragraph", sentences(3)),
        ("heading", "B", 1),
        ("paragraph", sentences(3)),
        ("paragraph", sentences(3)),
    )
    first, second = chunk_document(doc, max_tokens=95, count_tokens=words)
    assert first.text.startswith("A\n")
    assert second.text.startswith("B\n")


def test_small_neighbouring_sections_share_a_chunk(document) -> None:
    blocks = [
        block for n in range(10) for block in (("heading", f"H{n}", 1), ("paragraph", sentences(1)))
    ]
    chunks = chunk_document(document(*blocks), max_tokens=60, count_tokens=words)
    assert len(chunks) == 2


def test_no_chunk_ends_inside_a_sentence(document) -> None:
    doc = document(("paragraph", sentences(40)))
    chunks = chunk_document(doc, max_tokens=33, count_tokens=words)
    assert len(chunks) == 14
    assert all(
        chunk.text.rstrip().endswith(".") and chunk.text.startswith("The") for chunk in chunks
    )


def test_a_heading_stays_with_what_follows(document) -> None:
    doc = document(
        ("paragraph", sentences(4)),
        ("heading", "Part", 1),
        ("heading", "Item", 2),
        ("paragraph", sentences(9)),
    )
    chunks = chunk_document(doc, max_tokens=45, count_tokens=words)
    part = next(chunk for chunk in chunks if "Part" in chunk.text)
    assert part.text.startswith("Part\n\nItem\n\nThe word")
    assert not any(chunk.text.rstrip().endswith(("Part", "Item")) for chunk in chunks)


def test_a_large_table_is_cut_between_rows_and_carries_its_caption(document) -> None:
    rows = [f"row {n} . Inc. is 5.5 (item) | {n} (2022)" for n in range(60)]
    doc = document(
        ("paragraph", sentences(2)), ("table", "\n".join(rows)), ("paragraph", sentences(2))
    )
    chunks = chunk_document(doc, max_tokens=100, count_tokens=words)
    for row in rows:
        assert sum(row in chunk.text for chunk in chunks) == 1
    table = [chunk for chunk in chunks if "table" in chunk.kinds]
    assert len(table) > 4
    assert all("Table 3. Cash flows" in chunk.context.captions for chunk in table)
    assert all("in millions" in chunk.context.captions for chunk in table)
    assert "Note: in millions" in table[1].context.header()


def test_a_table_that_fits_is_never_cut(document) -> None:
    rows = "\n".join(f"row {n} | {n}" for n in range(10))
    doc = document(
        ("paragraph", sentences(3)),
        ("caption", "Table 9"),
        ("table", rows),
        ("paragraph", sentences(3)),
    )
    chunks = chunk_document(doc, max_tokens=60, count_tokens=words)
    holder = next(chunk for chunk in chunks if "row 0" in chunk.text)
    assert rows in holder.text
    assert "Table 9" in holder.text


def test_one_sentence_over_the_limit_is_cut_at_white_space(document) -> None:
    doc = document(("paragraph", " ".join(f"item{n}," for n in range(200))))
    chunks = chunk_document(doc, max_tokens=30, count_tokens=words)
    assert all(
        chunk.text.startswith("item") and chunk.text.rstrip().endswith(",") for chunk in chunks
    )


def test_lines_of_a_form_are_preferred_to_words_when_a_sentence_is_cut(document) -> None:
    doc = document(("paragraph", "\n".join(f"NAME {n} SMITH" for n in range(100))))
    chunks = chunk_document(doc, max_tokens=30, count_tokens=words)
    assert all(chunk.text.startswith("NAME") for chunk in chunks)


def test_context_holds_title_headings_pages_and_neighbouring_captions(document) -> None:
    blocks = [
        ("heading", "Part II", 1),
        ("heading", "Item 7", 2),
        ("paragraph", sentences(3)),
        ("paragraph", sentences(4)),
        ("caption", "Figure 2: Sales by year"),
        ("paragraph", sentences(3)),
    ]
    doc = document(*blocks, title="Annual\nReport")
    half = doc.text.index("Figure 2")
    doc = document(
        *blocks, title="Annual\nReport", pages=(Page(1, 0, half), Page(2, half, len(doc.text)))
    )
    chunks = chunk_document(doc, max_tokens=46, count_tokens=words)
    assert [chunk.context.heading_path for chunk in chunks] == [
        (),
        ("Part II", "Item 7"),
        ("Part II", "Item 7"),
    ]
    assert {chunk.context.title for chunk in chunks} == {"Annual Report"}
    assert (chunks[0].context.page_from, chunks[-1].context.page_to) == (1, 2)
    inside = [chunk for chunk in chunks if "Figure 2" in chunk.text]
    beside = [chunk for chunk in chunks if "Figure 2: Sales by year" in chunk.context.captions]
    assert len(inside) == 1
    assert beside
    assert inside[0] not in beside


def test_a_chunk_that_begins_with_a_heading_names_only_the_headings_above_it(document) -> None:
    doc = document(
        ("heading", "One", 1),
        ("heading", "Sub", 2),
        ("paragraph", sentences(5)),
        ("heading", "Two", 1),
        ("paragraph", sentences(5)),
    )
    chunks = chunk_document(doc, max_tokens=60, count_tokens=words)
    assert chunks[1].text.startswith("Two")
    assert chunks[1].context.heading_path == ()


@pytest.mark.parametrize(
    "text", ["a" * 500_000, "." * 500_000, " " * 500_000, ".) " * 25_000, "x. Y" * 25_000]
)
def test_hostile_lines_are_covered_and_do_not_hang(text: str) -> None:
    chunks = chunk_document(Document("d", "d", text, "", ()), max_tokens=500, count_tokens=quarter)
    assert "".join(chunk.text for chunk in chunks) == text


def test_a_part_of_a_table_carries_its_header_and_its_sections() -> None:
    """The header rows once, the rows that name the sections of the part's first row,
    and no offset changed.
    """
    rows = [("Assets:", ""), *((f"Thing {n} of many things", str(n)) for n in range(40))]
    builder = DocumentBuilder()
    builder.add("paragraph", "The things are as follows (in millions):")
    builder.add_table(
        TextTable(("", "2021"), tuple(rows), indents=(0, *(1,) * 40)), note="(in millions)"
    )
    doc = builder.build("t.txt", b"t")
    chunks = chunk_document(doc, max_tokens=60, count_tokens=words)
    assert "".join(chunk.text for chunk in chunks) == doc.text
    assert "as follows" in chunks[0].text
    assert "|  | 2021 |" in chunks[0].text
    for chunk in chunks[1:]:
        assert chunk.context.header().endswith("|  | 2021 |\n| --- | --- |\n| Assets: |  |")
        assert "(in millions)" in chunk.context.captions


def test_every_cell_of_a_cut_table_is_shown_with_the_name_of_its_column() -> None:
    for width in range(3, 10):
        names = [f"Name{c} of this" for c in range(width)]
        rows = ["| " + " | ".join(f"cell{n}of{c} w" for c in range(width)) + " |" for n in range(6)]
        text = (
            "Words before.\n\n| "
            + " | ".join(names)
            + " |\n|"
            + "---|" * width
            + "\n"
            + "\n".join(rows)
            + "\n\nWords after."
        )
        document = load_text(text, "a.txt")
        (grid,) = [element.grid for element in document.elements if element.grid]
        chunks = chunk_document(
            document, max_tokens=40, count_tokens=lambda part: len(part.split())
        )
        assert len(chunks) > 2
        for cell, name in ((row[-1], names[-1]) for row in grid.rows):
            (chunk,) = [chunk for chunk in chunks if chunk.start <= cell.start < chunk.end]
            assert name in f"{chunk.context.header()}\n{chunk.text}"
