"""A later question extends the tables that stand instead of making rivals."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sliders.schema.names import spoken_name
from sliders.schema.types import Column, ColumnType, Schema, Table

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to unit vectors, shape (n, d)."""

_SAME_COLUMN = 0.80
_SAME_TABLE = 0.60
_MOST_EXAMPLES = 3
_CALENDAR = frozenset({"year", "calendar", "month", "weekday", "day", "week", "of"})
_CALENDAR_UNITS = frozenset({"year", "month", "weekday", "week"})
_SAME_DATE = 0.65
_BIRTH, _DEATH, _AGE = re.compile(r"birth|born"), re.compile(r"death|died"), re.compile(r"(?:^|_)age(?:_at_death)?$")
_FAMILIES = {
    ColumnType.INTEGER: "number",
    ColumnType.NUMBER: "number",
    ColumnType.DATE: "date",
    ColumnType.DATETIME: "date",
    ColumnType.TEXT: "text",
    ColumnType.CATEGORY: "text",
    ColumnType.BOOLEAN: "boolean",
}


def merge_table(
    schema: Schema, proposal: Table, embed: Embed, texts: Sequence[str] = ()
) -> tuple[Schema, Table, tuple[str, ...]]:
    """The schema with the proposal's new columns, the table that holds them, and the names of the columns it needs.

    A short name of a number that none of the documents' `texts` prints means the longer one that stands. Pinned tables
    keep exactly their columns: what is not there is not added.
    """
    home = _home(schema, proposal, embed)
    if home is None:
        named = replace(proposal, name=_free_name(schema, proposal.name))
        return Schema((*schema.tables, named)), named, named.column_names
    columns = list(home.columns)
    needed: list[str] = []
    for column in sorted(proposal.columns, key=_is_calendar):
        if (lived := _life(column, columns)) and not home.pinned:
            needed += [name for name in lived if name not in needed]
            continue
        twin = same_column(column, columns, embed) or _longer_form(column, columns, texts)
        if twin is None and not home.pinned:
            columns.append(column)
            twin = column
        elif twin is not None and _more_exact(column, twin):
            columns[columns.index(twin)] = twin = replace(twin, type=column.type)
        elif twin is not None and not twin.pinned and set(column.examples) - set(twin.examples):
            both = tuple(dict.fromkeys([*twin.examples, *column.examples]))[:_MOST_EXAMPLES]
            columns[columns.index(twin)] = twin = replace(twin, examples=both)
        if twin is not None and twin is not column and _says_more(column, twin):
            columns[columns.index(twin)] = twin = replace(twin, description=column.description)
        if twin is not None and twin.name not in needed:
            needed.append(twin.name)
    grown = replace(home, columns=tuple(columns))
    return schema.with_table(grown), grown, tuple(needed)


def _says_more(column: Column, standing: Column) -> bool:
    """Whether a question describes a standing number with all the words that it has, and more."""
    numbers = all(_FAMILIES[c.type] == "number" for c in (column, standing))
    same_name = column.name == standing.name and not standing.pinned
    known, said = set(standing.description.split()), set(column.description.split())
    return numbers and same_name and known < said


def _more_exact(column: Column, standing: Column) -> bool:
    """A number or date that was taken for text by an earlier question."""
    return (
        not standing.pinned
        and standing.name == column.name
        and standing.type is ColumnType.TEXT
        and column.type in (ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DATE)
    )


def same_column(column: Column, others: Sequence[Column], embed: Embed) -> Column | None:
    """The column among `others` that means the same: same name, or the same family of types and near words."""
    for other in others:
        if other.name == column.name:
            return other
    for other in others:
        if _core(other.name) == _core(column.name) and _FAMILIES[other.type] == _FAMILIES[column.type]:
            return other
    if date := _its_date(column, others, embed):
        return date  # SQL takes a date apart
    if column.type in (ColumnType.INTEGER, ColumnType.NUMBER):
        for other in others:
            if _FAMILIES[other.type] == "number" and _asked_alike(column, other):
                return other
    named = [o for o in others if o.type is ColumnType.TEXT and (o.name == "name" or o.name.endswith("_name"))]
    if column.type is ColumnType.TEXT and len(named) == 1 and _bare_name(column.name, named[0].name):
        return named[0]
    called = [o for o in others if o.type is column.type and spoken_name(column.name) in _other_words(o)]
    if column.type is ColumnType.TEXT and len(called) == 1:
        return called[0]  # the question that asked for it used this very word
    rivals = [o for o in others if _FAMILIES[o.type] == _FAMILIES[column.type]]
    if not rivals:
        return None
    scores = _nearness(column, rivals, embed)
    best = int(np.argmax(scores))
    return rivals[best] if float(scores[best]) >= _SAME_COLUMN else None


