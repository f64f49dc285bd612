"""How many rows a document fills: said with each question by a small model, and seen where
documents list their rows.

A proposal is written from the beginning of one document; whether "a course" stands there once or
nine times is seen by asking documents for all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from statistics import median

from sliders.schema.proposed import RowsTold
from sliders.schema.row_names import called_as_row, names_row, naming_column, row_noun
from sliders.schema.types import Grain, Table

SEVERAL = 3
"""Rows of a document from which on its table has several a document: of one thing a small
model may list two forms.
"""
_LISTED_WITH = 2


@dataclass(frozen=True, slots=True)
class Kind:
    """What the documents show of one kind of row: how many rows each has, and the table that
    is filled with them.
    """

    grain: Grain
    table: str
    row: str


async def kinds(tables: Sequence[Table], rows_told: RowsTold) -> dict[str, Kind]:
    """The kind of row of each noun that proposals call a row by; nouns for which documents list the
    same things are one kind, called as most questions call it.

    Args:
        tables: the proposals of all questions; several may have one noun, and several
            nouns may mean one thing.
    """
    nouns: dict[str, list[Table]] = {}
    for table in tables:
        nouns.setdefault(row_noun(table), []).append(table)
    lists = dict(
        zip(nouns, await rows_told([_listed_as(same) for same in nouns.values()]), strict=True)
    )
    grain = {
        noun: _grain(same, [len(names) for names in lists[noun]]) for noun, same in nouns.items()
    }
    found: dict[str, Kind] = {}
    several: list[tuple[Kind, list[set[str]]]] = []
    for noun in sorted(
        nouns, key=lambda n: (grain[n] != "many", -len(nouns[n]), -sum(map(len, lists[n])))
    ):
        told, first = lists[noun], nouns[noun][0]
        kind, known = next((one for one in several if _one_kind(told, one[1])), (None, []))
        found[noun] = kind or Kind(grain[noun], first.name, first.row)
        if kind is not None:
            for names, more in zip(known, told, strict=True):
                names.update(more)
        elif grain[noun] == "many":
            several.append((found[noun], [set(names) for names in told]))
    return found


def _listed_as(same: Sequence[Table]) -> Table:
    columns = {
        column.name: column
        for table in same
        for column in table.columns
        if column.reading == "stated"
    }
    return replace(
        same[0],
        columns=(naming_column(same[0]), *list(columns.values())[:_LISTED_WITH]),
        grain="many",
    )


def _grain(same: Sequence[Table], told: Sequence[int]) -> Grain:
    rows = median(told or [1])
    if rows == SEVERAL - 1:
        return (
            "many" if 2 * sum(table.grain == "many" for table in same) > len(same) else "document"
        )
    return "many" if rows >= SEVERAL else "document"


def _one_kind(one: Sequence[Collection[str]], other: Sequence[Collection[str]]) -> bool:
    """Whether half of the names of the shorter list stand in the other: a list may
    be broken off early.
    """
    shared = sum(len(set(a) & set(b)) for a, b in zip(one, other, strict=True))
    return shared > 0 and 2 * shared >= min(sum(map(len, one)), sum(map(len, other)))


def with_naming(table: Table) -> Table:
    """A table of several rows a document with the column that tells them apart,
    first; any other as it is.
    """
    if table.grain != "many":
        return table
    naming = naming_column(table)
    named = called_as_row(table) or naming
    rest = tuple(c for c in table.columns if not names_row(c, table, naming))
    return replace(table, columns=(replace(named, description=naming.description), *rest))
