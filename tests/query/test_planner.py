"""The kind and the hints of a question to a workflow."""

import pytest

from sliders.answer import Corpus, choose_route, explain_lines, search_words, shortened
from sliders.engine import names_in
from sliders.schema import Hints, Normalize, Verify

MANY, ONE = Corpus(40, 400_000), Corpus(1, 400_000)


@pytest.mark.parametrize(
    ("kind", "workflow", "segments", "tokens"),
    [
        ("fact", "lookup", 5, 256),
        ("explanation", "lookup", 8, 400),
        ("calculation", "lookup", 5, 400),
        ("several", "split", 6, 256),
        ("steps", "stepwise", 5, 256),
    ],
)
def test_granularity_and_budget_by_kind(kind, workflow, segments, tokens):
    route = choose_route(Hints("q", kind=kind), MANY)
    assert (route.workflow, route.segments, route.tokens) == (workflow, segments, tokens)


def test_only_an_explanation_is_answered_in_sentences_and_only_a_calculation_by_code():
    assert choose_route(Hints("Why did sales fall?", kind="explanation"), MANY).prose
    assert not choose_route(Hints("How many layers are there?", kind="fact"), MANY).prose
    assert choose_route(Hints("q", kind="calculation"), MANY).calculate
    assert not choose_route(Hints("q", kind="fact"), MANY).calculate


def test_what_is_over_all_documents_is_extracted_and_short_documents_are_read_whole():
    assert choose_route(Hints("q", kind="all"), MANY).workflow == "extract_and_query"
    assert choose_route(Hints("q", kind="all"), ONE).workflow == "lookup"
    assert choose_route(Hints("q", kind="fact"), Corpus(1, 900)).workflow == "whole_context"


def test_without_a_judgement_the_way_that_can_answer_anything_is_taken():
    route = choose_route(Hints("q"), MANY)
    assert route.workflow == "extract_and_query" and "no model judged" in route.reasons[0]
    assert choose_route(Hints("q"), ONE).workflow == "lookup"


def test_constraints_ask_each_passage():
    hints = Hints("q", (Verify(("net",)),), kind="fact")
    route = choose_route(hints, MANY)
    assert route.workflow == "candidates"
    lines = explain_lines(route, Hints("q", hints.directives, ("a note",)))
    assert lines[0].startswith("workflow: candidates") and lines[-1] == "note: a note"


def test_terms_that_mean_the_same_are_searched_too():
    hints = Hints("What is the MI rate?", (Normalize(("MI", "myocardial infarction")),))
    assert search_words(hints.question, hints) == "What is the MI rate? myocardial infarction"


def test_a_very_long_question_keeps_what_asks():
    long = (
        "The background is long and dull. " * 3000
        + "Who signed the lease? "
        + "More follows here. " * 700
    )
    short = shortened(long)
    assert "Who signed the lease?" in short and len(short.split()) <= 600
    assert len(shortened("word " * 20_000).split()) == 600
    assert shortened("Who signed?") == "Who signed?"


def test_names_are_runs_of_capitals_inside_a_sentence():
    assert names_in("Which is larger, the Loire or the Elbe?") == ("Loire", "Elbe")
