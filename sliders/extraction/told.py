"""What code reads better than a model: cells put right by the sentences of the text after a reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sliders.extraction.attributed import Owned, attributed, is_of_another, unit_of
from sliders.extraction.cell import Absence, Cell, Grounding, Row, Scalar, Span
from sliders.extraction.current import current_amount
from sliders.extraction.dates import dates_in
from sliders.extraction.labelled import BEHIND_LABEL, labelled, names_little
from sliders.extraction.letterheads import whole_block
from sliders.extraction.membership import fullest, memberships, whole_name
from sliders.extraction.reading import Reading, cell_at
from sliders.extraction.request import naming_first
from sliders.extraction.scores import GROUPS, read_score, side_of, told_score
from sliders.extraction.sentences import tells_otherwise, told_in_sentence
from sliders.schema.names import spoken_name
from sliders.schema.types import Column, ColumnType


def with_sentences(reading: Reading, row: Row, columns: Sequence[Column]) -> Row:
    """Numbers that the reply left empty or made up, out of the sentences that tell them."""
    by_name = {c.name: c for c in columns}
    row = replace(row, cells=tuple(_behind_label(reading, cell, by_name[cell.column]) for cell in row.cells))
    row = replace(row, cells=tuple(_told(reading, cell, by_name[cell.column]) for cell in row.cells))
    for column in columns:
        row = _with_full_name(reading, row, column)
    row = _with_scores(reading, row, by_name)
    row = replace(row, cells=tuple(_whole(reading, cell, by_name[cell.column], row) for cell in row.cells))
    dates = frozenset(str(c.value) for c in row.cells if c.absence is None and by_name[c.column].type is ColumnType.DATE)
    return replace(row, cells=tuple(_current(reading, cell, by_name[cell.column], dates) for cell in row.cells))


def _behind_label(reading: Reading, cell: Cell, column: Column) -> Cell:
    """The one value that the text prints behind a label of the column, where the reply has another or none."""
    places = labelled(column, reading.text)
    found = [cell_at(reading, column, place.start, place.end) for place in places]
    values = {c.value for c in found if c.absence is None}
    if len(values) != 1:
        return cell
    if cell.absence is None and cell.value in values:
        return replace(cell, detail=BEHIND_LABEL) if places[0].exact else cell
    if cell.absence is None and column.type is ColumnType.TEXT and (names_little(column) or not places[0].exact):
        return cell
    return replace(_of_call(next(c for c in found if c.absence is None), cell), detail=BEHIND_LABEL)


def _with_scores(reading: Reading, row: Row, columns: Mapping[str, Column]) -> Row:
    """The numbers of a winner and a loser that were read empty, out of the score in the sentence that names both."""
    sided = {name: side_of(name) for name in columns}
    open_cells = [
        c for c in row.cells if c.absence is Absence.NOT_STATED and sided[c.column] and columns[c.column].type in _NUMBERS
    ]
    names = {sided[c.column]: str(c.value) for c in row.cells if c.absence is None and columns[c.column].type is ColumnType.TEXT}
    sides = [names[side] for side in ("winner", "loser") if side in names]
    place = told_score(reading.text, sides) if open_cells and len(sides) > 1 else None
    if place is None:
        return row
    told = {}
    for cell in open_cells:
        if (score := read_score(reading.text[slice(*place)], columns[cell.column])) is not None:
            told[cell.column] = _derived(reading, cell, place, *score)
    return replace(row, cells=tuple(told.get(c.column, c) for c in row.cells))


_NUMBERS = (ColumnType.INTEGER, ColumnType.NUMBER)


def _whole(reading: Reading, cell: Cell, column: Column, row: Row) -> Cell:
    """A value of a letterhead with all of its lines."""
    if cell.absence is not None or cell.span is None:
        return cell
    place = (cell.span.start - reading.offset, cell.span.end - reading.offset)
    taken = [
        (c.span.start - reading.offset, c.span.end - reading.offset) for c in row.cells if c is not cell and c.span is not None
    ]
    whole = whole_block(column, reading.text, place, taken)
    return cell if whole == place else _of_call(cell_at(reading, column, *whole), cell)


def _current(reading: Reading, cell: Cell, column: Column, dates: frozenset[str]) -> Cell:
    """A number of an earlier date, as it is now."""
    if column.type not in _NUMBERS or cell.absence is not None or cell.span is None:
        return cell
    start, end = cell.span.start - reading.offset, cell.span.end - reading.offset
    now = None if cell.detail in (_TOLD, BEHIND_LABEL) else current_amount(column, reading.text, start, end, dates)
    return cell_at(reading, column, *now) if now else cell


_TOLD = "told by a sentence"


def _told(reading: Reading, cell: Cell, column: Column) -> Cell:
    if cell.detail == BEHIND_LABEL:
        return cell
    if cell.absence is Absence.NOT_PARSED and column.type is ColumnType.DATE:
        return _fuller(reading, cell, column)
    open_cell = cell.absence in (Absence.NOT_STATED, Absence.UNGROUNDED)
    open_cell |= column.type is ColumnType.BOOLEAN and cell.absence is Absence.NOT_PARSED
    found = told_in_sentence(column, reading.text, reading.context, empty=open_cell)
    if found is None and cell.absence is None and cell.span is not None:
        start, end = cell.span.start - reading.offset, cell.span.end - reading.offset
        if tells_otherwise(column, reading.text, start, end):
            detail = f"the sentence of {cell.printed!r} says nothing of {column.name}"
            return replace(cell, value=None, grounding=Grounding.NONE, absence=Absence.UNGROUNDED, detail=detail)
    if found is None:
        return cell
    return _derived(reading, cell, found[:2], found[2].value, found[2].rationale)


def _derived(reading: Reading, cell: Cell, place: tuple[int, int], value: Scalar, rationale: str) -> Cell:
    """The cell with a value that follows from the words at a place of the text."""
    start, end = reading.offset + place[0], reading.offset + place[1]
    page = reading.pages(start) if reading.pages else reading.chunk.context.page_from
    return replace(
        cell,
        value=value,
        printed=reading.text[slice(*place)],
        grounding=Grounding.DERIVED,
        absence=None,
        span=Span(reading.chunk.document_id, start, end, page),
        rationale=rationale,
        detail=_TOLD,
    )


def _in_place(row: Row, cell: Cell, found: Cell) -> Row:
    return replace(row, cells=tuple(found if c is cell else c for c in row.cells))


def _of_call(found: Cell, cell: Cell) -> Cell:
    """The cell as read by the call that gave `cell`."""
    return replace(found, call_id=cell.call_id, model=cell.model, prompt_hash=cell.prompt_hash)


def _fuller(reading: Reading, cell: Cell, column: Column) -> Cell:
    """A year, month or day alone, read as the one full date of the text that has it."""
    said = dates_in(cell.printed, day_first=reading.context.day_first)
    every = [d for d in dates_in(reading.text, day_first=reading.context.day_first) if d.full]
    same = [d for d in every if len(said) == 1 and d.iso.startswith(said[0].iso)]
    same = same or [d for d in every if not said and d.text.startswith(cell.printed)]
    if len({d.iso for d in same}) != 1 or (said and said[0].full):
        return cell
    return cell_at(reading, column, same[0].start, same[0].end)


def with_own_numbers(reading: Reading, rows: list[Row], columns: Sequence[Column]) -> list[Row]:
    """The rows with the numbers that the text gives each of them; a model gives one row's number to the next."""
    naming = naming_first(columns)[0]
    names = [cell.printed for row in rows if (cell := row.cell(naming.name)) and cell.absence is None]
    for column in columns:
        if column.type not in _NUMBERS or not names:
            continue
        owned = attributed(reading.text, names, unit_of(column.name))
        if owned:
            rows = [_with_own_number(reading, row, naming.name, column, owned) for row in rows]
    return rows


