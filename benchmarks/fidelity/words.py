"""Where the words of a gold value stand in a text: exact, any case, numbers and dates in their
usual printed forms.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

Scalar = str | int | float | bool | None
Place = tuple[int, int]
"""First and past-the-end character."""

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_GERMAN = (
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
)


def number_word(number: int) -> str:
    """The English word of 0 to 99, else "".

    >>> number_word(42)
    'forty-two'
    """
    if 0 <= number < len(_SMALL):
        return _SMALL[number]
    if 20 <= number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens - 2] + (f"-{_SMALL[ones]}" if ones else "")
    return ""


def _date_forms(day: dt.date) -> Iterator[str]:
    yield day.isoformat()
    for name in (
        day.strftime("%B"),
        day.strftime("%b"),
        day.strftime("%b") + ".",
        _GERMAN[day.month - 1],
    ):
        for number in dict.fromkeys((str(day.day), f"{day.day:02d}")):
            yield from (
                f"{name} {number}, {day.year}",
                f"{name} {number} {day.year}",
                f"{name} {number} , {day.year}",
            )
            yield from (
                f"{number} {name} {day.year}",
                f"{number}. {name} {day.year}",
                f"{number}-{name}-{day.year}",
            )
    d, m = day.day, day.month
    pairs = ((f"{d:02d}", f"{m:02d}"), (str(d), str(m)), (f"{m:02d}", f"{d:02d}"), (str(m), str(d)))
    for first, second in pairs:
        for mark in "./-":
            yield f"{first}{mark}{second}{mark}{day.year}"
            yield f"{first}{mark}{second}{mark}{day.year % 100:02d}"
    yield f"{day.year}/{m:02d}/{d:02d}"


def _number_forms(number: int | float) -> Iterator[str]:
    size = abs(number)
    whole = float(size).is_integer()
    for digits in (None, 1, 2) if not whole else (0, 1, 2):
        plain = f"{size}" if digits is None else f"{size:.{digits}f}"
        if float(plain) != float(size):
            continue
        grouped = f"{float(plain):,.{len(plain.partition('.')[2])}f}"
        swapped = grouped.translate(str.maketrans(",.", ".,"))
        yield from dict.fromkeys(
            (plain, grouped, swapped, plain.replace(".", ","), grouped.replace(",", " "))
        )
    if whole and (word := number_word(int(size))):
        yield word
        yield word.replace("-", " ")


def forms(value: Scalar) -> list[str]:
    """How a value may be printed, the likeliest first; a boolean has no form."""
    if value is None or isinstance(value, bool):
        return []
    if isinstance(value, int | float):
        return list(dict.fromkeys(_number_forms(value)))
    text = str(value).strip()
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return list(dict.fromkeys(_date_forms(dt.date.fromisoformat(text))))
    return [text] if text else []


def places(text: str, value: Scalar) -> list[Place]:
    """Every place where a printed form of the value stands, those of likelier forms first,
    none inside another.
    """
    found: list[Place] = []
    number = isinstance(value, int | float)
    for form in forms(value):
        body = r"\s+".join(map(re.escape, form.split()))
        before, after = (r"(?<![\w.,])", r"(?![\w]|[.,]\d)") if number else (r"(?<!\w)", r"(?!\w)")
        for match in re.finditer(f"{before}{body}{after}", text, re.IGNORECASE):
            if all(match.end() <= start or end <= match.start() for start, end in found):
                found.append(match.span())
    return found


def sentence(text: str, place: Place) -> Place:
    """The sentence or line around a place, of a long one the beginning that holds the place."""
    ends = [0, *(m.end() for m in re.finditer(r"(?<=[.!?])\s+|\n+", text)), len(text)]
    start = max(e for e in ends if e <= place[0])
    end = min((e for e in ends if e >= place[1]), default=len(text))
    start += len(re.match(r"[^\w(\[\"'$€£]*", text[start : place[1]])[0])  # type: ignore[index]
    if end - start > _LONG and (cut := re.search(r"\s", text[max(start + _LONG, place[1]) : end])):
        end = max(start + _LONG, place[1]) + cut.start()
    return start, start + len(text[start:end].rstrip())


_LONG = 200


__all__ = ["Place", "Scalar", "forms", "number_word", "places", "sentence"]
