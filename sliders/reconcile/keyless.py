"""Rows without their whole key that may be the same thing as another row.

A *bare* row has no value in its key, a *whole* row has all of it. A *reading* is a model call on
one chunk. *Figures* are columns in which equal things may contradict each other, *names* are
columns in which they may not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sliders.reconcile.column_codes import Codes, combine
from sliders.reconcile.keys import KeyPlan, sorted_groups
from sliders.reconcile.parts import lines_of_rows
from sliders.reconcile.relation import MemoryRelation

_MOST_ALIKE = 24  # the most rows without a whole key that are asked about together
_TOLD_AGAIN = 2  # the least equal columns by which a bare row is taken for another row
_MOST_WAYS = 40  # the most patterns of filled columns that are compared with each other
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Compared:
    """The columns beside the key by which rows are compared: figures and names."""

    figures: Sequence[Codes]
    names: Sequence[Codes]


class Keyless:
    """Finds rows without their whole key that may be another row's thing. `groups` is the group of
    each row with a whole key; every other row has a group of its own.
    """

    def __init__(
        self,
        plan: KeyPlan,
        codes: Mapping[str, Codes],
        compared: Compared,
        documents: Codes,
        relation: MemoryRelation,
        groups: Codes,
    ) -> None:
        self.plan, self.codes, self.compared, self.relation, self.groups = (
            plan,
            codes,
            compared,
            relation,
            groups,
        )
        self.within = () if plan.across else (documents,)
        self.filled: Flags = np.stack([codes[name] >= 0 for name in plan.columns], axis=1)
        self.whole: Flags = np.asarray(self.filled.all(axis=1))
        self.bare: Flags = np.asarray(~self.filled.any(axis=1))
        self._readings: Codes | None = None

    @property
    def readings(self) -> Codes:
        """The number of the reading that gave each row."""
        if self._readings is None:
            self._readings = np.unique(np.array(self.relation.readings), return_inverse=True)[
                1
            ].astype(np.int64)
        return self._readings

    def alike(self) -> Iterator[list[int]]:
        """Yields groups of rows that agree in the filled columns of their key, with an incomplete
        key in some of them, when their figures contradict each other or several readings give the
        same values.
        """
        partly = np.flatnonzero(~self.bare & ~self.whole)
        for pattern in np.unique(self.filled[partly], axis=0) if len(partly) else ():
            named = (
                self.codes[n] for n, has in zip(self.plan.columns, pattern, strict=True) if has
            )
            shared = combine(*self.within, *named)
            own: Flags = np.asarray((self.filled == pattern).all(axis=1))
            candidates = np.flatnonzero((own | self.whole) & np.isin(shared, shared[own]))
            for rows in _split(candidates, shared):
                keys = np.unique(self.groups[rows[self.whole[rows]]])
                members = self._one_a_line(self._by_id(rows if len(keys) == 1 else rows[own[rows]]))
                if 1 < len(members) <= _MOST_ALIKE and self._may_be_one(members):
                    yield sorted(members.tolist())

    def told_again(self) -> Iterator[list[int]]:
        """Yields groups of bare rows with a row that another reading gave and that has the same
        values: in two columns or more, and in every column that both fill. Values that rows of
        several keys share do not count, unless one of them is a figure.
        """
        bare, whole = np.flatnonzero(self.bare), np.flatnonzero(self.whole)
        if not len(bare) or not len(whole):
            return
        columns = [*self.compared.names, *self.compared.figures]
        if len(columns) < _TOLD_AGAIN:
            return
        told = np.stack([column >= 0 for column in columns], axis=1)
        taken = np.zeros(len(told), bool)
        for own in _ways(bare, told):
            for other in (*_ways(whole, told), own):
                shared = np.flatnonzero(told[own[0]] & told[other[0]])
                if len(shared) < _TOLD_AGAIN:
                    continue
                same = combine(*self.within, *(columns[n] for n in shared))
                figures = bool((shared >= len(self.compared.names)).any())
                candidates = np.unique(np.r_[own[~taken[own]], other[~taken[other]]])
                for rows in _split(candidates[np.isin(same[candidates], same[own])], same):
                    members = self._again(rows, figures)
                    if 1 < len(members) <= _MOST_ALIKE:
                        taken[members[self.bare[members]]] = True
                        yield sorted(members.tolist())

    def _again(self, rows: Codes, figures: bool) -> Codes:
        """Returns a row with a key, and the bare rows of other readings that are about it."""
        keyed, bare = self._by_id(rows[self.whole[rows]]), self._by_id(rows[self.bare[rows]])
        keys = list(dict.fromkeys(self.groups[keyed].tolist()))
        if len(keys) > 1 and not figures:
            return rows[:0]
        for known in [keyed[self.groups[keyed] == key] for key in keys] or [keyed]:
            read = bare[~np.isin(self.readings[bare], self.readings[known])]
            # Two rows of one reading are two things.
            _, first = np.unique(self.readings[read], return_index=True)
            again = self._one_a_line(np.r_[known, read[np.sort(first)]])
            if self.bare[again].any():
                return again
        return rows[:0]

    def _by_id(self, rows: Codes) -> Codes:
        """Returns the rows in the order of their ids, which does not depend on how they
        were read.
        """
        return np.array(sorted(rows.tolist(), key=lambda row: self.relation.row_ids[row]), np.int64)

    def _one_a_line(self, rows: Codes) -> Codes:
        """Returns the rows, without rows that stand in another line of a list or grid in which an
        earlier row stands: another line is another thing.
        """
        place = np.full(len(rows), -1, np.int64)
        for starts in self.relation.starts.values():
            place = np.where(place < 0, np.asarray(starts, np.int64)[rows], place)
        lists, lines = (found.tolist() for found in lines_of_rows(self.relation, rows, place))
        first: dict[tuple[str, int], int] = {}
        kept = [
            number < 0 or first.setdefault((self.relation.document_ids[row], number), line) == line
            for row, number, line in zip(rows.tolist(), lists, lines, strict=True)
        ]
        return rows[np.array(kept, bool)] if len(rows) else rows

    def _may_be_one(self, rows: Codes) -> bool:
        def told(columns: Sequence[Codes]) -> list[Codes]:
            return [values for codes in columns if len(values := codes[rows][codes[rows] >= 0]) > 1]

        if any(len(np.unique(values)) > 1 for values in told(self.compared.names)):
            return False
        figures = told(self.compared.figures)
        contradict = any(len(np.unique(values)) > 1 for values in figures)
        return contradict or (
            len(np.unique(self.readings[rows])) > 1 and bool(figures or told(self.compared.names))
        )


def _split(rows: Codes, groups: Codes) -> list[Codes]:
    """Returns rows by their group."""
    order, starts = sorted_groups(groups[rows])
    return np.split(rows[order], starts[1:]) if len(rows) else []


def _ways(rows: Codes, told: Flags) -> list[Codes]:
    """Returns rows by the columns that they fill, the commonest pattern first."""
    way = np.full(len(told), -1, np.int64)
    way[rows] = np.unique(told[rows], axis=0, return_inverse=True)[1].reshape(-1)
    return sorted(_split(rows, way), key=lambda own: -len(own))[:_MOST_WAYS]
