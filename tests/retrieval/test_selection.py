"""Selection keeps what the query needs, in order, within the budget."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sliders.errors import SettingsError
from sliders.llm import Message
from sliders.retrieval import HashEmbedder, select_context

EMBEDDER = HashEmbedder()
SECTIONS = [
    "Dividends paid to shareholders were 12 million.",
    "The cafeteria serves lunch at noon.",
    "The board proposed dividends for shareholders.",
    "Parking is free on Sundays.",
]


def words(text: str) -> int:
    return len(text.split())


def select(sections, query, budget, **more):
    return select_context(sections, query, budget, embedder=EMBEDDER, count_tokens=words, **more)


def test_irrelevant_sections_are_removed_and_order_is_kept() -> None:
    selection = select(SECTIONS, "dividends of shareholders", 100)
    assert selection.kept == (0, 2)
    assert selection.dropped == (1, 3)
    assert selection.sections == (SECTIONS[0], SECTIONS[2])
    assert (selection.tokens, selection.tokens_before) == (13, 24)
    assert min(selection.scores[0], selection.scores[2]) > max(
        selection.scores[1], selection.scores[3]
    )


def test_the_budget_goes_to_the_most_relevant() -> None:
    best = max((0, 2), key=select(SECTIONS, "dividends paid", 100).scores.__getitem__)
    assert select(SECTIONS, "dividends paid", 7).kept == (best,)
    assert select(SECTIONS, "dividends paid", 0).kept == ()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(SECTIONS), max_size=8), st.integers(0, 40), st.integers(0, 3))
def test_kept_and_dropped_partition_the_input_within_the_budget(
    sections, budget, keep_last
) -> None:
    selection = select(sections, "dividends", budget, keep_last=keep_last)
    assert sorted(selection.kept + selection.dropped) == list(range(len(sections)))
    assert list(selection.kept) == sorted(selection.kept)
    pinned = (
        sum(words(section) for section in sections[max(0, len(sections) - keep_last) :])
        if keep_last
        else 0
    )
    assert selection.tokens <= max(budget, pinned)
    assert selection.tokens == sum(words(section) for section in selection.sections)
    assert set(range(max(0, len(sections) - keep_last), len(sections))) <= set(selection.kept)


def test_selection_narrows_along_a_pipeline() -> None:
    first = select(SECTIONS, "dividends of shareholders", 100)
    second = select(first.sections, "who proposed: the board", 100)
    assert second.sections == (SECTIONS[2],)


def test_a_question_and_its_reply_stay_together_and_the_system_message_stays() -> None:
    messages = [
        Message("system", "Be brief."),
        Message("user", "Where is parking free?"),
        Message("assistant", "Behind the house."),
        Message("user", "Which dividends were paid to shareholders?"),
        Message("assistant", "12 million."),
        Message("user", "Thanks."),
    ]
    selection = select(messages, "dividends paid to shareholders", 100, keep_last=1)
    assert selection.kept == (0, 3, 4, 5)
    assert selection.sections[2].content == "12 million."


def test_a_long_section_is_judged_by_its_best_piece() -> None:
    filler = "The cafeteria serves lunch at noon. " * 200
    answer = (SECTIONS[0] + " ") * 18
    selection = select([filler, filler + answer], "dividends paid to shareholders", 5000)
    assert selection.kept == (1,)


def test_nothing_in_nothing_out_and_a_negative_budget_is_refused() -> None:
    assert select([], "x", 10).sections == ()
    with pytest.raises(SettingsError, match="budget is -1"):
        select(SECTIONS, "x", -1)
