"""What code can read from a question: what is asked for, its numbers and dates, and the values that it names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sliders.answer.profile import TEXTUAL, TableProfile

_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTH = "(?P<month>" + "|".join(f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS) + r")\.?"
_DATE_WORDS = (
    re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH},?\s+(?P<year>\d{{4}})\b", re.I),
    re.compile(rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})\b", re.I),
)
_SECOND_ITEM = re.compile(
    r"[,;]?\s+and\s+(?:by\s+|in\s+|on\s+|at\s+|with\s+)?(?:how\s+(?:many|much|long|old)|what|which|when|where|who)\b",
    re.I,
)
_NUMBER = re.compile(r"(?<![\w.,-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w-])|(?<![\w.,-])\d+(?:\.\d+)?(?![\w-])")
_ROUND = re.compile(
    r"\b(?:round(?:ed)?|round\s+it)\s+(?:off\s+)?to\s+(\w+)\s+(?:decimals?|decimal\s+places?|digits?|places?)", re.I
)
_LISTING = re.compile(r"^\W*(?:please\s+)?(?:list|enumerate|name\s+all|give\s+all)\b|\(s\)", re.I)
_PLURAL = re.compile(
    r"\bwhich\s+(?:\w+s\s+of\s+\w+|(?:\w+\s+)?\w+[^s\W]s)\s+(?:\(\w+\)\s+)?(?:are|were|have|had|do|did|can)\b|\bwho\s+are\b",
    re.I,
)
_COMPARATIVE = re.compile(
    r"\b(?:lower|higher|greater|less|more|fewer|larger|smaller|better|worse|different|differently|growth|grew|changed?"
    r"|increased?|decreased?|rose|fell)\b",
    re.I,
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_KINDS = (
    ("growth", re.compile(r"\b(?:growth|grew|percentage (?:change|increase|decrease))\b", re.I)),
    ("difference", re.compile(r"\bdifference\b|\b(?:by\s+)?how (?:many|much)\b[^?]*\bbetween\b", re.I)),
    ("different", re.compile(r"\bhow many (?:different|distinct|unique)\b", re.I)),
    (
        "ratio",
        re.compile(
            r"\b(?:ratio|proportion|margin \(|rate of)\b|\b(?:highest|lowest|most|fewest)\b[^?]*\bper\s+[a-z]", re.I
        ),
    ),
    ("several", re.compile(r"\b(?:more than one|at least two|several|multiple)\b", re.I)),
    ("part", re.compile(r"\band how many of (?:them|these|those)\b", re.I)),
    ("age", re.compile(r"\bage\b|\byears old\b|\bhow old\b", re.I)),
)
_COUNTING = re.compile(
    r"^\W*(?:[^,?.]*,\s*)?(?:(?:in|for|on|by|about|over|did|does|of)\s+)?(?:how\s+many|how\s+much)\b", re.I
)
_NUMERIC = re.compile(
    r"\bwhat\s+(?:is|was|are|were)\s+(?:the\s+)?(?:\w+\s+)?(?:total|sum|average|mean|median|ratio|difference|number|percentage|"
    r"share|count)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value of a column that the question names: `exact` in full, else `value` is a part of it."""

    table: str
    column: str
    value: str
    exact: bool = True


def normal(text: str) -> str:
    """Lower case, no accents, punctuation as single spaces: the form in which values are compared."""
    plain = unicodedata.normalize("NFKD", text)
    plain = "".join(char for char in plain if not unicodedata.combining(char)).casefold()
    return " ".join(re.findall(r"\w+", plain))


def dates(question: str) -> Iterator[tuple[str, str]]:
    """Dates written with a month's name: the words as printed and the ISO date."""
    for pattern in _DATE_WORDS:
        for match in pattern.finditer(question):
            month = [name[:3] for name in _MONTHS].index(match["month"][:3].lower()) + 1
            if 1 <= int(match["day"]) <= 31:
                yield match.group(), f"{match['year']}-{month:02d}-{int(match['day']):02d}"


def periods(question: str) -> Iterator[tuple[str, str]]:
    """Stretches of time that the question names: its words, and the condition on a date column `d`."""
    for match in re.finditer(
        r"(?<![\d-])((?:1[5-9]|20)\d\d)\s*(?:-|–|to|and|until)\s*((?:1[5-9]|20)\d\d)(?![\d-])", question
    ):
        yield match.group(), f"year(d) BETWEEN {match[1]} AND {match[2]}"
    for match in re.finditer(r"\b((?:1[5-9]|20)\d0)s\b", question):
        yield match.group(), f"year(d) BETWEEN {match[1]} AND {int(match[1]) + 9}"
    for match in re.finditer(rf"(?<!\d)(?<!\d )\b{_MONTH},?\s+(?P<year>\d{{4}})\b", question, re.I):
        month = [name[:3] for name in _MONTHS].index(match["month"][:3].lower()) + 1
        yield match.group(), f"d LIKE '{match['year']}-{month:02d}%'"


def iso_date(text: str) -> str | None:
    """The ISO form of a date in words, None when it is not one (all-digit dates are ambiguous and stay)."""
    for words, iso in dates(text):
        if words.strip() == text.strip():
            return iso
    return None


