"""Whether OCR is installed, and how certain the words of the pages are that it read."""

from __future__ import annotations

from importlib.util import find_spec

from sliders.documents.document import Page

INSTALL = "pip install 'sliders[ocr]'"


def installed() -> bool:
    """Whether the extra `ocr` is there."""
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


def word_key(word: str) -> str:
    """The letters and digits of a word: marks stand elsewhere in a table than in print."""
    return "".join(filter(str.isalnum, word.lower()))


def score_of(page: Page, words: str) -> float | None:
    """The lowest score (0 to 1) of words of a page that was scanned; None on other pages."""
    if not page.scores:
        return None
    known = dict(page.scores)
    keys = [word_key(word) for word in words.split()]
    return min((known[key] for key in keys if key in known), default=min(known.values()))
