"""Ways of reading: what is said of the answer reaches the reader, every part is answered, units
agree, nothing is read twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from sliders import Answer, Workspace
from sliders.llm import Request
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Verify

EARNINGS = (
    "# Harbour Works\n\n## Earnings\n\nEarnings per share were 3.10 basic and 2.95 diluted.\n\n"
    "## Segments\n\n(In millions)\n\n"
    "| Segment | 2022 | 2021 |\n|---|---|---|\n| Services | 85,200 | 80,100 |\n"
    "| Products | 83,219 | 81,000 |\n"
    "| Total net sales | 168,419 | 161,100 |\n\n"
)
WEATHER = "".join(
    f"Storm number {n} was noted in the log of the harbour master, who wrote of the wind. "
    for n in range(40)
)
_APART = "\n-- next passage --\n"
Reply = Callable[[str, str], Mapping[str, Any]]


class Reader:
    """Reads hints as they are given and answers by a function of the question and the passages;
    keeps what it was shown.
    """

    def __init__(
        self, answer: Reply, hint: Mapping[str, Any] | None = None, kind: str = "fact"
    ) -> None:
        self.answer, self.hint, self.kind = answer, hint, kind
        self.read: list[tuple[str, str]] = []
        self.model = FunctionModel(self._reply)

    def _reply(self, request: Request) -> Any:
        text = "\n".join(m.content for m in request.messages)
        if "look_in" in text:
            return {
                "kinds": [self.kind],
                "hints": [{"question": 1, **self.hint}] if self.hint else [],
            }
        if request.stage == "plan":
            return {"questions": ["Services in 2022", "Products in 2022"]}
        question = re.findall(r"Question: (.+)", text)[-1]
        passages = _APART.join(re.findall(r"<passage>\n(.*?)\n?</passage>", text, re.DOTALL))
        self.read.append((question, passages))
        return self.answer(question, passages)


def ask(
    place: Path,
    reader: Reader,
    question: str,
    workflow: str = "lookup",
    text: str = EARNINGS,
    **options: Any,
) -> Answer:
    with Workspace(place / "w.db", model=reader.model, embedder=HashEmbedder()) as ws:
        ws.add_text(text, "report.md")
        return ws.ask(question, workflow=workflow, **options)


def only_diluted(question: str, passages: str) -> Mapping[str, Any]:
    """The diluted figure where the question says so, else both."""
    told = "not the basic one" in question
    return {"quote": "3.10 basic and 2.95 diluted", "answer": "2.95" if told else ["3.10", "2.95"]}


@pytest.mark.parametrize("workflow", ["lookup", "candidates", "whole_context", "split"])
def test_what_the_answer_is_stays_in_the_question(tmp_path: Path, workflow: str) -> None:
    hint = {
        "answer_is": ["the diluted figure"],
        "answer_is_not": ["the basic one"],
        "rest": "What were earnings per share?",
    }
    reader = Reader(only_diluted, hint)
    asked = "What were earnings per share? Return the diluted figure, not the basic one."
    assert ask(tmp_path, reader, asked, workflow).value == 2.95
    assert all(question == asked for question, _ in reader.read)


def test_what_is_advice_on_where_to_look_leaves_the_question(tmp_path: Path) -> None:
    hint = {"look_in": ["Earnings section"], "rest": "What were earnings per share?"}
    reader = Reader(only_diluted, hint)
    ask(tmp_path, reader, "What were earnings per share? Look only in the Earnings section.")
    assert [question for question, _ in reader.read] == ["What were earnings per share?"]
    assert "Services" not in reader.read[0][1]


def test_what_is_given_beside_the_question_reaches_the_reader(tmp_path: Path) -> None:
    reader = Reader(only_diluted)
    ask(
        tmp_path,
        reader,
        "What were earnings per share?",
        directives=[Verify(("diluted",), ("basic",))],
    )
    assert all("diluted" in question and "basic" in question for question, _ in reader.read)


WHICH = "Which was larger in 2022, Services or Products, and by how much?"


@pytest.mark.parametrize("workflow", ["split", "lookup"])
def test_every_part_is_answered_with_the_difference_worked_out(
    tmp_path: Path, workflow: str
) -> None:
    reader = Reader(
        lambda question, passages: {
            "quote": "Services | 85,200",
            "answer": ["Services", "= 85,200 - 83,219"],
        }
    )
    answer = ask(tmp_path, reader, WHICH, workflow)
    assert (answer.status, answer.value, answer.text) == (
        "answered",
        ["Services", 1981],
        "Services, 1981",
    )


@pytest.mark.parametrize("workflow", ["split", "lookup"])
def test_every_part_of_a_calculation_is_answered(tmp_path: Path, workflow: str) -> None:
    parts = {"quote": "Services | 85,200", "expression": ["Services", "85,200 - 83,219"]}
    answer = ask(
        tmp_path, Reader(lambda question, passages: parts, kind="calculation"), WHICH, workflow
    )
    assert (answer.status, answer.value, answer.text) == (
        "answered",
        ["Services", 1981],
        "Services, 1981",
    )


@pytest.mark.parametrize("made_up", ["1,982", "= 85,200 - 83,000", "= Services - Products"])
def test_a_part_that_is_left_out_makes_the_answer_incomplete(tmp_path: Path, made_up: str) -> None:
    reader = Reader(
        lambda question, passages: {"quote": "Services | 85,200", "answer": ["Services", made_up]}
    )
    answer = ask(tmp_path, reader, WHICH)
    assert (answer.status, answer.value) == ("incomplete", "Services")
    assert made_up.lstrip("= ") in answer.text and "left out" in answer.reason


@pytest.mark.parametrize(
    ("said", "unit", "value"),
    [
        ("$6,550 million", "in millions of dollars", 6550),
        ("$6,550 million", "", 6_550_000_000),
        ("6,550", "millions of dollars", 6550),
        ("$6,550 million", "billion dollars", 6.55),
        ("= 6,550 * 1000", "in thousands", 6_550_000),
        ("6550万元", "万元", 6550),
    ],
)
def test_the_value_is_in_the_unit_that_was_asked_for(
    tmp_path: Path, said: str, unit: str, value: float
) -> None:
    text = (
        "# Report\n\nCapital expenditure came to $6,550 million in the year, "
        "6550万元 in the other.\n"
    )
    reader = Reader(
        lambda question, passages: {"quote": "$6,550 million", "answer": said, "unit": unit}
    )
    answer = ask(tmp_path, reader, f"What was capital expenditure {unit}?", text=text)
    assert (answer.status, answer.value) == ("answered", value)
    assert answer.text == (said if not said.startswith("=") else "6550000")


def test_a_passage_of_a_table_has_its_unit_note(tmp_path: Path) -> None:
    rows = "".join(
        f"| Line {n} of the statement of the harbour works | {n},100 |\n" for n in range(100, 900)
    )
    text = f"# Report\n\n(In millions)\n\n| Line | 2022 |\n|---|---|\n{rows}\n"
    reader = Reader(lambda question, passages: {"quote": "Line 777", "answer": "777,100"})
    ask(tmp_path, reader, "What is line 777 of the statement?", text=text)
    later = [passage for passage in reader.read[0][1].split(_APART) if "Line 100 " not in passage]
    assert any("777,100" in passage for passage in later)
    assert all(passage.count("(In millions)\n| Line | 2022 |") == 1 for passage in later)


def test_a_table_without_a_note_gets_none(tmp_path: Path) -> None:
    reader = Reader(only_diluted)
    ask(
        tmp_path,
        reader,
        "What were earnings per share?",
        text=EARNINGS.replace("(In millions)\n\n", ""),
    )
    assert "illions" not in reader.read[0][1]


def chapters() -> str:
    said = (
        f"## Part {n}\n\nThe fee of part {n} is {n}0 dollars, as the fee table says. {WEATHER}\n\n"
        for n in range(1, 9)
    )
    return "# Fees\n\n" + "".join(said)


def test_no_word_is_read_twice_on_the_way_to_a_refusal(tmp_path: Path) -> None:
    reader = Reader(lambda question, passages: {"quote": "", "answer": None})
    answer = ask(tmp_path, reader, "What is the fee of the harbour master?", text=chapters())
    assert answer.status == "not_found" and len(reader.read) == 3
    shown = [re.findall(r"The fee of part \d", passages) for _, passages in reader.read]
    every = [fee for one in shown for fee in one]
    assert sorted(every) == sorted(set(every)) == [f"The fee of part {n}" for n in range(1, 9)]


def test_the_words_that_a_reading_needs_are_shown_with_the_next_passages(tmp_path: Path) -> None:
    def reply(question: str, passages: str) -> Mapping[str, Any]:
        there = [n for n in range(1, 9) if f"part {n} is {n}0 dollars" in passages]
        if not reader.read[1:]:
            wanted.append(there[0])
            return {"quote": f"The fee of part {there[0]} is {there[0]}0 dollars", "answer": None}
        held = wanted[0] in there and len(there) > 1
        return {"quote": "", "answer": f"{wanted[0]}0 dollars" if held else None}

    wanted: list[int] = []
    reader = Reader(reply)
    answer = ask(tmp_path, reader, "What is the fee of the parts?", text=chapters())
    assert answer.status == "answered" and len(reader.read) == 2
    assert answer.text == f"{wanted[0]}0 dollars"


def test_what_the_first_passages_answer_is_read_once(tmp_path: Path) -> None:
    reader = Reader(lambda question, passages: {"quote": "as the fee table says", "answer": "yes"})
    assert ask(tmp_path, reader, "Is there a fee table?", text=chapters()).value == "yes"
    assert len(reader.read) == 1
