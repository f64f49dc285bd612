"""The title of a document, by code alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from sliders.documents.document import Element

_LENGTH = 120
_LOOK = 4_000
_WITHIN = 1_000


def find_title(text: str, elements: Sequence[Element], name: str, given: str = "") -> str:
    """Title: what the format's metadata says, the first heading, a short first line, or the file's name."""
    if given.strip():
        return _cut(given)
    for element in elements[:40]:
        if element.start > _WITHIN:
            break
        words = " ".join(text[element.start : min(element.end, element.start + _LOOK)].split())
        if element.kind == "heading" and len(words.split()) >= 2 and not words.endswith(":"):
            return _cut(words)
    for element in elements[:1]:
        first = text[element.start : min(element.end, element.start + _LOOK)].split("\n", 1)[0].strip()
        short = len(first) <= 110 and len(first.split()) >= 3 and not first.endswith((".", ",", ";"))
        if element.kind == "paragraph" and short and any(ch.isalpha() for ch in first):
            return first
    return PurePath(name).stem.replace("_", " ").strip() or name


def _cut(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= _LENGTH:
        return text
    return text[: _LENGTH - 1].rsplit(" ", 1)[0][: _LENGTH - 1] + "…"
