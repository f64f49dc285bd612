"""How the documents of a collection print numbers and dates, for documents that do not show it
themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from sliders.engine.session import Session
from sliders.store.facts import Habit
from sliders.values.dates import infer_day_first
from sliders.values.digits import DecimalMark, infer_decimal
from sliders.values.language import language_of
from sliders.values.parse import Context

SAMPLE_CHARACTERS = 200_000
_BEGINNING = 20_000
_MOST_DOCUMENTS = 300
_FEWEST_DOCUMENTS = 2
_Vote = TypeVar("_Vote", bool, DecimalMark)


def context_of(session: Session, text: str, shared: Callable[[], Habit] | None = None) -> Context:
    """Returns the conventions of a document's printed values. A convention that the document does
    not show is taken from the other documents, if they all share it.

    Args:
        text: the document's text.
        shared: gives the habit of the collection (`shared_habit`), for callers with many documents.
    """
    sample = text[:SAMPLE_CHARACTERS]
    order, decimal = infer_day_first(sample), infer_decimal(sample)
    if order is None or not decimal:
        habit = shared() if shared else shared_habit(session)
        order, decimal = habit.day_first if order is None else order, decimal or habit.decimal
    return Context(day_first=order, decimal=decimal, language=language_of(sample))


def shared_habit(session: Session) -> Habit:
    """Returns the conventions of the collection, from a sample of its documents. A convention is
    unknown when documents differ, or too few show it.
    """
    known = session.catalog.collection.habit(session.catalog.documents.count())
    if known is not None:
        return known
    stored = session.catalog.documents.all()
    step = max(1, len(stored) // _MOST_DOCUMENTS)
    texts = [session.catalog.documents.text(d.id)[:_BEGINNING] for d in stored[::step]]
    orders = [order for order in map(infer_day_first, texts) if order is not None]
    marks = [mark for mark in (infer_decimal(text, least=1) for text in texts) if mark]
    habit = Habit(_agreed(orders), _agreed(marks) or "")
    session.catalog.collection.keep_habit(len(stored), habit)
    if habit.day_first is not None:
        order_words = "day before month" if habit.day_first else "month before day"
        reason = (
            f"{order_words} in all {len(orders)} documents that show an order; so read where a "
            "document shows none"
        )
        session.decide("extract", "dates", "order shared", reason)
    if habit.decimal:
        reason = (
            f"{habit.decimal!r} before decimals in all {len(marks)} documents that show it; so "
            "read where one does not"
        )
        session.decide("extract", "numbers", "decimal mark shared", reason)
    return habit


def _agreed(votes: Sequence[_Vote]) -> _Vote | None:
    return votes[0] if len(votes) >= _FEWEST_DOCUMENTS and len(set(votes)) == 1 else None
