from __future__ import annotations

import csv
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sliders.audit import check_audit, export_audit, export_csv, export_excel, export_parquet
from sliders.errors import AuditError, StoreError
from sliders.extraction import Absence, Cell, How, Span
from sliders.store import Catalog, Database, Decision, Derivation, lineage_of, words_of_odds
from tests.store.samples import (
    DOCUMENT,
    MERGED,
    TEXT,
    chunks_of,
    document,
    grounded,
    merge,
    rows_of,
    span_of,
)


def verify_audit(path: str | Path) -> list[str]:
    return list(check_audit(path).problems)


@pytest.fixture
def made(filled: Catalog) -> Catalog:
    filled.tables.materialise("orders")
    filled.journal.record(Decision("gate", "chunk", "kept", "holds an order", chunk="doc-1/0"))
    return filled


def test_value_walks_back_to_the_page(made: Catalog) -> None:
    [evidence] = lineage_of(made, "doc-1-r0", "price")
    span = span_of("1,250")
    assert (evidence.value, evidence.printed, evidence.agrees) == (1250, "1,250", True)
    assert evidence.quote == "Northwind bought 12 lamps for 1,250 dollars."
    assert (evidence.document, evidence.start, evidence.end, evidence.page) == (
        "orders.md",
        span.start,
        span.end,
        1,
    )
    assert TEXT[evidence.start : evidence.end] == evidence.printed
    assert {e.column for e in lineage_of(made, "doc-1-r0")} == {"customer", "pieces", "price"}
    assert lineage_of(made, "doc-1-r1", "customer") == []  # ungrounded: it proves nothing
    assert lineage_of(made, "nothing") == []


def test_a_quote_of_a_long_line_is_cut_at_words_and_shows_it(filled: Catalog) -> None:
    long = TEXT.replace("Northwind", f"{'meadow ' * 40}Northwind").replace(
        "dollars.", f"dollars{' upwards' * 40}"
    )
    source = document("doc-2", "long.md", long)
    filled.documents.add(source)
    filled.chunks.save(source.id, chunks_of(source))
    filled.extractions.save(rows_of(source))
    filled.tables.materialise("orders")
    [evidence] = lineage_of(filled, "doc-2-r0", "price")
    words = evidence.quote.split()
    assert words[0] == "…meadow" and words[-1] == "upwards…"
    assert set(words[1:-1]) == {
        "meadow",
        *"Northwind bought 12 lamps for 1,250 dollars upwards".split(),
    }


def test_merged_value_walks_back_to_all_its_sources(made: Catalog) -> None:
    merge(made)
    found = lineage_of(made, "doc-1-r0", "price")
    assert [(e.row_id, e.printed, e.agrees) for e in found] == [
        ("doc-1-r0", "1,250", False),
        ("doc-1-r1", "40", False),
    ]
    assert [(e.row_id, e.agrees) for e in lineage_of(made, "doc-1-r0", "pieces")] == [
        ("doc-1-r0", True)
    ]


def test_audit_database_is_plain_sqlite_with_keys_and_search(made: Catalog, tmp_path: Path) -> None:
    path = export_audit(made, tmp_path / "audit.db")
    plain = sqlite3.connect(path)
    assert plain.execute("SELECT customer, price FROM orders").fetchall() == [
        ("Northwind", 1250.0),
        (None, 40.0),
    ]
    keys = {(row[2], row[3], row[4]) for row in plain.execute("PRAGMA foreign_key_list(orders)")}
    assert keys == {("audit_rows", "row_id", "id"), ("audit_documents", "document_id", "id")}
    assert plain.execute("PRAGMA foreign_key_check").fetchall() == []
    hit = plain.execute(
        """SELECT d.name FROM audit_documents_fts s JOIN audit_documents d ON d.rowid = s.rowid
        WHERE audit_documents_fts MATCH 'lamp'"""
    ).fetchall()
    assert hit == [("orders.md",)]
    quote = plain.execute(
        "SELECT quote FROM audit_evidence WHERE column_name = 'pieces'"
    ).fetchone()
    assert "Northwind bought 12 lamps" in quote[0]
    assert plain.execute("SELECT reason FROM audit_decisions").fetchall() == [("holds an order",)]
    assert (
        plain.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE 'sl\\_%' ESCAPE '\\'"
        ).fetchall()
        == []
    )
    assert plain.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    plain.close()
    assert {p.name for p in tmp_path.iterdir()} - {
        "w0.db",
        "w0.db-wal",
        "w0.db-shm",
        "w0.db.lock",
    } == {"audit.db"}


