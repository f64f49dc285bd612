"""Whether OCR is installed, and how certain the words of the pages are that it read."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

INSTALL = "pip install 'sliders[ocr]'"


def installed() -> bool:
    """Whether the extra `ocr` is there."""
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


def word_key(word: str) -> str:
    """The letters and digits of a word: marks stand elsewhere in a table than in print."""
    return "".join(filter(str.isalnum, word.lower()))


def score_of(scores: Mapping[str, float], words: str) -> float:
    """The lowest score (0 to 1) of words, by the scores of those of their page; of words that it
    does not have, the lowest of the page.
    """
    keys = [word_key(word) for word in words.split()]
    return min((scores[key] for key in keys if key in scores), default=min(scores.values()))
