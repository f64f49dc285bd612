from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.errors import StoreError
from sliders.extraction import Absence, Cell, Grounding, How, Row, Span
from sliders.llm import Call
from sliders.schema import Column, Schema, Table
from sliders.store import (
    Catalog,
    Correction,
    Database,
    Decision,
    Reliability,
    SqlAttempt,
    Task,
    codec,
)
from sliders.values import ColumnType

from .samples import (
    DOCUMENT,
    ORDERS,
    SCHEMA,
    TEXT,
    chunks_of,
    document,
    fill,
    grounded,
    rows_of,
    span_of,
)


def test_everything_comes_back_after_reopening(place: str | Path) -> None:
    with Database(place) as database:
        fill(Catalog(database))
    with Database(place, write=False) as database:
        catalog = Catalog(database)
        assert catalog.documents.get("doc-1") == DOCUMENT
        assert catalog.chunks.of("doc-1") == chunks_of(DOCUMENT)
        assert catalog.schemas.current() == SCHEMA
        assert catalog.extractions.rows("orders") == rows_of(DOCUMENT)


def test_same_content_is_one_document_and_changed_content_a_new_version(catalog: Catalog) -> None:
    assert catalog.documents.add(document("d1", "a.md")).outcome == "new"
    assert catalog.documents.add(document("d1", "copy.md"), lambda _: True).outcome == "same"
    changed = catalog.documents.add(document("d2", "a.md", TEXT + "More.\n"))
    assert (changed.outcome, changed.replaced) == ("changed", "d1")
    assert [(d.id, d.version) for d in catalog.documents.all()] == [("d2", 2)]
    assert [(d.id, d.superseded_by) for d in catalog.documents.all(superseded=True)] == [
        ("d1", "d2"),
        ("d2", ""),
    ]
    back = catalog.documents.add(document("d1", "a.md"))
    assert (back.outcome, back.replaced) == ("changed", "d2")
    assert [(d.id, d.name, d.version, d.characters) for d in catalog.documents.all()] == [
        ("d1", "a.md", 3, len(TEXT))
    ]


def test_rows_of_a_superseded_document_leave_the_table(filled: Catalog) -> None:
    filled.documents.add(document("doc-2", "orders.md", TEXT + "More.\n"))
    assert filled.extractions.rows("orders") == []
    assert filled.extractions.count("orders") == 0
    assert len(filled.extractions.rows("orders", superseded=True)) == 2
    assert filled.chunks.all() == []


def test_places_and_outlines_are_those_of_the_chunks_of_current_documents(filled: Catalog) -> None:
    assert filled.documents.count() == 1
    assert filled.chunks.places() == [("doc-1/0", "doc-1"), ("doc-1/1", "doc-1")]
    assert filled.chunks.outlines() == [
        ("doc-1/0", ("Orders",), frozenset({"paragraph"})),
        ("doc-1/1", (), frozenset({"table", "caption"})),
    ]
    filled.documents.add(document("doc-2", "orders.md", TEXT + "More.\n"))
    assert (filled.documents.count(), filled.chunks.places(), filled.chunks.outlines()) == (
        1,
        [],
        [],
    )


def test_tasks_of_another_definition_are_not_mixed_with_those_of_the_schema(
    filled: Catalog,
) -> None:
    task = Task("orders", ("pieces",), "doc-1/0")
    other = replace(SCHEMA.table("orders"), row="something else")
    filled.extractions.save([], [task])
    filled.extractions.save([], [replace(task, chunk_id="doc-1/1")], schema={"orders": other})
    assert not filled.extractions.settled(SCHEMA.table("orders"))["doc-1/1"]
    assert not filled.extractions.settled(other)["doc-1/0"]
    assert "pieces" in filled.extractions.settled(other)["doc-1/1"]


def test_an_undone_transaction_leaves_no_key_of_work_behind(filled: Catalog) -> None:
    task = Task("orders", ("price",), "doc-1/0")
    with pytest.raises(ZeroDivisionError), filled.database.transaction():
        filled.extractions.save([], [task])
        raise ZeroDivisionError
    filled.extractions.save([], [task])
    assert "price" in filled.extractions.settled(SCHEMA.table("orders"))["doc-1/0"]


