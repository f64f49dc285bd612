"""Copied words are cut to what a cell should hold, and never to something else."""

from __future__ import annotations

from sliders.extraction.refine import refine
from sliders.schema.types import Column

FERRY, CARGO, PORT = Column("ferry"), Column("cargo"), Column("port")
TEXT = "The Merrow, a slow boat with a friendly crew, carried barley to Hull."


def words(*mentions: tuple[Column, str]) -> dict[str, list[str]]:
    return {name: [c.words for c in found] for name, found in refine(mentions, TEXT).items() if found}


def test_one_clause_for_every_field_is_no_value() -> None:
    clause = "a slow boat with a friendly crew"
    assert words((FERRY, clause), (CARGO, clause), (PORT, clause), (PORT, "Hull")) == {"port": ["Hull"]}


def test_a_short_name_may_serve_several_fields() -> None:
    assert set(words((FERRY, "Hull"), (CARGO, "barley"), (PORT, "Hull"))) == {"ferry", "cargo", "port"}


def test_loose_words_and_the_fields_own_name_are_cut() -> None:
    assert words((PORT, "to Hull"), (FERRY, "The Merrow")) == {"port": ["Hull"], "ferry": ["The Merrow"]}
    assert words((CARGO, "null"), (PORT, "port")) == {}


def test_a_place_behind_a_comma_goes_to_its_own_column() -> None:
    text = "She sank near Hull, Yorkshire, and lies off the coast of Yorkshire; her owner is Vik Lines (doing business as Vik)."
    found = refine([(PORT, "Hull, Yorkshire"), (Column("county"), "the coast of Yorkshire"), (FERRY, "Yorkshire")], text)
    assert found["port"][0].words == "Hull"
    owner = refine([(FERRY, "Vik Lines (doing business as Vik)")], text)
    assert owner["ferry"][0].words == "Vik Lines"


def test_a_registration_number_in_brackets_is_no_part_of_a_name_but_a_year_is() -> None:
    text = "VIK LINES LTD (1135772-K) carried The Log (1997)."
    found = refine([(FERRY, "VIK LINES LTD (1135772-K)"), (CARGO, "The Log (1997)")], text)
    assert (found["ferry"][0].words, found["cargo"][0].words) == ("VIK LINES LTD", "The Log (1997)")
