"""Statements over a small table, on either engine: kinds with their sizes."""

# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.attack.tries import Try
from sliders.documents import Document, Element, Page
from sliders.extraction import Cell, Grounding, Row, Span
from sliders.retrieval import Chunk, ChunkContext
from sliders.schema import Column, Schema, Table
from sliders.sql import Limits
from sliders.store import Catalog, Database, run_readonly
from sliders.values import ColumnType

ROWS = 40
_ENDLESS = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) "


def _grown(times: int) -> str:
    """A text that doubles itself."""
    return (
        "WITH RECURSIVE g(n, s) AS (SELECT 1, CAST('ab' AS TEXT) UNION ALL SELECT n + 1, s || s "
        f"FROM g WHERE n < {times}), l AS (SELECT s FROM g ORDER BY n DESC LIMIT 1) "
    )


def _nested(times: int, level: Callable[[str], str], core: str) -> str:
    for _ in range(times):
        core = level(core)
    return core


def _doubling(times: int) -> str:
    named = ", ".join(
        f"c{i} AS (SELECT a.x FROM c{i - 1} AS a, c{i - 1} AS b)" for i in range(1, times)
    )
    return (
        f"WITH c0 AS (SELECT 1 AS x UNION ALL SELECT 2), {named} SELECT count(*) FROM c{times - 1}"
    )


def _shadowed(times: int) -> str:
    inner = _nested(
        times, lambda core: f"WITH t AS ({core}) SELECT a.x FROM t AS a, t AS b", "SELECT 1 AS x"
    )
    return f"SELECT count(*) FROM ({inner}) AS q"


def _sums(times: int, sign: str = "+") -> str:
    body = sign.join(["x"] * 10)
    return _nested(
        times,
        lambda core: f"SELECT {body} AS x FROM ({core}) AS q",
        "SELECT pieces AS x FROM offers",
    )


def _endless(what: str) -> Callable[[int], str]:
    return lambda n: f"{_ENDLESS}SELECT {what} FROM t WHERE x <> -{n}"


def _long(what: str, doublings: int = 17) -> Callable[[int], str]:
    """An expression over a text of 128 KB, many times over."""
    return lambda n: (
        f"{_grown(doublings)}SELECT {' + '.join(what.format(i=i) for i in range(n))} FROM l"
    )


def _cubed(n: int) -> str:
    columns = ", ".join(f"a{i}.pieces" for i in range(n))
    return f"SELECT count(*) FROM {', '.join(f'offers AS a{i}' for i in range(n))} GROUP BY CUBE ({columns})"


def _hashes(n: int) -> str:
    some = "SELECT DISTINCT x % 900000 AS x FROM t WHERE x > {i}"
    parts = " UNION ALL ".join(
        f"SELECT * FROM ({some.format(i=i)} LIMIT 800000) AS q{i}" for i in range(n)
    )
    return f"{_ENDLESS}SELECT count(*) FROM ({parts}) AS q"


