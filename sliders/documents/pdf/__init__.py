"""PDF pages as text with tables: words, columns, ruled lines."""
