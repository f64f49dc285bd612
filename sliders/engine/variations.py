"""The doubts under a statement: cells, rows and names that may be wrong, each with its other
possible values (a `Variation`).

The *cut* of a column is the probability from which a judged value counts. A *grid* is a printed
table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sliders.answer.doubts import command_of, named
from sliders.answer.range import Kind, Place, Variation
from sliders.compact.value_prompts import chosen_value, is_judged
from sliders.engine.corrections import conflicts, document_names, holding
from sliders.engine.merges_apart import merges_apart
from sliders.engine.near_odds_cut import near_cut
from sliders.engine.other_values import other_values
from sliders.engine.row_words import RowWords
from sliders.engine.session import Session
from sliders.engine.tables_read import TableRead, shown_values
from sliders.extraction.cell import Absence, Cell, How, Row, Scalar
from sliders.schema.types import Column, ColumnType
from sliders.store.facts import OpenConflict, OpenNames
from sliders.store.lineage import doubt_of
from sliders.values.bounds import BETWEEN
from sliders.values.expected import NUMERIC
from sliders.values.parse import other_readings, parse_value

_State = tuple[Place, Scalar]
_SAID = (Absence.UNGROUNDED, Absence.NOT_PARSED)
_NEAR_CUT = "it lies near the cut of its column"
_NEXT_CHOICE = "its next choice is nearly as likely"


class TableVariations:
    """The variations of one table that the statement reads.

    `shown` are the table's current values by row id and SQL column name. `sources` are the
    extracted rows behind each merged row.
    """

    def __init__(self, session: Session, read: TableRead, sql: str) -> None:
        self.session, self.read, self.sql, self.name = session, read, sql, read.table.name
        self.rows = {row.id: row for row in session.catalog.extractions.iterate(self.name)}
        self.sources = session.catalog.tables.merged_rows(self.name)
        self.row_of = {
            source: row_id for row_id, of_row in self.sources.items() for source in of_row
        }
        self.shown = shown_values(session, read)
        self.open = conflicts(session, self.name)
        self.words = RowWords(session, read, self.rows, self.sources, self.shown)
        self.decisions = session.catalog.knowledge.corrections(self.name)
        self.named = document_names(session.catalog)

    def every(self) -> Iterator[Variation]:
        """Yields all variations: open conflicts, rows that may be one thing or several, names that
        may be one, cells, and documents without a row.
        """
        disputed: set[tuple[str, str]] = set()
        for variation in self._conflicts():
            disputed.update(
                (place.row_id, place.column) for option in variation.options for place, _ in option
            )
            yield variation
        yield from self.one_thing()
        yield from merges_apart(self.session, self.read, self.row_of, self.shown, self.words)
        yield from self._open_names()
        others = other_values(self.read, self.shown, self.sql)
        for column in self.read.columns:
            for row_id, cells, doubted in self._cells(column, others[column.name]):
                place = self._place(row_id, column.name)
                if (row_id, place.column) not in disputed:
                    yield self._of_cell(place, column, cells, doubted)
        yield from self._rowless(others)
        yield from self._unread()
        yield from self._bounded()

    def _place(self, row_id: str, column: str = "") -> Place:
        return Place(
            self.read.relation.relation,
            row_id,
            self.read.relation.sql_name(column) if column else "",
        )

    def _conflicts(self) -> Iterator[Variation]:
        """Yields open conflicts over columns that the statement reads, each with the values that
        the table does not show.
        """
        names = {column.name for column in self.read.columns}
        for conflict in self.open:
            for row_id in sorted(self._rows_of(conflict)) if conflict.column in names else ():
                place = self._place(row_id, conflict.column)
                stands = self.shown[row_id][place.column]
                sides = [
                    value
                    for side in conflict.candidates
                    if (value := side.value) not in (None, stands)
                ]
                if not sides:
                    continue
                told = " or ".join(
                    f"{side.value!r} ({side.document})" for side in conflict.candidates
                )
                yield Variation(
                    "conflict",
                    tuple(((place, value),) for value in sides),
                    1,
                    f"{conflict.column} is {told}",
                    self.words.place(row_id, conflict.column),
                    self.words.setting(row_id, conflict.column, stands),
                )

    def _rows_of(self, conflict: OpenConflict) -> set[str]:
        """Returns the current rows that hold the sides of a conflict."""
        return self._current(source for side in conflict.candidates for source in side.rows)

    def _current(self, sources: Iterable[str]) -> set[str]:
        """Returns the current rows that hold these extracted rows."""
        return {self.row_of.get(source, source) for source in sources} & self.shown.keys()

    def one_thing(self) -> Iterator[Variation]:
        """Yields groups of rows that may be one thing, so that only one row would stay: the sides
        of an open contradiction, and rows that nobody decided on.
        """
        groups = {tuple(sorted(self._rows_of(conflict))) for conflict in self.open}
        groups |= {
            tuple(sorted(self._current(rows)))
            for rows in self.session.catalog.open_questions.left_open(self.name)
        }
        for group in sorted(g for g in groups if len(g) > 1):
            rows = [(self._place(row_id), None) for row_id in group]
            options = tuple(tuple(row for row in rows if row is not stays) for stays in rows)
            thing, place = (
                f"{' and '.join(map(self.words.row, group))} may be one",
                self.words.place(group[0]),
            )
            yield Variation(
                "same", options, len(group) - 1, thing, place, self.words.joining(*group[:2])
            )

    def _open_names(self) -> Iterator[Variation]:
        """Yields names that nobody decided on: all their rows may have either name, and rows that
        would then be one thing become one.
        """
        read = {column.name for column in self.read.columns}
        for names in self.session.catalog.open_questions.names(self.name):
            things = [sorted(self._current(rows)) for rows in names.rows]
            gone = [(self._place(row), None) for rows in things for row in rows[1:]]
            every, options = [row for rows in things for row in rows], [list[_State](gone)]
            if names.column in read:
                options, every = self._either_name(names, gone)
            if not any(options):
                continue
            first, second = ([(names.column, forms[0])] for forms in names.sides[:2])
            told = " and ".join(repr(forms[0]) for forms in names.sides)
            documents = list(dict.fromkeys(d for row in every for d in self.words.documents(row)))
            yield Variation(
                "same",
                tuple(map(tuple, options)),
                1,
                f"{told} {'are shown as' if names.joined else 'may be'} one name: {names.reason}",
                f"{named(documents)}; {self.read.relation.relation}.{names.column}",
                command_of("split", self.name, where=first, other=second)
                + "  # two names; one: merge",
            )

    def _either_name(
        self, names: OpenNames, gone: Sequence[_State]
    ) -> tuple[list[list[_State]], list[str]]:
        """Returns the states in which all rows of open names have one name, and these rows; no
        states when a repair or a person's value left nothing of one name.

        Args:
            gone: the rows that would be merged into another row.
        """
        printed, canonical = self._place("", names.column).column, self._canonical(names.column)
        holders = [
            [r for r, values in self.shown.items() if values[printed] in forms]
            for forms in names.sides
        ]
        every = [row for rows in holders for row in rows]
        if not all(holders):
            return [], every
        options = [[*self._renamed(every, printed, canonical, rows[0]), *gone] for rows in holders]
        if names.joined and canonical:
            options.append([(self._at(row, canonical), self.shown[row][printed]) for row in every])
        return options, every

    def _at(self, row_id: str, sql_name: str) -> Place:
        return Place(self.read.relation.relation, row_id, sql_name)

    def _canonical(self, column: str) -> str:
        """Returns the SQL name of the column with the canonical forms of another column; "" when
        there is none.
        """
        beside = self.read.relation.companions
        return next(
            (c.sql_name for c in beside if (c.companion_of, c.role) == (column, "canonical")), ""
        )

    def _renamed(
        self, rows: Sequence[str], printed: str, canonical: str, like: str
    ) -> Iterator[tuple[Place, Scalar]]:
        """Yields the cells that give rows the name of another row."""
        for row in rows:
            yield from (
                (self._at(row, name), self.shown[like][name])
                for name in (printed, canonical)
                if name
            )

    def _cells(
        self, column: Column, others: Sequence[Scalar]
    ) -> Iterator[tuple[str, list[Cell], _Doubted]]:
        """Yields the doubtful values of a column, with their row, their cells and the reason.
        Values that a person decided are left out.
        """
        near = near_cut(self.rows.values(), column)
        for row_id, values in self.shown.items():
            of_row = self.words.extracted(row_id)
            cells = [cell for row in of_row if (cell := row.cell(column.name)) is not None]
            if cells and any(
                cell.value is not None for row in of_row for cell in row.cells
            ):  # else it is a row of nothing
                doubted = _in_doubt(
                    column, values[self.read.relation.sql_name(column.name)], cells, near, others
                )
                if doubted.options and not self._decided(column.name, of_row):
                    yield row_id, cells, doubted

    def _of_cell(
        self, place: Place, column: Column, cells: Sequence[Cell], doubted: _Doubted
    ) -> Variation:
        """Returns the variation of a value, with its description in words."""
        value = self.shown[place.row_id][place.column]
        why = next((doubt for cell in cells if (doubt := doubt_of(cell))), "") or doubted.why
        said = (
            next((cell.value for cell in cells if cell.value is not None), None)
            if value is None
            else value
        )
        stands = (
            f"{column.name} {value!r}"
            if value is not None
            else f"{column.name} is empty, read as {said!r}"
        )
        return Variation(
            doubted.kind,
            tuple(((place, option),) for option in doubted.options),
            1,
            f"{stands}: {why}" if why else stands,
            self.words.place(place.row_id, column.name, cells),
            self.words.setting(place.row_id, column.name, said),
            warns=doubted.warns,
        )

    def _decided(self, column: str, rows: Sequence[Row]) -> bool:
        """Says whether a person set or confirmed the value of these rows."""
        held = [
            {**self.named[row.document_id], **{cell.column: cell.value for cell in row.cells}}
            for row in rows
        ]
        about = (d for d in self.decisions if d.kind == "set_value" and d.column == column)
        return any(holding(held, decision.subject.get("where", {})) for decision in about)

    def _bounded(self) -> Iterator[Variation]:
        """Yields numbers that are printed as bounds or estimates; without figures when the words
        give no other number.
        """
        bounded = {
            c.column for row in self.rows.values() for c in row.cells if c.bound and c.stands
        }
        for column in (c for c in self.read.columns if c.name in bounded):
            for row_id, values in self.shown.items():
                of_row, value = (
                    self.words.extracted(row_id),
                    values[self.read.relation.sql_name(column.name)],
                )
                cells = [
                    c
                    for row in of_row
                    if (c := row.cell(column.name)) is not None and c.value == value
                ]
                if (
                    not cells
                    or not all(c.bound for c in cells)
                    or self._decided(column.name, of_row)
                ):
                    continue
                place, others = self._place(row_id, column.name), _left_open(column, cells[0])
                options = tuple(((place, other),) for other in others) or (((place, None),),)
                yield Variation(
                    "value",
                    options,
                    1,
                    f"{column.name} {value!r} is printed as {cells[0].bound} {value!r}"
                    if not cells[0].bound.startswith(BETWEEN)
                    else f"{column.name} {value!r} is printed as {cells[0].bound}",
                    self.words.place(row_id, column.name, cells),
                    self.words.setting(row_id, column.name, value),
                    figures=bool(others),
                )

    def _unread(self) -> Iterator[Variation]:
        """Yields lines of printed grids that gave no row although they look like lines that gave
        one: each may be a row.
        """
        kept = self.session.catalog.open_questions.unread(self.name)
        places = dict(self.session.catalog.chunks.places()) if kept else {}
        for number, one in enumerate(kept):
            if (document := places.get(one.chunk_id)) is not None:
                row_id = f"unread:{document}:{number}"
                head = (Place(self.read.relation.relation, row_id, "document"), document)
                told = {
                    name: value
                    for name, value in one.values
                    if name in self.read.table.column_names
                }
                state = (
                    head,
                    *((self._place(row_id, name), value) for name, value in told.items()),
                )
                name = self.words.document(document)
                command = command_of("why", name)
                yield Variation("missing", (state,), 1, one.finding, name, command)

    def _rowless(self, others: Mapping[str, Sequence[Scalar]]) -> Iterator[Variation]:
        """Yields documents without a row, although they were read or their reading failed: each may
        be a row.
        """
        if self.read.table.grain != "document":
            return
        extractions, places = self.session.catalog.extractions, self.session.catalog.chunks.places()
        tried = {
            task.chunk_id
            for state in ("done", "failed")
            for task in extractions.tasks(self.name, state)
        }
        tables = self.session.schema.tables
        known = {row.document_id for row in self.rows.values()}
        known |= {
            document for table in tables for document in extractions.documents_with_rows(table.name)
        }
        for document in sorted({document for chunk, document in places if chunk in tried} - known):
            row_id = f"unread:{document}"
            head = (Place(self.read.relation.relation, row_id, "document"), document)
            yield Variation(
                "missing",
                tuple(
                    (
                        head,
                        *(
                            (self._place(row_id, name), values[n % len(values)])
                            for name, values in others.items()
                            if values
                        ),
                    )
                    for n in range(max([1, *map(len, others.values())]))
                ),
                warns=False,
            )


@dataclass(frozen=True, slots=True)
class _Doubted:
    """The doubt about a value: the other values that it may have (`options`), the kind of doubt,
    and the reason. Without `options` the value is not in doubt.

    `warns` is False for judgements and for values that are not stated: they widen the range, and
    give no warning. Measured on five sets: of 30 answers by an embedded model without a warning, 3
    depended on a value near the cut, and 2 of these were wrong; of 32 answers by a strong model,
    none depended on a value that warns.
    """

    options: Sequence[Scalar] = ()
    kind: Kind = "value"
    why: str = ""
    warns: bool = True


def _in_doubt(
    column: Column,
    value: Scalar,
    cells: Sequence[Cell],
    near: frozenset[Cell],
    others: Sequence[Scalar],
) -> _Doubted:
    """Returns the doubt about a value: it is in doubt when all its cells are unverified, near the
    cut, or exceptions of their column.
    """
    if value is None:
        said = [c.value for c in cells if c.absence in _SAID and _fits(c.value, column)]
        cut = [c.value for c in cells if c in near and _fits(c.value, column)]
        if said or cut:
            return _Doubted(said) if said else _Doubted(cut, why=_NEAR_CUT)
        applies = all(c.absence is not Absence.DOES_NOT_APPLY for c in cells)
        return _Doubted(others if applies else (), "missing", warns=False)
    holding = [c for c in cells if c.absence is None and c.value == value] or [
        c for c in cells if c.value is not None
    ]
    plainly = is_judged(column)  # a judgement is an exception only in a column of stated values
    if not holding or any(
        not c.doubt and c not in near and (c.how is not How.JUDGED or plainly) for c in holding
    ):
        return _Doubted()
    instead = _instead(column, value, holding, others)
    if any(c.doubt for c in holding):
        return _Doubted(instead)
    if any(c.how is How.JUDGED for c in holding):
        return _Doubted(instead, why=_NEXT_CHOICE, warns=False)
    return _Doubted(instead, why=_NEAR_CUT)


def _instead(
    column: Column, value: Scalar, cells: Sequence[Cell], others: Sequence[Scalar]
) -> list[Scalar]:
    """Returns the values that a doubtful value may have: the next choice of its odds, the opposite
    of a boolean, another parse of its words, none, or, when the model was not sure and gave no
    odds, the values of an empty cell.
    """
    if column.type is ColumnType.BOOLEAN:
        return [not value]
    ranked = sorted(cells[0].odds, key=lambda choice: -choice[1])
    chosen = (
        [chosen_value(column, choice) for choice, _ in ranked[:2]]
        if is_judged(column) and ranked
        else []
    )
    printed = [cell.printed for cell in cells if cell.printed]
    parsed = [
        value
        for words in printed
        for value in (parse_value(words, column).value, *other_readings(words, column))
    ]
    any_other = others if cells[0].doubt and not chosen and cells[0].how is not How.COMPUTED else ()
    found: list[Scalar] = [
        other for other in (*chosen, *parsed, *any_other) if other is not None and other != value
    ]
    return [*dict.fromkeys(found), None]


def _left_open(column: Column, cell: Cell) -> list[Scalar]:
    """Returns the ends of the numbers that the words of a bounded number allow: 0 for "<5", both
    ends of a range; [] for a bound without an end.
    """
    if cell.bound.startswith(BETWEEN):
        low, _, high = cell.bound.removeprefix(BETWEEN).partition(" and ")
        ends = [parse_value(end, column).value for end in (low, high)]
        return [end for end in ends if isinstance(end, int | float) and end != cell.value]
    return (
        [0]
        if cell.bound.startswith("<") and isinstance(cell.value, int | float) and cell.value > 0
        else []
    )


def _fits(value: Scalar, column: Column) -> bool:
    """Says whether a value of a reply has the column's type; a number column cannot sum words."""
    if value is None:
        return False
    numeric = column.type in NUMERIC
    return not numeric or (isinstance(value, int | float) and not isinstance(value, bool))
