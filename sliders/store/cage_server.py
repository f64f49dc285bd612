"""The engine's wall of the cage on PostgreSQL (see `cage`).

Before a statement runs, the server itself parses it: it is made a temporary view, which is never
read and is rolled back at once. The stored tree of the view names every function, operator and
table by its number. Then the statement runs under a role that may only read the workspace's data
tables, in a read-only transaction with a time limit.
"""

from __future__ import annotations

import contextlib
import datetime
import re
import sqlite3
import time
import warnings
from collections.abc import Iterator
from typing import Any

from sliders.errors import StoreError, UnsafeStatement
from sliders.sql.limits import ENGINE_LIMITS, Limits, Result, fetch, short
from sliders.sql.quoting import quote_identifier
from sliders.store.database import Database
from sliders.store.server import PostgresServer
from sliders.store.server_memory import held_memory

# Functions of PostgreSQL that read nothing but their arguments, and take no longer
# than those are long.
_ALLOWED = """abs acos acosh asin asinh atan atan2 atanh avg bool_and bool_or bpchar btrim cbrt
    ceil ceiling char chr concat concat_ws cos cosh count cume_dist date date_part date_trunc
    degrees dense_rank div exp extract first_value float4 float8 floor initcap int2 int4 int8
    lag last_value lead left length ln log log10 lower ltrim make_date max min mod mode now
    nth_value ntile numeric octet_length percent_rank percentile_cont percentile_disc pi
    position pow power radians random rank replace reverse right round row_number rtrim sign sin
    sinh sl_bounded split_part sqrt stddev stddev_pop stddev_samp string_agg strpos substr
    substring sum tan tanh text textcat time timestamp timestamptz timezone to_char to_date trim
    trunc upper var_pop var_samp varchar variance"""
_CALLED = re.compile(r":(?:funcid|aggfnoid|winfnoid) (\d+)")
_OPERATED = re.compile(r":opfuncid (\d+)")
_READ = re.compile(r":relid (\d+)")
_FUNCTIONS = (
    "SELECT proname, pronamespace IN ('pg_catalog'::regnamespace, pg_my_temp_schema()) "
    "FROM pg_proc WHERE oid = ANY(%s)"
)
_MADE = re.compile(r":(?:resulttype|consttype|vartype|type) (\d+)")
_TYPES = """SELECT typname FROM pg_type WHERE oid = ANY(%s) AND (typname LIKE 'reg%%'
    OR typname = ANY('{oid, xid, xid8, cid, tid, name, aclitem, pg_node_tree, pg_lsn}'))"""
"""Types whose values name or number objects in the server's catalogs."""
_MEMORY = "64MB"
"""The memory of each sort and hash of a statement; larger ones use files of the server."""
_BOUNDED = f"""CREATE FUNCTION pg_temp.sl_bounded(words text) RETURNS text IMMUTABLE PARALLEL SAFE
    LANGUAGE plpgsql AS $$ BEGIN
        IF octet_length(words) > {dict(ENGINE_LIMITS)[sqlite3.SQLITE_LIMIT_LENGTH]} THEN
            RAISE program_limit_exceeded USING MESSAGE = 'a text is too long';
        END IF;
        RETURN words;
    END $$"""
"""The function that a translated statement joins texts through; the server's own one cannot be
interrupted while it writes the text.
"""
_FILES = "2GB"
"""The most bytes of such files for one statement."""
_RELATIONS = """SELECT relname FROM pg_class WHERE oid = ANY(%s)
    AND NOT (relname = ANY(%s) AND relnamespace = current_schema()::regnamespace)"""


