"""Facts beside the rows of a workspace: vectors, the decisions of people, and notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete, select, update

from sliders.errors import StoreError
from sliders.store import codec
from sliders.store.database import Database
from sliders.store.layout import corrections, meta, vectors
from sliders.store.records import Correction

Vectors = NDArray[np.float32]
Places = NDArray[np.int64]
"""The places of segments, shape (n, 3): start, end (characters) and tokens of each."""


class Knowledge:
    """Vectors by level and owner, decisions of people, and notes by name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save_vectors(
        self,
        level: str,
        model: str,
        arrays: Mapping[str, Vectors],
        places: Mapping[str, Places] | None = None,
    ) -> None:
        """Stores embeddings of one model.

        Args:
            level: "document", "segment" ...
            arrays: array of shape (rows, dimension), or (dimension,), by owner (a document or chunk
                id).
            places: the places of the segments that belong to the rows after the first, by owner.
        """
        held = {} if places is None else places
        self._database.add_many(
            vectors,
            (
                (
                    level,
                    model,
                    owner,
                    *array.shape,
                    array.astype("<f4").tobytes(),
                    held[owner].astype("<i8").tobytes() if owner in held else None,
                )
                for owner, array in (
                    (owner, np.atleast_2d(array)) for owner, array in arrays.items()
                )
            ),
            there="replace",
        )

    def vectors(self, level: str, model: str) -> dict[str, Vectors]:
        """Returns embeddings by owner, each of shape (rows, dimension)."""
        return {owner: array for owner, (array, _) in self.segments(level, model).items()}

    def segments(self, level: str, model: str) -> dict[str, tuple[Vectors, Places]]:
        """Returns embeddings by owner, with the places of their segments."""
        v = vectors.c
        found = select(v.owner, v.rows, v.columns, v.data, v.places)
        lines = self._database.query(found.where(v.level == level, v.model == model))
        return {
            owner: (
                np.frombuffer(data, "<f4").reshape(height, width),
                np.frombuffer(places or b"", "<i8").reshape(-1, 3),
            )
            for owner, height, width, data, places in lines
        }

    def keep(self, name: str, value: Any) -> None:
        """Stores a note of plain JSON; it replaces the note of that name."""
        self._database.add_many(meta, [(name, codec.dump(value))], there="replace")

    def kept(self, name: str) -> Any:
        """Returns the note of a name, None when there is none."""
        return codec.load(self._database.value(select(meta.c.value).where(meta.c.name == name)))

    def forget(self, name: str) -> None:
        """Deletes the note of a name."""
        self._database.execute(delete(meta).where(meta.c.name == name))

    def correct(self, correction: Correction) -> int:
        """Stores a decision of a person, and returns its number."""
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
        """Returns the decisions of people that are in force, oldest first; of one table when
        given.
        """
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
        """Takes a decision back; it stays in the records.

        Raises:
            StoreError: no decision of that number is in force.
        """
        in_force = update(corrections).where(
            corrections.c.id == number, corrections.c.revoked.is_(None)
        )
        if not self._database.execute(in_force.values(revoked=codec.now())):
            raise StoreError(
                f"the workspace has no correction {number} in force; list those that are with: "
                "sliders decisions"
            )
