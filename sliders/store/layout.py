"""What a workspace holds beside the user's tables, as SQLAlchemy metadata for a SQLite file and
a PostgreSQL schema.

Every system table starts with `sl_`; the user's tables have their own names (see `sql_names`).
Inside, rows refer to each other by integer `key`; the identifiers that the rooms use
(`Document.id`, `Chunk.id`, `Row.id`) are unique texts beside them. A column that is added here
needs a default on the server: workspaces of earlier versions get it when they open.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import Column, ForeignKey, Index, MetaData, Table, UniqueConstraint
from sqlalchemy.sql import ColumnElement, Select, and_, bindparam, case, exists, func, or_, select
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import REAL, BigInteger, Double, Integer, LargeBinary, Text, UserDefinedType

LAYOUT = 5
AUDIT_LAYOUT = 4
"""Of exported audit databases."""
METADATA = MetaData()
INTEGER = Integer().with_variant(BigInteger, "postgresql")
# The rows of a table are compared and sorted by their characters, whatever the
# language of the server.
TYPES: dict[str, Any] = {
    "TEXT": Text().with_variant(Text(collation="C"), "postgresql"),
    "INTEGER": INTEGER,
    "REAL": Double().with_variant(REAL(), "sqlite"),
}
"""Of data tables, by `ColumnType.sql`."""
_NAME = Text().with_variant(Text(collation="NOCASE"), "sqlite")


class Value(UserDefinedType[Any]):
    """A typed value: as it is in SQLite, which types each value by itself; JSON in PostgreSQL."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """The column's type in PostgreSQL."""
        return "JSONB"


@compiles(Value, "sqlite")
def _untyped(*_: object, **__: object) -> str:
    return ""


class _Listed(FunctionElement[Any]):
    inherit_cache = True


@compiles(_Listed, "sqlite")
def _listed_sqlite(element: _Listed, compiler: Any, **more: Any) -> str:
    return f"(SELECT value FROM json_each({compiler.process(element.clauses, **more)}))"


@compiles(_Listed, "postgresql")
def _listed_postgresql(element: _Listed, compiler: Any, **more: Any) -> str:
    return (
        "(SELECT json_array_elements_text(CAST("
        f"{compiler.process(element.clauses, **more)} AS JSON)))"
    )


