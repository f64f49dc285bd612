"""The audit database: a plain SQLite file, written with sqlite-utils from a
workspace on either engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import sqlite_utils
from sqlalchemy import ColumnElement, Double, Integer, Select, Text, case, func, select
from sqlite_utils.db import ForeignKey

from sliders.audit.seal import seal
from sliders.store import codec
from sliders.store.catalog import Catalog
from sliders.store.fact_tables import unread_lines
from sliders.store.layout import (
    AUDIT_LAYOUT,
    cells,
    chunks,
    columns,
    documents,
    origins,
    pages,
    rows,
    tables,
)
from sliders.store.layout_columns import METADATA
from sliders.store.records import Relation
from sliders.store.sql_names import SYSTEM_COLUMNS

_WORDS = "porter unicode61 remove_diacritics 2"
_SUFFIXES = ("", "_data", "_idx", "_docsize", "_config")
# The table to which a column of that name refers, in any table.
_KEYS = {
    "document_id": ("audit_documents", "id"),
    "superseded_by": ("audit_documents", "id"),
    "chunk_id": ("audit_chunks", "id"),
    "table_name": ("audit_tables", "name"),
    "column_id": ("audit_columns", "id"),
    "row_id": ("audit_rows", "id"),
    "source_row_id": ("audit_rows", "id"),
    "run": ("audit_runs", "id"),
    "decision": ("audit_decisions", "id"),
}
_EVIDENCE = """SELECT k.table_name, c.row_id, k.name AS column_name, c.value, c.printed,
        c.grounding, d.name AS document, c.page, replace(substr(d.text, max(c.start - 79, 1),
        c.stop - c.start + 160), char(10), ' ') AS quote,
        (SELECT group_concat(p.printed, ' ... ') FROM audit_parts p
            WHERE p.row_id = c.row_id AND p.column_id = c.column_id) AS further_words,
        c.how, c.rationale, c.odds, c.doubt, c.bound, c.absence, c.detail
    FROM audit_cells c JOIN audit_columns k ON k.id = c.column_id
    LEFT JOIN audit_documents d ON d.id = c.document_id"""


@dataclass(frozen=True)
class _Copy:
    """A table of the audit database: the SELECT over the workspace that fills it, its key, and
    functions that change the values of some columns (`told`).
    """

    name: str
    select: Select[Any]
    key: tuple[str, ...] = ()
    told: dict[str, Callable[[Any], Any]] = field(default_factory=dict)
    loose: tuple[str, ...] = ()
    """Columns whose names may belong to deleted things, so that they get no foreign key."""


def _named(table: Any, names: str) -> list[ColumnElement[Any]]:
    return [table.c[name] for name in names.split()]


def _joined(separator: str) -> Callable[[str], str | None]:
    return lambda text: separator.join(map(str, codec.load(text))) or None


_D, _newer, _elsewhere = documents.c, documents.alias(), documents.alias()
_document, _table = _D.id.label("document_id"), tables.c.name.label("table_name")
_OF_CELLS = (
    cells.join(rows, rows.c.key == cells.c.row_key)
    .join(documents, _D.key == rows.c.document_key)
    .outerjoin(_elsewhere, _elsewhere.c.key == cells.c.document_key)
)
_PLACE = case((cells.c.start.is_not(None), func.coalesce(_elsewhere.c.id, _D.id))).label(
    "document_id"
)


def _plain(
    name: str, names: str, key: tuple[str, ...] = (), *, of_table: bool = False, **more: Any
) -> _Copy:
    """A copy of some columns of a system table, with the name of the schema's table that a row is
    about put first.
    """
    source = METADATA.tables[f"sl_{name}"]
    listed = _named(source, names)
    return _Copy(
        f"audit_{name}",
        select(_table, *listed).join_from(source, tables) if of_table else select(*listed),
        key,
        **more,
    )


_COPIES: tuple[_Copy, ...] = (
    _Copy(
        "audit_documents",
        select(
            *_named(documents, "id name title media_type source version"),
            _newer.c.id.label("superseded_by"),
            *_named(documents, "added warnings sha256 text"),
        )
        .outerjoin_from(documents, _newer, _newer.c.key == _D.superseded_by)
        .order_by(_D.key),
        ("id",),
    ),
    _Copy(
        "audit_pages",
        select(_document, *_named(pages, "number start stop"))
        .join_from(pages, documents)
        .order_by(_D.key, pages.c.position),
    ),
    _Copy(
        "audit_chunks",
        select(
            chunks.c.id,
            _document,
            *_named(chunks, "position start stop tokens heading_path page_from page_to"),
        )
        .join_from(chunks, documents)
        .order_by(_D.key, chunks.c.position),
        ("id",),
        {"heading_path": _joined(" > ")},
    ),
    _Copy(
        "audit_tables",
        select(
            *_named(
                tables,
                "name relation row_meaning description grain key_columns key_scope documents",
            ),
            tables.c.current_version.label("version"),
        ).order_by(tables.c.key),
        ("name",),
        {"key_columns": _joined(", ")},
    ),
    _Copy(
        "audit_columns",
        select(
            columns.c.key.label("id"),
            _table,
            *_named(
                columns,
                "name sql_name position type description unit scale currency "
                "allowed reading active",
            ),
        ).join_from(columns, tables),
        ("id",),
    ),
    _Copy(
        "audit_rows",
        select(rows.c.id, _table, _document, chunks.c.id.label("chunk_id"), rows.c.ordinal)
        .select_from(
            rows.join(tables)
            .join(documents, _D.key == rows.c.document_key)
            .join(chunks, chunks.c.key == rows.c.chunk_key)
        )
        .order_by(rows.c.key),
        ("id",),
    ),
    _Copy(
        "audit_cells",
        select(
            rows.c.id.label("row_id"),
            cells.c.column_key.label("column_id"),
            *_named(cells, "value printed grounding"),
            _PLACE,
            *_named(cells, "start stop page unit scale absence detail rationale"),
            func.coalesce(cells.c.how, "stated").label("how"),
            *_named(cells, "odds doubt bound"),
            *_named(origins, "call_id model prompt_hash"),
        ).select_from(_OF_CELLS.outerjoin(origins, origins.c.key == cells.c.origin_key)),
        ("row_id", "column_id"),
    ),
    _plain(
        "table_versions",
        "version parent operation sql reason rows created companions",
        ("table_name", "version"),
        of_table=True,
    ),
    _plain(
        "derivations",
        "version row_id column_name source_value value kind reason correction",
        of_table=True,
    ),
    _plain("runs", "id kind question status started finished settings outcome", ("id",)),
    _plain(
        "decisions",
        "id run stage kind document chunk_id table_name column_name verdict reason tokens at",
        ("id",),
        loose=("chunk_id", "table_name"),
    ),
    _plain("decision_rows", "decision row_id", ("decision", "row_id"), loose=("row_id",)),
    _plain(
        "conflicts",
        "table_name number side column_name thing value document quote page reason",
        ("table_name", "number", "side"),
        told={"thing": _joined(", ")},
    ),
    _plain(
        "open_names",
        "table_name number side position column_name form joined reason",
        ("table_name", "number", "side", "position"),
    ),
    _plain(
        "row_groups",
        "table_name kind number part position row_id",
        ("table_name", "kind", "number", "part", "position"),
        loose=("row_id",),
    ),
    _Copy(
        "audit_unread_lines",
        select(
            *_named(unread_lines, "key table_name"),
            chunks.c.id.label("chunk_id"),
            *_named(unread_lines, "finding printed"),
        )
        .join_from(unread_lines, chunks)
        .order_by(unread_lines.c.key),
        ("key",),
    ),
    _plain(
        "settlements",
        "table_name signature verdict reason key_columns programs",
        ("table_name", "signature"),
    ),
    _plain("questions", "hash question columns uncovered draft", ("hash",)),
    _plain("document_facts", "document_id card date", ("document_id",)),
    _plain("sql_attempts", "id run stage question sql outcome detail rows seconds at", ("id",)),
    _plain(
        "calls",
        "number id run stage model prompt_hash prompt reply finish_reason prompt_tokens "
        "completion_tokens seconds cost cached error created",
        ("number",),
        told={
            "created": lambda seconds: datetime.fromtimestamp(seconds, UTC).isoformat(
                timespec="seconds"
            )
        },
    ),
    _plain(
        "corrections",
        "id kind table_name subject column_name value author reason created revoked",
        ("id",),
        loose=("table_name",),
    ),
    _plain("schemas", "version schema reason created", ("version",)),
)
_PARTS = (
    select(rows.c.id, cells.c.column_key, cells.c.parts, _D.id)
    .select_from(_OF_CELLS)
    .where(cells.c.parts.is_not(None))
    .order_by(_D.key)
)


def write_audit(
    catalog: Catalog, path: Path, current: Iterable[Relation], key: bytes = b""
) -> None:
    """Fills a new file with all content of a workspace.

    Args:
        path: the new file.
        current: the current data tables.
        key: the key that the file is signed with; b"" for no signature.

    Raises:
        sqlite3.Error: the file cannot be written.
    """
    with closing(sqlite_utils.Database(path, recursive_triggers=False)) as audit:
        audit.execute("PRAGMA synchronous=OFF")  # a file that is not finished is thrown away
        with audit.atomic():
            audit.table("audit_meta").insert_all(
                [{"name": "layout", "value": str(AUDIT_LAYOUT)}], pk="name"
            )
            for copy in _COPIES:
                _fill(audit, catalog, copy)
            _fill_parts(audit, catalog)
            _create(
                audit,
                "audit_lineage",
                dict.fromkeys(("table_name", "row_id", "source_row_id"), str),
            )
            for relation in current:
                _copy_table(audit, catalog, relation)
            audit.create_view("audit_evidence", _EVIDENCE)
        for table, names in (
            ("audit_lineage", ["row_id"]),
            ("audit_derivations", ["table_name", "column_name"]),
            ("audit_calls", ["id"]),
        ):
            audit.table(table).create_index(names)
        audit.table("audit_documents").enable_fts(["title", "text"], tokenize=_WORDS)
        seal(audit.conn, key)


def _create(
    audit: sqlite_utils.Database,
    name: str,
    types: dict[str, Any],
    key: tuple[str, ...] = (),
    loose: tuple[str, ...] = (),
) -> None:
    referring = [column for column in types if column in _KEYS and column not in loose]
    keys = [ForeignKey(name, column, *_KEYS[column]) for column in referring]
    audit.create_table(name, types, pk=key or None, foreign_keys=keys)


def _fill(audit: sqlite_utils.Database, catalog: Catalog, copy: _Copy) -> None:
    types = {column.name: _type(column.type) for column in copy.select.selected_columns}
    _create(audit, copy.name, types, copy.key, copy.loose)
    lines: Iterator[tuple[Any, ...]] = catalog.database.stream(copy.select)
    if copy.told:
        told = [copy.told.get(name) for name in types]
        lines = (
            tuple(v if f is None else f(v) for f, v in zip(told, line, strict=True))
            for line in lines
        )
    _insert(audit, copy.name, list(types), lines)


def _insert(
    audit: sqlite_utils.Database, name: str, names: list[str], lines: Iterable[tuple[Any, ...]]
) -> None:
    listed: Iterable[Any] = chain([names], lines)
    audit.table(name).insert_all(listed, batch_size=1_000)


def _type(kind: Any) -> Any:
    """A column's type in the file; values that are typed one by one keep their own (a BLOB
    column converts nothing).
    """
    return (
        str
        if isinstance(kind, Text)
        else int
        if isinstance(kind, Integer)
        else float
        if isinstance(kind, Double)
        else bytes
    )


def _fill_parts(audit: sqlite_utils.Database, catalog: Catalog) -> None:
    """Fills the table of further words of values, beside the first words in each cell."""
    types = {
        "row_id": str,
        "column_id": int,
        "number": int,
        "printed": str,
        "document_id": str,
        "start": int,
        "stop": int,
        "page": int,
    }
    _create(audit, "audit_parts", types, ("row_id", "column_id", "number"))
    texts: dict[str, str] = {}

    def lines() -> Iterator[tuple[Any, ...]]:
        nonlocal texts
        for row_id, column, parts, own in catalog.database.query(_PARTS):
            for number, span in enumerate(codec.decode_parts(parts, own)):
                if span.document_id not in texts:
                    texts = {span.document_id: catalog.documents.text(span.document_id)}
                words = texts[span.document_id][span.start : span.end]
                yield (
                    row_id,
                    column,
                    number,
                    words,
                    span.document_id,
                    span.start,
                    span.end,
                    span.page,
                )

    _insert(audit, "audit_parts", list(types), lines())


def _copy_table(audit: sqlite_utils.Database, catalog: Catalog, relation: Relation) -> None:
    """Copies a data table with its keys and full-text search, and the sources of each merged
    row.
    """
    kinds = {"TEXT": str, "INTEGER": int, "REAL": float}
    columns = (*relation.columns, *relation.companions)
    types = {c.sql_name: kinds[c.sql_type] for c in columns} | dict.fromkeys(
        SYSTEM_COLUMNS[:3], str
    )
    _create(audit, relation.relation, types, ("row_id",))
    merged: list[tuple[Any, ...]] = []

    def lines() -> Iterator[tuple[Any, ...]]:
        for *line, sources in catalog.tables.read(relation.name, [*types, "_sources"])[1]:
            merged.extend((relation.name, line[-1], source) for source in codec.load(sources) or ())
            yield tuple(line)

    _insert(audit, relation.relation, list(types), lines())
    _insert(audit, "audit_lineage", ["table_name", "row_id", "source_row_id"], merged)
    texts = [c.sql_name for c in relation.columns if types[c.sql_name] is str]
    taken = {r.relation.lower() for r in catalog.schemas.relations()}
    if texts and not taken & {f"{relation.relation}_fts{suffix}".lower() for suffix in _SUFFIXES}:
        audit.table(relation.relation).enable_fts(texts, tokenize=_WORDS)