def _is_calendar(column: Column) -> bool:
    return bool(_CALENDAR_UNITS & set(column.name.split("_")))


def _its_date(column: Column, others: Sequence[Column], embed: Embed) -> Column | None:
    """The date that a column of years, months or weekdays is a part of ("year_born" of "date_of_birth")."""
    dates = [o for o in others if o.type is ColumnType.DATE]
    if not dates or not _is_calendar(column) or column.type is ColumnType.DATE:
        return None
    bare = set(column.name.split("_")) <= _CALENDAR
    if bare and len(dates) == 1:
        return dates[0]
    scores = _nearness(column, dates, embed)
    best = int(np.argmax(scores))
    return dates[best] if bare or float(scores[best]) >= _SAME_DATE else None


def _nearness(column: Column, others: Sequence[Column], embed: Embed) -> NDArray[np.float32]:
    """Cosine to each of the others, shape (n,): of the names, or of the names with their descriptions if that is more."""
    vectors = embed([_words(column), *map(_words, others)])
    names = embed([spoken_name(column.name), *(spoken_name(o.name) for o in others)])
    scores: NDArray[np.float32] = np.maximum(vectors[1:] @ vectors[0], names[1:] @ names[0])
    return scores


def _life(column: Column, others: Sequence[Column]) -> list[str]:
    """The dates of birth and death between which SQL counts an age."""
    if not _AGE.search(column.name):
        return []
    dates = [o.name for o in others if o.type is ColumnType.DATE]
    born, died = (next((n for n in dates if said.search(n)), "") for said in (_BIRTH, _DEATH))
    return [born, died] if born and died else []


def _longer_form(column: Column, others: Sequence[Column], texts: Sequence[str]) -> Column | None:
    """The one number whose name has this one's words, the same last word, and others before it ("new registered berths")."""
    words = spoken_name(column.name).split()
    if _FAMILIES[column.type] != "number" or len(words) < _FEWEST_WORDS or len(texts) < _FEWEST_TEXTS:
        return None
    if any(spoken_name(column.name) in " ".join(text.lower().split()) for text in texts):
        return None
    longer = [
        o
        for o in others
        if _FAMILIES[o.type] == "number" and set(words) < set(o.name.split("_")) and o.name.split("_")[-1] == words[-1]
    ]
    return longer[0] if len(longer) == 1 else None


_FEWEST_WORDS, _FEWEST_TEXTS = 2, 3


def _bare_name(one: str, other: str) -> bool:
    """`name` is whatever name the table has ("place_name")."""
    return "name" in (one, other) and (one.endswith("_name") or other.endswith("_name"))


def _other_words(column: Column) -> list[str]:
    """The words beside its name that a question used for a column."""
    return column.asked.split()


def _asked_alike(column: Column, other: Column) -> bool:
    """Two numbers whose questions used the same telling words ("people killed", "killed"), whatever they were named."""
    one, two = _asked(column), _asked(other)
    return bool(one and two) and (one <= two or two <= one)


def _asked(column: Column) -> frozenset[str]:
    asked = column.asked or spoken_name(column.name)
    return frozenset(w for w in _core(asked.replace(" ", "_")) if w not in ("person", "people", "passenger"))


def _core(name: str) -> frozenset[str]:
    """The telling words of a name: `total_killed`, `number_of_killed` and `killed` are one fact."""
    words = [w.rstrip("s") for w in spoken_name(name).split()]
    return frozenset(
        w for w in words if w not in ("total", "number", "of", "num", "count", "the", "no", "id")
    ) or frozenset(words)


def _words(column: Column) -> str:
    return f"{spoken_name(column.name)}: {column.description}" if column.description else spoken_name(column.name)


def _home(schema: Schema, proposal: Table, embed: Embed) -> Table | None:
    """The standing table that holds the same kind of rows."""
    for table in schema.tables:
        if table.name == proposal.name and (table.grain == proposal.grain or proposal.grain == "many"):
            return table
    alike = [t for t in schema.tables if t.grain == proposal.grain]
    if proposal.grain == "document" and alike:
        return alike[0]  # a document has one row of facts about itself: a second such table would be a rival
    if not alike:
        return None
    texts = [f"{spoken_name(t.name)}: {t.row}" for t in (proposal, *alike)]
    vectors = embed(texts)
    scores = vectors[1:] @ vectors[0]
    best = int(np.argmax(scores))
    return alike[best] if float(scores[best]) >= _SAME_TABLE else None


def _free_name(schema: Schema, name: str) -> str:
    taken = {t.name for t in schema.tables}
    free, n = name, 2
    while free in taken:
        free, n = f"{name}_{n}", n + 1
    return free
