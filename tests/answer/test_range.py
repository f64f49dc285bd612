"""How low and how high a number gets: bounds by direction over a made statement."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sliders.answer import (
    KINDS,
    AnswerRange,
    Mover,
    Number,
    Place,
    State,
    Variation,
    bundled,
    effect_words,
    measure,
    number_in,
    shown,
    widened,
)


def cells(values: Sequence[Number | None]) -> dict[Place, Number | None]:
    return {Place("t", str(n), "x"): value for n, value in enumerate(values)}


def summing(table: dict[Place, Number | None], combine: object = sum) -> object:
    def recompute(state: State) -> Number | None:
        held = [v for v in {**table, **dict(state)}.values() if v is not None]
        return combine(held) if held else None  # type: ignore[operator]

    return recompute


def doubt(place: Place, *values: Number | None, kind: str = "value") -> Variation:
    return Variation(kind, tuple(((place, value),) for value in values))  # type: ignore[arg-type]


def test_without_doubts_a_number_is_a_point() -> None:
    found = measure(3, [], lambda _: 3)
    assert found.is_point and 3 in found and 4 not in found
    assert str(found) == ""


def test_each_kind_says_how_far_it_moves_the_number() -> None:
    table = cells([1, 1, 1, 1, 0])
    places = list(table)
    doubts = [doubt(places[0], 0), doubt(places[1], 0), doubt(places[4], 1, kind="missing")]
    found = measure(4, doubts, summing(table))
    assert (found.low, found.high) == (2, 5)
    assert found.moves == (Mover("value", 2, 2, 4), Mover("missing", 1, 4, 5))
    assert str(found) == (
        "2 to 5: 2 values that may be other ones, 1 missing value or row "
        "(as if it were like those read)"
    )


def test_a_range_has_the_places_and_the_unit_of_its_number() -> None:
    found = AnswerRange(12.5, 10 / 3, 12345.678, (Mover("same", 1, 3, 20),), unit="EUR")
    assert str(found) == "3.33 to 12,345.68 EUR: 1 row or name that may be one with another"
    noted = AnswerRange(3, 3, 3, notes=("2 parts of documents were left out unread",))
    assert str(noted) == "not measured: 2 parts of documents were left out unread"


def test_a_doubtful_value_behind_a_doubtful_largest_one_is_found() -> None:
    table = cells([10, 9, 3])
    places = list(table)
    found = measure(10, [doubt(places[0], None), doubt(places[1], None)], summing(table, max))
    assert (found.low, found.high) == (3, 10)


@given(
    st.lists(
        st.tuples(st.integers(-5, 5), st.one_of(st.none(), st.integers(-5, 5))),
        min_size=1,
        max_size=6,
    )
)
def test_sums_have_the_bounds_of_every_combination(pairs: list[tuple[int, int | None]]) -> None:
    table = cells([value for value, _ in pairs])
    doubts = [doubt(place, other) for place, (_, other) in zip(table, pairs, strict=True)]
    total = sum(value for value, _ in pairs)
    lows = sum(min(value, 0 if other is None else other) for value, other in pairs)
    highs = sum(max(value, 0 if other is None else other) for value, other in pairs)
    recompute = summing(table)
    found = measure(total, doubts, lambda state: recompute(state))  # type: ignore[operator]
    if any(other is not None for _, other in pairs):
        assert (found.low, found.high) == (lows, highs)


def test_what_comes_from_elsewhere_widens_a_range() -> None:
    found = widened(AnswerRange(5, 4, 5), "choice", 1, [9])
    assert (found.low, found.high) == (4, 9) and "1 row or statement that" in str(found)
    assert widened(found, "same", 1, [5]) is found
    further = widened(found, "choice", 2, [3])
    assert further.moves == (Mover("choice", 3, 3, 9),) and (further.low, further.high) == (3, 9)


def test_the_kinds_of_doubt_are_six_and_a_page_says_what_they_mean() -> None:
    told = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    assert len(KINDS) == 6
    assert [kind for kind, k in KINDS.items() if f"| `{kind}` | {k.means} |" not in told] == []


def test_many_doubts_that_look_alike_go_together() -> None:
    doubts = [doubt(place, 0) for place in cells([1] * 50)]
    few = bundled(doubts, 10)
    assert len(few) <= 10 and sum(one.count for one in few) == 50
    assert measure(50, few, summing(cells([1] * 50))).low == 0


def test_the_number_of_a_result() -> None:
    assert number_in([(3,)]) == 3 and number_in([("Alder", 4.5)]) == 4.5
    assert (
        number_in([(1, 2)]) is None
        and number_in([("a",)]) is None
        and number_in([(1,), (2,)]) is None
    )
    assert number_in([]) is None


def test_numbers_are_shown_as_a_person_writes_them() -> None:
    assert [shown(n) for n in (3, 4.0, 22 / 7, 12345678, 123456.7)] == [
        "3",
        "4",
        "3.14",
        "12,345,678",
        "123,456.7",
    ]


def test_the_effect_on_a_table_names_the_rows_that_change() -> None:
    rows = [("Anchor", 1), ("Beacon", 2), ("Crane", 3)]
    assert effect_words(rows, [[*rows[:2], ("Crane", 9)]]) == "Crane, 3 would be Crane, 9"
    assert effect_words(rows, [rows[:2]]) == "Crane, 3 would be left out"
    assert effect_words(rows[:2], [rows]) == "Crane, 3 would be added"
    assert effect_words([], [rows[:1]]) == "nothing would be Anchor, 1"
