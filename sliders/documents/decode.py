"""Bytes to text, by one ladder for all formats: a byte order mark, what the file declares, UTF-8,
nearly UTF-8, UTF-16, what the letters look like, Windows-1252. And a clear no for what is not text.
"""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

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
_WESTERN = "cp1252"
_LATIN_1 = ("ascii", "latin-1", "iso8859-1", "iso8859-15", "us-ascii", _WESTERN)
"""What browsers read as Windows-1252."""
_SEEN = (
    "cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 koi8_r cp866 iso8859_2 iso8859_5 "
    "shift_jis euc_jp gb18030 big5 euc_kr mac_roman"
).split()
_LATIN = ("cp1250", "cp1254", "cp1257", "iso8859_2", "mac_roman")
_TELLING = 3
"""Letters of another alphabet's code page that are no accident."""
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
        return _lenient(raw, _WESTERN if declared in _LATIN_1 else declared, name)
    text = raw.decode("utf-8", errors="replace")
    bad = text.count("\ufffd")
    if bad * 4 <= sum(not char.isascii() for char in text):
        places = f"{bad} place{'s' * (bad > 1)}"
        return text, (f"{name} is UTF-8 but for {places}, shown as \ufffd",)
    encoding = _looks_like(raw)
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


def _looks_like(raw: bytes) -> str:
    """The encoding whose letters make words; Windows-1252 where others are not clearly better."""
    lines = [line for line in raw.split(b"\n") if not line.isascii()]
    sample = b"\n".join(lines)[:_SAMPLE]
    matches = list(from_bytes(sample, cp_isolation=list(_SEEN)))
    if not matches:
        return _WESTERN
    best = matches[0]
    if str(best) == sample.decode(_WESTERN, errors="replace"):
        return _WESTERN
    western = next((match for match in matches if match.encoding == _WESTERN), None)
    if western is None or best.encoding not in _LATIN:
        return str(best.encoding)
    pairs = zip(str(best), str(western), strict=False)
    other = {mine for mine, theirs in pairs if mine != theirs}
    clearly = best.coherence > western.coherence or best.chaos < western.chaos
    return str(best.encoding) if clearly or len(other) >= _TELLING else _WESTERN


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
