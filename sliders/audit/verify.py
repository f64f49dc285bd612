"""Verification of an audit database: each value must lead back to words of a text that the same
file holds.

The *trail* of a value is the way from it to its words: value, cell, place in the text. A
*declaration* is a stored line that says how a table's value differs from its cells (aggregate,
canonical form, correction).

- The digest of each table, and the definition of each table and view of a file, are unchanged.
- In a workspace, each view and each table as it was extracted follow from the cells, and each
  repair gives the same again over the version before it.
- The text of each document has the hash that was taken when it was added.
- The text at the place of each value is its printed words, and so for the further words of the
  value. Each empty cell has a reason. A judged value may rest on the model's odds alone.
- The arithmetic of a computed number gives that number.
- Each value of a data table is the value of a cell of a source row, or is declared: an
  aggregate (which is computed again), a canonical form or a correction. The table has as many
  rows as when it was made.
- A bound or a doubt beside a value stands beside the same value in a cell. A canonical form is
  printed in its row, or is declared.
- Open questions are about columns and rows of their own table.
- Nothing refers to a line that does not exist.
"""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sliders.audit.export import export_audit
from sliders.audit.rederived import rederived
from sliders.audit.seal import broken, key_of
from sliders.errors import AuditError, SlidersError
from sliders.progress import counted
from sliders.sql.quoting import quote_identifier
from sliders.store import codec
from sliders.store.catalog import Catalog
from sliders.store.data_tables import UNVERIFIED
from sliders.store.database import Database
from sliders.store.digests import tampered
from sliders.store.layout import AUDIT_LAYOUT
from sliders.store.materialise import SAID
from sliders.store.records import RelationColumn
from sliders.values.arithmetic import ExpressionError, evaluate, rounds_to

_MOST_PROBLEMS = 50
_SAID = ", ".join(f"'{absence}'" for absence in SAID)
_DOUBT = (
    "CASE WHEN c.absence IS NULL THEN c.doubt ELSE c.absence || coalesce(': ' || c.detail, '') END"
)
# Document, start, stop, printed words, row, column, whether the value may have no words, and
# whether its page is another than that of its first character.
_PAGE = """{0}.page IS NOT NULL AND NOT EXISTS (SELECT 1 FROM audit_pages g WHERE
        g.document_id = {0}.document_id AND g.number = {0}.page
        AND {0}.start BETWEEN g.start AND g.stop)"""
