"""Rows of a repaired data table: the result of a repair, and the lines of a stored version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sliders.errors import RepairError
from sliders.extraction.cell import Scalar
from sliders.store import codec
from sliders.store.records import TableVersion


@dataclass(frozen=True, slots=True)
class DataRow:
    """A row of a repaired table: `values` by SQL column name; `sources` are the ids of the
    extracted rows merged into it.
    """

    row_id: str
    document: str
    document_id: str
    values: Mapping[str, Scalar]
    sources: tuple[str, ...] = ()

    @classmethod
    def of(cls, line: Iterable[Any], columns: Iterable[str]) -> DataRow:
        """Makes a row from a line of the system columns followed by these columns."""
        document, document_id, row_id, sources, *values = line
        named = dict(zip(columns, values, strict=True))
        return cls(row_id, document, document_id, named, tuple(codec.load(sources) or (row_id,)))


def odd_columns(made: Iterable[DataRow]) -> set[str]:
    """Returns the columns with a value that is no whole number, or is too large for an integer of
    the server.
    """
    return {name for row in made for name, value in row.values.items() if _is_odd(value)}


def _is_odd(value: Scalar) -> bool:
    return (isinstance(value, float) and not value.is_integer()) or (
        isinstance(value, int) and abs(value) >= 2**63
    )


def lines_of(made: Iterable[DataRow], version: TableVersion) -> Iterator[tuple[Any, ...]]:
    """Returns the lines of a version's physical table for these rows.

    Raises:
        RepairError: a row leaves out a column of the schema.
    """
    beside = {c.sql_name for c in version.companions}
    for row in made:
        missing = [
            name for name in version.columns if name not in row.values and name not in beside
        ]
        if missing:
            raise RepairError(
                f"row {row.row_id!r} of the repair loses {', '.join(missing)}; give every column"
            )
        values = (codec.encode_scalar(row.values.get(name))[0] for name in version.columns)
        sources = codec.dump(row.sources) if row.sources else None
        yield (*values, row.document, row.document_id, row.row_id, sources)
