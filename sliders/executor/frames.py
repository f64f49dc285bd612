"""Data tables as pandas frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from sliders.answer.result import frame_of
from sliders.errors import StoreError
from sliders.executor.session import Session
from sliders.schema.types import Schema
from sliders.store.database import quote_identifier


class Tables(Mapping[str, pd.DataFrame]):
    """The current version of each data table, read on access."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in {t for t in self}:
            raise StoreError(f"there is no table {name!r}; tables are: {', '.join(self) or 'none yet'}")
        relation = self._session.catalog.schemas.relation(name)
        columns = [c.sql_name for c in relation.columns] + ["document", "document_id", "row_id"]
        quoted = ", ".join(quote_identifier(c) for c in columns)
        rows = self._session.catalog.database.query(f'SELECT {quoted} FROM {quote_identifier(relation.relation)}')
        return frame_of(columns, rows)

    def __iter__(self) -> Iterator[str]:
        schema = self._session.catalog.schemas.current() or Schema()
        return (t.name for t in schema.tables if self._session.catalog.tables.current(t.name) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)
