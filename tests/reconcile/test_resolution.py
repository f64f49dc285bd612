"""Entity resolution: similarity, the learned threshold, links and clusters."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sliders.reconcile import (
    Rewriting,
    Scores,
    average_linkage,
    cluster,
    cut_at,
    link,
    mixture_valley,
    null_threshold,
    related,
    score_pairs,
    silhouette,
    token_sets,
    variant_kind,
    variant_pairs,
)
from sliders.values import fold, name_key, turned


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Orla Mills, Inc.", "ORLA MILLS"),
        (turned("Doe, Jane"), "Jane Doe"),
        ("Café Münster", "Cafe Munster"),
        ("Ash & Birch", "Ash and Birch"),
        ("Orla Company", "Orla Co."),
    ],
)
def test_names_that_are_equal_when_compared(left: str, right: str) -> None:
    assert name_key(left) == name_key(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Mark 1", "Mark 2"),
        ("Orla Mills", "Orla Hills"),
        ("Orla Mills", "Mills Orla"),
        ("The Orla Company", "Orla Co."),
        ("War and Peace", "War for Peace"),
        ("A", "B"),
        ("🦉", "🦊"),
        ("1/5/2020", "5/1/2020"),
    ],
)
def test_names_that_are_not(left: str, right: str) -> None:
    assert name_key(left) != name_key(right)


@given(st.text(max_size=30))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        (("marta", "kovalenko"), ("marta", "kovalenco"), "misspelling"),
        (("univ", "arlen"), ("university", "arlen"), "abbreviation"),
        (("j", "kovalenko"), ("jane", "kovalenko"), "abbreviation"),
        (("orla",), ("orla", "mills"), "short form"),
        (("oma",), ("orla", "mills", "arlen"), "acronym"),
        (("mark", "1"), ("mark", "2"), None),
        (("mark", "1"), ("mark",), None),
        (("ash",), ("oak",), None),
        (("orla", "mills"), ("tarn", "hills"), None),
    ],
)
def test_kinds_of_variants(left: tuple[str, ...], right: tuple[str, ...], kind: str | None) -> None:
    assert variant_kind(left, right) == kind
    assert variant_kind(right, left) == kind


def test_a_short_form_of_two_names_is_ambiguous() -> None:
    assert [p.kind for p in variant_pairs(["Orla", "Orla Mills"])] == ["short form"]
    assert variant_pairs(["Orla", "Orla Mills", "Orla Foods"]) == []


def test_a_phrase_that_holds_two_names_chains_none_of_them() -> None:
    assert variant_pairs(["Tarn Arms", "Tarn Arms in Upper Arlen", "Upper Arlen"]) == []
    assert [p.kind for p in variant_pairs(["Upper Arlen", "Arlen", "Corby"])] == ["short form"]


def test_a_kind_of_thing_is_not_short_for_another_kind() -> None:
    assert variant_pairs(["fish shop", "old fish shop"]) == []
    assert [p.kind for p in variant_pairs(["Fish Shop", "Old Fish Shop"])] == ["short form"]
    assert [p.kind for p in variant_pairs(["Birch shop", "Birch"])] == ["short form"]


@pytest.mark.parametrize(
    ("left", "right", "could"),
    [
        ("Orla Mills", "Mills", True),
        ("OMA", "Orla Mills", True),
        ("Tarn Arms", "Upper Arlen", False),
        ("Ash", "Oak", False),
    ],
)
def test_forms_that_could_be_one_name(left: str, right: str, could: bool) -> None:
    assert related(left, right) is could and related(right, left) is could


def test_words_are_rewritten_to_frequent_ones_only() -> None:
    texts = ["University of Arlen"] * 6 + ["Univ. of Brook", "Univresity of Corby"]
    rewrite = Rewriting(texts)
    assert rewrite("univ of brook") == "university of brook"
    assert rewrite("univresity of corby") == "university of corby"
    assert rewrite("arlen") == "arlen"


def _people(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    parts = ["ba", "do", "ki", "lu", "me", "no", "ra", "si", "tu", "ve", "zo", "pi"]
    return [" ".join("".join(rng.choices(parts, k=3)) for _ in range(3)) for _ in range(count)]


def test_link_finds_the_shared_records_and_leaves_the_others() -> None:
    names = _people(120, 3)
    left, right = names[:80], [n.upper() + ", Arlen" for n in names[40:120]]
    found = {(m.left, m.right) for m in link([[*left, *right]], 80).matches}
    truth = {(i, 80 + i - 40) for i in range(40, 80)}
    assert len(found & truth) >= 38 and len(found - truth) <= 2


def test_link_is_one_to_one() -> None:
    names = _people(60, 5)
    matches = link([[*names, *names[:30], *names[:30]]], 60).matches
    assert len({m.left for m in matches}) == len(matches) == len({m.right for m in matches})


def test_link_without_anything_shared() -> None:
    assert link([["ash", "oak", "elm", "fir"]], 2).matches == ()


def test_cluster_joins_forms_of_one_name_and_counts_everyone_once() -> None:
    names = _people(30, 7)
    records = [n for n in names for n in (n, n.upper(), n + ", Arlen")]
    resolved = cluster([records])
    assert sorted(i for group in resolved.clusters for i in group) == list(range(len(records)))
    truth = {(3 * k + a, 3 * k + b) for k in range(30) for a, b in ((0, 1), (0, 2), (1, 2))}
    found = {(m.left, m.right) for m in resolved.matches}
    assert len(found & truth) >= 85 and len(found - truth) <= 5
    assert all(0 <= m.left < m.right < len(records) for m in resolved.open)


def test_one_wrong_pair_does_not_chain_two_clusters() -> None:
    pairs = {(a, b): 0.9 for g in ((0, 1, 2), (3, 4, 5)) for a in g for b in g if a < b}
    pairs[2, 3] = 0.85
    keys = sorted(pairs)
    scores = Scores(
        np.array([a for a, _ in keys]),
        np.array([b for _, b in keys]),
        np.array([pairs[k] for k in keys]),
    )
    labels = cut_at(average_linkage(scores, 6, 0.2), 6, 0.5)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert silhouette(scores, labels) > silhouette(scores, np.zeros(6, np.int64))


def test_the_threshold_lies_between_two_heaps() -> None:
    rng = np.random.default_rng(1)
    matches, others = rng.normal(0.8, 0.05, 60), rng.normal(0.2, 0.05, 40)
    cut = mixture_valley(np.r_[matches, others], rng.normal(0.15, 0.05, 100))
    assert cut is not None and others.max() < cut < matches.min()


def test_one_heap_far_from_chance_is_kept_whole() -> None:
    rng = np.random.default_rng(2)
    values, null = rng.normal(0.7, 0.08, 200), rng.normal(0.2, 0.05, 200)
    assert mixture_valley(values, null) is None
    assert null_threshold(values, null) <= np.quantile(values, 0.02)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("ab c,1", max_size=12), max_size=25))
def test_scores_are_symmetric_bounded_and_without_selfs(texts: list[str]) -> None:
    scores = score_pairs(token_sets([texts]))
    assert (scores.left < scores.right).all()
    assert ((scores.score > 0) & (scores.score <= 1)).all()


def test_equal_records_score_one() -> None:
    scores = score_pairs(token_sets([["orla mills", "orla mills", "tarn"]]))
    assert [(int(a), int(b)) for a, b in zip(scores.left, scores.right, strict=True)] == [(0, 1)]
    assert scores.score[0] == pytest.approx(1.0)


def test_a_record_whose_best_candidate_is_taken_gets_the_next_one() -> None:
    names, extra = _people(60, 9), _people(60, 10)
    # Of the first name there are four records; the two bare ones are nearest to each of the
    # others, and to each other.
    left = [names[0], *(f"{n} {e.split()[0]}" for n, e in zip(names, extra, strict=True))]
    shorter = [names[0], *(" ".join(n.split()[: 2 + k % 2]) for k, n in enumerate(names[1:]))]
    right = [names[0], *(f"{n} {e.split()[1]}" for n, e in zip(shorter, extra, strict=True))]
    pairs = {(m.left, m.right - len(left)) for m in link([[*left, *right]], len(left)).matches}
    assert {(0, 0), (1, 1)} <= pairs
