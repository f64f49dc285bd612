"""What a question needs is found once: the same question again, after a kill or a year, goes straight to the cells."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from sliders.executor.session import Session
from sliders.llm.prompts import load_prompt
from sliders.schema.types import Schema, Table


def known_needs(session: Session, question: str) -> tuple[Table, tuple[str, ...]] | None:
    """The table and columns that were found for a question, None when it is new or its columns are gone."""
    kept = session.catalog.knowledge.statistic(_key(session, question))
    schema = session.catalog.schemas.current() or Schema()
    table = next((t for t in schema.tables if kept is not None and t.name == kept["table"]), None)
    if table is None or not set(kept["columns"]) <= set(table.column_names):
        return None
    return table, tuple(kept["columns"])


def keep_needs(session: Session, question: str, table: str, columns: Sequence[str]) -> None:
    """Keep what a question needs; another model or another prompt finds anew."""
    session.catalog.knowledge.set_statistic(_key(session, question), {"table": table, "columns": list(columns)})


def _key(session: Session, question: str) -> str:
    model, prompt = session.models.model_for("schema").name, load_prompt("schema/induce").hash
    return "needs:" + hashlib.sha256("\x1f".join((model, prompt, question)).encode()).hexdigest()[:32]
