"""Rows that were merged and that nobody confirmed to be one thing, shown as the separate rows that
they would be after a split.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sliders.answer.doubts import command_of
from sliders.answer.range import Place, Variation
from sliders.engine.row_words import RowWords
from sliders.engine.session import Session
from sliders.engine.tables_read import TableRead
from sliders.extraction.cell import Scalar
from sliders.reconcile.human_corrections import DOCUMENT


@dataclass(frozen=True, slots=True)
class _Extracted:
    """A row as extracted: its document's name and id, and its values by SQL column name."""

    document: str
    document_id: str
    values: Mapping[str, Scalar]


def merges_apart(
    session: Session,
    read: TableRead,
    row_of: Mapping[str, str],
    shown: Mapping[str, Mapping[str, Scalar]],
    words: RowWords,
) -> Iterator[Variation]:
    """Yields a variation for each merged row that nobody confirmed: the state with a row for each
    document, which has the values of that document.

    Args:
        row_of: the current row that an extracted row was merged into.
        shown: the current values by row and SQL column name.
    """
    known: dict[str, _Extracted] | None = None
    for apart in session.catalog.open_questions.merges(read.table.name):
        current = {row_of.get(source, source) for rows in apart for source in rows}
        if len(current) != 1 or not current <= shown.keys():
            continue  # a person or a later reading told them apart
        (stays,) = current
        known = known or _extracted(session, read, tuple(shown[stays]))
        state = [
            cell
            for n, rows in enumerate(apart)
            for cell in _alone(read, shown[stays], "" if n else stays, rows, known)
        ]
        key = [condition for condition in words.conditions(stays) if condition[0] not in DOCUMENT]
        sides = [[(DOCUMENT[0], known[rows[0]].document), *key] for rows in apart[:2]]
        command = (
            command_of("merge", read.table.name, where=sides[0], other=sides[1])
            + "  # or split, where they are two"
        )
        thing = (
            f"{words.row(stays)} may be {len(apart)} rows: {len(apart)} were merged "
            "by their key alone"
        )
        yield Variation("same", (tuple(state),), len(apart) - 1, thing, words.place(stays), command)


def _alone(
    read: TableRead,
    shown: Mapping[str, Scalar],
    stays: str,
    rows: Sequence[str],
    known: Mapping[str, _Extracted],
) -> Iterator[tuple[Place, Scalar]]:
    """Yields the cells of the row that these extracted rows would make if they were not merged with
    others.

    Args:
        stays: the row that the table shows.
    """
    relation, own = read.relation.relation, known[rows[0]]
    if not stays:
        yield Place(relation, rows[0], DOCUMENT[0]), own.document
        yield Place(relation, rows[0], DOCUMENT[1]), own.document_id
    for column, now in shown.items():
        said = next(
            (value for row in rows if (value := known[row].values[column]) is not None), None
        )
        # One name, in the form that the table shows.
        value = now if isinstance(said, str) and isinstance(now, str) else said
        if not stays or value != now:
            yield Place(relation, stays or rows[0], column), value


def _extracted(session: Session, read: TableRead, names: Sequence[str]) -> dict[str, _Extracted]:
    root = session.catalog.tables.lineage(read.table.name)[-1]
    lines = session.catalog.tables.lines(root, ("row_id", *DOCUMENT, *names))
    return {
        row: _Extracted(name, of, dict(zip(names, values, strict=True)))
        for row, name, of, *values in lines
    }
