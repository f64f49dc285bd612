"""The statements that made workspaces of the first and second layout, as they were published."""

from __future__ import annotations

_DOCUMENTS = (
    "CREATE TABLE sl_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE sl_documents (
        key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, title TEXT NOT NULL,
        description TEXT NOT NULL, text TEXT NOT NULL, sha256 TEXT NOT NULL,
        media_type TEXT NOT NULL, source TEXT NOT NULL, modified REAL, warnings TEXT NOT NULL,
        version INTEGER NOT NULL, superseded_by INTEGER REFERENCES sl_documents(key),
        added TEXT NOT NULL)""",
    "CREATE INDEX sl_documents_name ON sl_documents(name)",
    """CREATE TABLE sl_pages (
        document_key INTEGER NOT NULL REFERENCES sl_documents(key) ON DELETE CASCADE,
        position INTEGER NOT NULL, number INTEGER NOT NULL, start INTEGER NOT NULL,
        stop INTEGER NOT NULL, PRIMARY KEY (document_key, position)) WITHOUT ROWID""",
    """CREATE TABLE sl_elements (
        document_key INTEGER NOT NULL REFERENCES sl_documents(key) ON DELETE CASCADE,
        position INTEGER NOT NULL, kind TEXT NOT NULL, start INTEGER NOT NULL,
        stop INTEGER NOT NULL, level INTEGER NOT NULL, page INTEGER, grid TEXT, row_starts TEXT,
        PRIMARY KEY (document_key, position)) WITHOUT ROWID""",
)

_CHUNKS = (
    """CREATE TABLE sl_chunks (
        key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
        document_key INTEGER NOT NULL REFERENCES sl_documents(key) ON DELETE CASCADE,
        position INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,
        tokens INTEGER NOT NULL, title TEXT, description TEXT, heading_path TEXT NOT NULL,
        page_from INTEGER, page_to INTEGER, captions TEXT NOT NULL, kinds TEXT NOT NULL,
        active INTEGER NOT NULL DEFAULT 1)""",
    "CREATE INDEX sl_chunks_document ON sl_chunks(document_key, position)",
    # The text of a chunk is read from its document, so that it is stored once.
    """CREATE VIEW sl_chunk_text AS
        SELECT c.key AS key, substr(d.text, c.start + 1, c.stop - c.start) AS text,
        c.heading_path AS headings
        FROM sl_chunks c JOIN sl_documents d ON d.key = c.document_key""",
    """CREATE VIRTUAL TABLE sl_chunk_search USING fts5(
        text, headings, content='sl_chunk_text', content_rowid='key',
        tokenize='porter unicode61 remove_diacritics 2')""",
    """CREATE TABLE sl_vectors (
        level TEXT NOT NULL, owner TEXT NOT NULL, model TEXT NOT NULL, rows INTEGER NOT NULL,
        columns INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (level, model,
        owner)) WITHOUT ROWID""",
)

_SCHEMA = (
    """CREATE TABLE sl_schemas (
        version INTEGER PRIMARY KEY, schema TEXT NOT NULL, reason TEXT NOT NULL,
        created TEXT NOT NULL)""",
    """CREATE TABLE sl_tables (
        key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
        relation TEXT NOT NULL UNIQUE COLLATE NOCASE, row_meaning TEXT NOT NULL,
        description TEXT NOT NULL, grain TEXT NOT NULL, key_columns TEXT NOT NULL,
        active INTEGER NOT NULL DEFAULT 1, revision INTEGER NOT NULL DEFAULT 0,
        current_version INTEGER)""",
    """CREATE TABLE sl_columns (
        key INTEGER PRIMARY KEY, table_key INTEGER NOT NULL REFERENCES sl_tables(key),
        name TEXT NOT NULL, sql_name TEXT NOT NULL COLLATE NOCASE, position INTEGER NOT NULL,
        type TEXT NOT NULL, description TEXT NOT NULL, unit TEXT NOT NULL, scale TEXT NOT NULL,
        active INTEGER NOT NULL DEFAULT 1, UNIQUE (table_key, name),
        UNIQUE (table_key, sql_name))""",
)

_EXTRACTION = (
    """CREATE TABLE sl_rows (
        key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
        table_key INTEGER NOT NULL REFERENCES sl_tables(key),
        document_key INTEGER NOT NULL REFERENCES sl_documents(key),
        chunk_key INTEGER NOT NULL REFERENCES sl_chunks(key), ordinal INTEGER NOT NULL)""",
    "CREATE INDEX sl_rows_table ON sl_rows(table_key, document_key)",
    "CREATE INDEX sl_rows_chunk ON sl_rows(chunk_key)",
    # Who said it: one line per call, so that a cell carries one integer instead of three texts.
    """CREATE TABLE sl_origins (
        key INTEGER PRIMARY KEY, call_id TEXT NOT NULL, model TEXT NOT NULL,
        prompt_hash TEXT NOT NULL, UNIQUE (call_id, model, prompt_hash))""",
    # `kind` marks what SQLite cannot hold by itself: 1 boolean, 2 large integer as text, 3 not
    # finite number as text.
    """CREATE TABLE sl_cells (
        row_key INTEGER NOT NULL REFERENCES sl_rows(key) ON DELETE CASCADE,
        column_key INTEGER NOT NULL, value, kind INTEGER, printed TEXT, grounding TEXT NOT NULL,
        document_key INTEGER, start INTEGER, stop INTEGER, page INTEGER, unit TEXT, scale TEXT,
        absence TEXT, detail TEXT, rationale TEXT, origin_key INTEGER,
        PRIMARY KEY (row_key, column_key)) WITHOUT ROWID""",
    """CREATE TABLE sl_work (
        key INTEGER PRIMARY KEY, table_key INTEGER NOT NULL REFERENCES sl_tables(key),
        hash TEXT NOT NULL, columns TEXT NOT NULL, UNIQUE (table_key, hash))""",
    """CREATE TABLE sl_tasks (
        work_key INTEGER NOT NULL REFERENCES sl_work(key) ON DELETE CASCADE,
        chunk_key INTEGER NOT NULL REFERENCES sl_chunks(key) ON DELETE CASCADE, state TEXT NOT NULL,
        reason TEXT NOT NULL, attempts INTEGER NOT NULL, at TEXT NOT NULL,
        PRIMARY KEY (work_key, chunk_key)) WITHOUT ROWID""",
    """CREATE VIEW cell_absence AS
        SELECT t.name AS table_name, r.id AS row_id, d.name AS document, k.name AS column_name,
            CASE WHEN c.row_key IS NULL THEN 'not asked' ELSE coalesce(c.absence,
            'ungrounded') END AS why, c.detail AS detail
        FROM sl_rows r JOIN sl_tables t ON t.key = r.table_key JOIN sl_documents d ON d.key =
        r.document_key
        JOIN sl_columns k ON k.table_key = r.table_key AND k.active
        LEFT JOIN sl_cells c ON c.row_key = r.key AND c.column_key = k.key
        JOIN sl_chunks h ON h.key = r.chunk_key AND h.active
        WHERE d.superseded_by IS NULL AND (c.row_key IS NULL OR c.absence IS NOT NULL OR c.grounding
        = 'none')""",
)

_JOURNAL = (
    """CREATE TABLE sl_runs (
        id INTEGER PRIMARY KEY, kind TEXT NOT NULL, question TEXT NOT NULL, status TEXT NOT NULL,
        started TEXT NOT NULL, finished TEXT, settings TEXT NOT NULL, outcome TEXT NOT NULL)""",
    """CREATE TABLE sl_decisions (
        id INTEGER PRIMARY KEY, run INTEGER REFERENCES sl_runs(id), stage TEXT NOT NULL,
        subject TEXT NOT NULL, verdict TEXT NOT NULL, reason TEXT NOT NULL, tokens INTEGER NOT NULL,
        at TEXT NOT NULL)""",
    "CREATE INDEX sl_decisions_subject ON sl_decisions(subject)",
    "CREATE INDEX sl_decisions_stage ON sl_decisions(stage)",
    """CREATE TABLE sl_sql_attempts (
        id INTEGER PRIMARY KEY, run INTEGER REFERENCES sl_runs(id), stage TEXT NOT NULL,
        question TEXT NOT NULL, sql TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL,
        rows INTEGER, seconds REAL NOT NULL, at TEXT NOT NULL)""",
    # A call that the cache answered has the id of the call that paid, and repeats
    # neither prompt nor reply.
    """CREATE TABLE sl_calls (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL, key TEXT NOT NULL,
        run INTEGER REFERENCES sl_runs(id), stage TEXT NOT NULL, model TEXT NOT NULL,
        prompt_hash TEXT NOT NULL, prompt TEXT, reply TEXT, data TEXT, finish_reason TEXT NOT NULL,
        salvaged INTEGER NOT NULL, token_logprobs TEXT, prompt_tokens INTEGER NOT NULL,
        completion_tokens INTEGER NOT NULL, seconds REAL NOT NULL, cost REAL NOT NULL,
        calls INTEGER NOT NULL, cached INTEGER NOT NULL, error TEXT NOT NULL,
        created REAL NOT NULL)""",
    "CREATE INDEX sl_calls_key ON sl_calls(key)",
    "CREATE INDEX sl_calls_id ON sl_calls(id)",
    "CREATE TABLE sl_statistics (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE sl_corrections (
        id INTEGER PRIMARY KEY, kind TEXT NOT NULL, table_name TEXT NOT NULL, subject TEXT NOT NULL,
        column_name TEXT NOT NULL, value TEXT NOT NULL, author TEXT NOT NULL, reason TEXT NOT NULL,
        created TEXT NOT NULL, revoked TEXT)""",
)

