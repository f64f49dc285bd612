"""The title of a document, by code alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from sliders.documents.document import Element
from sliders.values.dates import dates_in
from sliders.values.scripts import unspaced

_COLON = re.compile(r"[:：]\s")
_LENGTH = 120
_LOOK = 4_000
_WITHIN = 1_000
_FIRST_LINE = 3  # words


def find_title(text: str, elements: Sequence[Element], name: str, given: str = "") -> str:
    """Returns the title of a document: the title in the file's metadata (`given`), the first
    heading, a short first line, or the file's name.
    """
    if given.strip():
        return _cut(given)
    top = next((e for e in elements[:1] if e.kind == "heading" and e.level == 1), None)
    for element in elements[:40]:
        if element.start > _WITHIN:
            break
        words = " ".join(text[element.start : min(element.end, element.start + _LOOK)].split())
        if (
            element.kind == "heading"
            and (element is top or _is_long(words))
            and not words.endswith((":", "："))
        ):
            return _cut(words)
    for element in elements[:1]:
        first = (
            text[element.start : min(element.end, element.start + _LOOK)].split("\n", 1)[0].strip()
        )
        short = (
            len(first) <= 110
            and _is_long(first, _FIRST_LINE)
            and not first.endswith((".", ",", ";", "。", "，", "；", "।"))
        )
        if element.kind == "paragraph" and short and not _is_field(first):
            return first
    return PurePath(name).stem.replace("_", " ").strip() or name


def _is_field(line: str) -> bool:
    """True when a line has no words, or only a date behind a colon ("Due date: 2 March 2024"): a
    value of the document, and not its name.
    """
    value = _COLON.split(line, maxsplit=1)[-1]
    for printed in reversed(dates_in(value)):
        value = value[: printed.start] + value[printed.end :]
    return not any(sign.isalpha() for sign in value)


def _is_long(words: str, least: int = 2) -> bool:
    """True when there are enough words to name a document; in scripts without blanks, letters are
    counted.
    """
    return len(words.split()) >= least or sum(map(unspaced, words)) >= 2 * least


def _cut(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= _LENGTH:
        return text
    return text[: _LENGTH - 1].rsplit(" ", 1)[0][: _LENGTH - 1] + "…"