def test_cutting_a_document_anew_replaces_its_chunks(filled: Catalog) -> None:
    whole = replace(chunks_of(DOCUMENT)[0], id="whole", end=len(TEXT), text=TEXT)
    filled.chunks.save("doc-1", [whole])
    assert filled.chunks.of("doc-1") == [whole]
    assert filled.extractions.rows("orders") == []  # they were read from chunks that are gone
    assert (
        filled.chunks.find("doc-1/0").text == chunks_of(DOCUMENT)[0].text
    )  # but lineage still finds them
    assert {hit.chunk_id for hit in filled.chunks.search("lamps")} == {"whole"}
    filled.chunks.save("doc-1", chunks_of(DOCUMENT))
    assert filled.extractions.rows("orders") == rows_of(DOCUMENT)


CHINESE = "截至年末，公司共有员工6402人。"
JAPANESE = "従業員数は6402人です。"


def with_eastern(catalog: Catalog) -> Catalog:
    """The catalog with a document whose chunks are in Chinese and Japanese."""
    text = CHINESE + JAPANESE
    plain = replace(DOCUMENT, id="east", name="east.txt", text=text, elements=(), pages=())
    catalog.documents.add(plain)
    cuts = (("zh", 0, len(CHINESE)), ("ja", len(CHINESE), len(text)))
    whole = replace(chunks_of(DOCUMENT)[0], document_id="east")
    catalog.chunks.save(
        "east",
        [
            replace(whole, id=name, position=number, start=start, end=end, text=text[start:end])
            for number, (name, start, end) in enumerate(cuts)
        ],
    )
    return catalog


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("员工", ["zh"]),
        ("公司有多少员工？", ["zh"]),
        ("従業員", ["ja"]),
        ("工员", []),
        ("6402", ["zh", "ja"]),
    ],
)
def test_words_of_scripts_without_blanks_are_found(
    catalog: Catalog, words: str, found: list[str]
) -> None:
    eastern = with_eastern(catalog)
    assert sorted(hit.chunk_id for hit in eastern.chunks.search(words)) == sorted(found)
    eastern.chunks.save("east", [])
    assert eastern.chunks.search(words) == []


