"""A value is verified where its words say it: sign, unit, scale, bound and row.
What is wrong goes back to the reader once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import sliders
from sliders.answer import Answer
from sliders.llm import COMPACT, Request
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from tests.worlds import shape_of

Cells = Mapping[str, Mapping[str, Any]]


def said(value: object, *words: str, **more: object) -> dict[str, object]:
    """A cell as the reader gives it."""
    return {"value": value, "words": list(words), **more}


class Reader:
    """A double that gives the rows it was told of; `again` are its replies to findings, by column,
    else the same cells.
    """

    def __init__(
        self,
        rows: Sequence[Cells],
        again: Cells | None = None,
        new_rows: Sequence[Cells] = (),
        sql: str = "",
    ) -> None:
        self.rows, self.again, self.new_rows, self.sql = rows, again, new_rows, sql
        self.rechecks: list[str] = []
        self.model = FunctionModel(self.reply)

    def reply(self, request: Request) -> Any:
        """What it says."""
        prompt, fields = request.messages[-1].content, shape_of(request).get("properties", {})
        if request.stage == "answer":
            return {"action": "answer", "sql": self.sql, "reason": ""}
        if "rows" in fields:
            return {"rows": [{"table": "entries", "cells": dict(cells)} for cells in self.rows]}
        if "cells" not in fields or "finding" in fields:
            return {"hints": [], "parts": [1]}
        self.rechecks.append(prompt)
        lines = [line for line in prompt.splitlines() if ". Found: " in line]
        cells = [{"number": int(line.split(".")[0]), **self.kept(line)} for line in lines]
        return {
            "cells": cells,
            "new_rows": [{"table": "entries", "cells": dict(cells)} for cells in self.new_rows],
        }

    def kept(self, line: str) -> Mapping[str, Any]:
        """A cell given again: as `again` says, or as it was."""
        column = line.split(". ", 1)[1].split(" ")[0]
        if self.again is not None and column in self.again:
            return self.again[column]
        same = [
            cells[column]
            for cells in self.rows
            if column in cells and f"value {cells[column]['value']!r}" in line
        ]
        return same[0]


def pinned(
    columns: Mapping[str, Mapping[str, str]], grain: str, key: Sequence[str] = ()
) -> dict[str, Any]:
    """A schema of one table."""
    listed = [{"name": name, "type": "number", **options} for name, options in columns.items()]
    return {
        "tables": [
            {
                "name": "entries",
                "row": "an entry",
                "grain": grain,
                "key": list(key),
                "columns": listed,
            }
        ]
    }


def one(
    path: Path, text: str, column: Mapping[str, str], *cell: dict[str, object]
) -> tuple[Answer, Reader]:
    """The answer over one value of one document, read as the first cell says and, once asked
    again, as the second does.
    """
    reader = Reader(
        [{"amount": cell[0]}],
        {"amount": cell[1]} if len(cell) > 1 else None,
        sql="SELECT amount FROM entries",
    )
    with sliders.Workspace(path / "w.db", model=reader.model, embedder=HashEmbedder()) as ws:
        ws.pin_schema(pinned({"amount": column}, "document"))
        ws.add_text(text, "document.md")
        return ws.ask("What is the amount?"), reader


CREDITS = [
    "(412.80)",
    "412.80-",
    "412.80 CR",
    "412.80 Cr",
    "-412.80",
    "−412.80",
    "$(412.80)",
    "minus 412.80",
    "-$412.80",
]


@pytest.mark.parametrize("printed", CREDITS)
def test_a_negative_amount_read_as_a_positive_one_goes_back(tmp_path: Path, printed: str) -> None:
    text = (
        "# Note of the shop\n\nBalance of the account:\n\n| Item | Amount |\n| --- | --- |\n"
        f"| Rope | {printed} |\n"
    )
    answer, reader = one(
        tmp_path, text, {"currency": "USD"}, said(412.8, printed), said(-412.8, printed)
    )
    assert len(reader.rechecks) == 1 and printed in reader.rechecks[0]
    assert (answer.value, answer.status, answer.doubts) == (-412.8, "answered", ())


@pytest.mark.parametrize("printed", ["412.80-", "412.80 CR"])
def test_the_sign_counts_however_little_of_it_was_quoted(tmp_path: Path, printed: str) -> None:
    text = f"# Note of the shop\n\nThe balance is {printed} as of today.\n"
    answer, reader = one(
        tmp_path, text, {"currency": "USD"}, said(412.8, "412.80"), said(-412.8, printed)
    )
    assert len(reader.rechecks) == 1 and answer.value == -412.8


@pytest.mark.parametrize("printed", CREDITS)
def test_a_negative_amount_read_as_one_is_verified(tmp_path: Path, printed: str) -> None:
    text = f"# Note of the shop\n\n| Item | Amount |\n| --- | --- |\n| Rope | {printed} |\n"
    answer, reader = one(tmp_path, text, {"currency": "USD"}, said(-412.8, printed))
    assert (answer.value, answer.status, answer.doubts, reader.rechecks) == (
        -412.8,
        "answered",
        (),
        [],
    )


def test_a_loss_that_is_printed_without_a_minus_is_verified(tmp_path: Path) -> None:
    answer, reader = one(
        tmp_path,
        "# Year\n\nThe firm made a loss of $412.80.\n",
        {"currency": "USD"},
        said(-412.8, "$412.80"),
    )
    assert (answer.value, answer.status, answer.doubts, reader.rechecks) == (
        -412.8,
        "answered",
        (),
        [],
    )


SPENT = {"currency": "USD", "description": "what was paid out, without a sign"}
OUTFLOW = "# Cash flows of the year\n\n| Item | Amount |\n| --- | --- |\n| Purchases | (412.80) |\n"


def test_a_column_of_sizes_costs_no_call_where_the_reader_says_so(tmp_path: Path) -> None:
    size = said(412.8, "(412.80)", how="judged", why="the column keeps amounts without a sign")
    answer, reader = one(tmp_path, OUTFLOW, SPENT, size)
    assert (answer.value, answer.status, answer.doubts, reader.rechecks) == (
        412.8,
        "answered",
        (),
        [],
    )


@pytest.mark.parametrize(
    "more",
    [{}, {"why": "the column keeps sizes"}, {"how": "judged", "why": "the column keeps sizes"}],
)
def test_a_sign_that_the_reader_insists_on_stands_in_doubt_after_one_call(
    tmp_path: Path, more: dict[str, object]
) -> None:
    answer, reader = one(
        tmp_path, OUTFLOW, SPENT, said(412.8, "(412.80)"), said(412.8, "(412.80)", **more)
    )
    assert len(reader.rechecks) == 1 and (answer.value, answer.status) == (412.8, "answered")
    [doubt] = answer.doubts
    assert "412.80" in doubt.thing and str(more.get("why", "")) in doubt.thing


LAB = "# Report of the laboratory\n\n| Test | Result |\n| --- | --- |\n| Glucose | {} |\n"


@pytest.mark.parametrize(
    ("printed", "quoted", "unit", "wrong", "right"),
    [
        ("139 mg/L", "139 mg/L", "g/L", 139, 0.139),
        ("139 mg/L", "139", "g/L", 139, 0.139),
        ("5 lb", "5 lb", "kg", 5, 2.27),
        ("7 µmol/L", "7 µmol/L", "mmol/L", 7, 0.007),
        ("90 min", "90 min", "h", 90, 1.5),
    ],
)
def test_a_number_in_another_unit_goes_back_until_it_is_converted(
    tmp_path: Path, printed: str, quoted: str, unit: str, wrong: float, right: float
) -> None:
    text = LAB.format(printed)
    answer, reader = one(tmp_path, text, {"unit": unit}, said(wrong, quoted), said(right, quoted))
    assert len(reader.rechecks) == 1 and (answer.value, answer.status, answer.doubts) == (
        right,
        "answered",
        (),
    )


@pytest.mark.parametrize(
    ("printed", "unit", "right"),
    [
        ("139 mg/L", "g/L", 0.139),
        ("5 lb", "kg", 2.27),
        ("139 mg/dL", "mg/dL", 139),
        ("5 widgets", "kg", 5),
        ("5 barrels", "crates", 5),
    ],
)
def test_a_converted_number_and_an_unknown_unit_cost_nothing(
    tmp_path: Path, printed: str, unit: str, right: float
) -> None:
    answer, reader = one(tmp_path, LAB.format(printed), {"unit": unit}, said(right, printed))
    assert (answer.value, answer.status, answer.doubts, reader.rechecks) == (
        right,
        "answered",
        (),
        [],
    )


@pytest.mark.parametrize("unit", ["mmol/L", "µmol/L"])
def test_a_number_of_another_kind_of_unit_goes_back(tmp_path: Path, unit: str) -> None:
    answer, reader = one(tmp_path, LAB.format("139 mg/dL"), {"unit": unit}, said(139, "139 mg/dL"))
    assert len(reader.rechecks) == 1 and "mg/dL" in reader.rechecks[0]
    assert answer.value == 139 and len(answer.doubts) == 1


@pytest.mark.parametrize("more", [{}, {"how": "computed", "why": "139 / 18"}])
def test_a_conversion_that_code_does_not_know_is_a_doubt_without_a_call(
    tmp_path: Path, more: dict[str, object]
) -> None:
    answer, reader = one(
        tmp_path, LAB.format("139 mg/dL"), {"unit": "mmol/L"}, said(7.72, "139 mg/dL", **more)
    )
    assert (answer.value, reader.rechecks) == (7.72, [])
    assert len(answer.doubts) == 1 and "mg/dL" in answer.doubts[0].thing


def test_of_equal_numbers_the_one_in_the_columns_unit_is_meant(tmp_path: Path) -> None:
    text = "# Parcels\n\nThe parcel of 12 kg went 12 km for 12 euros.\n"
    answer, reader = one(tmp_path, text, {"unit": "km"}, said(12, "12"))
    assert (answer.value, answer.status, answer.doubts, reader.rechecks) == (12, "answered", (), [])


def test_the_unit_of_a_header_and_of_the_next_cell_counts(tmp_path: Path) -> None:
    header = "# Report of the farm\n\n| Animal | Weight (lb) |\n| --- | --- |\n| Calf | 99 |\n"
    beside = (
        "# Report of the farm\n\n| Animal | Weight | Unit |\n| --- | --- | --- |\n"
        "| Calf | 99 | lb |\n"
    )
    for number, text in enumerate((header, beside)):
        (tmp_path / str(number)).mkdir()
        _, wrong = one(
            tmp_path / str(number), text, {"unit": "kg"}, said(99, "99"), said(44.9, "99")
        )
        assert len(wrong.rechecks) == 1
        (tmp_path / f"right{number}").mkdir()
        answer, right = one(tmp_path / f"right{number}", text, {"unit": "kg"}, said(44.9, "99"))
        assert (right.rechecks, answer.status, answer.doubts) == ([], "answered", ())


THOUSANDS = [
    "# Year\n\nRevenue (in thousands): 5,230\n",
    "# Year\n\n(in thousands)\n\n| Item | 2022 |\n| --- | --- |\n| Revenue | 5,230 |\n",
]


@pytest.mark.parametrize("text", THOUSANDS)
@pytest.mark.parametrize(("given", "calls"), [(5230, 1), (5_230_000, 1), (5.23, 0)])
def test_thousands_in_a_column_of_millions(
    tmp_path: Path, text: str, given: float, calls: int
) -> None:
    column = {"currency": "USD", "scale": "millions"}
    answer, reader = one(tmp_path, text, column, said(given, "5,230"), said(5.23, "5,230"))
    assert (len(reader.rechecks), answer.value, answer.status, answer.doubts) == (
        calls,
        5.23,
        "answered",
        (),
    )


@pytest.mark.parametrize(
    ("value", "why", "kind"),
    [
        (7.72, "139 / 18", "number"),
        (7.7, "139 / 18", "number"),
        (434999999.99999994, "4.35 * 100000000", "number"),
        (434999999.99999994, "4.35 * 100000000", "integer"),
    ],
)
def test_a_result_rounded_to_its_digits_is_verified(
    tmp_path: Path, value: float, why: str, kind: str
) -> None:
    text = "# Notes\n\nThe counts are 139 and 18, and 4.35 times 100000000.\n"
    words = ["139", "18"] if "139" in why else ["4.35", "100000000"]
    answer, reader = one(
        tmp_path, text, {"type": kind}, said(value, *words, how="computed", why=why)
    )
    assert (reader.rechecks, answer.status, answer.doubts) == ([], "answered", ())
    assert answer.value == pytest.approx(value)


@pytest.mark.parametrize(("value", "why"), [(7.9, "139 / 18"), (158, "139 + 18")])
def test_a_wrong_result_goes_back(tmp_path: Path, value: float, why: str) -> None:
    text = "# Notes\n\nThe counts are 139 and 18.\n"
    _, reader = one(tmp_path, text, {}, said(value, "139", "18", how="computed", why=why))
    assert len(reader.rechecks) == 1


def test_that_it_was_judged_does_not_carry_another_number_than_the_printed_one(
    tmp_path: Path,
) -> None:
    text = "# Notes\n\nThe fee is 100 euros.\n"
    judged = said(200, "100 euros", how="judged", why="it is")
    _, reader = one(tmp_path, text, {"currency": "EUR"}, judged, said(100, "100 euros"))
    assert len(reader.rechecks) == 1


# rows of a printed grid

GRID = "# Payments of the week\n\n| Name | Amount | City |\n| --- | --- | --- |\n{}\n"
ANN, BOB, CID = "| Ann | 100 | Oslo |", "| Bob | 200 | Ulm |", "| Cid | 50 | Rome |"
PEOPLE = {"name": {"type": "text"}, "amount": {}, "city": {"type": "text"}}


def rows_of(**amounts: float) -> list[Cells]:
    return [
        {"name": said(name, name), "amount": said(amount, f"{amount:g}")}
        for name, amount in amounts.items()
    ]


def listed(path: Path, text: str, reader: Reader, name: str = "document.md") -> Answer:
    with sliders.Workspace(path / "w.db", model=reader.model, embedder=HashEmbedder()) as ws:
        ws.pin_schema(pinned(PEOPLE, "many", ["name"]))
        ws.add_text(text, name)
        return ws.ask("How much is it?")


TOTAL = "SELECT SUM(amount) FROM entries"
OF_ANN = "SELECT amount FROM entries WHERE name = 'Ann'"


@pytest.mark.parametrize("name", ["document.md", "document.csv", "document.html"])
def test_values_of_two_rows_that_changed_places_go_back(tmp_path: Path, name: str) -> None:
    texts = {
        "document.md": GRID.format(f"{ANN}\n{BOB}"),
        "document.csv": "Name,Amount,City\nAnn,100,Oslo\nBob,200,Ulm\n",
        "document.html": (
            "<h1>Payments</h1><table><tr><th>Name</th><th>Amount</th></tr><tr><td>Ann</td><td>100</"
            "td></tr><tr><td>Bob</td><td>200</td></tr></table>"
        ),
    }
    reader = Reader(rows_of(Ann=200, Bob=100), sql=OF_ANN)
    with sliders.Workspace(tmp_path / "w.db", model=reader.model, embedder=HashEmbedder()) as ws:
        ws.pin_schema(pinned(PEOPLE, "many", ["name"]))
        (tmp_path / name).write_text(texts[name], encoding="utf-8")
        ws.add(tmp_path / name)
        answer = ws.ask("How much is it?")
    assert len(reader.rechecks) == 1 and "'Bob'" in reader.rechecks[0]
    assert answer.value == 200 and len(answer.doubts) >= 1, "the reader keeps it, and that is said"


@pytest.mark.parametrize("sql", [OF_ANN, TOTAL])
def test_a_grid_that_was_read_right_costs_nothing(tmp_path: Path, sql: str) -> None:
    grid = GRID.format(f"{ANN}\n{BOB}\n| Total | 300 | |")
    reader = Reader(rows_of(Ann=100, Bob=200), sql=sql)
    answer = listed(tmp_path, grid, reader)
    assert (reader.rechecks, answer.status, answer.doubts) == ([], "answered", ())


@pytest.mark.parametrize(
    "grid",
    [
        # sections
        "| Name | Amount |\n| --- | --- |\n| Ann | |\n| fees | 100 |\n| Bob | |\n| fees | 200 |",
        (
            "| Name | Month | Amount |\n| --- | --- | --- |\n| Ann | May | 10 |\n| | June | 100 |\n"
            "| Bob | May | 20 |\n"
            "| | June | 200 |"
        ),  # merged cells
        # names in the header
        "| | Ann | Bob |\n| --- | --- | --- |\n| Age | 41 | 52 |\n| Amount | 100 | 200 |",
        # several names in one row
        "| Pair | Amount | Amount |\n| --- | --- | --- |\n| Ann and Bob | 100 | 200 |",
        (
            "| Field | Value | Field | Value |\n| --- | --- | --- | --- |\n"
            "| Payer | Ann | Ann pays | 100 |\n"
            "| Payee | Bob | Bob gets | 200 |"
        ),  # a form
    ],
)
def test_a_grid_that_settles_nothing_speaks_against_nothing(tmp_path: Path, grid: str) -> None:
    reader = Reader(rows_of(Ann=100, Bob=200), sql=OF_ANN)
    answer = listed(tmp_path, f"# Payments of the week\n\n{grid}\n", reader)
    assert (reader.rechecks, answer.value, answer.status, answer.doubts) == (
        [],
        100,
        "answered",
        (),
    )


def test_names_that_are_repeated_speak_against_nothing(tmp_path: Path) -> None:
    grid = (
        "| Name | Amount |\n| --- | --- |\n| Ann | 100 |\n| Ann | 300 |\n"
        "| Bob | 200 |\n| Bob | 400 |\n"
    )
    reader = Reader(
        [*rows_of(Ann=300, Bob=400), *rows_of(Ann=100, Bob=200)], sql="SELECT COUNT(*) FROM entries"
    )
    listed(tmp_path, f"# Payments of the week\n\n{grid}\n", reader)
    assert reader.rechecks == []


def test_a_value_under_the_name_of_another_row_goes_back(tmp_path: Path) -> None:
    text = (
        "# Payments of the week\n\n| | Ann | Bob |\n| --- | --- | --- |\n| Age | 41 | 52 |\n"
        "| Amount | 100 | 200 |\n"
    )
    reader = Reader(rows_of(Ann=200, Bob=100), sql=OF_ANN)
    answer = listed(tmp_path, text, reader)
    assert len(reader.rechecks) == 1 and len(answer.doubts) >= 1


def test_a_row_of_a_grid_that_was_left_out_is_asked_for_and_taken(tmp_path: Path) -> None:
    new = {"name": said("Cid", "Cid"), "amount": said(50, "50")}
    reader = Reader(rows_of(Ann=100, Bob=200), new_rows=[new], sql=TOTAL)
    answer = listed(tmp_path, GRID.format(f"{ANN}\n{CID}\n{BOB}\n| Total | 350 | |"), reader)
    assert len(reader.rechecks) == 1 and "Cid" in reader.rechecks[0]
    assert (answer.value, answer.status, answer.doubts) == (350, "answered", ())


def test_a_row_that_stays_left_out_is_a_doubt_of_the_answers_that_it_would_change(
    tmp_path: Path,
) -> None:
    reader = Reader(rows_of(Ann=100, Bob=200), sql=TOTAL)
    answer = listed(tmp_path, GRID.format(f"{ANN}\n{CID}\n{BOB}"), reader)
    assert answer.value == 300 and any("Cid" in doubt.thing for doubt in answer.doubts)
    (tmp_path / "of_ann").mkdir()
    reader = Reader(rows_of(Ann=100, Bob=200), sql=OF_ANN)
    assert listed(tmp_path / "of_ann", GRID.format(f"{ANN}\n{CID}\n{BOB}"), reader).doubts == ()


def test_a_printed_total_that_does_not_fit_its_lines_is_told(tmp_path: Path) -> None:
    reader = Reader(rows_of(Ann=100, Bob=200), sql=TOTAL)
    answer = listed(tmp_path, GRID.format(f"{ANN}\n{BOB}\n| Total | 360 | |"), reader)
    assert len(reader.rechecks) == 1 and "360" in reader.rechecks[0] and "300" in reader.rechecks[0]
    assert answer.value == 300 and any("360" in doubt.thing for doubt in answer.doubts)


# bounds

SAMPLES = "# Samples of the week\n\n{}\n"


def bounded(
    path: Path, printed: str, cell: dict[str, object], sql: str
) -> tuple[Answer, Reader, list[Any]]:
    """The answer over a bounded amount beside one of exactly 10, and the bounds as SQL has them."""
    rows = [
        {"name": said("Ann", "Ann"), "amount": cell},
        {"name": said("Bob", "Bob"), "amount": said(10, "10 litres")},
    ]
    reader = Reader(rows, sql=sql)
    with sliders.Workspace(path / "w.db", model=reader.model, embedder=HashEmbedder()) as ws:
        ws.pin_schema(pinned(PEOPLE, "many", ["name"]))
        ws.add_text(
            SAMPLES.format(f"Ann drank {printed} of water. Bob drank 10 litres of it."),
            "document.md",
        )
        answer = ws.ask("How much is it?")
        frame = ws.tables["entries"]
    return answer, reader, list(frame["amount_bound"]) if "amount_bound" in frame else []


BOUNDS = [
    ("<5 litres", 5, "<"),
    ("below 5 litres", 5, "<"),
    ("between 3 and 5 litres", 4, "between 3 and 5"),
    ("about 5 litres", 5, "about"),
    ("ca. 5 litres", 5, "about"),
    ("at least 5 litres", 5, ">="),
    ("≥ 5 litres", 5, ">="),
    ("up to 5 litres", 5, "<="),
    ("more than 5 litres", 5, ">"),
    ("5 litres or more", 5, ">="),
    ("约5 litres", 5, "about"),
    ("не менее 5 litres", 5, ">="),
    ("mindestens 5 litres", 5, ">="),
]


@pytest.mark.parametrize(("printed", "value", "bound"), BOUNDS)
def test_a_bound_stands_beside_its_number_and_is_told(
    tmp_path: Path, printed: str, value: float, bound: str
) -> None:
    answer, reader, bounds = bounded(tmp_path, printed, said(value, printed), TOTAL)
    assert (answer.value, answer.status, reader.rechecks) == (value + 10, "answered", [])
    assert bound in bounds and len(bounds) == 2
    assert len(answer.doubts) == 1 and bound in answer.doubts[0].thing


@pytest.mark.parametrize("printed", ["5 litres", "exactly 5 litres"])
def test_an_exact_number_has_no_bound(tmp_path: Path, printed: str) -> None:
    answer, reader, bounds = bounded(tmp_path, printed, said(5, printed), TOTAL)
    assert (answer.value, answer.doubts, reader.rechecks, bounds) == (15, (), [], [])


def test_a_bound_that_the_answer_does_not_rest_on_is_not_told(tmp_path: Path) -> None:
    answer, _, _ = bounded(
        tmp_path, "<5 litres", said(5, "<5 litres"), "SELECT amount FROM entries WHERE name = 'Bob'"
    )
    assert (answer.value, answer.doubts) == (10, ())


def test_a_bound_moves_the_range_as_far_as_its_words_allow(tmp_path: Path) -> None:
    answer, _, _ = bounded(tmp_path, "<5 litres", said(5, "<5 litres"), TOTAL)
    assert answer.range is not None and (answer.range.low, answer.range.high) == (10, 15)


def test_a_bound_that_the_reader_names_is_kept(tmp_path: Path) -> None:
    answer, _, bounds = bounded(
        tmp_path, "some 5 litres", said(5, "5 litres", bound="about"), TOTAL
    )
    assert answer.value == 15 and "about" in bounds


def test_a_number_outside_its_printed_range_goes_back(tmp_path: Path) -> None:
    _, reader, _ = bounded(
        tmp_path, "between 3 and 5 litres", said(6, "between 3 and 5 litres"), TOTAL
    )
    assert len(reader.rechecks) == 1


# what is asked again


def test_a_recheck_shows_the_passage_of_the_words_alone(tmp_path: Path) -> None:
    filler = "\n\n".join(
        f"Remark {n} of the clerk on the weather of that day, which was fair." for n in range(30)
    )
    text = f"# Note of the shop\n\n{filler}\n\nThe balance is (412.80).\n\n{filler}\n"
    _, reader = one(
        tmp_path, text, {"currency": "USD"}, said(412.8, "(412.80)"), said(-412.8, "(412.80)")
    )
    [prompt] = reader.rechecks
    assert "The balance is (412.80)." in prompt and prompt.count("Remark") < 20


def test_what_the_reader_calls_doubtful_is_not_asked_again(tmp_path: Path) -> None:
    answer, reader = one(tmp_path, OUTFLOW, SPENT, said(412.8, "(412.80)", sure=False))
    assert reader.rechecks == [] and len(answer.doubts) == 1


# the compact dialect: it cannot be asked with a finding


@pytest.mark.parametrize(("ann", "bob", "doubts"), [(200, 100, 1), (100, 200, 0)])
def test_a_value_of_another_row_is_a_doubt_of_a_small_model(
    tmp_path: Path, ann: float, bob: float, doubts: int
) -> None:
    def reply(request: Request) -> Any:
        if request.choices:
            return request.choices[-1]
        if request.stage == "answer":
            return OF_ANN
        rows = [
            {"name": "Ann", "amount": ann, "city": "Oslo"},
            {"name": "Bob", "amount": bob, "city": "Ulm"},
        ]
        return {"rows": rows} if "rows" in shape_of(request).get("properties", {}) else {}

    with sliders.Workspace(
        tmp_path / "w.db", model=FunctionModel(reply, dialect=COMPACT), embedder=HashEmbedder()
    ) as ws:
        ws.pin_schema(pinned(PEOPLE, "many", ["name"]))
        ws.add_text(GRID.format(f"{ANN}\n{BOB}"), "document.md")
        answer = ws.ask("How much is it?")
    assert (answer.value, min(1, len(answer.doubts))) == (ann, doubts)


def test_a_sign_that_a_small_model_left_out_is_a_doubt(tmp_path: Path) -> None:
    answer, _ = compact(tmp_path, OUTFLOW, 412.8, {"words": "412.80"})
    assert answer.value == 412.8 and len(answer.doubts) == 1


def compact(
    path: Path, text: str, value: object, replies: Mapping[str, Any]
) -> tuple[Answer, list[str]]:
    """The answer over one value that a small model gives, and the changes among the decisions."""

    def reply(request: Request) -> Any:
        if request.choices:
            return request.choices[-1]
        fields = shape_of(request).get("properties", {})
        if request.stage == "answer":
            sql = "SELECT amount FROM entries"
            return {"action": "answer", "sql": sql} if "action" in fields else sql
        if "calculation" in fields:
            return {"calculation": replies.get("calculation", "")}
        words = "copy the exact words" in request.messages[-1].content
        return {name: replies.get("words") if words else value for name in fields}

    with sliders.Workspace(
        path / "w.db", model=FunctionModel(reply, dialect=COMPACT), embedder=HashEmbedder()
    ) as ws:
        ws.pin_schema(pinned({"amount": {"currency": "EUR"}}, "document"))
        ws.add_text(text, "document.md")
        answer = ws.ask("What is the amount?")
        changes = [
            d.reason
            for d in ws.session.catalog.journal.decisions(stage="extract")
            if d.verdict == "changed"
        ]
    return answer, changes


@pytest.mark.parametrize(
    ("text", "value", "replies", "kept"),
    [
        ("The rate is 61,00 € per night.", 6100, {}, 61),
        ("The rate is 4.6 million euros.", 4.6, {"words": "4.6 million euros"}, 4_600_000),
    ],
)
def test_a_value_that_code_takes_from_the_words_is_a_decision_and_a_doubt(
    tmp_path: Path, text: str, value: object, replies: dict[str, Any], kept: float
) -> None:
    answer, changes = compact(tmp_path, f"# Note of the house\n\n{text}\n", value, replies)
    assert answer.value == kept and len(changes) == 1 and str(value) in changes[0]
    assert any(str(value) in doubt.thing for doubt in answer.doubts)


def test_a_value_that_the_words_print_is_no_change(tmp_path: Path) -> None:
    answer, changes = compact(
        tmp_path, "# Note of the house\n\nThe rate is 61,00 € per night.\n", 61, {}
    )
    assert (answer.value, answer.status, answer.doubts, changes) == (61, "answered", (), [])


@pytest.mark.parametrize(
    ("text", "column", "wrong", "right"),
    [
        (
            "Kestrel Ferries\nCosts (all amounts in thousands of euros)\nFuel      1,845\n",
            {"currency": "EUR"},
            said(1845, "1,845"),
            said(1_845_000, "1,845"),
        ),
        (
            "# Survey\n\nSection A runs for 2.4 km.\n",
            {"unit": "m"},
            said(240, "2.4 km", how="computed", why="2.4 * 100"),
            said(2400, "2.4 km", how="computed", why="2.4 * 1000"),
        ),
        (
            "# बैठक\n\nविद्यालय की मरम्मत: साढ़े तीन लाख रुपये\n",
            {"currency": "INR"},
            said(300_000, "साढ़े तीन लाख रुपये"),
            said(350_000, "साढ़े तीन लाख रुपये"),
        ),
    ],
)
def test_a_number_that_lost_what_is_printed_with_it_goes_back(
    tmp_path: Path,
    text: str,
    column: dict[str, str],
    wrong: dict[str, object],
    right: dict[str, object],
) -> None:
    for name, cell in (("wrong", wrong), ("right", right)):
        (tmp_path / name).mkdir()
        answer, reader = one(tmp_path / name, text, column, cell, right)
        assert (answer.value, answer.status, answer.doubts) == (right["value"], "answered", ())
        assert len(reader.rechecks) == (name == "wrong")


def test_an_amount_of_a_contract_is_no_bound_and_words_of_two_cells_are_found(
    tmp_path: Path,
) -> None:
    answer, reader = one(
        tmp_path,
        "# Akte\n\nEin Vertrag über 4000 EUR.\n",
        {"currency": "EUR"},
        said(4000, "über 4000 EUR"),
    )
    assert (answer.value, answer.status, answer.doubts, reader.rechecks) == (
        4000,
        "answered",
        (),
        [],
    )
    (tmp_path / "grid").mkdir()
    text = (
        "# Honoraires\n\n| Nom | Montant | Devise |\n| --- | --- | --- |\n| Berset | 400 | CHF |\n"
    )
    answer, reader = one(tmp_path / "grid", text, {"currency": "CHF"}, said(400, "400 CHF"))
    assert (answer.value, answer.status, answer.doubts, reader.rechecks) == (
        400,
        "answered",
        (),
        [],
    )


def test_the_currency_of_the_next_cell_counts_where_it_is_quoted(tmp_path: Path) -> None:
    text = (
        "# Honoraires\n\n| Nom | Montant | Devise |\n| --- | --- | --- |\n| Berset | 400 | CHF |\n"
    )
    answer, reader = one(tmp_path, text, {"currency": "EUR"}, said(400, "400 CHF"))
    assert (
        len(reader.rechecks) == 1
        and "CHF, the column in EUR" in reader.rechecks[0]
        and answer.doubts
    )
