"""The trust benchmark: cases are well formed, the reader says what they tell, and outcomes are
judged as README.md says.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from benchmarks.trust.__main__ import play
from benchmarks.trust.cases import FOLDER, CaseError, load
from benchmarks.trust.judge import Told, judge, same, totals
from benchmarks.trust.reader import Reader

ROOT = Path(__file__).resolve().parents[2]
CASES = {case.name: case for case in load()}


@pytest.mark.parametrize("kind", sorted({case.kind for case in CASES.values()}))
def test_every_kind_has_a_trap_and_a_control(kind: str) -> None:
    assert {case.control for case in CASES.values() if case.kind == kind} == {True, False}


def test_the_example_of_the_readme_is_a_case(tmp_path: Path) -> None:
    text = FOLDER.parent.joinpath("README.md").read_text(encoding="utf-8")
    example = tmp_path / "example.yaml"
    example.write_text(text.split("```yaml\n")[1].split("```")[0], encoding="utf-8")
    (case,) = load(example)
    assert len(case.papers[0].parts[0].rows) == 3 and case.papers[0].parts[0].rows[2].cells[
        "price"
    ].words == ("45.00",)


def test_a_value_that_is_not_printed_needs_words(tmp_path: Path) -> None:
    case = {
        "case": "one",
        "docs": {"a.txt": {"text": "It took four days.", "rows": [{"days": 5}]}},
        "tables": {"trips": {"columns": {"days": "integer"}}},
        "ask": {"question": "How long?", "sql": "SELECT days FROM trips"},
    }
    file = tmp_path / "odd.yaml"
    file.write_text(yaml.safe_dump([case]), encoding="utf-8")
    with pytest.raises(CaseError, match=r"odd\.yaml, case 'one'.*5 is not printed"):
        load(file)


def test_the_reader_gives_the_rows_of_the_part_that_is_shown() -> None:
    case = CASES["two_halves_of_one_year"]
    text = case.papers[1].parts[1].text
    columns = "- fiscal_year (integer): x\n- capex (number): x"
    prompt = f"Table years: rows\n{columns}\n<document>\nFrom: a card\n\n{text}\n</document>"
    reply = Reader(case).reply("extract", [("user", prompt)], {"properties": {"rows": {}}})
    (row,) = reply["rows"]
    assert {column: cell["value"] for column, cell in row["cells"].items()} == {
        "fiscal_year": 2022,
        "capex": 31,
    }


@pytest.mark.parametrize(
    ("step", "told", "control", "verdict"),
    [
        ({"right": 5}, Told("answered", 5.0), True, "right"),
        ({"right": 5}, Told("answered", 4), False, "silent_wrong"),
        ({"right": 5}, Told("incomplete", 5), True, "false_alarm"),
        ({"right": 5}, Told("answered", 5, doubts=("a cell",)), True, "false_alarm"),
        ({"right": 5}, Told("answered", 4, doubts=("a cell",)), False, "warned"),
        (
            {"right": 5, "names": "Bo"},
            Told("answered", 4, doubts=("a cell",), remarks="a cell"),
            False,
            "unnamed",
        ),
        ({}, Told("answered", 5), False, "silent_wrong"),
        ({"status": "failed"}, Told("not_found"), False, "silent_wrong"),
        ({"status": "failed"}, Told("failed"), False, "right"),
        (
            {"status": ["failed", "incomplete"], "names": "key"},
            Told("failed", remarks="the key is wrong"),
            False,
            "right",
        ),
        (
            {"right": 5, "max_calls": {"answer": 2}},
            Told("answered", 5, calls={"answer": 3}),
            True,
            "extra_calls",
        ),
        ({"contains": "yes"}, Told("answered", "x", "Yes: 4 against 3."), True, "right"),
    ],
)
def test_outcomes_are_judged(
    step: dict[str, object], told: Told, control: bool, verdict: str
) -> None:
    assert judge(step, told, control).verdict == verdict


def test_values_are_compared_as_they_mean() -> None:
    assert same([["Ann", 2], ["Bo", 3]], [("bo", 3.0), ("ANN", 2)]) and not same(
        ["a", "a"], ["a", "b"]
    )
    assert (
        same(5, [[5.0]])
        and same(True, 1)
        and not same(0.5, 0)
        and not same(["a", "b"], ["b", "a"], in_order=True)
    )


def test_false_alarms_are_counted_over_the_controls() -> None:
    figures = totals(
        [
            ("a", True, False, "k", "false_alarm"),
            ("b", False, False, "k", "warned"),
            ("c", False, False, "k", "silent_wrong"),
            ("d", False, True, "k", "silent_wrong"),
        ]
    )
    assert [figures[name] for name in ("cases", "controls", "silent_wrong", "false_alarms")] == [
        3,
        1,
        1,
        1,
    ]
    assert (figures["guards"], figures["guards_failed"]) == (1, 1)
    assert figures["failed"] == {"a": "false_alarm", "c": "silent_wrong", "d": "silent_wrong"}
    assert figures["by_kind"]["k"]["passed"] == 1


def test_cases_are_played_in_a_process_of_their_own() -> None:
    (played,) = play(ROOT, only="hotel_bill_without_equal_lines")
    assert (played["verdict"], played["unknown"]) == ("right", [])
