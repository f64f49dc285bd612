"""The layout of an exported audit database, and the SELECTs that fill it from a workspace attached as `work`."""

from __future__ import annotations

AUDIT_VERSION = 2

AUDIT_SCHEMA: tuple[str, ...] = (
    "CREATE TABLE audit_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE audit_documents (
        id TEXT PRIMARY KEY, name TEXT, title TEXT, description TEXT, media_type TEXT, source TEXT, version INTEGER,
        superseded_by TEXT REFERENCES audit_documents(id), added TEXT, warnings TEXT, sha256 TEXT, text TEXT)""",
    """CREATE VIRTUAL TABLE audit_document_search USING fts5(
        title, text, content='audit_documents', tokenize='porter unicode61 remove_diacritics 2')""",
    """CREATE TABLE audit_pages (
        document_id TEXT REFERENCES audit_documents(id), number INTEGER, start INTEGER, stop INTEGER)""",
    """CREATE TABLE audit_chunks (
        id TEXT PRIMARY KEY, document_id TEXT REFERENCES audit_documents(id), position INTEGER, start INTEGER,
        stop INTEGER, tokens INTEGER, heading_path TEXT, page_from INTEGER, page_to INTEGER)""",
    """CREATE TABLE audit_tables (
        name TEXT PRIMARY KEY, relation TEXT UNIQUE, row_meaning TEXT, description TEXT, grain TEXT, key_columns TEXT,
        documents TEXT, version INTEGER)""",
    """CREATE TABLE audit_columns (
        id INTEGER PRIMARY KEY, table_name TEXT REFERENCES audit_tables(name), name TEXT, sql_name TEXT,
        position INTEGER, type TEXT, description TEXT, unit TEXT, scale TEXT, currency TEXT, allowed TEXT, reading TEXT,
        active INTEGER)""",
    """CREATE TABLE audit_rows (
        id TEXT PRIMARY KEY, table_name TEXT REFERENCES audit_tables(name),
        document_id TEXT REFERENCES audit_documents(id), chunk_id TEXT REFERENCES audit_chunks(id), ordinal INTEGER)""",
    """CREATE TABLE audit_cells (
        row_id TEXT NOT NULL REFERENCES audit_rows(id), column_id INTEGER NOT NULL REFERENCES audit_columns(id),
        value, printed TEXT, grounding TEXT, document_id TEXT REFERENCES audit_documents(id), start INTEGER,
        stop INTEGER, page INTEGER, unit TEXT, scale TEXT, absence TEXT, detail TEXT, rationale TEXT, how TEXT,
        odds TEXT, doubt TEXT, call_id TEXT, model TEXT, prompt_hash TEXT, PRIMARY KEY (row_id, column_id))""",
    # Further words that a value rests on, beside those of its cell.
    """CREATE TABLE audit_parts (
        row_id TEXT NOT NULL REFERENCES audit_rows(id), column_id INTEGER NOT NULL REFERENCES audit_columns(id),
        number INTEGER NOT NULL, printed TEXT, document_id TEXT REFERENCES audit_documents(id), start INTEGER,
        stop INTEGER, page INTEGER, PRIMARY KEY (row_id, column_id, number))""",
    """CREATE TABLE audit_lineage (
        table_name TEXT REFERENCES audit_tables(name), row_id TEXT REFERENCES audit_rows(id),
        source_row_id TEXT REFERENCES audit_rows(id))""",
    "CREATE INDEX audit_lineage_row ON audit_lineage(row_id)",
    """CREATE TABLE audit_table_versions (
        table_name TEXT REFERENCES audit_tables(name), version INTEGER, parent INTEGER, operation TEXT, sql TEXT,
        reason TEXT, rows INTEGER, created TEXT, PRIMARY KEY (table_name, version))""",
    """CREATE TABLE audit_derivations (
        table_name TEXT REFERENCES audit_tables(name), version INTEGER, row_id TEXT REFERENCES audit_rows(id),
        column_name TEXT, source_value, value, kind TEXT, reason TEXT)""",
    "CREATE INDEX audit_derivations_place ON audit_derivations(table_name, column_name)",
    """CREATE TABLE audit_runs (
        id INTEGER PRIMARY KEY, kind TEXT, question TEXT, status TEXT, started TEXT, finished TEXT, settings TEXT,
        outcome TEXT)""",
    """CREATE TABLE audit_decisions (
        id INTEGER PRIMARY KEY, run INTEGER REFERENCES audit_runs(id), stage TEXT, subject TEXT, verdict TEXT,
        reason TEXT, tokens INTEGER, at TEXT)""",
    """CREATE TABLE audit_sql_attempts (
        id INTEGER PRIMARY KEY, run INTEGER REFERENCES audit_runs(id), stage TEXT, question TEXT, sql TEXT,
        outcome TEXT, detail TEXT, rows INTEGER, seconds REAL, at TEXT)""",
    """CREATE TABLE audit_calls (
        number INTEGER PRIMARY KEY, id TEXT, run INTEGER REFERENCES audit_runs(id), stage TEXT, model TEXT,
        prompt_hash TEXT, prompt TEXT, reply TEXT, finish_reason TEXT, prompt_tokens INTEGER,
        completion_tokens INTEGER, seconds REAL, cost REAL, cached INTEGER, error TEXT, created TEXT)""",
    "CREATE INDEX audit_calls_id ON audit_calls(id)",
    """CREATE TABLE audit_corrections (
        id INTEGER PRIMARY KEY, kind TEXT, table_name TEXT, subject TEXT, column_name TEXT, value TEXT, author TEXT,
        reason TEXT, created TEXT, revoked TEXT)""",
    "CREATE TABLE audit_schemas (version INTEGER PRIMARY KEY, schema TEXT, reason TEXT, created TEXT)",
    """CREATE VIEW audit_evidence AS
        SELECT k.table_name, c.row_id, k.name AS column_name, c.value, c.printed, c.grounding, d.name AS document,
            c.page, replace(substr(d.text, max(c.start - 79, 1), c.stop - c.start + 160), char(10), ' ') AS quote,
            (SELECT group_concat(p.printed, ' ... ') FROM audit_parts p
                WHERE p.row_id = c.row_id AND p.column_id = c.column_id) AS further_words,
            c.how, c.rationale, c.odds, c.doubt, c.absence, c.detail
        FROM audit_cells c JOIN audit_columns k ON k.id = c.column_id
        LEFT JOIN audit_documents d ON d.id = c.document_id""",
)

# (target table, SELECT over `work` that gives its columns in order)
AUDIT_COPIES: tuple[tuple[str, str], ...] = (
    (
        "audit_documents",
        """SELECT d.id, d.name, d.title, d.description, d.media_type, d.source, d.version, n.id, d.added, d.warnings,
            d.sha256, d.text FROM work.sl_documents d LEFT JOIN work.sl_documents n ON n.key = d.superseded_by
            ORDER BY d.key""",
    ),
    (
        "audit_pages",
        """SELECT d.id, p.number, p.start, p.stop FROM work.sl_pages p
            JOIN work.sl_documents d ON d.key = p.document_key ORDER BY d.key, p.position""",
    ),
    (
        "audit_chunks",
        """SELECT c.id, d.id, c.position, c.start, c.stop, c.tokens,
            (SELECT group_concat(value, ' > ') FROM json_each(c.heading_path)), c.page_from, c.page_to
            FROM work.sl_chunks c JOIN work.sl_documents d ON d.key = c.document_key ORDER BY d.key, c.position""",
    ),
    (
        "audit_tables",
        """SELECT name, relation, row_meaning, description, grain,
            (SELECT group_concat(value, ', ') FROM json_each(key_columns)), documents, current_version
            FROM work.sl_tables ORDER BY key""",
    ),
    (
        "audit_columns",
        """SELECT c.key, t.name, c.name, c.sql_name, c.position, c.type, c.description, c.unit, c.scale, c.currency,
            c.allowed, c.reading, c.active FROM work.sl_columns c JOIN work.sl_tables t ON t.key = c.table_key""",
    ),
    (
        "audit_rows",
        """SELECT r.id, t.name, d.id, c.id, r.ordinal FROM work.sl_rows r
            JOIN work.sl_tables t ON t.key = r.table_key JOIN work.sl_documents d ON d.key = r.document_key
            JOIN work.sl_chunks c ON c.key = r.chunk_key ORDER BY r.key""",
    ),
    (
        "audit_cells",
        """SELECT r.id, c.column_key, c.value, c.printed, c.grounding,
            CASE WHEN c.start IS NOT NULL THEN coalesce(e.id, d.id) END, c.start, c.stop, c.page, c.unit, c.scale,
            c.absence, c.detail, c.rationale, coalesce(c.how, 'stated'), c.odds, c.doubt, o.call_id, o.model, o.prompt_hash
            FROM work.sl_cells c JOIN work.sl_rows r ON r.key = c.row_key
            JOIN work.sl_documents d ON d.key = r.document_key LEFT JOIN work.sl_documents e ON e.key = c.document_key
            LEFT JOIN work.sl_origins o ON o.key = c.origin_key""",
    ),
    (
        "audit_parts",
        """SELECT r.id, c.column_key, p.key, substr(e.text, (p.value ->> 0) + 1, (p.value ->> 1) - (p.value ->> 0)), e.id,
            p.value ->> 0, p.value ->> 1, p.value ->> 2
            FROM work.sl_cells c JOIN json_each(c.parts) p JOIN work.sl_rows r ON r.key = c.row_key
            JOIN work.sl_documents d ON d.key = r.document_key
            LEFT JOIN work.sl_documents e ON e.id = coalesce(p.value ->> 3, d.id)""",
    ),
    (
        "audit_table_versions",
        """SELECT t.name, v.version, v.parent, v.operation, v.sql, v.reason, v.rows, v.created
            FROM work.sl_table_versions v JOIN work.sl_tables t ON t.key = v.table_key""",
    ),
    (
        "audit_derivations",
        """SELECT t.name, d.version, d.row_id, d.column_name, d.source_value, d.value, d.kind, d.reason
            FROM work.sl_derivations d JOIN work.sl_tables t ON t.key = d.table_key""",
    ),
    (
        "audit_runs",
        "SELECT id, kind, question, status, started, finished, settings, outcome FROM work.sl_runs",
    ),
    (
        "audit_decisions",
        "SELECT id, run, stage, subject, verdict, reason, tokens, at FROM work.sl_decisions",
    ),
    (
        "audit_sql_attempts",
        "SELECT id, run, stage, question, sql, outcome, detail, rows, seconds, at FROM work.sl_sql_attempts",
    ),
    (
        "audit_calls",
        """SELECT number, id, run, stage, model, prompt_hash, prompt, reply, finish_reason, prompt_tokens,
            completion_tokens, seconds, cost, cached, error, datetime(created, 'unixepoch') FROM work.sl_calls""",
    ),
    (
        "audit_corrections",
        """SELECT id, kind, table_name, subject, column_name, value, author, reason, created, revoked
            FROM work.sl_corrections""",
    ),
    (
        "audit_schemas",
        "SELECT version, schema, reason, created FROM work.sl_schemas",
    ),
)
