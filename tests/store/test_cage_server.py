"""The cage on PostgreSQL: attacks are refused by the server, with the parser
out of the way as well.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from postgres import new_place

from sliders.errors import StoreError, UnsafeStatement
from sliders.sql import Limits
from sliders.store import Catalog, Database, run_readonly

from .samples import fill
from .test_guard import READS, WRITES

COUNT = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) "
SERVER = [
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_read_binary_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    "SELECT * FROM pg_stat_file('/etc/passwd')",
    "COPY orders TO '/tmp/stolen'",
    "COPY orders FROM PROGRAM 'id'",
    "COPY (SELECT 1) TO STDOUT",
    "SELECT * FROM dblink('host=localhost', 'SELECT 1') AS t(x int)",
    "SELECT set_config('role', 'postgres', false)",
    "SELECT set_config('statement_timeout', '0', false), price FROM orders",
    "SELECT set_config('transaction_read_only', 'off', true)",
    "SELECT pg_sleep(60)",
    "SELECT price FROM orders WHERE pg_sleep(60) IS NULL",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_export(1, '/tmp/stolen')",
    "SELECT lo_create(1)",
    "SELECT lo_get(1)",
    "SELECT query_to_xml('SELECT * FROM sl_documents', true, true, '')",
    "SELECT table_to_xml('sl_documents', true, true, '')",
    "SELECT database_to_xml(true, true, '')",
    "SELECT pg_terminate_backend(1)",
    "SELECT pg_cancel_backend(pg_backend_pid())",
    "SELECT pg_reload_conf()",
    "SELECT pg_advisory_lock(1)",
    "SELECT nextval('sl_documents_key_seq')",
    "SELECT setval('sl_documents_key_seq', 1)",
    "SELECT pg_export_snapshot()",
    "SELECT current_setting('data_directory')",
    "SELECT version()",
    "SELECT inet_server_addr()",
    "SELECT pg_get_viewdef('orders'::regclass)",
    "SELECT has_table_privilege('orders', 'SELECT')",
    "SELECT repeat('a', 1000000000)",
    "SELECT lpad('a', 1000000000, 'b')",
    "SELECT count(*) FROM generate_series(1, 100000000000)",
    "SELECT * FROM pg_authid",
    "SELECT * FROM pg_roles",
    "SELECT * FROM pg_stat_activity",
    "SELECT * FROM pg_settings",
    "SELECT * FROM pg_catalog.pg_class",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM pg_largeobject",
    "SELECT * FROM {other}.orders",
    "SELECT * FROM {other}.sl_documents",
    "SELECT price FROM orders UNION ALL SELECT price FROM {other}.orders",
    "TABLE sl_documents",
    "SELECT * FROM orders FOR UPDATE",
    "SELECT * INTO mine FROM orders",
    "DO $$ BEGIN PERFORM 1; END $$",
    "CALL something()",
    "SET ROLE postgres",
    "RESET ROLE",
    "SET SESSION AUTHORIZATION DEFAULT",
    "SHOW data_directory",
    "LISTEN x",
    "NOTIFY x",
    "LOCK TABLE orders__v1",
    "GRANT ALL ON sl_documents TO PUBLIC",
    "ALTER ROLE postgres PASSWORD 'x'",
    "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE EXTENSION dblink",
    "EXPLAIN ANALYZE DELETE FROM orders__v1",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "SELECT 1; DROP TABLE orders__v1",
    "SELECT 1) AS found; DROP TABLE orders__v1; --",
    "SELECT 1) AS found, pg_sleep(60), EXISTS (SELECT 1",
    "WITH x AS (DELETE FROM orders__v1 RETURNING *) SELECT * FROM x",
    COUNT + "SELECT max(x) FROM t",
    COUNT + "SELECT count(*) FROM t AS a, t AS b",
]
ATTACKS = [*WRITES, *READS, *SERVER]
SMALL = Limits(seconds=1)


@pytest.fixture(scope="module")
def other() -> Iterator[Database]:
    """Another workspace of the same server, with a table of the same name."""
    with Database(new_place()) as database:
        fill(Catalog(database)).tables.materialise("orders")
        yield database


@pytest.fixture(scope="module")
def caged() -> Iterator[Catalog]:
    with Database(new_place()) as database:
        catalog = fill(Catalog(database))
        catalog.tables.materialise("orders")
        database.execute("CREATE TABLE secret__v1 (word TEXT)")
        database.execute("CREATE VIEW secret AS SELECT word FROM secret__v1")
        yield catalog


def test_there_are_enough_attacks() -> None:
    assert len(SERVER) == len(set(SERVER)) >= 60


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("parse", [True, False], ids=["both walls", "server alone"])
def test_attack_is_refused(caged: Catalog, other: Database, attack: str, parse: bool) -> None:
    schema = other.name.rsplit("=", 1)[-1]
    before, objects = caged.database.query("SELECT * FROM orders__v1"), caged.database.names()
    started = time.monotonic()
    with pytest.raises(StoreError):
        run_readonly(
            caged.database,
            attack.replace("{other}", schema),
            tables=["orders"],
            limits=SMALL,
            parse=parse,
        )
    assert time.monotonic() - started < 30
    assert (caged.database.query("SELECT * FROM orders__v1"), caged.database.names()) == (
        before,
        objects,
    )


@pytest.mark.parametrize(
    "attack",
    [
        "SELECT set_config('role', 'postgres', false)",
        "SELECT pg_sleep(60)",
        "SELECT query_to_xml('SELECT * FROM sl_documents', true, true, '')",
        "SELECT * FROM sl_documents",
        "SELECT * FROM pg_roles",
        "SELECT lo_get(1)",
    ],
)
def test_refused_on_purpose(caged: Catalog, attack: str) -> None:
    with pytest.raises(UnsafeStatement, match=r"may not (call|read)"):
        run_readonly(caged.database, attack, tables=["orders"], limits=SMALL, parse=False)


def test_role_of_the_cage_reads_nothing_but_data_tables(caged: Catalog, other: Database) -> None:
    engine = caged.database.engine
    database = caged.database
    reader = engine.reader  # type: ignore[attr-defined]
    schema = other.name.rsplit("=", 1)[-1]
    for table in ("sl_documents", "orders__v1", "secret", f"{schema}.orders", f"{schema}.sl_calls"):
        with pytest.raises(StoreError, match="permission denied"), database.transaction():
            database.execute(f"SET LOCAL ROLE {reader}")
            database.query(f"SELECT * FROM {table}")
    with database.transaction():
        database.execute(f"SET LOCAL ROLE {reader}")
        assert len(database.query("SELECT * FROM orders")) == 2
        database.execute("RESET ROLE")


def test_two_workspaces_of_a_server_do_not_see_each_other(caged: Catalog, other: Database) -> None:
    assert "secret" in caged.database.names() and "secret" not in other.names()
    other.execute("UPDATE sl_documents SET title = 'Mine'")
    assert caged.documents.get("doc-1").title == "Orders"


DOUBLED = (
    "WITH RECURSIVE g(n, s) AS (SELECT 1, CAST('ab' AS TEXT) UNION ALL SELECT n + 1, s || s FROM g "
    "WHERE n < {times}) SELECT {what} FROM g"
)


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        (DOUBLED.format(times=27, what="MAX(LENGTH(s))"), "too long"),
        (DOUBLED.format(times=17, what="LENGTH(s || s || s || s)"), "too long"),
        (
            "SELECT price FROM orders WHERE customer || CAST(current_user AS TEXT) = 'x'",
            "type name",
        ),
        ("SELECT current_schema()", "type name"),
        ("SELECT TOTAL(price, price) FROM orders", "does not exist"),
        ("SELECT STDEV_POP() FROM orders", "does not exist"),
        ("SELECT MODE() FROM orders", "one value"),
        ("SELECT", "no columns|does not parse"),
        ("SELECT '\ud800'", "half a character"),
    ],
)
def test_what_would_grow_or_tell_of_the_server_is_an_error_in_words(
    caged: Catalog, sql: str, why: str
) -> None:
    with pytest.raises(StoreError, match=why) as refused:
        run_readonly(caged.database, sql, tables=["orders"])
    str(refused.value).encode()


def test_a_statement_is_stopped_at_its_memory(caged: Catalog) -> None:
    grown = f"{COUNT}SELECT LENGTH(GROUP_CONCAT(CAST(x AS TEXT) || '{'a' * 900}')) FROM t"
    with pytest.raises(UnsafeStatement, match="more than 30 MB of memory"):
        run_readonly(
            caged.database, grown, tables=["orders"], limits=Limits(memory_bytes=30_000_000)
        )


def test_texts_are_joined_and_numbers_rounded_at_every_level(caged: Catalog) -> None:
    found = run_readonly(
        caged.database,
        "SELECT customer || '-' || pieces || '!' AS told, ROUND(ROUND(price, 2), 1) FROM orders "
        "WHERE price > 100",
        tables=["orders"],
    )
    assert found.rows == (("Northwind-12!", 1250.0),)