def test_export_replaces_the_file_but_never_the_workspace(made: Catalog, tmp_path: Path) -> None:
    (tmp_path / "audit.db").write_text("a document")
    with pytest.raises(StoreError, match="no earlier export"):
        export_audit(made, tmp_path / "audit.db")
    (tmp_path / "audit.db").unlink()
    for _ in range(2):
        export_audit(made, tmp_path / "audit.db")
    assert verify_audit(tmp_path / "audit.db") == []
    if made.database.path is not None:
        with pytest.raises(StoreError, match="is the workspace itself"):
            export_audit(made, made.database.path)


def test_sound_exports_verify(made: Catalog, tmp_path: Path) -> None:
    assert verify_audit(export_audit(made, tmp_path / "a.db")) == []
    assert verify_audit(made.database.place) == []
    merge(made, Derivation("price", 1290.0, "sum", "two orders of one customer", "doc-1-r0"))
    assert verify_audit(export_audit(made, tmp_path / "a.db")) == []
    renamed = replace(MERGED, values={**MERGED.values, "customer": "Northwind plc"})
    canonical = Derivation(
        "customer", "Northwind plc", "canonical", "registered name", source_value="Northwind"
    )
    made.tables.create_version("orders", [renamed], operation="canonicalize", derived=[canonical])
    assert verify_audit(export_audit(made, tmp_path / "a.db")) == []


@pytest.mark.parametrize(
    "derivation",
    [
        None,
        Derivation("price", 1290.0, "max", "not the largest", "doc-1-r0"),
        Derivation("price", 1290.0, "sum", "of another row", "doc-1-r1"),
        Derivation("pieces", 1290.0, "sum", "of another column", "doc-1-r0"),
        Derivation("price", 1290.0, "canonical", "of a value that no source has", source_value=7),
    ],
)
def test_value_without_source_is_found(
    made: Catalog, tmp_path: Path, derivation: Derivation | None
) -> None:
    merge(made, *([derivation] if derivation else []))
    problems = verify_audit(export_audit(made, tmp_path / "a.db"))
    assert len(problems) == 1
    assert "row 'doc-1-r0', column 'price'" in problems[0] and "1290.0" in problems[0]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("UPDATE audit_documents SET text = replace(text, '1,250', '9,250')", "the hash differs"),
        (
            "UPDATE audit_documents SET text = replace(text, '1,250', '9,250')",
            "are '9,250', not '1,250'",
        ),
        ("UPDATE audit_cells SET start = start + 1 WHERE printed = '1,250'", "not '1,250'"),
        ("UPDATE audit_cells SET start = NULL WHERE printed = '12'", "has no place in a document"),
        (
            "UPDATE audit_cells SET value = 13 WHERE printed = '12'",
            "12 is the value of none of its sources",
        ),
        (
            "UPDATE orders SET pieces = 120 WHERE pieces = 12",
            "120 is the value of none of its sources",
        ),
        (
            "UPDATE orders SET customer = 'Contoso' WHERE price = 40",
            "'Contoso' is the value of none",
        ),
        ("UPDATE audit_cells SET absence = NULL WHERE absence = 'not stated'", "does not say why"),
        (
            "UPDATE orders SET row_id = 'invented' WHERE price = 40",
            "refers to something that 'audit_rows'",
        ),
        ("DELETE FROM audit_rows WHERE id = 'doc-1-r1'", "refers to something that 'audit_rows'"),
        ("DELETE FROM audit_documents", "refers to something that 'audit_documents'"),
        (
            "UPDATE audit_cells SET how = 'judged', start = NULL WHERE printed = '12'",
            "has no place in a document",
        ),
        (
            "DELETE FROM audit_cells WHERE printed = '1,250'",
            "1250.0 is the value of none of its sources",
        ),
    ],
)
def test_damage_is_found(made: Catalog, tmp_path: Path, damage: str, words: str) -> None:
    path = export_audit(made, tmp_path / "a.db")
    with sqlite3.connect(path) as plain:
        plain.execute(damage)
    plain.close()
    problems = verify_audit(path)
    assert any(words in problem for problem in problems), problems


