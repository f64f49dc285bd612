"""The scores of words that OCR has read, and whether OCR is installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

INSTALL = "pip install 'sliders[ocr]'"


def installed() -> bool:
    """True when the extra `ocr` is installed."""
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


def lacking(wanted: bool) -> str:
    """Returns what has to be done so that OCR reads, "" where it does."""
    if not wanted:
        return "turn it on with: --ocr auto"
    return "" if installed() else f"install it with: {INSTALL}"


def word_key(word: str) -> str:
    """The letters and digits of a word, by which its score is found: punctuation in a table differs
    from the page.
    """
    return "".join(filter(str.isalnum, word.lower()))


def score_of(scores: Mapping[str, float], words: str) -> float:
    """Returns the lowest score (0 to 1) of some words.

    Args:
        scores: the score of each word of the page, by `word_key`.
        words: the words; a word that the page does not have gets the page's lowest score.
    """
    keys = [word_key(word) for word in words.split()]
    return min((scores[key] for key in keys if key in scores), default=min(scores.values()))
