"""The cage: attacks are refused by the engine, with the parser out of the way as well."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sliders.errors import StoreError, UnsafeStatement
from sliders.sql import Limits, Rights, Sandbox, SandboxError, check_statement
from sliders.store import Catalog, Database, run_readonly

from .samples import fill

SMALL = Limits(seconds=0.2, memory_bytes=200_000_000)
COUNT = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) "

WRITES = [
    "DELETE FROM orders__v1",
    "UPDATE orders__v1 SET price = 0",
    "INSERT INTO orders__v1 (row_id) VALUES ('x')",
    "REPLACE INTO orders__v1 (row_id) VALUES ('x')",
    "INSERT INTO orders DEFAULT VALUES",
    "DELETE FROM orders RETURNING *",
    "WITH x AS (SELECT 1) DELETE FROM orders__v1",
    "WITH x AS (SELECT 1) UPDATE orders__v1 SET price = 1",
    "WITH x AS (SELECT 1) INSERT INTO orders__v1 (price) SELECT * FROM x",
    "DROP TABLE orders__v1",
    "DROP VIEW orders",
    "CREATE TABLE mine (x)",
    "CREATE TEMP TABLE mine AS SELECT 1",
    "CREATE TABLE mine AS SELECT * FROM orders",
    "CREATE VIEW mine AS SELECT 1",
    "CREATE TEMP VIEW orders2 AS SELECT * FROM sl_documents",
    "CREATE INDEX mine ON orders__v1(price)",
    "CREATE TRIGGER mine AFTER INSERT ON orders__v1 BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE mine USING fts5(x)",
    "CREATE VIRTUAL TABLE mine USING dbstat",
    "ALTER TABLE orders__v1 RENAME TO gone",
    "ALTER TABLE orders__v1 ADD COLUMN x",
    "REINDEX",
    "ANALYZE",
    "VACUUM",
    "VACUUM INTO '{folder}/stolen.db'",
    "BEGIN",
    "BEGIN EXCLUSIVE",
    "SAVEPOINT s",
    "INSERT INTO sl_chunk_search(sl_chunk_search) VALUES ('delete-all')",
    "INSERT INTO sl_chunk_search(sl_chunk_search, rank) VALUES ('rank', 'bm25(10)')",
]
ESCAPES = [
    "ATTACH '{folder}/stolen.db' AS other",
    "ATTACH ':memory:' AS other",
    "DETACH main",
    "PRAGMA writable_schema = ON",
    "PRAGMA query_only = OFF",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA table_info(orders)",
    "PRAGMA database_list",
    "PRAGMA temp_store_directory = '{folder}'",
    "SELECT load_extension('evil')",
    "SELECT load_extension('evil', 'init') FROM orders",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('{folder}/x', 'y')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT fts5(NULL)",
    "SELECT sqlite_version()",
    "SELECT sqlite_compileoption_get(1)",
    "SELECT zeroblob(1000)",
    "SELECT randomblob(1000)",
    "SELECT last_insert_rowid()",
    "SELECT sources_union('a', NULL)",
]
READS = [
    "SELECT * FROM sqlite_master",
    "SELECT sql FROM sqlite_schema",
    "SELECT * FROM sqlite_temp_master",
    "SELECT 1 FROM sqlite_master",
    "SELECT count(*) FROM sl_documents",
    "SELECT text FROM sl_documents",
    "SELECT * FROM sl_calls",
    "SELECT * FROM sl_chunk_search WHERE sl_chunk_search MATCH 'lamps'",
    "SELECT * FROM sl_chunk_search_data",
    "SELECT * FROM sl_chunk_search_content",
    "SELECT * FROM sl_chunk_text",
    "SELECT * FROM cell_absence",
    "SELECT * FROM secret",
    "SELECT * FROM main.secret",
    'SELECT * FROM "SECRET"',
    "SELECT * FROM secret__v1",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM secret)",
    "SELECT (SELECT text FROM sl_documents) FROM orders",
    "SELECT * FROM orders UNION ALL SELECT 1, 2, 3, 4, text, 6, 7 FROM sl_documents",
    "SELECT * FROM orders ORDER BY (SELECT text FROM sl_documents)",
    "SELECT * FROM orders LIMIT (SELECT count(*) FROM sl_calls)",
    "SELECT d.text FROM orders JOIN sl_documents d ON d.id = document_id",
    "SELECT count(*) OVER (ORDER BY (SELECT max(text) FROM sl_documents)) FROM orders",
    # A subquery named like a permitted view passes for that view in the authorizer's last argument.
    "WITH orders AS (SELECT text FROM sl_documents) SELECT * FROM orders",
    "SELECT * FROM (SELECT text FROM sl_documents) AS orders",
    "WITH orders AS (SELECT name FROM sqlite_master) SELECT * FROM orders",
    "SELECT * FROM pragma_table_info('orders')",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM json_each('[1, 2]')",
    "SELECT * FROM json_tree('[1, 2]')",
    "SELECT * FROM dbstat",
    "SELECT * FROM sqlite_stmt",
]
BOMBS = [
    COUNT + "SELECT max(x) FROM t",
    COUNT + "SELECT count(*) FROM t AS a, t AS b",
    COUNT + "SELECT sum(a.x) FROM t a JOIN t b ON a.x = b.x",
    COUNT + "SELECT group_concat(x) FROM t",
    COUNT + "SELECT x FROM t ORDER BY x DESC",
    COUNT
    + (
        "SELECT substr(hex(x) || replace(hex(x), '3', hex(hex(hex(hex(x))))), 1) AS y "
        "FROM t ORDER BY y"
    ),
    "WITH RECURSIVE t(x) AS (SELECT 1 UNION SELECT x + 1 FROM t) SELECT count(*) FROM t",
    (
        "WITH RECURSIVE t(s) AS (SELECT 'abcdefgh' UNION ALL SELECT s || s FROM t) SELECT "
        "max(length(s)) FROM t"
    ),
    COUNT + "SELECT median(x) FROM t",
    COUNT + "SELECT mode(x) FROM t",
    COUNT + "SELECT json_group_array(x) FROM t",
    "SELECT printf('%.*c', 1000000000, 'a')",
    "SELECT printf('%1000000000d', 1)",
    "SELECT format('%.1000000000f', 1)",
    "SELECT trim(replace(hex(1), '1', '1'), {long})",
    "SELECT char({numbers})",
    "SELECT " + "(" * 2_000 + "1" + ")" * 2_000,
    "SELECT " + "+".join(["1"] * 5_000),
    " UNION ALL ".join(["SELECT 1"] * 600),
    "SELECT " + ", ".join(f"{n} AS c{n}" for n in range(600)),
    "SELECT 1 WHERE '" + "a" * 300 + "' LIKE '" + "%a" * 300 + "'",
    "SELECT ?1",
]
OTHER = [
    "",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE orders__v1",
    "SELECT * FROM orders; --\nDELETE FROM orders",
]
ATTACKS = [*WRITES, *ESCAPES, *READS, *BOMBS, *OTHER]


@pytest.fixture(scope="module")
def caged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    with Database(tmp_path_factory.mktemp("cage") / "work.db") as database:
        catalog = fill(Catalog(database))
        catalog.tables.materialise("orders")
        database.execute("CREATE TABLE secret__v1 (word TEXT)")
        database.execute("INSERT INTO secret__v1 VALUES ('hidden')")
        database.execute("CREATE VIEW secret AS SELECT word FROM secret__v1")
        yield catalog


def prepared(attack: str, folder: Path) -> str:
    return (
        attack.replace("{folder}", str(folder))
        .replace("{long}", "'" + "ab" * 150 + "'")
        .replace("{numbers}", ", ".join(["65"] * 150))
    )


def test_there_are_enough_attacks() -> None:
    assert len(ATTACKS) == len(set(ATTACKS)) >= 60


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("parse", [True, False], ids=["both walls", "engine alone"])
def test_attack_is_refused(caged: Catalog, attack: str, parse: bool) -> None:
    folder = caged.database.path.parent
    before = caged.database.query("SELECT * FROM orders__v1")
    objects = caged.database.query("SELECT name, sql FROM sqlite_master")
    started = time.monotonic()
    with pytest.raises(StoreError) as caught:
        run_readonly(
            caged.database, prepared(attack, folder), tables=["orders"], limits=SMALL, parse=parse
        )
    assert time.monotonic() - started < 10
    if attack not in BOMBS:  # refused on purpose, not by a slip of the attacker's pen
        assert isinstance(caught.value, UnsafeStatement) or "no such" in str(caught.value)
    assert caged.database.query("SELECT * FROM orders__v1") == before
    assert caged.database.query("SELECT name, sql FROM sqlite_master") == objects
    assert {path.name for path in folder.iterdir()} <= {
        "work.db",
        "work.db-wal",
        "work.db-shm",
        "work.db.lock",
    }


@pytest.mark.parametrize("attack", [*WRITES, *ESCAPES, *READS])
def test_parser_alone_refuses_what_is_not_a_plain_select(caged: Catalog, attack: str) -> None:
    # What it lets pass must be a SELECT over the permitted table: functions are the engine's part.
    try:
        checked = check_statement(attack, frozenset({"orders"}))
    except UnsafeStatement:
        return
    assert attack in ESCAPES
    assert attack.upper().startswith("SELECT") and checked.tables <= {"orders"}


def test_subqueries_that_double_are_refused_before_the_engine_copies_them() -> None:
    levels = ["c0 AS (SELECT 1 AS a)"]
    levels += [f"c{n} AS (SELECT x.a FROM c{n - 1} x, c{n - 1} y)" for n in range(1, 30)]
    with pytest.raises(UnsafeStatement, match="too many times over"):
        check_statement(f"WITH {', '.join(levels)} SELECT a FROM c29", frozenset())
    nested = "SELECT 1 AS a"
    for level in range(30):
        nested = f"WITH n{level} AS ({nested}) SELECT x.a FROM n{level} x, n{level} y"
    with pytest.raises(UnsafeStatement):
        check_statement(nested, frozenset())


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT customer, price FROM orders WHERE price > 100", [("Northwind", 1250.0)]),
        ("SELECT count(*) FROM orders", [(2,)]),
        ("select COUNT(*) from ORDERS", [(2,)]),
        ('SELECT sum("price") FROM "orders" AS o', [(1290.0,)]),
        ("WITH big AS (SELECT * FROM orders WHERE price > 100) SELECT count(*) FROM big", [(1,)]),
        ("WITH big AS MATERIALIZED (SELECT * FROM orders) SELECT 7 FROM big", [(7,), (7,)]),
        (
            (
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) "
                "SELECT sum(i) FROM n"
            ),
            [(15,)],
        ),
        ("SELECT customer FROM orders WHERE customer LIKE 'north%'", [("Northwind",)]),
        (
            "SELECT median(price), percentile(price, 0), stdev_pop(price) FROM orders",
            [(645.0, 40.0, 605.0)],
        ),
        ("SELECT mode(paid), variance(price), stdev(pieces) FROM orders", [(1, 732050.0, None)]),
        ("SELECT printf('%.2f|%5d|%s|%%', 1005, 42, 'é')", [("1005.00|   42|é|%",)]),
        ("SELECT format('%,d|%05.1f|%-4s|', 1234567, 2.25, 'ab')", [("1,234,567|002.3|ab  |",)]),
        ("SELECT trim('xxaxx', 'x'), rtrim('a..', '.'), trim('  a ')", [("a", "a", "a")]),
        (
            "SELECT rank() OVER (ORDER BY price DESC), price FROM orders ORDER BY price",
            [(2, 40.0), (1, 1250.0)],
        ),
        ("SELECT a.price + b.price FROM orders a, orders b WHERE a.row_id < b.row_id", [(1290.0,)]),
        (
            "SELECT strftime('%Y', '2022-03-04'), coalesce(NULL, 2), 7 % 4, 'a' || 'b'",
            [("2022", 2, 3, "ab")],
        ),
        ("SELECT CASE WHEN paid THEN 'yes' END FROM orders WHERE paid", [("yes",)]),
        ("SELECT price FROM orders UNION SELECT 1 ORDER BY 1", [(1,), (40.0,), (1250.0,)]),
        ("SELECT customer FROM main.orders WHERE customer IS NOT NULL", [("Northwind",)]),
    ],
)
def test_plain_analysis_runs(caged: Catalog, sql: str, rows: list[tuple[object, ...]]) -> None:
    result = run_readonly(caged.database, sql, tables=["orders"])
    assert list(result.rows) == rows
    assert not result.truncated


def test_result_is_cut_at_the_limit_of_rows(caged: Catalog) -> None:
    sql = COUNT + "SELECT x FROM t"
    result = run_readonly(caged.database, sql, tables=[], limits=Limits(rows=3))
    assert result.rows == ((1,), (2,), (3,))
    assert result.truncated
    exact = run_readonly(
        caged.database, "SELECT * FROM orders", tables=["orders"], limits=Limits(rows=2)
    )
    assert not exact.truncated


def test_result_is_cut_at_the_limit_of_bytes(caged: Catalog) -> None:
    sql = COUNT + "SELECT hex(hex(hex(hex(hex(hex(hex('abcdefgh'))))))) FROM t"
    result = run_readonly(caged.database, sql, tables=[], limits=Limits(result_bytes=100_000))
    assert result.truncated
    assert 50_000 < sum(len(row[0]) for row in result.rows) <= 100_000


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT * FORM orders", "line 1, col"),
        ("SELECT * FROM order", "did you mean 'orders'"),
        ("SELECT * FROM secret", "'secret' may not be read"),
        ("SELECT * FROM nowhere", "does not exist"),
        ("SELECT price FROM orders; SELECT 1", "one SELECT"),
        ("DROP TABLE orders", "DROP is not allowed"),
        ("SELECT amount FROM orders", "no such column: amount"),
        ("SELECT median(customer) FROM orders", "median() needs numbers, got 'Northwind'"),
        ("SELECT load_extension('x')", "may not call load_extension()"),
        ("SELECT 'abc", "does not parse"),
        (COUNT + "SELECT max(x) FROM t", "longer than 0.2 s"),
    ],
)
def test_error_says_what_is_wrong(caged: Catalog, sql: str, words: str) -> None:
    with pytest.raises(StoreError) as caught:
        run_readonly(caged.database, sql, tables=["orders"], limits=SMALL)
    assert words.casefold() in str(caught.value).casefold()


def test_hidden_table_is_seen_once_it_is_permitted(caged: Catalog) -> None:
    assert run_readonly(caged.database, "SELECT * FROM secret", tables=["secret"]).rows[0] == (
        "hidden",
    )
    absences = run_readonly(
        caged.database, "SELECT why FROM cell_absence ORDER BY why", tables=["cell_absence"]
    )
    assert absences.rows == (("not asked",), ("not stated",), ("ungrounded",))


def test_cell_text_cannot_become_sql(caged: Catalog) -> None:
    caged.database.execute("INSERT INTO secret__v1 VALUES (?)", ("'; DROP TABLE secret__v1; --",))
    result = run_readonly(
        caged.database, "SELECT word FROM secret WHERE word LIKE '%DROP%'", tables=["secret"]
    )
    assert result.rows == (("'; DROP TABLE secret__v1; --",),)


def _levels(levels: int, times: int) -> str:
    """Inner queries each of which names the column of the next one so many times."""
    sql = "SELECT price AS x FROM orders"
    for _ in range(levels):
        sql = f"SELECT {'+'.join(['x'] * times)} AS x FROM ({sql}) AS t"
    return sql


def _shadowed(levels: int) -> str:
    """Named subqueries that hide the one of the same name outside, three times a level."""
    sql = "WITH c AS (SELECT price AS x FROM orders) SELECT x FROM c"
    for _ in range(levels):
        sql = f"WITH c AS ({sql}) SELECT a.x FROM c AS a, c AS b, c AS d"
    return sql


@pytest.mark.parametrize("sql", [_levels(8, 10), _shadowed(12)], ids=["columns", "names"])
def test_what_the_engine_would_write_out_is_bounded(caged: Catalog, sql: str) -> None:
    with pytest.raises(UnsafeStatement, match="flatter"):
        run_readonly(caged.database, sql, tables=["orders"])


DEAF = [
    "SELECT "
    + " + ".join(
        f"instr(hex(zeroblob(70000)) || '{n}', hex(zeroblob(60000)) || 'x')" for n in range(60)
    ),
    COUNT + "SELECT mode(x) FROM t",
    COUNT + "SELECT stdev(x) FROM t",
    _levels(8, 10),
    _shadowed(12),
]


@pytest.mark.parametrize("sql", DEAF, ids=lambda sql: sql[:60])
def test_the_child_is_ended_where_the_engine_does_not_listen(sql: str) -> None:
    rights, limits = Rights(functions=None), Limits(seconds=1.0, memory_bytes=200_000_000)
    with Sandbox(analysts=True) as sandbox:
        sandbox.add("orders", {"price": "REAL"}, [(1.0,)])
        started = time.monotonic()
        with pytest.raises(StoreError):
            sandbox.select(sql, rights, limits)
        took = time.monotonic() - started
    assert took < 10 * limits.seconds
    with Sandbox() as sandbox:
        assert sandbox.execute("SELECT 1") == [(1,)], "the next one works"


def test_nothing_more_can_be_asked_of_a_sandbox_whose_child_was_ended() -> None:
    deaf = "SELECT " + " + ".join(f"instr(a || '{n}', b)" for n in range(90)) + " FROM texts"
    with Sandbox(analysts=True) as sandbox:
        sandbox.add("texts", {"a": "", "b": ""}, [("ab" * 80_000, "ab" * 60_000 + "x")])
        with pytest.raises(UnsafeStatement, match=r"longer than|memory"):
            sandbox.select(deaf, Rights(), Limits(seconds=0.2))
        with pytest.raises(SandboxError, match="gone"):
            sandbox.execute("SELECT 1")


def test_a_quoted_name_that_is_no_column_is_an_error(filled: Catalog) -> None:
    filled.tables.materialise("orders")
    with pytest.raises(StoreError, match="csot"):
        run_readonly(filled.database, 'SELECT SUM("csot") FROM orders', tables=["orders"])
    found = run_readonly(
        filled.database,
        'SELECT SUM("price") AS "a total" FROM orders ORDER BY "a total"',
        tables=["orders"],
    )
    assert (found.columns, found.rows) == (("a total",), ((1290.0,),))


def test_the_error_of_a_quoted_name_says_how_a_text_is_written(caged: Catalog) -> None:
    with pytest.raises(StoreError, match="no column 'Ann'; a text stands in single quotes"):
        run_readonly(
            caged.database, 'SELECT price FROM orders WHERE customer = "Ann"', tables=["orders"]
        )


@pytest.mark.parametrize("kind", ["regclass", "regrole", "regnamespace", "oid", "xid", "name"])
def test_casts_to_names_of_the_server_are_refused(filled: Catalog, kind: str) -> None:
    filled.tables.materialise("orders")
    with pytest.raises(UnsafeStatement, match="not allowed"):
        run_readonly(filled.database, f"SELECT CAST('x' AS {kind}) FROM orders", tables=["orders"])
