"""All questions at once to tables: faults go back once, pins stay, what is not covered is said."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from sliders.errors import ModelRefusal
from sliders.llm import FULL
from sliders.llm.testing import ScriptedModel, truncated
from sliders.schema import Schema, induce_schema, induction_prompt, schema_from
from sliders.values import ColumnType
from tests.schema.helpers import SAMPLES, ask, column, embed, reply, table

FERRIES = table("sailings", column("captain"), column("cargo"), rows_per_document="one")
WHO, WHAT = "Which captain carried barley?", "How many sailings carried salt?"


def test_all_questions_are_asked_in_one_call() -> None:
    found, model = ask(
        [WHO, WHAT],
        reply(FERRIES, needs=[["sailings.captain", "sailings.cargo"], ["sailings.cargo"]]),
    )
    assert len(model.history) == 1 and all(
        q in model.history[0].messages[-1].content for q in (WHO, WHAT)
    )
    assert found.needs == {WHO: ("sailings.captain", "sailings.cargo"), WHAT: ("sailings.cargo",)}
    assert (found.uncovered, found.issues) == ({}, ())
    assert found.schema.tables[0].grain == "document" and found.tokens > 0


def test_the_values_of_a_category_may_be_numbers() -> None:
    found, model = ask(
        [WHO], reply(table("t", column("stars", "category", values=[1, 2, 3])), needs=[["t.stars"]])
    )
    assert found.schema.tables[0].columns[0].values == ("1", "2", "3") and len(model.history) == 1


def test_the_prompt_has_samples_by_name_guidelines_and_standing_tables() -> None:
    standing = schema_from({"ports": {"harbour": "text"}})
    request = induction_prompt([WHO], SAMPLES, standing, FULL)
    text = "\n".join(m.content for m in request.messages)
    for said in ("merrow.txt", "Ada Lund", "ports", "harbour", "fixed", "Multiple choice", WHO):
        assert said in text
    assert request.reply is not None and request.prompt_hash


def test_all_seven_types_and_every_field_arrive() -> None:
    kinds = [kind.value for kind in ColumnType]
    columns = [
        column(f"c_{kind}", kind, values=["a", "b"] if kind == "category" else []) for kind in kinds
    ]
    columns[2] |= {"unit": "EUR", "scale": "millions", "currency": "EUR", "required": True}
    columns[3] |= {"reading": "judged"}
    found, _ = ask([WHO], reply(table("t", *columns, documents="logs"), needs=[["t.c_text"]]))
    made = found.schema.tables[0]
    assert [c.type.value for c in made.columns] == kinds
    money, judged = made.columns[2], made.columns[3]
    assert (money.unit, money.scale, money.currency, money.required) == (
        "EUR",
        "millions",
        "EUR",
        True,
    )
    assert (
        judged.reading == "judged"
        and made.columns[6].values == ("a", "b")
        and made.documents == "logs"
    )


def test_nulls_and_other_words_for_a_type_are_understood() -> None:
    loose = column("wind", "enum", values=["calm", "gale"], unit=None, required=None, currency=None)
    found, _ = ask(
        [WHO],
        reply(
            table("t", loose, column("tons", "float"), key=None, documents=None), needs=[["t.wind"]]
        ),
    )
    assert [c.type.value for c in found.schema.tables[0].columns] == ["category", "number"]


def test_the_name_of_the_document_is_a_column_that_every_table_has() -> None:
    found, model = ask([WHO], reply(FERRIES, needs=[["sailings.document", "sailings.captain"]]))
    assert (
        found.needs == {WHO: ("sailings.captain",)}
        and not found.uncovered
        and len(model.history) == 1
    )


def test_several_tables_with_keys_between_them() -> None:
    filings = table(
        "filings",
        column("company"),
        column("state"),
        key=["company"],
        rows_per_document="one",
        documents="covers",
    )
    figures = table(
        "figures",
        column("company"),
        column("fiscal_year", "integer"),
        column("revenue", "number"),
        key=["company", "fiscal_year"],
    )
    found, _ = ask([WHO], reply(filings, figures, needs=[["filings.state", "figures.revenue"]]))
    assert [t.key for t in found.schema.tables] == [("company",), ("company", "fiscal_year")]
    assert [t.grain for t in found.schema.tables] == ["document", "many"]


def test_faults_go_back_once_and_the_correction_counts() -> None:
    bad, good = (
        table("sailings", column("wind", "category")),
        table("sailings", column("wind", "category", values=["calm", "gale"])),
    )
    found, model = ask(
        [WHO], reply(bad, needs=[["sailings.wind"]]), reply(good, needs=[["sailings.wind"]])
    )
    assert found.schema.tables[0].column("wind").values == ("calm", "gale") and found.issues == ()
    assert "a category lists its values" in model.history[1].messages[-1].content
    assert model.history[1].messages[-2].role == "assistant"


def test_what_stays_wrong_is_accepted_as_it_is_and_recorded() -> None:
    bad = reply(table("sailings", column("wind", "category")), needs=[["sailings.wind"]])
    found, model = ask([WHO], bad, bad)
    assert (
        len(model.history) == 2
        and found.schema.tables[0].column("wind").type is ColumnType.CATEGORY
    )
    assert [issue.subject for issue in found.issues] == ["sailings.wind"]


def test_a_correction_that_fails_leaves_the_first_proposal() -> None:
    bad = reply(table("sailings", column("wind", "category")), needs=[["sailings.wind"]])
    for failure in (ModelRefusal("no"), truncated(), reply()):
        found, _ = ask([WHO], bad, failure)
        assert found.schema.tables[0].column_names == ("wind",) and found.issues


def test_what_no_column_covers_is_said() -> None:
    found, _ = ask(
        [WHO, WHAT],
        reply(FERRIES, needs=[["sailings.captain"]], missing=[(2, "the weight of the salt")]),
    )
    assert found.uncovered == {WHAT: "the weight of the salt"} and found.needs[WHAT] == ()


def test_a_question_that_the_reply_forgets_is_asked_again_and_then_uncovered() -> None:
    short = reply(FERRIES, needs=[["sailings.captain"]])
    found, model = ask([WHO, WHAT], short, short)
    assert "question 2" in model.history[1].messages[-1].content
    assert found.uncovered == {WHAT: "what it asks for"}


def test_needs_of_names_that_do_not_exist_are_uncovered() -> None:
    wrong = reply(FERRIES, needs=[["sailings.captain", "sailings.weight"]])
    found, _ = ask([WHO], wrong, wrong)
    assert found.needs[WHO] == ("sailings.captain",) and "sailings.weight" in found.uncovered[WHO]


def test_a_pinned_schema_is_never_asked_about_and_never_changed() -> None:
    pinned = schema_from(
        {"sailings": {"Captain Name": "text", "select": "integer"}, "t2": {"x": "date"}}
    )
    found, model = ask([WHO, WHAT], schema=pinned)
    assert model.history == [] and found.schema == pinned
    assert found.needs[WHAT] == ("sailings.Captain Name", "sailings.select", "t2.x")


def test_a_pinned_table_takes_no_column_beside_induced_ones() -> None:
    pinned = schema_from({"sailings": {"captain": "text"}}).tables[0]
    standing = Schema(
        (
            pinned,
            *ask([WHO], reply(table("ports", column("harbour")), needs=[["ports.harbour"]]))[
                0
            ].schema.tables,
        )
    )
    wants = reply(
        table("sailings", column("captain", "integer"), column("wind")),
        needs=[["sailings.captain", "sailings.wind"]],
    )
    found, _ = ask([WHO], wants, schema=standing)
    assert found.schema.table("sailings") == pinned
    assert found.needs[WHO] == ("sailings.captain",) and "sailings.wind" in found.uncovered[WHO]


def test_a_later_question_extends_the_table_that_stands() -> None:
    first, _ = ask([WHO], reply(FERRIES, needs=[["sailings.captain"]]))
    later, _ = ask(
        [WHAT],
        reply(
            table("sailings", column("tons", "number")), needs=[["sailings.tons", "sailings.cargo"]]
        ),
        schema=first.schema,
    )
    assert (
        later.schema.tables[0].column_names == ("captain", "cargo", "tons")
        and len(later.schema.tables) == 1
    )
    assert later.needs == {WHAT: ("sailings.tons", "sailings.cargo")}


def test_a_later_question_may_need_nothing_new() -> None:
    first, _ = ask([WHO], reply(FERRIES, needs=[["sailings.captain"]]))
    later, model = ask([WHAT], reply(needs=[["sailings.cargo"]]), schema=first.schema)
    assert later.schema == first.schema and len(model.history) == 1


HOSTILE = [
    "select",
    "2022 sales",
    "x" * 200,
    "наценка",
    "価格",
    "a.b; DROP TABLE t",
    "",
    "Größe",
    "row_id",
]


def test_hostile_names_become_sql_safe_and_needs_follow() -> None:
    named = table("order", *(column(name) for name in HOSTILE), key=["2022 sales"])
    found, _ = ask([WHO], reply(named, needs=[[f"order.{name}" for name in HOSTILE]]))
    made = found.schema.tables[0]
    assert made.name == "order_value" and len(set(made.column_names)) == len(HOSTILE)
    assert all(name.isidentifier() and len(name) <= 90 for name in made.column_names)
    assert found.needs[WHO] == tuple(
        f"order_value.{name}" for name in made.column_names
    ) and made.key == ("n_2022_sales",)


def test_names_that_collide_get_a_number() -> None:
    named = table(
        "sailings",
        column("Net income"),
        column("net-income"),
        column("net_income_of_the_company_attributable_to_shareholders"),
    )
    found, _ = ask([WHO], reply(named, needs=[["sailings.Net income", "sailings.net-income"]]))
    assert found.schema.tables[0].column_names[:2] == ("net_income", "net_income_2")
    assert (
        found.schema.tables[0].column_names[2]
        == "net_income_of_the_company_attributable_to_shareholders"
    )
    assert found.needs[WHO] == ("sailings.net_income", "sailings.net_income_2")


def test_batches_that_do_not_fit_are_split() -> None:
    one = reply(FERRIES, needs=[["sailings.captain"]])
    found, model = ask([WHO, WHAT], truncated(), one, reply(needs=[["sailings.cargo"]]))
    assert len(model.history) == 3 and set(found.needs) == {WHO, WHAT}
    with pytest.raises(Exception, match="limit"):
        ask([WHO], truncated())


def test_a_reply_of_another_shape_is_refused() -> None:
    with pytest.raises(ModelRefusal):
        asyncio.run(induce_schema([WHO], SAMPLES, Schema(), _raw({"tables": "none"}), embed))


def _raw(data: Any) -> ScriptedModel:
    from sliders.llm import Response

    return ScriptedModel([Response("{}", data)], context_tokens=32768)


def test_a_need_of_a_table_that_is_not_there_is_not_covered_by_another_tables_column() -> None:
    faulty = reply(
        table("visits", column("day", "date")),
        table("ships", column("name")),
        needs=[["orders.day", "ships.name"]],
    )
    found, _ = ask([WHO], faulty, faulty)
    assert found.needs == {WHO: ("ships.name",)} and found.uncovered == {WHO: "orders.day"}


def test_a_need_is_found_in_the_table_that_took_the_proposed_one() -> None:
    first, _ = ask([WHO], reply(FERRIES, needs=[["sailings.captain"]]))
    again = table("trips", column("tons", "number"), row="one of sailings", rows_per_document="one")
    found, _ = ask([WHAT], reply(again, needs=[["trips.cargo", "trips.tons"]]), schema=first.schema)
    assert found.needs == {WHAT: ("sailings.cargo", "sailings.tons")} and not found.uncovered


def test_a_table_of_another_name_is_another_table_however_near_it_is() -> None:
    def one(texts: Sequence[str]) -> np.ndarray:
        return np.ones((len(texts), 1), np.float32)

    schema = Schema()
    for name in ("departures", "arrivals"):
        data = reply(
            table(name, column("hour"), row=f"one of the {name} of a ferry"),
            needs=[[f"{name}.hour"]],
        )
        found = asyncio.run(induce_schema([name], SAMPLES, schema, ScriptedModel([data]), one))
        schema = found.schema
        assert found.needs == {name: (f"{name}.hour",)}
    assert [t.name for t in schema.tables] == ["departures", "arrivals"]