def _with_own_number(reading: Reading, row: Row, naming: str, column: Column, owned: Owned) -> Row:
    name, cell = row.cell(naming), row.cell(column.name)
    if name is None or cell is None:
        return row
    own = [cell_at(reading, column, start, end) for start, end in owned.get(name.printed, [])]
    if own:
        same = [c for c in own if c.value == cell.value]
        found = _of_call((same or own)[0], cell)
    elif cell.span is not None and is_of_another(reading.text, cell.span.start - reading.offset, owned):
        found = Cell(column.name, printed=cell.printed, absence=Absence.UNGROUNDED, detail="the text gives it to another row")
    else:
        return row
    return _in_place(row, cell, found)


def with_whole_names(reading: Reading, rows: list[Row], columns: Sequence[Column]) -> list[Row]:
    """The rows with the whole name where they are called by its last word alone and the text has one such name."""
    naming = naming_first(columns)[0]
    known = {cell.value for row in rows if (cell := row.cell(naming.name)) is not None}
    out = []
    for row in rows:
        cell = row.cell(naming.name)
        short = cell is not None and cell.absence is None and naming.type is ColumnType.TEXT and str(cell.value).isalpha()
        whole = whole_name(reading.text, str(cell.value)) if cell is not None and short else ""
        if cell is not None and whole and whole not in known:
            start = reading.text.find(whole)
            row = _in_place(row, cell, _of_call(cell_at(reading, naming, start, start + len(whole)), cell))
        out.append(row)
    return out


