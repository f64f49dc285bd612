"""The shape of a value follows from the shape of the result, never from the
wording of the question.
"""

from __future__ import annotations

import pytest

from sliders.answer import Answer, Completeness, Gap, text_of, value_of
from sliders.cli import answer_text


@pytest.mark.parametrize(
    ("rows", "value", "text"),
    [
        ([(3,)], 3, "3."),
        ([(0,)], 0, "0."),
        ([(2.0,)], 2, "2."),
        ([(0.1 + 0.2,)], 0.3, "0.3."),
        ([(6.674e-11,)], 6.674e-11, "6.674e-11."),
        ([(0.3 - 0.2 - 0.1,)], 0, "0."),
        ([("a",), ("b",)], ["a", "b"], "2 found: a; b."),
        ([("a",), (None,)], ["a"], "a."),
        ([("a", 12345)], [["a", 12345]], "a | 12,345."),
        ([("a", None)], [["a", None]], "a | not stated."),
        ([(None,)], None, "Not found in these documents."),
        ([], None, "Not found in these documents."),
    ],
)
def test_values(rows: list[tuple[object, ...]], value: object, text: str) -> None:
    assert value_of(rows) == value  # type: ignore[arg-type]
    assert text_of(value_of(rows)) == text  # type: ignore[arg-type]


def test_an_answer_tells_what_is_judged_unverified_and_not_covered() -> None:
    ledger = Completeness(
        3,
        2,
        judged_cells=5,
        unverified_cells=1,
        missing=(Gap("uncovered", "no column holds the shipyard"),),
    )
    assert str(ledger) == (
        "2 of 3 documents gave rows; no column holds the shipyard; 5 values are judged, not "
        "printed; 1 value is unverified"
    )
    told = Answer("?", "incomplete", completeness=ledger).to_dict()
    assert (told["judged_cells"], told["unverified_cells"], told["complete"]) == (5, 1, False)
    assert [gap["thing"] for gap in told["missing"]] == ["no column holds the shipyard"]


def test_the_terminal_tells_ties_and_nulls_beside_a_number_and_once() -> None:
    null = "cost is NULL (not stated) in 3 rows, which are left out"
    told = answer_text(
        Answer("How much?", "answered", 12, "12.", reason=null, decisions=("a part was left out",))
    )
    notes = [
        line.removeprefix("Note:").strip() for line in told.splitlines() if line.startswith("Note:")
    ]
    assert notes == [null, "a part was left out"]
    again = answer_text(Answer("How much?", "not_found", None, f"Not found: {null}.", reason=null))
    assert again.count(null) == 1