COMPUTED = replace(
    grounded("pieces", 14, "12"),
    how=How.COMPUTED,
    rationale="12 + 2",
    parts=(span_of("lamps"), span_of("vase")),
)
JUDGED = Cell(
    "paid",
    True,
    how=How.JUDGED,
    odds=(("no", -3.0), ("yes", -0.05)),
    rationale="they were delivered",
)


def read(catalog: Catalog, *cells: Cell) -> Catalog:
    catalog.extractions.save([replace(rows_of(DOCUMENT)[0], cells=cells)])
    catalog.tables.materialise("orders")
    return catalog


def test_computed_and_judged_values_walk_back(filled: Catalog, tmp_path: Path) -> None:
    read(filled, COMPUTED, replace(JUDGED, doubt="near the cut"))
    found = {e.column: e for e in lineage_of(filled, "doc-1-r0")}
    pieces, paid = found["pieces"], found["paid"]
    assert (pieces.how, pieces.rationale, pieces.agrees) == (How.COMPUTED, "12 + 2", True)
    assert pieces.parts == ("Northwind bought 12 lamps for 1,250 dollars.", "Item: vase; Price: 40")
    assert (paid.how, paid.quote, paid.start, paid.doubt, paid.value) == (
        How.JUDGED,
        "",
        -1,
        "near the cut",
        True,
    )
    assert words_of_odds(paid.odds) == "yes 95%, no 5%" and words_of_odds(()) == ""
    checked = check_audit(export_audit(filled, tmp_path / "a.db"))
    assert checked.problems == ()
    assert checked.notes == (
        "table 'orders', column 'paid': 1 judgement of the model without words of the text",
        "table 'orders', column 'paid': 1 unverified value (near the cut)",
    )
    with sqlite3.connect(tmp_path / "a.db") as plain:
        rows = plain.execute(
            "SELECT further_words, how, doubt FROM audit_evidence WHERE row_id = "
            "'doc-1-r0' ORDER BY 2"
        )
        assert rows.fetchall()[:2] == [
            ("lamps ... vase", "computed", None),
            (None, "judged", "near the cut"),
        ]
    plain.close()


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (replace(COMPUTED, value=15), "12 + 2 is 14, not 15"),
        (replace(COMPUTED, parts=(Span("doc-1", 990, 995),)), "the words at 990 to 995 are ''"),
        (replace(JUDGED, odds=(), rationale=""), "has no place in a document"),
        (Cell("paid", True), "has no place in a document"),
        (Cell("paid"), "does not say why"),
        (Cell("paid", True, absence=Absence.NOT_STATED), "says why and is not empty"),
    ],
)
def test_reading_that_does_not_hold_is_found(
    filled: Catalog, tmp_path: Path, cell: Cell, words: str
) -> None:
    problems = verify_audit(export_audit(read(filled, cell), tmp_path / "a.db"))
    assert len(problems) == 1 and words in problems[0]


def test_arithmetic_that_is_marked_or_told_in_words_is_left(
    filled: Catalog, tmp_path: Path
) -> None:
    marked = replace(COMPUTED, value=15, doubt="12 + 2 is 14, the value is 15")
    assert verify_audit(export_audit(read(filled, marked), tmp_path / "a.db")) == []
    told = replace(COMPUTED, value=15, rationale="a dozen and three")
    assert verify_audit(export_audit(read(filled, told), tmp_path / "a.db")) == []


def test_unverified_values_are_shown_only_on_demand(filled: Catalog, tmp_path: Path) -> None:
    said = Cell("paid", True, "indeed", absence=Absence.UNGROUNDED, detail="not in the text")
    read(filled, said)
    assert [e.column for e in lineage_of(filled, "doc-1-r0")] == ["customer", "pieces", "price"]
    filled.tables.materialise("orders", unverified=True)
    shown = lineage_of(filled, "doc-1-r0", "paid")
    assert [(e.value, e.doubt, e.agrees) for e in shown] == [
        (True, "ungrounded: not in the text", True)
    ]
    assert verify_audit(export_audit(filled, tmp_path / "a.db")) == []
    merge(filled, Derivation("price", 1290.0, "sum", "two orders", "doc-1-r0"))
    assert verify_audit(export_audit(filled, tmp_path / "a.db")) == []