_VERSIONS = (
    """CREATE TABLE sl_table_versions (
        table_key INTEGER NOT NULL REFERENCES sl_tables(key), version INTEGER NOT NULL,
        parent INTEGER, relation TEXT NOT NULL, operation TEXT NOT NULL, sql TEXT NOT NULL,
        reason TEXT NOT NULL, columns TEXT NOT NULL, rows INTEGER NOT NULL,
        revision INTEGER NOT NULL, created TEXT NOT NULL,
        PRIMARY KEY (table_key, version)) WITHOUT ROWID""",
    # A value that is not one of its sources' values is declared here, by row or (row_id NULL)
    # for the whole column.
    """CREATE TABLE sl_derivations (
        key INTEGER PRIMARY KEY, table_key INTEGER NOT NULL REFERENCES sl_tables(key),
        version INTEGER NOT NULL, row_id TEXT, column_name TEXT NOT NULL, source_value, value,
        kind TEXT NOT NULL, reason TEXT NOT NULL)""",
    "CREATE INDEX sl_derivations_version ON sl_derivations(table_key, version, column_name)",
)

# The text of a document stands in the middle of its line, so that whatever comes after it is
# found only by walking over the text: lists of documents read this index instead, which
# holds all but the text.
_LISTING = (
    "ALTER TABLE sl_documents ADD COLUMN characters INTEGER NOT NULL DEFAULT 0",
    "UPDATE sl_documents SET characters = length(text)",
    """CREATE INDEX sl_documents_listed ON sl_documents(
        superseded_by, key, id, name, title, description, media_type, source, modified, characters,
        version, added, warnings)""",
)

FIRST = _DOCUMENTS + _CHUNKS + _SCHEMA + _EXTRACTION + _JOURNAL + _VERSIONS
SECOND = FIRST + _LISTING
