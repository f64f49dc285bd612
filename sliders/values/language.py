"""The language of a text, as far as code reads it: by its script, and by its most frequent
words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from sliders.values.scripts import script_of

OTHER = "other"
"""The answer for a language whose words for numbers, scales and months code does not know."""

_FREQUENT = {
    "en": "the of and to in for is was by with on at from that were are this has its an",
    "de": (
        "der die das und den von zu mit sich des auf für ist im dem nicht ein eine als auch wurde "
        "wurden bei nach am in tausend millionen milliarden mrd tsd"
    ),
    "fr": (
        "le la les de des et en du une est dans par pour sur au aux qui a été avec ce plus son "
        "milliers milliards"
    ),
    "es": (
        "el la los las de del y en que por con una para se su al fue más este como miles millones"
    ),
    "it": (
        "il lo gli di del della dei delle che e per con una nel nella sono è stato da al dal si in "
        "migliaia milioni miliardi"
    ),
    "pt": (
        "o os as de do da dos das e em no na que por com uma para foi não ao se mais pela "
        "milhares milhões bilhões"
    ),
    "nl": (
        "de het een van en in is dat op te zijn voor met niet aan er bij door werd naar "
        "duizenden miljoen miljard"
    ),
    "pl": "w z na i do się nie że jest od o przez dla roku oraz był po za jako ze tys zł",
    "cs": "v na se a je že z do s pro od roku byl byla jako o za podle jsou bylo ve tis kč",
}
_WORDS = {language: frozenset(words.split()) for language, words in _FREQUENT.items()}
_OWN_LETTERS = frozenset(
    "abcdefghijklmnopqrstuvwxyzäöüßéèêëàâçîïôûùœæáíóúñìòãõªºąćęłńśźżžčďěňřšťůý"
)
_FOREIGN = frozenset("іїєґўјљњђћѓќһәөүұқғңپچگڤکیےہٹڈڑںۆێ")
"""Letters of languages that share the script of Russian or Arabic."""
_TOKEN = re.compile(r"[^\W\d_]+")
_SAMPLE = 20_000
_MANY, _SHARE, _STRANGE = 8, 0.04, 0.1
"""Words from which on a text without frequent words is in another language, the share of these that
tells a language, and that of words with letters of no known language that tells another one.
"""
_OWN = {
    language: frozenset(letters)
    for language, letters in (
        ("pl", "ąęłńśźż"),
        ("cs", "ěřůďť"),
        ("de", "ß"),
        ("pt", "ãõ"),
        ("es", "ñ"),
    )
}
"""Letters of one language alone, among these."""
_LANGUAGES: dict[str, list[str]] = {}
"""The languages of each frequent word."""
for _language, _words in _WORDS.items():
    for _word in _words:
        _LANGUAGES.setdefault(_word, []).append(_language)


@lru_cache(maxsize=1024)
def language_of(text: str) -> str:
    """Returns the language of a text among the languages that code reads; "other" for another
    language, "" when too few words show it.
    """
    text = unicodedata.normalize("NFC", text[:_SAMPLE]).lower()
    counted: Counter[str] = Counter()
    for char, times in Counter(text).items():
        counted[script_of(char)] += times
    counted.pop("", None)
    letters = sum(counted.values())
    if not letters:
        return ""
    if counted["Kana"] * 20 > letters:
        return "ja"
    script, number = counted.most_common(1)[0]
    if (
        script != "Latin"
        and counted["Latin"]
        and script in ("Han", "Hangul")
        and number * 4 > letters
    ):
        return "zh" if script == "Han" else "ko"
    if script in ("Cyrillic", "Arabic"):
        foreign = sum(char in _FOREIGN for char in text)
        return OTHER if foreign * 100 > number else "ru" if script == "Cyrillic" else "ar"
    if script == "Latin":
        return _by_words(text)
    return {"Han": "zh", "Hangul": "ko", "Devanagari": "hi", "Kana": "ja"}.get(script, OTHER)


def _by_words(text: str) -> str:
    tokens = [
        token
        for token in _TOKEN.findall(text)
        if token[0].isascii() or script_of(token[0]) == "Latin"
    ]
    accented = [token for token in tokens if not token.isascii()]
    strange = sum(1 for token in accented if not set(token) <= _OWN_LETTERS)
    if strange > _STRANGE * len(tokens):
        return OTHER
    counts = dict.fromkeys(_WORDS, 0)
    for token, times in Counter(tokens).items():
        for language in _LANGUAGES.get(token, ()):
            counts[language] += times
    for language, letters in _OWN.items():
        counts[language] += sum(1 for token in accented if not letters.isdisjoint(token))
    ranked = sorted(counts, key=lambda language: -counts[language])
    best, second = counts[ranked[0]], counts[ranked[1]]
    if best >= 2 and best > second and best >= _SHARE * len(tokens):
        return ranked[0]
    telling = len(tokens) >= _MANY and not "".join(tokens).isascii()
    return OTHER if strange or (telling and (best < 2 or best < _SHARE * len(tokens))) else ""


def is_frequent(word: str, language: str) -> bool:
    """True when a word is among the most frequent words of a language (number words are not among
    them).
    """
    return word.lower() in _WORDS.get(language, ())


_ARTICLES = frozenset("a an the one".split())


def without_article(words: str) -> str:
    """Returns English words without the article before them: "a barn" becomes "barn"; "IP address"
    stays.
    """
    head, _, rest = words.partition(" ")
    return rest if rest and head in _ARTICLES else words