def test_workspaces_of_earlier_layouts_find_words_without_blanks_too(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    with Database(path) as database:
        eastern = with_eastern(Catalog(database))
        database.execute("INSERT INTO sl_chunk_search(sl_chunk_search) VALUES('rebuild')")
        assert eastern.chunks.search("员工") == []
        database.execute("PRAGMA user_version=10")
    with Database(path) as database:
        eastern = Catalog(database)
        assert [hit.chunk_id for hit in eastern.chunks.search("员工")] == ["zh"]
        eastern.chunks.save("east", [])
        assert eastern.chunks.search("员工") == []


def test_a_word_with_a_hyphen_is_found_without_it(catalog: Catalog) -> None:
    text = "The longterm loans and the e-mail of the firm."
    catalog.documents.add(replace(DOCUMENT, text=text, elements=(), pages=()))
    chunk = replace(chunks_of(DOCUMENT)[0], id="whole", start=0, end=len(text), text=text)
    catalog.chunks.save(DOCUMENT.id, [chunk])
    for words in ("long-term", "e-mail"):
        assert [hit.chunk_id for hit in catalog.chunks.search(words)] == ["whole"]
    assert catalog.chunks.search("short-term") == []


def test_search_takes_words_not_syntax(filled: Catalog) -> None:
    assert [hit.chunk_id for hit in filled.chunks.search("lamp")] == ["doc-1/0"]  # stemmed
    assert [hit.chunk_id for hit in filled.chunks.search('VASE" OR (NEAR* ^-')] == ["doc-1/1"]
    assert filled.chunks.search("lamps", document_ids=["other"]) == []
    assert filled.chunks.search("?!") == []
    assert len(filled.chunks.search("vase northwind", limit=1)) == 1


def test_chunk_text_is_stored_once(tmp_path: Path) -> None:
    text = "".join(f"word{n} " for n in range(40_000))
    with Database(tmp_path / "w.db") as database:
        catalog = Catalog(database)
        big = replace(document("big", "big.txt"), text=text, elements=(), pages=())
        catalog.documents.add(big)
        plain = chunks_of(DOCUMENT)[0]
        size = len(text) // 20
        catalog.chunks.save(
            "big",
            [
                replace(
                    plain,
                    id=f"c{n}",
                    document_id="big",
                    position=n,
                    start=n * size,
                    end=(n + 1) * size,
                    text=text[n * size : (n + 1) * size],
                )
                for n in range(20)
            ],
        )
        tables = "('sl_documents', 'sl_chunks', 'sl_chunk_search_content')"
        stored = database.value(f"SELECT sum(pgsize) FROM dbstat WHERE name IN {tables}")
        assert stored < 1.2 * len(text)


def test_schema_versions(catalog: Catalog) -> None:
    assert catalog.schemas.current() is None
    assert catalog.schemas.save(SCHEMA, "first") == 1
    assert catalog.schemas.save(SCHEMA, "same again") == 1
    wider = Schema(
        (
            replace(
                ORDERS,
                columns=(*ORDERS.columns, Column("colour", ColumnType.CATEGORY, values=("red",))),
            ),
        )
    )
    assert catalog.schemas.save(wider, "a later question") == 2
    assert catalog.schemas.current() == wider
    assert catalog.schemas.relation("orders").columns[-1].sql_type == "TEXT"
    catalog.schemas.save(Schema(()), "emptied")
    assert catalog.schemas.relations() == []
    with pytest.raises(StoreError, match="its tables are: orders"):
        catalog.schemas.relation("order")


def test_new_cells_join_the_row_and_the_old_ones_stay(filled: Catalog) -> None:
    row = rows_of(DOCUMENT)[0]
    filled.extractions.save(
        [replace(row, cells=(grounded("paid", True, "bought"), grounded("pieces", 13, "12")))]
    )
    found = filled.extractions.get([row.id])[row.id]
    assert {cell.column: cell.value for cell in found.cells} == {
        "customer": "Northwind",
        "pieces": 13,
        "price": 1250,
        "paid": True,
    }


def test_rows_tasks_and_decisions_are_one_transaction(catalog: Catalog) -> None:
    catalog.documents.add(DOCUMENT)
    catalog.chunks.save("doc-1", chunks_of(DOCUMENT))
    catalog.schemas.save(SCHEMA)
    bad = replace(rows_of(DOCUMENT)[1], cells=(Cell("nowhere", 1, "1", Grounding.EXACT),))
    tasks = [Task("orders", ("customer",), "doc-1/0")]
    with pytest.raises(StoreError, match="column 'nowhere'"):
        catalog.extractions.save(
            [rows_of(DOCUMENT)[0], bad],
            tasks,
            [Decision("extract", "chunk", "done", "", chunk="doc-1/0")],
        )
    assert catalog.extractions.rows("orders") == []
    assert catalog.extractions.settled(ORDERS) == {}
    assert catalog.journal.decisions() == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"table": "x"}, "table 'x'"),
        ({"document_id": "x"}, "document 'x'"),
        ({"chunk_id": "x"}, "chunk 'x'"),
    ],
)
def test_row_of_unknown_origin_is_refused(
    filled: Catalog, change: dict[str, str], words: str
) -> None:
    with pytest.raises(StoreError, match=words):
        filled.extractions.save([replace(rows_of(DOCUMENT)[0], id="new", **change)])


def test_row_id_of_another_chunk_is_refused(filled: Catalog) -> None:
    with pytest.raises(StoreError, match="row ids must be unique"):
        filled.extractions.save([replace(rows_of(DOCUMENT)[0], chunk_id="doc-1/1")])


def test_settled_work_is_not_asked_again(filled: Catalog) -> None:
    both = ("customer", "pieces")
    filled.extractions.save(
        [], [Task("orders", both, "doc-1/0"), Task("orders", both, "doc-1/1", "failed", "time-out")]
    )
    filled.extractions.save([], [Task("orders", ("price",), "doc-1/0", "gated", "no price")])
    assert filled.extractions.settled(ORDERS) == {
        "doc-1/0": frozenset({"customer", "pieces", "price"})
    }
    assert [(t.chunk_id, t.reason) for t in filled.extractions.tasks(state="failed")] == [
        ("doc-1/1", "time-out")
    ]
    filled.extractions.save([], [Task("orders", both, "doc-1/1")])
    assert filled.extractions.tasks(state="failed") == []
    # Another meaning of a column is another question; the other columns stay settled.
    columns = tuple(
        replace(c, description="the buyer") if c.name == "customer" else c for c in ORDERS.columns
    )
    assert filled.extractions.settled(replace(ORDERS, columns=columns))["doc-1/0"] == {
        "pieces",
        "price",
    }


