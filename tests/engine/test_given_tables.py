"""Tables that the user gives with their rows: joined with what documents say, never read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from sliders import Workspace
from sliders.cli import run
from sliders.errors import SchemaError, SettingsError
from tests.worlds import Reader, document

OWNERS = (
    "name,owner,since,code\nAnchor,Ada,2020-01-05,007\nBuoy,Bob,2021-12-31,008\nCask,Cid,,009\n"
)
JOINED = (
    "SELECT owners.owner, things.cost FROM things JOIN owners ON owners.name = things.name "
    "ORDER BY things.cost"
)


@pytest.fixture
def owners(tmp_path: Path) -> Path:
    path = tmp_path / "Owners.csv"
    path.write_text(OWNERS, encoding="utf-8")
    return path


def opened(folder: Path, reader: Reader | None = None) -> Workspace:
    ws = Workspace(folder / "w.db", model=(reader or Reader()).model)
    for name, cost in (("Anchor", "120"), ("Buoy", "80")):
        ws.add_text(document(name, cost=cost), name=f"{name}.md")
    return ws


def test_values_have_types_and_codes_keep_their_zeros(tmp_path: Path, owners: Path) -> None:
    with opened(tmp_path) as ws:
        [added] = ws.add_table(owners)
        frame = ws.tables["owners"]
    assert (added.name, added.rows, added.outcome) == ("owners", 3, "new")
    assert list(frame["code"]) == ["007", "008", "009"]
    assert list(frame["since"])[:2] == ["2020-01-05", "2021-12-31"] and pd.isna(frame["since"][2])


def test_it_is_joined_with_what_documents_say(tmp_path: Path, owners: Path) -> None:
    with opened(tmp_path) as ws:
        ws.ask("What is the total cost?")
        ws.add_table(owners)
        assert ws.query(JOINED).to_numpy().tolist() == [["Bob", 80], ["Ada", 120]]


def test_no_model_is_called_for_it_and_its_file_is_no_document(
    tmp_path: Path, owners: Path
) -> None:
    with opened(tmp_path) as ws:
        ws.add_table(owners)
        answer = ws.ask("What is the total cost?")
        alone = ws.usage.calls
        assert answer.value == 200 and answer.status == "answered"
        assert answer.completeness.documents == 2
    (tmp_path / "other").mkdir()
    with opened(tmp_path / "other") as ws:
        ws.ask("What is the total cost?")
        assert alone == ws.usage.calls


def test_a_value_is_cited_as_words_of_its_file(tmp_path: Path, owners: Path) -> None:
    with opened(tmp_path) as ws:
        ws.add_table(owners)
        row = ws.tables["owners"]["row_id"][1]
        told = str(ws.why(row))
        assert "Bob" in told and "Owners.csv" in told
        assert ws.verify() == []


def test_it_may_be_given_again(tmp_path: Path, owners: Path) -> None:
    with opened(tmp_path) as ws:
        ws.add_table(owners)
        assert ws.add_table(owners)[0].outcome == "same"
        owners.write_text(OWNERS.replace("Bob", "Bea"), encoding="utf-8")
        assert ws.add_table(owners)[0].outcome == "changed"
        assert list(ws.tables["owners"]["owner"]) == ["Ada", "Bea", "Cid"]
        ws.add_table(pd.DataFrame({"owner": ["Dan"]}), name="owners")
        assert list(ws.tables["owners"]["owner"]) == ["Dan"]


def test_a_frame_and_the_sheets_of_a_workbook_are_tables(tmp_path: Path) -> None:
    first, second = pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [1.5], "ok": [True]})
    with pd.ExcelWriter(tmp_path / "two.xlsx") as book:
        first.to_excel(book, sheet_name="One", index=False)
        second.to_excel(book, sheet_name="Two", index=False)
    with Workspace(tmp_path / "w.db", model=Reader().model) as ws:
        assert [table.name for table in ws.add_table(tmp_path / "two.xlsx")] == ["one", "two"]
        ws.add_table(first, name="mine")
        assert list(ws.tables["mine"]["a"]) == [1, 2]
        assert ws.tables["two"][["b", "ok"]].to_numpy().tolist() == [[1.5, 1]]
        assert ws.query("SELECT sum(a) AS total FROM mine")["total"][0] == 3


def test_the_file_may_be_a_document_too(tmp_path: Path, owners: Path) -> None:
    with Workspace(tmp_path / "w.db", model=Reader().model) as ws:
        ws.add(owners)
        ws.add_table(owners)
        assert ws.session.catalog.documents.count() == 1
        assert len(ws.tables["owners"]) == 3


def test_what_cannot_be_a_table_is_refused(tmp_path: Path, owners: Path) -> None:
    (tmp_path / "a.txt").write_text("words", encoding="utf-8")
    with opened(tmp_path) as ws:
        ws.ask("What is the total cost?")
        for source, name in ((tmp_path / "a.txt", ""), (tmp_path / "none.csv", "")):
            with pytest.raises(SettingsError):
                ws.add_table(source, name)
        with pytest.raises(SettingsError, match="name"):
            ws.add_table(pd.DataFrame({"a": [1]}))
        with pytest.raises(SettingsError, match="no rows"):
            ws.add_table(pd.DataFrame({"a": []}), name="empty")
        with pytest.raises(SchemaError, match="things"):
            ws.add_table(owners, name="things")


def test_the_command_adds_a_table(tmp_path: Path, owners: Path) -> None:
    place = str(tmp_path / "w.db")
    assert run(["add", "--table", str(owners), "-w", place]) == 0
    assert run(["query", "SELECT owner FROM owners", "-w", place]) == 0
    assert run(["add", "-w", place]) == 2


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-8-sig"])
@pytest.mark.parametrize("head", ["", "sep=;\r\n", "Kosten der Häuser\r\n\r\n"])
def test_a_file_of_a_table_is_read_as_a_document_is(
    tmp_path: Path, encoding: str, head: str
) -> None:
    rows = "Straße;Größe;Kosten\r\nMüllerstraße;12,5;1.234,50\r\nKöln;8;-1.000\r\n"
    path = tmp_path / "Häuser.csv"
    path.write_bytes((head + rows).encode(encoding))
    with opened(tmp_path) as ws:
        [added] = ws.add_table(path, name="houses")
        frame = ws.tables["houses"]
        assert list(frame.iloc[:, 0]) == ["Müllerstraße", "Köln"]
        assert list(frame.iloc[:, 1]) == [12.5, 8] and list(frame.iloc[:, 2]) == [1234.5, -1000]
        assert ws.verify() == []
    assert ("Windows-1252" in str(added)) == (encoding == "cp1252")


def test_numbers_that_may_be_read_two_ways_stay_texts(tmp_path: Path) -> None:
    path = tmp_path / "owners.csv"
    path.write_text("name;a;b;c\nx;1,234;1.2.3;01,5\ny;5,678;2.0.1;2,5\n", encoding="utf-8")
    with opened(tmp_path) as ws:
        ws.add_table(path)
        frame = ws.tables["owners"]
    assert [list(frame[name]) for name in "abc"] == [
        ["1,234", "5,678"],
        ["1.2.3", "2.0.1"],
        ["01,5", "2,5"],
    ]


def test_a_column_without_a_name_and_rows_that_are_too_wide(tmp_path: Path) -> None:
    path = tmp_path / "owners.csv"
    path.write_text(",cost\nAnchor,5\nBuoy,6\n", encoding="utf-8")
    with opened(tmp_path) as ws:
        ws.add_table(path)
        assert list(ws.tables["owners"]["cost"]) == [5, 6]
        path.write_text("name,cost\nAnchor,5,\nBuoy,6,7\n", encoding="utf-8")
        with pytest.raises(SettingsError, match="row 2 has 3 values, the header 2"):
            ws.add_table(path)
