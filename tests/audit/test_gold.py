"""Tables compared with rows that a person filled, and the checks of a pinned schema."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from sliders import Workspace
from sliders.audit import GoldCheck
from sliders.cli import run
from sliders.errors import SchemaError, SettingsError
from sliders.schema import schema_from
from tests.audit.test_workbook import visits
from tests.audit.world import harbour
from tests.worlds import Reader, document


def checked(path: Path, gold: str, **options: object) -> GoldCheck:
    table = path.with_name("gold.csv")
    table.write_text(gold, encoding="utf-8")
    with Workspace(path, write=False) as ws:
        return ws.check(table, **options)  # type: ignore[arg-type]


def test_right_rows_differ_in_nothing(tmp_path: Path) -> None:
    found = checked(
        visits(tmp_path / "w.db"),
        "name,day,paid,cost\nada,10 December 1815,no,-3\n=1+1,2021-05-03,yes,12.50\n",
        on=["name"],
    )
    assert found and found.accuracy == 1.0 and found.matched_on == ("name",)


@pytest.mark.parametrize(
    ("gold", "column", "advice"),
    [
        ("name,cost\nAda,3\n", "cost", "sign"),
        ("name,cost\nAda,-3000\n", "cost", "scale"),
        ("name,cost\nAda,-4\n", "cost", "description"),
        ("name,day\nAda,1815-10-12\n", "day", "date"),
        ("name,cost\nAda,\n", "cost", "no such value"),
        ("name,at\nAda,2021-05-03T10:00\n", "at", "sliders why"),
    ],
)
def test_a_difference_says_what_may_mend_it(
    tmp_path: Path, gold: str, column: str, advice: str
) -> None:
    found = checked(visits(tmp_path / "w.db"), gold, on=["name"])
    [difference] = [d for d in found.differences if d.column]
    assert difference.column == column and advice in difference.advice
    assert not found


def test_a_difference_has_its_words_and_their_place(tmp_path: Path) -> None:
    found = checked(harbour(tmp_path / "w.db"), "document,ship,damage\nreport.pdf,Anna,4500\n")
    [difference] = found.differences
    assert (difference.words, difference.place) == ("4,600", "report.pdf, page 2")
    assert (difference.gold, difference.read) == (4500, 4600)


def test_rows_of_one_side_alone_are_counted(tmp_path: Path) -> None:
    found = checked(visits(tmp_path / "w.db"), "name,cost\nAda,-3\nBob,7\n", on=["name"])
    assert (found.rows, found.missing, found.extra) == (2, 1, 1)
    [cost] = [score for score in found.scores if score.column == "cost"]
    assert (cost.right, cost.missed) == (1, 1)


def test_documents_that_gold_does_not_name_are_left_alone(tmp_path: Path) -> None:
    gold = "document,name,cost\nother.txt,Ada,-3\n"
    found = checked(visits(tmp_path / "w.db"), gold, on=["document", "name"])
    assert (found.missing, found.extra) == (1, 0)


@pytest.mark.parametrize(
    ("gold", "words"),
    [
        ("name,price\nAda,3\n", "name one"),
        ("cost\n3\n", "--on"),
        ("document,cost\nguests.txt,many\n", "line 2, column 'cost'"),
    ],
)
def test_gold_that_cannot_be_compared_says_why(tmp_path: Path, gold: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        checked(visits(tmp_path / "w.db"), gold)


def test_a_frame_is_gold_too(tmp_path: Path) -> None:
    frame = pd.DataFrame({"name": ["Ada"], "paid": [False], "cost": [-3.0]})
    with Workspace(visits(tmp_path / "w.db"), write=False) as ws:
        found = ws.check(frame, on=["name"])
    assert [d.advice for d in found.differences] == [
        "the table has it, gold has not: see sliders why guests.txt"
    ]


def test_the_command_exits_with_one_when_something_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, gold = visits(tmp_path / "w.db"), tmp_path / "gold.csv"
    gold.write_text("name,cost\nAda,-3\n=1+1,12.5\n", encoding="utf-8")
    given = ["check", str(gold), "--on", "name", "-w", str(path), "--json"]
    assert run(given) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] == 1.0
    gold.write_text("name,cost\nAda,-3\n=1+1,13\n", encoding="utf-8")
    assert run(given) == 1


def pinned(checks: str) -> str:
    return (
        "tables:\n  - name: things\n    key: name\n    columns: {name: text, cost: number}\n"
        f"    checks:\n{checks}"
    )


def asked(folder: Path, checks: str) -> Workspace:
    ws = Workspace(folder / "w.db", model=Reader().model)
    for name, cost in (("Anchor", "120"), ("Buoy", "80")):
        ws.add_text(document(name, cost=cost), name=f"{name}.md")
    ws.pin_schema(schema_from(pinned(checks)))
    ws.extract()
    return ws


@pytest.mark.parametrize(
    ("checks", "rows"),
    [
        ("      - not_null: cost\n", 0),
        ("      - unique: name\n", 0),
        ("      - range: {cost: [0, 100]}\n", 1),
        ("      - range: {cost: [100, null]}\n", 1),
        ("      - values: {name: [Anchor]}\n", 1),
        ("      - relation: {name: things.name}\n", 0),
        ("      - sql: SELECT * FROM things WHERE cost < 1000\n", 2),
    ],
)
def test_checks_of_a_schema_name_the_rows_that_fail(tmp_path: Path, checks: str, rows: int) -> None:
    with asked(tmp_path, checks) as ws:
        assert sum(failed.rows for failed in ws.failed_checks()) == rows


def test_a_failed_check_is_a_doubt_of_answers_that_read_the_column(tmp_path: Path) -> None:
    with asked(tmp_path, "      - range: {cost: [0, 100]}\n") as ws:
        answer = ws.ask("What is the total cost?")
        assert any("between 0 and 100" in doubt.thing for doubt in answer.doubts)
        [failed] = ws.failed_checks()
    assert failed.first[0][:2] == ("Anchor.md", 120.0)
    assert run(["check", "-w", str(tmp_path / "w.db")]) == 1


def test_a_check_that_cannot_run_is_told(tmp_path: Path) -> None:
    with asked(tmp_path, "      - sql: SELECT * FROM nowhere\n") as ws:
        [failed] = ws.failed_checks()
    assert "nowhere" in failed.error


@pytest.mark.parametrize(
    "checks",
    [
        "      - not_null: price\n",
        "      - range: {cost: 5}\n",
        "      - never: cost\n",
        "      - relation: {name: things}\n",
        "      - sql: 5\n",
    ],
)
def test_a_check_that_is_not_well_formed_is_refused(checks: str) -> None:
    with pytest.raises(SchemaError):
        schema_from(pinned(checks))
