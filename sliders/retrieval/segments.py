"""Segments of a document: small coherent spans for retrieval; and the sentences that represent the
document (QUEST 4.1).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sliders.documents.document import Document
from sliders.retrieval.context import Outline, blocks_of, parts_of
from sliders.retrieval.embeddings import Embedder, HashEmbedder, Vectors
from sliders.retrieval.index import SegmentVectors
from sliders.retrieval.lexical import terms
from sliders.retrieval.sentences import sentence_spans

CountTokens = Callable[[str], int]
Span = tuple[int, int]

# Beyond this many sentences, boundaries are found by words in common instead of by the model:
# a 100-page report would take a minute of embedding for nothing but its boundaries.
_MODEL_BOUNDARIES = 400
_LONGEST_SENTENCE = 2_000
_SPACE = re.compile(r"\s+")


def index_document(
    document: Document, embedder: Embedder, count_tokens: CountTokens, *, max_tokens: int = 150
) -> SegmentVectors:
    """Returns the index entry of a document: its segments, each embedded together with its nearest
    heading, and its key sentences.

    Args:
        max_tokens: largest segment in tokens; a single sentence or row may exceed it.
    """
    outline = Outline(document)
    texts, table = [], []
    for start, end in segment_spans(document, embedder, count_tokens, max_tokens=max_tokens):
        path = outline.heading_path(start)
        body = document.text[start:end].strip()
        texts.append(f"{path[-1]}\n{body}" if path else body)
        table.append((start, end, count_tokens(document.text[start:end])))
    summary = "\n".join(part for part in (document.title, *key_sentences(document)) if part)
    vectors = embedder.embed([summary, *texts])
    rows: NDArray[np.int64] = np.array(table, dtype=np.int64).reshape(-1, 3)
    return SegmentVectors.build(document.id, embedder.name, vectors[0], rows, vectors[1:])


def segment_spans(
    document: Document, embedder: Embedder, count_tokens: CountTokens, *, max_tokens: int = 150
) -> list[Span]:
    """Spans of adjacent sentences (or rows of one table) that belong together, in order,
    white space trimmed.
    """
    units = list(_units(document))
    if not units:
        return []
    texts = [document.text[start:end] for start, end, _ in units]
    sizes = [count_tokens(text) for text in texts]
    similar = _similarities(texts, embedder)
    # The cutoff of TextTiling (Hearst 1997): neighbours are parted half a deviation below
    # the document's mean.
    bound = float(similar.mean() - similar.std() / 2) - 1e-6 if len(similar) >= 3 else -1.0
    spans: list[Span] = []
    first, size = 0, sizes[0]
    for number in range(1, len(units)):
        same_part = units[number][2] == units[number - 1][2]
        # A short piece says too little alone, whatever it is similar to: a search finds its words
        # without what they are about.
        coherent = similar[number - 1] > bound or size < max_tokens // 2
        if same_part and coherent and size + sizes[number] <= max_tokens:
            size += sizes[number]
            continue
        spans.append((units[first][0], units[number - 1][1]))
        first, size = number, sizes[number]
    spans.append((units[first][0], units[-1][1]))
    return spans


def _similarities(texts: Sequence[str], embedder: Embedder) -> Vectors:
    """Cosine of each text with the next one, shape (n - 1,)."""
    judge = embedder if len(texts) <= _MODEL_BOUNDARIES else HashEmbedder()
    vectors = judge.embed(texts)
    cosines: Vectors = np.einsum("ij,ij->i", vectors[:-1], vectors[1:])
    return cosines


def _units(document: Document) -> Iterator[tuple[int, int, int]]:
    """Start, end and part of each sentence, row or heading; segments do not cross
    parts (sections, tables).
    """
    text, part, before = document.text, 0, ""
    for start, end, element in blocks_of(document):
        kind = element.kind if element else "paragraph"
        part += kind == "table" or before == "table" or (kind == "heading" and before != "heading")
        before = kind
        spans = [(start, end)] if kind == "heading" else parts_of(text, start, end, element)
        for low, high in (piece for span in spans for piece in _bounded(text, *span)):
            stripped = text[low:high].strip()
            if stripped:
                first = text.index(stripped[0], low)
                yield first, first + len(stripped), part


def _bounded(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields parts of at most 2,000 characters, cut at white space if there is any."""
    while end - start > _LONGEST_SENTENCE:
        limit = start + _LONGEST_SENTENCE
        cut = (
            max(text.rfind(" ", start + 1, limit), text.rfind("\n", start + 1, limit)) + 1 or limit
        )
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def key_sentences(document: Document, count: int = 5) -> list[str]:
    """The sentences that carry most of the document's frequent words, in order;
    the first sentence is one of them.

    Frequency-based extractive summary (Luhn), of the first 200,000 characters.
    """
    text = document.text[:200_000]
    sentences = [_SPACE.sub(" ", text[start:end]).strip() for start, end in sentence_spans(text)]
    sentences = [sentence[:400] for sentence in sentences if len(sentence) > 20] or [
        text[:400].strip()
    ]
    words = [terms(sentence) for sentence in sentences]
    frequency = Counter(term for row in words for term in row if len(term) > 3 and term.isalpha())
    scores = [sum(frequency[term] for term in set(row)) / (len(row) + 8) for row in words]
    ranked = sorted(range(1, len(sentences)), key=lambda number: (-scores[number], number))
    chosen = sorted([0, *ranked[: count - 1]])
    return [sentences[number] for number in chosen if sentences[number]]
