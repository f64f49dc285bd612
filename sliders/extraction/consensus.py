"""What the lines of one list agree on: a word that means one field in most lines means it in the others, too.

A model that reads line by line labels the same words now as one field and now as another. The lines of a list share
their vocabulary, so code can settle it by vote: words go to the field that most lines give them, and a line that was
read without a value gets the words that other lines have for it, where they stand in the line exactly once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from sliders.extraction.cell import Cell, Grounding, Row, Span
from sliders.extraction.coerce import CoerceContext, coerce
from sliders.extraction.lexicon import stem
from sliders.extraction.sentences import told_in_sentence, words_of
from sliders.schema.names import spoken_name
from sliders.schema.types import Column, ColumnType

FEWEST_LINES = 12
"""Below this a vote says little."""

_KNOWN = 3
"""So many lines must give words the same field before the words count as known."""

_MAJORITY = 3
"""So many times more often than any other field."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row and the line that it was read from: its text, and where that starts in the document."""

    row: Row
    text: str
    start: int


Vocabulary = dict[str, Counter[str]]
"""Column name -> its words in plain form -> number of lines that have them there."""


@dataclass(frozen=True, slots=True)
class _Vote:
    """What the lines of a round say of words: `own` are the known words that belong to a column by a clear majority,
    `others` those that are known in another column or were dropped as fallbacks."""

    counts: Vocabulary
    own: Mapping[str, list[str]]
    others: Mapping[str, set[str]]


def plain(words: str) -> str:
    """Words without case, hyphens, double space and punctuation at the edges."""
    return " ".join(words.replace("-", " ").casefold().split()).strip(" ,.;:!?\"'()[]")


def vocabulary(lines: Sequence[Line], columns: Sequence[Column]) -> Vocabulary:
    """The words of each text column that tell a closed set of things: more lines than different words."""
    out: dict[str, Counter[str]] = {}
    for column in columns:
        if column.type not in (ColumnType.TEXT, ColumnType.CATEGORY):
            continue
        words = Counter(plain(cell.printed) for line in lines if (cell := line.row.cell(column.name)) and cell.stands)
        words.pop("", None)
        out[column.name] = words
    return out


def agreed(lines: Sequence[Line], columns: Sequence[Column]) -> list[Row]:
    """The rows whose cells the vote changes, each with only the changed cells.

    Args:
        lines: all rows of one table that were read from lines of lists.
        columns: the table's columns.
    """
    if len(lines) < FEWEST_LINES:
        return []
    changed: dict[str, dict[str, Cell]] = {line.row.id: {} for line in lines}

    def settled(lines: Sequence[Line], cells_of: Mapping[str, dict[str, Cell]]) -> list[Line]:
        for row_id, cells in cells_of.items():
            changed[row_id] |= cells
        return [replace(line, row=_with(line.row, changed[line.row.id])) for line in lines]

    def voted(lines: Sequence[Line]) -> Sequence[Line]:
        for _ in range(_ROUNDS):
            round_changes = _round(lines, columns)
            if not any(round_changes.values()):
                break
            lines = settled(lines, round_changes)
        return lines

    telling = {c.name: {stem(w) for w in spoken_name(c.name).split() if len(w) >= _TELLING} for c in columns}
    lines = voted(settled(lines, {line.row.id: _named_otherwise(line, telling) for line in lines}))
    lines = voted(settled(lines, _no_names(lines, columns)))  # told only once most words are in their columns
    return [replace(line.row, cells=tuple(cells.values())) for line in lines if (cells := changed[line.row.id])]


_ROUNDS = 4
"""A vote makes words known that settle others; it comes to rest after two or three rounds."""


def _named_otherwise(line: Line, names: Mapping[str, set[str]]) -> dict[str, Cell]:
    """Phrases that say another field's name ("a high fare" is no cargo), emptied; a name with capitals may say anything.

    `names` holds the stems of each column's name.
    """
    cells: dict[str, Cell] = {}
    for cell in line.row.cells:
        if cell.column not in names or not cell.stands or not re.fullmatch(r"\W*\w?[^A-Z]*", cell.printed):
            continue
        said = {stem(w) for w in plain(cell.printed).split()}
        others = [n for n, words in names.items() if n != cell.column and words & said - names[cell.column]]
        if others and not said & names[cell.column]:
            cells[cell.column] = cell.emptied(f"{cell.printed!r} speaks of {others[0]}")
    return cells


_TELLING = 4


