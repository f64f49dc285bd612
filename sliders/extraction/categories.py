"""The few terms that a column of categories knows, out of the clauses that a model copies around them.

Asked for the ice of a voyage, a small model copies "Solid ice cover prevailed on the second day of the voyage". Where
most documents share a few such terms, a longer phrase is cut to the term in it, and a term that the collection itself
abbreviates, "solid ice cover (SIC)", stands under its abbreviation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from sliders.extraction.cell import Cell, Grounding, Row, Span, with_changed
from sliders.extraction.lexicon import NEGATIONS
from sliders.extraction.phrases import AUXILIARIES, DETERMINERS, PREPOSITIONS, RELATIVE, is_verb, tokens_of
from sliders.schema.names import spoken_name
from sliders.schema.types import ColumnType, Table

_ENDS = (PREPOSITIONS - {"of"}) | AUXILIARIES | RELATIVE | set("throughout along across between beyond due".split()) | set(",;:(")
"""Words and marks that end the term at the head of a phrase."""

_FEWEST_ROWS, _KNOWN, _MOST_TERMS, _SHARE = 8, 3, 10, 0.6
_ABBREVIATED = re.compile(r"(.+?)\s*\(([A-Z]{2,6})\)?$")


def categorised(rows: Sequence[Row], table: Table, text: Callable[[Span], str]) -> list[Row]:
    """The rows whose categories become the term that their column knows, each with only those cells.

    Args:
        rows: all rows of a table with one row a document.
        text: the characters of the document at a span.
    """
    changed: list[Row] = []
    for column in table.columns:
        if column.type is not ColumnType.TEXT:
            continue
        cells = [(row, cell) for row in rows if (cell := row.cell(column.name)) and cell.absence is None and cell.span]
        terms = _terms([cell.printed for _, cell in cells])
        if not terms:
            continue
        short = _abbreviations([cell for _, cell in cells], text)
        said = Counter(word for _, cell in cells for word in _telling(cell.printed))
        for row, cell in cells:
            fixed = _fixed(cell, terms, short)
            if fixed is cell and _is_stranger(cell, said):
                fixed = cell.emptied(f"{cell.printed!r} tells something else than {column.name} does in the other rows")
            if fixed is not cell:
                changed.append(replace(row, cells=(fixed,)))
        changed += _from_text(with_changed(rows, changed), column.name, terms, short, text)
    return changed


def _is_stranger(cell: Cell, said: Counter[str]) -> bool:
    """Whether a clause has no word in common with what any other document has in its column; `said` counts the cells of
    each word."""
    tokens = tokens_of(cell.printed)
    clause = any(token.text in _ENDS or is_verb(tokens, at) for at, token in enumerate(tokens) if at)
    own = _telling(cell.printed)
    named = set(spoken_name(cell.column).split()) & {token.text for token in tokens}
    return clause and bool(own) and not named and all(said[word] == 1 for word in own)


def _telling(words: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{4,}", words.casefold()))


def _from_text(
    rows: Sequence[Row], column: str, terms: Sequence[str], short: dict[str, str], text: Callable[[Span], str]
) -> list[Row]:
    """Rows without a term, with the only one that their whole document has."""
    out = []
    for row in rows:
        cell = row.cell(column)
        if cell is None or (cell.absence is None and (_place(cell.printed, terms) or cell.value in short.values())):
            continue
        whole = text(Span(row.document_id, 0, _SHORT_DOCUMENT + 1))
        found = [p for p in _places(whole, terms) if not _denied(whole[: p[0]])]
        meant = {short.get(_plain(whole[s:e]), _plain(whole[s:e])).casefold() for s, e in found}
        if len(meant) != 1 or len(whole) > _SHORT_DOCUMENT:
            continue
        start, end = found[0]
        said = replace(
            cell, printed=whole[start:end], value=whole[start:end], span=Span(row.document_id, start, end),
            absence=None, grounding=Grounding.EXACT, detail="the one term of the column that the document has",
        )  # fmt: skip
        out.append(replace(row, cells=(_fixed(said, terms, short),)))
    return out


_SHORT_DOCUMENT = 6000


def _denied(before: str) -> bool:
    words = re.findall(r"[\w']+", before[-40:].casefold())[-2:]
    return bool(set(words) & NEGATIONS) or bool(words and words[-1].endswith("ly"))


def _places(text: str, terms: Sequence[str]) -> list[tuple[int, int]]:
    """Where terms stand in a text, without those inside a longer one."""
    found = [
        (m.start(), m.end())
        for term in terms
        for m in re.finditer(r"(?<!\w)" + r"\s+".join(map(re.escape, term.split())) + r"(?!\w)", text, re.IGNORECASE)
    ]
    return [p for p in found if not any(o[0] <= p[0] and p[1] <= o[1] and o != p for o in found)]


def _terms(printed: Sequence[str]) -> list[str]:
    """The terms that at least three values begin with and that most values have; [] for a column of names or free text."""
    if len(printed) < _FEWEST_ROWS:
        return []
    common = [head for words in printed if _is_common(head := _head(words))]
    heads = Counter(map(_plain, common))
    lower = {_plain(head) for head in common if head[:1].islower() or " " in head}  # "Oslo" alone is a name
    terms = [term for term, n in heads.items() if n >= _KNOWN and term in lower]
    covered = sum(heads[term] for term in terms) + sum(1 for words in printed if re.fullmatch(r"[A-Z]{2,8}", words))
    return terms if len(terms) <= _MOST_TERMS and covered >= _SHARE * len(printed) else []


def _plain(words: str) -> str:
    return " ".join(words.casefold().split()).strip(" ,.;:")


def _head(words: str) -> str:
    """A phrase up to its first preposition, verb or clause: "destroyed by fire" is "destroyed"."""
    if found := _ABBREVIATED.fullmatch(words):
        words = found[1]
    stop = len(words)
    tokens = tokens_of(words)
    place = 0
    for index, token in enumerate(tokens):
        at = words.find(token.printed, place)
        place = at + len(token.printed)
        if index and (token.text in _ENDS or is_verb(tokens, index)):
            stop = at
            break
    return words[:stop].strip(" ,.;:")


def _is_common(words: str) -> bool:
    """Whether the words are no name: none but the first begins with a capital, and no figure is in them."""
    return not re.search(r"\d", words) and not any(word[:1].isupper() for word in words.split()[1:])


def _fixed(cell: Cell, terms: Sequence[str], short: dict[str, str]) -> Cell:
    place = _place(cell.printed, terms) or _shortened(cell.printed, short)
    if place is None or cell.span is None:
        return cell
    start, end = place
    printed = cell.printed[start:end]
    abbreviation = short.get(_plain(printed), "") or _meant(printed, short)
    if abbreviation:
        reason = f"{printed!r} is abbreviated {abbreviation} by the documents"
        return replace(cell, value=abbreviation, grounding=Grounding.DERIVED, rationale=reason)
    if printed == cell.printed:
        return cell
    span = replace(cell.span, start=cell.span.start + start, end=cell.span.start + end)
    return replace(cell, value=printed, printed=printed, span=span, detail="the term that most documents have")


def _forms(term: str) -> list[str]:
    """A term of three words or more without one of the words inside it ("solid cover" of "solid ice cover")."""
    words = term.split()
    return [" ".join(words[:n] + words[n + 1 :]) for n in range(1, len(words) - 1)]


def _meant(printed: str, short: dict[str, str]) -> str:
    """The abbreviation of the one term that words are a short form of."""
    found = {abbreviation for term, abbreviation in short.items() if _plain(printed) in _forms(term)}
    return found.pop() if len(found) == 1 else ""


def _shortened(printed: str, short: dict[str, str]) -> tuple[int, int] | None:
    """Where the one short form of an abbreviated term stands."""
    found = _places(printed, [form for term in short for form in _forms(term)])
    return found[0] if len(found) == 1 and not _denied(printed[: found[0][0]]) else None


def _place(printed: str, terms: Sequence[str]) -> tuple[int, int] | None:
    """Where the one known term of a phrase stands in it: at its head, or as its only one behind a verb or a modifier."""
    head = _head(printed)
    if _plain(head) in terms:
        return printed.find(head), printed.find(head) + len(head)
    found = _places(printed, terms)
    found = [p for p in found if printed[p[0] - 1 : p[0]] != "("] or found
    if len(found) != 1:
        return None
    before = re.findall(r"[\w']+", printed[: found[0][0]].casefold())
    if not before or _denied(printed[: found[0][0]]):
        return None
    several = " " in printed[found[0][0] : found[0][1]]
    return found[0] if several or before[-1] in AUXILIARIES | DETERMINERS else None


def _abbreviations(cells: Sequence[Cell], text: Callable[[Span], str]) -> dict[str, str]:
    """Terms with the abbreviation that the text prints in brackets behind them, by their plain words."""
    out: dict[str, str] = {}
    for cell in cells:
        if cell.span is None:
            continue
        start, end = max(0, cell.span.start - _BEFORE), cell.span.end + _BEHIND
        for found in _DEFINED.finditer(text(replace(cell.span, start=start, end=end))):
            words = re.findall(r"[^\W\d_]+", found[1])[-len(found[2]) :]
            term = " ".join(words)
            if "".join(word[0] for word in words).upper() == found[2] and _is_common(term):
                out[_plain(term)] = found[2]
    return out


_BEFORE, _BEHIND = 80, 12
_DEFINED = re.compile(r"((?:[^\W\d_]+[ \n-]+){2,8})\(([A-Z]{2,8})\)")
