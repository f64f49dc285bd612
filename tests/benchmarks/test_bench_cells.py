"""Cells against gold tables: alignment, and what each kind of difference counts as."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.cells import assign, column_type, pinned_schema, score_table
from benchmarks.suites import GoldTable


def gold(rows: list[dict[str, str]], **options: object) -> GoldTable:
    frame = pd.DataFrame(rows)
    doc = "doc" if "doc" in frame.columns else ""
    columns = tuple(c for c in frame.columns if c not in {"doc", "flag"})
    return GoldTable("t", frame, columns, doc, **options)  # type: ignore[arg-type]


ONE = gold(
    [
        {"doc": "a.txt", "day": "1999-10-25", "killed": "6", "weather": ""},
        {"doc": "b.txt", "day": "2000-03-05", "killed": "0", "weather": "VMC"},
    ]
)


def test_each_kind_of_cell_is_counted_once() -> None:
    predicted = pd.DataFrame(
        [
            {"document": "/x/a.txt", "day": "October 25, 1999", "killed": 6.0, "weather": "IMC"},
            {"document": "b.txt", "day": "2000-03-06", "killed": None, "weather": "vmc"},
        ]
    )
    score, errors = score_table(ONE, predicted)
    assert (score.right, score.wrong, score.missing, score.invented, score.blank_right) == (
        3,
        1,
        1,
        1,
        0,
    )
    assert score.scored == 6 and score.accuracy == pytest.approx(3 / 6)
    assert score.grounded_wrong == pytest.approx(2 / 5)
    assert {(e.document, e.column, e.kind) for e in errors} == {
        ("a.txt", "weather", "invented"),
        ("b.txt", "day", "wrong"),
        ("b.txt", "killed", "missing"),
    }


def test_a_missing_document_costs_its_cells_and_a_second_row_is_extra() -> None:
    rows = [{"document": "a.txt", "day": "1999-10-25", "killed": 6, "weather": None}] * 2
    score, _ = score_table(ONE, pd.DataFrame(rows))
    assert (score.missing_rows, score.missing, score.extra_rows, score.extra) == (1, 3, 1, 2)
    nothing, _ = score_table(ONE, None)
    assert nothing.accuracy == 0 and nothing.missing == 6


def test_documents_that_were_not_run_are_not_scored() -> None:
    score, _ = score_table(ONE, None, documents=["a.txt"])
    assert score.gold_rows == 1 and score.scored == 3


def test_rows_of_one_document_are_paired_by_value_not_by_order() -> None:
    table = gold(
        [
            {"doc": "g", "team": t, "points": p}
            for t, p in [("Hawks", "110"), ("Cavaliers", "106"), ("Jazz", "99")]
        ]
    )
    rows = [("jazz", 99), ("Cavaliers", 110), ("Hawks", 110)]
    score, _ = score_table(
        table, pd.DataFrame([{"document": "g", "team": t, "points": p} for t, p in rows])
    )
    assert (score.right, score.wrong, score.extra_rows) == (5, 1, 0)


def test_rules_of_the_readme() -> None:
    rows = [{"doc": "a", "who": "Ann", "land": "", "wins": "7", "flag": "0"}]
    table = gold(rows, skip_blanks=frozenset({"land"}), only_if={"wins": "flag"}, partial=True)
    predicted = pd.DataFrame(
        [
            {"document": "a", "who": "Ann", "land": "Chile", "wins": 9},
            {"document": "a", "who": "Bo", "land": "Peru", "wins": 1},
        ]
    )
    score, errors = score_table(table, predicted)
    assert (score.scored, score.right, score.extra_rows, errors) == (1, 1, 0, [])


def test_tables_without_a_document_are_paired_over_all_rows() -> None:
    table = gold([{"company": "A", "year": "2018"}, {"company": "B", "year": "2019"}])
    score, _ = score_table(
        table, pd.DataFrame([{"company": "b", "year": 2019}, {"company": "a", "year": 2018}])
    )
    assert score.accuracy == 1.0


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "25", ""], "integer"),
        (["1.5", "2"], "number"),
        (["yes", "no"], "boolean"),
        (["0", "1"], "boolean"),
        (["1999-10-25", ""], "date"),
        (["May 2010"], "text"),
        (["032", "088"], "text"),
        (["9780786022274"], "text"),
        (["", ""], "text"),
        (["-4", "10"], "integer"),
        (["335", "PA-31"], "text"),
    ],
)
def test_types_come_from_the_printed_values(values: list[str], kind: str) -> None:
    assert column_type(values) == kind


def test_the_pinned_schema_says_names_types_and_grain_only() -> None:
    schema = pinned_schema([ONE, gold([{"doc": "a", "x": "1.5"}, {"doc": "a", "x": "2.5"}])])
    first, second = schema["tables"]
    assert first["grain"] == "document" and second["grain"] == "many"
    assert first["columns"] == [
        {"name": "day", "type": "date"},
        {"name": "killed", "type": "integer"},
        {"name": "weather", "type": "text"},
    ]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4), st.integers(1, 5), st.randoms(use_true_random=False))
def test_the_assignment_is_the_best_one(rows: int, columns: int, random: object) -> None:
    scores = np.array([[random.random() for _ in range(columns)] for _ in range(rows)])  # type: ignore[attr-defined]
    wide = scores if rows <= columns else scores.T
    best = max(
        sum(wide[i, j] for i, j in enumerate(order))
        for order in itertools.permutations(range(wide.shape[1]), wide.shape[0])
    )
    pairs = assign(scores)
    assert len({i for i, _ in pairs}) == len(pairs) == len({j for _, j in pairs})
    assert sum(scores[i, j] for i, j in pairs) == pytest.approx(best)
