"""Metadata of Datasette for an exported audit database: titles, units, facets, and a canned query
for each question.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from sliders.audit.workbook import columns_of, meaning
from sliders.schema.types import ColumnType
from sliders.store.catalog import Catalog
from sliders.store.records import Relation

_SEEN = ("audit_documents", "audit_evidence", "audit_decisions", "audit_runs")
_FACETS = (ColumnType.CATEGORY, ColumnType.BOOLEAN, ColumnType.TEXT)
_MOST_VALUES = 12
"""The most different values in a column that is offered as a facet."""


def metadata_path(database: Path) -> Path:
    """Returns the path of the metadata file: beside the audit database, with the ending
    `.metadata.yaml`.
    """
    return database.with_suffix(".metadata.yaml")


def datasette_metadata(catalog: Catalog, database: Path, hidden: list[str]) -> str:
    """Returns the metadata as YAML, for `datasette DATABASE --metadata FILE`.

    Args:
        database: the exported audit database.
        hidden: the names of its tables and views that are no data tables.
    """
    relations = [one for one in catalog.schemas.relations() if one.current_version is not None]
    tables: dict[str, Any] = {one.relation: _table(catalog, one) for one in relations}
    tables |= {name: {"hidden": True} for name in hidden if name not in _SEEN}
    tables["audit_evidence"] = {"title": "The words behind each value"}
    documents = len(catalog.documents.all())
    return yaml.safe_dump(
        {
            "title": database.stem,
            "description": f"Tables read from {documents} documents. The words behind each value "
            "stand in audit_evidence.",
            "databases": {database.stem: {"tables": tables, "queries": _queries(catalog)}},
        },
        sort_keys=False,
        allow_unicode=True,
        width=100,
    )


def _table(catalog: Catalog, relation: Relation) -> dict[str, Any]:
    known = catalog.schemas.current()
    assert known is not None  # a relation is of a schema
    table = known.table(relation.name)
    of_column = columns_of(catalog, relation)
    told = {c.sql_name: meaning(of_column[c.name]) for c in relation.columns}
    facets = [
        c.sql_name
        for c in relation.columns
        if of_column[c.name].type in _FACETS and _few(catalog, relation, c.sql_name)
    ]
    kept = {"title": table.description or table.row, "facets": facets}
    return {
        **{name: value for name, value in kept.items() if value},
        "columns": {name: words for name, words in told.items() if words},
    }


def _few(catalog: Catalog, relation: Relation, column: str) -> bool:
    """True when the values of a column repeat and are few."""
    values = [value for (value,) in catalog.tables.read(relation.name, [column])[1]]
    different = {value for value in values if value is not None}
    return 1 < len(different) <= min(_MOST_VALUES, len(values) - 1)


def _queries(catalog: Catalog) -> dict[str, Any]:
    """The statement of the last answer to each question."""
    answers = {
        str(answer["question"]): answer
        for run in catalog.journal.runs()
        for answer in run.outcome.get("answers", ())
        if answer.get("sql")
    }
    return {
        f"question_{number}": {"title": question, "sql": answer["sql"]}
        for number, (question, answer) in enumerate(answers.items(), 1)
    }
