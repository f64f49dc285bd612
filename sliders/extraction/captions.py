"""What a form says by its layout: a value, and beneath it in brackets what the value is.

"Delaware" over "(State or other jurisdiction of incorporation)" is the state; the place of printing tells it, so no
model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sliders.extraction.lexicon import fold
from sliders.schema.names import spoken_name
from sliders.schema.types import Column, ColumnType

_PIECE = re.compile(r"\S+(?: \S+)*")
_FLAT = re.compile(r"(?<=[^\s(]) (?=\([A-Z])|(?<=\)) (?=[a-z])")
_RUNNING = re.compile(r":|.{80}")
_WORD = re.compile(r"[a-z]+")
_HEAD = 12_000
_SHORTEST_NAME = 3
_MOST_LINES = 3
_ORGANISATION = frozenset("company registrant issuer corporation firm filer organization organisation business entity".split())
_SMALL = frozenset("of the a an or and in its as for to by on name full legal exact official".split())
_LEGAL_FORM = re.compile(
    r"[\s,]+(?:inc|incorporated|corp|corporation|co|company|companies|ltd|limited|llc|l\.l\.c|plc|p\.l\.c|n\.?v|s\.?a|ag|se|gmbh|"
    r"l\.?p|ab|asa|oyj|spa|kgaa)\.?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Caption:
    """A `value` at characters `start` to `end` of the text, and the words in brackets beneath it."""

    start: int
    end: int
    value: str
    words: str


def captions_in(text: str) -> tuple[Caption, ...]:
    """The captioned values of a form's first pages, in order."""
    # Where a page came as running text, a caption follows its value on the same line.
    head = _FLAT.sub("\n", text[:_HEAD])
    lines = [(m.start(), m.group()) for m in re.finditer(r"[^\n]*", head) if m.group().strip()]
    pieces = [[(at + m.start(), m.group()) for m in _PIECE.finditer(line.replace("\t", " "))] for at, line in lines]
    found = []
    for number in range(1, len(pieces)):
        below, above = pieces[number], pieces[number - 1]
        if not all(words.startswith("(") for _, words in below) or len(below) > len(above):
            continue
        if any(words.startswith("(") for _, words in above):
            continue
        values = above if len(above) == len(below) else []
        for place, (start, value) in enumerate(values):
            words = _whole(pieces[number : number + _MOST_LINES], place)
            if words and value.strip("_ ") and ") (" not in words:
                found.append(Caption(start, start + len(value), value, words))
    return tuple(found)


def _whole(lines: Sequence[Sequence[tuple[int, str]]], place: int) -> str:
    """The caption's words to its closing bracket, over the lines that it is broken into."""
    words = lines[0][place][1]
    for line in lines[1:]:
        if ")" in words:
            break
        # Captions that are closed already leave no piece on the next line.
        still = [p for p, (_, text) in enumerate(lines[0]) if ")" not in text]
        if place not in still or len(line) < len(still):
            return ""
        words = f"{words} {line[still.index(place)][1]}"
    return words.strip("()") if ")" in words else ""


def captioned(column: Column, captions: Sequence[Caption]) -> Caption | None:
    """The one caption that has all the telling words of a column; a company is the name of the registrant."""
    wanted = {_key(w) for w in _WORD.findall(fold(spoken_name(column.name))) if w not in _SMALL}
    if names_organisation(column):
        wanted = {"name", "company"}
    if column.type is not ColumnType.TEXT or not wanted:
        return None
    matching = [c for c in captions if wanted <= _caption_words(c) and not _RUNNING.search(c.value)]
    return matching[0] if len({c.words for c in matching}) == 1 else None


def _caption_words(caption: Caption) -> set[str]:
    words = _WORD.findall(fold(caption.words))
    keys = {_key(word) for word in words}
    # "Address of registrant's offices" is no name.
    return keys | {"company"} if _ORGANISATION & set(words) else keys


def _key(word: str) -> str:
    return word[:7]


def names_organisation(column: Column) -> bool:
    """Whether a text column holds the name of a company."""
    words = set(_WORD.findall(fold(spoken_name(column.name)))) - _SMALL
    return column.type is ColumnType.TEXT and bool(words) and words <= _ORGANISATION


def common_name(printed: str, document_name: str) -> tuple[int, int]:
    """The part of a company's printed name that it is called by, as characters of `printed`.

    The legal form is left out, and what follows the words by which the user's own file name calls the company. A column
    for the legal name takes the whole (see `keeps_legal_form`).

    >>> common_name("Orban Wholesale Corporation", "ORBAN_2020.txt")
    (0, 5)
    """
    start = 4 if printed[:4].lower() == "the " else 0
    end = len(printed.rstrip(" ,.")) if not _LEGAL_FORM.search(printed) else len(printed)
    while (match := _LEGAL_FORM.search(printed, start, end)) is not None and match.start() > start:
        end = match.start()
    tokens = [t for t in re.split(r"[^a-z]+", re.split(r"\d", fold(document_name))[0].rpartition("/")[2]) if t]
    for size in range(len(tokens), 0, -1):
        called = "".join(tokens[:size])
        place = _after_letters(printed, start, end, called) if len(called) >= _SHORTEST_NAME else None
        if place is not None:
            return start, place
    return start, end


def _after_letters(printed: str, start: int, end: int, called: str) -> int | None:
    """Where the words end whose letters are `called`, None where the name does not begin with them."""
    letters = ""
    for place in range(start, end):
        if printed[place].isalpha():
            letters += fold(printed[place])
        if letters == called:
            return None if printed[place + 1 : place + 2].isalnum() else place + 1
        if not called.startswith(letters):
            return None
    return None


def keeps_legal_form(column: Column) -> bool:
    """Whether a column asks for a name as it is registered."""
    return bool({"legal", "full", "exact", "official", "registrant"} & set(_WORD.findall(fold(spoken_name(column.name)))))
