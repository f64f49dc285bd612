"""CSV files as programs of many countries write them."""

from __future__ import annotations

import pytest
from document_samples import read_file

from sliders.documents import Document
from sliders.errors import DocumentError


def table(document: Document) -> list[list[str]]:
    grids = [element.grid for element in document.elements if element.grid]
    assert len(grids) == 1
    rows = [[cell.text for cell in row] for row in grids[0].rows]
    return [list(grids[0].header), *rows] if any(grids[0].header) else rows


ROWS = [["station", "depth", "temp"], ["Alba", "12,5", "8,1"], ["Brenn", "30,0", "6,4"]]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("title", ["", "Station readings\n", "Station readings, spring 2024\n\n"])
def test_the_delimiter_gives_most_rows_of_one_width(delimiter: str, title: str) -> None:
    text = title + "".join(delimiter.join(row) + "\r\n" for row in ROWS)
    document = read_file(text.encode(), "a.csv")
    assert table(document) == ROWS
    assert document.text.startswith(title.strip())


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (
            "Alba;12,5\nBrenn;30,0\nCosta;7,5\n",
            [["Alba", "12,5"], ["Brenn", "30,0"], ["Costa", "7,5"]],
        ),
        ("1,5;2,5\n3,5;4,5\n", [["1,5", "2,5"], ["3,5", "4,5"]]),
        (
            "id,name,tags\n1,x,a;b\n2,y,c;d\n",
            [["id", "name", "tags"], ["1", "x", "a;b"], ["2", "y", "c;d"]],
        ),
        ('a,b\n"x;y;z",1\n"u, ""v""; w",2\n', [["a", "b"], ["x;y;z", "1"], ['u, "v"; w', "2"]]),
        (
            'a;b\n"two\nlines; here";1\nx,2;3\n',
            [["a", "b"], ["two lines; here", "1"], ["x,2", "3"]],
        ),
        ("sep=;\na;b\n1,5;2\n", [["a", "b"], ["1,5", "2"]]),
        ("sep=,\na,b\n1;5,2\n", [["a", "b"], ["1;5", "2"]]),
        (
            "Sales, all towns\ntown,year,sales\nAlm,2023,5\n",
            [["town", "year", "sales"], ["Alm", "2023", "5"]],
        ),
    ],
)
def test_commas_semicolons_and_quotes(text: str, rows: list[list[str]]) -> None:
    assert table(read_file(text.encode(), "a.csv")) == rows


def test_a_line_without_end_is_refused_before_it_is_read() -> None:
    with pytest.raises(DocumentError, match="a line is longer than 4 MB"):
        read_file(b"name,cost\n" + b"5," * (3 << 20), "a.csv")
    row = b"lamp" + b" of the hall" * 40
    assert read_file(b"name,cost\n" + (row + b",5\n") * 9_000, "a.csv").text.endswith(" | 5 |")
