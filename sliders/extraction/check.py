"""What a model gave for a cell, checked: its words found, its value parsed and compared, its arithmetic done again.

The model judges, the code checks: a check never changes a value. What it doubts comes back as a finding in words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sliders.extraction.cell import Absence, Cell, Grounding, How, Scalar
from sliders.extraction.ground import Grounded, find
from sliders.extraction.ground_value import find_value, without_its_mark
from sliders.extraction.source import Source
from sliders.schema.types import Column, ColumnType
from sliders.values.agreement import Verdict, agreement, agrees
from sliders.values.arithmetic import ExpressionError, evaluate
from sliders.values.parse import Parsed, parse_value, typed

_TOLERANCE = 1e-6
_FACTORS = (1e3, 1e6, 1e9, 1e12)
_CARD_ALONE = "only the document's card tells it"
_PRINTED = (Grounding.EXACT, Grounding.NORMALIZED)
_NUMBERS = (ColumnType.INTEGER, ColumnType.NUMBER)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Checked:
    """A cell as it would be kept, and what the check found; "" where nothing is to be said."""

    cell: Cell
    finding: str = ""


def check_cell(
    source: Source, column: Column, given: Mapping[str, Any], near: Sequence[tuple[int, int]] = (), after: int = 0
) -> Checked:
    """A cell of the full dialect: `{"value", "words", "how", "why", "sure"}`.

    Args:
        near: places of the row's other cells in `source.text`: equal words are taken beside them.
        after: where the row before had its words of this column: equal words of two rows are two places.
    """
    said = given.get("value")
    if said is None:
        return Checked(Cell(column.name, absence=Absence.NOT_STATED))
    how = next((known for known in How if known.value == given.get("how")), How.STATED)
    why = str(given.get("why") or "")
    parsed = typed(said, column, source.context)
    words = quoted(given)
    if parsed.absent and isinstance(said, str) and words and column.type is ColumnType.TEXT:
        parsed = Parsed(said.strip())  # a value whose words are printed is a value, whatever it looks like
    if parsed.absent:
        return Checked(Cell(column.name, absence=Absence.NOT_STATED, detail=parsed.reason))
    found = [_found(source, w, near, after) for w in words]
    places = [f for f in found if f.status is not Grounding.NONE]
    if parsed.value is None:
        cell = Cell(column.name, _scalar(said), _join(words), absence=Absence.NOT_PARSED, detail=parsed.reason, how=how)
        return Checked(_placed(cell, source, places), f"the value {said!r} does not fit the column: {parsed.reason}")
    cell = Cell(column.name, parsed.value, unit=column.unit, scale=column.scale, rationale=why, how=how, doubt=_unsure(given))
    if not places and words and all(find(w, source.head).status is not Grounding.NONE for w in words):
        cell = replace(cell, printed=_join(words), grounding=Grounding.DERIVED, how=How.JUDGED)
        return Checked(replace(cell, doubt=_CARD_ALONE))
    if not words and not cell.value and how is How.JUDGED and why and source.is_whole:
        return Checked(cell)  # silence of a whole document, which has no words
    if not places:
        lacking = _join(words)
        detail = f"these words are not in the text: {lacking!r}" if lacking else "no words were given"
        return Checked(replace(cell, printed=lacking, absence=Absence.UNGROUNDED, detail=detail), detail)
    cell = _placed(cell, source, places)
    if len(places) < len(found):
        missing = next(w for w, f in zip(words, found, strict=True) if f.status is Grounding.NONE)
        return _doubted(cell, f"these words are not in the text: {missing!r}")
    finding = _disagreement(source, column, cell, places)
    return _doubted(cell if finding else _with_two_readings(source, column, cell, places), finding)


def _with_two_readings(source: Source, column: Column, cell: Cell, places: Sequence[Grounded]) -> Cell:
    """The cell with a doubt where its words have two readings ("03/04/2024") that nothing settles."""
    if cell.doubt or cell.how is How.COMPUTED or (cell.how is How.JUDGED and column.type not in _PRINTED_TYPES):
        return cell
    said = [agreement(cell.value, source.words(p.start, p.end), column, source.context_at(p.start)) for p in places]
    doubts = [one.doubt for one in said if one.verdict is Verdict.AGREES]
    return replace(cell, doubt=doubts[0]) if doubts and all(doubts) else cell


_PRINTED_TYPES = (*_NUMBERS, ColumnType.DATE, ColumnType.DATETIME)


def _unsure(given: Mapping[str, Any]) -> str:
    """The doubt of a cell that the model is not sure of, "" where it says nothing of it."""
    return "another careful reader could give another value, says the model" if given.get("sure") is False else ""


def quoted(given: Mapping[str, Any]) -> list[str]:
    """The words that a cell is said to rest on, also where they come in one piece."""
    words = given.get("words") or ()
    pieces = words if isinstance(words, list | tuple) else (words,)
    return [str(piece) for piece in pieces if piece is not None and str(piece).strip()]


def _found(source: Source, words: str, near: Sequence[tuple[int, int]], after: int) -> Grounded:
    """The place of quoted words: the first one behind `after` where they stand there, else any; for words that the model
    read above the text, their first place in the document."""
    text = source.text
    place = find(words, text, near)
    if place.status is Grounding.NONE and source.head and find(words, source.head).status is not Grounding.NONE:
        there = find(words, source.whole)
        return replace(there, start=there.start - source.offset, end=there.end - source.offset)
    if after <= place.start or place.count < 2 or not after:
        return place
    later = find(words, text[after:], [(low - after, high - after) for low, high in near])
    if later.status is Grounding.NONE:
        return place
    return replace(later, start=later.start + after, end=later.end + after)


def _disagreement(source: Source, column: Column, cell: Cell, places: Sequence[Grounded]) -> str:
    """Why the words or the arithmetic do not carry the value; "" where they do, or where it was judged."""
    if cell.how is How.JUDGED or cell.value is None:
        return ""
    if cell.how is How.COMPUTED:
        return _arithmetic(cell.value, cell.rationale) if column.type in _NUMBERS else ""
    said = [source.words(p.start, p.end) for p in places]
    findings = [agrees(cell.value, words, column, source.context_at(p.start)) for words, p in zip(said, places, strict=True)]
    if not all(findings) or (column.type in _NUMBERS and _opposite(source, column, cell.value, places)):
        return ""
    if column.type is ColumnType.TEXT and find(str(cell.value), source.whole or source.text).status in _PRINTED:
        return ""  # the words tell whose it is, the document prints its full form elsewhere
    return agrees(cell.value, " ".join(said), column, source.context_at(places[0].start)) and findings[0]


def _opposite(source: Source, column: Column, value: Scalar, places: Sequence[Grounded]) -> bool:
    """Whether the words print the number with the other sign: which sign a column keeps, its description says."""
    if not isinstance(value, int | float):
        return False
    return any(not agrees(-value, source.words(p.start, p.end), column, source.context_at(p.start)) for p in places)


def _arithmetic(value: Scalar, expression: str) -> str:
    try:
        result = evaluate(expression)
    except ExpressionError as error:
        return f"the arithmetic cannot be done again: {error}"
    number = float(value) if isinstance(value, int | float) else float("nan")
    if abs(result - number) <= max(_TOLERANCE, abs(number) * _TOLERANCE):
        return ""
    return f"{expression} is {result:g}, the value is {value}"


def value_cell(source: Source, column: Column, said: object, near: Sequence[tuple[int, int]] = ()) -> Cell:
    """A cell of the compact dialect: a bare typed value; code finds where the text prints it.

    A value that the text prints nowhere is ungrounded: the caller asks for its words.
    """
    if said is None:
        return Cell(column.name, absence=Absence.NOT_STATED)
    parsed = typed(said, column, source.context)
    if parsed.absent:
        return Cell(column.name, absence=Absence.NOT_STATED, detail=parsed.reason)
    if parsed.value is None:
        return Cell(column.name, _scalar(said), str(said), absence=Absence.NOT_PARSED, detail=parsed.reason)
    place = find_value(parsed.value, column, source.text, source.context, near)
    cell = Cell(column.name, parsed.value, unit=column.unit, scale=column.scale)
    if place.status is Grounding.NONE and isinstance(parsed.value, str) and find(parsed.value, source.head).status in _PRINTED:
        return replace(cell, printed=parsed.value, grounding=Grounding.DERIVED, how=How.JUDGED, doubt=_CARD_ALONE)
    if place.status is Grounding.NONE and isinstance(parsed.value, int | float):
        marked = without_its_mark(parsed.value, column, source.text, source.context)
        if marked is not None:
            place = find_value(marked, column, source.text, source.context, near)
            cell = replace(cell, value=marked, detail=f"the reply gives {parsed.value} without its decimal mark")
    if place.status is Grounding.NONE:
        detail = "the text prints this value nowhere"
        return replace(cell, printed=str(said), absence=Absence.UNGROUNDED, detail=detail)
    cell = _placed(cell, source, [place])
    other = agrees(cell.value, cell.printed, column, source.context_at(place.start)) if column.type in _NUMBERS else ""
    return _with_two_readings(source, column, replace(cell, doubt=other), [place])  # printed in another currency or unit


def _scaled(cell: Cell, column: Column, source: Source, place: Grounded) -> Cell:
    """The cell with the scale that its words print: a bare "4.6" copied from "4.6 million"."""
    value = cell.value
    parsed = parse_value(cell.printed, column, source.context_at(place.start)) if column.type in _NUMBERS else Parsed()
    if not parsed.scale or not isinstance(parsed.value, int | float) or not isinstance(value, int | float) or not value:
        return cell
    if not any(math.isclose(parsed.value / value, factor) for factor in _FACTORS):
        return cell
    return replace(cell, value=parsed.value, scale=parsed.scale, detail=f"the reply gives {cell.value} without its scale")


def with_words(source: Source, column: Column, cell: Cell, words: str) -> Cell:
    """An ungrounded cell of the compact dialect with the words that the model gave for it afterwards."""
    place = find(words, source.text)
    if place.status is Grounding.NONE:
        return replace(cell, detail=f"{cell.detail}; these words are not in the text: {words!r}")
    found = _scaled(_placed(replace(cell, absence=None, detail="", how=How.JUDGED), source, [place]), column, source, place)
    if found.value is not None and not agrees(found.value, found.printed, column, source.context_at(place.start)):
        return replace(found, how=How.STATED)
    if column.type in _NUMBERS or column.type in (ColumnType.DATE, ColumnType.DATETIME):
        return replace(found, doubt="its words do not print the value")
    return found


def with_calculation(source: Source, column: Column, cell: Cell, calculation: str) -> Cell:
    """An ungrounded number of the compact dialect as the calculation that the model gave for it afterwards.

    It stands where the text prints both numbers; one that gives another result than the value said before is doubted.
    """
    plain = Column(column.name, ColumnType.NUMBER)
    numbers = [float(n) for n in _NUMBER.findall(calculation.replace(",", ""))]
    places = [find_value(n, plain, source.text, source.context) for n in numbers]
    try:
        parsed = typed(evaluate(calculation), column, source.context)
    except ExpressionError as error:
        return replace(cell, detail=f"{cell.detail}; {error}")
    if parsed.value is None or any(p.status is Grounding.NONE for p in places):
        return replace(cell, detail=f"{cell.detail}; nor does it print the numbers of {calculation!r}")
    doubt = "" if parsed.value == cell.value else f"before its calculation the reply gives {cell.value}"
    computed = replace(cell, value=parsed.value, how=How.COMPUTED, rationale=calculation, absence=None, detail="", doubt=doubt)
    return _placed(computed, source, places)


def _doubted(cell: Cell, finding: str) -> Checked:
    return Checked(replace(cell, doubt=finding) if finding else cell, finding)


def _placed(cell: Cell, source: Source, places: Sequence[Grounded]) -> Cell:
    """The cell at its words: the first ones are its span, further ones its parts."""
    if not places:
        return cell
    spans = tuple(dict.fromkeys(source.span(p.start, p.end) for p in places))
    printed = source.words(spans[0].start - source.offset, spans[0].end - source.offset)
    worst = max((p.status for p in places), key=list(Grounding).index)
    status = Grounding.DERIVED if cell.how is How.COMPUTED else worst
    return replace(cell, printed=printed, grounding=status, span=spans[0], parts=spans[1:])


def _join(words: Sequence[str]) -> str:
    return " ... ".join(words)


def _scalar(said: object) -> Scalar:
    short = not isinstance(said, int) or abs(said) < 2**63
    return said if isinstance(said, str | int | float | bool) and short else str(said)