def with_own_groups(reading: Reading, rows: list[Row], columns: Sequence[Column]) -> list[Row]:
    """The rows with the team that the text speaks of where it names each of them; a model gives one team to all."""
    naming = naming_first(columns)[0]
    names = [str(cell.value) for row in rows if (cell := row.cell(naming.name)) and cell.absence is None]
    for column in columns:
        if column is naming or column.type is not ColumnType.TEXT or not GROUPS & set(spoken_name(column.name).split()):
            continue
        rows = [_with_full_name(reading, row, column) for row in rows]
        groups = _whole_names([str(c.value) for row in rows if (c := row.cell(column.name)) and c.absence is None])
        if _FEWEST_GROUPS <= len(groups) <= _MOST_GROUPS and not set(groups) & set(names):
            own = memberships(reading.text, names, groups)
            rows = [_with_own_group(reading, row, naming.name, column, own) for row in rows]
    return rows


def _with_full_name(reading: Reading, row: Row, column: Column) -> Row:
    """The row with the full name of a side that it calls by its last word."""
    if column.type is not ColumnType.TEXT or not (side_of(column.name) or GROUPS & set(spoken_name(column.name).split())):
        return row
    cell = row.cell(column.name)
    whole = fullest(reading.text, str(cell.value)) if cell is not None and cell.stands else ""
    if cell is None or not whole or whole == cell.value:
        return row
    start = reading.text.find(whole)
    found = _of_call(cell_at(reading, column, start, start + len(whole)), cell)
    return _in_place(row, cell, found)


_FEWEST_GROUPS, _MOST_GROUPS = 2, 4


def _whole_names(values: Sequence[str]) -> list[str]:
    """The longest form of each name: "Otters" and "Merrow Otters" are one."""
    longest: dict[str, str] = {}
    for value in values:
        last = value.split()[-1] if value.split() else ""
        longest[last] = max(longest.get(last, ""), value, key=len)
    return [name for last, name in longest.items() if last]


def _with_own_group(reading: Reading, row: Row, naming: str, column: Column, own: Mapping[str, str]) -> Row:
    name, cell = row.cell(naming), row.cell(column.name)
    group = own.get(str(name.value), "") if name is not None else ""
    start = reading.text.find(group) if group else -1
    if cell is None or start < 0 or str(cell.value).split()[-1:] == group.split()[-1:]:
        return row
    found = replace(_of_call(cell_at(reading, column, start, start + len(group)), cell), detail="the text speaks of it there")
    return _in_place(row, cell, found)
