"""The changes of a connection to a SQLite file: temporary triggers report each added or removed row
to this process. Only this connection has them; another program's changes are not reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

from sliders.sql.quoting import quote_identifier
from sliders.store.engines import Connection, Sums

MODULUS = 2**128
DEFINITIONS = "sqlite_master"
DEFINED = (
    "SELECT type, name, tbl_name, sql FROM sqlite_master "
    "WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
)
_TRIGGERS = {"INSERT": ((1, "NEW"),), "DELETE": ((-1, "OLD"),), "UPDATE": ((-1, "OLD"), (1, "NEW"))}
_HELD = "SELECT rows, digest FROM sl_digests WHERE subject = ?"
_KEEP = "INSERT OR REPLACE INTO sl_digests (subject, rows, digest) VALUES (?, ?, ?)"


def row_digest(values: tuple[Any, ...]) -> int:
    """The digest of a row's values, including their types."""
    said = repr(values).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(said, digest_size=16).digest())


def total_of(digest: object) -> int:
    """Returns a stored sum; a stored value that is no sum gives a number that equals no sum."""
    try:
        return int(str(digest)) % MODULUS
    except ValueError:
        return -1


def sums_of(rows: Iterable[tuple[Any, ...]]) -> Sums:
    """The number of rows, and the sum of their digests."""
    count = total = 0
    for row in rows:
        count += 1
        total += row_digest(row)
    return count, total % MODULUS


class FileWatch:
    """See `TableWatch`."""

    def __init__(self, database: Connection, raw: Any, tables: Sequence[str]) -> None:
        self._database = database
        self._changes: dict[str, Sums] = {}
        self._defined: list[tuple[Any, ...]] | None = None
        raw.create_function("sl_changed", -1, self._changed)
        # Else a row that is replaced goes without a trigger.
        raw.execute("PRAGMA recursive_triggers=ON")
        for number, table in enumerate(tables):
            listed = database.query("SELECT name FROM pragma_table_info(?)", (table,))
            names = [quote_identifier(name) for (name,) in listed]
            for event, sides in _TRIGGERS.items():
                told = (
                    f"sl_changed('{table}', {sign}, {', '.join(f'{side}.{n}' for n in names)})"
                    for sign, side in sides
                )
                raw.execute(
                    f"CREATE TEMP TRIGGER sl_{event.lower()}_{number} AFTER {event} ON "
                    f"main.{table} BEGIN SELECT {', '.join(told)}; END"
                )

    def _changed(self, table: str, sign: int, *values: Any) -> None:
        self.add(table, (sign, sign * row_digest(values)))

    def add(self, subject: str, sums: Sums) -> None:
        rows, total = self._changes.get(subject, (0, 0))
        self._changes[subject] = rows + sums[0], total + sums[1]

    def mark(self) -> dict[str, Sums]:
        return dict(self._changes)

    def back(self, mark: dict[str, Sums] | None) -> None:
        self._changes = mark or {}
        if mark is None:
            self._defined = None

    def defining(self) -> None:
        if self._defined is None:
            self._defined = self._database.query(DEFINED)

    def fold(self) -> None:
        if self._defined is not None:
            before, after = Counter(self._defined), Counter(self._database.query(DEFINED))
            for sign, lines in ((1, after - before), (-1, before - after)):
                for line in lines:
                    self.add(DEFINITIONS, (sign, sign * row_digest(line)))
        for subject, (rows, total) in self._changes.items():
            held = (self._database.query(_HELD, (subject,)) or [(0, "0")])[0]
            count = held[0] if isinstance(held[0], int) else -1
            kept = (count + rows, str((total_of(held[1]) + total) % MODULUS))
            self._database.execute(_KEEP, (subject, *kept))
        self.back(None)
