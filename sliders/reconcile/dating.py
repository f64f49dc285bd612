"""The date of a document, read by code from its name, its title or its first lines; empty where none is clearly its own.

A date inside a sentence is a date that the document tells of, not its own: what counts is a date at the edge of the
title, behind a word such as "dated" or "as of" where that begins a line or stands at the very top, alone in its line,
or in the file name, in this order. Nothing is filled in: a name with a
year gives a year. The file's time of change is not used, a copy alters it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sliders.extraction.parse_dates import PrintedDate, dates_in, unsure

BEGINNING = 2_000
"""Characters of a document that are looked at."""
_LABEL = re.compile(
    r"(?:\b(?:dated|date|as of|as at|published|issued|filed|revised|updated|released|effective|received|sent|signed"
    r"|(?:fiscal |financial )?(?:year|quarter|period|months) end(?:ed|ing)|made(?: and entered into)?|stand|datum|vom"
    r"|fecha|du)\b)[\s:,(]*(?:on|this|the|as of|of|am|le)?[\s:,(]*(?:the\s+)?(?:[A-Za-z]+day,?\s+)?$",
    re.IGNORECASE,
)
_NOT_ITS_OWN = re.compile(
    r"\b(?:birth|born|due|expiry|expiration|expires|start|end|delivery|until|to|naissance|geburts\w*)\W+(?:\w+\W*){0,2}$",
    re.IGNORECASE,
)
_HEAD = 500  # characters in which a labelled date may stand inside a sentence; further down it must begin its line
_FROM_YEAR, _TO_YEAR = 1900, 2100  # a bare number outside is a count or an identifier
_REST = 12  # letters beside the date in a line that is a date line ("Wednesday", "Berlin, den")


def document_date(name: str, title: str, beginning: str, *, day_first: bool | None = None) -> str:
    """The document's own date.

    Args:
        name: its path as the user gave it.
        beginning: its first characters, `BEGINNING` of them at most are read.
        day_first: the order of numeric dates where it is known; without it an ambiguous one does not count.

    Returns:
        ISO 8601 text with as many parts as are printed ("2021-08-29", "2021-08", "2021"), or empty.
    """
    stem = re.sub(r"\.[A-Za-z]{1,5}$", "", name.rsplit("/", 1)[-1]).replace("_", " ")
    found = [
        *_closing(title, day_first),
        *_labelled(beginning[:BEGINNING], day_first),
        *_clear(stem, day_first),
    ]
    full = [d for d in found if d.full]
    dated = full or [d for d in found if d.month is not None] or found
    return dated[0].iso if dated else ""


def newest(dates: list[str]) -> int | None:
    """The place of the one date that is later than all others; None when one is unknown or they cannot be told apart.

    A year is not compared with a day of the same year.
    """
    if not dates or not all(dates):
        return None
    top = max(range(len(dates)), key=dates.__getitem__)
    others = [d for place, d in enumerate(dates) if place != top]
    return None if any(dates[top].startswith(d) for d in others) else top


def _clear(text: str, day_first: bool | None) -> list[PrintedDate]:
    """Dates of a text that can be read in one way only, and that may be a document's."""
    found = []
    for printed in dates_in(text, day_first=day_first):
        if printed.ambiguous or unsure(printed, text) or not _FROM_YEAR <= printed.year < _TO_YEAR:
            continue
        found.append(printed)
    return found


def _labelled(text: str, day_first: bool | None) -> Iterator[PrintedDate]:
    """Dates behind a label, and dates that are a line of their own."""
    for printed in _clear(text, day_first):
        if printed.month is None:
            continue
        line_start = text.rfind("\n", 0, printed.start) + 1
        line_end = text.find("\n", printed.end)
        line = text[line_start : line_end if line_end >= 0 else len(text)]
        rest = sum(char.isalpha() for char in line) - sum(char.isalpha() for char in printed.text)
        if _NOT_ITS_OWN.search(text[line_start : printed.start]):
            continue
        label = _LABEL.search(text, max(line_start, printed.start - 60), printed.start)
        if rest <= _REST or (label and (printed.start <= _HEAD or not text[line_start : label.start()].strip(" *#-|"))):
            yield printed


def _closing(title: str, day_first: bool | None) -> Iterator[PrintedDate]:
    """A date at the end or the beginning of the title; one in its middle is part of a sentence."""
    for printed in _clear(title, day_first):
        if len(title[printed.end :].strip(" ).]")) == 0 or not title[: printed.start].strip(" (["):
            yield printed
