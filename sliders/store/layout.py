"""The system tables of a workspace, as SQLAlchemy metadata for a SQLite file and a PostgreSQL
schema.

Every system table starts with `sl_`; the user's tables have their own names (see `sql_names`).
Inside, rows refer to each other by integer `key`; the identifiers that the rooms use
(`Document.id`, `Chunk.id`, `Row.id`) are unique texts beside them. A column that is added here
needs a default on the server: workspaces of earlier versions get it when they open.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.schema import Column, Index, Table, UniqueConstraint
from sqlalchemy.sql import Select, and_, case, exists, func, or_, select
from sqlalchemy.types import Double, LargeBinary, Text

from sliders.store.layout_columns import (
    INTEGER,
    METADATA,
    NAME,
    TypedValue,
    key,
    maybe,
    numbers,
    part,
    texts,
    to,
)

LAYOUT = 11
AUDIT_LAYOUT = 6
"""The version of the layout of exported audit databases."""
meta = Table("sl_meta", METADATA, part("name", Text), *texts("value"), sqlite_with_rowid=False)
documents = Table(
    "sl_documents",
    METADATA,
    key(),
    Column("id", Text, nullable=False, unique=True),
    *texts("name title description text sha256 media_type source"),
    Column("modified", Double),
    *texts("warnings"),
    *numbers("version"),
    to("superseded_by", "sl_documents.key", null=True),
    *texts("added"),
    *numbers("characters", "0"),
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
    to("document_key", "sl_documents.key", primary=True, cascade=True),
    part("position"),
    *numbers("number start stop"),
    # Of a page that OCR read: [word, its lowest score], ...
    *maybe("scores"),
    sqlite_with_rowid=False,
)
elements = Table(
    "sl_elements",
    METADATA,
    to("document_key", "sl_documents.key", primary=True, cascade=True),
    part("position"),
    *texts("kind"),
    *numbers("start stop level"),
    *maybe("page", INTEGER),
    *maybe("grid row_starts"),
    sqlite_with_rowid=False,
)
chunks = Table(
    "sl_chunks",
    METADATA,
    key(),
    Column("id", Text, nullable=False, unique=True),
    to("document_key", "sl_documents.key", cascade=True),
    *numbers("position start stop tokens"),
    *maybe("title description"),
    *texts("heading_path"),
    *maybe("page_from page_to", INTEGER),
    *texts("captions kinds"),
    *numbers("active", "1"),
    Index("sl_chunks_document", "document_key", "position"),
)
vectors = Table(
    "sl_vectors",
    METADATA,
    part("level", Text),
    part("model", Text),
    part("owner", Text),
    *numbers("rows columns"),
    Column("data", LargeBinary, nullable=False),
    # Of segments: start, end and tokens of each, behind the vector of the whole document.
    *maybe("places", LargeBinary),
    sqlite_with_rowid=False,
)
schemas = Table("sl_schemas", METADATA, part("version"), *texts("schema reason created"))
tables = Table(
    "sl_tables",
    METADATA,
    key(),
    Column("name", Text, nullable=False, unique=True),
    Column("relation", NAME, nullable=False, unique=True),
    *texts("row_meaning description grain key_columns"),
    *texts("key_scope", "document"),
    *texts("documents", ""),
    *numbers("active", "1"),
    *numbers("revision", "0"),
    *maybe("current_version", INTEGER),
)
columns = Table(
    "sl_columns",
    METADATA,
    key(),
    to("table_key", "sl_tables.key"),
    *texts("name"),
    Column("sql_name", NAME, nullable=False),
    *numbers("position"),
    *texts("type description unit scale"),
    *texts("currency", ""),
    *texts("allowed", "[]"),
    *texts("reading", "stated"),
    *numbers("active", "1"),
    UniqueConstraint("table_key", "name"),
    UniqueConstraint("table_key", "sql_name"),
)
rows = Table(
    "sl_rows",
    METADATA,
    key(),
    Column("id", Text, nullable=False, unique=True),
    to("table_key", "sl_tables.key"),
    to("document_key", "sl_documents.key"),
    to("chunk_key", "sl_chunks.key"),
    *numbers("ordinal"),
    Index("sl_rows_table", "table_key", "document_key"),
    Index("sl_rows_chunk", "chunk_key"),
)
# Who said it: one line per call, so that a cell carries one integer instead of three texts.
origins = Table(
    "sl_origins",
    METADATA,
    key(),
    *texts("call_id model prompt_hash"),
    UniqueConstraint("call_id", "model", "prompt_hash"),
)
# `kind` marks values that JSON and SQLite cannot hold by themselves: 1 boolean, 2 large integer as
# text, 3 not finite number as text. `how` NULL is stated; `bound` stands with a number ("<");
# `odds` is [[choice, log-probability], ...] and `parts` is [[start, stop, page] or [start, stop,
# page, document id], ...].
cells = Table(
    "sl_cells",
    METADATA,
    to("row_key", "sl_rows.key", primary=True, cascade=True),
    part("column_key"),
    Column("value", TypedValue),
    *maybe("kind", INTEGER),
    *maybe("printed"),
    *texts("grounding"),
    *maybe("document_key start stop page", INTEGER),
    *maybe("unit scale absence detail rationale"),
    *maybe("origin_key", INTEGER),
    *maybe("how odds doubt parts bound"),
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
    key(),
    to("table_key", "sl_tables.key"),
    *texts("hash columns"),
    UniqueConstraint("table_key", "hash"),
)
tasks = Table(
    "sl_tasks",
    METADATA,
    to("work_key", "sl_work.key", primary=True, cascade=True),
    to("chunk_key", "sl_chunks.key", primary=True, cascade=True),
    *texts("state reason"),
    *numbers("attempts"),
    *texts("at"),
    sqlite_with_rowid=False,
)
# Who reads a document at the moment, and until when: on a server, where several processes write.
claims = Table(
    "sl_claims",
    METADATA,
    to("document_key", "sl_documents.key", primary=True, cascade=True),
    *texts("owner"),
    Column("until", Double, nullable=False),
)
runs = Table(
    "sl_runs",
    METADATA,
    key("id"),
    *texts("kind question status started"),
    *maybe("finished"),
    *texts("settings outcome"),
)
# The subject of a decision stands in columns: `kind` says which ("document", "table" ...).
decisions = Table(
    "sl_decisions",
    METADATA,
    key("id"),
    to("run", "sl_runs.id", null=True),
    *texts("stage"),
    *texts("kind", ""),
    *maybe("document chunk_id table_name column_name"),
    *texts("verdict reason"),
    *numbers("tokens"),
    *texts("at"),
    Index("sl_decisions_kind", "kind", "table_name"),
    Index("sl_decisions_document", "document"),
    Index("sl_decisions_chunk", "chunk_id"),
    Index("sl_decisions_stage", "stage"),
)
decision_rows = Table(
    "sl_decision_rows",
    METADATA,
    to("decision", "sl_decisions.id", primary=True, cascade=True),
    part("row_id", Text),
    Index("sl_decision_rows_row", "row_id"),
    sqlite_with_rowid=False,
)
attempts = Table(
    "sl_sql_attempts",
    METADATA,
    key("id"),
    to("run", "sl_runs.id", null=True),
    *texts("stage question sql outcome detail"),
    *maybe("rows", INTEGER),
    Column("seconds", Double, nullable=False),
    *texts("at"),
)
# A call that the cache answered has the id of the call that paid, and repeats
# neither prompt nor reply.
calls = Table(
    "sl_calls",
    METADATA,
    key("number"),
    *texts("id key"),
    to("run", "sl_runs.id", null=True),
    *texts("stage model prompt_hash"),
    *maybe("prompt reply data"),
    *texts("finish_reason"),
    *numbers("salvaged"),
    *maybe("token_logprobs"),
    *numbers("prompt_tokens completion_tokens"),
    *numbers("cached_tokens", "0"),
    Column("seconds", Double, nullable=False),
    Column("cost", Double, nullable=False),
    *numbers("calls cached"),
    *texts("error"),
    Column("created", Double, nullable=False),
    Index("sl_calls_key", "key"),
    Index("sl_calls_id", "id"),
)
batches = Table("sl_batches", METADATA, part("key", Text), *texts("batch created"))
corrections = Table(
    "sl_corrections",
    METADATA,
    key("id"),
    *texts("kind table_name subject column_name value author reason created"),
    *maybe("revoked"),
)
versions = Table(
    "sl_table_versions",
    METADATA,
    to("table_key", "sl_tables.key", primary=True),
    part("version"),
    *maybe("parent", INTEGER),
    *texts("relation operation sql reason columns"),
    *numbers("rows revision"),
    *texts("created"),
    *texts("companions", "[]"),
    sqlite_with_rowid=False,
)
# A value that is not one of its sources' values is declared here, by row or (row_id NULL)
# for the whole column.
derivations = Table(
    "sl_derivations",
    METADATA,
    key(),
    to("table_key", "sl_tables.key"),
    *numbers("version"),
    *maybe("row_id"),
    *texts("column_name"),
    *maybe("source_value value", TypedValue),
    *texts("kind reason"),
    *maybe("correction", INTEGER),
    Index("sl_derivations_version", "table_key", "version", "column_name"),
)

# How many lines each table has and the sum of their digests, as they were written (see `digests`).
digests = Table(
    "sl_digests",
    METADATA,
    part("subject", Text),
    *numbers("rows"),
    *texts("digest"),
    sqlite_with_rowid=False,
)

CURRENT = and_(documents.c.superseded_by.is_(None), chunks.c.active == 1)
"""A condition: chunks (and rows) of the current version of their document."""
ASKED = exists().where(
    cells.c.row_key == rows.c.key, func.coalesce(cells.c.absence, "") != "not asked"
)
"""A condition: rows with a cell that was read under a current definition (see
`Extractions.supersede`).
"""

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
"""The view `cell_absence`: the reason of every empty cell."""

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
"""The full-text search over chunks; each engine has its own."""
