"""Plain text: kept as it is, with pages, headings, list items and aligned tables."""

from __future__ import annotations

import pytest
from document_samples import check_document
from hypothesis import given
from hypothesis import strategies as st

from sliders.documents import Document, load_text, read_text
from sliders.errors import DocumentError

STATEMENT = """<<page 4>>
                        LUMEN WORKS LTD.
                  CONSOLIDATED STATEMENT OF INCOME
                                                    (in thousands)

                                                               Year Ended June 30,
                                                        2021           2020           2019
Revenue:
  Lamps                                          $   120,118  $      98,004  $       7,411
  Bulbs                                                 1,020         50,111           300
     Total revenue                                        121,138        148,115         7,711
Gain on plant                                  —            12        —

                The notes are an integral part of this statement.
<<page 5>>
The end of the report is here.
"""


def _kinds(document: Document) -> list[tuple[str, str]]:
    return [(e.kind, document.text[e.start : e.end]) for e in document.elements]


def test_an_aligned_table_becomes_rows_that_read_alone() -> None:
    document = check_document(load_text(STATEMENT, "lumen.txt"))
    assert "Lamps | $120,118 | $98,004 | $7,411 |" in document.text
    assert "Total revenue | 121,138 | 148,115 | 7,711 |" in document.text
    assert "Gain on plant | — | 12 | — |" in document.text
    table = next(element for element in document.elements if element.grid)
    assert table.grid is not None
    assert table.grid.header[1:] == tuple(
        f"Year Ended June 30, / {year}" for year in (2021, 2020, 2019)
    )
    assert (table.grid.caption, table.grid.note) == (
        "CONSOLIDATED STATEMENT OF INCOME",
        "(in thousands)",
    )


def test_page_marks_become_pages() -> None:
    document = check_document(load_text(STATEMENT, "lumen.txt"))
    assert [page.number for page in document.pages] == [4, 5]
    assert document.page_at(document.text.index("The end")) == 5
    assert "<<page" not in document.text


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("one\fand two\fand three", [1, 2, 3]),
        ("one\nPage 1 of 2\ntwo\nPage 2 of 2\n", [1, 2]),
        ("Page 1 of 2\none\nPage 2 of 2\ntwo", [1, 2]),
        ("eins\nSeite 1 von 2\nzwei\nSeite 2 von 2\n", [1, 2]),
        ("--- page 7 ---\none", [7]),
        ("no pages at all", []),
    ],
)
def test_other_page_marks(text: str, numbers: list[int]) -> None:
    assert [page.number for page in check_document(load_text(text, "p.txt")).pages] == numbers


def test_prose_is_kept_word_for_word_and_space_for_space() -> None:
    text = (
        "First  line of a letter,\n   wrapped here.\n\n\n\tSecond paragraph:  two spaces.\nIts end."
    )
    assert check_document(load_text(text, "letter.txt")).text == text


def test_headings_are_found_conservatively() -> None:
    text = (
        "# The lamp book\n\nPART II\n\nItem 1A. Risks of glass\n\n"
        "Glass may break when it falls on stone floors.\n\n"
        "2.1 Care of lamps\n\nLamps want a dry place, a clean cloth once a month, and somebody to "
        "look after it.\n\n"
        "It was dark. He lit the lamp.\n\nJUST SHOUTING AT THE END"
    )
    document = check_document(load_text(text, "book.txt"))
    found = [
        (document.text[e.start : e.end], e.level) for e in document.elements if e.kind == "heading"
    ]
    assert found == [
        ("The lamp book", 1),
        ("PART II", 1),
        ("Item 1A. Risks of glass", 2),
        ("2.1 Care of lamps", 3),
    ]
    assert document.title == "The lamp book"


@pytest.mark.parametrize(
    ("first", "title"),
    [
        ("Due date: 2 March 2024", "inv 7"),
        ("Invoice number: 4711", "inv 7"),
        ("Press note: the bridge is open", "Press note: the bridge is open"),
        ("Report of 2 March 2024", "Report of 2 March 2024"),
    ],
)
def test_a_first_line_that_holds_a_value_is_no_title(first: str, title: str) -> None:
    text = f"{first}\n\nThe painters of the harbour sent this to the bridge office in spring.\n"
    assert load_text(text, "inv_7.txt").title == title


def test_a_currency_in_letters_stands_apart_from_its_number() -> None:
    rows = "".join(f"{name:<14}EUR   {value}\n" for name, value in BILL)
    text = load_text(f"Bill\n\nItem                Amount\n{rows}", "bill.txt").text
    assert "| Paper | EUR 865.45 |" in text and "| Glue | EUR 1,100.10 |" in text


BILL = (("Paper", "  865.45"), ("Ink", "   12.00"), ("Glue", "1,100.10"))


