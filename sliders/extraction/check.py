"""The check of a cell that the model gave: its words are found, its value is parsed and compared,
and its arithmetic is done again.

The model judges, the code checks: a check never changes a value. A *finding* says in words what may
be wrong, and the model is asked again. When asking again would not settle it, the cell gets a
doubt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sliders.extraction.around import as_printed, bound_in, context_at
from sliders.extraction.cell import Absence, Cell, Grounding, How, Scalar
from sliders.extraction.ground import NOWHERE, Grounded, equal_places, find
from sliders.extraction.ground_value import find_value
from sliders.extraction.source import Source
from sliders.schema.types import Column, ColumnType
from sliders.sentences import Sentences
from sliders.values.amounts import all_readings, unknown_conversion
from sliders.values.arithmetic import ExpressionError, evaluate, rounds_to
from sliders.values.bounds import BETWEEN, named_bound
from sliders.values.expected import DATED, NUMERIC
from sliders.values.numbers import numbers_in
from sliders.values.parse import Parsed, typed
from sliders.values.value_agreement import (
    Verdict,
    agreement,
    agrees,
    only_a_date,
    same_number,
    unconverted,
)

say = Sentences("extraction")

CARD_ALONE = say("card_alone")
_PRINTED = (Grounding.EXACT, Grounding.NORMALIZED)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Checked:
    """A cell as it would be stored, and the finding of the check; "" for none. `before` is the
    model's value when code replaced it because nobody could be asked (a recorded decision).
    """

    cell: Cell
    finding: str = ""
    before: Scalar = None


def check_cell(
    source: Source,
    column: Column,
    given: Mapping[str, Any],
    near: Sequence[tuple[int, int]] = (),
    after: int = 0,
) -> Checked:
    """Checks a cell of the full dialect: `{"value", "words", "how", "why", "sure"}`. Without
    "words" the text prints the value itself.

    Args:
        near: the places of the row's other cells in `source.text`; equal words near them are taken.
        after: the end of the words of this column in the row before, which has its own place.
    """
    said, words = given.get("value"), quoted(given)
    alone = "words" not in given and _how(given) is How.STATED and not isinstance(said, bool)
    if said is None:
        return Checked(Cell(column.name, absence=Absence.NOT_STATED))
    parsed = _parsed(source, column, said, quoted=bool(words) or alone)
    if parsed.absent:
        return Checked(Cell(column.name, absence=Absence.NOT_STATED, detail=parsed.reason))
    value = parsed.value if alone else None
    found, words = _all_found(source, column, given, value, near, after)
    places = [f for f in found if f.status is not Grounding.NONE]
    if parsed.value is None:
        cell = _not_parsed(column, given, parsed.reason)
        finding = say("not_parsed", said=said, reason=parsed.reason)
        return Checked(placed(cell, source, places), finding)
    cell = _read_cell(column, given, parsed.value)
    if not places:
        return _without_place(source, cell, words)
    computed = cell.how is How.COMPUTED
    if len(words) == 1 and places[0].count > 1 and column.type in NUMERIC and not computed:
        places = [_fitting(source, column, parsed.value, words[0], places[0], near)]
    cell = replace(
        placed(cell, source, places), bound=_bound(source, column, given, cell.how, places)
    )
    missing = [w for w, f in zip(words, found, strict=True) if f.status is Grounding.NONE]
    return _compared(source, column, cell, places, missing)


def _all_found(
    source: Source,
    column: Column,
    given: Mapping[str, Any],
    value: Scalar,
    near: Sequence[tuple[int, int]],
    after: int,
) -> tuple[list[Grounded], list[str]]:
    """Returns the places of a cell's words, and the words. For a `value` without words, the place
    where the text prints it.
    """
    words = quoted(given)
    if value is None:
        return [_found(source, one, near, after) for one in words], words
    place = _printed(source, column, given.get("value"), value, near, after)
    return [place], [_shown(source, place) or str(given.get("value"))]


def _shown(source: Source, place: Grounded) -> str:
    """The words at a place, "" when there is none."""
    return source.words(place.start, place.end) if place.status is not Grounding.NONE else ""


def _parsed(source: Source, column: Column, said: object, *, quoted: bool) -> Parsed:
    """Returns the model's value in the column's type; `quoted` when the text is said to print
    it.
    """
    parsed = typed(said, column, source.context)
    if parsed.absent and isinstance(said, str) and quoted and column.type is ColumnType.TEXT:
        return Parsed(said.strip())  # printed words are a value, whatever they look like
    return parsed


def _compared(
    source: Source, column: Column, cell: Cell, places: Sequence[Grounded], missing: Sequence[str]
) -> Checked:
    """Compares a cell with its words in the text; `missing` are words that the text does not
    have.
    """
    if any(_elsewhere(source, words) for words in missing):
        why = _not_here(source, missing)
        return Checked(replace(cell, absence=Absence.UNGROUNDED, detail=why), why)
    if missing:
        return _doubted(cell, say("words_not_found", words=missing[0]))
    if doubt := _unknown_conversion(source, column, cell, places):
        return Checked(replace(cell, doubt=doubt))
    finding = _disagreement(source, column, cell, places)
    return _doubted(cell if finding else with_two_readings(source, column, cell, places), finding)


def _read_cell(column: Column, given: Mapping[str, Any], value: Scalar) -> Cell:
    """Returns a cell as the model gave it, before its words are searched."""
    return Cell(
        column.name,
        value,
        unit=column.unit,
        scale=column.scale,
        rationale=str(given.get("why") or ""),
        how=_how(given),
        doubt=_unsure(given),
    )


def _not_parsed(column: Column, given: Mapping[str, Any], why: str) -> Cell:
    """Returns an empty cell for a value that does not fit its column; it keeps the model's value
    for the audit.
    """
    said, words = plain_scalar(given.get("value")), _join(quoted(given))
    how = _how(given)
    return Cell(column.name, said, words, absence=Absence.NOT_PARSED, detail=why, how=how)


def _how(given: Mapping[str, Any]) -> How:
    """Returns how the model says that it found a value; stated when it does not say."""
    return next((known for known in How if known.value == given.get("how")), How.STATED)


def _without_place(source: Source, cell: Cell, words: Sequence[str]) -> Checked:
    """Checks a cell whose words are not in the text: the document's card may have them, or its
    silence.
    """
    if words and all(find(w, source.head).status is not Grounding.NONE for w in words):
        cell = replace(cell, printed=_join(words), grounding=Grounding.DERIVED, how=How.JUDGED)
        return Checked(replace(cell, doubt=CARD_ALONE))
    silent = not words and not cell.value and cell.how is How.JUDGED and cell.rationale
    if silent and source.is_whole:  # a whole document's silence has no words
        return Checked(cell)
    lacking = _join(words)
    why = _not_here(source, words) if lacking else say("no_words_given")
    return Checked(replace(cell, printed=lacking, absence=Absence.UNGROUNDED, detail=why), why)


def _not_here(source: Source, words: Sequence[str]) -> str:
    """Returns the finding that words are not in the text, or that another document of the same call
    has them.
    """
    strange = any(_elsewhere(source, one) for one in words)
    if strange:
        return say("words_of_another", words=_join(words))
    return say("words_not_found", words=_join(words))


def _elsewhere(source: Source, words: str) -> bool:
    """True when another document of the call prints the words."""
    return any(equal_places(words, other) for other in source.others)


def with_two_readings(
    source: Source, column: Column, cell: Cell, places: Sequence[Grounded]
) -> Cell:
    """Returns the cell with a doubt when its words have two readings ("03/04/2024") and nothing
    decides between them.
    """
    if (
        cell.doubt
        or cell.how is How.COMPUTED
        or (cell.how is How.JUDGED and column.type not in _PRINTED_TYPES)
    ):
        return cell
    said = [
        agreement(cell.value, source.words(p.start, p.end), column, source.context_at(p.start))
        for p in places
    ]
    doubts = [one.doubt for one in said if one.verdict is Verdict.AGREES]
    return replace(cell, doubt=doubts[0]) if doubts and all(doubts) else cell


_PRINTED_TYPES = (*NUMERIC, *DATED)


def _unknown_conversion(
    source: Source, column: Column, cell: Cell, places: Sequence[Grounded]
) -> str:
    """Returns why code cannot check a converted number; "" when the number is printed as it is, or
    code knows the conversion.
    """
    if (
        column.type not in NUMERIC
        or not isinstance(cell.value, int | float)
        or column.reading == "judged"
    ):
        return ""
    said = [
        (as_printed(source, p.start, p.end, column), context_at(source, p.start)) for p in places
    ]
    kinds = [unknown_conversion(words, column, context) for words, context in said]
    readings = [r for words, context in said for r in all_readings(words, column, context)]
    if not all(kinds) or any(same_number(cell.value, reading) for reading in readings):
        return ""
    if cell.how is How.COMPUTED and _disagreement(source, column, cell, places):
        return ""
    return say("open_conversion", difference=kinds[0])


def _fitting(
    source: Source,
    column: Column,
    value: Scalar,
    words: str,
    place: Grounded,
    near: Sequence[tuple[int, int]],
) -> Grounded:
    """Returns, of several places of one number ("12" in "12 kg went 12 km"), the place whose sign
    and unit fit the value. When the row has other cells, only their line is searched.
    """

    def carries(start: int, end: int) -> bool:
        return not agrees(
            value, as_printed(source, start, end, column), column, context_at(source, start)
        )

    if not carries(place.start, place.end):
        for start, end in equal_places(words, source.text)[:_MOST_EQUAL]:
            between = source.text[min(start, place.start) : max(end, place.end)]
            if not (near and "\n" in between) and carries(start, end):
                return replace(place, start=start, end=end)
    return place


_MOST_EQUAL = 50


def _bound(
    source: Source, column: Column, given: Mapping[str, Any], how: How, places: Sequence[Grounded]
) -> str:
    """Returns the bound of a number that is not exact: as the model names it, else as it is
    printed.
    """
    if column.type not in NUMERIC or column.reading == "judged":
        return ""
    if named := named_bound(given.get("bound")):
        return named
    if len(places) != 1 or how is How.COMPUTED:
        return ""
    return bound_in(source, places[0].start, places[0].end)


def _unsure(given: Mapping[str, Any]) -> str:
    """Returns the doubt of a cell of which the model says that it is not sure; "" for any other
    cell.
    """
    if given.get("sure") is False:
        return say("unsure")
    return ""


def quoted(given: Mapping[str, Any]) -> list[str]:
    """Returns the words that the model gives as the basis of a cell, one text for each quote."""
    words = given.get("words") or ()
    pieces = words if isinstance(words, list | tuple) else (words,)
    return [str(piece) for piece in pieces if piece is not None and str(piece).strip()]


def _found(source: Source, words: str, near: Sequence[tuple[int, int]], after: int) -> Grounded:
    """Returns the place of quoted words: the first place behind `after`, else any place. For words
    that the model read above the text (card, headings), the first place in the document.
    """
    text = source.text
    place = find(words, text, near)
    if (
        place.status is Grounding.NONE
        and source.head
        and find(words, source.head).status is not Grounding.NONE
    ):
        there = find(words, source.whole)
        return replace(there, start=there.start - source.offset, end=there.end - source.offset)
    if after <= place.start or place.count < 2 or not after:
        return place
    later = find(words, text[after:], [(low - after, high - after) for low, high in near])
    if later.status is Grounding.NONE:
        return place
    return replace(later, start=later.start + after, end=later.end + after)


def _printed(
    source: Source,
    column: Column,
    said: object,
    value: Scalar,
    near: Sequence[tuple[int, int]],
    after: int,
) -> Grounded:
    """Returns the place of a value that came without words: its text, or a number or date in any
    form.
    """
    place = _found(source, str(said), near, after) if isinstance(said, str) else NOWHERE
    if place.status is not Grounding.NONE or column.type not in _PRINTED_TYPES:
        return place
    for start in dict.fromkeys((after, 0)):
        own = [(low - start, high - start) for low, high in near]
        found = find_value(value, column, source.text[start:], source.context, own)
        if found.status is not Grounding.NONE:
            return replace(found, start=found.start + start, end=found.end + start)
    return NOWHERE


def _disagreement(source: Source, column: Column, cell: Cell, places: Sequence[Grounded]) -> str:
    """Returns why the words or the arithmetic do not give the value; "" when they do, or when the
    value is judged.
    """
    numeric = column.type in NUMERIC
    judged, computed = cell.how is How.JUDGED, cell.how is How.COMPUTED
    if cell.value is None or (judged and (column.reading == "judged" or not numeric)):
        return ""
    said = [
        (
            as_printed(source, p.start, p.end, column) if numeric else source.words(p.start, p.end),
            p.start,
        )
        for p in places
    ]
    together = _join([words for words, _ in said])
    if computed and numeric:
        return _recomputed(source, column, cell, said)
    if computed and not (column.type in DATED and only_a_date(together, cell.rationale)):
        return ""
    findings = [
        agrees(cell.value, words, column, context_at(source, start)) for words, start in said
    ]
    if not all(findings) or (numeric and _minus_in_words(source, column, cell.value, said)):
        return ""
    if cell.bound.startswith(BETWEEN) and _within(source, column, cell.value, said):
        return ""
    if judged:
        return findings[0] if _contradicted(column, cell, said) else ""
    text = source.whole or source.text
    if column.type is ColumnType.TEXT and find(str(cell.value), text).status in _PRINTED:
        return ""  # the words tell whose it is, the document prints its full form elsewhere
    in_one = " ".join(words for words, _ in said)
    return agrees(cell.value, in_one, column, context_at(source, said[0][1])) and findings[0]


_Said = Sequence[tuple[str, int]]
"""Printed words with their places in the text."""


def _minus_in_words(source: Source, column: Column, value: Scalar, said: _Said) -> bool:
    """True when the number is printed without the minus of the value: words such as "a loss of" may
    carry the minus, and no list knows all of them. A printed minus that the value lacks is a
    finding.
    """
    if not isinstance(value, int | float) or value >= 0:
        return False
    return any(
        not agrees(-value, words, column, context_at(source, start)) for words, start in said
    )


def _within(source: Source, column: Column, value: Scalar, said: _Said) -> bool:
    """True when a number lies between the numbers that the words print."""
    ends = [
        r.value
        for words, start in said
        for r in all_readings(words, column, context_at(source, start))
        if not r.mismatch
    ]
    return isinstance(value, int | float) and len(ends) > 1 and min(ends) <= value <= max(ends)


def _contradicted(column: Column, cell: Cell, said: _Said) -> bool:
    """True when the words print one number and a judged value is another number. 0 and 1 can follow
    from words of any language, and a number without its sign can have a reason in the column.
    """
    if not isinstance(cell.value, int | float) or cell.value in (0, 1):
        return False
    printed = {number.value for words, _ in said for number in numbers_in(words)}
    return len(printed) == 1 and abs(cell.value) not in {abs(value) for value in printed}


def _recomputed(source: Source, column: Column, cell: Cell, said: _Said) -> str:
    """Returns what is wrong with the arithmetic of a computed number, or with the units of its
    terms; "" for nothing.
    """
    expression = cell.rationale
    try:
        result = evaluate(expression)
    except ExpressionError as error:
        return say("arithmetic_fails", error=error)
    number = float(cell.value) if isinstance(cell.value, int | float) else float("nan")
    if not rounds_to(number, result, whole=column.type is ColumnType.INTEGER):
        return say("other_result", expression=expression, result=result, value=cell.value)
    terms = {float(term) for term in _NUMBER.findall(expression.replace(",", ""))}
    found = [
        r for words, start in said for r in all_readings(words, column, context_at(source, start))
    ]
    if not terms <= {abs(float(r.number.value)) for r in found}:
        # A number that is not printed may be the factor of a conversion.
        return unconverted(number, expression, found, column)
    wrong = next(
        (r for r in found if abs(float(r.number.value)) in terms and (r.mismatch or r.converted)),
        None,
    )
    if wrong is None:
        return ""
    return wrong.mismatch or (
        say("unit_of_term", text=wrong.number.text, own=wrong.number.unit, unit=column.unit)
    )


def _doubted(cell: Cell, finding: str) -> Checked:
    return Checked(replace(cell, doubt=finding) if finding else cell, finding)


def placed(cell: Cell, source: Source, places: Sequence[Grounded]) -> Cell:
    """Returns the cell with its places: the first words are its span, further words its parts."""
    if not places:
        return cell
    spans = tuple(dict.fromkeys(source.span(p.start, p.end) for p in places))
    printed = source.words(spans[0].start - source.offset, spans[0].end - source.offset)
    worst = max((p.status for p in places), key=list(Grounding).index)
    status = Grounding.DERIVED if cell.how is How.COMPUTED else worst
    return replace(cell, printed=printed, grounding=status, span=spans[0], parts=spans[1:])


def _join(words: Sequence[str]) -> str:
    return " ... ".join(words)


def plain_scalar(said: object) -> Scalar:
    short = not isinstance(said, int) or abs(said) < 2**63
    return said if isinstance(said, str | int | float | bool) and short else str(said)
