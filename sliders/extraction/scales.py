"""The scale that a table states for its numbers."""

from __future__ import annotations

import re
from functools import lru_cache

from sliders.extraction.lexicon import SCALE_WORDS

_SCALE_NOTE = re.compile(
    r"(?:\b(?:in|en|dollars?|euros?|amounts?|usd|eur|us\$|€|£|\$)\s*,?\s*(?:in\s+)?(?:of\s+)?"
    r"(?P<word>hundreds|thousands|tausend|tsd|milliers|miles|millions?|mio|millionen|millones|mn|billions?|mrd|milliarden|milliards|bn)\b"
    r"|(?P<zeros>(?<![\d,.])[$€£]?\s?['’]?\b000(?:'?s|,000)?\b(?!\s?,?\d))|(?P<symbol>(?<!\w)(?:us)?[$€£]\s?(?:m|mn|bn|k)\b)|(?P<teur>\bT(?:EUR|€|USD)(?!\w)))",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def scale_in(note: str) -> str:
    """The canonical scale that a table's note or header states ("(in thousands, except per share data)"), or ""."""
    direct = SCALE_WORDS.get(note.strip().lower().rstrip("."), "") if len(note) < 16 else ""
    if direct:
        return direct
    match = _SCALE_NOTE.search(note)
    if match is None:
        return ""
    if match["word"]:
        return SCALE_WORDS[match["word"].lower()]
    if match["zeros"]:
        return "millions" if "000,000" in match["zeros"] else "thousands"
    if match["symbol"]:
        return SCALE_WORDS[re.sub(r"[^a-z]|us\$", "", match["symbol"].lower().replace("us$", ""))]
    return "thousands"
