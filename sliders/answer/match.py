"""Which real values of a column a literal means: same words, contained words, nearly the same letters."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import fuzz

from sliders.answer.question import normal
from sliders.extraction.countries import country_of

SAME_LETTERS = 88.0
"""Lowest similarity (0 to 100) at which two spellings count as one value."""
SHOWN = 5
LEGAL_FORMS = frozenset(
    {"inc", "incorporated", "corp", "corporation", "co", "company", "ltd", "limited", "llc", "llp", "lp", "plc", "gmbh"}
    | {"ag", "sa", "sas", "spa", "nv", "bv", "ab", "oy"}
)


def same(literal: str, texts: Sequence[str]) -> list[str]:
    """Values that equal the literal but for case, accents, punctuation, white space and a company's legal form.

    A country's name is also equal to the words for its people ("Spain", "Spanish").
    """
    key, country = _core(literal), country_of(literal)
    return [t for t in texts if _core(t) == key or (country and country_of(t) == country)] if key else []


def _core(text: str) -> str:
    words = normal(text).split()
    while len(words) > 1 and words[-1] in LEGAL_FORMS:
        words.pop()
    return " ".join(words)


def near(literal: str, texts: Sequence[str]) -> list[str]:
    """Values whose words contain the literal's, or that it contains, or that are spelt nearly alike."""
    key = normal(literal)
    if not key:
        return []
    words = set(key.split())
    holding = [text for text in texts if words <= set(normal(text).split())]
    if holding:
        return holding
    held = [text for text in texts if len(normal(text)) > 3 and f" {normal(text)} " in f" {key} "]
    if held:
        return held
    return [text for text in texts if fuzz.ratio(key, normal(text)) >= SAME_LETTERS]


def nearest(literal: str, texts: Sequence[str]) -> list[str]:
    """The few values most like the literal, best first, to be shown to the model."""
    key = normal(literal)
    ranked = sorted(texts, key=lambda text: -fuzz.token_set_ratio(key, normal(text)))
    return ranked[:SHOWN]
