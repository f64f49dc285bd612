"""Sentence boundaries by `nupunkt`; a blank line and a full-width end mark
always end a sentence.
"""

from __future__ import annotations

import re

import nupunkt

Span = tuple[int, int]

_BLOCK_END = re.compile(r"\n[ \t\r]*\n\s*+|[。！？]++[”’」』）]*+\s*+")


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Spans of the sentences of `text[start:end]`, without gap or overlap;
    white space ends the sentence before it.
    """
    stop = len(text) if end is None else end
    spans: list[Span] = []
    at = start
    for block in (*(match.end() for match in _BLOCK_END.finditer(text, start, stop)), stop):
        begin = at
        for _, last in nupunkt.sent_spans(text[begin:block]):
            if begin + last > at:
                spans.append((at, begin + last))
                at = begin + last
        if block > at:
            spans.append((at, block))
            at = block
    return spans