def _no_names(lines: Sequence[Line], columns: Sequence[Column]) -> dict[str, dict[str, Cell]]:
    """Rare phrases of common words in a column of names ("five out of five" where the others say "Nordic")."""
    counts = vocabulary(lines, columns)
    out: dict[str, dict[str, Cell]] = {}
    for name, words in counts.items():
        cells = [(line, cell) for line in lines if (cell := line.row.cell(name)) and cell.stands]
        named = sum(_is_name(cell.printed) for _, cell in cells)
        if len(cells) < FEWEST_LINES or named < _NAMES * len(cells):
            continue
        usual = max(_KNOWN, _RARE * max(words.values()))
        for line, cell in cells:
            if not _is_name(cell.printed) and words[plain(cell.printed)] < usual:
                reason = f"{cell.printed!r} is no name, as the other lines have there"
                out.setdefault(line.row.id, {})[name] = cell.emptied(reason)
    return out


_NAMES, _RARE = 0.6, 0.15


def _is_name(printed: str) -> bool:
    """Whether a phrase begins with a capital, an article aside."""
    words = [w for w in re.findall(r"[^\W_][\w'’-]*", printed) if w.lower() not in ("the", "a", "an")]
    return bool(words) and words[0][0].isupper()


def _round(lines: Sequence[Line], columns: Sequence[Column]) -> dict[str, dict[str, Cell]]:
    by_name = {c.name: c for c in columns}
    words = vocabulary(lines, columns)
    changed: dict[str, dict[str, Cell]] = {}
    moved = []
    for line in lines:
        cells = _moved(line, by_name, words)
        changed[line.row.id] = cells
        moved.append(replace(line, row=_with(line.row, cells)))
    words = vocabulary(moved, columns)
    fallbacks = {(name, v) for name, counts in words.items() for v in counts if _is_fallback(v, name, moved, words)}
    for name, value in fallbacks:
        del words[name][value]
    vote = _vote(words, {v for _, v in fallbacks})
    for line in moved:
        cells = _without_fallbacks(line, fallbacks) | _shortened(line, by_name, vote)
        cells |= _with_article(replace(line, row=_with(line.row, cells)), by_name, words)
        line = replace(line, row=_with(line.row, cells))
        cells |= _filled(line, by_name, vote)
        changed[line.row.id] |= cells
    return changed


def _vote(words: Vocabulary, fallbacks: set[str]) -> _Vote:
    known = {name: [v for v, n in counts.items() if n >= _KNOWN] for name, counts in words.items()}
    own = {name: [v for v in values if _owner(v, words) == name] for name, values in known.items()}
    others = {name: {v for other in known if other != name for v in known[other]} | fallbacks for name in known}
    return _Vote(words, own, others)


def _with(row: Row, cells: Mapping[str, Cell]) -> Row:
    return replace(row, cells=tuple(cells.get(c.column, c) for c in row.cells))


def _owner(words: str, known: Vocabulary) -> str | None:
    """The column that the words belong to by a clear majority of lines."""
    votes = sorted(((counts[words], name) for name, counts in known.items() if counts[words]), reverse=True)
    if not votes or votes[0][0] < _KNOWN or (len(votes) > 1 and votes[0][0] < _MAJORITY * votes[1][0]):
        return None
    return votes[0][1]


def _moved(line: Line, columns: Mapping[str, Column], known: Vocabulary) -> dict[str, Cell]:
    """Words that the line alone labels so: into their own column if it is empty here, else out."""
    cells: dict[str, Cell] = {}
    for cell in line.row.cells:
        if cell.column not in known or not cell.stands:
            continue
        owner = _owner(plain(cell.printed), known)
        if owner is None or owner == cell.column:
            continue
        home = cells.get(owner) or line.row.cell(owner)
        if home is not None and home.absence is not None and cell.span is not None:
            cells[owner] = _cell_at(line, columns[owner], cell.span.start, cell.span.end, home)
        cells[cell.column] = cell.emptied(f"{cell.printed!r} is {owner} in most lines")
    return cells


def _is_fallback(value: str, name: str, lines: Sequence[Line], known: Vocabulary) -> bool:
    """Words that a model gives a field only where the line has nothing better: beside a value of the field they lose."""
    if known[name][value] < _KNOWN:
        told = sum(1 for line in lines if _places(line.text, [value]))
        return told >= _FEWEST_TOLD * known[name][value]
    rivals = [v for v, n in known[name].items() if n >= _KNOWN and v != value and value not in v and v not in value]
    beside = [line for line in lines if _places(line.text, [value]) and _longest(_places(line.text, rivals))]
    chosen = sum(1 for line in beside if (c := line.row.cell(name)) and c.stands and plain(c.printed) == value)
    return len(beside) >= _FEWEST_BESIDE and chosen <= _LOSING * len(beside)


_FEWEST_BESIDE, _LOSING, _FEWEST_TOLD = 8, 0.25, 6


def _without_fallbacks(line: Line, fallbacks: set[tuple[str, str]]) -> dict[str, Cell]:
    return {
        cell.column: cell.emptied(f"{cell.printed!r} is given only where a line states no other {cell.column}")
        for cell in line.row.cells
        if cell.stands and (cell.column, plain(cell.printed)) in fallbacks
    }


