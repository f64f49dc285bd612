"""The number of rows per document: a small model says it with each question, and documents that
list their rows show it.

A proposal comes from the beginning of one document, which does not show whether "a course" occurs
once or nine times. So the model is asked for all of them in some documents.
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
"""The number of rows in a document from which on its table has several rows per document. A small
model may list one thing in two forms.
"""
_LISTED_WITH = 2


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of row as the documents show it: the number of rows per document, the table for it,
    and its noun.
    """

    grain: Grain
    table: str
    row: str


async def kinds(tables: Sequence[Table], rows_told: RowsTold) -> dict[str, Kind]:
    """Returns the kind of row by the noun that a proposal uses for it. Nouns for which documents
    list the same things are one kind, under the noun of most questions.

    Args:
        tables: the proposals of all questions.
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
    """True when half of the names in the shorter list are in the other list; a list may have been
    cut early.
    """
    shared = sum(len(set(a) & set(b)) for a, b in zip(one, other, strict=True))
    return shared > 0 and 2 * shared >= min(sum(map(len, one)), sum(map(len, other)))


def with_naming(table: Table) -> Table:
    """Returns a table with several rows per document with the column that names them first; any
    other table unchanged.
    """
    if table.grain != "many":
        return table
    naming = naming_column(table)
    named = called_as_row(table) or naming
    rest = tuple(c for c in table.columns if not names_row(c, table, naming))
    return replace(table, columns=(replace(named, description=naming.description), *rest))


async def listed_rows(table: Table, text: str, model: Model) -> frozenset[str]:
    """Returns the printed names of the rows that a text lists; none when the model gave no usable
    reply. Asked for a list, a small model also lists other things. So at most one name is taken,
    unless it also says that the text has several such rows.
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
    """True when a text has several such rows, by the odds of two plain questions (on 32 pairs of
    document and noun 28 right, the others entries of one line); always true for a server without
    odds.
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
