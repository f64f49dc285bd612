"""Canonical names of a table's text columns: by rule, by the rows' evidence, and in the open band by the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sliders.extraction.cell import Scalar
from sliders.reconcile.canonical import Links, link_by_rule, recoded, representatives
from sliders.reconcile.collector import paused
from sliders.reconcile.column_codes import Codes, ColumnProfile, Encoded
from sliders.reconcile.decider import Memory
from sliders.reconcile.guard import Outcome
from sliders.reconcile.relation import MemoryRelation
from sliders.reconcile.repairs import Case, Choice, Group, Options, Repair
from sliders.reconcile.showing import notes_of, plain
from sliders.reconcile.statements import copy_sql
from sliders.reconcile.variants import RowEvidence, VariantPair, related, several_forms, variant_pairs
from sliders.schema.grain import called_as_row
from sliders.schema.types import ColumnType, Table
from sliders.values.fold import legal_form

_RESPELLED = "the same words, but for case or white space"
_FORMS = 6  # forms of one name that a model is shown together
_ROWS = 3  # rows of a form that a model is shown


@dataclass(slots=True)
class Naming:
    """Columns after canonicalization: their codes are those of names; `renamed` are those where forms were joined."""

    encoded: list[Encoded]
    renamed: set[str] = field(default_factory=set)
    repairs: list[Repair] = field(default_factory=list)
    decisions: list[Choice] = field(default_factory=list)


async def name_columns(
    table: Table, relation: MemoryRelation, encoded: Sequence[Encoded], profiles: Sequence[ColumnProfile], options: Options,
    memory: Memory,
) -> Naming:
    """Join the forms of one name in every text column that can name a thing."""
    naming = Naming(list(encoded))
    for place, (column, profile) in enumerate(zip(table.columns, profiles, strict=True)):
        if column.type not in (ColumnType.TEXT, ColumnType.CATEGORY) or not profile.identifying:
            continue
        forms = _Forms(table, relation, place, options, memory, naming)
        with paused():
            links = Links(len(forms.examples))
            link_by_rule(forms.examples, links, options.normalize, column.name)
            band: list[VariantPair] = []
            if column.type is ColumnType.TEXT:
                evidence = RowEvidence(encoded[place].codes, _others(place, encoded, profiles))
                named = column.name in table.key or column == called_as_row(table)
                band = _link_by_evidence(forms.examples, links, evidence, memory.writes_programs, named)
            owner = forms.join(links)
        if band:
            await forms.ask(band, owner)
    return naming


def _others(place: int, encoded: Sequence[Encoded], profiles: Sequence[ColumnProfile]) -> list[tuple[Codes, float]]:
    """The other columns with the chance that two different rows agree: in a short table a row with itself counts much."""
    found = []
    for n, (coded, profile) in enumerate(zip(encoded, profiles, strict=True)):
        filled = int((coded.codes >= 0).sum())
        if n != place and not profile.prose and filled > 1:
            found.append((coded.codes, (profile.chance * filled - 1) / (filled - 1)))
    return found


def _link_by_evidence(
    examples: Sequence[Scalar], links: Links, evidence: RowEvidence, judged: bool, named: bool
) -> list[VariantPair]:
    """Join what the rows speak for; returns the open band. Clusters join only if no pair of their forms is refuted.

    Where a reader can judge (`judged`), a short form is left to it: the longer one may be a part of the thing, and in a column
    that names no row (`named`) the opposite. So is a name that lacks the legal form of another, where the rows do not agree.
    """
    members: dict[int, list[int]] = {}
    band = []
    for pair in variant_pairs(examples):
        left, right = links.find(pair.left), links.find(pair.right)
        if left == right:
            continue
        verdict = evidence.supports(pair.left, pair.right, pair.dotted)
        if (pair.kind == "short form" and (judged or not named) and verdict) or (
            pair.kind == "legal form" and (pair.ambiguous or (judged and not verdict))
        ):
            verdict = None
        if verdict is None:
            band.append(pair)
        if not verdict:
            continue
        sides = members.setdefault(left, [pair.left]), members.setdefault(right, [pair.right])
        apart = several_forms(legal_form(str(examples[code])) for side in sides for code in side)
        if apart or any(evidence.supports(a, b) is False for a in sides[0] for b in sides[1]):
            continue
        links.join(pair.left, pair.right, f"{pair.kind}; their rows agree and no more contradicts")
        members[links.find(left)] = sides[0] + sides[1]
    return [pair for pair in band if links.find(pair.left) != links.find(pair.right)]


class _Forms:
    """The forms of one column's values, and which of them are one name."""

    def __init__(
        self, table: Table, relation: MemoryRelation, place: int, options: Options, memory: Memory, naming: Naming
    ) -> None:
        self.table, self.ids, self.relation, self.place = table, relation.row_ids, relation, place
        self.options, self.memory, self.naming = options, memory, naming
        self.name = table.columns[place].name
        self.examples = naming.encoded[place].examples
        self.rows: dict[int, list[int]] = {}

    @property
    def codes(self) -> list[int]:
        """The code of each row's name."""
        codes: list[int] = self.naming.encoded[self.place].codes.tolist()
        return codes

    def join(self, links: Links) -> dict[int, int]:
        """Give every form that is linked its canonical one, by code."""
        encoded = self.naming.encoded[self.place]
        owner = representatives(encoded, links, self.options.normalize, self.name)
        reasons = {owner.get(c, c): _RESPELLED for c in encoded.respelled}
        reasons |= {kept: links.reason(links.find(code)) for code, kept in owner.items()}
        if not reasons:
            return {}
        self._recode(owner)
        values = self.relation.column(self.name)
        rows: dict[int, list[int]] = {code: [] for code in reasons}
        for index, code in enumerate(self.codes):
            if code in rows:
                rows[code].append(index)
        for code, members in rows.items():
            canonical = self.examples[code]
            if changed := [self.ids[i] for i in members if values[i] != canonical]:
                source = self.ids[next(i for i in members if values[i] == canonical)]
                before = tuple(dict.fromkeys(values[i] for i in members))
                self._record([self.ids[i] for i in members], before, canonical, source, changed, reasons[code])
        return owner

    def _recode(self, owner: Mapping[int, int]) -> None:
        """Put the codes of joined forms in place."""
        encoded = self.naming.encoded[self.place]
        self.naming.encoded[self.place] = Encoded(recoded(encoded.codes, owner, len(self.examples)), self.examples)
        self.naming.renamed.add(self.name)

    def _record(
        self, ids: Sequence[str], before: tuple[Scalar, ...], canonical: Scalar, source: str, changed: Sequence[str], reason: str
    ) -> None:
        statement = copy_sql(self.options.sql_name(self.name), source, changed)
        self.naming.repairs.append(Repair("canonicalize", tuple(ids), self.name, before, canonical, (statement,), reason))

    def _decided(self, verdict: str, reason: str) -> None:
        self.naming.decisions.append(Choice(f"{self.table.name}.{self.name}", verdict, reason))

    async def ask(self, band: Sequence[VariantPair], owner: Mapping[int, int]) -> None:
        """Decide on forms that only a reader of their rows can tell to be one name or two; what nobody decides stays apart."""
        pairs = dict.fromkeys((owner.get(p.left, p.left), owner.get(p.right, p.right)) for p in self._clear(band))
        groups = self._groups([pair for pair in pairs if pair[0] != pair[1]])
        wanted = {code for group in groups for code in group}
        for index, code in enumerate(self.codes):
            if code in wanted:
                self.rows.setdefault(code, []).append(index)
        size = len(self.ids)
        most = size if self.memory.writes_programs else max(1, size // 4)  # where each is a call of its own, one for four rows
        outcomes = await self.memory.decide([self._case(group) for group in groups], most)
        self._carry_out([(g, outcome) for g, outcome in zip(groups, outcomes, strict=True) if outcome is not None])
        if left := [g for g, outcome in zip(groups, outcomes, strict=True) if outcome is None]:
            forms = " and ".join(repr(self.examples[c]) for c in left[-1])
            why = f"nothing in their rows tells, and no model was asked; for one, {forms}"
            self._decided(f"{len(left)} groups of names left apart", why)

    def _clear(self, band: Sequence[VariantPair]) -> list[VariantPair]:
        """Without forms that could stand for several names: a model that reads the rows may tell, one that picks would guess."""
        if self.memory.writes_programs:
            return list(band)
        for pair in (p for p in band if p.ambiguous):
            told = f"{self.examples[pair.left]!r} and {self.examples[pair.right]!r}: two names"
            self._decided(told, "the shorter form could stand for several names")
        return [pair for pair in band if not pair.ambiguous]

    def _groups(self, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
        """Forms to decide on together: chains of pairs whose forms could all be one name; pairs for a model that compares."""
        if not self.memory.writes_programs:
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
        return all(related(self.examples[a], self.examples[b]) for n, a in enumerate(codes) for b in codes[:n])

    def _case(self, group: Sequence[int]) -> Case:
        """The rows that carry the forms, a few of each."""
        chosen = [(code, index) for code in group for index in self.rows[code][:_ROWS]]
        names = self.table.column_names
        columns = [self.relation.column(n) for n in names]
        values = {self.ids[i]: tuple(self.examples[c] if n == self.place else plain(column[i])
                                     for n, column in enumerate(columns)) for c, i in chosen}  # fmt: skip
        notes = {self.ids[i]: notes_of(self.relation, i, [self.name], names) for _, i in chosen}
        choices = tuple(tuple(self.ids[i] for c, i in chosen if c == code) for code in group)
        sql = tuple(map(self.options.sql_name, names))
        shown = Group(sql, values, tuple(c.type.sql for c in self.table.columns))
        return Case("names", shown, (sql[self.place],), notes, choices)

    def _carry_out(self, outcomes: Sequence[tuple[tuple[int, ...], Outcome]]) -> None:
        """All rows of a form take the form that its program left."""
        owner: dict[int, int] = {}
        members: dict[int, list[int]] = {}
        for group, outcome in outcomes:
            told = " and ".join(repr(self.examples[c]) for c in group)
            if outcome.verdict != "repaired":
                self._decided(f"{told}: {'two names' if outcome.verdict == 'apart' else 'left open'}", outcome.reason)
                continue
            left = {row[self.place] for row in outcome.steps[-1].after.rows.values()}
            joined = [c for root in {owner.get(c, c) for c in group} for c in members.get(root, [root])]
            kept = next((c for c in group if self.examples[c] in left), None)
            if kept is None or not self._all_related(joined):
                self._decided(f"{told}: two names", "they would chain two names")
                continue
            kept = owner.get(kept, kept)
            owner |= dict.fromkeys(joined, kept)
            members[kept] = joined
            self._record_programs(group, kept, outcome)
        if owner:
            self._recode(owner)

    def _record_programs(self, group: Sequence[int], kept: int, outcome: Outcome) -> None:
        before, canonical = tuple(self.examples[c] for c in group), self.examples[kept]
        for step in outcome.steps:
            told = f"the model: {step.program.reason}"
            self.naming.repairs.append(Repair("canonicalize", step.rows, self.name, before, canonical, step.program.statements,
                                              told, "model", scoped=True))  # fmt: skip
        shown = outcome.steps[-1].rows
        if others := [self.ids[i] for i in sorted(i for code in group for i in self.rows[code]) if self.ids[i] not in shown]:
            reason = f"rows that print a form that was joined: {outcome.reason}"
            self._record(others, before, canonical, shown[0], others, reason)
