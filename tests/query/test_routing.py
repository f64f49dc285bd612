"""A question through the whole planner, with doubles: replies, hints, guards, decisions."""

import pytest

import sliders
from sliders.api import Workspace
from sliders.errors import PlanError
from sliders.llm import COMPACT
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Ignore, Locate, Verify

REPORT = (
    "# Report\n\n## Fees\n\nThe annual fee is 120 dollars.\n\n## Disclaimers\n\n"
    "Nothing here is legal advice.\n\n"
    "## Contact\n\nThe office is in Lund.\n"
)


def reader(calls):
    """A model that copies what the passages hold, and nothing else."""

    def reply(request):
        content = request.messages[-1].content
        calls.append(content)
        if '"look_in"' in content:
            return {"look_in": [], "ignore": [], "answer_is": [], "answer_is_not": []}
        if "annual fee is 120" in content and "annual fee" in content.split("Question: ")[-1]:
            return {"quote": "The annual fee is 120 dollars", "answer": "120 dollars"}
        return {"quote": "", "answer": "unanswerable"}

    return FunctionModel(reply, dialect=COMPACT)


@pytest.fixture
def workspace(tmp_path):
    calls = []
    with Workspace(tmp_path / "w.db", model=reader(calls), embedder=HashEmbedder()) as ws:
        ws.add_text(REPORT, "report.md")
        ws.add_text(
            "# Other\n\n" + "The weather was mild and the harvest was good. " * 400, "other.md"
        )
        ws.calls = calls
        yield ws


def test_auto_answers_with_a_citation_and_decisions(tmp_path):
    def reply(request):
        content = request.messages[-1].content
        if request.stage == "plan":
            return {"kinds": ["fact"], "hints": []}
        return {
            "quote": "The annual fee is 120 dollars",
            "answer": "120 dollars" if "annual fee is 120" in content else None,
        }

    with Workspace(tmp_path / "w.db", model=FunctionModel(reply), embedder=HashEmbedder()) as ws:
        ws.add_text(REPORT, "report.md")
        ws.add_text(
            "# Other\n\n" + "The weather was mild and the harvest was good. " * 400, "other.md"
        )
        answer = ws.ask("What is the annual fee?", workflow="auto")
        rows = ws.session.catalog.journal.decisions(stage="plan")
    assert answer.text == "120 dollars" and answer.workflow == "lookup"
    assert (
        answer.citations[0].document == "report.md"
        and answer.citations[0].quote == "The annual fee is 120 dollars"
    )
    assert any(row.verdict == "workflow" and "lookup" in row.reason for row in rows)


def test_a_wrong_hint_is_switched_off(workspace):
    answer = workspace.ask(
        "What is the annual fee? Look in the contact section.", workflow="lookup"
    )
    assert answer.text == "120 dollars"
    assert any("switched off" in line for line in answer.decisions)
    rows = workspace.session.catalog.journal.decisions(stage="plan", verdict="switched off")
    assert len(rows) == 1


def test_a_right_hint_narrows_what_is_read(workspace):
    answer = workspace.ask(
        "What is the annual fee?", workflow="lookup", directives=[Locate(("fees section",))]
    )
    assert answer.text == "120 dollars"
    read = workspace.calls[-1]
    assert "annual fee is 120" in read and "Lund" not in read
    assert not any("switched off" in line for line in answer.decisions)


def test_hints_for_what_no_document_has(workspace):
    answer = workspace.ask(
        "What is the annual fee?", workflow="lookup", directives=[Locate(("martial arts chapter",))]
    )
    assert answer.text == "120 dollars"
    assert any("no document has" in line for line in answer.decisions)


def test_contradicting_hints_are_said(workspace):
    hints = [Locate(("fees section",)), Ignore(("fees section",)), Verify(("fee",), ("fee",))]
    answer = workspace.ask("What is the annual fee?", workflow="lookup", directives=hints)
    assert answer.text == "120 dollars"
    assert sum("contradict" in line for line in answer.decisions) == 2


def test_unanswerable_goes_through_the_cascade_and_stays_not_found(workspace):
    answer = workspace.ask(
        "What is the name of the chairman of the association?", workflow="lookup"
    )
    assert answer.status == "not_found" and answer.value is None
    assert any("documents were read" in line for line in answer.decisions)


def test_the_second_question_embeds_no_segment_again(workspace):
    workspace.ask("What is the annual fee?", workflow="lookup")
    kept = workspace.session.catalog.knowledge.vectors("segments:256", HashEmbedder().name)
    assert len(kept) == 2

    class Counting(HashEmbedder):
        texts = 0

        def embed(self, texts):
            Counting.texts += len(texts)
            return super().embed(texts)

    workspace.session.embedder = Counting()
    workspace.ask("What is the annual fee of it?", workflow="lookup")
    assert Counting.texts < 20


def test_the_plan_shows_workflow_and_hints_without_a_call(workspace):
    lines = workspace.plan("What is the annual fee? Ignore the disclaimers section.")
    assert (
        lines[0].startswith("workflow: ")
        and 'hint: skip what is about "disclaimers section"' in lines
    )
    assert workspace.calls == []


@pytest.mark.parametrize("question", ["", "   \n"])
def test_an_empty_question_is_refused(workspace, question):
    with pytest.raises(PlanError, match="empty"):
        workspace.ask(question, workflow="lookup")


def test_an_unknown_workflow_is_refused(workspace):
    for door in (workspace.ask, workspace.plan):
        with pytest.raises(PlanError, match="no workflow"):
            door("What?", workflow="guess")


def test_another_language_is_answered_by_reading(workspace):
    answer = workspace.ask(
        "Wie hoch ist die annual fee in diesem Vertrag denn bitte?", workflow="lookup"
    )
    assert answer.text == "120 dollars"


def test_a_very_long_question_is_cut(workspace):
    question = "The history of this matter is long. " * 3400 + "What is the annual fee?"
    answer = workspace.ask(question, workflow="lookup")
    assert answer.text == "120 dollars" and answer.question == question
    assert any("was cut" in line for line in answer.decisions)
    assert max(len(call.split()) for call in workspace.calls) < 5000


def test_select_context_is_public():
    assert callable(sliders.select_context)


def test_hints_in_the_question_are_shown_before_anything_is_asked(workspace):
    text = workspace.explain(
        "What is the annual fee? Look only in the fees section. Ignore disclaimers."
    )
    assert (
        'hint: look only in "fees section"' in text
        and 'hint: skip what is about "disclaimers"' in text
    )
    assert workspace.calls == []


def test_documents_that_do_not_name_the_thing_are_left_out(workspace):
    fees = (
        "# {0} tariff\n\nThe annual fee is {1} dollars.\n\n" + "Ships were loaded all day. " * 200
    )
    for name, fee in (("Merrow Quay", 340), ("Aldous Pier", 120), ("Karsten Dock", 560)):
        workspace.add_text(fees.format(name, fee), f"{name.replace(' ', '')}_2020.md")
    workspace.ask("What was the annual fee of Aldous Pier in 2020?", workflow="lookup")
    shown = workspace.calls[-1]
    assert "annual fee is 120" in shown and "340" not in shown and "560" not in shown
    rows = workspace.session.catalog.journal.decisions(stage="plan", verdict="named")
    assert [row.reason for row in rows] == ["1 of 5: AldousPier_2020.md"]


def test_a_name_that_misleads_is_given_up(workspace):
    answer = workspace.ask("What is the annual fee of the Other company?", workflow="lookup")
    assert answer.text == "120 dollars" and any(
        "does not name were read" in line for line in answer.decisions
    )
