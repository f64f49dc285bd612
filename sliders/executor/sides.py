"""Results with two sides, seen from each side: a row for a winner and one for its loser, by code, beside the results.

"How many games did Harbour play" and "the lowest score of any team" ask of sides; a table of games names each of them
in one of two columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sliders.executor.scores import hide_column, split_columns
from sliders.executor.session import Session
from sliders.extraction.cell import Absence, Cell, Grounding, Row
from sliders.extraction.extractor import row_id
from sliders.extraction.scores import side_of
from sliders.schema.names import plural
from sliders.schema.types import Column, ColumnType, Schema, Table

_FEWEST, _SHARE = 3, 0.6
_DERIVED = "derived tables"


@dataclass(frozen=True, slots=True)
class Roles:
    """The columns of a table of results: who won, who lost, the score that was split, and what a side is called."""

    winner: str
    loser: str
    score: str
    noun: str
    named: str


def derived_tables(session: Session) -> list[str]:
    """The tables that code makes out of others: nothing is extracted for them."""
    known = session.catalog.knowledge.statistic(_DERIVED, [])
    return [str(name) for name in known] if isinstance(known, list) else []


def add_sides(session: Session) -> None:
    """Give each table of two-sided results with split scores a table of its sides, and bring that up to date."""
    for table in (session.catalog.schemas.current() or Schema()).tables:
        rows = session.catalog.extractions.rows(table.name) if table.grain == "document" else []
        roles = _roles(table, rows, split_columns(session, table.name))
        if roles is not None:
            _add(session, table, roles, rows)


def _roles(table: Table, rows: Sequence[Row], split: Sequence[str]) -> Roles | None:
    texts = [c.name for c in table.columns if c.type is ColumnType.TEXT]
    roles = result_columns(table)
    scores = [s for s in split if {f"winner_{s}", f"loser_{s}"} <= set(table.column_names)]
    if roles is None or not scores or len(rows) < _FEWEST:
        return None
    same = Counter(t for t in texts for row in rows if t not in roles and _value(row, t) in [_value(row, r) for r in roles])
    named = next((name for name, n in same.most_common(1) if n >= _SHARE * len(rows)), "")
    called = _CALLED.fullmatch(table.column(roles[0]).description)
    return Roles(*roles, scores[0], named or (called[1] if called else "side"), named)


_CALLED = re.compile(r"(\w+) that won")
"""The description of a winner says what a side is called."""


def result_columns(table: Table) -> tuple[str, str] | None:
    """The one text column that names who won and the one that names who lost."""
    texts = [c.name for c in table.columns if c.type is ColumnType.TEXT]
    winners, losers = ([t for t in texts if side_of(t) == side] for side in ("winner", "loser"))
    return (winners[0], losers[0]) if len(winners) == len(losers) == 1 else None


def _value(row: Row, column: str) -> object:
    cell = row.cell(column)
    return cell.value if cell is not None and cell.absence is None else None


def _add(session: Session, table: Table, roles: Roles, rows: Sequence[Row]) -> None:
    columns = (
        Column(roles.noun, pinned=True),
        Column("opponent", pinned=True),
        Column(roles.score, ColumnType.INTEGER, f"{roles.score} of this {roles.noun}", pinned=True),
        Column("won", ColumnType.BOOLEAN, pinned=True),
        Column("margin", ColumnType.INTEGER, f"by how many {roles.score} it won; empty where it lost", pinned=True),
    )
    name = f"{table.name}_of_{plural(roles.noun)}"
    row = f"a {roles.noun} in {table.row or 'a result'}: two rows for each"
    sides = Table(name, columns, row=row, grain="many", pinned=True)
    made = [side for row in rows for side in sides_of(row, sides, roles)]
    schema = session.catalog.schemas.current() or Schema()
    known = name in [t.name for t in schema.tables]
    if known:
        made = [replace(side, cells=tuple(c for c in side.cells if c.column in schema.table(name).column_names)) for side in made]
    if known and made == session.catalog.extractions.rows(name):
        return
    with session.catalog.database.transaction():
        if not known:
            session.catalog.schemas.save(Schema((*schema.tables, sides)), "results have two sides")
            session.catalog.knowledge.set_statistic(_DERIVED, [*derived_tables(session), name])
            for column in [roles.named] * bool(roles.named) + _repeated(table, rows, roles):
                hide_column(session, table.name, column)
        session.catalog.extractions.save(made)
    session.decide("schema", f"table:{name}", "derived", f"the winner and the loser of each row of {table.name}")


def _repeated(table: Table, rows: Sequence[Row], roles: Roles) -> list[str]:
    """The other numbers of a table that say the score of one side again, or were asked for as that."""
    scores = [f"{side}_{roles.score}" for side in ("winner", "loser")]
    own = {*scores, roles.score, f"total_{roles.score}"}
    out = []
    for column in table.columns:
        if column.type is not ColumnType.INTEGER or column.pinned or column.name in own:
            continue
        stated = [row for row in rows if _value(row, column.name) is not None]
        same = max(sum(_value(row, column.name) == _value(row, s) for row in stated) for s in scores)
        repeats = len(stated) >= _FEWEST and same >= _SHARE * len(stated)
        if repeats or (side_of(column.asked) and roles.score in column.asked.split()):
            out.append(column.name)
    return out


def sides_of(row: Row, table: Table, roles: Roles) -> list[Row]:
    """The rows of a result's sides, with the columns of a derived table."""
    out = []
    for ordinal, (own, other, side) in enumerate(((roles.winner, roles.loser, "winner"), (roles.loser, roles.winner, "loser"))):
        name, score = row.cell(own), row.cell(f"{side}_{roles.score}")
        if name is None or name.absence is not None:
            continue
        drawn = _drawn(row, roles)
        why = "both have the same score" if drawn else f"it is the {side}"
        won = replace(name, column="won", value=side == "winner" and not drawn, grounding=Grounding.DERIVED, rationale=why)
        cells = (
            _as(name, roles.noun),
            _as(row.cell(other), "opponent"),
            _as(score, roles.score),
            won,
            _margin(row, roles, side),
        )
        identifier = row_id(table.name, row.chunk_id, row.ordinal, ordinal)
        out.append(Row(identifier, table.name, row.document_id, row.chunk_id, 2 * row.ordinal + ordinal, cells))
    return out


def _drawn(row: Row, roles: Roles) -> bool:
    """Whether a result has no winner: the two that it names have the same score."""
    high, low = (_value(row, f"{side}_{roles.score}") for side in ("winner", "loser"))
    return high is not None and high == low


def _margin(row: Row, roles: Roles, side: str) -> Cell:
    """What a winner is ahead of its loser, so that an average over all sides counts each result once."""
    won = row.cell(f"winner_{roles.score}")
    high, low = (_value(row, f"{one}_{roles.score}") for one in ("winner", "loser"))
    if side != "winner" or won is None or not isinstance(high, int | float) or not isinstance(low, int | float) or high == low:
        return Cell("margin", absence=Absence.NOT_STATED)
    return replace(won, column="margin", value=int(high - low), grounding=Grounding.DERIVED, rationale=f"{high:g} - {low:g}")


def _as(cell: Cell | None, column: str) -> Cell:
    return replace(cell, column=column) if cell is not None else Cell(column, absence=Absence.NOT_STATED)
