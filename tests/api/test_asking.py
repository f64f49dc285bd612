"""Whole questions over plain documents, with a double that reads the prompts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import sliders
from sliders import Workspace
from sliders.cli import answer_text
from sliders.engine import matching
from sliders.errors import (
    DocumentError,
    ModelRefusal,
    PlanError,
    SchemaError,
    SettingsError,
    StoreError,
    UnsafeStatement,
)
from sliders.llm import Request
from sliders.llm.testing import FunctionModel
from sliders.schema import schema_yaml
from tests.worlds import TEXTS, Reader, asked_columns, document, reply


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "documents"
    place.mkdir()
    for name, text in TEXTS.items():
        (place / name).write_text(text, encoding="utf-8")
    return place


def stages(model: FunctionModel) -> Counter[str]:
    return Counter(request.stage for request in model.history)


def opened(place: str | Path, model: FunctionModel) -> Workspace:
    return Workspace(place, model=model)


def test_an_answer_walks_back_to_the_page(folder: Path, place: str | Path) -> None:
    with opened(place, Reader().model) as ws:
        ws.add(folder)
        answer = ws.ask("What is the total cost?")
    assert answer.status == "answered"
    assert answer.value == 535
    assert {c.document for c in answer.citations} == set(TEXTS)
    for citation in answer.citations:
        assert "euros" in citation.quote or citation.quote.isdigit() or citation.column == "name"
        assert citation.quote in TEXTS[citation.document]
    assert answer.completeness.documents_with_rows == 3


def test_a_second_question_over_known_columns_extracts_nothing(
    folder: Path, place: str | Path
) -> None:
    model = Reader().model
    with opened(place, model) as ws:
        ws.add(folder)
        ws.ask("What is the total cost?")
        model.history.clear()
        answer = ws.ask("Which name has the largest cost?")
    assert answer.value == "Beacon"
    assert stages(model)["extract"] == stages(model)["gate"] == 0
    assert len(model.history) <= 3
    assert answer.usage.calls <= 3


def test_the_same_question_again_calls_nothing(folder: Path, place: str | Path) -> None:
    with opened(place, Reader().model) as ws:
        ws.add(folder)
        first = ws.ask("What is the total cost?")
    model = Reader().model
    with opened(place, model) as ws:
        ws.add(folder)
        again = ws.ask("What is the total cost?")
    assert again.value == first.value == 535
    assert stages(model)["extract"] == 0


def test_a_new_column_is_extracted_alone(folder: Path, place: str | Path) -> None:
    model = Reader().model
    with opened(place, model) as ws:
        ws.add(folder)
        ws.ask("What is the total cost?")
        model.history.clear()
        answer = ws.ask("What is the total length?")
    assert answer.value == 90
    asked = [r for r in model.history if r.stage == "extract"]
    assert len(asked) == 3
    for request in asked:
        assert asked_columns(request.messages[-1].content) == [("things", ["length"])]


def test_a_changed_document_is_read_alone(folder: Path, place: str | Path) -> None:
    model = Reader().model
    with opened(place, model) as ws:
        ws.add(folder)
        ws.ask("What is the total cost?")
        model.history.clear()
        (folder / "crane.txt").write_text(document("Crane", cost="100 euros"), encoding="utf-8")
        report = ws.add(folder)
        answer = ws.ask("What is the total cost?")
    assert (len(report.changed), len(report.same)) == (1, 2)
    assert answer.value == 560
    extracted = [r for r in model.history if r.stage == "extract"]
    assert len(extracted) == 1
    assert "Crane" in extracted[0].messages[-1].content


def test_a_new_document_is_read_alone(folder: Path, place: str | Path) -> None:
    model = Reader().model
    with opened(place, model) as ws:
        ws.add(folder)
        ws.ask("What is the total cost?")
        model.history.clear()
        ws.add_text(document("Derrick", cost="5 euros"), "derrick.txt")
        answer = ws.ask("What is the total cost?")
    assert answer.value == 540
    assert stages(model)["extract"] == 1


def test_many_questions_share_one_extraction(folder: Path, place: str | Path) -> None:
    model = Reader().model
    with opened(place, model) as ws:
        ws.add(folder)
        answers = ws.ask_many(["What is the total cost?", "What is the total length?"])
    assert [a.value for a in answers] == [535, 90]
    assert stages(model)["extract"] == 3


def test_a_missing_value_says_why(folder: Path, place: str | Path) -> None:
    with opened(place, Reader().model) as ws:
        ws.add(folder)
        answer = ws.ask("How many have a keeper?")
        frame = ws.tables["things"].set_index("name")
        row = frame.loc["Crane", "row_id"]
        told = str(ws.why(str(row)))
        assert "chunks: 3 read" in str(ws.why("things"))
    assert answer.value == 2
    assert frame["keeper"].isna().sum() == 1
    assert "keeper is empty: not stated" in told


def test_a_budget_stops_and_the_rest_is_paid_later(folder: Path, place: str | Path) -> None:
    model = Reader().model
    limit = 5_000
    with Workspace(place, model=model, max_tokens=limit, concurrency=8) as ws:
        ws.add(folder)
        ws.pin_schema({"things": {"name": "text", "cost": "number"}})
        stopped = ws.ask("What is the total cost?")
    assert 0 < stopped.usage.tokens <= limit
    before = stages(model)["extract"]
    with opened(place, model) as ws:
        answer = ws.ask("What is the total cost?")
    assert stopped.status == "incomplete"
    assert 0 < before < 3
    assert answer.value == 535
    assert stages(model)["extract"] == 3


def test_a_budget_that_the_schema_spends_is_not_a_thing_not_found(
    folder: Path, tmp_path: Path
) -> None:
    with Workspace(tmp_path / "w.db", model=Reader().model, max_tokens=1, concurrency=1) as ws:
        ws.add(folder)
        answer = ws.ask("What is the total cost?")
        assert [run.status for run in ws.runs()] == ["stopped"]
    assert answer.status == "incomplete" and "budget" in answer.text
    assert [gap.kind for gap in answer.completeness.missing] == ["stopped"]
    assert answer.usage.calls == 0, "the call may cost more than the budget"
    assert answer_text(answer).count("the budget of this run") == 1


def test_a_budget_that_is_spent_before_given_tables_are_described_is_no_exception(
    folder: Path, tmp_path: Path
) -> None:
    with Workspace(tmp_path / "w.db", model=Reader().model, max_tokens=1, concurrency=1) as ws:
        ws.add(folder)
        ws.pin_schema({"things": {"cost": "number"}})
        answer = ws.ask("What is the total cost?")
    assert answer.status == "incomplete" and "budget" in answer.text


def test_a_schema_that_no_reply_gives_is_a_failure(folder: Path, tmp_path: Path) -> None:
    def reply(request: Request) -> Any:
        raise ModelRefusal("no JSON")

    with Workspace(tmp_path / "w.db", model=FunctionModel(reply)) as ws:
        ws.add(folder)
        answer = ws.ask("What is the total cost?")
    assert answer.status == "failed" and "no JSON" in answer.text


async def test_the_async_twins(folder: Path, tmp_path: Path) -> None:
    answer = await sliders.ask_async(folder, "What is the total cost?", model=Reader().model)
    assert answer.value == 535
    assert sliders.ask(folder, "What is the total cost?", model=Reader().model).value == 535


def test_a_pinned_schema_keeps_its_columns(folder: Path, place: str | Path) -> None:
    with opened(place, Reader().model) as ws:
        ws.add(folder)
        ws.pin_schema({"things": {"name": "text", "cost": "number"}})
        ws.ask("What is the total cost?")
        assert ws.schema.table("things").column_names == ("name", "cost")


def test_query_sees_data_tables_only(folder: Path, place: str | Path) -> None:
    with opened(place, Reader().model) as ws:
        ws.add(folder)
        ws.ask("What is the total cost?")
        assert ws.query("SELECT sum(cost) AS total FROM things")["total"].tolist() == [535]
        for sql in ("SELECT * FROM sl_calls", "DELETE FROM things", "SELECT 1; SELECT 2"):
            with pytest.raises(UnsafeStatement):
                ws.query(sql)


def test_a_decision_of_a_person_holds_for_later_rows(folder: Path, place: str | Path) -> None:
    with opened(place, Reader().model) as ws:
        ws.add(folder)
        ws.ask("What is the total cost?")
        ws.set_value(
            "things",
            "cost",
            "130 euros",
            {"name": "Anchor"},
            author="ida",
            reason="the invoice says so",
        )
        ws.reconcile()
        assert ws.query("SELECT cost FROM things WHERE name = 'Anchor'")["cost"].tolist() == [130]
        ws.add_text(document("Derrick", cost="5 euros"), "derrick.txt")
        ws.ask("What is the total cost?")
        assert ws.query("SELECT cost FROM things WHERE name = 'Anchor'")["cost"].tolist() == [130]
        assert ws.verify() == []
        with pytest.raises(SchemaError, match="does not fit"):
            ws.set_value("things", "cost", "a lot", {"name": "Anchor"})
        with pytest.raises(SchemaError, match="has no column"):
            ws.set_value("things", "document", "x.txt", {"name": "Anchor"})
        with pytest.raises(SchemaError, match="has no column"):
            ws.set_value("things", "weight", "3", {"name": "Anchor"})


def test_a_decision_may_name_the_document_of_a_row_as_the_table_shows_it(
    folder: Path, place: str | Path
) -> None:
    with opened(place, Reader().model) as ws:
        ws.add(folder)
        ws.ask("What is the total cost?")
        where = {"document": "anchor.txt"}
        assert (
            matching(ws.session, "things", where),
            matching(ws.session, "things", {"document": "Anchor.txt"}),
        ) == (1, 0)
        ws.set_value("things", "cost", "130 euros", where)
        (name, identifier), *_ = (
            ws.query("SELECT document, document_id FROM things WHERE name = 'Crane'")
            .to_numpy()
            .tolist()
        )
        ws.set_value("things", "cost", "80 euros", {"document_id": identifier})
        ws.reconcile()
        assert name == "crane.txt"
        assert sorted(ws.query("SELECT cost FROM things")["cost"].tolist()) == [80, 130, 340]
        assert ws.verify() == []


def test_undo_shows_the_table_as_extracted(folder: Path, place: str | Path) -> None:
    with opened(place, Reader().model) as ws:
        ws.add(folder)
        ws.ask("What is the total cost?")
        ws.set_value("things", "cost", "130 euros", {"name": "Anchor"})
        ws.reconcile()
        ws.undo("things")
        assert ws.query("SELECT cost FROM things WHERE name = 'Anchor'")["cost"].tolist() == [120]
        with pytest.raises(StoreError, match="nothing to undo"):
            ws.undo("things")


def test_undo_goes_back_one_decision_at_a_time(folder: Path, place: str | Path) -> None:
    with opened(place, Reader().model) as ws:
        ws.add(folder)
        ws.ask("What is the total cost?")
        for cost in ("130 euros", "140 euros"):
            ws.set_value("things", "cost", cost, {"name": "Anchor"})
            ws.reconcile()
        shown = []
        for _ in range(2):
            ws.undo("things")
            shown += ws.query("SELECT cost FROM things WHERE name = 'Anchor'")["cost"].tolist()
        assert shown == [130, 120]


def test_estimates_call_nothing(folder: Path, place: str | Path) -> None:
    model = Reader().model
    with opened(place, model) as ws:
        ws.add(folder)
        before = ws.estimate("What is the total cost?")
        assert not model.history
        spent = ws.ask("What is the total cost?").usage
        calls = len(model.history)
        after = ws.estimate("What is the total cost?")
    stage = {s.stage: s.calls for s in before.stages}
    assert stage["schema"] == 1
    assert stage["extract"] == 3
    assert before.calls == calls
    assert 0.7 * spent.tokens < before.tokens < 1.3 * spent.tokens
    assert {s.stage: s.calls for s in after.stages}["extract"] == 0
    assert after.tokens < before.tokens


def test_what_cannot_be_asked(place: str | Path, tmp_path: Path) -> None:
    with opened(place, Reader().model) as ws:
        with pytest.raises(PlanError, match="no documents"):
            ws.ask("What is the total cost?")
        with pytest.raises(PlanError, match="empty"):
            ws.ask("  ")
        with pytest.raises(DocumentError):
            ws.add([])
        with pytest.raises(StoreError, match="knows no row"):
            ws.why("nothing")
        with pytest.raises(SettingsError, match="format"):
            ws.export(tmp_path / "out")


@pytest.mark.parametrize(
    ("target", "format"), [("a.db", None), ("a.xlsx", None), ("csv", "csv"), ("pq", "parquet")]
)
def test_exports(
    folder: Path,
    place: str | Path,
    tmp_path: Path,
    target: str,
    format: sliders.api.ExportFormat | None,
) -> None:
    with opened(place, Reader().model) as ws:
        ws.add(folder)
        ws.ask("What is the total cost?")
        paths = ws.export(tmp_path / target, format)
        assert paths
        assert all(path.stat().st_size > 0 for path in paths)
        assert ws.verify() == []


def test_public_names_are_sorted_and_there() -> None:
    assert sliders.__all__ == sorted(sliders.__all__)
    assert all(hasattr(sliders, name) for name in sliders.__all__)


@pytest.mark.parametrize("failing", [("Anchor", "Beacon", "Crane"), ("Beacon",)])
def test_what_could_not_be_read_may_tell_it_so_it_is_not_said_to_be_absent(
    folder: Path, place: str | Path, failing: tuple[str, ...]
) -> None:
    def function(request: Request) -> Any:
        text = "\n".join(m.content for m in request.messages)
        if request.stage == "extract" and any(f"The name is {name}." in text for name in failing):
            raise ModelRefusal("no JSON")
        cannot = {"action": "cannot", "reason": "no row says it"}
        return cannot if request.stage == "answer" else reply(request)

    with opened(place, FunctionModel(function)) as ws:
        ws.add(folder)
        answer = ws.ask("What is the total cost?")
    count = len(failing)
    failed = f"{count} {'chunk' if count == 1 else 'chunks'} failed"
    status = "failed" if count == len(TEXTS) else "incomplete"
    assert (answer.status, answer.value, answer.completeness.failed_chunks) == (status, None, count)
    assert failed in answer.text and "no JSON" in answer.text and failed in answer.reason


def test_a_query_that_a_budget_ended_is_stopped_among_the_runs(
    folder: Path, tmp_path: Path
) -> None:
    with Workspace(tmp_path / "w.db", model=Reader().model, max_tokens=1, concurrency=1) as ws:
        ws.add(folder)
        frame = ws.query("SELECT name, cost FROM docs WHERE cost > 1")
        assert (
            any("budget" in note for note in frame.attrs["notes"]) and "stopped" not in frame.attrs
        )
        assert ws.runs()[-1].status == "stopped"


def test_an_example_is_never_from_the_documents_that_are_asked(
    folder: Path, place: str | Path
) -> None:
    def columns(*examples: dict[str, object]) -> dict[str, object]:
        cost = {"type": "number", "currency": "EUR", "examples": list(examples)}
        return {"things": {"name": "text", "cost": cost}}

    other, known = "it took 12 guilders to build", "The cost is\n120 EUROS"
    with opened(place, reader := Reader().model) as ws:
        ws.add(folder)
        with pytest.raises(SchemaError, match="is to be read"):
            ws.pin_schema(columns({"words": known, "value": 12}))
        with pytest.raises(SchemaError, match="does not fit"):
            ws.pin_schema(columns({"words": other, "value": "many"}))
        ws.pin_schema(columns({"words": other, "value": 12}))
        ws.extract()
        reads = [r.messages[-1].content for r in reader.history if r.stage == "extract"]
        assert any(f'"{other}" gives 12' in prompt for prompt in reads)


def test_a_correction_becomes_an_example_for_other_documents(
    folder: Path, place: str | Path
) -> None:
    name, text = next(iter(TEXTS.items()))
    words = "The cost is 120 euros"
    with opened(place, Reader().model) as ws:
        ws.add(folder)
        ws.ask("What is the total cost?")
        (table,) = ws.schema.tables
        where = {"document": name}
        with pytest.raises(SchemaError, match="stands in no document"):
            ws.set_value(table.name, "cost", 7, where, example="words of nowhere")
        assert ws.decisions() == []
        ws.set_value(table.name, "cost", 7, where, example=words)
        (example,) = ws.schema.table(table.name).column("cost").examples
        assert (example.value, example.document) == (7, name) and example.stands_in(text)
        ws.pin_schema(schema_yaml(ws.schema))  # it names its document, so it may be pinned again
        assert ws.schema.table(table.name).column("cost").examples == (example,)
