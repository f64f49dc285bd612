"""Bytes to text: the encodings that real files have, and a clear no for what is not text."""

from __future__ import annotations

import codecs
import re

from sliders.documents.sniff import SUFFIXES
from sliders.errors import DocumentError

_SAMPLE = 65_536
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(raw: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """(text, warnings): a byte order mark decides, then UTF-8, then UTF-16 without
    mark, then Windows-1252.

    Raises:
        DocumentError: the bytes are empty or no text.
    """
    if not raw.strip():
        raise DocumentError(f"{name}: the file is empty; add one with text")
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            return _strict(raw, encoding, name), ()
    head = raw[:_SAMPLE]
    if encoding := _utf16_without_mark(head):
        return _strict(raw, encoding, name), (f"{name} was read as UTF-16",)
    if b"\x00" in head or len(_CONTROL.findall(head)) * 20 > len(head):
        raise DocumentError(
            f"{name}: the file is binary, not text; readable are {', '.join(SUFFIXES)}"
        )
    try:
        return raw.decode("utf-8"), ()
    except UnicodeDecodeError:
        # Bytes that Windows-1252 leaves undefined become the replacement character.
        return raw.decode("cp1252", errors="replace"), (
            f"{name} is not UTF-8: it was read as Windows-1252",
        )


def _strict(raw: bytes, encoding: str, name: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        problem = (
            f"{name}: its mark says {encoding}, but byte {error.start} is not; save it as UTF-8"
        )
        raise DocumentError(problem) from error


def _utf16_without_mark(head: bytes) -> str:
    if len(head) < 8:
        return ""
    half = len(head) // 2
    if head[1::2].count(0) * 10 > half * 7 and head[0::2].count(0) == 0:
        return "utf-16-le"
    return "utf-16-be" if head[0::2].count(0) * 10 > half * 7 and head[1::2].count(0) == 0 else ""
