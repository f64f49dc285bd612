"""When each document of the workspace is from, read once and kept.

A date inside a sentence is a date that the document tells of, not its own: what counts is a date
at the edge of the title, one that is a line near the top, or one in the file name, in this
order. Nothing is filled in: a name with a year gives a year. The file's time of change is not
used, a copy alters it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sliders.engine.date_conventions import context_of
from sliders.engine.session import Session
from sliders.values.cldr import letter_by_letter, weekdays
from sliders.values.dates import PrintedDate, dates_in, unsure

_BEGINNING = 20_000
"""Characters that show a document's order of day and month."""


def document_dates(session: Session) -> Mapping[str, str]:
    """ISO date (day, month or year, as printed) by document id, empty where a document
    shows none of its own.

    A document is read once; all are read again when the collection shows another
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
"""Characters of a document that are looked at."""
_FROM_YEAR, _TO_YEAR = 1900, 2100  # a bare number outside is a count or an identifier
_REST = 6  # letters beside the date and its weekday in a line that is a date


def document_date(name: str, title: str, beginning: str, *, day_first: bool | None = None) -> str:
    """The document's own date.

    Args:
        name: its path as the user gave it.
        beginning: its first characters, 2,000 of them at most are read.
        day_first: the order of numeric dates where it is known; without it an
            ambiguous one does not count.

    Returns:
        ISO 8601 text with as many parts as are printed ("2021-08-29", "2021-08", "2021"), or empty.
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
    """Dates of a text that can be read in one way only, and that may be a document's."""
    found = []
    for printed in dates_in(text, day_first=day_first):
        if printed.ambiguous or unsure(printed, text) or not _FROM_YEAR <= printed.year < _TO_YEAR:
            continue
        found.append(printed)
    return found


def _lines(text: str, day_first: bool | None) -> Iterator[PrintedDate]:
    """Dates that are a line of their own."""
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
    """A date at the end or the beginning of the title; one in its middle is part of a sentence."""
    for printed in _clear(title, day_first):
        if len(title[printed.end :].strip(" ).]")) == 0 or not title[: printed.start].strip(" (["):
            yield printed
