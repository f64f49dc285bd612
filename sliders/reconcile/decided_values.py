"""Values that people decided: the rows of a table that they apply to, and the repairs that set
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sliders.extraction.cell import Scalar
from sliders.reconcile.column_codes import Encoded, comparison_form
from sliders.reconcile.human_corrections import matching_rows
from sliders.reconcile.merge import Cluster, Dispute, Frame, Part
from sliders.reconcile.recording import corrected
from sliders.reconcile.repairs import DecidedCorrection, Options, Repair
from sliders.reconcile.settling import Ruling


@dataclass(frozen=True, slots=True)
class DecidedValues:
    """The decided values of one table. `printed` are its columns as read, `shown` as the table
    shows them, `sources` the documents of its rows.
    """

    frame: Frame
    options: Options
    printed: Sequence[Encoded]
    shown: Sequence[Encoded]
    sources: Sequence[Encoded]

    @property
    def _corrections(self) -> list[DecidedCorrection]:
        return [c for c in self.options.corrections if c.kind == "set_value"]

    def rule(self, clusters: Sequence[Cluster]) -> None:
        """Settles a contradiction when people's decisions leave only one of its sides. That value
        is set when the rows are one thing.
        """
        says: dict[int, dict[int, Scalar]] = {}
        for correction in self._corrections:
            place = self.frame.names.index(correction.column)
            decided = comparison_form(correction.value)
            named = [(condition[0], self._named(condition)) for condition in correction.where]
            for cluster, dispute in _disputes_of(clusters, place):
                forms = [comparison_form(side.value) for side in dispute.sides]
                sides = zip(forms, dispute.sides, strict=True)
                read = {row: form for form, side in sides for row in side.rows}
                said = says.setdefault(id(dispute), read)
                said |= dict.fromkeys(said.keys() & self._in_cluster(named, cluster), decided)
                if set(said.values()) == {decided}:
                    side = forms.index(decided) if decided in forms else 0
                    dispute.ruling = Ruling(side, "correct", correction.reason)
                    dispute.by_code = True

    def repairs(self, parts: Sequence[Part], made: Sequence[Repair]) -> list[Repair]:
        """Returns the repairs that set decided values. A row is set when its sources fulfil every
        condition of the decision.

        Args:
            parts: the rows that are left, each with the rows that were merged into it.
            made: the repairs before these.
        """
        if not self._corrections:
            return []
        found: list[Repair] = []
        home = {row: part for part in parts for row in part}
        numbers = {row: n for n, row in enumerate(self.frame.relation.row_ids)}
        for correction in self._corrections:
            before = (*made, *found)
            reached = (self._reached(condition, numbers, before) for condition in correction.where)
            standing = ({home.get(row, (row,)) for row in rows} for rows in reached)
            found += [
                corrected(self.frame, correction, sorted(part), part[0], self.options)
                for part in sorted(set.intersection(*standing), key=min)
            ]
        return found

    def _named(self, condition: tuple[str, Scalar]) -> set[int]:
        """Returns the rows that fulfil a condition, by their printed values or by the names and
        keys that the table shows.
        """
        columns = zip(self.shown, self.frame.codes, strict=True)
        shown = [replace(coded, codes=codes) for coded, codes in columns]
        readings = ([*self.printed, *self.sources], [*shown, *self.sources])
        return set(matching_rows([condition], self.frame.names, *readings).tolist())

    def _in_cluster(self, named: Sequence[tuple[str, set[int]]], cluster: Cluster) -> set[int]:
        """Returns the rows of a cluster that fulfil all conditions. A column without a dispute
        holds for the whole cluster when one row has the value.
        """
        disputed = {self.frame.names[d.column] for d in cluster.disputes}
        rows = set(cluster.rows)
        for column, some in named:
            if column in disputed or cluster.doubtful or some.isdisjoint(cluster.rows):
                rows &= some
        return rows

    def _reached(
        self, condition: tuple[str, Scalar], numbers: Mapping[str, int], repairs: Sequence[Repair]
    ) -> set[int]:
        """Returns the rows that fulfil a condition by their printed values, or by the value that a
        repair gave them.
        """
        column, value = condition
        wanted = comparison_form(value)
        reached = self._named(condition)
        for repair in repairs if wanted is not None else ():
            if repair.column == column and comparison_form(repair.after) == wanted:
                reached.update(numbers[row] for row in repair.rows)
        return reached


def _disputes_of(clusters: Sequence[Cluster], column: int) -> Iterator[tuple[Cluster, Dispute]]:
    """Yields the contradictions of one column, each with its cluster."""
    return ((c, d) for c in clusters for d in c.disputes if d.column == column)
