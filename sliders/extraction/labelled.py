"""Values behind a printed label of their own ("Page Count: 324"): the label tells what they are, so code reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sliders.extraction.cell import Row
from sliders.schema.names import spoken_name
from sliders.schema.types import Column

_LINE = re.compile(
    r"^[ \t>*|-]*(?P<label>[^\W\d_][^\n:|]{1,40}?)[ \t*]*:[ \t*]*(?P<value>\S[^\n]{0,120}?)[ \t*|]*$", re.MULTILINE
)
_MOST_WORDS = 5
_COUNTED = re.compile(r"\b(?:(?:total )?(?:number|no\.?|num\.?|count|quantity) of|count|qty)\b")
_SMALL = frozenset("the a an of by for in on to and or".split())


BEHIND_LABEL = "behind its label"
"""The detail of a cell that a label tells."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """The place of a value, characters start to end (exclusive), and whether its label has all words of the column."""

    start: int
    end: int
    exact: bool


def labelled(column: Column, text: str) -> list[Labelled]:
    """The values whose label names the column: by all of its words, or by those that tell it from other columns.

    A lone general word ("Date", "Price") is a label for a column of that name only.
    """
    wanted = _key(spoken_name(column.name))
    if not wanted:
        return []
    found = []
    for line in _LINE.finditer(text):
        label = _key(line["label"])
        if len(line["label"].split()) > _MOST_WORDS or not label:
            continue
        if label == wanted or (label < wanted and not label <= _GENERAL):
            found.append(Labelled(line.start("value"), line.end("value"), label == wanted))
    exact = [place for place in found if place.exact]
    return exact or found


_GENERAL = frozenset("date name price type title code address year value id status time unit cost sum #".split())


def settled_by_labels(rows: Sequence[Row]) -> list[Row]:
    """Of the rows that a document's parts gave, those whose value another part contradicts behind a label, without it."""
    told: dict[tuple[str, str], set[object]] = {}
    for row in rows:
        for cell in row.cells:
            if cell.detail == BEHIND_LABEL:
                told.setdefault((row.document_id, cell.column), set()).add(cell.value)
    out = []
    for row in rows:
        others = [c for c in row.cells if c.absence is None and c.value not in told.get((row.document_id, c.column), {c.value})]
        if others:
            out.append(replace(row, cells=tuple(c.emptied("a label of another part says otherwise") for c in others)))
    return out


def names_little(column: Column) -> bool:
    """Whether a label of the column's own words may still speak of something else ("Name" of a clerk)."""
    return _key(spoken_name(column.name)) <= _GENERAL


def _key(words: str) -> frozenset[str]:
    """The telling words of a label, numbers with them; the words for a count are one."""
    plain = words.casefold()
    rest = _COUNTED.sub(" ", plain)
    said = {_singular(word) for word in re.findall(r"[a-z]+|\d+", rest) if word not in _SMALL}
    return frozenset(said | {"#"} if rest != plain and said else said)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > _SHORT and word.endswith("s") and not word.endswith("ss") else word


_SHORT = 3
