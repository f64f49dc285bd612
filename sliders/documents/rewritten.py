"""Helpers for rewriting a file before it is read: a count of the words that are left out, and
raised digits ("10" with a raised 6) written as text.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from sliders.values.units import dimension

_SHOWN, _SHOWN_PIECES = 60, 3
_ENDS_IN_NUMBER = re.compile(r"\d\s?[%‰)\]€$£¥]?$")
_LAST_WORD = re.compile(r"(?<![^\W_])[^\W\d_]+$")
_SHORT = 2
_MARK = r"(?:\d{1,3}|[a-df-np-z]|[eo](?=\)))"  # 2 and a raised e or o is an ordinal number
_RAISED = re.compile(rf"\s*(\(?[-−–+]?{_MARK}(?:\s?[,;]\s?{_MARK})*\)?)\s*")


@dataclass(slots=True)
class LeftOut:
    """Words that were left out of a document on purpose, by reason ("hidden text")."""

    pieces: dict[str, list[str]] = field(default_factory=dict)

    def add(self, why: str, words: str) -> None:
        """Adds words that are left out; white space alone is not counted."""
        if words.strip():
            self.pieces.setdefault(why, []).append(" ".join(words.split()))

    def warnings(self) -> list[str]:
        """Returns one warning for each reason, with the first words that were left out."""
        return [self._line(why, words) for why, words in self.pieces.items()]

    @staticmethod
    def _line(why: str, pieces: list[str]) -> str:
        shown = "; ".join(
            f'"{words[:_SHOWN]}..."' if len(words) > _SHOWN else f'"{words}"'
            for words in pieces[:_SHOWN_PIECES]
        )
        places = f"{len(pieces)} place{'s' * (len(pieces) > 1)}"
        more = ", ..." if len(pieces) > _SHOWN_PIECES else ""
        return f"{why} was left out in {places}: {shown}{more}"


def raised(before: str, text: str) -> str:
    """Returns raised text (superscript) as it is written behind the text `before`. Digits and note
    letters behind a number or a word get a mark: 10 and a raised 6 become 10^6, 2023 and a raised
    1) become 2023^1). Other raised text stays, as in 1st and in m2 for square metres.
    """
    digits = _RAISED.fullmatch(text)
    if digits is None or not _takes_mark(before[-20:], digits[1]):
        return text
    return "^" + digits[1].replace(" ", "").replace("−", "-").replace("–", "-")


def _takes_mark(before: str, mark: str) -> bool:
    """True when raised text behind a number or word needs a mark. The power of a length (m2) and
    the end of a short word (Mr) need none.
    """
    if _ENDS_IN_NUMBER.search(before):
        return True
    word = _LAST_WORD.search(before)
    if word is None or dimension(word[0]) == "length":
        return False
    return len(word[0]) > _SHORT or any(map(str.isdigit, mark))


def write_raised(leaves: Iterable[tuple[Any, bool]]) -> None:
    """Writes the raised digits of a paragraph with their mark (see `raised`), in place.

    Args:
        leaves: the paragraph's pieces in order, each an object with an attribute `text`, and True
            where the piece is raised.
    """
    before, first = "", None
    for leaf, is_raised in leaves:
        if is_raised and first is not None:  # one raised number in several pieces
            first.text, leaf.text = (first.text or "") + (leaf.text or ""), ""
        if is_raised:
            first = leaf if first is None else first
            continue
        before = _marked(first, before) + (leaf.text or "")
        first = None
    _marked(first, before)


def _marked(leaf: Any, before: str) -> str:
    if leaf is None:
        return before
    leaf.text = raised(before, leaf.text or "")
    return before + str(leaf.text)


def with_parts(raw: bytes, parts: dict[str, bytes]) -> bytes:
    """Returns a zip file in which the parts of these names have new content."""
    target = BytesIO()
    with (
        zipfile.ZipFile(BytesIO(raw)) as old,
        zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new,
    ):
        for entry in old.infolist():
            new.writestr(entry.filename, parts.get(entry.filename) or old.read(entry))
    return target.getvalue()


def xml_of(raw: bytes) -> Any:
    """The root of an XML part of a file; entities and addresses in it are not followed."""
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=True, remove_comments=True
    )
    return etree.fromstring(raw, parser)
