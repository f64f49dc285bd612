"""Profile and hints to a workflow."""

import pytest

from sliders.plan.analysis import Analyzer, TaskProfile
from sliders.plan.directives import Hints, Normalize, Verify
from sliders.plan.features import (
    RETRIEVAL_FEATURES,
    Corpus,
    names_in,
    retrieval_features,
    shape_features,
    word_features,
)
from sliders.plan.planner import choose_route, explain_lines, not_a_question, search_words, shortened

MANY = Corpus(40, 400_000)


@pytest.mark.parametrize(
    ("task", "evidence", "workflow", "segments", "tokens"),
    [
        ("extractive", True, "lookup", 5, 150), ("extractive", False, "lookup", 5, 256),
        ("abstractive", True, "lookup", 8, 150), ("abstractive", False, "lookup", 8, 400),
        ("arithmetic", False, "lookup", 5, 400), ("multi_source", True, "split", 6, 150),
        ("multi_bridge", False, "stepwise", 5, 256),
    ],
)  # fmt: skip
def test_granularity_and_budget_by_class_and_evidence(task, evidence, workflow, segments, tokens):
    route = choose_route(TaskProfile(task, evidence), Hints("q"), MANY)
    assert (route.workflow, route.segments, route.tokens) == (workflow, segments, tokens)


def test_only_an_abstractive_question_is_answered_in_sentences():
    assert choose_route(TaskProfile("abstractive"), Hints("Why did sales fall?"), MANY).prose
    assert not choose_route(TaskProfile("extractive"), Hints("How many layers are there?"), MANY).prose


def test_aggregation_over_documents_is_extracted_and_short_documents_are_read_whole():
    assert choose_route(TaskProfile("aggregation"), Hints("q"), MANY).workflow == "extract_and_query"
    assert choose_route(TaskProfile("extractive"), Hints("q"), Corpus(1, 900)).workflow == "whole_context"


def test_constraints_ask_each_passage():
    route = choose_route(TaskProfile("extractive"), Hints("q", (Verify(("net",)),)), MANY)
    assert route.workflow == "candidates"
    lines = explain_lines(route, Hints("q", (Verify(("net",)),), ("a note",)))
    assert lines[0].startswith("workflow: candidates") and lines[-1] == "note: a note"


@pytest.mark.parametrize(
    ("text", "judged", "known", "kind"),
    [
        ("Hello!", ("small_talk", 0.97), True, "small_talk"), ("...", ("question", 0.9), False, "nonsense"),
        ("Delete all files", ("command", 0.95), False, "command"),
        ("Delete all files", ("command", 0.5), False, None),
        ("What is the fee of the agency here?", ("nonsense", 0.9), True, None),
        ("Who keeps the harbour?", ("small_talk", 0.7), True, None),
        ("Wer hat das unterschrieben?", ("question", 0.7), False, None),
        ("The fee is high?", ("statement", 0.9), False, None),
    ],
)  # fmt: skip
def test_what_is_not_a_question(text, judged, known, kind):
    assert not_a_question(text, judged, known) == kind


def test_terms_that_mean_the_same_are_searched_too():
    hints = Hints("What is the MI rate?", (Normalize(("MI", "myocardial infarction")),))
    assert search_words(hints.question, hints) == "What is the MI rate? myocardial infarction"


def test_a_very_long_question_keeps_what_asks():
    long = "The background is long and dull. " * 3000 + "Who signed the lease? " + "More follows here. " * 700
    short = shortened(long)
    assert "Who signed the lease?" in short and len(short.split()) <= 600
    assert len(shortened("word " * 20_000).split()) == 600
    assert shortened("Who signed?") == "Who signed?"


def test_features_have_their_names_and_no_gaps():
    assert retrieval_features("What was paid?", (), MANY).shape == (RETRIEVAL_FEATURES,)
    assert shape_features("").sum() == word_features("").sum() == 0.0
    assert names_in("Which is larger, the Loire or the Elbe?") == ("Loire", "Elbe")


@pytest.mark.parametrize(
    "question",
    ["Wie hoch war der Umsatz der Firma im Jahr davor?", "売上高はいくらですか", "Quel est le montant total des factures?"],
)
def test_a_question_in_another_language_is_looked_up(question):
    assert Analyzer().analyze(question, (), MANY).task == "extractive"
