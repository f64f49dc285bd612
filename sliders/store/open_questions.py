"""Questions that nobody decided yet, by table: contradictions, names, rows that may be one thing,
and lines that were not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import BindParameter, bindparam, delete, select

from sliders.store import codec
from sliders.store.database import Database
from sliders.store.fact_tables import conflicts, open_names, row_groups, unread_lines
from sliders.store.facts import (
    ConflictSide,
    OpenConflict,
    OpenNames,
    RowGroups,
    UnreadLine,
    Unsettled,
)
from sliders.store.layout import chunks

_OF: BindParameter[str] = bindparam("of")
_CONFLICTS = (
    select(*(c for c in conflicts.c if c.name != "table_name"))
    .where(conflicts.c.table_name == _OF)
    .order_by(conflicts.c.number, conflicts.c.side)
)
_NAMES = (
    select(*(c for c in open_names.c if c.name != "table_name"))
    .where(open_names.c.table_name == _OF)
    .order_by(open_names.c.number, open_names.c.side, open_names.c.position)
)
_GROUPS = (
    select(row_groups.c.number, row_groups.c.part, row_groups.c.row_id)
    .where(row_groups.c.table_name == _OF, row_groups.c.kind == bindparam("why"))
    .order_by(row_groups.c.number, row_groups.c.part, row_groups.c.position)
)
_NO_GROUPS = delete(row_groups).where(
    row_groups.c.table_name == _OF, row_groups.c.kind == bindparam("why")
)
_UNREAD = (
    select(chunks.c.id, unread_lines.c.finding, unread_lines.c.printed)
    .join_from(unread_lines, chunks)
    .where(unread_lines.c.table_name == _OF)
    .order_by(unread_lines.c.key)
)
_CHUNK = select(chunks.c.key).where(chunks.c.id == bindparam("chunk"))
_READ = delete(unread_lines).where(
    unread_lines.c.table_name == _OF, unread_lines.c.chunk_key == _CHUNK.scalar_subquery()
)


class OpenQuestions:
    """The open questions of each table."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, table: str, left: Unsettled) -> None:
        """Stores the questions that reconciliation left open; they replace the earlier ones of the
        table.
        """
        database = self._database
        with database.transaction():
            for of in (conflicts, open_names):
                database.execute(delete(of).where(of.c.table_name == _OF), {"of": table})
            database.add_many(conflicts, self._sides(table, left.conflicts))
            database.add_many(open_names, _forms(table, left.names))
            sides = [[side.rows for side in one.candidates] for one in left.conflicts]
            self._keep_groups(table, "conflict", sides)
            self._keep_groups(table, "names", [names.rows for names in left.names])
            self._keep_groups(table, "left open", [(rows,) for rows in left.left_open])
            self._keep_groups(table, "merged", left.merges)

    def conflicts(self, table: str) -> list[OpenConflict]:
        """Returns the open contradictions of a table, in order."""
        rows = self._groups(table, "conflict")
        found = []
        lines = self._database.query(_CONFLICTS, {"of": table})
        for number, of_one in groupby(lines, itemgetter(0)):
            listed = list(of_one)
            _, _, column, thing, reason, *_ = listed[0]
            sides = tuple(
                ConflictSide(
                    codec.decode_scalar(value, kind),
                    rows.get(number, {}).get(side, ()),
                    document,
                    quote,
                    page,
                )
                for _, side, _, _, _, value, kind, document, quote, page in listed
            )
            found.append(OpenConflict(table, column, tuple(codec.load(thing)), reason, sides))
        return found

    def names(self, table: str) -> list[OpenNames]:
        """Returns the names of a table on which nobody decided, in order."""
        rows = self._groups(table, "names")
        found = []
        lines = self._database.query(_NAMES, {"of": table})
        for number, of_one in groupby(lines, itemgetter(0)):
            listed = list(of_one)
            *_, column, _, reason, joined = listed[0]
            sides = tuple(
                tuple(line[4] for line in of_side) for _, of_side in groupby(listed, itemgetter(1))
            )
            groups = tuple(rows.get(number, {}).values())
            found.append(OpenNames(column, sides, reason, bool(joined), groups))
        return found

    def left_open(self, table: str) -> RowGroups:
        """Returns groups of extracted rows that may be one thing and that the model left open."""
        return tuple(parts[0] for parts in self._groups(table, "left open").values())

    def merges(self, table: str) -> tuple[RowGroups, ...]:
        """Returns merged rows that may be several things, each by the extracted rows that would
        then stand apart.
        """
        return tuple(tuple(parts.values()) for parts in self._groups(table, "merged").values())

    def undone(self, table: str) -> frozenset[str]:
        """Returns the extracted rows whose repairs a person undid."""
        return frozenset(self._groups(table, "undone").get(0, {}).get(0, ()))

    def keep_undone(self, table: str, rows: Sequence[str]) -> None:
        """Stores the rows whose repairs a person undid; they replace the earlier ones."""
        with self._database.transaction():
            self._keep_groups(table, "undone", [(rows,)])

    def unread(self, table: str) -> list[UnreadLine]:
        """Returns the lines of grids that gave no row of a table, in the order of reading."""
        lines = self._database.query(_UNREAD, {"of": table})
        return [
            UnreadLine(chunk, finding, tuple(codec.load(printed).items()))
            for chunk, finding, printed in lines
        ]

    def keep_unread(self, table: str, chunk_id: str, lines: Sequence[UnreadLine]) -> None:
        """Stores the lines of a chunk that gave no row; they replace the earlier ones."""
        if not lines:
            self._database.execute(_READ, {"of": table, "chunk": chunk_id})
            return
        with self._database.transaction():
            self._database.execute(_READ, {"of": table, "chunk": chunk_id})
            key = self._database.value(_CHUNK, {"chunk": chunk_id})
            self._database.add_many(
                unread_lines,
                [(table, key, line.finding, codec.dump(dict(line.values))) for line in lines],
                ("table_name", "chunk_key", "finding", "printed"),
            )

    def _sides(self, table: str, found: Sequence[OpenConflict]) -> Iterator[tuple[Any, ...]]:
        for number, one in enumerate(found):
            for place, side in enumerate(one.candidates):
                value, kind = codec.encode_scalar(side.value)
                told = (one.column, codec.dump(one.key), one.reason)
                said = (self._database.engine.encode(value), kind)
                yield (table, number, place, *told, *said, side.document, side.quote, side.page)

    def _keep_groups(self, table: str, why: str, groups: Sequence[Sequence[Sequence[str]]]) -> None:
        self._database.execute(_NO_GROUPS, {"of": table, "why": why})
        self._database.add_many(
            row_groups,
            (
                (table, why, number, place, position, row)
                for number, parts in enumerate(groups)
                for place, rows in enumerate(parts)
                for position, row in enumerate(rows)
            ),
        )

    def _groups(self, table: str, why: str) -> dict[int, dict[int, tuple[str, ...]]]:
        """Returns row ids by number of the group and part, in order."""
        found: dict[int, dict[int, tuple[str, ...]]] = {}
        for number, part, row in self._database.query(_GROUPS, {"of": table, "why": why}):
            parts = found.setdefault(number, {})
            parts[part] = (*parts.get(part, ()), row)
        return found


def _forms(table: str, found: Sequence[OpenNames]) -> Iterator[tuple[Any, ...]]:
    for number, one in enumerate(found):
        for place, side in enumerate(one.sides):
            for position, form in enumerate(side):
                told = (one.column, form, one.reason, int(one.joined))
                yield (table, number, place, position, *told)
