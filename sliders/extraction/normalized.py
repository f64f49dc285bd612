"""Text in a form that forgives how it was typeset, with the way back to its characters."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

_DASHES = "‐‑‒–—―−﹣－"
_QUOTES = '‘’‚‛“”„‟«»‹›`´′″"'
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_MAP = {**dict.fromkeys(_DASHES, "-"), **dict.fromkeys(_QUOTES, "'"), **dict.fromkeys(_INVISIBLE, "")}
_ODD = re.compile(
    r"(?P<hyphen>(?<=[^\W\d_])[-\u2010]\s*\n\s*(?=[^\W\d_]))|(?P<space>\s{2,}|[^\S ])|(?P<other>[^\x00-\x7f]+|[\"`])"
)


@dataclass(frozen=True, slots=True)
class Normalized:
    """`text` in normal form. Character `i` of it stands at `origin(i)` of the text that it was made from."""

    text: str
    _starts: tuple[int, ...]
    _origins: tuple[int, ...]
    _advances: tuple[bool, ...]

    def origin(self, index: int) -> int:
        """Where the character at `index` starts in the original text."""
        piece = bisect_right(self._starts, index) - 1
        return self._origins[piece] + (index - self._starts[piece] if self._advances[piece] else 0)


def normalize(text: str) -> Normalized:
    """Lower case, single blanks, plain quotes and dashes, no accents (NFKD), no soft hyphens, lines' hyphens joined."""
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    advances: list[bool] = []
    length = 0

    def put(piece: str, origin: int, advance: bool) -> None:
        nonlocal length
        if piece:
            pieces.append(piece)
            starts.append(length)
            origins.append(origin)
            advances.append(advance)
            length += len(piece)

    position = 0
    for match in _ODD.finditer(text):
        put(text[position : match.start()].lower(), position, True)
        position = match.end()
        if match["space"]:
            put(" ", match.start(), False)
        elif match["other"]:
            _put_characters(match[0], match.start(), put)
    put(text[position:].lower(), position, True)
    if not starts:
        return Normalized("", (0,), (0,), (True,))
    return Normalized("".join(pieces), tuple(starts), tuple(origins), tuple(advances))


def _put_characters(run: str, start: int, put: Callable[[str, int, bool], None]) -> None:
    for index, char in enumerate(run):
        put(normal_character(char), start + index, False)


@lru_cache(maxsize=4096)
def normal_character(char: str) -> str:
    """One character in normal form: "É" is "e", "ﬁ" is "fi", "–" is "-", a soft hyphen is nothing."""
    if char in _MAP:
        return _MAP[char]
    plain = "".join(part for part in unicodedata.normalize("NFKD", char.casefold()) if not unicodedata.combining(part))
    return "".join(_MAP.get(part, part) for part in plain)