_SPANS = f"""SELECT c.document_id AS document, c.start, c.stop, c.printed, c.row_id, k.name,
        c.how = 'judged' AND coalesce(c.odds, c.rationale, c.doubt) IS NOT NULL, {_PAGE.format("c")}
    FROM audit_cells c JOIN audit_columns k ON k.id = c.column_id WHERE c.absence IS NULL AND
    c.value IS NOT NULL
    UNION ALL SELECT p.document_id, p.start, p.stop, p.printed, p.row_id, k.name, 0,
        {_PAGE.format("p")}
    FROM audit_parts p JOIN audit_columns k ON k.id = p.column_id ORDER BY document"""


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a verification, in sentences: `problems` are broken trails, `notes` count the
    values that are unverified or rest on a judgement alone, `unproven` names checks that could not
    be made. `name` is the path of the file, or the address of the workspace without its password.
    """

    name: str
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    unproven: str


_ANYBODY = (
    "that nobody changed the file and computed its digests again; an export that is signed shows "
    "it: sliders export FILE --sign KEYFILE"
)
_SIGNER = "that nobody who holds the key changed the file and signed it again"


def check_audit(path: str | Path, key: Path | None = None) -> Verification:
    """Checks that an audit database or a workspace is as `sliders` wrote it, and the trail of each
    of its values. Stated words are not parsed a second time.

    Args:
        path: the file, or the address of a workspace on a server.
        key: the file of the key that an audit database has to be signed with.

    Raises:
        AuditError: the file is neither an audit database nor a workspace, or a workspace, which has
            no signature.
        SettingsError: the key cannot be read.
        StoreError: the file cannot be read.
    """
    secret = None if key is None else key_of(key)
    with Database(path, write=False) as database:
        names = database.names()
        if "audit_meta" in names:
            said = tuple(broken(database.stream, secret))
            return _verify(database, database.name, said, _ANYBODY if secret is None else _SIGNER)
        if "sl_meta" not in names:
            raise AuditError(
                f"{database.name!r} is neither an audit database nor a workspace; make one "
                "with: sliders export"
            )
        if secret is not None:
            raise AuditError(
                f"{database.name!r} is a workspace, only an export is signed: sliders export FILE "
                "--sign KEYFILE"
            )
        return _workspace(database)


def _workspace(database: Database) -> Verification:
    """Checks a workspace: its digests, and the trails in an export of it."""
    catalog = Catalog(database)
    problems = (*tampered(database), *database.damage())
    try:
        problems += tuple(rederived(catalog))
        with tempfile.TemporaryDirectory(prefix="sliders-") as folder:
            exported = export_audit(catalog, Path(folder) / "audit.db")
            with Database(exported, write=False) as audit:
                return _verify(audit, database.name, problems, _ANYBODY)
    except (SlidersError, ValueError, LookupError, TypeError) as error:
        if not problems:
            raise
        # The changed part cannot be read, so the other trails cannot be checked.
        return Verification(
            database.name, (*problems, f"the rest cannot be looked at: {error}"), (), _ANYBODY
        )


def _verify(audit: Database, name: str, said: tuple[str, ...], unproven: str) -> Verification:
    layout = audit.value("SELECT value FROM audit_meta WHERE name = 'layout'")
    if layout != str(AUDIT_LAYOUT):
        raise AuditError(
            f"the audit database has layout {layout!r}, this version of sliders "
            f"knows {AUDIT_LAYOUT}; make a new one with: sliders export"
        )
    problems = list(said[:_MOST_PROBLEMS])
    for check in (_documents, _references, _spans, _computed, _absences, _tables, _open):
        found = list(check(audit))
        problems += found[:_MOST_PROBLEMS]
        if len(found) > _MOST_PROBLEMS:
            problems.append(f"... and {len(found) - _MOST_PROBLEMS} more of this kind")
    return Verification(name, tuple(problems), tuple(_notes(audit)), unproven)


def _notes(audit: Database) -> Iterator[str]:
    """Yields, for each column, how many values have no words and how many are unverified."""
    for table, column, wordless, doubtful, doubt in audit.query(
        """SELECT k.table_name, k.name, sum(c.start IS NULL), count(c.doubt),
        min(c.doubt) FROM audit_cells c
        JOIN audit_columns k ON k.id = c.column_id WHERE c.absence IS NULL AND
        (c.start IS NULL OR c.doubt IS NOT NULL)
        GROUP BY k.id ORDER BY k.id"""
    ):
        place = f"table {table!r}, column {column!r}"
        if wordless:
            yield (
                f"{place}: {counted(wordless, 'judgement')} of the model without words of the text"
            )
        if doubtful:
            yield f"{place}: {counted(doubtful, 'unverified value')} ({doubt})"


def _documents(audit: Database) -> Iterator[str]:
    for name, text, recorded in audit.stream("SELECT name, text, sha256 FROM audit_documents"):
        if codec.digest(text) != recorded:
            yield f"document {name!r}: its text is not the one that was added (the hash differs)"


def _references(audit: Database) -> Iterator[str]:
    for table, number, parent, _ in audit.query("PRAGMA foreign_key_check"):
        yield f"table {table!r}: line {number} refers to something that {parent!r} does not hold"


def _spans(audit: Database) -> Iterator[str]:
    """Yields values whose place in the text does not hold their words."""
    current: str | None = None
    text = ""
    for document, start, stop, printed, row, column, wordless, page in audit.stream(_SPANS):
        place = f"row {row!r}, column {column!r}"
        if start is None:
            if not wordless:
                yield f"{place}: the value has no place in a document"
            continue
        if page:
            yield f"{place}: the page of the value is not that of its words"
        if document != current:
            current, text = (
                document,
                audit.value("SELECT text FROM audit_documents WHERE id = ?", (document,)) or "",
            )
        if text[start:stop] != printed or not printed:
            yield (
                f"{place}: the words at {start} to {stop} are {text[start:stop]!r}, not {printed!r}"
            )


def _computed(audit: Database) -> Iterator[str]:
    """Yields numbers that differ from the result of their own arithmetic. Cells that are already
    marked as doubtful are left out.
    """
    cells = audit.query(
        """SELECT c.value, c.rationale, c.row_id, k.name, k.type FROM audit_cells c
        JOIN audit_columns k ON k.id = c.column_id
        WHERE c.how = 'computed' AND c.absence IS NULL AND c.doubt IS NULL
        AND k.type IN ('integer', 'number')"""
    )
    for value, rationale, row, column, kind in cells:
        try:
            result = evaluate(rationale or "")
        except ExpressionError:
            continue  # its arithmetic is in words
        if not rounds_to(value, result, whole=kind == "integer"):
            yield f"row {row!r}, column {column!r}: {rationale} is {result}, not {value}"


def _absences(audit: Database) -> Iterator[str]:
    """Yields empty cells without a reason, and cells that have both a value and a reason."""
    empty = audit.query(
        # a cut keeps the values that it took out
        f"""SELECT c.row_id, k.name FROM audit_cells c JOIN audit_columns k ON k.id = c.column_id
        WHERE CASE WHEN c.value IS NULL THEN c.absence IS NULL
            ELSE c.absence IS NOT NULL AND c.absence NOT IN ({_SAID}) AND c.odds IS NULL END"""
    )
    for row, column in empty:
        yield (
            f"row {row!r}, column {column!r}: it is empty and does not say why, or says why "
            "and is not empty"
        )


def _tables(audit: Database) -> Iterator[str]:
    """Yields the problems of data tables: a wrong number of rows, and values without a trail."""
    known = audit.names()
    for table, relation, version in audit.query(
        "SELECT name, relation, version FROM audit_tables WHERE version IS NOT NULL"
    ):
        if relation not in known:
            continue  # no longer in the schema
        chain = _ancestors(audit, table, version)
        told = audit.value(
            "SELECT rows FROM audit_table_versions WHERE table_name = ? AND version = ?",
            (table, version),
        )
        if (rows := audit.value(f"SELECT count(*) FROM {quote_identifier(relation)}")) != told:
            now = counted(rows, "row")
            yield f"table {table!r}: it has {now}, its version {version} was made with {told}"
        asked = (
            "SELECT count(*) FROM audit_table_versions WHERE table_name = ? AND operation = ? AND "
            f"version IN ({chain})"
        )
        yield from _read_elsewhere(audit, table, relation)
        # Unverified values may stand in the table only where the user asked for them.
        unverified = audit.value(asked, (table, UNVERIFIED))
        stands = (
            f"(c.absence IS NULL OR c.absence IN ({_SAID}))" if unverified else "c.absence IS NULL"
        )
        beside = codec.decode_companions(
            audit.value(
                "SELECT companions FROM audit_table_versions WHERE table_name = ? AND version = ?",
                (table, version),
            )
        )
        for identifier, name, sql_name in audit.query(
            "SELECT id, name, sql_name FROM audit_columns WHERE table_name = ? AND active", (table,)
        ):
            if sql_name in known[relation]:
                cell = f"c.column_id = {int(identifier)} AND {stands}"
                yield from _values(audit, table, relation, name, sql_name, cell, chain)
                for companion in (c for c in beside if c.companion_of == name):
                    yield from _companions(audit, table, relation, companion, sql_name, cell, chain)


def _read_elsewhere(audit: Database, table: str, relation: str) -> Iterator[str]:
    for (row,) in audit.query(
        f"SELECT d.row_id FROM {quote_identifier(relation)} d JOIN audit_rows r "
        "ON r.id = d.row_id WHERE d.document_id IS NOT r.document_id"
    ):
        yield f"table {table!r}, row {row!r}: it names another document than it was read in"


def _open(audit: Database) -> Iterator[str]:
    """Yields open questions that name a column or a row which their table does not have. A row that
    was deleted later is no problem.
    """
    for table, column in audit.query(
        """SELECT DISTINCT o.table_name, o.column_name FROM (SELECT table_name, column_name
        FROM audit_conflicts UNION SELECT table_name, column_name FROM audit_open_names) o
        LEFT JOIN audit_columns k ON k.table_name = o.table_name AND k.name = o.column_name
        WHERE k.id IS NULL"""
    ):
        yield f"table {table!r}: column {column!r}, which it does not have, is left open"
    for table, row in audit.query(
        """SELECT DISTINCT g.table_name, g.row_id FROM audit_row_groups g
        JOIN audit_rows r ON r.id = g.row_id WHERE r.table_name <> g.table_name"""
    ):
        yield f"table {table!r}: row {row!r} of another table is left open"


def _ancestors(audit: Database, table: str, version: int) -> str:
    """Returns a table version and the versions that it was made from, for SQL: "3, 2, 1"."""
    rows = audit.query(
        """WITH RECURSIVE chain(version) AS (SELECT ?2 UNION SELECT v.parent FROM
        audit_table_versions v
        JOIN chain c ON v.version = c.version WHERE v.table_name = ?1 AND v.parent IS NOT NULL)
        SELECT version FROM chain""",
        (table, version),
    )
    return ", ".join(str(int(number)) for (number,) in rows)


def _values(
    audit: Database, table: str, relation: str, name: str, sql_name: str, cell: str, chain: str
) -> Iterator[str]:
    """Yields values of a column that no cell gives and no declaration explains.

    Args:
        relation: the SQL name of the data table.
        name: the column's name.
        sql_name: the column's SQL name.
        cell: an SQL condition for the column's valid cells.
        chain: the table's versions, as a list for SQL.
    """
    value = f"d.{quote_identifier(sql_name)}"
    undeclared = audit.query(
        f"""SELECT d.row_id, {value} FROM {quote_identifier(relation)} d WHERE {value} IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM audit_cells c WHERE c.row_id = d.row_id AND {cell} AND c.value
        = {value})
        AND NOT EXISTS (SELECT 1 FROM audit_lineage l JOIN audit_cells c ON c.row_id =
        l.source_row_id
            WHERE l.table_name = ?1 AND l.row_id = d.row_id AND {cell} AND c.value = {value})""",
        (table,),
    )
    for row, shown in undeclared:
        declared = audit.query(
            f"""SELECT kind, source_value FROM audit_derivations WHERE table_name = ?1
            AND column_name = ?2
            AND version IN ({chain}) AND (row_id IS NULL OR row_id = ?3)
            AND (value = ?4 OR value = CAST(?4 AS TEXT))""",
            (table, name, row, shown),
        )
        place = f"table {table!r}, row {row!r}, column {name!r}"
        if not declared:
            yield f"{place}: {shown!r} is the value of none of its sources, and is not declared"
            continue
        sources = _source_values(audit, table, row, cell)
        if not any(_holds(kind, source, shown, sources) for kind, source in declared):
            yield (
                f"{place}: {shown!r} is declared as {declared[0][0]!r}, which its sources "
                f"{sources!r} do not give"
            )


def _companions(
    audit: Database,
    table: str,
    relation: str,
    companion: RelationColumn,
    sql_name: str,
    cell: str,
    chain: str,
) -> Iterator[str]:
    """Yields values of a companion column (bound, doubt or canonical form) that no cell gives and
    no declaration explains. For the arguments see `_values`.
    """
    shown, value = f"d.{quote_identifier(companion.sql_name)}", f"d.{quote_identifier(sql_name)}"
    said = "c.bound" if companion.role == "bound" else _DOUBT
    cells = (
        f"SELECT c.value, {said} FROM audit_cells c WHERE {cell} AND c.value IS NOT NULL AND "
        f"{said} IS NOT NULL"
    )
    odd = (
        f"{shown} IS NOT {value}"
        if companion.role == "canonical"
        else f"({value}, {shown}) NOT IN ({cells})"
    )
    stands = (
        value if companion.role == "canonical" else shown
    )  # a row that prints a name has a canonical form
    undeclared = audit.query(
        f"""SELECT d.row_id, {shown} FROM {quote_identifier(relation)} d WHERE {stands} IS NOT NULL
        AND {odd}
        AND NOT EXISTS (SELECT 1 FROM audit_derivations v WHERE v.table_name = ?1 AND v.column_name
        = ?2
            AND v.version IN ({chain}) AND (v.row_id IS NULL OR v.row_id = d.row_id)
            AND (v.source_value IS NULL OR v.source_value = {value}) AND v.value = {shown})""",
        (table, companion.name),
    )
    for row, words in undeclared:
        yield (
            f"table {table!r}, row {row!r}, column {companion.sql_name!r}: {words!r} is said by no "
            "cell, and is not declared"
        )


def _source_values(audit: Database, table: str, row: str, cell: str) -> list[Any]:
    """Returns the values of the cells of all rows that a table's row was made from."""
    found = audit.query(
        f"""SELECT c.value FROM audit_cells c WHERE {cell} AND c.row_id IN (
            SELECT ?1 UNION SELECT source_row_id FROM audit_lineage WHERE table_name = ?2
            AND row_id = ?1)""",
        (row, table),
    )
    return [value for (value,) in found]


def _holds(kind: str, source: Any, shown: Any, sources: list[Any]) -> bool:
    """Says whether a declared value follows from its sources. An aggregate is computed again; other
    kinds need one of the sources, or a recorded reason.
    """
    aggregates: dict[str, Callable[[list[float]], float]] = {
        "sum": sum,
        "min": min,
        "max": max,
        "count": len,
        "average": statistics.fmean,
    }
    if kind in aggregates:
        numbers = [value for value in sources if isinstance(value, (int, float))]
        return bool(numbers) and math.isclose(
            aggregates[kind](numbers), float(shown), rel_tol=1e-9, abs_tol=1e-9
        )
    return kind == "correction" or source is None or source in sources
