"""How many rows a document fills: said with each question by a small model, and seen where
documents list their rows.

A proposal is written from the beginning of one document; whether "a course" stands there once or
nine times is seen by asking documents for all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from statistics import median

from sliders.compact.value_prompts import (
    ONE_SEVERAL,
    rows_begun,
    rows_prompt,
    says_again,
    several_prompt,
)
from sliders.errors import ModelError
from sliders.extraction.asking import generate
from sliders.llm.model import Model
from sliders.schema.induce import RowsTold
from sliders.schema.row_names import called_as_row, names_row, naming_column, row_noun
from sliders.schema.types import Grain, Table
from sliders.values.folding import fold

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


async def listed_rows(table: Table, text: str, model: Model) -> frozenset[str]:
    """The printed names of the rows that a text lists; none where the model gave no usable reply.
    Asked for a list, a small model lists what else there is: where it does not say of the text that
    it tells of several, one name at the most.
    """
    request = rows_prompt(text, model.count_tokens(text), table, table.columns)
    reply = await generate(replace(request, enough=_enough), model)
    if isinstance(reply, ModelError):
        return frozenset()
    said = {
        fold(str(row.get(table.columns[0].name) or ""))
        for row in (reply.data or {}).get("rows", ())
    }
    names = sorted(name for name in said if name and name in fold(text))
    return frozenset(names if len(names) > 1 and await _several(table, text, model) else names[:1])


async def _several(table: Table, text: str, model: Model) -> bool:
    """Whether a text tells of several such rows, by the odds of two plain questions (documents
    written for it and look sets, 32 pairs of document and noun: 28 right, the others entries of one
    line); true of a server without odds.
    """
    odds = 0.0
    for counted in (True, False):
        reply = await generate(several_prompt(text, table, counted=counted), model)
        if isinstance(reply, ModelError) or not reply.odds:
            return True
        odds += reply.odds[ONE_SEVERAL[1]] - reply.odds[ONE_SEVERAL[0]]
    return odds > 0


def _enough(reply: str) -> bool:
    return len(rows_begun(reply)) > SEVERAL + 1 or says_again(reply)
