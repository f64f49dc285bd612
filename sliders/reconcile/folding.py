"""Forms under which printed words are compared. Comparison only: what is stored and shown stays as printed."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_NOT_WORD = re.compile(r"[^\w]+", re.UNICODE)
_APOSTROPHE = re.compile(r"(?<=\w)['’`´](?=s\b|\w)")
_DOTTED = re.compile(r"\b(?:\w\.){2,}")
# Legal forms say how a company is registered, not which one it is.
LEGAL_FORMS = frozenset(
    """inc incorporated corp corporation co company ltd limited llc llp lp plc gmbh ag sa sas sarl spa srl bv nv ab as
    oy kk pty pte kg se""".split()
)
STOPWORDS = frozenset("the a an of and for in at on to by de la le der die das und et y e".split())


@lru_cache(maxsize=1 << 17)
def fold(text: str) -> str:
    """Case, accents, punctuation and white space aside; text without any letter or digit is kept, stripped."""
    if text.isascii():
        plain = text.lower()
    else:
        decomposed = unicodedata.normalize("NFKD", text.casefold())
        plain = "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()
    plain = plain.replace("&", " and ")
    if "." in plain:
        plain = _DOTTED.sub(lambda m: m.group().replace(".", ""), plain)
    plain = _APOSTROPHE.sub("", plain)
    return _NOT_WORD.sub(" ", plain).strip() or text.strip()


def name_tokens(text: str) -> tuple[str, ...]:
    """Folded tokens without articles and, at the end, without legal forms; never empty for a text with a token."""
    tokens = [t for t in fold(text).split() if t not in STOPWORDS] or fold(text).split()
    end = len(tokens)
    while end > 1 and tokens[end - 1] in LEGAL_FORMS:
        end -= 1
    return tuple(tokens[:end])


def name_key(text: str) -> str:
    """Sorted name tokens: equal for "Doe, Jane" and "Jane Doe", for "Acme, Inc." and "ACME".

    Tokens with digits keep their order: 1/5 and 5/1 are two days.
    """
    tokens = name_tokens(text)
    return " ".join(sorted(tokens) if all(t.isalpha() for t in tokens) else tokens)
