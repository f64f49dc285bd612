"""Title and short description of a document, by code alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from sliders.documents.document import Element

_DESCRIPTION_LENGTH = 200
_TITLE_LENGTH = 120
_SENTENCE = re.compile(r"(?<=[.!?。])\s+(?=[\w\"“(\[])")
_FURNITURE = re.compile(r"(?:table of contents|contents|page\b.*|[\W\d_]+)", re.IGNORECASE)
_TITLE_LABEL = re.compile(r"(?:title|titel|titre)\s*:?", re.IGNORECASE)
_LOOK = 4_000
_TITLE_WITHIN = 1_000


def find_title(text: str, elements: Sequence[Element], name: str, given: str = "") -> str:
    """Title: what the format's metadata says, the first heading, a short first line, or the file's name."""
    if given.strip():
        return _cut(given, _TITLE_LENGTH)
    for element in elements[:40]:
        if element.start > _TITLE_WITHIN:
            break
        words = _words(text, element)
        if element.kind == "heading" and len(words) >= 3 and not words.endswith(":"):
            return _cut(words, _TITLE_LENGTH)
        if _TITLE_LABEL.fullmatch(words) and element is not elements[-1]:
            return _cut(_words(text, elements[elements.index(element) + 1]), _TITLE_LENGTH)
    for element in elements[:1]:
        first = text[element.start : min(element.end, element.start + _LOOK)].split("\n", 1)[0].strip()
        short = len(first) <= 110 and len(first.split()) >= 3 and not first.endswith((".", ",", ";"))
        if element.kind == "paragraph" and short and not _FURNITURE.fullmatch(first):
            return first
    return PurePath(name).stem.replace("_", " ").strip() or name


def describe(text: str, elements: Sequence[Element], title: str) -> str:
    """At most 200 characters: the first sentence of the running text, else the first headings."""
    for element in elements[:60]:
        if element.kind not in ("paragraph", "list_item"):
            continue
        words = _words(text, element)
        sentence = _SENTENCE.split(words, maxsplit=1)[0]
        if len(sentence) >= 40 and sentence != title and sum(c.isalpha() for c in sentence) * 2 > len(sentence):
            return _cut(sentence, _DESCRIPTION_LENGTH)
    headings = (_words(text, element) for element in elements if element.kind == "heading")
    distinct = list(dict.fromkeys(heading for heading in headings if heading and heading != title))
    return _cut("; ".join(distinct[:12]), _DESCRIPTION_LENGTH)


def _words(text: str, element: Element) -> str:
    return " ".join(text[element.start : min(element.end, element.start + _LOOK)].split())


def _cut(text: str, length: int) -> str:
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    return text[: length - 1].rsplit(" ", 1)[0][: length - 1] + "…"