def test_every_empty_cell_says_why(filled: Catalog) -> None:
    said = Cell("customer", "Contoso", absence=Absence.UNGROUNDED)
    filled.extractions.save([replace(rows_of(DOCUMENT)[1], cells=(said,))])
    assert filled.database.query(
        "SELECT column_name, why, how, said FROM cell_absence ORDER BY 1"
    ) == [
        ("customer", "ungrounded", "stated", "Contoso"),
        ("paid", "not stated", "stated", None),
        ("pieces", "not asked", "stated", None),
    ]


JUDGED = Cell("paid", True, how=How.JUDGED, odds=(("yes", -0.25), ("no", -1.5)), model="double")


def judged(filled: Catalog) -> dict[str, Cell]:
    cells = {row.id: replace(JUDGED, value=n == 0) for n, row in enumerate(rows_of(DOCUMENT))}
    filled.extractions.save([replace(row, cells=(cells[row.id],)) for row in rows_of(DOCUMENT)])
    return cells


def test_cells_keep_how_they_were_read(filled: Catalog) -> None:
    filled.documents.add(document("doc-2", "other.md"))
    parts = (span_of("lamps"), Span("doc-2", 0, 6, None))
    computed = replace(
        grounded("pieces", 14, "12"), how=How.COMPUTED, rationale="12 + 2", parts=parts, doubt="odd"
    )
    filled.extractions.save([replace(rows_of(DOCUMENT)[0], cells=(computed, JUDGED))])
    row = filled.extractions.rows("orders")[0]
    assert (row.cell("pieces"), row.cell("paid")) == (computed, JUDGED)


def test_judged_values_are_cut_anew_and_the_rest_stays(filled: Catalog) -> None:
    old = judged(filled)
    new = {
        row: replace(cell, value=False, doubt="" if cell.value else "near the cut")
        for row, cell in old.items()
    }
    first = filled.tables.materialise("orders")
    assert filled.extractions.recalibrate("orders", "paid", new, "cut at 1.2") == 1
    assert {id: row.cell("paid") for id, row in filled.extractions.get(list(new)).items()} == new
    assert filled.extractions.get(["doc-1-r0"])["doc-1-r0"].cell("pieces") == grounded(
        "pieces", 12, "12"
    )
    assert filled.tables.materialise("orders").version == first.version + 1
    [decision] = filled.journal.decisions(kind="column", table="orders", column="paid")
    assert decision.reason == "cut at 1.2; 1 of 2 values changed, before: false 1, true 1"
    assert filled.extractions.recalibrate("orders", "paid", new, "cut at 1.2") == 0
    assert len(filled.journal.decisions(verdict="calibrated")) == 1
    with pytest.raises(
        StoreError, match="row 'nobody' of table 'orders' has no value in column 'paid'"
    ):
        filled.extractions.recalibrate("orders", "paid", {**old, "nobody": JUDGED}, "cut at 2")
    assert filled.extractions.get(["doc-1-r0"])["doc-1-r0"].cell("paid") == new["doc-1-r0"]


def test_values_are_counted_by_what_they_rest_on(filled: Catalog) -> None:
    assert filled.extractions.reliability("orders") == Reliability(values=5, ungrounded=1)
    cells = judged(filled)
    filled.extractions.recalibrate(
        "orders", "paid", {k: replace(c, doubt="near the cut") for k, c in cells.items()}, "x"
    )
    unparsed = Cell("pieces", "a few", "a few", absence=Absence.NOT_PARSED)
    filled.extractions.save([replace(rows_of(DOCUMENT)[0], cells=(unparsed,))])
    paid = filled.extractions.reliability("orders", ["paid"])
    assert paid == Reliability(values=2, judged=2, unverified=2)
    assert paid + filled.extractions.reliability("orders", ["pieces"]) == Reliability(
        2, 0, 2, 2, 0, 1
    )
    assert filled.extractions.reliability("nothing") == Reliability()
    assert filled.extractions.documents_with_rows("orders") == {"doc-1"}


def test_schemas_of_earlier_versions_are_read() -> None:
    text = """{"tables":[{"name":"t","row":"","description":"","grain":"many","key":["c"],\
"pinned":false,"columns":[
        {"name":"c","type":"enum","enum_values":["a","b"],"examples":["a"],"percent_range":true,\
"date_format":"x"}]}]}"""
    column = Column("c", ColumnType.CATEGORY, values=("a", "b"))
    assert codec.decode_schema(text) == Schema((Table("t", (column,), key=("c",)),))