def numbers(question: str) -> tuple[float, ...]:
    """Numbers that the question states in digits or small words, without those of dates."""
    text = re.sub(r"\b\d{4}-\d{2}-\d{2}\b", " ", question)
    for words, _ in list(dates(text)):
        text = text.replace(words, " ")
    return tuple(float(match.group().replace(",", "")) for match in _NUMBER.finditer(text))


def bounds(question: str) -> tuple[int, ...]:
    """Small bounds in words: "at least one", "two or more", "more than three"."""
    words = "|".join(_SMALL)
    before = r"\b(?:at least|at most|more than|fewer than|less than|over|under)"
    pattern = rf"{before}\s+({words})\b|\b({words})\s+or\s+(?:more|fewer|less)\b"
    return tuple(_SMALL.index((first or second).lower()) for first, second in re.findall(pattern, question, re.I))


def decimals(question: str) -> int | None:
    """Decimals that the answer is to be rounded to, None when the question does not say."""
    match = _ROUND.search(question)
    if match:
        word = match.group(1).lower()
        return _SMALL.index(word) if word in _SMALL else int(word) if word.isdigit() else None
    return 0 if re.search(r"\bnearest\s+(?:whole|integer)", question, re.I) else None


def asks_list(question: str) -> bool:
    """Whether the question wants a list even if it holds one item."""
    return bool(_LISTING.search(question) or _PLURAL.search(question))


def asks_number(question: str) -> bool:
    """Whether the question wants one number and nothing else."""
    return bool(_COUNTING.search(question) or _NUMERIC.search(question)) and items_asked(question) == 1


def items_asked(question: str) -> int:
    """How many values make one row of the answer, as far as the wording shows it."""
    give = re.search(r"(?:^|[.?!]\s+)(?:give|state|report|return)\s+(?:me\s+)?([^.?!]*\band\b[^.?!]*)", question, re.I)
    if give:
        return 1 + len(re.findall(r",(?!\s*and\b)|\band\b", give.group(1)))
    pairs = len(_SECOND_ITEM.findall(question))
    return 1 + pairs + (1 if not pairs and re.search(r"\bof\s+the\s+\w+\s+and\s+of\s+the\s+\w+", question, re.I) else 0)


def kinds(question: str) -> frozenset[str]:
    """The shapes of statement that the wording calls for; the prompt shows a pattern for each."""
    found = {kind for kind, pattern in _KINDS if pattern.search(question)}
    if _COMPARATIVE.search(question) and len(set(_YEAR.findall(question))) > 1:
        found.add("compare")
    return frozenset(found)


def named_values(question: str, profiles: Sequence[TableProfile]) -> tuple[NamedValue, ...]:
    """Values of text columns that stand in the question; the longest where one holds another."""
    words = f" {normal(question)} "
    initials = _initials(words.split())
    found: list[tuple[str, NamedValue]] = []
    for profile in profiles:
        for column in profile.columns:
            if column.column.type not in TEXTUAL or column.column.name == profile.view.document:
                continue
            for text in column.texts:
                key = normal(text)
                if (_tellable(text, key) and f" {key} " in words) or (text.isupper() and text.lower() in initials):
                    found.append((key, NamedValue(profile.view.name, column.column.name, text)))
    kept = [value for key, value in found if not any(key != other and f" {key} " in f" {other} " for other, _ in found)]
    return (*kept, *_parts(question, profiles, {normal(value.value) for value in kept}))


def _initials(words: Sequence[str]) -> set[str]:
    """First letters of three to five words in a row: what an abbreviation in the data may stand for."""
    return {
        "".join(word[0] for word in words[at : at + size]) for size in (3, 4, 5) for at in range(len(words) - size + 1)
    }


def _tellable(text: str, key: str) -> bool:
    """A bare small number or a one-letter word in a question is hardly ever a value of a text column."""
    return (
        len(key) > 2
        and not re.fullmatch(r"\d{1,3}", key)
        and key not in {"the", "and", "not", "yes", "all", "none", *_SMALL}
    )


def _parts(question: str, profiles: Sequence[TableProfile], known: set[str]) -> Iterator[NamedValue]:
    """Names in the question that are a part of longer values (a case by the name of one party)."""
    for span in _name_spans(question):
        key = normal(span)
        if any(key in value or value in key for value in known) or len(key) < 5:
            continue
        for profile in profiles:
            for column in profile.columns:
                if column.column.type not in TEXTUAL or column.column.name == profile.view.document:
                    continue
                hits = [text for text in column.texts if f" {key} " in f" {normal(text)} "]
                if 0 < len(hits) <= max(3, column.distinct // 4):
                    yield NamedValue(profile.view.name, column.column.name, span, exact=False)


def _name_spans(question: str) -> list[str]:
    quoted = [span for pair in re.findall(r"\"([^\"]+)\"|“([^”]+)”", question) for span in pair if span]
    rest = question.partition(" ")[2]
    names = re.findall(r"(?:[A-Z][\w.&'-]*)(?:\s+(?:(?:of|for|and|the|de|von|van|v)\s+)*[A-Z0-9][\w.&'-]*)+", rest)
    return quoted + names
