"""Suite folders, on one that the test writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.suites import SuiteError, load_suite


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    dev = tmp_path / "pets" / "dev"
    (dev / "docs").mkdir(parents=True)
    (dev / "tables").mkdir()
    for name in ("a.txt", "b.txt"):
        (dev / "docs" / name).write_text("Rex is a dog.")
    (dev / "tables" / "pets.csv").write_text("pet,doc,name\n1,a.txt,Rex\n2,b.txt,Kit\n")
    (dev / "tables" / "visits.csv").write_text("pet,day\n1,2020-01-01\n1,2020-02-01\n")
    entries = [
        {
            "id": 1,
            "question": "How many?",
            "answer": 2,
            "kind": "count",
            "answer_type": "number",
            "docs": "all",
        },
        {
            "id": 2,
            "question": "Ratio?",
            "answer": "$8.70",
            "kind": "finance_ratio",
            "docs": ["a.txt"],
        },
        {
            "id": 3,
            "question": "Who?",
            "answer": "Rex",
            "docs": ["b.txt"],
            "notes": 'aliases: ["King Rex"]; other',
        },
    ]
    (dev / "gold.json").write_text(json.dumps(entries))
    return tmp_path / "pets"


def test_the_folder_above_dev_loads_the_same_suite(folder: Path) -> None:
    suite = load_suite(folder)
    assert suite.questions == load_suite(folder / "dev").questions
    assert suite.name == "pets" and [d.name for d in suite.documents] == ["a.txt", "b.txt"]


def test_types_tolerances_and_aliases_are_filled_in(folder: Path) -> None:
    count, ratio, who = load_suite(folder).questions
    assert (count.answer_type, count.tolerance, count.docs) == ("number", 0.0, None)
    assert (ratio.answer_type, ratio.tolerance, ratio.docs) == ("number", 0.01, ("a.txt",))
    assert who.answers == ("Rex", "King Rex") and who.answer_type == "string"


def test_a_table_takes_its_document_over_from_the_table_that_it_refers_to(folder: Path) -> None:
    pets, visits = load_suite(folder).tables
    assert pets.columns == ("pet", "name") and pets.doc == "doc"
    assert visits.columns == ("pet", "day") and list(visits.frame["doc"]) == ["a.txt", "a.txt"]


def test_the_first_questions_or_the_one_with_an_id(folder: Path) -> None:
    assert [q.id for q in load_suite(folder).limited(questions=2).questions] == ["1", "2"]
    assert [q.id for q in load_suite(folder).limited(only="3").questions] == ["3"]


def test_what_is_missing_is_named(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(SuiteError, match=r"no gold\.json"):
        load_suite(tmp_path / "nowhere")
    (folder / "dev" / "gold.json").write_text(json.dumps([{"id": "x", "question": "?"}]))
    with pytest.raises(SuiteError, match="question x has no answer"):
        load_suite(folder)
