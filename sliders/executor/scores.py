"""A number column that turns out to hold scores ("110-106"): a column for each side and two for both, by code."""

from __future__ import annotations

from dataclasses import replace

from sliders.executor.session import Session
from sliders.extraction.cell import Absence, Cell, Grounding, Row
from sliders.extraction.scores import read_score
from sliders.schema.types import Column, ColumnType, Schema, Table
from sliders.store.records import Task

_FEWEST = 3
_MOST = 0.6


def split_scores(session: Session) -> None:
    """Give each induced number column that prints pairs its two sides, their total and their margin as columns."""
    for table in (session.catalog.schemas.current() or Schema()).tables:
        for name in split_columns(session, table.name):
            _split_later_rows(session, table, name)
        for column in table.columns:
            if column.pinned or column.type not in (ColumnType.INTEGER, ColumnType.NUMBER):
                continue
            if read_score("2-1", column) is not None:
                continue  # it asks for one part of a score: a side, a margin, a total
            sides = _sides_of(column.name)
            if not {s.name for s in sides[:2]} & set(table.column_names) and _holds_pairs(session, table, column, sides[0]):
                _split(session, table, column, tuple(s for s in sides if s.name not in table.column_names))


def _sides_of(name: str) -> tuple[Column, ...]:
    names = *(f"{part}_{name}" for part in ("winner", "loser", "total")), "margin"
    return tuple(Column(each, ColumnType.INTEGER) for each in names)


def _split_later_rows(session: Session, table: Table, name: str) -> None:
    """The sides of rows that came after the split, from documents that were added later."""
    sides = tuple(s for s in _sides_of(name) if s.name in table.column_names)
    if not {s.name for s in _sides_of(name)[:2]} <= {s.name for s in sides}:
        return
    rows = session.catalog.extractions.rows(table.name)
    late = [row for row in rows if row.cell(name) is not None and row.cell(sides[0].name) is None]
    if late:
        column = next(c for c in table.columns if c.name == name)
        session.catalog.extractions.save([_sides(row, column, sides, _follow(table, name)) for row in late])


def _follow(table: Table, name: str) -> tuple[Column, ...]:
    """The numbers that follow from a score: a margin is its difference."""
    numbers = [c for c in table.columns if c.type is ColumnType.INTEGER and not c.pinned and c.name != name]
    return tuple(c for c in numbers if read_score("2-1", c) is not None)


def _holds_pairs(session: Session, table: Table, column: Column, side: Column) -> bool:
    cells = [c for row in session.catalog.extractions.rows(table.name) if (c := row.cell(column.name)) and c.printed]
    pairs = sum(c.span is not None and read_score(c.printed, side) is not None for c in cells)
    return pairs >= max(_FEWEST, _MOST * len(cells))


def _split(session: Session, table: Table, column: Column, sides: tuple[Column, ...]) -> None:
    schema = session.catalog.schemas.current() or Schema()
    standing = schema.table(table.name)
    grown = replace(standing, columns=(*standing.columns, *sides))
    settled = session.catalog.extractions.settled(standing)
    follow = _follow(standing, column.name)
    rows = [_sides(row, column, sides, follow) for row in session.catalog.extractions.rows(table.name)]
    names = tuple(s.name for s in sides)
    tasks = [Task(table.name, names, chunk, "done") for chunk, known in settled.items() if column.name in known]
    with session.catalog.database.transaction():
        session.catalog.schemas.save(schema.with_table(grown), "scores have two sides, a total and a margin")
        session.catalog.extractions.save(rows, tasks)
        hide_column(session, table.name, column.name)
    session.decide("schema", f"column:{column.name}", "split", f"its words are scores: {' and '.join(names)}")


def split_columns(session: Session, table: str) -> list[str]:
    """The columns whose sides stand beside them: SQL reads the sides."""
    known = session.catalog.knowledge.statistic(f"split:{table}", [])
    return [str(name) for name in known] if isinstance(known, list) else []


def hide_column(session: Session, table: str, column: str) -> None:
    """Leave a column out of what SQL reads: others beside it hold what it says."""
    session.catalog.knowledge.set_statistic(f"split:{table}", [*split_columns(session, table), column])


def _sides(row: Row, column: Column, sides: tuple[Column, ...], follow: tuple[Column, ...]) -> Row:
    score = row.cell(column.name)
    cells = [_side(score, side) for side in sides]
    cells += [cell for other in follow if (cell := _side(score, other)).absence is None and row.cell(other.name)]
    return replace(row, cells=tuple(cells))


def _side(cell: Cell | None, side: Column) -> Cell:
    score = read_score(cell.printed, side) if cell is not None and cell.span is not None else None
    if cell is None or score is None:
        return Cell(side.name, absence=Absence.NOT_STATED)
    return replace(
        cell, column=side.name, value=score[0], grounding=Grounding.DERIVED, absence=None, rationale=score[1], detail=""
    )