def run_on_server(database: Database, sql: str, visible: frozenset[str], limits: Limits) -> Result:
    """Runs one SELECT in PostgreSQL's SQL; see `cage.run_readonly` for the errors.

    Raises:
        UnsafeStatement: as `cage.run_readonly`.
    """
    engine = database.engine
    assert isinstance(engine, PostgresServer)
    started = time.monotonic()
    with contextlib.closing(engine.connect(write=True)) as raw, _explained(engine, sql, limits):
        raw.execute(f"SET statement_timeout = {max(1, int(limits.seconds * 1000))}")
        raw.execute(f"SET work_mem = '{_MEMORY}'")
        _limit_files(raw, engine)
        with held_memory(engine, raw, sql, limits):
            raw.execute(_BOUNDED)
            _take_apart(raw, sql, visible)
            raw.execute("BEGIN READ ONLY")
            raw.execute(f"SET LOCAL ROLE {quote_identifier(engine.reader)}")
            cursor = raw.cursor(name="cage")
            cursor.execute(sql)
            if not cursor.description:
                raise UnsafeStatement(f"the statement has no columns: {short(sql)}; name some")
            columns = tuple(column.name for column in cursor.description)
            rows, truncated = fetch(cursor, limits, started, _plain)
            raw.execute("ROLLBACK")
    return Result(columns, tuple(rows), truncated, time.monotonic() - started)


def _limit_files(raw: Any, engine: PostgresServer) -> None:
    """Limits the files in which a statement sorts, if the role may set the limit; else warns."""
    try:
        raw.execute(f"SET temp_file_limit = '{_FILES}'")
    except engine.errors:
        warnings.warn(
            f"{engine.name}: this user may not limit the files that a statement sorts in; its "
            "administrator can: GRANT SET ON PARAMETER temp_file_limit TO the user",
            stacklevel=2,
        )


def _take_apart(raw: Any, sql: str, visible: frozenset[str]) -> None:
    """Refuses a statement that reads or calls anything that is not on the lists, by the server's
    own parse of the statement.
    """
    raw.execute("BEGIN")
    try:
        # `prepare` makes it one statement for the server, too.
        raw.execute(
            f"CREATE TEMPORARY VIEW sl_taken_apart AS SELECT EXISTS (\n{sql}\n) AS found",
            prepare=True,
        )
        [(tree,)] = raw.execute(
            "SELECT ev_action FROM pg_rewrite WHERE ev_class = 'sl_taken_apart'::regclass"
        ).fetchall()
        numbers = [
            [int(number) for number in set(pattern.findall(tree))]
            for pattern in (_CALLED, _OPERATED, _READ, _MADE)
        ]
        called = raw.execute(_FUNCTIONS, (numbers[0],)).fetchall()
        operated = raw.execute(_FUNCTIONS, (numbers[1],)).fetchall()
        read = raw.execute(_RELATIONS, (numbers[2], list(visible))).fetchall()
        made = raw.execute(_TYPES, (numbers[3],)).fetchall()
    finally:
        raw.execute("ROLLBACK")
    allowed = _ALLOWED.split()
    refused = [f"call {name}()" for name, own in called if not own or name not in allowed]
    refused += [f"call {name}()" for name, own in operated if not own]
    refused += [f"read {name!r}" for (name,) in read]
    refused += [f"make values of type {name}" for (name,) in made]
    if refused:
        raise UnsafeStatement(f"the statement is refused: it may not {refused[0]}: {short(sql)}")


def _plain(value: Any) -> Any:
    """Returns a value as SQLite would give it."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    return value if value is None or isinstance(value, (str, int, float, bytes)) else str(value)


@contextlib.contextmanager
def _explained(engine: PostgresServer, sql: str, limits: Limits) -> Iterator[None]:
    try:
        yield
    except engine.errors as error:
        state = getattr(error, "sqlstate", None) or ""
        told = (str(error).splitlines() or [""])[0]
        if state == "57014":
            words = (
                f"the statement was stopped: it ran longer than {limits.seconds:g} s; ask for "
                f"less: {short(sql)}"
            )
            raise UnsafeStatement(words) from error
        if state.startswith(("42501", "25", "53", "54", "0A", "2F", "57")):
            raise UnsafeStatement(f"the statement is refused: {told}: {short(sql)}") from error
        if not state or state.startswith("08"):
            raise engine.sentence(error) from error
        raise StoreError(
            f"the statement does not run: {told}: {short(sql)}; correct it and try again"
        ) from error
