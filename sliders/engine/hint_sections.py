"""The parts of a document that a hint points to. Sections and tables have *tags* (their heading or
words); a hint and a tag are compared by their embeddings, without a model call (HALO, section 5.2).
Also the segments that a hint skips.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sliders.documents.document import Document, Element
from sliders.retrieval.context import Outline
from sliders.retrieval.embeddings import Embedder, Vectors
from sliders.retrieval.lexical import terms
from sliders.schema.hints import Ignore, Locate
from sliders.values.vocabulary import WORDS_OF_HEADINGS

Span = tuple[int, int]

_MIN_MATCH = 0.5
"""The cosine of hint and tag from which on they count as the same thing, for the shipped embedding
model.
"""
_MARGIN = 0.12
"""The difference of cosine to the best tag up to which further tags are kept."""
_TAG_CHARACTERS = 400
_ROWS_IN_TAG = 6


@dataclass(frozen=True, slots=True)
class Tag:
    """A named piece of a document: `text[start:end]`. `kind` is "section" or the kind of an
    element.
    """

    name: str
    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Located:
    """The parts of one document that Locate hints leave: their `spans` (the whole document when no
    hint matches), the tags that `matched`, and the hints that were `skipped`.
    """

    spans: tuple[Span, ...]
    matched: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()

    @property
    def pruned(self) -> bool:
        """True when a hint matched."""
        return bool(self.matched)


def tags_of(document: Document) -> tuple[Tag, ...]:
    """Returns the sections of a document by their headings (each reaches to the next heading of its
    level or above), and its tables by their words.
    """
    outline = Outline(document)
    tags: list[Tag] = []
    headings = [e for e in document.elements if e.kind == "heading"]
    for number, heading in enumerate(headings):
        level = max(1, heading.level)
        following = (h.start for h in headings[number + 1 :] if max(1, h.level) <= level)
        tags.append(
            Tag(
                _line(document.text[heading.start : heading.end]),
                "section",
                heading.start,
                next(following, len(document.text)),
            )
        )
    for number, element in enumerate(document.elements):
        if element.kind == "table":
            tags.append(
                Tag(
                    _table_name(document, outline, number, element),
                    "table",
                    element.start,
                    element.end,
                )
            )
    return tuple(tags)


def _table_name(document: Document, outline: Outline, number: int, element: Element) -> str:
    parts = list(outline.heading_path(element.start)[-1:])
    before = document.elements[number - 1] if number else None
    if before is not None and before.kind in ("caption", "paragraph"):
        parts.append(_line(document.text[before.start : before.end])[-120:])
    if element.grid is not None:
        parts += [element.grid.caption, element.grid.note, " ".join(element.grid.header)]
        parts += [row[0].text for row in element.grid.rows[:_ROWS_IN_TAG] if row]
    return _line(" ".join(part for part in parts if part))[:_TAG_CHARACTERS]


def locate(document: Document, directives: Sequence[Locate], embedder: Embedder) -> Located:
    """Returns the union of the parts that each hint matches. Hints without a match are skipped;
    when none matches, the whole document is returned.
    """
    spans: list[Span] = []
    matched: list[str] = []
    skipped: list[str] = []
    tags = tags_of(document) if any(d.hints for d in directives) else ()
    vectors = embedder.embed([tag.name for tag in tags]) if tags else None
    for directive in directives:
        for kind in directive.kinds:
            found = [(e.start, e.end) for e in document.elements if e.kind == kind]
            _note(kind.replace("_", " "), found, spans, matched, skipped)
        for first, last in directive.pages:
            found = [
                (p.start, p.end)
                for p in document.pages
                if min(first, last) <= p.number <= max(first, last)
            ]
            _note(
                f"page {first}" if first == last else f"pages {first} to {last}",
                found,
                spans,
                matched,
                skipped,
            )
        for hint in directive.hints:
            _note(hint, _matching(hint, tags, vectors, embedder), spans, matched, skipped)
    whole = ((0, len(document.text)),)
    return Located(merge(spans) if matched else whole, tuple(matched), tuple(skipped))


def _note(
    name: str, found: Sequence[Span], spans: list[Span], matched: list[str], skipped: list[str]
) -> None:
    spans.extend(found)
    (matched if found else skipped).append(name)


def _matching(
    hint: str, tags: Sequence[Tag], vectors: Vectors | None, embedder: Embedder
) -> list[Span]:
    if vectors is None or not tags:
        return []
    wants_table = "table" in terms(hint)
    wanted = set(terms(hint)) - WORDS_OF_HEADINGS
    if not wanted:
        return []
    cosines = vectors @ embedder.embed([hint])[0]
    # All the words of the hint in a tag are a match, however the embedding model sees the two.
    exact = np.array([1.0 if wanted <= set(terms(tag.name)) else 0.0 for tag in tags])
    allowed = np.array([tag.kind == "table" or not wants_table for tag in tags])
    scores = np.where(allowed, np.maximum(cosines, exact * 0.9), -1.0)
    if scores.max() < _MIN_MATCH and wants_table:
        scores = np.maximum(cosines, exact * 0.9)
    floor = max(_MIN_MATCH, float(scores.max()) - _MARGIN)
    return [(tag.start, tag.end) for tag, score in zip(tags, scores, strict=True) if score >= floor]


def merge(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Returns spans in order, with overlapping ones joined."""
    out: list[Span] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        elif end > start:
            out.append((start, end))
    return tuple(out)


_IGNORE_COSINE = 0.42
_IGNORE_LEAD = 0.12


def ignored(
    texts: Sequence[str],
    headings: Sequence[str],
    vectors: Vectors,
    question: str,
    directives: Sequence[Ignore],
    embedder: Embedder,
) -> list[bool]:
    """Says for each segment whether it is about a subject to skip, and clearly less about the
    question. In doubt a segment stays.

    Args:
        texts: the segments.
        headings: the headings above each segment.
        vectors: their embeddings, shape (n, d).
    """
    topics = [topic for directive in directives for topic in directive.topics]
    if not topics or not texts:
        return [False] * len(texts)
    asked = embedder.embed([question])[0]
    near_question = vectors @ asked
    near_topic = (vectors @ embedder.embed(topics).T).max(axis=1)
    named = [
        any(set(terms(topic)) <= set(terms(heading)) for topic in topics) for heading in headings
    ]
    best = float(near_question.max())
    out = []
    for number in range(len(texts)):
        about = (
            near_topic[number] >= _IGNORE_COSINE
            and near_topic[number] >= near_question[number] + _IGNORE_LEAD
        )
        # The segment nearest to the question stays, whatever it is about.
        out.append(bool((named[number] or about) and near_question[number] < best))
    return out


def _line(text: str) -> str:
    return " ".join(text.split())