def test_a_numbered_part_is_a_heading_in_any_language_and_a_wrapped_line_is_none() -> None:
    text = (
        "KAPITEL II\n\nAbschnitt 3: Vom Glas\n\nDie Lampen der Werke leuchten länger als alle "
        "anderen.\n\n"
        "Abbildung 4. Die Lampen in den Hallen der\nWerke, von Osten gesehen, 1911."
    )
    document = check_document(load_text(text, "b.txt"))
    found = [
        (document.text[e.start : e.end], e.level) for e in document.elements if e.kind == "heading"
    ]
    assert found == [("KAPITEL II", 1), ("Abschnitt 3: Vom Glas", 2)]


def test_what_stands_on_every_page_is_a_heading_once() -> None:
    pages = "".join(
        f"<<page {n}>>\nLAMP WORKS\n\nThe year {n} was a good one for lamps.\n" for n in range(1, 6)
    )
    found = [e for e in check_document(load_text(pages, "p.txt")).elements if e.kind == "heading"]
    assert [e.page for e in found] == [1]


def test_each_record_line_is_a_list_item() -> None:
    text = "Guests\n\n[G1] Ada came at noon.\n[G2] Bo came late.\n[G3] Cy did not come."
    assert [
        text
        for kind, text in _kinds(check_document(load_text(text, "g.txt")))
        if kind == "list_item"
    ] == [
        "[G1] Ada came at noon.",
        "[G2] Bo came late.",
        "[G3] Cy did not come.",
    ]


def test_a_wrapped_bullet_stays_one_item() -> None:
    text = (
        "• The first point is long enough to be wrapped over two lines, as\nit is here.\n"
        "• The second is short."
    )
    kinds = _kinds(check_document(load_text(text, "b.txt")))
    assert [kind for kind, _ in kinds] == ["list_item", "list_item"]
    assert kinds[0][1].endswith("it is here.")


def test_lines_with_one_key_are_records() -> None:
    text = "User: ada likes tea\nUser: bo likes soup\nUser: cy likes both"
    assert [kind for kind, _ in _kinds(load_text(text, "u.txt"))] == ["list_item"] * 3


def test_lines_longer_than_anybody_wraps_are_paragraphs() -> None:
    line = "A sentence about lamps that goes on and on. " * 6
    document = check_document(load_text(f"{line}\n{line}\n{line}", "l.txt"))
    assert len(document.elements) == 3


def test_a_receipt_with_two_spaces_is_no_table() -> None:
    text = (
        "ITEM  QTY  TOTAL\n$7.10  1  $7.10\nSoup\n$1.10  1  $1.10\nTOTAL  $8.20\n"
        "CASH  $8.20\nCHANGE  $0.00"
    )
    assert load_text(text, "r.txt").text == text


@pytest.mark.parametrize(
    ("raw", "text", "warning"),
    [
        ("Zoë paid 5 €".encode(), "Zoë paid 5 €", ""),
        ("Zoë paid 5 €".encode("utf-8-sig"), "Zoë paid 5 €", ""),
        ("Zoë paid 5 €".encode("utf-16"), "Zoë paid 5 €", ""),
        ("Zoe paid 5 EUR".encode("utf-16-le"), "Zoe paid 5 EUR", "UTF-16"),
        ("Zoë paid 5 €".encode("cp1252"), "Zoë paid 5 €", "Windows-1252"),
        (b"one\r\ntwo\rthree", "one\ntwo\nthree", ""),
    ],
)
def test_encodings(raw: bytes, text: str, warning: str) -> None:
    document = read_text(raw, "z.txt")
    assert document.text == text
    assert [warning in line for line in document.warnings] == ([True] if warning else [])


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (bytes(range(256)) * 9, "binary"),
        (b"\xff\xfea\x00b", "utf-16"),
    ],
)
def test_what_is_no_text_is_refused(raw: bytes, words: str) -> None:
    with pytest.raises(DocumentError, match=words):
        read_text(raw, "x.txt")


_lines = st.text("ab A1.,:$()[]•-#|=*\t\f<>%\u00a0é", max_size=50)


@given(st.lists(_lines, min_size=1, max_size=30).map("\n".join).filter(str.strip))
def test_any_text_gives_a_sound_document(text: str) -> None:
    check_document(load_text(text, "any.txt"))


@given(st.text(min_size=1, max_size=300).filter(str.strip))
def test_any_unicode_gives_a_sound_document(text: str) -> None:
    check_document(load_text(text, "any.txt"))


@given(
    st.lists(st.text("abcdefg .,", min_size=1, max_size=60), min_size=1, max_size=12)
    .map("\n".join)
    .filter(str.strip)
)
def test_text_without_tables_keeps_every_word(text: str) -> None:
    assert load_text(text, "w.txt").text.split() == text.split()
