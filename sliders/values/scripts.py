"""Scripts and digits: the letters that make one word with a number beside them, and plain digits
and marks for those of other scripts.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

LETTERS = (
    r"A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u0370-\u03ff\u0400-\u052f\u0531-\u058f\u10a0-\u10ff"
    r"\u1e00-\u1fff"
)
"""Letters of scripts in which a letter that touches a digit belongs to one word with it ("A320"),
for a character class.
"""
WORD = rf"{LETTERS}0-9_"
HAN = r"\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
KANA = r"\u3040-\u30ff"
HANGUL = r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"

_MARKS = dict(zip("٫٬٪،￥〜\u3000￦", ".,%,¥~ ₩", strict=True))
_RANGES = (
    (0x0900, 0x097F, "Devanagari"),
    (0x0600, 0x06FF, "Arabic"),
    (0x0750, 0x077F, "Arabic"),
    (0xFB50, 0xFEFF, "Arabic"),
    (0x0400, 0x052F, "Cyrillic"),
    (0x3040, 0x30FF, "Kana"),
    (0x3400, 0x9FFF, "Han"),
    (0xF900, 0xFAFF, "Han"),
    (0xAC00, 0xD7AF, "Hangul"),
    (0x1100, 0x11FF, "Hangul"),
    (0x3130, 0x318F, "Hangul"),
    (0x0041, 0x024F, "Latin"),
    (0x1E00, 0x1EFF, "Latin"),
    (0xFF21, 0xFF5A, "Latin"),
)


_LATER = re.compile("[\u0600-\U0010ffff]")


def plain_digits(text: str) -> str:
    """Returns the text with ASCII digits and marks in the place of other scripts' digits and marks,
    in the same length: "٤٠٫٥" is 40.5.
    """
    if text.isascii():
        return text
    return text if _LATER.search(text) is None else _LATER.sub(lambda match: _plain(match[0]), text)


@cache
def _plain(char: str) -> str:
    if char in _MARKS:
        return _MARKS[char]
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    code = ord(char)
    return chr(code - 0xFEE0) if 0xFF01 <= code <= 0xFF5E else char


@cache
def script_of(char: str) -> str:
    """Returns the script of a letter: a script that code knows ("Latin", "Han"), "Other" for any
    other letter, "" for no letter.
    """
    if not char.isalpha():
        return ""
    code = ord(char)
    return next((name for low, high, name in _RANGES if low <= code <= high), "Other")


def scripts(text: str) -> frozenset[str]:
    """The scripts that a text's letters belong to."""
    return frozenset(filter(None, map(script_of, set(text))))


def unspaced(char: str) -> bool:
    """True when a character's script lets words touch each other and numbers (Chinese, Japanese,
    Korean, Thai).
    """
    return (
        script_of(char) in ("Han", "Kana", "Hangul")
        or "\u0e00" <= char <= "\u0eff"
        or "\u1780" <= char <= "\u17ff"
    )


def is_cased(text: str) -> bool:
    """True when the letters of a text are of a script with capitals: Latin, Greek, Cyrillic; not
    Arabic, Devanagari or Han.
    """
    letters = [char for char in text if char.isalpha()]
    return 2 * sum(char.isupper() or char.islower() for char in letters) > len(letters)
