"""Addresses and names get all their lines, and nothing of what stands around them."""

from __future__ import annotations

import pytest

from sliders.extraction.letterheads import whole_block
from sliders.schema.types import Column

ADDRESS, COMPANY = Column("address"), Column("company")
SLIP = """VIK ROPES
& SAILS LTD
(CO. REG. 11822-W)
UNIT 4B, OLD MOLE,
QUAY ROAD 12
70112 NORTH HARBOUR
TEL: 03-9201 6281
12/01/18  16:52
ROPE 12 MM  4.00
"""
OPEN = "THE MOLE SHOP\n12, QUAY ROAD\nNORTH HARBOUR, 70112\nSLIP 12\n"


def read(column: Column, text: str, words: str, others: tuple[str, ...] = ()) -> str:
    at = text.index(words)
    start, end = whole_block(column, text, (at, at + len(words)), [(text.index(o), text.index(o) + len(o)) for o in others])
    return text[start:end]


@pytest.mark.parametrize(
    ("text", "words", "whole"),
    [
        (SLIP, "70112 NORTH HARBOUR", "UNIT 4B, OLD MOLE,\nQUAY ROAD 12\n70112 NORTH HARBOUR"),
        (SLIP, "QUAY ROAD 12", "UNIT 4B, OLD MOLE,\nQUAY ROAD 12\n70112 NORTH HARBOUR"),
        (SLIP, "QUAY ROAD 12\n70112 NORTH HARBOUR\nTEL: 03-9201 6281", "UNIT 4B, OLD MOLE,\nQUAY ROAD 12\n70112 NORTH HARBOUR"),
        (OPEN, "NORTH HARBOUR", "12, QUAY ROAD\nNORTH HARBOUR, 70112"),
    ],
)
def test_an_address_gets_its_lines(text: str, words: str, whole: str) -> None:
    assert read(ADDRESS, text, words) == whole


def test_an_address_does_not_take_another_value() -> None:
    assert read(ADDRESS, OPEN, "NORTH HARBOUR", ("12, QUAY ROAD",)) == "NORTH HARBOUR, 70112"


def test_a_name_gets_its_legal_form_from_the_next_line() -> None:
    assert read(COMPANY, SLIP, "VIK ROPES") == "VIK ROPES\n& SAILS LTD"
    assert read(COMPANY, OPEN, "THE MOLE SHOP") == "THE MOLE SHOP"
    assert read(Column("port"), SLIP, "VIK ROPES") == "VIK ROPES"


def test_prose_is_no_letterhead() -> None:
    prose = "Vik Ropes, which opened in 1951 at 12 Quay Road, North Harbour, moved to the old mole in 1970 after a fire there.\n"
    assert read(ADDRESS, prose, "Quay Road, North Harbour") == "Quay Road, North Harbour"
