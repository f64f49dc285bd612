"""Selective context filtering: it keeps the sections that a task needs, in their order, within a
budget.

Semantic Decomposition and Selective Context Filtering, section 4.2. Applied again with the next
task it narrows further; the embedder caches the vectors of sections, so that each is embedded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from sliders.errors import SettingsError
from sliders.llm.model import Message
from sliders.llm.tokens import token_counter
from sliders.retrieval.embeddings import Embedder, default_embedder
from sliders.retrieval.sentences import sentence_spans

Section = TypeVar("Section", str, Message)

# A section counts as irrelevant below this cosine, or below this share of the best one. Set on the
# shipped model, which gives unrelated texts about 0.0 to 0.1 and an answering passage 0.3 and more.
_MIN_COSINE = 0.1
_MIN_SHARE = 0.35
# The shipped model reads 256 tokens; a longer section is judged by its best piece.
_PIECE = 800


@dataclass(frozen=True, slots=True)
class Selection(Generic[Section]):
    """The sections that were kept, in their order; `scores[i]` is the cosine of section i with the
    query.

    `kept` and `dropped` are positions in the input; `tokens` is the size of the kept sections,
    `tokens_before` the size of all.
    """

    sections: tuple[Section, ...]
    kept: tuple[int, ...]
    dropped: tuple[int, ...]
    scores: tuple[float, ...]
    tokens: int
    tokens_before: int


def select_context(
    sections: Sequence[Section],
    query: str,
    budget: int,
    *,
    embedder: Embedder | None = None,
    count_tokens: Callable[[str], int] | None = None,
    keep_last: int = 0,
) -> Selection[Section]:
    """Returns the sections that are relevant to the query; the most relevant ones are kept first
    while the budget lasts.

    Sections are texts, or the messages of a conversation; there a user message and the replies to
    it are kept or dropped together, and system messages are always kept.

    Args:
        budget: the most tokens of the kept sections together. Sections that must stay count too,
            and are kept even beyond it.
        embedder: None for the shipped model.
        count_tokens: None for the embedded model's vocabulary.
        keep_last: the number of sections at the end that must stay.

    Raises:
        SettingsError: the budget is negative.
    """
    if budget < 0:
        raise SettingsError(f"the budget is {budget} tokens; give 0 or more")
    count = count_tokens or token_counter("local")
    texts = [section if isinstance(section, str) else section.content for section in sections]
    sizes = [count(text) for text in texts]
    scores = _scores(texts, query, embedder or default_embedder()) if texts else []
    kept = _kept(sections, sizes, scores, budget, keep_last)
    positions = tuple(sorted(kept))
    dropped = tuple(number for number in range(len(sections)) if number not in kept)
    tokens = sum(sizes[number] for number in positions)
    return Selection(
        tuple(sections[n] for n in positions), positions, dropped, tuple(scores), tokens, sum(sizes)
    )


def _kept(
    sections: Sequence[Section],
    sizes: Sequence[int],
    scores: Sequence[float],
    budget: int,
    keep_last: int,
) -> set[int]:
    """Returns the positions of the kept sections: those that must stay, then the best groups within
    the rest of the budget.
    """
    last = len(sections) - keep_last
    kept = {n for n, section in enumerate(sections) if n >= last or _role(section) == "system"}
    room = budget - sum(sizes[number] for number in kept)
    floor = max(_MIN_COSINE, _MIN_SHARE * max(scores, default=0.0))
    ranked = [(max(scores[number] for number in group), group) for group in _groups(sections)]
    for best, group in sorted(ranked, key=lambda entry: (-entry[0], entry[1])):
        cost = sum(sizes[number] for number in group if number not in kept)
        if best >= floor and cost <= room:
            kept.update(group)
            room -= cost
    return kept


def _role(section: str | Message) -> str:
    return section.role if isinstance(section, Message) else ""


def _groups(sections: Sequence[Section]) -> list[tuple[int, ...]]:
    """Returns groups of positions that are kept or dropped together: a user message with the
    replies after it, else each section alone.
    """
    groups: list[tuple[int, ...]] = []
    for number, section in enumerate(sections):
        if _role(section) == "assistant" and number and _role(sections[number - 1]) != "system":
            groups[-1] = (*groups[-1], number)
        else:
            groups.append((number,))
    return groups


def _scores(texts: Sequence[str], query: str, embedder: Embedder) -> list[float]:
    """Cosine of each text's best piece with the query."""
    pieces = [_pieces(text) for text in texts]
    vectors = embedder.embed([query, *(piece for row in pieces for piece in row)])
    cosines = iter((vectors[1:] @ vectors[0]).tolist())
    return [max(next(cosines) for _ in row) for row in pieces]


def _pieces(text: str) -> list[str]:
    """Runs of whole sentences of about 800 characters; a longer sentence is cut."""
    pieces, start = [], 0
    for _, end in sentence_spans(text):
        while end - start > 2 * _PIECE:
            pieces.append(text[start : start + _PIECE])
            start += _PIECE
        if end - start >= _PIECE:
            pieces.append(text[start:end])
            start = end
    if text[start:].strip() or not pieces:
        pieces.append(text[start:])
    return pieces
