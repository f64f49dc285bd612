"""Which segments are sent first, how long they are sent, and what is looked at again."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sliders.engine import (
    WEIGHTS,
    Layout,
    Learned,
    chance_between,
    rank_segments,
    run_query,
    update_index,
)
from sliders.retrieval import build_evidence, seed_evidence
from tests.ships import SHIPS, SegmentReader, workspace_of_ships

share = st.floats(0.0, 1.0)


@given(stated=st.floats(0.01, 0.99), bounds=st.lists(share, min_size=3, max_size=3))
def test_chances_of_parts_make_the_chance_of_the_whole(stated: float, bounds: list[float]) -> None:
    low, middle, high = sorted(bounds)
    first = chance_between(stated, low, middle)
    assert 0.0 <= first <= 1.0 + 1e-9
    both = first + (1 - first) * chance_between(stated, middle, high)
    assert abs(both - chance_between(stated, low, high)) < 1e-6


def test_before_there_is_evidence_the_head_comes_second_and_later_the_name(tmp_path: Path) -> None:
    with workspace_of_ships(tmp_path, ships=2) as ws:
        index = update_index(ws.session)
        document_id = next(iter(index.entries))
        count = len(index.sizes(document_id))
        last = index.vectors(document_id)[count - 1]
        near_last = index.vectors(document_id)[count - 2]
        seed = rank_segments(
            index, document_id, seed_evidence("x", last), Layout(), WEIGHTS[0], last[None, :]
        )
        learned = build_evidence("x", near_last[None, :])
        ranked = rank_segments(index, document_id, learned, Layout(), (0.0, 0.0), last[None, :])
    assert seed.sequence[:2] == (count - 1, 0)
    assert set(ranked.sequence[:2]) == {count - 1, count - 2}
    assert sorted(ranked.sequence) == sorted(seed.sequence) == list(range(count))


def test_the_weights_are_those_under_which_values_lay_nearest() -> None:
    layout = Layout()
    assert layout.weights == WEIGHTS[0]
    ranks = [5] * len(WEIGHTS)
    ranks[3] = 0
    layout.learn(2, 9, ranks)
    assert layout.weights == WEIGHTS[3]


def test_an_attribute_that_nobody_states_is_given_up_before_the_end_of_long_documents(
    tmp_path: Path,
) -> None:
    with workspace_of_ships(tmp_path, ships=40) as ws:
        sql = "SELECT ship FROM docs WHERE captain = 'Nemo'"
        result = asyncio.run(run_query(SegmentReader().of(ws), sql, reuse=False))
    assert result.rows == ()
    assert result.tokens < result.whole_tokens


def test_learned_weights_of_another_version_are_not_used(tmp_path: Path) -> None:
    from sliders.engine import load_learned, save_learned
    from tests.ships import workspace_of_ships

    with workspace_of_ships(tmp_path, ships=1) as ws:
        learned = Learned("ships")
        learned.layouts["port"] = Layout([(1, 2)], [0.0] * 4)
        learned.layouts["ship"] = Layout([(1, 2)], [0.0] * len(WEIGHTS))
        save_learned(ws.session, learned)
        assert set(load_learned(ws.session, SHIPS).layouts) == {"ship"}