def test_what_changes_a_reading_is_asked_again() -> None:
    column, table = Column("c", ColumnType.NUMBER), Table("t", ())
    asked = codec.column_hash(table, column)
    same = replace(column, required=True, additive=True, pinned=True)
    assert (
        codec.column_hash(
            replace(table, description="x", key=("c",), documents="x", pinned=True), same
        )
        == asked
    )
    others = [
        {"name": "d"},
        {"type": ColumnType.INTEGER},
        {"description": "x"},
        {"unit": "m"},
        {"scale": "millions"},
        {"currency": "EUR"},
        {"values": ("a",)},
        {"reading": "judged"},
    ]
    tables = [{"name": "u"}, {"row": "one t"}, {"grain": "document"}]
    hashes = {codec.column_hash(table, replace(column, **change)) for change in others}  # type: ignore[arg-type]
    hashes |= {codec.column_hash(replace(table, **change), column) for change in tables}  # type: ignore[arg-type]
    assert len(hashes | {asked}) == len(others) + len(tables) + 1


_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False)
    | st.text(alphabet=st.characters(exclude_categories=["Cs"]))
)


@given(_SCALARS)
def test_scalar_survives_sqlite(value: str | int | float | bool | None) -> None:
    stored, kind = codec.encode_scalar(value)
    found = codec.decode_scalar(stored, kind)
    assert found == value and type(found) is type(value)


def test_odd_values_survive_the_workspace(filled: Catalog) -> None:
    values = [True, False, 2**70, -(2**63), math.inf, 0.1, "", "1", "é\n🚀", 0]
    rows = [
        Row(
            f"odd{n}",
            "orders",
            "doc-1",
            "doc-1/0",
            n,
            (replace(grounded("customer", "x", "12"), value=value),),
        )
        for n, value in enumerate(values)
    ]
    filled.extractions.save(rows)
    found = filled.extractions.get([row.id for row in rows])
    assert [found[row.id].cells[0].value for row in rows] == values
    assert [type(found[row.id].cells[0].value) for row in rows] == [type(value) for value in values]


def test_names_of_every_kind_become_sql_names(catalog: Catalog) -> None:
    names = [
        "1st half",
        'say "hi"',
        "🚀",
        "Orders",
        "orders",
        "sl_rows",
        "sqlite_x",
        "a__v1",
        "select",
        "audit_x",
        "cell_absence",
        "json_each",
        "a\x00b\nc",
        "",
        "x" * 500,
    ]
    names = [
        name.replace("\x00", "") if catalog.database.on_server else name for name in names
    ]  # it keeps no NUL
    columns = ["rowid", "Name", "name", "document", "row_id", "_sources", "group", 'q"', "", "🚀"]
    catalog.documents.add(DOCUMENT)
    catalog.chunks.save("doc-1", chunks_of(DOCUMENT))
    catalog.schemas.save(
        Schema(tuple(Table(name, tuple(Column(c) for c in columns)) for name in names))
    )
    for number, name in enumerate(names):
        cells = tuple(grounded(column, f"{number}-{column}", "Northwind") for column in columns)
        catalog.extractions.save([Row(f"n{number}", name, "doc-1", "doc-1/0", 0, cells)])
        catalog.tables.materialise(name)
    relations = [catalog.schemas.relation(name) for name in names]
    assert len({relation.relation.lower() for relation in relations}) == len(names)
    assert [relation.relation for relation in relations][:4] == [
        "1st half",
        'say "hi"',
        "🚀",
        "Orders",
    ]
    for number, relation in enumerate(relations):
        quoted = relation.relation.replace('"', '""')
        row = catalog.database.one(f'SELECT * FROM "{quoted}"')
        assert row == (
            *(f"{number}-{column}" for column in columns),
            "orders.md",
            "doc-1",
            f"n{number}",
        )


