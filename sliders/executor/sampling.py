"""Short samples of several documents for schema induction, and what their form says about rows per document."""

from __future__ import annotations

from collections.abc import Callable

from sliders.chunks.chunk import Chunk
from sliders.executor.session import Session
from sliders.extraction.records import records_of
from sliders.schema.types import Grain

_SMALL_WINDOW = 40_000
_RECORD_SHARE = 0.5
_LOOKED_AT = 200


def samples(session: Session, question: str = "") -> list[str]:
    """Beginnings of documents spread over the collection; more and longer ones for a larger context window."""
    model = session.models.model_for("schema")
    number, tokens = (1, 160) if model.context_tokens <= _SMALL_WINDOW else (5, 800)
    stored = session.catalog.documents.all()
    step = max(1, len(stored) // number)
    texts = []
    for document in stored[::step][:number]:
        text = session.catalog.documents.text(document.id)
        texts.append(_beginning(text, tokens, model.count_tokens))
    return texts


def beginnings(session: Session) -> list[str]:
    """Beginnings of more documents than the model is shown, in characters, spread over the collection."""
    stored = session.catalog.documents.all()
    step = max(1, len(stored) // _MOST_TEXTS)
    return [session.catalog.documents.text(d.id)[:_TEXT_CHARACTERS] for d in stored[::step][:_MOST_TEXTS]]


_MOST_TEXTS, _TEXT_CHARACTERS = 8, 4000


def _beginning(text: str, tokens: int, count: Callable[[str], int]) -> str:
    lines = "\n".join(line.rstrip() for line in text[: tokens * 8].splitlines() if line.strip())
    while count(lines) > tokens and len(lines) > 40:
        lines = lines[: int(len(lines) * 0.85)]
    return lines.strip()


def grain_of(session: Session) -> Grain | None:
    """ "many" when most chunks are lists of records, None when the form does not say."""
    chunks: list[Chunk] = []
    for document in session.catalog.documents.all():
        chunks.extend(session.catalog.chunks.of(document.id)[: _LOOKED_AT - len(chunks)])
        if len(chunks) >= _LOOKED_AT:
            break
    listed = sum(1 for chunk in chunks if records_of(chunk))
    return "many" if chunks and listed / len(chunks) >= _RECORD_SHARE else None