def test_damage_in_a_workspace_is_found(made: Catalog) -> None:
    made.database.execute("UPDATE orders__v1 SET price = 41 WHERE price = 40")
    assert any("41.0" in problem for problem in verify_audit(made.database.place))


def test_many_problems_are_counted_not_listed(made: Catalog, tmp_path: Path) -> None:
    many = [
        replace(rows_of(DOCUMENT)[0], id=f"m{n}", cells=(grounded("pieces", 12, "12"),))
        for n in range(80)
    ]
    made.extractions.save(many)
    made.tables.materialise("orders")
    path = export_audit(made, tmp_path / "a.db")
    with sqlite3.connect(path) as plain:
        plain.execute("UPDATE orders SET pieces = 5")
    plain.close()
    problems = verify_audit(path)
    assert len(problems) == 52 and problems[-1] == "... and 32 more of this kind"


def test_other_files_are_not_verified(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE t (a)")
    other.close()
    with pytest.raises(AuditError, match="neither an audit database nor a workspace"):
        verify_audit(tmp_path / "other.db")


def test_tables_as_files(made: Catalog, tmp_path: Path) -> None:
    formula = '=HYPERLINK("http://evil")\x07'
    made.database.execute("UPDATE orders__v1 SET customer = ? WHERE customer IS NULL", (formula,))
    [path] = export_csv(made, tmp_path / "csv")
    with path.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file))[1] == [
            "Northwind",
            "12",
            "1250.0",
            "",
            "orders.md",
            "doc-1",
            "doc-1-r0",
        ]
    openpyxl = pytest.importorskip("openpyxl")
    sheet = openpyxl.load_workbook(export_excel(made, tmp_path / "all.xlsx"))["orders"]
    assert [cell.value for cell in sheet[2]][:3] == ["Northwind", 12, 1250]
    assert (sheet["A3"].value, sheet["A3"].data_type) == ('=HYPERLINK("http://evil")', "s")
    parquet = pytest.importorskip("pyarrow.parquet")
    [file_path] = export_parquet(made, tmp_path / "parquet")
    table = parquet.read_table(file_path)
    assert table.column("price").to_pylist() == [1250.0, 40.0]
    assert str(table.schema.field("pieces").type) == "int64"


WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from dataclasses import replace
from sliders.store import Catalog
from sliders.store import Database
from sliders.store import Decision, Task
from tests.store.samples import DOCUMENT, ORDERS, SCHEMA, chunks_of, fill, rows_of
database = Database(sys.argv[1])
catalog = fill(Catalog(database))
print(database.value("SELECT pg_backend_pid()") if database.on_server else 0, flush=True)
for n in range(100000):
    rows = [replace(row, id=f"{row.id}-{n}-{m}") for m in range(20) for row in rows_of(DOCUMENT)]
    task = Task("orders", ("customer",), "doc-1/0", "done", str(n))
    catalog.extractions.save(rows, [task], [Decision("extract", "chunk", "done", "")])
    if n % 10 == 0:
        catalog.tables.materialise("orders")
"""
SERVED = "SELECT count(*) FROM pg_stat_activity WHERE pid = ?"


def test_killed_at_any_moment_the_workspace_is_whole(places: Callable[[], str | Path]) -> None:
    chance = random.Random(7)
    root = str(Path(__file__).resolve().parents[2])
    for _ in range(3):
        place = places()
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(place), root], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            served_by = int(writer.stdout.readline())
            time.sleep(chance.uniform(0.05, 0.4))
            writer.send_signal(signal.SIGKILL)
        with Database(place) as database:
            # The server may still finish what the writer sent it last.
            while database.on_server and database.value(SERVED, (served_by,)):
                time.sleep(0.01)
            catalog = Catalog(database)
            assert database.on_server or database.value("PRAGMA integrity_check") == "ok"
            steps = len(catalog.journal.decisions(stage="extract"))
            assert catalog.extractions.count("orders") == 2 + 40 * steps
            assert [task.reason for task in catalog.extractions.tasks()] == (
                [str(steps - 1)] if steps else []
            )
            catalog.tables.materialise("orders")
        assert verify_audit(place) == []
