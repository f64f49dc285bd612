"""Cuts over the whole collection. For each judged column, a cut separates its choices; for each
stated column, it separates documents that state a value from documents that do not. A cut lies
where the odds of the documents separate best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sliders.compact.judgements import TOLD, judge, told_cut
from sliders.compact.value_prompts import YES_NO, choices_of, chosen_value, is_judged
from sliders.engine.session import Session
from sliders.extraction.cell import Absence, Cell, Row
from sliders.schema.types import Column, Table

_Odds = Mapping[str, float]
_NOT_TOLD = "the model prefers no value here: its odds lie under the cut of the collection"


def judge_table(session: Session, table: Table) -> None:
    """Sets the values of judged cells, and empties stated cells below the cut, by all odds of their
    column. No model is asked, and the odds stay as they are.
    """
    every = list(session.catalog.extractions.iterate(table.name, odds=True))
    for column in table.columns:
        if is_judged(column):
            if rows := [row for row in every if _odds(row, column) is not None]:
                _judge_column(session, table, column, rows)
        else:
            _cut_column(session, table, column, every)


def _cut_column(session: Session, table: Table, column: Column, rows: Sequence[Row]) -> None:
    """Empties the stated cells below the cut, and restores cells that an earlier cut emptied."""
    found = {
        row.id: cell
        for row in rows
        if (cell := row.cell(column.name)) is not None and TOLD in dict(cell.odds)
    }
    cut, how = told_cut([dict(cell.odds)[TOLD] for cell in found.values()])
    cells: dict[str, Cell] = {}
    for row_id, cell in found.items():
        under = cut is not None and dict(cell.odds)[TOLD] < cut
        if cell.value is not None and under and cell.absence is None:
            cells[row_id] = replace(cell, absence=Absence.NOT_STATED, detail=_NOT_TOLD)
        elif not under and cell.detail == _NOT_TOLD:
            cells[row_id] = replace(cell, absence=None, detail="")
    if cells:
        session.catalog.extractions.recalibrate(table.name, column.name, cells, how)


def _judge_column(session: Session, table: Table, column: Column, rows: Sequence[Row]) -> None:
    """Sets one judgement for each thing that a row is about. For a document that was read in parts,
    the clearest part decides (see `_most_telling`).
    """
    subjects: dict[str, list[Row]] = {}
    for row in rows:
        subjects.setdefault(row.document_id if table.grain == "document" else row.id, []).append(
            row
        )
    telling = {subject: _most_telling(parts, column) for subject, parts in subjects.items()}
    found, how = judge(list(telling.values()))
    cells: dict[str, Cell] = {}
    for subject, judgement in zip(telling, found, strict=True):
        for row in subjects[subject]:
            cell = row.cell(column.name)
            if cell is not None and _odds(row, column) is not None:
                value = chosen_value(column, judgement.choice)
                cells[row.id] = replace(cell, value=value, doubt=judgement.doubt)
    session.catalog.extractions.recalibrate(table.name, column.name, cells, how)


def _odds(row: Row, column: Column) -> _Odds | None:
    """Returns the odds of a judged cell; None when there are none, or when they are over other
    choices than the column has now.
    """
    cell = row.cell(column.name)
    odds = dict(cell.odds) if cell is not None and cell.absence is None else {}
    return odds if odds and set(odds) == set(choices_of(column)) else None


def _most_telling(rows: Sequence[Row], column: Column) -> _Odds:
    """Returns the odds of the part that says yes most clearly, or prefers one category most. A part
    that says nothing about the subject does not count as a no.
    """
    every = [odds for row in rows if (odds := _odds(row, column)) is not None]
    if set(every[0]) == set(YES_NO):
        return max(every, key=lambda odds: odds[YES_NO[0]] - odds[YES_NO[1]])
    return max(every, key=lambda odds: sorted(odds.values())[-1] - sorted(odds.values())[-2])