BOUNDED: dict[str, tuple[Callable[[int], str], tuple[int, ...]]] = {
    "doubling names": (_doubling, (5, 12, 20, 40)),
    "shadowed names": (_shadowed, (6, 14, 20, 30)),
    "sums of sums": (_sums, (3, 8, 12, 30)),
    "texts of texts": (lambda n: _sums(n, " || "), (4, 8, 12)),
    "endless rows": (_endless("x"), (1, 2)),
    "endless count": (_endless("count(*)"), (1, 2)),
    "endless sort": (lambda n: f"{_ENDLESS}SELECT x FROM t ORDER BY x % {n}", (3, 7)),
    "endless distinct": (_endless("count(DISTINCT x)"), (1, 2)),
    "endless statistics": (_endless("stdev(x), median(x), percentile(x, 5)"), (1, 2)),
    "endless mode": (_endless("mode(x)"), (1, 2)),
    "endless text": (_endless("group_concat(x)"), (1, 2)),
    "endless groups": (lambda n: f"{_ENDLESS}SELECT x, count(*) FROM t GROUP BY x + {n}", (1, 2)),
    "endless window": (_endless("sum(x) OVER (ORDER BY x)"), (1, 2)),
    "wide frame": (
        lambda n: f"{_ENDLESS}SELECT min(x) OVER (ORDER BY x ROWS {n} PRECEDING) FROM t",
        (9_000, 90_000),
    ),
    "text that doubles": (lambda n: f"{_grown(n)}SELECT length(s) FROM l", (20, 26, 29, 40)),
    "many doubling texts": (
        lambda n: f"{_grown(26)}SELECT {' || '.join(['s'] * n)} FROM l",
        (2, 8, 30),
    ),
    "texts of long texts": (
        lambda n: (
            f"{_grown(17)}SELECT length(group_concat(s)) FROM l, offers AS a, offers AS b, "
            f"offers AS c WHERE a.pieces < {n}"
        ),
        (5, 20, 40),
    ),
    "replaced by itself": (
        lambda n: f"{_grown(n)}SELECT length(replace(replace(s, 'a', s), 'b', s)) FROM l",
        (10, 13, 17),
    ),
    "searched in": (_long("instr(s, substr(s, 2) || '{i}')"), (10, 40, 90)),
    "alike": (_long("(s LIKE '%a%b%a%b%a%b%c{i}%')", 14), (10, 60)),
    "globbed": (_long("(s GLOB '*a*b*a*b*a*c{i}*')", 14), (10, 60)),
    "upper and lower": (_long("length(upper(lower(upper(s || '{i}'))))"), (50, 200)),
    "trimmed": (_long("length(trim(s, substr(s, {i} + 1, 60000)))", 16), (2, 20)),
    "every with every": (
        lambda n: f"SELECT count(*) FROM {', '.join(f'offers AS a{i}' for i in range(n))}",
        (5, 8, 30, 70),
    ),
    "large result": (
        lambda n: f"{_grown(n)}SELECT s, a.*, b.* FROM l, offers AS a, offers AS b, offers AS c",
        (10, 14, 17),
    ),
    "inner questions": (
        lambda n: _nested(
            n, lambda core: f"SELECT max(pieces) FROM offers WHERE pieces >= ({core})", "SELECT 1"
        ),
        (5, 60, 400),
    ),
    "questions of each row": (
        lambda n: (
            "SELECT count(*) FROM offers AS a0 WHERE "
            + "".join(
                f"EXISTS (SELECT 1 FROM offers AS a{i} WHERE a{i}.pieces > -a{i - 1}.pieces AND "
                for i in range(1, n)
            )
            + f"a{n - 1}.pieces < 0"
            + ")" * (n - 1)
        ),
        (4, 6, 8),
    ),
    "parentheses": (lambda n: f"SELECT {'(' * n}1{')' * n}", (200, 10_000, 24_000)),
    "negations": (lambda n: f"SELECT {'NOT ' * n}1", (300, 9_000)),
    "signs": (lambda n: f"SELECT {'- ' * n}1", (300, 20_000)),
    "long chain": (lambda n: f"SELECT 1 WHERE {' OR '.join(['1 = 0'] * n)}", (500, 5_000)),
    "long sum": (lambda n: f"SELECT 1{'+1' * n}", (900, 20_000)),
    "cases": (lambda n: f"SELECT {'CASE WHEN 1 = 1 THEN ' * n}1{' END' * n}", (90, 1_500)),
    "unions": (lambda n: " UNION ".join(f"SELECT {i}" for i in range(n)), (60, 900)),
    "many columns": (
        lambda n: f"SELECT {', '.join(f'{i} AS c{i}' for i in range(n))}",
        (600, 4_000),
    ),
    "long list": (
        lambda n: f"SELECT count(*) FROM offers WHERE pieces IN ({', '.join(map(str, range(n)))})",
        (900, 8_000),
    ),
    "cubes": (_cubed, (3, 8, 12)),
    "many hashes": (_hashes, (2, 8, 16)),
    "large numbers": (
        lambda n: f"SELECT {'power(' * n}9.9{', 9.9)' * n}, CAST('9e{n}000' AS NUMERIC) * 7",
        (2, 9, 90),
    ),
    "wide format": (lambda n: f"SELECT length(printf('%{n}d', 1))", (1_001, 200_000_000)),
    "objects": (
        lambda n: _nested(n, lambda core: f"json_array({core}, {core})", "'a'").join(
            ["SELECT ", ""]
        ),
        (6, 10),
    ),
    "wide text": (lambda n: f"SELECT to_char(pieces, '{'9' * n}') FROM offers", (100, 20_000)),
}
"""Statements that ask for much: by kind, how they are made and the sizes."""

