"""What the workspace has learned beside its rows: vectors, statistics, human corrections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sliders.errors import StoreError
from sliders.store import codec
from sliders.store.database import Database
from sliders.store.migrations import now
from sliders.store.records import Correction

Vectors = NDArray[np.float32]


class Knowledge:
    """Vectors by level and owner, statistics by key, corrections."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save_vectors(self, level: str, model: str, vectors: Mapping[str, Vectors]) -> None:
        """Store embeddings of one model.

        Args:
            level: "document", "segment" ...
            vectors: array of shape (rows, dimension), or (dimension,), by owner (a document or chunk id).
        """
        self._database.insert_many(
            "INSERT OR REPLACE INTO sl_vectors VALUES (?,?,?,?,?,?)",
            (
                (level, owner, model, array.shape[0], array.shape[1], array.astype("<f4").tobytes())
                for owner, array in ((owner, np.atleast_2d(array)) for owner, array in vectors.items())
            ),
        )

    def vectors(self, level: str, model: str) -> dict[str, Vectors]:
        """Embeddings by owner, each of shape (rows, dimension)."""
        rows = self._database.query(
            "SELECT owner, rows, columns, data FROM sl_vectors WHERE level = ? AND model = ?", (level, model)
        )
        return {owner: np.frombuffer(data, "<f4").reshape(height, width) for owner, height, width, data in rows}

    def set_statistic(self, key: str, value: Any) -> None:
        """Keep a figure of the optimizer as plain JSON."""
        self._database.execute("INSERT OR REPLACE INTO sl_statistics VALUES (?,?)", (key, codec.dump(value)))

    def statistic(self, key: str, default: Any = None) -> Any:
        """A kept figure."""
        text = self._database.value("SELECT value FROM sl_statistics WHERE key = ?", (key,))
        return default if text is None else codec.load(text)

    def correct(self, correction: Correction) -> int:
        """Store a human decision; its number."""
        return self._database.insert(
            """INSERT INTO sl_corrections (kind, table_name, subject, column_name, value, author, reason, created)
            VALUES (?,?,?,?,?,?,?,?)""",
            (
                correction.kind, correction.table, codec.dump(dict(correction.subject)), correction.column,
                codec.dump(correction.value), correction.author, correction.reason, correction.created or now(),
            ),
        )  # fmt: skip

    def corrections(self, table: str | None = None) -> list[Correction]:
        """Human decisions that are in force, oldest first."""
        rows = self._database.query(
            """SELECT kind, table_name, subject, column_name, value, author, reason, id, created FROM sl_corrections
            WHERE revoked IS NULL AND (?1 IS NULL OR table_name = ?1) ORDER BY id""",
            (table,),
        )
        return [
            Correction(kind, name, codec.load(subject), column, codec.load(value), author, reason, number, created)
            for kind, name, subject, column, value, author, reason, number, created in rows
        ]

    def revoke(self, number: int) -> None:
        """Take a human decision back; it stays in the records.

        Raises:
            StoreError: there is none of that number in force.
        """
        sql = "UPDATE sl_corrections SET revoked = ? WHERE id = ? AND revoked IS NULL"
        if not self._database.execute(sql, (now(), number)):
            raise StoreError(f"the workspace has no correction {number} in force; list those that are with: sliders decisions")
