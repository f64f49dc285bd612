"""HTML and Markdown as a browser shows them."""

from __future__ import annotations

import pytest
from document_samples import read_file

from sliders.documents import Document


def page(body: str, head: str = "") -> Document:
    return read_file(f"<html><head>{head}</head><body>{body}</body></html>".encode(), "a.html")


CONTAINERS = (
    "details summary form figure figcaption label button nav textarea dialog fieldset legend main "
    "article aside header footer section output audio video object menu search my-card font"
).split()


@pytest.mark.parametrize("tag", CONTAINERS)
def test_the_words_of_a_container_are_read(tag: str) -> None:
    text = page(f"<p>Before it.</p><{tag}>Costs 40 EUR</{tag}><p>Behind it.</p>").text
    assert [text.find(words) >= 0 for words in ("Before it.", "Costs 40 EUR", "Behind it.")] == [
        True
    ] * 3


def test_a_table_of_a_figure_is_read_with_its_caption() -> None:
    table = "<table><tr><th>item</th><th>EUR</th></tr><tr><td>lamp</td><td>40</td></tr></table>"
    document = page(f"<figure>{table}<figcaption>Prices 2024</figcaption></figure>")
    grid = next(element.grid for element in document.elements if element.grid)
    assert grid.caption == "Prices 2024"
    assert "| lamp | 40 |" in document.text


def test_fields_show_what_stands_in_them() -> None:
    text = page(
        "<form>Order <input value='7781'> <input type=hidden value=secret>"
        "<select><option>red<option selected>blue</select></form>"
    ).text
    assert "Order 7781" in text
    assert "secret" not in text
    assert "red, blue (selected)" in text


@pytest.mark.parametrize(
    "hidden",
    [
        '<p style="display: none">Costs 99 EUR.</p>',
        "<p hidden>Costs 99 EUR.</p>",
        '<div style="visibility:hidden"><p>Costs 99 EUR.</p></div>',
        '<p class="a x">Costs 99 EUR.</p>',
        '<p id="gone">Costs 99 EUR.</p>',
        "<noscript>Costs 99 EUR.</noscript>",
    ],
)
def test_hidden_text_is_left_out_and_told(hidden: str) -> None:
    style = "<style>.x, #gone {display:none} @media print {.y {display:none}}</style>"
    document = page(f"{hidden}<p class=y>Costs 40 EUR.</p>", style)
    assert document.text == "Costs 40 EUR."
    assert len(document.warnings) == 1
    assert "Costs 99 EUR." in document.warnings[0]


def test_hidden_rows_of_a_table_are_left_out_and_told() -> None:
    document = page(
        "<table><tr><th>a</th><th>b</th></tr><tr><td>x</td><td>1</td></tr>"
        "<tr hidden><td>y</td><td>2</td></tr></table>"
    )
    assert "| x | 1 |" in document.text
    assert "| y |" not in document.text
    assert document.warnings == ('hidden text was left out in 1 place: "y 2"',)


def test_struck_out_text_is_left_out_and_told() -> None:
    document = page(
        "<p>Now <del>60</del> <s>61</s> <i style='text-decoration:line-through'>62</i> 40.</p>"
    )
    assert document.text == "Now 40."
    assert document.warnings == ('struck-out text was left out in 3 places: "60"; "61"; "62"',)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("45<sup>1</sup> EUR", "45^1 EUR"),
        ("10<sup>6</sup> cells", "10^6 cells"),
        ("10<sup>-3</sup> m", "10^-3 m"),
        ("45<sup><a href='#n1'>1</a></sup> EUR", "45[1] EUR"),
        ("45<span style='vertical-align:super'>1</span> EUR", "45^1 EUR"),
        ("<b>45</b><sup>1</sup> EUR", "45^1 EUR"),
        ("3<sup>1</sup>/<sub>2</sub> pages", "3 1/2 pages"),
        ("2022<sup>b)</sup> EUR", "2022^b) EUR"),
        ("2022<sup>1)</sup> EUR", "2022^1) EUR"),
        ("see remark<sup>3</sup> there", "see remark^3 there"),
        ("type B<sup>7</sup> there", "type B^7 there"),
        ("45<span class=up>1</span> EUR", "45^1 EUR"),
        ("45<span style='position:relative;top:-.4em'>c</span> EUR", "45^c EUR"),
    ],
)
def test_raised_digits_are_no_digits_of_their_number(written: str, read: str) -> None:
    style = "<style>.up { vertical-align: 0.5em; font-size: 70% }</style>"
    assert page(f"<p>Here {written}.</p>", style).text == f"Here {read}."
    row = f"<table><tr><td>Price</td><td>{written}</td></tr></table>"
    assert read in page(row, style).text


def test_raised_letters_stay() -> None:
    assert page("<p>On the 1<sup>st</sup> day.</p>").text == "On the 1st day."


def test_ordered_lists_keep_the_numbers_that_are_printed() -> None:
    text = page(
        "<ol start=7><li>seven</li><li value=10><p>ten</p></li><li>next</li></ol>"
        "<ol type=a><li>first letter</li></ol><ol type=I start=4><li>fourth</li></ol>"
        "<ol style='list-style:none'><li>plain</li></ol><ol reversed><li>two</li><li>one</li></ol>"
    ).text
    assert text.split("\n") == (
        "7. seven|10. ten|11. next|a. first letter|IV. fourth|plain|2. two|1. one".split("|")
    )


def test_the_foot_of_a_table_stands_below_it_wherever_it_is_written() -> None:
    text = page(
        "<table><tfoot><tr><td>Sum</td><td>9</td></tr></tfoot><tbody><tr><td>Nut</td><td>4</td>"
        "</tr><tr><td>Bolt</td><td>5</td></tr></tbody><thead><tr><th>Part</th><th>EUR</th></tr>"
        "</thead></table>"
    ).text
    assert text.split("\n")[0] == "| Part | EUR |"
    assert text.split("\n")[-1] == "| Sum | 9 |"


def test_tables_within_tables_without_end_are_read_as_text() -> None:
    document = page("<div><table><tr><td>" * 3000 + "Deep 41.")
    assert "Deep 41." in document.text
    assert "were read as text" in document.warnings[0]


def test_spans_that_cover_far_more_than_there_is_are_told_and_not_read() -> None:
    row = '<tr><td colspan="1000" rowspan="65534">Cost</td><td colspan="900">5</td></tr>'
    document = page(f"<table>{row * 300}</table>")
    assert len(document.text) < 10_000
    assert document.text.count("5") == 300
    assert "spans of a table" in document.warnings[0]


def test_deep_and_unclosed_markup_loses_nothing() -> None:
    deep = page("<div>" * 3000 + "Deep 41." + "</div>" * 3000 + "<p>Behind 42.</p>").text
    assert "Deep 41." in deep
    assert "Behind 42." in deep
    words = [f"word{n}" for n in range(1400)]
    assert page("".join(f"<span><b>{word} " for word in words)).text.split() == words


def test_struck_out_words_and_notes_of_markdown() -> None:
    document = read_file(
        b"# Prices\n\nLamp ~~60~~ 40 EUR[^1], `~~kept~~`.\n\n[^1]: Confirmed\n", "a.md"
    )
    assert "Lamp 40 EUR[^1], ~~kept~~." in document.text
    assert "[^1]: Confirmed" in document.text
    assert document.warnings == ('struck-out text was left out in 1 place: "60"',)


def test_details_of_markdown_are_read() -> None:
    text = read_file(
        b"Intro.\n\n<details>\n<summary>More</summary>\nShips in 3 days.\n</details>\n", "a.md"
    ).text
    assert "Ships in 3 days." in text
