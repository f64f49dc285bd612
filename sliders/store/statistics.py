"""What the workspace has learned beside its rows: vectors, statistics, human corrections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import bindparam, select, update

from sliders.errors import StoreError
from sliders.store import codec
from sliders.store.database import Database
from sliders.store.layout import corrections, statistics, vectors
from sliders.store.records import Correction

Vectors = NDArray[np.float32]
_STATISTIC = select(statistics.c.value).where(statistics.c.key == bindparam("key"))


class Knowledge:
    """Vectors by level and owner, statistics by key, corrections."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save_vectors(self, level: str, model: str, arrays: Mapping[str, Vectors]) -> None:
        """Store embeddings of one model.

        Args:
            level: "document", "segment" ...
            arrays: array of shape (rows, dimension), or (dimension,), by owner (a
                document or chunk id).
        """
        self._database.add_many(
            vectors,
            (
                (level, model, owner, array.shape[0], array.shape[1], array.astype("<f4").tobytes())
                for owner, array in (
                    (owner, np.atleast_2d(array)) for owner, array in arrays.items()
                )
            ),
            there="replace",
        )

    def vectors(self, level: str, model: str) -> dict[str, Vectors]:
        """Embeddings by owner, each of shape (rows, dimension)."""
        found = select(vectors.c.owner, vectors.c.rows, vectors.c.columns, vectors.c.data)
        lines = self._database.query(
            found.where(vectors.c.level == level, vectors.c.model == model)
        )
        return {
            owner: np.frombuffer(data, "<f4").reshape(height, width)
            for owner, height, width, data in lines
        }

    def set_statistic(self, key: str, value: Any) -> None:
        """Keep a figure of the optimizer as plain JSON."""
        self._database.add_many(statistics, [(key, codec.dump(value))], there="replace")

    def statistic(self, key: str, default: Any = None) -> Any:
        """A kept figure."""
        text = self._database.value(_STATISTIC, {"key": key})
        return default if text is None else codec.load(text)

    def correct(self, correction: Correction) -> int:
        """Store a human decision; its number."""
        return self._database.add(
            corrections,
            kind=correction.kind,
            table_name=correction.table,
            subject=codec.dump(dict(correction.subject)),
            column_name=correction.column,
            value=codec.dump(correction.value),
            author=correction.author,
            reason=correction.reason,
            created=correction.created or codec.now(),
        )

    def corrections(self, table: str | None = None) -> list[Correction]:
        """Human decisions that are in force, oldest first."""
        c = corrections.c
        found = select(
            c.kind,
            c.table_name,
            c.subject,
            c.column_name,
            c.value,
            c.author,
            c.reason,
            c.id,
            c.created,
        ).where(c.revoked.is_(None))
        lines = self._database.query(
            (found if table is None else found.where(c.table_name == table)).order_by(c.id)
        )
        return [
            Correction(kind, name, codec.load(subject), column, codec.load(value), *rest)
            for kind, name, subject, column, value, *rest in lines
        ]

    def revoke(self, number: int) -> None:
        """Take a human decision back; it stays in the records.

        Raises:
            StoreError: there is none of that number in force.
        """
        in_force = update(corrections).where(
            corrections.c.id == number, corrections.c.revoked.is_(None)
        )
        if not self._database.execute(in_force.values(revoked=codec.now())):
            raise StoreError(
                f"the workspace has no correction {number} in force; list those that are with: "
                "sliders decisions"
            )
