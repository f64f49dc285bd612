"""Judgements cut over the collection: two groups are parted wherever the cut lies, one group and a
few stay as they were said.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.compact import FEWEST, LIKELY_NULL, best_split, judge, told_cut

SPREAD = st.floats(-0.5, 0.5)


def odds(value: float) -> dict[str, float]:
    """Log-probabilities of yes and no whose log-odds are `value`."""
    return {"yes": -math.log1p(math.exp(-value)), "no": -math.log1p(math.exp(value))}


@given(
    low=st.lists(SPREAD, min_size=5, max_size=20),
    high=st.lists(SPREAD, min_size=5, max_size=20),
    middle=st.floats(-12, 12),
    distance=st.floats(4, 10),
)
def test_two_groups_are_parted_wherever_the_cut_lies(
    low: list[float], high: list[float], middle: float, distance: float
) -> None:
    values = [middle - distance / 2 + v for v in low] + [middle + distance / 2 + v for v in high]
    found, how = judge([odds(v) for v in values])
    assert [j.choice for j in found] == ["no"] * len(low) + ["yes"] * len(high)
    assert "cut" in how and not any(j.doubt for j in found)


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=FEWEST - 1))
def test_a_few_documents_get_the_models_own_word_with_a_doubt(values: list[float]) -> None:
    found, how = judge([odds(v) for v in values])
    assert all(
        j.choice == ("yes" if v > 0 else "no")
        for j, v in zip(found, values, strict=True)
        if abs(v) > 1e-6
    )
    assert all(j.doubt for j in found) and str(len(values)) in how


@pytest.mark.parametrize("middle", [-6.0, 6.0])
def test_a_collection_of_one_group_that_the_model_is_sure_of_keeps_its_word(middle: float) -> None:
    values = [NormalDist(middle, 0.8).inv_cdf((n + 0.5) / 30) for n in range(30)]
    found, how = judge([odds(v) for v in values])
    assert {j.choice for j in found} == {"yes" if middle > 0 else "no"} and "explains only" in how
    assert all(j.doubt for j in found)


def test_where_two_groups_do_not_show_the_cut_is_halfway_to_where_they_part_best() -> None:
    values = [NormalDist(-2.0, 1.0).inv_cdf((n + 0.5) / 30) for n in range(30)]
    found, _ = judge([odds(v) for v in values])
    cut = best_split(values)[0] / 2
    assert cut == pytest.approx(-1.0, abs=0.1)
    assert [j.choice for j in found] == ["yes" if v > cut else "no" for v in values] and all(
        j.doubt for j in found
    )


def test_those_near_the_cut_are_doubted() -> None:
    values = [-5.0] * 10 + [5.0] * 10 + [-0.3, 0.3]
    found, _ = judge([odds(v) for v in values])
    assert [bool(j.doubt) for j in found] == [False] * 20 + [True] * 2
    assert [j.choice for j in found[20:]] == ["no", "yes"]


def test_the_options_of_a_category_are_corrected_by_their_mean() -> None:
    """A model that leans to the first option still tells the three kinds apart."""
    bias, kinds = {"a": 3.0, "b": 0.0, "c": 0.0}, list("abc") * 5
    given = [{c: bias[c] + (2.0 if c == kind else 0.0) for c in "abc"} for kind in kinds]
    assert {max(each, key=lambda c: each[c]) for each in given} == {"a"}, (
        "its own word is always the first"
    )
    found, how = judge(given)
    assert [j.choice for j in found] == kinds and "corrected" in how


def test_options_that_are_about_equally_likely_are_doubted() -> None:
    given = [{c: (2.0 if c == kind else 0.0) for c in "abc"} for kind in "abcabcabc"] + [
        {"a": 0.1, "b": 0.0, "c": -4.0}
    ]
    assert [bool(j.doubt) for j in judge(given)[0]] == [False] * 9 + [True]


def test_nothing_was_judged() -> None:
    assert judge([])[0] == []


@given(st.lists(st.floats(-50, 50), min_size=2, max_size=40))
def test_a_split_explains_a_share_of_the_spread(values: list[float]) -> None:
    cut, share, distance = best_split(values)
    assert -1e-9 <= share <= 1 + 1e-9 and distance >= 0 and min(values) <= cut <= max(values)


@given(st.lists(st.integers(-40, 40), min_size=10, max_size=30, unique=True), st.integers(-30, 30))
def test_the_cut_moves_with_the_values(values: list[int], shift: int) -> None:
    cut, share, _ = best_split([float(v) for v in values])
    moved, same, _ = best_split([float(v + shift) for v in values])
    assert same == pytest.approx(share, abs=1e-6)
    assert best_split([float(v) for v in reversed(values)])[0] == cut
    if moved != pytest.approx(cut + shift):  # two splits may be equally good
        left = [v for v in values if v < cut], [v for v in values if v + shift < moved]
        assert len(left[0]) != len(left[1])


@given(
    low=st.lists(SPREAD, min_size=2, max_size=20),
    high=st.lists(SPREAD, min_size=8, max_size=20),
    distance=st.floats(6, 12),
)
def test_what_is_not_told_lies_under_the_cut(
    low: list[float], high: list[float], distance: float
) -> None:
    odds = [LIKELY_NULL - 1 + value for value in low] + [
        LIKELY_NULL + distance + value for value in high
    ]
    cut, how = told_cut(odds)
    assert cut is not None and [value < cut for value in odds] == [True] * len(low) + [False] * len(
        high
    ), how


@given(
    low=st.lists(SPREAD, min_size=5, max_size=20), high=st.lists(SPREAD, min_size=5, max_size=20)
)
def test_a_model_that_is_sure_of_all_loses_nothing(low: list[float], high: list[float]) -> None:
    assert (
        told_cut(
            [LIKELY_NULL + 1 + value for value in low] + [LIKELY_NULL + 9 + value for value in high]
        )[0]
        is None
    )
    assert told_cut([-5.0] * (FEWEST - 1))[0] is None and told_cut([])[0] is None
