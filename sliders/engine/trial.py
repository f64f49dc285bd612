"""Trials: an answer's statement runs again over a copy of its tables, with other values in doubtful
cells.

A *state* is a set of cells with other values; a *variation* is a doubt about a cell, row or name,
with its possible states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from shlex import quote

from sliders.answer.doubts import Doubt, Rows, change_size, effect_words
from sliders.answer.figures import Number
from sliders.answer.findings import tied_rows
from sliders.answer.range import KINDS, Kind, State, Variation, bundled, doubts_counted, number_in
from sliders.answer.result import SqlAnswer
from sliders.extraction.cell import Scalar
from sliders.progress import counted
from sliders.sql.statement import parse_select, without_limit
from sliders.store.copied_tables import CopiedTables, TrialChange

MOST_VARIATIONS = 300
_ROWS_READ = 3_000_000
"""The most rows that all trials together read; large tables are tried in larger bundles of
variations.
"""


class Trial:
    """An answer's statement over a copy of its tables. Each state is run once."""

    def __init__(self, sandbox: CopiedTables, found: SqlAnswer) -> None:
        self.sandbox, self.found, self.sql = sandbox, found, found.sql
        self._known: dict[tuple[object, ...], Rows] = {}
        self.most = max(10, min(MOST_VARIATIONS, _ROWS_READ // (4 * max(1, sandbox.rows))))

    def rows(self, state: State = ()) -> Rows:
        """Returns the rows of the statement in a state."""
        key = tuple(state)
        if key not in self._known:
            with self.sandbox.changed(_changes(key)):
                self._known[key] = self.sandbox.run(self.sql).rows
        return self._known[key]

    def number(self, state: State) -> Number | None:
        """Returns the number that the statement gives in a state; None when it gives no single
        number.
        """
        return number_in(self.rows(state))

    def doubts(self, every: Sequence[Variation]) -> list[Doubt]:
        """Returns the doubts that change the answer, those that change most first."""
        sized = [
            one
            for kind in KINDS
            for one in self._of_kind(kind, [v for v in every if v.kind == kind and v.warns])
        ]
        sized.sort(key=lambda one: -one[0])
        return [*(doubt for _, doubt in sized), *self._tie()]

    def _of_kind(self, kind: Kind, variations: Sequence[Variation]) -> list[tuple[float, Doubt]]:
        """Returns the doubts of a kind that change the rows, each alone; when none does alone, all
        of them as one doubt.
        """
        alone = [
            one
            for v in bundled(variations, self.most)
            if (one := self._doubt(v, v.options)) is not None
        ]
        if alone or len(variations) < 2:
            return alone
        together = tuple(cell for v in variations if v.options for cell in v.options[0])
        thing = (
            f"{doubts_counted(kind, len(variations))} together: {variations[0].thing} and others"
        )
        several = replace(variations[0], thing=thing)
        found = self._doubt(several, [together])
        return [] if found is None else [found]

    def _doubt(self, variation: Variation, options: Sequence[State]) -> tuple[float, Doubt] | None:
        before = self.rows()
        others = [
            rows for option in options if Counter(rows := self.rows(option)) != Counter(before)
        ]
        if not others:
            return None
        effect = effect_words(before, others)
        return change_size(before, others), Doubt(
            variation.kind, variation.thing, variation.place, effect, variation.command
        )

    def inexact(self, variations: Sequence[Variation]) -> Iterator[Doubt]:
        """Yields doubts for the estimates and open bounds behind the rows of the answer; their
        words give no other value.
        """
        for one in bundled(variations, self.most):
            if any(Counter(self.rows(option)) != Counter(self.rows()) for option in one.options):
                yield Doubt(
                    "value",
                    one.thing,
                    one.place,
                    "the answer is no more exact than that",
                    one.command,
                )

    def tied(self) -> list[tuple[object, ...]]:
        """Returns the rows that are tied with the last row that a LIMIT shows."""
        return tied_rows(parse_select(self.sql), self.found.rows, self.sandbox.run)

    def _tie(self) -> Iterator[Doubt]:
        shown = self.found.rows
        others = [row for row in self.tied() if row not in shown]
        if others:
            effect = effect_words(shown, [(*shown[:-1], row) for row in others])
            tied = counted(len(others), "row that is", "rows that are")
            command = f"sliders query {quote(without_limit(self.sql))}"
            yield Doubt("choice", f"{tied} tied with the last one shown", "", effect, command)


def _changes(state: State) -> Iterator[TrialChange]:
    rows: dict[tuple[str, str], dict[str, Scalar]] = {}
    for place, value in state:
        rows.setdefault((place.relation, place.row_id), {})[place.column] = value
    return (
        TrialChange(name, row_id, None if "" in values else values)
        for (name, row_id), values in rows.items()
    )
