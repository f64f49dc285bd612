"""Bytes to text, in the same way for all formats. The encoding is the first of these that fits: the
one of a byte order mark, the declared one, UTF-8, UTF-8 with few faults, UTF-16, the one whose
letters make words, Windows-1252. Bytes that are no text are refused.
"""

from __future__ import annotations

import codecs
import re

from sliders.documents.letters import WESTERN, likeliest
from sliders.documents.sniff import SUFFIXES
from sliders.errors import DocumentError

_SAMPLE = 65_536
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_AS_BROWSERS = {
    **dict.fromkeys(("ascii", "iso8859-1"), WESTERN),
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
}
"""The encodings that browsers use in the place of declared ones."""
_ELSE_WESTERN = "sliders.else_western"
_MIXED = "utf-8, else Windows-1252"
_SIGNS = frozenset("€£°§–—‘’“”„…")
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""")


def declared_encoding(raw: bytes) -> str:
    """The encoding that the head of a page names, "" where it names none."""
    found = _DECLARED.search(raw[:4096])
    return found[1].decode("ascii") if found else ""


def decode(raw: bytes, name: str, declared: str = "") -> tuple[str, tuple[str, ...]]:
    """(text, warnings) of the bytes of a file.

    Args:
        declared: the encoding that the file itself names.

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
    if b"\x00" in head or len(_CONTROL.findall(head.replace(b"\x1b", b""))) * 20 > len(head):
        raise DocumentError(
            f"{name}: the file is binary, not text; readable are {', '.join(SUFFIXES)}"
        )
    return _without_mark(raw, name, _known(declared))


def _without_mark(raw: bytes, name: str, declared: str) -> tuple[str, tuple[str, ...]]:
    if declared.startswith("iso2022"):
        return _lenient(raw, declared, name)
    try:
        return raw.decode("utf-8"), ()
    except UnicodeDecodeError:
        pass
    if declared and declared != "utf-8":
        return _lenient(raw, _AS_BROWSERS.get(declared, declared), name)
    bad = raw.decode("utf-8", errors="replace").count("\ufffd")
    text = raw.decode("utf-8", errors=_ELSE_WESTERN)
    nearly = bad * 4 <= sum(not char.isascii() for char in text)
    encoding = _MIXED if nearly else likeliest(raw, [(_MIXED, text)])
    if encoding == _MIXED:
        places = f"{bad} place{'s' * (bad > 1)}"
        shown = "shown as \ufffd" if "\ufffd" in text else "read as Windows-1252"
        return text, (f"{name} is UTF-8 but for {places}, {shown}",)
    # Bytes that the encoding leaves undefined become the replacement character.
    said = "Windows-" + encoding[2:] if re.fullmatch(r"cp125\d", encoding) else encoding
    return raw.decode(encoding, errors="replace"), (
        f"{name} is not UTF-8: it was read as {said}, by the look of its letters",
    )


def _known(declared: str) -> str:
    """Python's name of an encoding, "" where there is none."""
    try:
        return codecs.lookup(declared).name if declared else ""
    except LookupError:
        return ""


def _lenient(raw: bytes, encoding: str, name: str) -> tuple[str, tuple[str, ...]]:
    text = raw.decode(encoding, errors="replace")
    bad = text.count("\ufffd")
    told = f"{name} says that it is {encoding}; {bad} bytes are not, shown as \ufffd"
    return text, (told,) if bad else ()


def _else_western(error: UnicodeError) -> tuple[str, int]:
    """A byte that is no UTF-8 as the letter or sign of Windows-1252 that it is beside a word."""
    assert isinstance(error, UnicodeDecodeError)
    start, end = error.start, error.end
    char = error.object[start:end].decode(WESTERN, errors="replace")
    beside = error.object[max(start - 1, 0) : start] + error.object[end : end + 1]
    letter = char.isalpha() and any(side.isalpha() for side in beside.decode("latin-1"))
    return (char if end == start + 1 and (letter or char in _SIGNS) else "\ufffd"), end


codecs.register_error(_ELSE_WESTERN, _else_western)


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
