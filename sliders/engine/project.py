"""Context projection: the sections of a long document that a reading call shows, chosen by
Selective Context Filtering for the columns that are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

from sliders.engine.choose_chunks import RankedParts
from sliders.llm.model import Model
from sliders.retrieval.selection import select_context

_TOGETHER, _IN_A_SMALL_WINDOW = 8_000, 6_000
"""The tokens of a long document's sections that one call reads, of models with a large and with a
small window.
"""
_SECTIONS = 3
"""The most sections that are shown for one column."""


def sections_of_parts(ranked: RankedParts, parts: Sequence[int]) -> list[int]:
    """Returns the numbers of all sections of some parts."""
    wanted = set(parts)
    return [n for n, owner in enumerate(ranked.owners) if owner in wanted]


def in_sections(ranked: RankedParts, sections: Sequence[int], model: Model) -> list[list[int]]:
    """Returns the sections of each call."""
    calls, room = list[list[int]](), 0
    for number in sections:
        tokens = model.count_tokens(ranked.sections[number].text)
        if not calls or tokens > room:
            calls.append([])
            room = _TOGETHER if model.context_tokens >= 4 * _TOGETHER else _IN_A_SMALL_WINDOW
        calls[-1].append(number)
        room -= tokens
    return calls


def projected(ranked: RankedParts, parts: Sequence[int]) -> list[int]:
    """Returns the numbers of the sections of some parts that are shown to a reader: for each column
    the nearest three that the filter keeps, and of each part the nearest one. When no section is
    near to any column, the parts are shown whole.
    """
    sections = sections_of_parts(ranked, parts)
    shown: set[int] = set()
    for column, words in enumerate(ranked.columns):
        near = sorted(sections, key=lambda n: -ranked.near[n, column])
        near = [n for n in near[:_SECTIONS] if ranked.near[n, column] > 0]
        if not near:
            return sections
        shown.update(near[:1], _kept(ranked, near[1:], words))
    for part in set(parts) - {ranked.owners[n] for n in shown}:
        own = sections_of_parts(ranked, [part])
        shown.update(sorted(own, key=lambda n: -ranked.near[n].max())[:1])
    return sorted(shown)


def _kept(ranked: RankedParts, sections: Sequence[int], words: str) -> list[int]:
    """Returns the sections that the filter keeps for some words; without an embedder all."""
    if ranked.embedder is None or not sections:
        return list(sections)
    gists = [ranked.sections[n].gist for n in sections]
    kept = select_context(gists, words, len("".join(gists)), embedder=ranked.embedder).kept
    return [sections[n] for n in kept]