def among(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """Whether a text column's value is in the JSON list that is bound to `name`:
    one statement for any number.
    """
    return column.op("IN", is_comparison=True)(_Listed(bindparam(name, type_=Text)))


def _texts(names: str, default: str | None = None) -> list[Column[Any]]:
    return [Column(name, Text, nullable=False, server_default=default) for name in names.split()]


def _numbers(names: str, default: str | None = None) -> list[Column[Any]]:
    return [Column(name, INTEGER, nullable=False, server_default=default) for name in names.split()]


def _maybe(names: str, kind: Any = Text) -> list[Column[Any]]:
    return [Column(name, kind) for name in names.split()]


def _key(name: str = "key") -> Column[Any]:
    return Column(name, INTEGER, primary_key=True)


def _to(
    name: str, target: str, *, primary: bool = False, cascade: bool = False, null: bool = False
) -> Column[Any]:
    reference = ForeignKey(target, ondelete="CASCADE" if cascade else None)
    return Column(name, INTEGER, reference, primary_key=primary, autoincrement=False, nullable=null)


def _part(name: str, kind: Any = INTEGER) -> Column[Any]:
    """A part of a primary key of several columns."""
    return Column(name, kind, primary_key=True, autoincrement=False)


meta = Table("sl_meta", METADATA, _part("name", Text), *_texts("value"), sqlite_with_rowid=False)
documents = Table(
    "sl_documents",
    METADATA,
    _key(),
    Column("id", Text, nullable=False, unique=True),
    *_texts("name title description text sha256 media_type source"),
    Column("modified", Double),
    *_texts("warnings"),
    *_numbers("version"),
    _to("superseded_by", "sl_documents.key", null=True),
    *_texts("added"),
    *_numbers("characters", "0"),
    Index("sl_documents_name", "name"),
)
# The text of a document stands in the middle of its line, so that whatever comes after it is
# found only by walking over the text: lists of documents read this index instead, which
# holds all but the text.
Index(
    "sl_documents_listed",
    *(
        documents.c[name]
        for name in (
            "superseded_by key id name title description media_type source modified characters "
            "version added warnings"
        ).split()
    ),
    info={"engine": "sqlite"},
)
pages = Table(
    "sl_pages",
    METADATA,
    _to("document_key", "sl_documents.key", primary=True, cascade=True),
    _part("position"),
    *_numbers("number start stop"),
    sqlite_with_rowid=False,
)
elements = Table(
    "sl_elements",
    METADATA,
    _to("document_key", "sl_documents.key", primary=True, cascade=True),
    _part("position"),
    *_texts("kind"),
    *_numbers("start stop level"),
    *_maybe("page", INTEGER),
    *_maybe("grid row_starts"),
    sqlite_with_rowid=False,
)
chunks = Table(
    "sl_chunks",
    METADATA,
    _key(),
    Column("id", Text, nullable=False, unique=True),
    _to("document_key", "sl_documents.key", cascade=True),
    *_numbers("position start stop tokens"),
    *_maybe("title description"),
    *_texts("heading_path"),
    *_maybe("page_from page_to", INTEGER),
    *_texts("captions kinds"),
    *_numbers("active", "1"),
    Index("sl_chunks_document", "document_key", "position"),
)
vectors = Table(
    "sl_vectors",
    METADATA,
    _part("level", Text),
    _part("model", Text),
    _part("owner", Text),
    *_numbers("rows columns"),
    Column("data", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
schemas = Table("sl_schemas", METADATA, _part("version"), *_texts("schema reason created"))
tables = Table(
    "sl_tables",
    METADATA,
    _key(),
    Column("name", Text, nullable=False, unique=True),
    Column("relation", _NAME, nullable=False, unique=True),
    *_texts("row_meaning description grain key_columns"),
    *_texts("key_scope", "document"),
    *_texts("documents", ""),
    *_numbers("active", "1"),
    *_numbers("revision", "0"),
    *_maybe("current_version", INTEGER),
)
columns = Table(
    "sl_columns",
    METADATA,
    _key(),
    _to("table_key", "sl_tables.key"),
    *_texts("name"),
    Column("sql_name", _NAME, nullable=False),
    *_numbers("position"),
    *_texts("type description unit scale"),
    *_texts("currency", ""),
    *_texts("allowed", "[]"),
    *_texts("reading", "stated"),
    *_numbers("active", "1"),
    UniqueConstraint("table_key", "name"),
    UniqueConstraint("table_key", "sql_name"),
)
rows = Table(
    "sl_rows",
    METADATA,
    _key(),
    Column("id", Text, nullable=False, unique=True),
    _to("table_key", "sl_tables.key"),
    _to("document_key", "sl_documents.key"),
    _to("chunk_key", "sl_chunks.key"),
    *_numbers("ordinal"),
    Index("sl_rows_table", "table_key", "document_key"),
    Index("sl_rows_chunk", "chunk_key"),
)
# Who said it: one line per call, so that a cell carries one integer instead of three texts.
origins = Table(
    "sl_origins",
    METADATA,
    _key(),
    *_texts("call_id model prompt_hash"),
    UniqueConstraint("call_id", "model", "prompt_hash"),
)
# `kind` marks what JSON and SQLite cannot hold by themselves: 1 boolean, 2 large integer as
# text, 3 not finite number as text. `how` NULL is stated; `bound` stands with a number ("<");
# `odds` is [[choice, log-probability], ...] and `parts` is [[start, stop, page] or [start, stop,
# page, document id], ...].
cells = Table(
    "sl_cells",
    METADATA,
    _to("row_key", "sl_rows.key", primary=True, cascade=True),
    _part("column_key"),
    Column("value", Value),
    *_maybe("kind", INTEGER),
    *_maybe("printed"),
    *_texts("grounding"),
    *_maybe("document_key start stop page", INTEGER),
    *_maybe("unit scale absence detail rationale"),
    *_maybe("origin_key", INTEGER),
    *_maybe("how odds doubt parts bound"),
    sqlite_with_rowid=False,
)
# Few cells have one, and these are found without a look at the others.
for _said in (cells.c.doubt, cells.c.bound):
    Index(
        f"sl_cells_{_said.name}",
        cells.c.column_key,
        sqlite_where=_said.is_not(None),
        postgresql_where=_said.is_not(None),
    )
work = Table(
    "sl_work",
    METADATA,
    _key(),
    _to("table_key", "sl_tables.key"),
    *_texts("hash columns"),
    UniqueConstraint("table_key", "hash"),
)
tasks = Table(
    "sl_tasks",
    METADATA,
    _to("work_key", "sl_work.key", primary=True, cascade=True),
    _to("chunk_key", "sl_chunks.key", primary=True, cascade=True),
    *_texts("state reason"),
    *_numbers("attempts"),
    *_texts("at"),
    sqlite_with_rowid=False,
)
# Who reads a document at the moment, and until when: on a server, where several processes write.
claims = Table(
    "sl_claims",
    METADATA,
    _to("document_key", "sl_documents.key", primary=True, cascade=True),
    *_texts("owner"),
    Column("until", Double, nullable=False),
)
runs = Table(
    "sl_runs",
    METADATA,
    _key("id"),
    *_texts("kind question status started"),
    *_maybe("finished"),
    *_texts("settings outcome"),
)
decisions = Table(
    "sl_decisions",
    METADATA,
    _key("id"),
    _to("run", "sl_runs.id", null=True),
    *_texts("stage subject verdict reason"),
    *_numbers("tokens"),
    *_texts("at"),
    Index("sl_decisions_subject", "subject"),
    Index("sl_decisions_stage", "stage"),
)
attempts = Table(
    "sl_sql_attempts",
    METADATA,
    _key("id"),
    _to("run", "sl_runs.id", null=True),
    *_texts("stage question sql outcome detail"),
    *_maybe("rows", INTEGER),
    Column("seconds", Double, nullable=False),
    *_texts("at"),
)
# A call that the cache answered has the id of the call that paid, and repeats
# neither prompt nor reply.
calls = Table(
    "sl_calls",
    METADATA,
    _key("number"),
    *_texts("id key"),
    _to("run", "sl_runs.id", null=True),
    *_texts("stage model prompt_hash"),
    *_maybe("prompt reply data"),
    *_texts("finish_reason"),
    *_numbers("salvaged"),
    *_maybe("token_logprobs"),
    *_numbers("prompt_tokens completion_tokens"),
    Column("seconds", Double, nullable=False),
    Column("cost", Double, nullable=False),
    *_numbers("calls cached"),
    *_texts("error"),
    Column("created", Double, nullable=False),
    Index("sl_calls_key", "key"),
    Index("sl_calls_id", "id"),
)
statistics = Table(
    "sl_statistics", METADATA, _part("key", Text), *_texts("value"), sqlite_with_rowid=False
)
corrections = Table(
    "sl_corrections",
    METADATA,
    _key("id"),
    *_texts("kind table_name subject column_name value author reason created"),
    *_maybe("revoked"),
)
versions = Table(
    "sl_table_versions",
    METADATA,
    _to("table_key", "sl_tables.key", primary=True),
    _part("version"),
    *_maybe("parent", INTEGER),
    *_texts("relation operation sql reason columns"),
    *_numbers("rows revision"),
    *_texts("created"),
    *_texts("companions", "[]"),
    sqlite_with_rowid=False,
)
# A value that is not one of its sources' values is declared here, by row or (row_id NULL)
# for the whole column.
derivations = Table(
    "sl_derivations",
    METADATA,
    _key(),
    _to("table_key", "sl_tables.key"),
    *_numbers("version"),
    *_maybe("row_id"),
    *_texts("column_name"),
    *_maybe("source_value value", Value),
    *_texts("kind reason"),
    Index("sl_derivations_version", "table_key", "version", "column_name"),
)

CURRENT = and_(documents.c.superseded_by.is_(None), chunks.c.active == 1)
"""Chunks (and rows) of the present version of their document."""
ASKED = exists().where(
    cells.c.row_key == rows.c.key, func.coalesce(cells.c.absence, "") != "not asked"
)
"""Rows of which a cell was read under a definition that stands (see `Extractions.supersede`)."""

CELL_ABSENCE: Select[Any] = (
    select(
        tables.c.name.label("table_name"),
        rows.c.id.label("row_id"),
        documents.c.name.label("document"),
        columns.c.name.label("column_name"),
        case((cells.c.row_key.is_(None), "not asked"), else_=cells.c.absence).label("why"),
        cells.c.detail,
        func.coalesce(cells.c.how, "stated").label("how"),
        cells.c.value.label("said"),
    )
    .select_from(
        rows.join(tables)
        .join(documents, documents.c.key == rows.c.document_key)
        .join(columns, and_(columns.c.table_key == rows.c.table_key, columns.c.active == 1))
        .outerjoin(cells, and_(cells.c.row_key == rows.c.key, cells.c.column_key == columns.c.key))
        .join(chunks, chunks.c.key == rows.c.chunk_key)
    )
    .where(CURRENT, or_(cells.c.row_key.is_(None), cells.c.absence.is_not(None)))
)
"""The view `cell_absence`: every empty cell says why."""

SEARCH = {
    # The text of a chunk is read from its document, so that it is stored once.
    "sqlite": (
        """CREATE VIEW sl_chunk_text AS
        SELECT c.key AS key, substr(d.text, c.start + 1, c.stop - c.start) AS text,
        c.heading_path AS headings
        FROM sl_chunks c JOIN sl_documents d ON d.key = c.document_key""",
        """CREATE VIRTUAL TABLE sl_chunk_search USING fts5(
        text, headings, content='sl_chunk_text', content_rowid='key',
        tokenize='porter unicode61 remove_diacritics 2')""",
    ),
    "postgresql": (
        """CREATE TABLE sl_chunk_search (
        key BIGINT PRIMARY KEY REFERENCES sl_chunks(key) ON DELETE CASCADE,
        words TSVECTOR NOT NULL)""",
        "CREATE INDEX sl_chunk_search_words ON sl_chunk_search USING gin(words)",
    ),
}
"""Full-text search over chunks, which each engine has in its own way."""
