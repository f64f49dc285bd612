"""Hints out of the user's own words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sliders.compact import parse_hints
from sliders.engine import read_all_hints, ways_of
from sliders.errors import ModelRefusal
from sliders.llm import COMPACT
from sliders.llm.testing import ScriptedModel
from sliders.schema import Ignore, Locate, Normalize, Precede, Verify, settle_hints


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Look in the income statement.", Locate(("income statement",))),
        ("The answer is likely in a table.", Locate((), ("table",))),
        ("Check the risk section and the EPS table.", Locate(("risk section", "EPS table"))),
        ("See pages 40-62.", Locate((), (), ((40, 62),))),
        (
            "Ignore risk disclosures and legal disclaimers.",
            Ignore(("risk disclosures", "legal disclaimers")),
        ),
        ("Skip over the table of contents.", Ignore(("table of contents",))),
        ("Return diluted EPS, NOT basic EPS.", Verify(("diluted EPS",), ("basic EPS",))),
        ("What is the EPS, not the dividend?", Verify(("EPS",), ("dividend",))),
        (
            "Report net revenue rather than gross revenue.",
            Verify(("net revenue",), ("gross revenue",)),
        ),
        ("Do not report quarterly figures.", Verify((), ("quarterly figures",))),
        (
            "Treat MI and myocardial infarction as equivalent.",
            Normalize(("MI", "myocardial infarction")),
        ),
        ("Prefer the master agreement over the addendum.", Precede("master agreement", "addendum")),
        ("The amended filing takes precedence.", Precede("amended filing")),
    ],
)
def test_each_pattern(text, expected):
    hints = parse_hints(f"What was paid in 2020? {text}")
    assert hints.directives == (expected,)
    assert hints.question.startswith("What was paid in 2020?")
    assert str(expected)


@pytest.mark.parametrize(
    "question",
    [
        "What was the net income of the firm in 2021?",
        "How many pilots were not hurt in the accident?",
        "Which city is larger, Rome or Paris?",
        "Who was elected instead of the mayor?",
        "List all contracts that were signed before 2010.",
        "What is the difference between the number of wins and the number of losses?",
        "the number of wins at one club",
        "How many lines should be classified as spam?",
        "Are the margins steady (not fluctuating more than 2% a year)?",
        "How many companies do not use plastic packaging?",
        "Did the pilots ignore the checklist?",
        "Which contracts exclude content about pricing?",
        "How many customers prefer tea over coffee?",
        "Which team's score equals 10?",
    ],
)
def test_a_plain_question_is_left_alone(question):
    hints = parse_hints(question)
    assert hints.question == question
    assert hints.directives == ()


@pytest.mark.parametrize(
    "question",
    [
        "By what is shown in the balance sheet: what was the debt of the firm?",
        "By what is stated only in the balance sheet, what was the debt of the firm?",
    ],
)
def test_the_place_ends_where_the_question_begins(question):
    hints = parse_hints(question)
    assert hints.directives == (Locate(("balance sheet",)),) and hints.question == question


def test_contradictions_are_dropped_and_said():
    hints = parse_hints("Who signed? Look in the annex section. Ignore the annex section.")
    assert hints.directives == ()
    assert "annex section" in hints.notes[0]
    kept, notes = settle_hints(
        [Verify(("net", "total"), ("net",)), Precede("a", "b"), Precede("b", "a")]
    )
    assert kept == (Verify(("total",), ()),)
    assert len(notes) == 2


def test_hints_in_python_come_first():
    hints = parse_hints("Who signed? Ignore waivers.").with_given([Locate(("Annex",))])
    assert hints.directives == (Locate(("Annex",)), Ignore(("waivers",)))
    assert hints.of(Locate) == (Locate(("Annex",)),)


async def test_the_compact_dialect_reads_hints_by_patterns_without_a_call():
    model = ScriptedModel([], dialect=COMPACT)
    texts = ["Who paid the fee?", "Who paid? Ignore waivers."]
    plain, hinted = await ways_of(model).hints.read(texts, model)
    assert (plain.directives, hinted.directives) == ((), (Ignore(("waivers",)),))
    assert model.history == []


async def test_the_full_dialect_reads_the_hints_of_all_questions_in_one_call():
    told = [
        {
            "question": 2,
            "look_in": ["annex"],
            "ignore": ["waivers", "schedules"],
            "rest": "Who signed?",
        }
    ]
    model = ScriptedModel([{"hints": told}])
    texts = ["Who paid?", "Who signed? The annex should tell, waivers do not."]
    plain, hinted = await read_all_hints(texts, model)
    assert (plain.question, plain.directives) == ("Who paid?", ())
    assert hinted.directives == (Locate(("annex",)), Ignore(("waivers",))), (
        "the user wrote of no schedules"
    )
    assert hinted.question == "Who signed?" and len(model.history) == 1


async def test_where_the_model_fails_patterns_read_the_hints():
    model = ScriptedModel([ModelRefusal("no")])
    (hints,) = await read_all_hints(["Who paid? Ignore waivers."], model)
    assert hints.directives == (Ignore(("waivers",)),)


async def test_what_is_left_of_a_question_is_the_users_own_words():
    told = [{"question": 1, "ignore": ["waivers"], "rest": "Which company paid?"}]
    (hints,) = await read_all_hints(["Who paid? Ignore waivers."], ScriptedModel([{"hints": told}]))
    assert hints.question == "Who paid? Ignore waivers."


@given(st.text(max_size=400))
@settings(max_examples=60, deadline=None)
def test_any_text_parses(text):
    hints = parse_hints(text)
    assert hints.question == text.strip() or hints.directives or len(hints.question) <= len(text)
