"""The extension of a schema by a later question: it adds columns to the tables that exist, instead
of making similar ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sliders.schema.names import free_name, spoken_name
from sliders.schema.types import Column, ColumnType, Schema, Table
from sliders.values.folding import fold

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""A function from texts to unit vectors, shape (n, d)."""

_SAME_DOCUMENTS = 0.80
_SAME_TABLE = 0.60
_FAMILIES = {
    ColumnType.INTEGER: "number",
    ColumnType.NUMBER: "number",
    ColumnType.DATE: "date",
    ColumnType.DATETIME: "date",
    ColumnType.TEXT: "text",
    ColumnType.CATEGORY: "text",
    ColumnType.BOOLEAN: "boolean",
}


@dataclass(frozen=True, slots=True)
class MergedSchema:
    """The schema with a proposal in it: the table that took it, and the column that each proposed
    column became.

    `places` maps the name of a proposed column to its name in the table; columns that a pinned
    table did not take are missing.
    """

    schema: Schema
    table: Table
    places: dict[str, str]


def merge_table(
    schema: Schema, proposal: Table, embed: Embed, *, rivals: Schema | None = None
) -> MergedSchema:
    """Returns the schema with the proposal's new columns in the table that means the same, or with
    the proposal as a new table.

    Args:
        rivals: the tables that the proposal may belong to; those of `schema` when left out. Pinned
            tables keep exactly their columns; other tables keep the names, types and descriptions
            of their columns.
    """
    home = _home(schema if rivals is None else rivals, proposal, embed)
    if home is None:
        own = tuple(name for name in proposal.key if name in proposal.column_names)
        name = free_name(proposal.name, [t.name for t in schema.tables])
        named = replace(proposal, name=name, key=own)
        return MergedSchema(
            Schema((*schema.tables, named)), named, {name: name for name in named.column_names}
        )
    home = schema.table(home.name)
    columns, places = list(home.columns), dict[str, str]()
    for column in proposal.columns:  # no two of them are one: the model tells them apart
        others = {*places.values(), *proposal.column_names} - ({column.name} - {*places.values()})
        twin = same_column(column, [c for c in columns if c.name not in others])
        if twin is None and home.pinned:
            continue
        if twin is None:
            twin = replace(column, name=_own_name(column, columns))
            columns.append(twin)
        elif set(column.values) - set(twin.values) and twin.values and not twin.pinned:
            columns[columns.index(twin)] = replace(
                twin, values=tuple(dict.fromkeys([*twin.values, *column.values]))
            )
        places[column.name] = twin.name
    grown = replace(home, columns=tuple(columns))
    return MergedSchema(schema.with_table(grown), grown, places)


def same_column(column: Column, others: Sequence[Column]) -> Column | None:
    """Returns the column among `others` that is the same: of one family of types, with the same
    words in its name or description. None for none.

    Embeddings do not help here: "buyer" lies as near to "seller" as "sale price" to "selling price"
    (cosine .97, .96), and a model that sees the existing columns reuses their names for the same
    fact.
    """
    rivals = [
        o for o in others if _FAMILIES[o.type] == _FAMILIES[column.type] and _one_unit(o, column)
    ]
    own = [
        o
        for o in others
        if (o in rivals or o.pinned) and o.name in (column.name, f"{column.name}_{o.type.value}")
    ]
    named = min(own, key=lambda o: len(o.name), default=None)
    return named or next((o for o in rivals if _in_same_words(o, column)), None)


def _in_same_words(one: Column, other: Column) -> bool:
    names = [sorted(spoken_name(column.name).split()) for column in (one, other)]
    return names[0] == names[1] or bool(
        one.description and fold(one.description) == fold(other.description)
    )


def _one_unit(one: Column, other: Column) -> bool:
    pairs = ((one.unit, other.unit), (one.currency, other.currency))
    return all(not (a and b) or a == b for a, b in pairs)


def _own_name(column: Column, others: Sequence[Column]) -> str:
    """The column's name; when a column of another type has the name, the type is added to it."""
    taken = [o.name for o in others]
    if column.name not in taken:
        return column.name
    return free_name(f"{column.name}_{column.type.value}", taken)


def _home(schema: Schema, proposal: Table, embed: Embed) -> Table | None:
    """Returns the table to which a proposal belongs: a table of that name, or with rows of that
    kind from the same kind of document; None for none.
    """
    for table in schema.tables:
        if table.name == proposal.name:
            return table
    rivals = [
        t
        for t in schema.tables
        if t.grain == proposal.grain and _same_documents(t, proposal, embed)
    ]
    rivals = [
        t
        for t in rivals
        if not t.pinned or all(same_column(c, t.columns) for c in proposal.columns)
    ]
    if proposal.grain == "document" and rivals:
        return rivals[0]  # a row is a document in both
    if not rivals:
        return None
    scores = _nearness([(proposal.name, proposal.row)], [(t.name, t.row) for t in rivals], embed)
    best = int(np.argmax(scores))
    return rivals[best] if float(scores[best]) >= _SAME_TABLE else None


def _same_documents(one: Table, other: Table, embed: Embed) -> bool:
    if one.documents == other.documents:
        return True
    if not (one.documents and other.documents):
        return False
    vectors = embed([one.documents, other.documents])
    return float(vectors[0] @ vectors[1]) >= _SAME_DOCUMENTS


def _nearness(
    one: Sequence[tuple[str, str]], others: Sequence[tuple[str, str]], embed: Embed
) -> NDArray[np.float32]:
    """Returns the cosine of one name with its words to each of the others, shape (n,); the cosine
    of the names alone if that is larger.
    """
    pairs = [*one, *others]
    names = embed([spoken_name(name) for name, _ in pairs])
    words = embed(
        [f"{spoken_name(name)}: {said}" if said else spoken_name(name) for name, said in pairs]
    )
    scores: NDArray[np.float32] = np.maximum(names[1:] @ names[0], words[1:] @ words[0])
    return scores


def with_added(schema: Schema, before: Schema, now: Schema) -> Schema:
    """Returns a schema that was made from `before`, with the tables and columns that `now` has
    beside `before`.
    """
    there = {table.name: table for table in schema.tables}
    earlier = {table.name: table.column_names for table in before.tables}
    for table in now.tables:
        own = there.get(table.name, replace(table, columns=()))
        known = {*own.column_names, *earlier.get(table.name, ())}
        if table.name in there or table.name not in earlier:
            added = tuple(column for column in table.columns if column.name not in known)
            there[table.name] = replace(own, columns=(*own.columns, *added))
    return Schema(tuple(there.values()))
