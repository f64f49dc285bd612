"""The tables of a workspace that hold what was learned and decided beside its rows."""

from __future__ import annotations

from sqlalchemy.schema import Column, ForeignKey, Index, Table
from sqlalchemy.types import Double, Text

from sliders.store.layout_columns import (
    INTEGER,
    METADATA,
    TypedValue,
    key,
    maybe,
    numbers,
    part,
    texts,
    to,
)

# Open questions of reconciliation. A contradiction has a line for each of its sides, a name a line
# for each of its printed forms.
conflicts = Table(
    "sl_conflicts",
    METADATA,
    part("table_name", Text),
    part("number"),
    part("side"),
    *texts("column_name thing reason"),
    Column("value", TypedValue),
    *maybe("kind", INTEGER),
    *texts("document quote"),
    *maybe("page", INTEGER),
    sqlite_with_rowid=False,
)
open_names = Table(
    "sl_open_names",
    METADATA,
    part("table_name", Text),
    part("number"),
    part("side"),
    part("position"),
    *texts("column_name form reason"),
    *numbers("joined"),
    sqlite_with_rowid=False,
)
# Extracted rows that belong together: `kind` says why ("conflict", "names", "left open",
# "merged", "undone"), `number` and `part` which of them.
row_groups = Table(
    "sl_row_groups",
    METADATA,
    part("table_name", Text),
    part("kind", Text),
    part("number"),
    part("part"),
    part("position"),
    *texts("row_id"),
    Index("sl_row_groups_row", "row_id"),
    sqlite_with_rowid=False,
)
# The inputs that a data table was settled from, and a model's decisions on its groups.
settled = Table(
    "sl_settled",
    METADATA,
    part("table_name", Text),
    *numbers("version"),
    *texts("corrections terms"),
    *numbers("by_model"),
    *texts("documents"),
    sqlite_with_rowid=False,
)
settlements = Table(
    "sl_settlements",
    METADATA,
    part("table_name", Text),
    part("signature", Text),
    *texts("verdict reason key_columns programs"),
    sqlite_with_rowid=False,
)
# Facts of all documents together, in one line.
collection = Table(
    "sl_collection",
    METADATA,
    key(),
    *texts("criteria", "[]"),
    *maybe("counted day_first", INTEGER),
    *texts("decimal", ""),
    *texts("sampled_from samples", "[]"),
)
document_facts = Table(
    "sl_document_facts",
    METADATA,
    Column(
        "document_id", Text, ForeignKey("sl_documents.id", ondelete="CASCADE"), primary_key=True
    ),
    *maybe("card date"),
    *maybe("day_first", INTEGER),
    sqlite_with_rowid=False,
)
# Measurements of queries: of a filter or an attribute (`kind`) how often it held; of attributes
# how far from them a document may be.
query_figures = Table(
    "sl_query_figures",
    METADATA,
    part("table_name", Text),
    part("kind", Text),
    part("subject", Text),
    *maybe("hits trials", Double),
    *maybe("ranks places scores"),
    *maybe("distance", Double),
    sqlite_with_rowid=False,
)
# The columns that a question needs, by the hash of the question, the model and the prompt.
questions = Table(
    "sl_questions",
    METADATA,
    part("hash", Text),
    *texts("question columns uncovered draft"),
    *maybe("hints"),
    sqlite_with_rowid=False,
)
# Lines of printed grids of which nothing was read; they may be rows.
unread_lines = Table(
    "sl_unread_lines",
    METADATA,
    key(),
    *texts("table_name"),
    to("chunk_key", "sl_chunks.key", cascade=True),
    *texts("finding printed"),
    Index("sl_unread_lines_table", "table_name"),
)
