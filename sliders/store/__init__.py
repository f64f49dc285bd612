"""The workspace file: one SQLite database with documents, chunks, cells, tables, decisions and calls."""
