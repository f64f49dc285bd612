"""The units of a result's columns: derived from expressions and the schema, "" where not sure."""

from __future__ import annotations

import pytest

from sliders.answer import answer_question, unit_of_column, units_of
from sliders.llm import FULL
from sliders.llm.testing import ScriptedModel
from sliders.schema import Column, Table
from sliders.sql import parse_select
from sliders.values import ColumnType
from tests.answer.tables import SHIP_TABLE, database

NUMBER = ColumnType.NUMBER
BRIDGES = Table(
    "bridges",
    (
        Column("name"),
        Column("cost", NUMBER, currency="EUR"),
        Column("capex", NUMBER, currency="USD", scale="millions"),
        Column("length", NUMBER, unit="metres"),
        Column("lanes", ColumnType.INTEGER),
        Column("open", ColumnType.BOOLEAN),
    ),
)


def units(sql: str, columns: tuple[str, ...] = ()) -> tuple[str, ...]:
    tree = parse_select(sql)
    return units_of(tree, [BRIDGES], columns or [item.alias_or_name for item in tree.selects])


@pytest.mark.parametrize(
    ("expression", "unit"),
    [
        ("cost", "EUR"),
        ("capex", "million USD"),
        ("SUM(cost)", "EUR"),
        ("ROUND(AVG(length), 1)", "metres"),
        ("MAX(cost) - MIN(cost)", "EUR"),
        ("COALESCE(SUM(cost), 0)", "EUR"),
        ("SUM(CASE WHEN open THEN cost ELSE 0 END)", "EUR"),
        ("SUM(cost) FILTER (WHERE open)", "EUR"),
        ("SUM(cost) OVER (PARTITION BY name)", "EUR"),
        ("SUM(cost) * 1.0 / COUNT(*)", "EUR"),
        ("SUM(cost) / NULLIF(COUNT(name), 0)", "EUR"),
        ("(SELECT MAX(length) FROM bridges)", "metres"),
        ("open", "yes/no"),
        ("cost > 5", "yes/no"),
        ("MAX(open)", "yes/no"),
        ("COUNT(cost)", ""),
        ("SUM(open)", ""),
        ("AVG(open)", ""),
        ("cost / length", ""),
        ("cost / cost", ""),
        ("100.0 * cost / SUM(cost)", ""),
        ("cost * lanes", ""),
        ("cost * 1000", ""),
        ("cost - capex", ""),
        ("cost + 5", ""),
        ("COALESCE(cost, capex)", ""),
        ("name", ""),
    ],
)
def test_the_unit_of_an_expression(expression: str, unit: str) -> None:
    assert units(f"SELECT {expression} FROM bridges") == (unit,)


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("WITH x AS (SELECT COUNT(*) AS cost FROM bridges) SELECT cost FROM x", ("",)),
        ("WITH x(a) AS (SELECT SUM(cost) FROM bridges) SELECT a FROM x", ("EUR",)),
        ("SELECT total FROM (SELECT SUM(length) AS total FROM bridges)", ("metres",)),
        ("SELECT cost FROM bridges UNION SELECT cost FROM bridges", ("EUR",)),
        ("SELECT cost FROM bridges UNION SELECT capex FROM bridges", ("",)),
        ("SELECT a.cost - b.cost FROM bridges a JOIN bridges b ON a.name < b.name", ("EUR",)),
        ("SELECT cost FROM elsewhere", ("",)),
        (
            "WITH RECURSIVE r(c) AS (SELECT cost FROM bridges UNION ALL SELECT c FROM r) "
            "SELECT c FROM r",
            ("",),
        ),
    ],
)
def test_a_name_has_the_unit_of_what_it_stands_for(sql: str, found: tuple[str, ...]) -> None:
    assert units(sql) == found


def test_a_star_stands_for_the_columns_of_the_result() -> None:
    star = units("SELECT * FROM bridges", ("name", "cost", "row_id"))
    assert star == ("", "EUR", "")


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        (Column("a", NUMBER, unit="dollars", currency="USD"), "USD"),
        (Column("a", NUMBER, unit="USD per share", currency="USD"), "USD per share"),
        (Column("a", NUMBER, unit="percent"), "%"),
        (Column("a", NUMBER, scale="in thousands", currency="EUR"), "thousand EUR"),
        (Column("a", NUMBER, unit="million tonnes", scale="millions"), "million tonnes"),
        (Column("a", unit="EUR"), ""),
    ],
)
def test_the_unit_of_a_column(column: Column, unit: str) -> None:
    assert unit_of_column(column) == unit


async def test_an_answer_names_the_unit_and_keeps_the_bare_value() -> None:
    reply = {"action": "answer", "sql": "SELECT MAX(length) FROM ships", "reason": ""}
    model = ScriptedModel([reply], dialect=FULL)
    answer = await answer_question("How long is the longest?", [SHIP_TABLE], database(), model)
    assert (answer.value, answer.text, answer.units) == (120, "120 metres", ("metres",))
    assert answer.to_dict()["units"] == ["metres"]
