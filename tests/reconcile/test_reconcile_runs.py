"""Reconciliation in a workspace: dates of documents, the user's criteria, and what stands when
a document is added.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sliders import Workspace
from sliders.compact import parse_hints
from sliders.engine import document_dates, version_rows
from sliders.errors import BudgetExceeded, RepairError
from sliders.llm import Request
from sliders.llm.testing import FunctionModel
from sliders.reconcile import replay
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType
from tests.worlds import document, reply

SCHEMA = Schema(
    (
        Table(
            "things",
            (Column("name"), Column("cost", ColumnType.NUMBER)),
            row="a thing",
            grain="document",
            key=("name",),
            pinned=True,
            key_scope="collection",
        ),
    )
)


def choosing(candidate: int = 1) -> FunctionModel:
    """The reading double; a contradiction is settled by the given row of its
    group, 0 leaves it open.
    """

    def function(request: Request) -> str:
        text = "\n".join(m.content for m in request.messages)
        if request.stage != "reconcile":
            return reply(request)
        repairs = []
        for number, group in re.findall(
            r"^Group (\d+), conflict(.*?)</group>", text, re.MULTILINE | re.DOTALL
        ):
            rows = re.findall(r"^row_id (\S+):", group, re.MULTILINE)
            sql = (
                "UPDATE rows SET cost = (SELECT cost FROM rows WHERE row_id = "
                f"'{rows[candidate - 1]}')"
            )
            operation = "resolve_conflict" if candidate else "leave"
            repairs.append(
                {
                    "group": int(number),
                    "operation": operation,
                    "column": "cost",
                    "statements": [sql] if candidate else [],
                    "reason": "said",
                }
            )
        return json.dumps({"looks": [], "repairs": repairs})

    return FunctionModel(function)


def opened(place: str | Path, model: Any) -> Workspace:
    ws = Workspace(place, model=model)
    if not ws.schema.tables:
        ws.session.catalog.schemas.save(SCHEMA)
    return ws


def asked(model: FunctionModel) -> list[str]:
    return [r.messages[-1].content for r in model.history if r.stage == "reconcile"]


def costs(ws: Workspace) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for row in ws.tables["things"].sort_values("cost").to_dict(orient="records"):
        found.setdefault(str(row["name"]), []).append(float(row["cost"]))
    return found


def two_reports(ws: Workspace) -> None:
    ws.add_text(document("Crane", cost="90 euros"), "crane_2021-03-01.txt")
    ws.add_text(document("Crane", cost="70 euros"), "crane_2019-03-01.txt")


def test_the_newer_document_supersedes_when_the_user_says_so(place: str | Path) -> None:
    model = choosing(0)
    with opened(place, model) as ws:
        two_reports(ws)
        ws.extract()
        assert costs(ws) == {"Crane": [90.0]} and len(ws.conflicts()) == 1
        ws.reconcile(criteria=["newer_document"])
        assert costs(ws) == {"Crane": [90.0]} and not ws.conflicts()
        assert "2021-03-01" in ws.session.catalog.tables.current("things").reason
        ws.reconcile(criteria=[])
        assert costs(ws) == {"Crane": [90.0]} and len(ws.conflicts()) == 1
    assert len(asked(model)) == 1


@pytest.mark.parametrize(
    "words", ["The newer report wins.", "The latest document supersedes the others."]
)
def test_the_newer_document_supersedes_for_a_question_that_says_so(
    place: str | Path, words: str
) -> None:
    hints = parse_hints(f"What is the total cost? {words}")
    with opened(place, choosing(0)) as ws:
        two_reports(ws)
        ws.extract()
        assert ws.ask(hints.question, directives=hints.directives).value == 90
        answer = ws.ask(hints.question)
        assert (answer.range.low, answer.range.high) == (70, 90) and [
            doubt.kind for doubt in answer.doubts
        ] == ["conflict"]


def test_what_a_budget_left_open_is_settled_by_the_next_run_that_has_one(place: str | Path) -> None:
    model = choosing(1)

    def poor(request: Request) -> Any:
        return BudgetExceeded("spent") if request.stage == "reconcile" else reply(request)

    with opened(place, FunctionModel(poor)) as ws:
        two_reports(ws)
        ws.extract()
        assert len(ws.conflicts()) == 1
        with pytest.raises(BudgetExceeded, match="spent"):
            ws.reconcile()
        assert costs(ws) == {"Crane": [90.0]} and len(ws.conflicts()) == 1
    with opened(place, model) as ws:
        ws.reconcile()
        assert not ws.conflicts() and len(costs(ws)["Crane"]) == 1
        ws.reconcile()
    assert len(asked(model)) == 1


def test_a_key_that_is_pinned_later_brings_its_rows_together(place: str | Path) -> None:
    by_both = Schema((replace(SCHEMA.tables[0], key=("name", "cost")),))
    with opened(place, choosing(1)) as ws:
        ws.session.catalog.schemas.save(by_both)
        two_reports(ws)
        ws.extract()
        assert costs(ws) == {"Crane": [70.0, 90.0]}
        ws.session.catalog.schemas.save(SCHEMA)
        ws.reconcile()
        assert len(costs(ws)["Crane"]) == 1


def test_a_criterion_that_does_not_exist_is_named(place: str | Path) -> None:
    with opened(place, choosing()) as ws, pytest.raises(RepairError, match="newer_document"):
        ws.reconcile(criteria=["newest"])


def test_dates_are_read_once_and_kept(place: str | Path) -> None:
    with opened(place, choosing()) as ws:
        two_reports(ws)
        ws.add_text("# Crane\n\nDate: 4 May 2020\n\nThe name is Crane.\n", "letter.txt")
        ws.add_text(document("Beacon", cost="1 euro"), "beacon.txt")
        names = {d.id: d.name for d in ws.session.catalog.documents.all()}
        dates = {names[key]: date for key, date in document_dates(ws.session).items()}
        assert dates == {
            "crane_2021-03-01.txt": "2021-03-01",
            "crane_2019-03-01.txt": "2019-03-01",
            "letter.txt": "2020-05-04",
            "beacon.txt": "",
        }
        assert ws.session.catalog.collection.dates(None) == document_dates(ws.session)


@pytest.mark.parametrize("candidate", [0, 1])
def test_a_new_document_asks_about_its_own_groups_only(place: str | Path, candidate: int) -> None:
    """Settled or left open: what a model was asked about stands, also under other
    batches and other replies.
    """
    model = choosing(candidate)
    with opened(place, model) as ws:
        for name in ("Crane", "Beacon", "Derrick"):
            ws.add_text(document(name, cost="90 euros"), f"{name}_a.txt")
            ws.add_text(document(name, cost="70 euros"), f"{name}_b.txt")
        ws.extract()
        before = costs(ws)
        assert len(asked(model)) == 1 and asked(model)[0].count("Group ") == 3
    model = choosing(2)
    with opened(place, model) as ws:
        ws.add_text(document("Ferry", cost="5 euros"), "ferry.txt")
        ws.extract()
        assert asked(model) == []
        assert costs(ws) == before | {"Ferry": [5.0]}
        ws.add_text(document("Ferry", cost="8 euros"), "ferry_b.txt")
        ws.extract()
        assert (
            len(asked(model)) == 1
            and asked(model)[0].count("Group ") == 1
            and "Ferry" in asked(model)[0]
        )
        assert {name: costs(ws)[name] for name in before} == before
        said = ws.session.catalog.database.query(
            "SELECT reason FROM sl_decisions WHERE stage = 'reconcile'"
        )
    stands = "1 new document; 1 group touched; earlier decisions that stand: 3"
    assert any(stands in str(row[0]) for row in said)


def test_the_sql_that_is_stored_is_the_sql_that_ran(place: str | Path) -> None:
    """Run again on the version before, it gives the version after, value for
    value and type for type.
    """
    with opened(place, choosing(2)) as ws:
        two_reports(ws)
        ws.add_text(document("Beacon", cost="5 euros"), "beacon.txt")
        ws.add_text(document("BEACON", cost="5 euros"), "again.txt")
        ws.add_text(document("Derrick", cost="8 euros"), "derrick.txt")
        ws.add_text(document("The Derrick"), "the_derrick.txt")
        ws.extract()
        number = ws.set_value("things", "cost", 7, {"name": "Beacon"}, author="ana")
        ws.reconcile()
        tables = ws.session.catalog.tables
        after, before = tables.lineage("things")
        relation = ws.session.catalog.schemas.relation("things")
        columns = [(c.sql_name, c.sql_type) for c in (*relation.columns, *after.companions)]
        names = [name for name, _ in columns]
        told = replay(columns, version_rows(ws.session, before, names).values(), after.sql)
        stands = list(version_rows(ws.session, after, names).values())
        assert repr(told) == repr(stands) and len(stands) == 4
        said = ws.session.catalog.database.query(
            "SELECT verdict, reason FROM sl_decisions WHERE stage = 'reconcile'"
        )
        assert any(
            verdict == "resolve_conflict cost" and "SQL: UPDATE rows SET cost" in reason
            for verdict, reason in said
        )
        for statement in ("UPDATE rows SET cost", "merged_into", 'SET "cost" = 7'):
            assert statement in after.sql
        assert number and not ws.verify()


@pytest.mark.parametrize(
    "where", [{"document": "b/crane.txt"}, {"name": "Crane", "document": "b/crane.txt"}]
)
def test_a_value_set_for_the_row_of_a_document_settles_what_its_sources_say(
    place: str | Path, where: dict[str, str]
) -> None:
    with opened(place, choosing(0)) as ws:
        ws.add_text(document("Crane", cost="90 euros"), "b/crane.txt")
        ws.add_text(document("Crane", cost="70 euros"), "note.txt")
        ws.extract()
        assert len(ws.conflicts()) == 1
        number = ws.set_value("things", "cost", 75, where, author="ida", reason="the invoice")
        answer = ws.ask("What is the total cost?")
        assert costs(ws) == {"Crane": [75.0]} and not ws.conflicts() and answer.value == 75
        assert answer.range is not None and answer.range.is_point
        told = f"decision {number} of ida: the invoice"
        assert [(c.value, c.how, c.reason) for c in answer.citations if c.column == "cost"] == [
            (75, "decided", told)
        ]
        why = str(ws.why(answer.citations[0].row_id))
        assert (
            told in why
            and "became 90" not in why
            and "90 or 70 became 75: the invoice" in why.replace(".0", "")
        )
        assert not ws.verify()
        ws.revoke(number)
        ws.reconcile()
        assert costs(ws) == {"Crane": [90.0]} and len(ws.conflicts()) == 1
