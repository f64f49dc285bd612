"""When each document of the workspace is from, read once and kept."""

from __future__ import annotations

from collections.abc import Mapping

from sliders.executor.conventions import context_of
from sliders.executor.session import Session
from sliders.reconcile.dating import document_date

_BEGINNING = 20_000
"""Characters that show a document's order of day and month."""
_KEPT = "document dates"


def document_dates(session: Session) -> Mapping[str, str]:
    """ISO date (day, month or year, as printed) by document id, empty where a document shows none of its own.

    A document is read once; all are read again when the collection shows another order of day and month.
    """
    order = context_of(session, "").day_first
    kept = session.catalog.knowledge.statistic(_KEPT)
    dates: dict[str, str] = dict(kept["dates"]) if kept is not None and kept["day_first"] == order else {}
    new = [d for d in session.catalog.documents.all() if d.id not in dates]
    for document in new:
        text = session.catalog.documents.text(document.id)[:_BEGINNING]
        day_first = context_of(session, text).day_first
        dates[document.id] = document_date(document.name, document.title, text, day_first=day_first)
    if new:
        session.catalog.knowledge.set_statistic(_KEPT, {"day_first": order, "dates": dates})
    return dates