REFUSED: dict[str, tuple[str, ...]] = {
    "casts to names": tuple(
        f"SELECT CAST({value} AS {kind}) FROM offers"
        for kind in ("regclass", "regrole", "regnamespace", "regtype", "oid", "name", "xid")
        for value in ("pieces", "'sl_documents'")
    ),
    "catalogs": tuple(
        f"SELECT * FROM {name}"
        for name in (
            "pg_class pg_roles pg_namespace pg_authid pg_stat_activity pg_settings pg_type sl_documents "
            "information_schema.tables pg_catalog.pg_class sqlite_master sqlite_schema sl_calls "
            "pragma_table_info sl_chunks dbstat"
        ).split()
    ),
    "functions": tuple(
        f"SELECT {call}"
        for call in (
            "pg_read_file('x')|pg_sleep(60)|set_config('role', 'x', false)|current_setting('port')|"
            "version()|repeat('a', 1000000000)|lpad('a', 1000000000, 'b')|zeroblob(900000000)|"
            "randomblob(900000000)|load_extension('x')|readfile('x')|sqlite_version()|lo_get(1)|"
            "current_user|session_user|current_schema()|pg_backend_pid()|txid_current()|"
            "query_to_xml('SELECT 1', true, true, '')|inet_server_addr()|regexp_replace('a', 'a', 'b')"
        ).split("|")
    ),
    "quoted names": tuple(
        statement.format(name=name)
        for name in ('"csot"', '"lamp 1"', '"Price "', 'offers."x"')
        for statement in (
            "SELECT SUM({name}) FROM offers",
            "SELECT name FROM offers WHERE {name} = name",
            "SELECT name FROM offers ORDER BY {name}",
            "SELECT count(*) FROM offers GROUP BY {name}",
        )
    ),
    "changes": (
        "DELETE FROM offers",
        "UPDATE offers SET price = 0",
        "DROP TABLE offers",
        "VACUUM",
        "BEGIN",
        "WITH x AS (SELECT 1) DELETE FROM offers",
        "SELECT 1 INTO mine",
        "ATTACH 'x' AS y",
        "PRAGMA query_only = OFF",
        "SET ROLE postgres",
        "COPY offers TO '/x'",
        "SELECT 1; SELECT 2",
    ),
    "wrong calls": tuple(
        f"SELECT {name}({values}) FROM offers"
        for name in ("stdev_pop", "percentile", "median", "mode", "stdev", "total", "sum", "round")
        for values in ("", "pieces, pieces, pieces, 1")
    ),
    "odd texts": (
        "SELECT '\x00'",
        "SELECT '\ud800'",
        "",
        "\x00",
        "SELECT",
        "SELECT 'a",
        "SELECT /* a",
    ),
}


