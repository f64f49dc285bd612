"""A schema is written as YAML and pinned again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sliders.schema import Check, Column, Example, Schema, Table, schema_from, schema_yaml
from sliders.values import ColumnType

WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), max_size=20).map(
    lambda words: " ".join(words.split())
)
NAMES = st.from_regex(r"[a-z][a-z_]{0,9}", fullmatch=True)
COLUMNS = st.builds(
    Column,
    NAMES,
    st.sampled_from(sorted(ColumnType)),
    WORDS,
    unit=WORDS,
    scale=st.sampled_from(["", "millions"]),
    reading=st.sampled_from(["stated", "judged"]),
    required=st.booleans(),
    pinned=st.just(True),
    examples=st.lists(
        st.builds(Example, WORDS.filter(bool), st.booleans() | st.integers(), WORDS), max_size=2
    ).map(tuple),
)
TABLES = st.builds(
    Table,
    NAMES,
    st.lists(COLUMNS, min_size=1, max_size=4, unique_by=lambda c: c.name).map(tuple),
    row=WORDS,
    grain=st.sampled_from(["document", "many"]),
    key_scope=st.sampled_from(["document", "collection"]),
    pinned=st.just(True),
)


@given(st.lists(TABLES, min_size=1, max_size=3, unique_by=lambda t: t.name))
def test_what_is_written_reads_back(tables: list[Table]) -> None:
    schema = Schema(tuple(tables))
    assert schema_from(schema_yaml(schema)) == schema


def test_a_description_may_speak_of_statements() -> None:
    column = Column("rule", description="the CREATE TABLE statement that it names", pinned=True)
    schema = Schema((Table("rules", (column,), row="one rule", pinned=True),))
    assert schema_from(schema_yaml(schema)) == schema


def test_checks_and_categories_are_written() -> None:
    columns = (
        Column("kind", ColumnType.CATEGORY, values=("yes", "no", "07"), pinned=True),
        Column("cost", ColumnType.NUMBER, currency="EUR", pinned=True),
    )
    checks = (
        Check("not_null", ("cost",)),
        Check("unique", ("kind", "cost")),
        Check("range", ("cost",), least=0),
        Check("values", ("kind",), values=("yes", "no")),
        Check("relation", ("kind",), table="kinds", column="name"),
        Check("sql", sql="SELECT * FROM things WHERE cost < 0"),
    )
    schema = Schema((Table("things", columns, key=("kind",), pinned=True, checks=checks),))
    assert schema_from(schema_yaml(schema)) == schema


def test_a_given_table_is_not_written() -> None:
    given_table = Table("vendors", (Column("name"),), pinned=True, given=True)
    assert "vendors" not in schema_yaml(Schema((given_table,)))
