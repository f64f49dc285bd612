"""What was learned and decided is kept in tables, and comes back as it was."""

from __future__ import annotations

import pytest

from sliders.store import (
    Catalog,
    ConflictSide,
    Figure,
    Habit,
    OpenConflict,
    OpenNames,
    Program,
    QuestionColumns,
    Settled,
    Settlement,
    Terms,
    UnreadLine,
    Unsettled,
)

SIDES = (
    ConflictSide(1250.0, ("doc-1-r0", "doc-1-r9"), "orders.md", "a price of 1,250", 3),
    ConflictSide(True, (), "bill.md"),
    ConflictSide(None, ("doc-1-r1",), "note.md"),
    ConflictSide(10**30, ("doc-1-r3",), "note.md"),
)
LEFT = Unsettled(
    (
        OpenConflict("orders", "price", ("Northwind", None, 7), "nothing tells", SIDES),
        OpenConflict("orders", "paid", (), "open", SIDES[:1]),
    ),
    (
        OpenNames("customer", (("A & B", "A and B"), ("AB",)), "alike", True, (("r1", "r2"),)),
        OpenNames("customer", (("C",), ("D",)), "not alike"),
    ),
    (("r3", "r1"), ("r2", "r4", "r5")),
    ((("r1", "r7"), ("r2",)), (("r3",), ("r4",))),
)


def test_what_is_left_open_is_kept_until_the_next_time(filled: Catalog) -> None:
    questions = filled.open_questions
    assert questions.conflicts("orders") == questions.names("orders") == []
    questions.keep("orders", LEFT)
    questions.keep("others", Unsettled(left_open=(("r9",),)))
    assert tuple(questions.conflicts("orders")) == LEFT.conflicts
    assert tuple(questions.names("orders")) == LEFT.names
    assert questions.left_open("orders") == LEFT.left_open
    assert questions.merges("orders") == LEFT.merges
    questions.keep_undone("orders", ["r2", "r1"])
    questions.keep("orders", Unsettled())
    assert questions.conflicts("orders") == questions.names("orders") == []
    assert questions.left_open("orders") == questions.merges("orders") == ()
    assert questions.undone("orders") == {"r1", "r2"}
    questions.keep_undone("orders", ())
    assert questions.undone("orders") == frozenset()
    assert questions.left_open("others") == (("r9",),)


def test_an_open_conflict_is_found_by_a_select(filled: Catalog) -> None:
    filled.open_questions.keep("orders", LEFT)
    found = filled.database.query(
        "SELECT column_name, document, page FROM sl_conflicts WHERE number = 0 AND side < 2"
    )
    assert found == [("price", "orders.md", 3), ("price", "bill.md", None)]
    [(side,)] = filled.database.query(
        "SELECT part FROM sl_row_groups"
        " WHERE kind = 'conflict' AND number = 0 AND row_id = 'doc-1-r9'"
    )
    assert side == 0


def test_lines_that_gave_no_row_are_those_of_the_last_reading(filled: Catalog) -> None:
    questions = filled.open_questions
    lines = [UnreadLine("doc-1/0", f"line {n}", (("price", n), ("paid", False))) for n in (1, 2)]
    questions.keep_unread("orders", "doc-1/0", lines)
    assert questions.unread("orders") == lines and questions.unread("others") == []
    questions.keep_unread("orders", "doc-1/0", lines[1:])
    assert questions.unread("orders") == lines[1:]
    questions.keep_unread("orders", "doc-1/0", [])
    assert questions.unread("orders") == []


def test_what_a_table_was_settled_from_is_remembered(filled: Catalog) -> None:
    tables = filled.settled
    assert tables.of("orders") is None and tables.settlements("orders") == ()
    program = Program("aggregate", "price", ("UPDATE rows SET price = 1",), "two halves")
    first = Settlement("a", "repaired", "so it says", (program,))
    key = Settlement("key:customer", "repaired", "", key=("customer", "price"))
    now = Settled(Terms(3, (1, 12), "as told"), True, frozenset({"doc-1"}))
    tables.keep("orders", now, [first])
    tables.keep("orders", now, [key])
    assert tables.of("orders") == now
    assert set(tables.settlements("orders")) == {first, key}
    assert tables.of("others") is None


def test_facts_of_the_documents_are_kept_one_by_one(filled: Catalog) -> None:
    facts = filled.collection
    assert (facts.criteria, facts.habit(1), facts.card("doc-1")) == ((), None, None)
    facts.set_criteria(["newer_document"])
    facts.keep_habit(1, Habit(False, ","))
    assert facts.habit(1) == Habit(False, ",") and facts.habit(2) is None
    facts.keep_samples(["doc-1", "doc-2"], ["doc-2"])
    assert facts.samples(["doc-1", "doc-2"], 1) == ["doc-2"]
    assert facts.samples(["doc-1", "doc-2"], 2) is None and facts.samples(["doc-1"], 1) is None
    facts.keep_dates({"doc-1": "2021-05"}, None)
    facts.keep_card("doc-1", "a list of orders")
    assert facts.card("doc-1") == "a list of orders"
    assert facts.dates(None) == {"doc-1": "2021-05"} and facts.dates(True) == {}
    facts.keep_dates({"doc-1": ""}, True)
    assert facts.dates(True) == {"doc-1": ""} and facts.dates(None) == {}
    assert facts.criteria == ("newer_document",)


def test_figures_of_queries_are_kept_for_later_ones(filled: Catalog) -> None:
    figures = filled.figures
    kept = [
        Figure("filter", "price > 10", 3.0, 9.0),
        Figure("attribute", "price", 1.0, 2.0, (0, 4), ((1, 0), (2, 5)), (0.5, 1.5)),
    ]
    figures.keep("orders", kept)
    figures.keep("orders", kept[1:])
    assert {one.subject: one for one in figures.of("orders")} == {one.subject: one for one in kept}
    assert figures.distance("orders", ["b", "a"]) == 0.0
    figures.keep_distance("orders", ["b", "a"], 1.25)
    assert figures.distance("orders", ["a", "b"]) == 1.25 and len(figures.of("orders")) == 2


@pytest.mark.parametrize("draft", ["", "SELECT count(*) FROM orders"])
def test_the_columns_of_a_question_are_kept(filled: Catalog, draft: str) -> None:
    need = QuestionColumns({"orders": ("price", "paid"), "b": ("x",)}, "the weather", draft)
    assert filled.figures.question("h") is None
    filled.figures.keep_question("h", "How much?", need)
    assert filled.figures.question("h") == need
    assert list(need.columns) == list((filled.figures.question("h") or need).columns)