def _controls() -> Iterator[tuple[str, str, Any]]:
    for k in range(1, 15):
        total = sum(range(1, k + 1))
        yield "count", f"SELECT COUNT(*) FROM offers WHERE pieces <= {k}", k
        yield "sum", f'SELECT SUM("pieces") FROM offers WHERE pieces <= {k}', total
        yield "text", f"SELECT price FROM offers WHERE name = 'lamp {k}'", k * 10
        yield (
            "named",
            f"WITH q AS (SELECT pieces AS p FROM offers WHERE pieces <= {k}) SELECT MAX(p) FROM q",
            k,
        )
        yield (
            "recursive",
            (
                f"WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t WHERE x < {k * 100}) "
                "SELECT COUNT(*) FROM t"
            ),
            k * 100,
        )
        yield (
            "inner",
            f"SELECT COUNT(*) FROM offers WHERE price > (SELECT price FROM offers WHERE pieces = {k})",
            ROWS - k,
        )
        yield (
            "window",
            (
                "SELECT p FROM (SELECT pieces AS p, ROW_NUMBER() OVER (ORDER BY price DESC) AS n FROM "
                f"offers) AS q WHERE n = {k}"
            ),
            ROWS + 1 - k,
        )
        yield "statistics", f"SELECT median(pieces) FROM offers WHERE pieces <= {2 * k - 1}", k
        yield "nested", f"SELECT {'(' * k}MAX(pieces){')' * k} FROM offers", ROWS


def tries() -> Iterator[Try]:
    """All of them, the first of each kind with the limits that users have."""
    controls = iter(list(_controls()))
    made = [
        Try(kind, make(size), seconds=2.0 if place else Limits().seconds)
        for kind, (make, sizes) in BOUNDED.items()
        for place, size in enumerate(reversed(sizes))
    ]
    made += [Try(kind, sql, "refused") for kind, sqls in REFUSED.items() for sql in sqls]
    for place, one in enumerate(made):
        yield one
        if place % 2:
            for kind, sql, value in [next(controls)] if place // 2 < 126 else []:
                yield Try(f"control: {kind}", sql, value, 10.0)


def answered(database: Database) -> Callable[[Try], Any]:
    """What a statement gives: the first value."""

    def act(one: Try) -> Any:
        found = run_readonly(
            database, one.given, tables=["offers"], limits=Limits(seconds=one.seconds)
        )
        return found.rows[0][0] if found.rows else None

    return act


def fill(place: str | Path) -> Database:
    """An open workspace with a table of offers."""
    database = Database(place)
    database.engine.make(database)
    catalog = Catalog(database)
    lines = [f"lamp {i}: {i} pieces at {i * 10}" for i in range(1, ROWS + 1)]
    text, places = "\n".join(lines) + "\n", [0]
    for line in lines:
        places.append(places[-1] + len(line) + 1)
    document = Document(
        id="d", name="offers.txt", text=text, title="", media_type="text/plain", source="offers.txt",
        elements=(Element("paragraph", 0, len(text) - 1, page=1),), pages=(Page(1, 0, len(text)),),
    )  # fmt: skip
    catalog.documents.add(document)
    context = ChunkContext("", (), 1, 1)
    catalog.chunks.save(
        "d", [Chunk("d/0", "d", 0, 0, len(text), text, 9, context, frozenset({"paragraph"}))]
    )
    columns = (
        Column("name"), Column("pieces", ColumnType.INTEGER), Column("price", ColumnType.NUMBER)
    )  # fmt: skip
    catalog.schemas.save(
        Schema((Table("offers", columns, row="an offer", key=("name",)),)), "attack"
    )
    catalog.extractions.save(
        [
            Row(
                f"r{i}", "offers", "d", "d/0", i,
                tuple(
                    Cell(name, value, words, Grounding.EXACT, Span("d", at, at + len(words), 1))
                    for name, value, words in (
                        ("name", f"lamp {i}", f"lamp {i}"), ("pieces", i, f"{i}"), ("price", i * 10, f"{i * 10}")
                    )
                ),
            )
            for i, at in enumerate(places[:-1], 1)
        ]
    )  # fmt: skip
    catalog.tables.materialise("offers")
    return database