def call(**changes: object) -> Call:
    plain = Call(
        "id-1",
        "key-1",
        "extract",
        "double",
        "hash",
        '[{"role": "user"}]',
        "reply",
        {"rows": [1]},
        "stop",
        True,
        (-0.5, -1.0),
        prompt_tokens=100,
        completion_tokens=20,
        seconds=1.5,
        cost=0.25,
        calls=1,
        created=1_700_000_000.0,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_calls_are_kept_and_found(catalog: Catalog) -> None:
    failed = call(key="key-2", id="id-2", error="TruncatedReply: cut", finish_reason="error")
    cached = call(cached=True, seconds=0.0, cost=0.0, calls=0, prompt_tokens=0, completion_tokens=0)
    run = catalog.journal.start_run("ask", "why?")
    for one in (call(), failed, cached):
        catalog.calls.record(one)
    assert catalog.calls.lookup("key-1") == call().response()
    assert catalog.calls.lookup("key-2") is None and catalog.calls.lookup("key-3") is None
    assert catalog.database.query(
        "SELECT run, count(*), count(prompt) FROM sl_calls GROUP BY run"
    ) == [(run, 3, 2)]
    usage = catalog.calls.usage()["extract"]
    assert (usage.calls, usage.cached_calls, usage.prompt_tokens, usage.cost) == (2, 1, 200, 0.5)


def test_a_run_that_was_killed_is_stopped_when_the_next_one_starts(catalog: Catalog) -> None:
    killed = catalog.journal.start_run("ask", "who?")
    beside = catalog.for_run().journal.start_run("ask", "when?")  # of the same process: it goes on
    assert {r.id: r.status for r in catalog.journal.runs()} == {
        killed: "running",
        beside: "running",
    }
    run = Catalog(catalog.database).journal.start_run("ask", "why?")  # as in the next process
    told = (
        "running" if catalog.database.on_server else "stopped"
    )  # on a server another process may be at it
    assert {r.id: r.status for r in catalog.journal.runs()} == {
        killed: told,
        beside: told,
        run: "running",
    }


def test_journal_tells_what_happened(catalog: Catalog) -> None:
    run = catalog.journal.start_run("ask", "which?", {"model": "double"})
    catalog.journal.record(Decision("gate", "chunk", "dropped", "no Table in it", 12, chunk="c1"))
    catalog.journal.record(
        [
            Decision("plan", "rows", "kept", "wanted", table="orders", rows=("r2", "r1")),
            Decision("gate", "chunk", "kept", "", chunk="c2"),
        ]
    )
    catalog.journal.record_attempt(SqlAttempt("answer", "which?", "SELECT 1", "ok", rows=1))
    assert [known.status for known in catalog.journal.runs()] == ["running"]
    catalog.journal.finish_run(run, "done", {"value": 3})
    catalog.journal.record(Decision("later", "question", "noted", ""))
    [found] = catalog.journal.runs()
    assert (found.status, found.question, found.settings, found.outcome) == (
        "done",
        "which?",
        {"model": "double"},
        {"value": 3},
    )
    assert [d.chunk for d in catalog.journal.decisions(stage="gate", run=run)] == ["c1", "c2"]
    assert [d.tokens for d in catalog.journal.decisions(kind="chunk")] == [12, 0]
    assert [d.verdict for d in catalog.journal.decisions(chunk="c2")] == ["kept"]
    [named] = catalog.journal.decisions(row="r1")
    assert (named.table, named.rows, named.chunk) == ("orders", ("r1", "r2"), "")
    assert catalog.journal.decisions(row="r") == []
    assert [d.run for d in catalog.journal.decisions(stage="later")] == [None]
    assert catalog.database.query("SELECT run, sql FROM sl_sql_attempts") == [(run, "SELECT 1")]


def test_knowledge_is_kept(catalog: Catalog) -> None:
    vectors = {
        "d1": np.array([0.5, -1.5], dtype=np.float32),
        "d2": np.ones((3, 2), dtype=np.float32),
    }
    catalog.knowledge.save_vectors("document", "mini", vectors)
    found = catalog.knowledge.vectors("document", "mini")
    assert found["d1"].tolist() == [[0.5, -1.5]] and found["d2"].shape == (3, 2)
    assert catalog.knowledge.vectors("segment", "mini") == {}
    places = np.array([[0, 9, 2], [10, 30, 5]])
    catalog.knowledge.save_vectors("segments:64", "mini", {"d2": vectors["d2"]}, {"d2": places})
    [(_, kept_places)] = catalog.knowledge.segments("segments:64", "mini").values()
    assert kept_places.tolist() == places.tolist()
    number = catalog.knowledge.correct(
        Correction("set_value", "orders", {"customer": "A"}, "paid", True, "me", "seen")
    )
    kept = catalog.knowledge.corrections("orders")
    assert [(c.id, c.value, c.subject, c.author) for c in kept] == [
        (number, True, {"customer": "A"}, "me")
    ]
    catalog.knowledge.revoke(number)
    assert catalog.knowledge.corrections() == []
    with pytest.raises(StoreError, match="no correction"):
        catalog.knowledge.revoke(number)
