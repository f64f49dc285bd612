"""Checks of bare values in the compact dialect: code finds the place where the text prints them.

A small model cannot be asked again with a finding. When its reply differs from the words by a mark
or a scale for which JSON has no place, the words win: the cell gets a doubt, and the change is
recorded as a decision with the earlier value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from sliders.extraction.around import as_printed, bound_in, context_at
from sliders.extraction.cell import Absence, Cell, Grounding, How, Scalar
from sliders.extraction.check import CARD_ALONE, Checked, placed, plain_scalar, with_two_readings
from sliders.extraction.ground import Grounded, find
from sliders.extraction.ground_value import find_value, without_its_mark
from sliders.extraction.source import Source
from sliders.schema.types import Column, ColumnType
from sliders.values.expected import DATED, NUMERIC
from sliders.values.notes import scale_in
from sliders.values.parse import Parsed, parse_value, typed
from sliders.values.value_agreement import agrees

_FACTORS = (1e3, 1e6, 1e9, 1e12)
_PRINTED = (Grounding.EXACT, Grounding.NORMALIZED)


def changed(cell: Cell, before: Scalar, value: Scalar, why: str, *, scale: str = "") -> Checked:
    """Returns a cell with the value that code took from the words, with a doubt; the check keeps
    the value of the reply.
    """
    doubt = f"the reply gives {before} {why}; the words say {value}"
    return Checked(
        replace(cell, value=value, scale=scale or cell.scale, doubt=doubt, detail=doubt),
        doubt,
        before,
    )


def value_cell(
    source: Source, column: Column, said: object, near: Sequence[tuple[int, int]] = ()
) -> Checked:
    """Returns a bare typed value with the place where the text prints it.

    A value that the text prints nowhere is ungrounded: the caller asks for its words.
    """
    if said is None:
        return Checked(Cell(column.name, absence=Absence.NOT_STATED))
    parsed = typed(said, column, source.context)
    if parsed.absent:
        return Checked(Cell(column.name, absence=Absence.NOT_STATED, detail=parsed.reason))
    if parsed.value is None:
        why = parsed.reason
        shown = plain_scalar(said)
        return Checked(Cell(column.name, shown, str(said), absence=Absence.NOT_PARSED, detail=why))
    found = Checked(Cell(column.name, parsed.value, unit=column.unit, scale=column.scale))
    place = find_value(parsed.value, column, source.text, source.context, near)
    printed = place.status is not Grounding.NONE
    if not printed and isinstance(parsed.value, str):
        if find(parsed.value, source.head).status in _PRINTED:
            return replace(found, cell=_told_by_card(found.cell, parsed.value))
    elif not printed and isinstance(parsed.value, int | float):
        marked = without_its_mark(parsed.value, column, source.text, source.context)
        if marked is not None:
            place = find_value(marked, column, source.text, source.context, near)
            found = changed(found.cell, parsed.value, marked, "without its decimal mark")
    if place.status is Grounding.NONE:
        why = "the text prints this value nowhere"
        cell = replace(found.cell, printed=str(said), absence=Absence.UNGROUNDED, detail=why)
        return Checked(cell)
    bound = bound_in(source, place.start, place.end) if column.type in NUMERIC else ""
    cell = replace(placed(found.cell, source, [place]), bound=bound)
    cell = replace(cell, doubt=cell.doubt or _other_unit(cell, column, source, place))
    return replace(found, cell=with_two_readings(source, column, cell, [place]))


def _told_by_card(cell: Cell, words: str) -> Cell:
    """A cell whose words stand only in the document's card."""
    derived = replace(cell, printed=words, grounding=Grounding.DERIVED, how=How.JUDGED)
    return replace(derived, doubt=CARD_ALONE)


def _other_unit(cell: Cell, column: Column, source: Source, place: Grounded) -> str:
    """Returns why the number is, or may be, in another currency, unit or scale than the column's;
    "" for no such reason. A note such as "in thousands of euros" above a number of a column without
    a unit may or may not hold for it.
    """
    if column.type not in NUMERIC:
        return ""
    words = as_printed(source, place.start, place.end, column)
    context = context_at(source, place.start)
    finding = agrees(cell.value, words, column, context)
    bare = column.type is ColumnType.NUMBER and not column.measured_in
    if finding or not (bare and context.scale) or scale_in(words):
        return finding
    return f"a note above it may hold for it: {context.note.strip('()')}"


def with_words(source: Source, column: Column, cell: Cell, words: str) -> Checked:
    """Returns an ungrounded cell with the words that the model gave for it when asked again."""
    place = find(words, source.text)
    if place.status is Grounding.NONE:
        return Checked(
            replace(cell, detail=f"{cell.detail}; these words are not in the text: {words!r}")
        )
    found = _scaled(
        placed(replace(cell, absence=None, detail="", how=How.JUDGED), source, [place]),
        column,
        source,
        place,
    )
    bound = bound_in(source, place.start, place.end) if column.type in NUMERIC else ""
    told = replace(found.cell, bound=bound)
    words = (
        as_printed(source, place.start, place.end, column)
        if column.type in NUMERIC
        else told.printed
    )
    if told.value is not None and not agrees(
        told.value, words, column, context_at(source, place.start)
    ):
        return replace(found, cell=replace(told, how=How.STATED))
    if column.type in NUMERIC or column.type in DATED:
        return replace(found, cell=replace(told, doubt="its words do not print the value"))
    return replace(found, cell=told)


def _scaled(cell: Cell, column: Column, source: Source, place: Grounded) -> Checked:
    """The cell with the scale that its words print: a bare "4.6" copied from "4.6 million"."""
    value = cell.value
    words = as_printed(source, place.start, place.end, column)
    parsed = (
        parse_value(words, column, context_at(source, place.start))
        if column.type in NUMERIC
        else Parsed()
    )
    if (
        not parsed.scale
        or not isinstance(parsed.value, int | float)
        or not isinstance(value, int | float)
        or not value
    ):
        return Checked(cell)
    if not any(math.isclose(parsed.value / value, factor) for factor in _FACTORS):
        return Checked(cell)
    return changed(cell, value, parsed.value, "without its scale", scale=parsed.scale)
