"""A document's card: title, kind, author or subject, date, period and one line of content, made
once from the document's beginning (SLIDERS, global metadata).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from sliders.documents.document import Document
from sliders.engine.session import Session
from sliders.engine.synchronous import together
from sliders.engine.ways import ways_of
from sliders.errors import BudgetExceeded, ModelError
from sliders.extraction.asking import generate
from sliders.extraction.prompt import Cards

_FIRST_CHARACTERS = 1500
_AT_ONCE = 12
"""The number of documents in one call."""
_LINES, _LINE_CHARACTERS = 3, 160


async def card_of(session: Session, document: Document) -> str:
    """Returns the card of a document: the lines that stand above every chunk of it.

    The card holds the file's name. For a document of several chunks it also holds the model's
    description, which is asked for once and stored. When no description is needed, the title and
    the first lines take its place.
    """
    whole = session.catalog.chunks.count(document.id) < 2
    name = f"file {' '.join(PurePath(document.name).stem.replace('_', ' ').split())}"
    if whole:
        return name
    if not _asked(session):
        return f"{name}; {_by_code(document)}"
    if session.catalog.collection.card(document.id) is None:
        await _ask(session, [document.id])
    return f"{name}; {session.catalog.collection.card(document.id) or _by_code(document)}"


def _asked(session: Session) -> bool:
    """Says whether the model makes the cards. It does when a document may have several rows: facts
    that tell them apart may stand on the first page alone.
    """
    tables = session.schema.tables
    needed = not tables or any(table.grain == "many" for table in tables)
    return needed and ways_of(session.models.model_for("extract")).card is not None


async def make_cards(session: Session, document_ids: Iterable[str]) -> None:
    """Asks for the cards of documents that have several chunks and no card, several documents in a
    call, and stores them. A document that still has no card is asked for alone when it is read.
    """
    catalog = session.catalog
    missing = [
        identifier
        for identifier in (document_ids if _asked(session) else ())
        if catalog.chunks.count(identifier) > 1 and catalog.collection.card(identifier) is None
    ]
    calls = [missing[at : at + _AT_ONCE] for at in range(0, len(missing), _AT_ONCE)]
    await together(*(_ask(session, call) for call in calls if len(call) > 1))


async def _ask(session: Session, document_ids: Sequence[str]) -> None:
    """Makes one call for the cards of documents, and stores the cards of the reply."""
    model = session.models.model_for("extract")
    if (request := ways_of(model).card) is None:
        return
    documents = [session.catalog.documents.get(identifier) for identifier in document_ids]
    shown = [(document.name, document.text[:_FIRST_CHARACTERS]) for document in documents]
    try:
        reply = await generate(request(shown), model)
    except BudgetExceeded:  # the next call says so
        return
    if isinstance(reply, ModelError):
        for document in documents:
            session.decide(
                "extract", "document", "card by code", str(reply), document=document.name
            )
        return
    cards = Cards.model_validate(reply.data).by_number(len(documents))
    for number, document in enumerate(documents, 1):
        if number in cards:
            line = cards[number].line() or _by_code(document)
            session.catalog.collection.keep_card(document.id, line)


def _by_code(document: Document) -> str:
    """Returns the title, and the first lines when they say something else."""
    lines = [
        " ".join(line.split())[:_LINE_CHARACTERS]
        for line in document.text[:_FIRST_CHARACTERS].splitlines()
        if line.strip()
    ]
    told = dict.fromkeys([document.title, *lines[:_LINES]])
    return "; ".join(line for line in told if line)
