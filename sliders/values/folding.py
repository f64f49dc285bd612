"""Forms of words that every room shares: folded words, names, the normal form of a text. Nothing is
parsed here.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

# Folding: forms under which printed words are compared. Stored and shown words stay as printed.

_NOT_WORD = re.compile(r"[\W_]+")
_SIGN = re.compile(r"[+#<>≤≥-]")
_NOT_WORD_OR_SIGN = re.compile(
    r"(?<=\w)(?:\s*([+#-]+)(?=\W*$)|([+#-]+)(?![\w+#-]))|(^-|[<>≤≥])\s?(?=\d)|(?:(?![<>≤≥]\s?\d)[\W_])+"
)
_MINUS = str.maketrans(dict.fromkeys("‐‑‒–−﹣－", "-"))
_APOSTROPHE = re.compile(r"(?<=\w)['’`´](?=s\b|\w)")
_DOTTED = re.compile(r"\b(?:\w\.){2,}")
LEGAL_FORMS = frozenset(
    """inc incorporated corp corporation co company ltd limited llc llp lp plc gmbh ag sa sas sarl
    spa srl bv nv ab as oy kk pty pte kg se sdn bhd""".split()
)
"""Words such as "Inc" that say how a company is registered, and do not tell it from others."""


def unaccented(text: str) -> str:
    """Lower case without accents: "Août" becomes "aout"; marks stay, the length may change."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char)).casefold()


@lru_cache(maxsize=1 << 17)
def fold(text: str) -> str:
    """Returns a text without case, accents, punctuation and white space at its ends; a text without
    any letter or digit is only stripped.
    """
    return _NOT_WORD.sub(" ", _plain(text)).strip() or text.strip()


@lru_cache(maxsize=1 << 17)
def signed(text: str) -> str:
    """Returns `fold` of a text that keeps a sign at the end of a word or before a number: "A+",
    "A-", "C#" and "<5" are not "a", "c" and "5". Two values are equal when this form is equal.
    """
    plain = _plain(text).translate(_MINUS).strip()
    if _SIGN.search(plain) is None:
        return fold(text)
    return (
        _NOT_WORD_OR_SIGN.sub(lambda m: "".join(filter(None, m.groups())) or " ", plain).strip()
        or text.strip()
    )


def _plain(text: str) -> str:
    plain = unaccented(text).replace("&", " and ")
    if "." in plain:
        plain = _DOTTED.sub(lambda m: m.group().replace(".", ""), plain)
    return _APOSTROPHE.sub("", plain)


_SAME_FORM = {"incorporated": "inc", "corporation": "corp", "company": "co", "limited": "ltd"}


def name_parts(text: str) -> tuple[tuple[str, ...], str]:
    """Returns the folded tokens of a name with their signs, and its legal forms in short. A name of
    legal forms alone keeps them as tokens.

    >>> name_parts("Moss & Son, Limited")
    (('moss', 'and', 'son'), 'ltd')
    """
    tokens = signed(text).split()
    end = len(tokens)
    while end > 1 and tokens[end - 1] in LEGAL_FORMS:
        end -= 1
    return tuple(tokens[:end]), " ".join(_SAME_FORM.get(t, t) for t in tokens[end:])


def name_tokens(text: str) -> tuple[str, ...]:
    """Folded tokens with their signs, without legal forms at the end."""
    return name_parts(text)[0]


def legal_form(text: str) -> str:
    """The legal forms that a name ends with, in short ("ltd"), "" for none:
    Moss Ltd and Moss Inc are two companies.
    """
    return name_parts(text)[1]


def name_key(text: str) -> str:
    """Name tokens in their order: equal for "Acme, Inc." and "ACME", not for "Bank of
    China" and "China Bank".
    """
    return " ".join(name_tokens(text))


def turned(text: str) -> str:
    """Returns a name whose single comma turns it around in the usual order: "Jane Doe" for "Doe,
    Jane"; "" for any other name. A comma beside a number or a legal form does not turn a name.
    """
    parts = text.split(",")
    words = [set(signed(part).split()) for part in parts]
    if len(parts) != 2 or not all(w - LEGAL_FORMS and all(map(str.isalpha, w)) for w in words):
        return ""
    return f"{parts[1].strip()} {parts[0].strip()}"


# Normal form: text in a form that forgives how it was typeset, with the way back to its characters.

_DASHES = "‐‑‒–—―−﹣－"
_QUOTES = '‘’‚‛“”„‟«»‹›`´′″"'
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_MAP = {
    **dict.fromkeys(_DASHES, "-"),
    **dict.fromkeys(_QUOTES, "'"),
    **dict.fromkeys(_INVISIBLE, ""),
}
_ODD = re.compile(
    r"(?P<hyphen>(?<=[^\W\d_])[-\u2010]\s*\n\s*(?=[^\W\d_]))|\\(?=\|)|(?P<space>\s{2,}|[^\S ])|"
    r"(?P<other>[^\x00-\x7f]+|[\"`])"
)


@dataclass(frozen=True, slots=True)
class Normalized:
    """A text in normal form: character `i` of it stands at `origin(i)` of the original text."""

    text: str
    _starts: tuple[int, ...]
    _origins: tuple[int, ...]
    _advances: tuple[bool, ...]

    def origin(self, index: int) -> int:
        """The offset in the original text of the character at `index`."""
        piece = bisect_right(self._starts, index) - 1
        return self._origins[piece] + (index - self._starts[piece] if self._advances[piece] else 0)


def normalize(text: str) -> Normalized:
    """Lower case, single blanks, plain quotes, dashes and bars, no accents (NFKD), no soft hyphens,
    lines' hyphens joined.
    """
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
    """One character in normal form: "É" is "e", "ﬁ" is "fi", "–" is "-", a
    soft hyphen is nothing.
    """
    if char in _MAP:
        return _MAP[char]
    return "".join(_MAP.get(part, part) for part in unaccented(char))


_SPELLED = str.maketrans({**_MAP, **dict.fromkeys('“”„‟«»″"', '"')})
_TYPESET = frozenset(
    f"<{kind}>"
    for kind in "wide narrow noBreak compat font initial medial final isolated vertical".split()
)


def spelling(text: str) -> str:
    """Returns a text without differences of case, white space and Unicode form: "ACME Corp" and
    "Acme Corp" are spelled alike. Accents, raised digits and punctuation stay.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", "".join(map(_typeset, text)))
    return " ".join(text.translate(_SPELLED).casefold().split())


@lru_cache(maxsize=4096)
def _typeset(char: str) -> str:
    """Returns the usual character for one of another width or font; raised digits and fractions
    stay, since they mean something else.
    """
    kind = unicodedata.decomposition(char).partition(" ")[0]
    return unicodedata.normalize("NFKC", char) if kind in _TYPESET else char