def _shortened(line: Line, columns: Mapping[str, Column], vote: _Vote) -> dict[str, Cell]:
    """A phrase cut to the one known value inside it: one that no other line has ("excellent Chinese dishes"), or one
    that adds only words of the column itself or of another field ("north side area", "Merrow steam ferry")."""
    cells: dict[str, Cell] = {}
    for cell in line.row.cells:
        if cell.column not in vote.counts or not cell.stands or cell.span is None:
            continue
        words = plain(cell.printed)
        inner = [v for v in vote.own[cell.column] if v != words]
        places = _longest(_places(line.text[cell.span.start - line.start : cell.span.end - line.start], inner))
        if len({v for _, _, v in places}) == 1:
            adds_nothing = _adds_nothing(words, places[0][2], columns[cell.column], vote.others[cell.column])
            if vote.counts[cell.column][words] > 1 and not adds_nothing:
                continue
            start = cell.span.start + places[0][0]
            cells[cell.column] = _cell_at(line, columns[cell.column], start, start + places[0][1] - places[0][0], cell)
    return cells


def _with_article(line: Line, columns: Mapping[str, Column], known: Vocabulary) -> dict[str, Cell]:
    """A name without its article, where the line prints it and other lines count it in ("The Merrow")."""
    cells: dict[str, Cell] = {}
    for cell in line.row.cells:
        if cell.column not in known or not cell.stands or cell.span is None:
            continue
        before = re.search(r"\b(?:the|a|an)\s+$", line.text[: cell.span.start - line.start], re.IGNORECASE)
        if before and known[cell.column][plain(before.group() + cell.printed)] >= _FEWEST_WITH_ARTICLE:
            start = line.start + before.start()
            cells[cell.column] = _cell_at(line, columns[cell.column], start, cell.span.end, cell)
    return cells


_FEWEST_WITH_ARTICLE = 2


def _adds_nothing(words: str, value: str, column: Column, others: set[str]) -> bool:
    rest = " ".join(words.replace(value, " ", 1).split())
    own = set(words_of(column))
    return bool(rest) and (all(w in own for w in rest.split()) or rest in others)


def _filled(line: Line, columns: Mapping[str, Column], vote: _Vote) -> dict[str, Cell]:
    """Known words that stand in the line, for the columns that were read empty."""
    taken = [c.span for c in line.row.cells if c.stands and c.span is not None and c.column in vote.counts]
    cells: dict[str, Cell] = {}
    for cell in line.row.cells:
        if columns[cell.column].type is ColumnType.BOOLEAN and (clause := _clause(line, columns[cell.column], cell)):
            cells[cell.column] = clause
        if cell.absence is None or cell.column not in vote.counts:
            continue
        places = [
            (s, e, v)
            for s, e, v in _longest(_places(line.text, vote.own[cell.column]))
            if not any(line.start + s < t.end and t.start < line.start + e for t in taken)
        ]
        if len({v for _, _, v in places}) == 1:
            found = _cell_at(line, columns[cell.column], line.start + places[0][0], line.start + places[0][1], cell)
            if found.absence is None:
                cells[cell.column] = found
    return cells


def _clause(line: Line, column: Column, cell: Cell) -> Cell | None:
    """A yes or no that the line was read without, out of its clause about the column."""
    found = told_in_sentence(column, line.text, CoerceContext()) if cell.absence is not None else None
    if found is None:
        return None
    told = _cell_at(line, column, line.start + found[0], line.start + found[1], cell)
    if told.absence is None:
        return told
    return replace(
        told, value=found[2].value, absence=None, grounding=Grounding.DERIVED, detail="", rationale=found[2].rationale
    )


def _places(text: str, words: Sequence[str]) -> list[tuple[int, int, str]]:
    """Where each of the plain words stands in a text, as whole words, whatever case and hyphens it has."""
    return [(match.start(), match.end(), value) for value in words for match in _whole_words(value).finditer(text)]


@lru_cache(maxsize=8192)
def _whole_words(value: str) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)" + r"[\s-]+".join(map(re.escape, value.split())) + r"(?!\w)", re.IGNORECASE)


def _longest(places: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Without the places that lie inside a longer one."""
    return [(s, e, v) for s, e, v in places if not any(s2 <= s and e <= e2 and (e2 - s2) > (e - s) for s2, e2, _ in places)]


def _cell_at(line: Line, column: Column, start: int, end: int, before: Cell) -> Cell:
    """The cell of `column` on these characters of the document."""
    printed = line.text[start - line.start : end - line.start]
    parsed = coerce(printed, column)
    page = before.span.page if before.span is not None else next((c.span.page for c in line.row.cells if c.span), None)
    return replace(
        before,
        column=column.name,
        value=parsed.value,
        printed=printed,
        grounding=Grounding.EXACT,
        span=Span(line.row.document_id, start, end, page),
        absence=parsed.absence,
        detail=parsed.detail or "as most lines of the list have it",
        rationale="",
    )
