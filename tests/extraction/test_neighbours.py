"""What stands right beside a value: the other form of a designation, the place before its region."""

from __future__ import annotations

import pytest

from sliders.extraction.cell import Cell, Grounding, Row, Span
from sliders.extraction.neighbours import with_neighbours
from sliders.schema.types import Column, Table


def cell(text: str, document: str, column: str, words: str) -> Cell:
    start = text.index(words)
    return Cell(column, words, words, Grounding.EXACT, Span(document, start, start + len(words)))


@pytest.mark.parametrize(
    ("text", "read", "whole"),
    [
        ("a Merrow MX-77B (MX-77) tug", "MX-77B", "MX-77B (MX-77)"),
        ("a Merrow MXB (MX-77), built in 1990", "MX-77", "MXB (MX-77)"),
        ("an engine T-4 (T-IV) of 1990", "T-4", "T-4 (T-IV)"),
        ("a Merrow MX-77B (two of them)", "MX-77B", None),
        ("a tug called Otter (built 1990)", "Otter", None),
        ("under the flag (of MX-77 crews)", "MX-77", None),
        ("the Old Merrow Ferry (OMF) night service", "Old Merrow Ferry (OMF) night service", "Old Merrow Ferry"),
        ("the Old Merrow Ferry (ABC) night service", "Old Merrow Ferry (ABC) night service", None),
    ],
)
def test_both_forms_of_a_designation_are_one_value(text: str, read: str, whole: str | None) -> None:
    row = Row("1", "tugs", "d", "d:0", 0, (cell(text, "d", "kind", read),))
    changed = with_neighbours([row], Table("tugs", (Column("kind"),)), lambda span: text[span.start : span.end])
    assert [c.value for r in changed for c in r.cells] == ([whole] if whole else [])
    assert all(c.span is not None and text[c.span.start : c.span.end] == c.printed for r in changed for c in r.cells)


PORTS = Table("calls", (Column("port"), Column("region")))
TEXTS = {str(n): f"The tug called at Port {name}, Vorland, in May." for n, name in enumerate("ABCDEFG")}
TEXTS["own"] = "The tug lay at Gull Quay, Old Merrow, Vorland, in May."
TEXTS["several"] = "It left Gull Quay for Merrow, Vorland, and then for Lund, Vorland."


def calls(read: dict[str, str]) -> list[Row]:
    return [
        Row(i, "calls", i, f"{i}:0", 0, (cell(TEXTS[i], i, "port", port), cell(TEXTS[i], i, "region", "Vorland")))
        for i, port in read.items()
    ]


def test_the_name_before_its_region_is_the_place_where_most_texts_print_it_so() -> None:
    read = {i: t.split(" at ")[1].split(",")[0] for i, t in TEXTS.items() if i.isdigit()}
    strays = {"own": "Gull Quay", "several": "Gull Quay"}
    changed = with_neighbours(calls(read | strays), PORTS, lambda s: TEXTS[s.document_id][s.start : s.end])
    assert {(r.id, c.column): c.value for r in changed for c in r.cells} == {("own", "port"): "Old Merrow"}
    few = with_neighbours(calls({"0": "Port A"} | strays), PORTS, lambda s: TEXTS[s.document_id][s.start : s.end])
    assert few == []
