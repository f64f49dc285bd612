"""Drivers of the papers' benchmarks, each on a few records written here in its published form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.papers.__main__ import DRIVERS, main
from benchmarks.papers.common import PaperDataError, Prepared, write_suite
from benchmarks.suites import load_suite


def put(path: Path, data: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(data, str):
        path.write_text(data)
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(entry) for entry in data))
    else:
        path.write_text(json.dumps(data))
    return path


def prepare(name: str, source: Path, limit: int | None = None) -> Prepared:
    prepared = DRIVERS[name](source, limit)
    suite = load_suite(write_suite(prepared, source.parent / "suites"))
    assert {d.name for d in suite.documents} == set(prepared.documents)
    for question in suite.questions:
        assert suite.documents_of(question), question
    return prepared


def test_financebench(tmp_path: Path) -> None:
    root = tmp_path / "fb"
    entry = {
        "financebench_id": "f1",
        "doc_name": "ACME_2020_10K",
        "question": "Capex?",
        "answer": "$1577.00",
        "question_type": "metrics-generated",
        "evidence": [{"evidence_page_num": 59}],
    }
    put(
        root / "data/financebench_open_source.jsonl",
        [entry, entry | {"financebench_id": "f2", "doc_name": "GONE"}],
    )
    put(root / "pdfs/ACME_2020_10K.pdf", "%PDF")
    prepared = prepare("financebench", root)
    assert [(g["id"], g["answer"], g["docs"]) for g in prepared.gold] == [
        ("f1", 1577, ["ACME_2020_10K.pdf"])
    ]
    (root / "pdfs/ACME_2020_10K.pdf").unlink()
    with pytest.raises(PaperDataError, match="lacks ACME_2020_10K"):
        DRIVERS["financebench"](root, None)


def test_docfinqa_shares_equal_contexts(tmp_path: Path) -> None:
    rows = [
        {"Context": c, "Question": q, "Program": "p", "Answer": a}
        for c, q, a in [("long", "x?", "12.5"), ("long", "y?", "yes"), ("other", "z?", 3)]
    ]
    prepared = prepare("docfinqa", put(tmp_path / "d/test.json", rows))
    assert [(g["answer"], g["answer_type"], g["docs"][0]) for g in prepared.gold] == [
        (12.5, "number", "filing_0000.txt"),
        ("yes", "string", "filing_0000.txt"),
        (3.0, "number", "filing_0001.txt"),
    ]


def test_tatdqa_asks_the_scale(tmp_path: Path) -> None:
    questions = [
        {
            "uid": "q1",
            "question": "Change?",
            "answer": 12.5,
            "answer_type": "arithmetic",
            "scale": "million",
        },
        {
            "uid": "q2",
            "question": "Which years?",
            "answer": ["2019", "2018"],
            "answer_type": "multi-span",
            "scale": "",
        },
    ]
    put(
        tmp_path / "t/tatdqa_dataset_dev.json",
        [{"doc": {"uid": "u1", "page": 1, "source": "s.pdf"}, "questions": questions}],
    )
    put(tmp_path / "t/docs/u1.pdf", "%PDF")
    first, second = prepare("tatdqa", tmp_path / "t").gold
    assert first["question"] == "Change? (in millions)" and first["kind"] == "tatqa_arithmetic"
    assert (second["answer"], second["answer_type"]) == (["2019", "2018"], "list")
    (tmp_path / "t/docs/u1.pdf").unlink()
    with pytest.raises(PaperDataError, match=r"no u1\.pdf"):
        DRIVERS["tatdqa"](tmp_path / "t", None)


def test_loong_finds_its_documents(tmp_path: Path) -> None:
    entry = {
        "id": 7,
        "type": "financial",
        "level": 2,
        "doc": ["acme.txt"],
        "instruction": "Read.",
        "question": "Who?",
        "answer": {"acme": "1,2"},
        "language": "en",
        "set": 1,
    }
    put(tmp_path / "l/data/loong.jsonl", [entry])
    put(tmp_path / "l/data/doc/financial/2024-acme.txt", "text")
    prepared = prepare("loong", tmp_path / "l")
    assert (
        prepared.gold[0]["docs"] == ["2024-acme.txt"]
        and prepared.gold[0]["question"] == "Read. Who?"
    )
    with pytest.raises(PaperDataError, match="no document 'zeta"):
        put(tmp_path / "l/data/loong.jsonl", [entry | {"doc": ["zeta.txt"]}])
        DRIVERS["loong"](tmp_path / "l", None)


def test_oolong_reads_printed_lists(tmp_path: Path) -> None:
    row = {
        "id": 1,
        "context_window_id": 5,
        "context_window_text": "Date: ...",
        "question": "How many?",
        "answer": "[26]",
        "answer_type": "ANSWER_TYPE.NUMERIC",
        "task": "one class",
        "context_len": 1024,
    }
    rows = [
        row | {"answer_type": "NUMERIC"},
        row | {"id": 2, "answer": "['ham']", "answer_type": "LABEL"},
    ]
    prepared = prepare("oolong", put(tmp_path / "o/synth.jsonl", rows))
    assert [(g["answer"], g["answer_type"]) for g in prepared.gold] == [
        (26.0, "number"),
        ("ham", "string"),
    ]
    assert list(prepared.documents) == ["window_5.txt"]


def test_novelqa_needs_gold(tmp_path: Path) -> None:
    put(tmp_path / "n/Books/PublicDomain/B01.txt", "Call me.")
    entry = {
        "Question": "Who?",
        "Options": {"A": "Ann", "B": "Bo"},
        "Gold": "B",
        "Aspect": "role",
        "Complexity": "sh",
    }
    data = put(
        tmp_path / "n/Data/PublicDomain/B01.json", {"Q1": entry, "Q2": {"Question": "Where?"}}
    )
    assert [g["answer"] for g in prepare("novelqa", tmp_path / "n").gold] == ["Bo"]
    put(data, {"Q2": {"Question": "Where?"}})
    with pytest.raises(PaperDataError, match="no answers"):
        DRIVERS["novelqa"](tmp_path / "n", None)


def test_qasper_keeps_every_annotator(tmp_path: Path) -> None:
    blank = {"unanswerable": False, "extractive_spans": [], "yes_no": None, "free_form_answer": ""}
    answers = [
        {"answer": blank | {"extractive_spans": ["a", "b"]}},
        {"answer": blank | {"yes_no": True}},
    ]
    paper = {
        "title": "T",
        "abstract": "A",
        "full_text": [{"section_name": "Intro", "paragraphs": ["one"]}],
        "qas": [
            {"question": "Q?", "question_id": "q1", "answers": answers},
            {
                "question": "R?",
                "question_id": "q2",
                "answers": [{"answer": blank | {"unanswerable": True}}],
            },
        ],
    }
    prepared = prepare("qasper", put(tmp_path / "q/qasper-test-v0.3.json", {"1234.5678": paper}))
    assert [(g["answer"], g["kind"]) for g in prepared.gold] == [
        ("a, b", "qasper_extractive"),
        ("UNANSWERABLE", "qasper_unanswerable"),
    ]
    assert prepared.gold[0]["answers_all"] == ["a, b", "yes"]
    assert prepared.documents["1234.5678.md"] == "# T\n\n## Abstract\n\nA\n\n## Intro\n\none\n"


@pytest.mark.parametrize(
    ("name", "file"), [("hotpotqa", "hotpot_dev_distractor_v1.json"), ("2wikimultihop", "dev.json")]
)
def test_multihop_paragraphs_are_pooled(tmp_path: Path, name: str, file: str) -> None:
    entry = {
        "_id": "h1",
        "question": "Who?",
        "answer": "Ann",
        "type": "bridge",
        "context": [["Ann A", ["X. ", "Y."]], ["B", ["Z."]]],
        "supporting_facts": [["Ann A", 0], ["Ann A", 1]],
    }
    prepared = prepare(name, put(tmp_path / "h" / file, [entry]))
    assert prepared.scope == "all" and prepared.documents["Ann_A.md"] == "# Ann A\n\nX. Y.\n"
    assert (
        prepared.gold[0]["docs"] == ["Ann_A.md"] and prepared.gold[0]["kind"] == "multihop_bridge"
    )


@pytest.mark.parametrize(("name", "count"), [("wikiceleb100", 22), ("finq100", 25)])
def test_printed_questions_need_documents(tmp_path: Path, name: str, count: int) -> None:
    with pytest.raises(PaperDataError, match="holds no documents; bring the"):
        DRIVERS[name](tmp_path / "none", None)
    put(tmp_path / "docs/one.md", "# One")
    prepared = prepare(name, tmp_path / "docs")
    assert len(prepared.gold) == count and {g["docs"] for g in prepared.gold} == {"all"}


def test_queries_get_their_gold_from_the_tables(tmp_path: Path) -> None:
    root = tmp_path / "u"
    put(root / "Data/Player/player.csv", "name,team,rings\nAnn,Hawks,2\nBo,Jazz,0\n")
    put(
        root / "Query/Player/Filter/q.sql",
        "-- Query 1\nSELECT name FROM player WHERE rings > 1;\n-- 2\nSELECT FROM x;\n",
    )
    with pytest.raises(PaperDataError, match="holds no documents"):
        DRIVERS["udabench"](root, None)
    put(root / "Docs/Player/ann.txt", "Ann has two rings.")
    prepared = prepare("udabench", root)
    assert [(g["answer"], g["kind"]) for g in prepared.gold] == [([["Ann"]], "sql_filter")]
    assert set(prepared.tables) == {"player"}


@pytest.mark.parametrize("name", sorted(DRIVERS))
def test_missing_data_is_one_line_and_exit_code_2(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, str(tmp_path / "nothing"), "--out", str(tmp_path / "o")]) == 2
    said = capsys.readouterr().err.strip()
    assert said and "\n" not in said and not (tmp_path / "o").exists()


def test_another_file_is_recognised_as_such(tmp_path: Path) -> None:
    with pytest.raises(PaperDataError, match="is this the published file"):
        DRIVERS["hotpotqa"](put(tmp_path / "x.json", [{"q": 1}]), None)
    with pytest.raises(PaperDataError, match="line 1 is not JSON"):
        DRIVERS["oolong"](put(tmp_path / "x.jsonl", "{broken"), None)
