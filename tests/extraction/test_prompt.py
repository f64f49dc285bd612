"""What a model is shown: columns with all that is known of them, documents under their card, and
one prefix for all questions.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sliders.compact import (
    choices_of,
    chosen_value,
    field_line,
    is_judged,
    judge_gate_prompt,
    judge_prompt,
    rows_prompt,
    says_again,
    values_prompt,
    words_prompt,
)
from sliders.extraction import Source, chunk_document, column_line, read_prompt
from sliders.retrieval import ChunkContext
from sliders.schema import Column, Example, Table
from sliders.values import ColumnType

from .passages import BOOLEAN, FERRIES, NUMBER, QUAYS, asked_for, chunk_of, source_of

CATEGORY = ColumnType.CATEGORY


def test_a_column_is_shown_with_all_that_is_known_of_it() -> None:
    cost = Column("cost", NUMBER, "what it cost", scale="millions", currency="EUR")
    kind = Column("kind", CATEGORY, "its kind", values=("tug", "ferry"), reading="judged")
    assert column_line(cost) == "cost (number; in EUR millions): what it cost"
    assert column_line(kind) == "kind (one of tug, ferry; to be judged): its kind"
    assert "EUR millions" in field_line(cost) and "tug, ferry" in field_line(kind)
    assert column_line(Column("port_of_call")).endswith(": port of call")


def test_examples_are_shown_to_readers_of_documents_that_do_not_hold_their_words() -> None:
    example = Example("built for  12 guilders", 12)
    cost = Column("cost", NUMBER, "what it cost", examples=(example,))
    plain = Column("cost", NUMBER, "what it cost")

    def shown(column: Column, *documents: str) -> str:
        asked = asked_for(Table("ferries", (column,)))
        return "\n".join(m.content for m in read_prompt(documents, asked, 500).messages)

    without = shown(plain, "TEXT")
    line = '\n  An example, from a document that is not here: "built for  12 guilders" gives 12'
    assert shown(cost, "TEXT") == without.replace("what it cost", "what it cost" + line)
    assert shown(cost, "It was Built for 12\nguilders.") == shown(
        plain, "It was Built for 12\nguilders."
    )
    assert line not in shown(cost, "TEXT", "built for 12 guilders")


def test_one_prompt_asks_for_all_tables() -> None:
    several = Table(
        "crews", (Column("crew"),), row="a crew", documents="ship's papers", grain="document"
    )
    shown = (
        read_prompt(["TEXT"], asked_for(FERRIES, QUAYS, several), 500, ["How many?"])
        .messages[-1]
        .content
    )
    told = (
        "Table ferries",
        "Table quays",
        "a document may have several",
        "a document has one",
        "ship's papers",
        "How many?",
    )
    assert [words for words in told if words not in shown] == []
    assert shown.index("Table quays") < shown.index("TEXT")


def test_what_silence_means_is_said_of_a_whole_document_only() -> None:
    of_part, of_all = (
        read_prompt(["x"], asked_for(FERRIES), 10, whole=whole).messages for whole in (False, True)
    )
    assert (
        of_part[0] == of_all[0]
        and "shown whole" not in of_part[-1].content
        and "shown whole" in of_all[-1].content
    )


def test_more_rows_may_have_a_longer_reply() -> None:
    short, long, longest = (
        read_prompt(["x"], asked_for(FERRIES), tokens).max_tokens for tokens in (10, 1000, 10**6)
    )
    assert 0 < short < long < longest < 32_000


def test_the_card_and_the_headings_stand_above_a_chunk() -> None:
    chunk = chunk_of("Body.", number=3)
    context = ChunkContext(title="Report", heading_path=("Part I", "Fees"))
    chunk = type(chunk)(
        **{name: getattr(chunk, name) for name in chunk.__slots__} | {"context": context}
    )
    shown = chunk_document(chunk, "Aldous Pier; 2020")
    assert (
        shown.startswith("From: Aldous Pier; 2020\n")
        and "Part I > Fees" in shown
        and shown.endswith("Body.")
    )


def test_the_first_chunk_of_a_document_needs_no_heading() -> None:
    assert chunk_document(chunk_of("Title\n\nBody.")) == "Title\n\nBody."


def test_questions_on_one_document_share_their_beginning() -> None:
    column = Column("liked", BOOLEAN, "Was she liked?", reading="judged")
    document = "The ferry Merrow takes 20 cars. " * 20
    requests = [
        values_prompt(document, FERRIES.columns),
        words_prompt(document, FERRIES.columns),
        judge_prompt(document, column),
        rows_prompt(document, 90, FERRIES, FERRIES.columns),
        judge_gate_prompt(document, FERRIES, FERRIES.columns),
    ]
    whole = ["\n".join(f"{m.role}: {m.content}" for m in request.messages) for request in requests]
    read = whole[0].index(document.strip()) + len(document.strip())
    assert len({shown[:read] for shown in whole}) == 1, "a server reads the document once"


def test_judged_columns_and_their_choices() -> None:
    flag = Column("liked", BOOLEAN)
    kind = Column("kind", CATEGORY, values=("tug", "ferry"), reading="judged")
    assert is_judged(flag) and is_judged(kind)
    assert not is_judged(Column("kind", CATEGORY, values=("tug", "ferry"))) and not is_judged(
        Column("name", reading="judged")
    )
    assert [chosen_value(flag, choice) for choice in choices_of(flag)] == [True, False]


@given(st.lists(st.text("abcdé ", min_size=1, max_size=8), min_size=2, max_size=26, unique=True))
def test_every_value_of_a_category_has_a_choice_of_its_own(values: list[str]) -> None:
    column = Column("kind", CATEGORY, values=tuple(values), reading="judged")
    choices = choices_of(column)
    assert len(set(choices)) == len(values)
    assert [chosen_value(column, choice) for choice in choices] == values


@given(st.lists(st.integers(0, 10**6), unique=True, max_size=20))
def test_different_rows_are_no_loop(numbers: list[int]) -> None:
    assert not says_again('{"rows":[' + ",".join(f'{{"a":"{n}"}}' for n in numbers))


@given(st.text("ab. \n", max_size=2000))
def test_halves_are_the_whole_and_keep_their_places(text: str) -> None:
    source: Source = source_of(text, start=70)
    halves = source.halves()
    if halves:
        assert "".join(half.text for half in halves) == text and all(half.text for half in halves)
        assert [half.offset for half in halves] == [70, 70 + len(halves[0].text)]
