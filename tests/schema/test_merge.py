"""Merging loses nothing that stands, adds each fact once, and leaves pinned tables alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sliders.schema import Column, Grain, Schema, Table, merge_table, same_column
from sliders.values import ColumnType
from tests.schema.helpers import embed

NAMES = st.sampled_from(["captain", "cargo", "tons", "left_on", "late", "wind"])
COLUMNS = st.builds(
    Column,
    NAMES,
    st.sampled_from(list(ColumnType)),
    st.sampled_from(["", "the weight of it", "who leads it"]),
)


def made(name: str, columns: list[Column], grain: Grain, pinned: bool) -> Table:
    return Table(
        name, tuple({c.name: c for c in columns}.values()), f"a {name}", grain=grain, pinned=pinned
    )


GRAINS = st.sampled_from(["document", "many"])
TABLES = st.builds(
    made,
    st.sampled_from(["sailings", "ports", "logs"]),
    st.lists(COLUMNS, min_size=1, max_size=5),
    GRAINS,
    st.booleans(),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(TABLES, min_size=1, max_size=5))
def test_properties_of_a_merge(tables: list[Table]) -> None:
    schema = Schema((tables[0],))
    for proposal in tables[1:]:
        proposal = Table(proposal.name, proposal.columns, proposal.row, grain=proposal.grain)
        merged = merge_table(schema, proposal, embed)
        for before in schema.tables:
            after = merged.schema.table(before.name)
            assert (
                after.columns[: len(before.columns)] == before.columns
                and after.grain == before.grain
            )
            assert not before.pinned or after == before
        assert merged.schema.table(merged.table.name) == merged.table
        assert set(merged.places.values()) <= set(merged.table.column_names)
        assert merged.table.pinned or set(merged.places) == set(proposal.column_names)
        names = [t.name for t in merged.schema.tables]
        assert len(set(names)) == len(names) and all(
            len(set(t.column_names)) == len(t.columns) for t in merged.schema.tables
        )
        again = merge_table(merged.schema, proposal, embed)
        assert merged.table.pinned or again.schema == merged.schema
        schema = merged.schema


def test_what_is_told_apart_stays_apart() -> None:
    told = "What is the name of the person?"
    deals = Table(
        "deals", (Column("buyer_name"), Column("paid", ColumnType.NUMBER, currency="USD")), "a deal"
    )
    asked = Table(
        "deals",
        (Column("seller_name", description=told), Column("signed_by", description=told)),
        "a deal",
    )
    places = merge_table(
        Schema((deals,)), asked, lambda texts: np.ones((len(texts), 1), np.float32)
    ).places
    assert places == {"seller_name": "seller_name", "signed_by": "signed_by"}
    euros = Table("deals", (Column("paid", ColumnType.NUMBER, currency="EUR"),), "a deal")
    assert merge_table(Schema((deals,)), euros, embed).places == {"paid": "paid_number"}


def test_a_column_in_other_words_does_not_take_the_place_of_one_that_is_named() -> None:
    told = "How many people were killed?"
    standing = Table("t", (Column("killed", ColumnType.INTEGER, told),), "a fire")
    asked = Table(
        "t",
        (Column("dead", ColumnType.INTEGER, told), Column("killed", ColumnType.INTEGER, told)),
        "a fire",
    )
    assert merge_table(Schema((standing,)), asked, embed).places == {
        "dead": "dead",
        "killed": "killed",
    }


def test_the_same_words_of_one_family_are_one_column() -> None:
    standing = [Column("people_killed", ColumnType.INTEGER, "How many people were killed?")]
    asked = Column("killed_people", ColumnType.NUMBER, "How many people were killed?")
    assert same_column(asked, standing) is standing[0]
    assert (
        same_column(Column("people_killed", ColumnType.BOOLEAN, "Were people killed?"), standing)
        is None
    )


def test_one_name_for_two_types_of_value_is_two_columns() -> None:
    schema = Schema((Table("accidents", (Column("deaths", ColumnType.BOOLEAN),), "an accident"),))
    merged = merge_table(
        schema, Table("accidents", (Column("deaths", ColumnType.INTEGER),), "an accident"), embed
    )
    assert merged.table.column_names == ("deaths", "deaths_integer") and merged.places == {
        "deaths": "deaths_integer"
    }


def test_other_units_are_other_columns() -> None:
    standing = [Column("height_m", ColumnType.NUMBER, "height of it", unit="m")]
    assert (
        same_column(Column("height_ft", ColumnType.NUMBER, "height of it", unit="ft"), standing)
        is None
    )


def test_rows_that_are_documents_share_a_table_and_lists_do_not() -> None:
    schema = Schema((Table("accidents", (Column("captain"),), "an accident", grain="document"),))
    flights = Table("flights", (Column("tons", ColumnType.NUMBER),), "a flight", grain="document")
    assert [t.name for t in merge_table(schema, flights, embed).schema.tables] == ["accidents"]
    crew = Table("crew", (Column("name"),), "a person", grain="many")
    assert [t.name for t in merge_table(schema, crew, embed).schema.tables] == ["accidents", "crew"]
    letters = Table(
        "letters", (Column("sender"),), "a letter", grain="document", documents="letters"
    )
    other = Schema(
        (Table("bills", (Column("sum"),), "a bill", grain="document", documents="bills"),)
    )
    assert len(merge_table(other, letters, embed).schema.tables) == 2


def test_new_values_of_a_category_are_added() -> None:
    wind = Column("wind", ColumnType.CATEGORY, values=("calm", "gale"))
    schema = Schema((Table("logs", (wind,), "a log"),))
    merged = merge_table(
        schema,
        Table("logs", (Column("wind", ColumnType.CATEGORY, values=("calm", "breeze")),), "a log"),
        embed,
    )
    assert merged.table.column("wind").values == ("calm", "gale", "breeze")
