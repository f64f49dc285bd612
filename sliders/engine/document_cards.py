"""A document's card: title, kind, who, date, period and one line, made once from its first pages
(SLIDERS, global metadata).
"""

from __future__ import annotations

from pathlib import PurePath

from sliders.documents.document import Document
from sliders.engine.session import Session
from sliders.engine.ways import ways_of
from sliders.errors import ModelError
from sliders.extraction.asking import generate
from sliders.extraction.prompt import Card
from sliders.llm.model import Model

_FIRST_CHARACTERS = 6000
_LINES, _LINE_CHARACTERS = 3, 160


async def card_of(session: Session, document: Document) -> str:
    """Returns the card of a document: the lines that stand above every chunk of it.

    The card has the file's name. For a document of several chunks it also has the model's
    description, which is asked once and stored, or, for models that make no cards, the title and
    the first lines.
    """
    model, whole = (
        session.models.model_for("extract"),
        session.catalog.chunks.count(document.id) < 2,
    )
    name = f"file {' '.join(PurePath(document.name).stem.replace('_', ' ').split())}"
    if whole:
        return name
    return f"{name}; {await _by_model(session, document, model)}"


async def _by_model(session: Session, document: Document, model: Model) -> str:
    if (asked_by := ways_of(model).card) is None:
        return _by_code(document)
    if (kept := session.catalog.collection.card(document.id)) is not None:
        return kept
    reply = await generate(asked_by(document.name, document.text[:_FIRST_CHARACTERS]), model)
    if isinstance(reply, ModelError):
        session.decide("extract", "document", "card by code", str(reply), document=document.name)
        return _by_code(document)
    card = Card.model_validate(reply.data).line() or _by_code(document)
    session.catalog.collection.keep_card(document.id, card)
    return card


def _by_code(document: Document) -> str:
    """Returns the title, and the first lines that say something else."""
    lines = [
        " ".join(line.split())[:_LINE_CHARACTERS]
        for line in document.text[:_FIRST_CHARACTERS].splitlines()
        if line.strip()
    ]
    told = dict.fromkeys([document.title, *lines[:_LINES]])
    return "; ".join(line for line in told if line)
