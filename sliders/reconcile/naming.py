"""Names in a table's text columns: the printed forms that are one name, who decided it, and the
names on which nobody decided.

Code alone joins forms that differ in case, white space or Unicode form. The user's hints and
people's decisions join and part names. Words, similarity and the rows' evidence only suggest pairs.
A model that reads the rows decides on these; the choice of a model that only picks, and pairs
without a decision, stay in doubt. The printed column keeps the words of the documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from sliders.extraction.cell import Scalar
from sliders.progress import counted
from sliders.reconcile.column_codes import Codes, ColumnTraits, Encoded
from sliders.reconcile.decider import Memory
from sliders.reconcile.forms import Forms
from sliders.reconcile.garbage_pause import paused
from sliders.reconcile.guard import Outcome
from sliders.reconcile.keys import agreement
from sliders.reconcile.relation import MemoryRelation
from sliders.reconcile.repairs import Case, Choice, Group, Options, Repair
from sliders.reconcile.shown_rows import notes_of, plain
from sliders.reconcile.variants import (
    SAME_WORDS,
    RowEvidence,
    VariantPair,
    related,
    several_forms,
    variant_pairs,
)
from sliders.schema.row_names import called_as_row
from sliders.schema.types import Column, ColumnType, Table
from sliders.store.facts import OpenNames
from sliders.values.expected import TEXTUAL
from sliders.values.folding import legal_form

_FORMS = 6  # forms of one name that a model is shown together
_ROWS = 3  # rows of a form that a model is shown
_OF_THE_NAME = 0.5  # agreement among rows of one name that makes a column a property of names


@dataclass(slots=True)
class Naming:
    """The columns after naming. Their codes stand for certain names; `likely` has the columns in
    which the rows support further names. `names` gives the certain canonical form by column and
    printed form.
    """

    encoded: list[Encoded]
    likely: dict[str, Encoded] = field(default_factory=dict)
    names: dict[str, Mapping[Scalar, Scalar]] = field(default_factory=dict)
    repairs: list[Repair] = field(default_factory=list)
    open_names: list[OpenNames] = field(default_factory=list)
    decisions: list[Choice] = field(default_factory=list)


async def name_columns(
    table: Table,
    relation: MemoryRelation,
    encoded: Sequence[Encoded],
    profiles: Sequence[ColumnTraits],
    options: Options,
    memory: Memory,
) -> Naming:
    """Finds the forms of one name in every text column that can name a thing. Groups of several
    columns share the calls of a model that writes programs.
    """
    naming, columns = Naming(list(encoded)), list[_NameColumn]()
    with paused():
        for place, (column, profile) in enumerate(zip(table.columns, profiles, strict=True)):
            if column.type in TEXTUAL and profile.identifying:
                forms = Forms(column, encoded[place], options, _names_rows(table, column))
                found = _NameColumn(table, relation, place, forms, options, memory)
                found.suggest(encoded, profiles)
                columns.append(found)
    if memory.writes_programs:
        outcomes = iter(await memory.decide([case for found in columns for case in found.cases]))
    for found in columns:
        if found.cases and memory.writes_programs:
            found.take(list(islice(outcomes, len(found.cases))))
        elif found.cases:
            most = max(
                1, len(relation.row_ids) // 4
            )  # each is a call of its own: one for four rows
            found.take(await memory.decide(found.cases, most))
        with paused():
            found.tell(naming)
    return naming


def _names_rows(table: Table, column: Column) -> bool:
    return column.name in table.key or column == called_as_row(table)


def _others(
    place: int, encoded: Sequence[Encoded], profiles: Sequence[ColumnTraits]
) -> list[tuple[Codes, float]]:
    """Returns the columns that tell names apart, each with the chance that two different rows agree
    in it. Columns that differ among rows of one name, such as the amount of an order, tell nothing
    and are left out.
    """
    found = []
    for n, (coded, profile) in enumerate(zip(encoded, profiles, strict=True)):
        filled = int((coded.codes >= 0).sum())
        if n == place or profile.prose or filled <= 1:
            continue
        codes = coded.agreeing
        inside = agreement([(codes, 0.0)], encoded[place].codes)
        if not inside.comparisons or inside.kappa >= _OF_THE_NAME:
            found.append((codes, (profile.chance * filled - 1) / (filled - 1)))
    return found


class _NameColumn:
    """The suggested pairs of names in one column, and the decisions on them."""

    def __init__(
        self,
        table: Table,
        relation: MemoryRelation,
        place: int,
        forms: Forms,
        options: Options,
        memory: Memory,
    ) -> None:
        self._table, self._relation, self._place = table, relation, place
        self._forms, self._options, self._memory = forms, options, memory
        self._name, self._ids = table.columns[place].name, relation.row_ids
        self._rows: dict[int, list[int]] = {}
        self._asked: list[tuple[int, ...]] = []
        self.cases: list[Case] = []
        self.open_names: list[OpenNames] = []
        self.decisions: list[Choice] = []

    def suggest(self, encoded: Sequence[Encoded], profiles: Sequence[ColumnTraits]) -> None:
        """Finds the groups of forms to decide on, and makes their cases."""
        if self._table.columns[self._place].type is not ColumnType.TEXT:
            return
        pairs = {
            (self._forms.certain_of(pair.left), self._forms.certain_of(pair.right)): None
            for pair in self._suggested(encoded, profiles)
        }
        self._asked = self._groups(
            [(a, b) for a, b in pairs if a != b and not self._forms.settled(a, b)]
        )
        wanted = {code for group in self._asked for code in group}
        for index, code in enumerate(self._forms.certain().codes.tolist()):
            if code in wanted:
                self._rows.setdefault(code, []).append(index)
        self.cases = [self._case(group) for group in self._asked]

    def tell(self, naming: Naming) -> None:
        """Adds what was found and decided."""
        forms = self._forms
        naming.repairs += forms.repairs(self._relation)
        naming.open_names += self.open_names
        naming.decisions += self.decisions
        naming.encoded[self._place] = forms.certain()
        if likely := forms.likely():
            naming.likely[self._name] = likely
        if names := forms.names():
            naming.names[self._name] = names

    def _suggested(
        self, encoded: Sequence[Encoded], profiles: Sequence[ColumnTraits]
    ) -> list[VariantPair]:
        """Returns the pairs to decide on: the pairs that the rows do not contradict.

        A model that does not read rows is asked only about pairs for which the rows are no
        evidence; names whose rows agree are shown as one, in doubt.
        """
        examples = self._forms.examples
        evidence = RowEvidence(encoded[self._place].codes, _others(self._place, encoded, profiles))
        picks = self._memory.model is not None and not self._memory.writes_programs
        column = self._table.columns[self._place]
        named = _names_rows(self._table, column)
        alone = self._table.key == (column.name,) or (not self._table.key and named)
        band: list[VariantPair] = []
        supported: list[VariantPair] = []
        for pair in variant_pairs(examples, asking=self._memory.model is not None and not picks):
            verdict = evidence.supports(pair.left, pair.right, pair.dotted)
            if self._forms.settled(pair.left, pair.right) or (
                alone and verdict is False and pair.kind not in SAME_WORDS
            ):
                continue
            agrees = pair.kind in SAME_WORDS or (
                verdict and not pair.ambiguous and (named or pair.kind != "short form")
            )
            (supported if picks and agrees else band).append(pair)
        for pair in supported:
            self._show_as_one(pair, evidence)
        return self._clear(band) if picks else band

    def _show_as_one(self, pair: VariantPair, evidence: RowEvidence) -> None:
        """Shows two forms as one name, unless forms that are already shown with them are different
        names by their rows or legal forms.
        """
        examples, sides = (
            self._forms.examples,
            [self._forms.shown_with(code) for code in (pair.left, pair.right)],
        )
        apart = several_forms(legal_form(str(examples[code])) for side in sides for code in side)
        refuted = (
            any(evidence.supports(a, b) is False for a in sides[0] for b in sides[1])
            and pair.kind not in SAME_WORDS
        )
        why = (
            "the same words"
            if pair.kind in SAME_WORDS
            else "their rows agree and no more contradicts"
        )
        self._leave(
            (pair.left, pair.right), f"{pair.kind}; {why}", joined=not apart and not refuted
        )

    def _leave(
        self, codes: Sequence[int], reason: str, joined: bool = False, by_model: bool = False
    ) -> None:
        """Leaves forms open. With `joined`, they are shown as one name all the same."""
        self.open_names.append(
            OpenNames(self._name, tuple(map(self._forms.printed, codes)), reason, joined)
        )
        if joined:
            self._forms.show_together(codes, reason, by_model)

    def _clear(self, band: Sequence[VariantPair]) -> list[VariantPair]:
        """Returns the pairs without forms that could stand for several names, on which a model that
        only picks would guess.
        """
        for pair in (p for p in band if p.ambiguous):
            self._decided(
                (pair.left, pair.right),
                "two names",
                "the shorter form could stand for several names",
            )
        return [pair for pair in band if not pair.ambiguous]

    def _decided(self, codes: Sequence[int], verdict: str, reason: str) -> None:
        told = " and ".join(repr(self._forms.examples[c]) for c in codes)
        self.decisions.append(Choice("column", f"{told}: {verdict}", reason, self._name))

    def take(self, outcomes: Sequence[Outcome | None]) -> None:
        """Carries out what was decided. Forms that nobody decided on stay apart, and open."""
        left = 0
        for group, outcome in zip(self._asked, outcomes, strict=True):
            left += outcome is None
            if outcome is None:
                self._leave(group, "nothing in their rows tells, and no model was asked")
            else:
                self._carry_out(group, outcome)
        if left:
            self.decisions.append(
                Choice(
                    "column",
                    counted(left, "group of names left open", "groups of names left open"),
                    "nothing in their rows tells, and no model was asked",
                    self._name,
                )
            )

    def _groups(self, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
        """Returns the forms to decide on together: chains of pairs whose forms could all be one
        name, or single pairs for a model that compares two.
        """
        if not self._memory.writes_programs:
            return list(pairs)
        home: dict[int, tuple[int, ...]] = {}
        for left, right in pairs:
            together = tuple(dict.fromkeys((*home.get(left, (left,)), *home.get(right, (right,)))))
            if len(together) <= _FORMS and self._all_related(together):
                home |= dict.fromkeys(together, together)
            elif left not in home or right not in home:
                home.setdefault(left, (left, right))
                home.setdefault(right, (left, right))
        return list(dict.fromkeys(home.values()))

    def _all_related(self, codes: Sequence[int]) -> bool:
        examples = self._forms.examples
        return all(
            related(examples[a], examples[b]) for n, a in enumerate(codes) for b in codes[:n]
        )

    def _case(self, group: Sequence[int]) -> Case:
        """Returns the case with the rows that carry the forms, a few of each."""
        chosen = [(code, index) for code in group for index in self._rows[code][:_ROWS]]
        names = self._table.column_names
        columns = [self._relation.column(n) for n in names]
        values = {
            self._ids[i]: tuple(
                self._forms.examples[c] if n == self._place else plain(column[i])
                for n, column in enumerate(columns)
            )
            for c, i in chosen
        }
        notes = {self._ids[i]: notes_of(self._relation, i, [self._name], names) for _, i in chosen}
        choices = tuple(tuple(self._ids[i] for c, i in chosen if c == code) for code in group)
        sql = tuple(map(self._options.sql_name, names))
        shown = Group(sql, values, tuple(c.type.sql for c in self._table.columns))
        return Case("names", shown, (sql[self._place],), notes, choices)

    def _carry_out(self, group: Sequence[int], outcome: Outcome) -> None:
        """Carries out the decision of a model: forms whose rows got one form are one name, all
        other forms of the group are different names.
        """
        if outcome.verdict != "repaired":
            apart = outcome.verdict == "apart"
            self._decided(group, "two names" if apart else "left open", outcome.reason)
            if not apart:
                self._leave(group, outcome.reason)
            return
        kept = self._kept(group, outcome)
        for code in dict.fromkeys(kept.values()):
            together = [member for member in group if kept.get(member) == code]
            if not self._memory.writes_programs:
                self._leave(
                    together, f"the model that picks: {outcome.reason}", joined=True, by_model=True
                )
            elif len(together) > 1 and not self._forms.join(
                together, code, outcome.reason, self._all_related
            ):
                self._decided(together, "left open", "they would chain two names")
                self._leave(together, "they would chain two names")
        if len(set(kept.values())) > 1:
            self._decided(tuple(dict.fromkeys(kept.values())), "two names", outcome.reason)
        if unclear := [code for code in group if code not in kept]:
            self._leave(group, f"its rows got several names: {self._forms.examples[unclear[0]]!r}")

    def _kept(self, group: Sequence[int], outcome: Outcome) -> dict[int, int]:
        """Returns the form that stands for each form of a group, by code; forms whose rows got
        several are left out.
        """
        after = outcome.steps[-1].after.rows
        by_form = {self._forms.examples[code]: code for code in group}
        kept: dict[int, int] = {}
        for code in group:
            left = {
                by_form[after[self._ids[i]][self._place]]
                for i in self._rows[code][:_ROWS]
                if self._ids[i] in after
            }
            if len(left) == 1:
                kept[code] = left.pop()
        return kept
