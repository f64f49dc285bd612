"""The encoding of a text that does not name its encoding: the encoding in which the letters make
words of a language.

Each encoding is tried with its languages. How likely a letter is beside another one comes from the
names of languages, countries, currencies, months and units that CLDR has in these languages. A
score is a logarithm of a likelihood; the greatest one wins.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from math import log

from sliders.values.cldr import printed_words
from sliders.values.scripts import script_of

WESTERN = "cp1252"
_WEST = tuple("en de fr es it pt nl da sv nb fi is ca".split())
_EAST = tuple("pl cs sk hu sl hr ro".split())
_CYRILLIC = tuple("ru uk bg sr".split())
_LANGUAGES = {
    WESTERN: _WEST,
    "cp1250": _EAST,
    "cp1251": _CYRILLIC,
    "cp1253": ("el",),
    "cp1254": ("tr",),
    "cp1255": ("he",),
    "cp1256": ("ar", "fa"),
    "cp1257": ("lt", "lv", "et"),
    "koi8_r": _CYRILLIC,
    "iso8859_2": _EAST,
    "iso8859_15": _WEST,
    "mac_roman": _WEST,
    "cp850": _WEST,
    "cp852": _EAST,
    "cp866": _CYRILLIC,
    "iso8859_5": _CYRILLIC,
}
_RARER = 2.0
"""The amount by which the score of an encoding other than Windows-1252 has to be better."""
_COMMON = {
    "cp932": range(0x88, 0x98),
    "euc_jp": range(0xB0, 0xD0),
    "gb18030": range(0xB0, 0xD8),
    "big5": range(0xA4, 0xC7),
    "cp949": range(0xB0, 0xC9),
}
"""The first bytes of the characters that are used most."""
_WORD = re.compile(r"[^\W\d_²³¹¼½¾]+")
_SIGNS = frozenset("€£§©®°±²³·×–—‘’“”„‚…•«»‹›¿¡‰№™¹½¼¾\xa0")
_BEFORE_LETTERS = frozenset("“„‘‚«»‹¿¡£€§°№…–—•\xa0")
_BEHIND_LETTERS = frozenset("”’“«»›²³®™…–—\xa0")
_DOT_ABOVE = "\u0307"
"""A sign that Python adds when it makes the Turkish capital I with a dot lower case."""
_SAMPLE = 6_000
_MOST_WORDS = 300
_SIGN, _STRANGE, _NO_SIGN, _NO_CHARACTER = -4.0, -9.0, -8.0, -15.0
_OTHER_LANGUAGE = 8.0
_MIXED_WORD, _TORN_WORD = -16.0, -20.0


def likeliest(raw: bytes, others: Sequence[tuple[str, str]] = ()) -> str:
    """Returns the encoding whose letters make words.

    Args:
        raw: the bytes; lines in ASCII alone do not count.
        others: further encodings to compare, each with the text that it gives.
    """
    sample = b"\n".join(line for line in raw.split(b"\n") if not line.isascii())[:_SAMPLE]
    western = sample.decode(WESTERN, errors="replace")
    scores = {WESTERN: _score_of_words(western, _WEST)}
    for name, languages in _LANGUAGES.items():
        text = sample.decode(name, errors="replace")
        score = _score_of_words(text, languages) - _RARER
        if text == western:
            scores[WESTERN] = max(scores[WESTERN], score)
        else:
            scores[name] = score
    for name in _COMMON:
        scores[name] = _score_of_characters(sample.decode(name, errors="replace"), name) - _RARER
    for name, text in others:
        scores[name] = _score_of_words(_not_plain(text), _WEST)
    return max(scores, key=lambda name: scores[name])


def _not_plain(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.isascii())[:_SAMPLE]


def _score_of_words(text: str, languages: Sequence[str]) -> float:
    words = Counter(_WORD.findall(text)[: 4 * _MOST_WORDS]).most_common(_MOST_WORDS)
    own = [(word, times) for word, times in words if not word.isascii()]
    plain = [(word, times) for word, times in words if word.isascii()]
    best: dict[str, float] = {
        word: max(_likelihood(word, language) for language in languages) for word, _ in own
    }
    english = {word: _likelihood(word, "en") for word, _ in plain}
    scores = []
    for language in languages:
        score = sum(
            times * max(_likelihood(word, language), best[word] - _OTHER_LANGUAGE)
            for word, times in own
        )
        score += sum(
            times * max(_likelihood(word, language), english[word]) for word, times in plain
        )
        scores.append(score)
    return max(scores) + sum(_signs(text))


def _signs(text: str) -> Iterator[float]:
    """Yields the score of each character that is no letter, and of each capital within a word."""
    for before, char, after in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        if char.isascii():
            continue
        if char.isalpha():
            if (
                (before.isalpha() and (char.isupper() and after.islower()))
                or (before.islower() and char.isupper())
                or (char.islower() and after.isupper())
            ):
                yield _NO_SIGN
            if any(
                side.isalpha() and _is_latin(side) != _is_latin(char) for side in (before, after)
            ):
                yield _MIXED_WORD
        elif char == "\ufffd" or unicodedata.category(char) == "Cc":
            yield _NO_CHARACTER
        else:
            yield _of_sign(before, char, after)


def _of_sign(before: str, char: str, after: str) -> float:
    score = _SIGN if char in _SIGNS else _STRANGE
    if before.isalpha() and after.isalpha():
        return score + _TORN_WORD * (char not in "’–—")
    if before.isalpha() and char not in _BEHIND_LETTERS:
        score += _NO_SIGN
    if after.isalpha() and char not in _BEFORE_LETTERS:
        score += _NO_SIGN
    return score if after.isascii() or after.isalpha() else score + _SIGN


@cache
def _is_latin(letter: str) -> bool:
    return script_of(letter) == "Latin"


@lru_cache(maxsize=65_536)
def _likelihood(word: str, language: str) -> float:
    rows = _beside(language)
    unseen: tuple[dict[str, float], float] = ({}, log(0.025))
    score = 0.0
    for a, b in pairwise(f" {word.lower().replace(_DOT_ABOVE, '')} "):
        known, other = rows.get(a, unseen)
        score += known.get(b, other)
    return score


@cache
def _beside(language: str) -> dict[str, tuple[dict[str, float], float]]:
    """Returns for each letter the log-likelihood of each letter behind it, and of a letter that
    never stands behind it.
    """
    counts: dict[str, Counter[str]] = {}
    for word in printed_words(language):
        for a, b in pairwise(f" {word} "):
            counts.setdefault(a, Counter())[b] += 1
    rows = {}
    for a, behind in counts.items():
        total = behind.total() + 2
        rows[a] = {b: log((n + 0.05) / total) for b, n in behind.items()}, log(0.05 / total)
    return rows


def _score_of_characters(text: str, name: str) -> float:
    """The score of a text of Chinese, Japanese or Korean."""
    strange = [char for char in text if not char.isascii()]
    kana = sum("\u3040" <= char <= "\u30ff" for char in strange)
    score = 0.0
    for before, char, after in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        if char.isascii():
            continue
        score += _character(char, name, name != "euc_jp" or 10 * kana >= len(strange))
        score += _MIXED_WORD * any(side.isascii() and side.isalpha() for side in (before, after))
    english = Counter(word for word in _WORD.findall(text) if word.isascii())
    return score + sum(n * _likelihood(w, "en") for w, n in english.items())


def _character(char: str, name: str, may_be_han: bool) -> float:
    if char == "\ufffd":
        return _NO_CHARACTER
    if "\u3040" <= char <= "\u30ff":
        return -4.0 if name in ("cp932", "euc_jp") else _STRANGE
    if "\u3000" <= char <= "\u303f" or "\uff01" <= char <= "\uff60":
        return -5.0
    if "\uff61" <= char <= "\uff9f":
        return _STRANGE
    code = char.encode(name, errors="replace")
    common = (
        len(code) == 2 and code[0] in _COMMON[name] and (name in ("cp932", "big5") or code[1] > 160)
    )
    if "\uac00" <= char <= "\ud7a3":
        return -6.0 if common else -14.0
    if "\u4e00" <= char <= "\u9fff" and common and name != "cp949":
        return -7.0 if may_be_han else -11.0
    return 2 * _NO_SIGN
