"""How a collection prints its values, for the documents that do not show it themselves."""

from __future__ import annotations

from collections.abc import Callable

from sliders.executor.session import Session
from sliders.values.dates import infer_day_first
from sliders.values.numbers import infer_decimal
from sliders.values.parse import Context

SAMPLE_CHARACTERS = 200_000
_BEGINNING = 20_000
_MOST_DOCUMENTS = 300
_FEWEST_DOCUMENTS = 3


def context_of(session: Session, text: str, note: str = "", shared: Callable[[], bool | None] | None = None) -> Context:
    """What a document shows about its printed values; the order of day and month that all others show where it does not.

    `note` is the scale note of the tables that the words come from; `shared` gives `shared_order` where it is asked
    for many documents.
    """
    sample = text[:SAMPLE_CHARACTERS]
    order = infer_day_first(sample)
    if order is None:
        order = shared() if shared else shared_order(session)
    return Context(note=note, day_first=order, decimal=infer_decimal(sample))


def shared_order(session: Session) -> bool | None:
    """The order of day and month in every document of the collection that shows one; None when they differ or are few."""
    known = session.catalog.knowledge.statistic("date order")
    if isinstance(known, dict) and known["documents"] == session.catalog.documents.count():
        order: bool | None = known["day_first"]
        return order
    stored = session.catalog.documents.all()
    step = max(1, len(stored) // _MOST_DOCUMENTS)
    shown = [infer_day_first(session.catalog.documents.text(d.id)[:_BEGINNING]) for d in stored[::step]]
    votes = [order for order in shown if order is not None]
    agreed = votes[0] if len(votes) >= _FEWEST_DOCUMENTS and len(set(votes)) == 1 else None
    session.catalog.knowledge.set_statistic("date order", {"documents": len(stored), "day_first": agreed})
    if agreed is not None:
        order_words = "day before month" if agreed else "month before day"
        reason = f"{order_words} in all {len(votes)} documents that show an order; so read where a document shows none"
        session.decide("extract", "dates", "order shared", reason)
    return agreed
