"""The date of each document in the workspace, read once and stored.

A date inside a sentence is not the document's own. The document's date is, in this order, a date at
the edge of the title, a date that is a line near the top, or a date in the file name. Nothing is
filled in: a name with a year gives a year. The file's time of change is not used, since copying
alters it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sliders.engine.date_conventions import context_of
from sliders.engine.session import Session
from sliders.values.cldr import letter_by_letter, weekdays
from sliders.values.dates import PrintedDate, dates_in, unsure

_BEGINNING = 20_000
"""The number of characters at a document's beginning that are searched for its order of day and
month.
"""


def document_dates(session: Session) -> Mapping[str, str]:
    """Returns the ISO date (day, month or year, as printed) of each document, by id; "" when a
    document has none. A document is read once; all are read again when the collection shows another
    order of day and month.
    """
    order = context_of(session, "").day_first
    dates = session.catalog.collection.dates(order)
    new = [d for d in session.catalog.documents.all() if d.id not in dates]
    for document in new:
        text = session.catalog.documents.text(document.id)[:_BEGINNING]
        day_first = context_of(session, text).day_first
        dates[document.id] = document_date(document.name, document.title, text, day_first=day_first)
    if new:
        session.catalog.collection.keep_dates({d.id: dates[d.id] for d in new}, order)
    return dates


_TOP = 2_000
"""The characters of a document that are searched for its date."""
_FROM_YEAR, _TO_YEAR = 1900, 2100  # a number outside this range is a count or an identifier
_REST = 6  # letters beside the date and its weekday in a line that is a date


def document_date(name: str, title: str, beginning: str, *, day_first: bool | None = None) -> str:
    """Returns the document's own date, as ISO 8601 text with the printed parts ("2021-08-29",
    "2021-08", "2021"); "" for none.

    Args:
        name: the path as the user gave it.
        title: the title.
        beginning: the first characters; at most 2,000 are read.
        day_first: the order of numeric dates; None when unknown, and then ambiguous dates do not
            count.
    """
    stem = re.sub(r"\.[A-Za-z]{1,5}$", "", name.rsplit("/", 1)[-1]).replace("_", " ")
    found = [
        *_closing(title, day_first),
        *_lines(beginning[:_TOP], day_first),
        *_clear(stem, day_first),
    ]
    full = [d for d in found if d.full]
    dated = full or [d for d in found if d.month is not None] or found
    return dated[0].iso if dated else ""


def _clear(text: str, day_first: bool | None) -> list[PrintedDate]:
    """Returns the dates of a text that have one meaning and may be a document's own."""
    found = []
    for printed in dates_in(text, day_first=day_first):
        if printed.ambiguous or unsure(printed, text) or not _FROM_YEAR <= printed.year < _TO_YEAR:
            continue
        found.append(printed)
    return found


def _lines(text: str, day_first: bool | None) -> Iterator[PrintedDate]:
    """Yields dates that are a line of their own."""
    for printed in _clear(text, day_first):
        if printed.month is None:
            continue
        line_start = text.rfind("\n", 0, printed.start) + 1
        line_end = text.find("\n", printed.end)
        beside = (
            text[line_start : printed.start]
            + " "
            + text[printed.end : line_end if line_end >= 0 else len(text)]
        )
        words = re.findall(r"[^\W\d_]+", beside)
        if sum(len(word) for word in words if letter_by_letter(word) not in weekdays()) <= _REST:
            yield printed


def _closing(title: str, day_first: bool | None) -> Iterator[PrintedDate]:
    """Yields a date at the end or the beginning of the title; a date in its middle is part of a
    sentence.
    """
    for printed in _clear(title, day_first):
        if len(title[printed.end :].strip(" ).]")) == 0 or not title[: printed.start].strip(" (["):
            yield printed
