"""Canonical names of a table's text columns: by rule, by the rows' evidence, and in the open band by the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sliders.extraction.cell import Scalar
from sliders.llm.model import Model
from sliders.reconcile.agent import Brief, Outcome, repair_cases
from sliders.reconcile.canonical import Links, link_by_rule, recoded, representatives
from sliders.reconcile.collector import paused
from sliders.reconcile.memory import Memory
from sliders.reconcile.profile import Codes, ColumnProfile, Encoded
from sliders.reconcile.relation import MemoryRelation
from sliders.reconcile.showing import notes_of
from sliders.reconcile.statements import copy_sql
from sliders.reconcile.values import Case, Choice, Group, Options, Repair
from sliders.reconcile.variants import RowEvidence, VariantPair, related, variant_pairs
from sliders.schema.types import ColumnType, Table

_RESPELLED = "the same words, but for case or white space"
_FORMS = 6  # forms of one name that a model is shown together
_ROWS = 3  # rows of a form that a model is shown


@dataclass(slots=True)
class Naming:
    """Columns after canonicalization: codes are those of clusters; `forms` holds each row's canonical form by column."""

    encoded: list[Encoded]
    forms: dict[str, list[Scalar]] = field(default_factory=dict)
    repairs: list[Repair] = field(default_factory=list)
    decisions: list[Choice] = field(default_factory=list)
    calls: int = 0
    asked: int = 0
    """Groups of forms that the model was asked about."""


async def name_columns(
    table: Table,
    relation: MemoryRelation,
    encoded: Sequence[Encoded],
    profiles: Sequence[ColumnProfile],
    options: Options,
    model: Model | None,
    memory: Memory,
    brief: Brief,
) -> Naming:
    """Join the forms of one name in every text column that can name a thing."""
    naming = Naming(list(encoded))
    for place, (column, profile) in enumerate(zip(table.columns, profiles, strict=True)):
        if column.type not in (ColumnType.TEXT, ColumnType.CATEGORY) or not profile.identifying:
            continue
        examples = encoded[place].examples
        links = Links(len(examples))
        link_by_rule(examples, links, options.normalize, column.name)
        band: list[VariantPair] = []
        with paused():
            if column.type is ColumnType.TEXT:
                evidence = RowEvidence(encoded[place].codes, _others(place, encoded, profiles))
                band = _link_by_evidence(examples, links, evidence)
            owner = _apply(relation, place, column.name, links, options, naming)
        if band:
            await _Forms(table, relation, place, options, model, memory, brief, naming).ask(band, owner)
    return naming


def _others(place: int, encoded: Sequence[Encoded], profiles: Sequence[ColumnProfile]) -> list[tuple[Codes, float]]:
    """The other columns with the chance that two different rows agree: in a short table a row with itself counts much."""
    found = []
    for n, (coded, profile) in enumerate(zip(encoded, profiles, strict=True)):
        filled = int((coded.codes >= 0).sum())
        if n != place and not profile.prose and filled > 1:
            found.append((coded.codes, (profile.chance * filled - 1) / (filled - 1)))
    return found


def _link_by_evidence(examples: Sequence[Scalar], links: Links, evidence: RowEvidence) -> list[VariantPair]:
    """Join what the rows speak for; returns the open band. Clusters join only if no pair of their forms is refuted."""
    members: dict[int, list[int]] = {}
    band = []
    for pair in variant_pairs(examples):
        left, right = links.find(pair.left), links.find(pair.right)
        if left == right:
            continue
        verdict = evidence.supports(pair.left, pair.right, pair.dotted)
        if verdict is None:
            band.append(pair)
        if not verdict:
            continue
        sides = members.setdefault(left, [pair.left]), members.setdefault(right, [pair.right])
        if any(evidence.supports(a, b) is False for a in sides[0] for b in sides[1]):
            continue
        links.join(pair.left, pair.right, f"{pair.kind}; their rows agree and no more contradicts")
        members[links.find(left)] = sides[0] + sides[1]
    return [pair for pair in band if links.find(pair.left) != links.find(pair.right)]


def _apply(relation: MemoryRelation, place: int, name: str, links: Links, options: Options, naming: Naming) -> dict[int, int]:
    """Give every form that was joined its canonical one, by code."""
    encoded = naming.encoded[place]
    owner = representatives(encoded, links, options.normalize, name)
    reasons = {owner.get(c, c): _RESPELLED for c in encoded.respelled}
    reasons |= {kept: links.reason(links.find(code)) for code, kept in owner.items()}
    if not reasons:
        return {}
    codes = _recode(naming, place, name, owner)
    values = relation.column(name)
    rows: dict[int, list[int]] = {code: [] for code in reasons}
    for index, code in enumerate(codes):
        if code in rows:
            rows[code].append(index)
    for code, members in rows.items():
        canonical = encoded.examples[code]
        changed = [i for i in members if values[i] != canonical]
        if not changed:
            continue
        source = relation.row_ids[next(i for i in members if values[i] == canonical)]
        ids = tuple(relation.row_ids[i] for i in members)
        before = tuple(dict.fromkeys(values[i] for i in members))
        statement = copy_sql(options.sql_name(name), source, [relation.row_ids[i] for i in changed])
        naming.repairs.append(Repair("canonicalize", ids, name, before, canonical, (statement,), reasons[code]))
    return owner


def _recode(naming: Naming, place: int, name: str, owner: Mapping[int, int]) -> list[int]:
    """Put the codes of joined forms in place; the column's codes."""
    examples = naming.encoded[place].examples
    naming.encoded[place] = Encoded(recoded(naming.encoded[place].codes, owner, len(examples)), examples)
    codes: list[int] = naming.encoded[place].codes.tolist()
    naming.forms[name] = [examples[c] if c >= 0 else None for c in codes]
    return codes


class _Forms:
    """The open band of one column: forms that only a reader of their rows can tell to be one name or two."""

    def __init__(
        self, table: Table, relation: MemoryRelation, place: int, options: Options, model: Model | None, memory: Memory,
        brief: Brief, naming: Naming,
    ) -> None:
        self.table, self.relation, self.place, self.options = table, relation, place, options
        self.model, self.memory, self.brief, self.naming = model, memory, brief, naming
        self.name = table.columns[place].name
        self.encoded = naming.encoded[place]
        self.rows: dict[int, list[int]] = {}

    async def ask(self, band: Sequence[VariantPair], owner: Mapping[int, int]) -> None:
        """Decide on the band: from memory, then by the model; what nobody decides stays apart."""
        band = self._clear(band)
        pairs = dict.fromkeys((owner.get(p.left, p.left), owner.get(p.right, p.right)) for p in band)
        groups = self._groups([pair for pair in pairs if pair[0] != pair[1]])
        wanted = {code for group in groups for code in group}
        for index, code in enumerate(self.encoded.codes.tolist()):
            if code in wanted:
                self.rows.setdefault(code, []).append(index)
        joined: list[tuple[tuple[int, ...], Outcome]] = []
        waiting = []
        for group in groups:
            case = self._case(group)
            outcome = self.memory.recall(case, self.model)
            if outcome is None:
                waiting.append((group, case))
            else:
                joined.append((group, outcome))
        asked = waiting[: self._allowed()] if self.model is not None else []
        if self.model is not None and asked:
            outcomes, calls = await repair_cases(self.model, self.table, [case for _, case in asked], self.brief)
            self.naming.calls += calls
            self.naming.asked += len(asked)
            for (group, case), outcome in zip(asked, outcomes, strict=True):
                self.memory.keep(case, outcome, self.model)
                joined.append((group, outcome))
        self._join(joined)
        if left := len(waiting) - len(asked):
            forms = " and ".join(repr(self.encoded.examples[c]) for c in waiting[-1][0])
            why = f"nothing in their rows tells, and no model was asked; for one, {forms}"
            self.naming.decisions.append(Choice(f"{self.table.name}.{self.name}", f"{left} groups of names left apart", why))

    def _clear(self, band: Sequence[VariantPair]) -> list[VariantPair]:
        """Without forms that could stand for several names: a model that reads the rows may tell, one that picks would guess."""
        if self.model is not None and self.model.dialect.repair != "choice":
            return list(band)
        for pair in (p for p in band if p.ambiguous):
            told = f"{self.encoded.examples[pair.left]!r} and {self.encoded.examples[pair.right]!r}: two names"
            why = "the shorter form could stand for several names"
            self.naming.decisions.append(Choice(f"{self.table.name}.{self.name}", told, why))
        return [pair for pair in band if not pair.ambiguous]

    def _allowed(self) -> int:
        """Groups that may be asked about: as many as rows, one for four rows where each is a call of its own."""
        assert self.model is not None
        size = len(self.relation.row_ids)
        return max(1, size // 4) if self.model.dialect.repair == "choice" else size

    def _groups(self, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
        """Forms to decide on together: chains of pairs whose forms could all be one name; pairs for a model that compares."""
        if self.model is None or self.model.dialect.repair == "choice":
            return list(pairs)
        home: dict[int, tuple[int, ...]] = {}
        for left, right in pairs:
            together = tuple(dict.fromkeys((*home.get(left, (left,)), *home.get(right, (right,)))))
            examples = self.encoded.examples
            fits = all(related(examples[a], examples[b]) for n, a in enumerate(together) for b in together[:n])
            if len(together) <= _FORMS and fits:
                for code in together:
                    home[code] = together
            elif left not in home or right not in home:
                home.setdefault(left, (left, right))
                home.setdefault(right, (left, right))
        return list(dict.fromkeys(group for group in home.values()))

    def _case(self, group: Sequence[int]) -> Case:
        """The rows that carry the forms, a few of each."""
        chosen = [(code, index) for code in group for index in self.rows[code][:_ROWS]]
        names = self.table.column_names
        columns = [self.relation.column(n) for n in names]
        ids = self.relation.row_ids
        values = {ids[i]: tuple(self.encoded.examples[c] if n == self.place else plain(column[i])
                                for n, column in enumerate(columns)) for c, i in chosen}  # fmt: skip
        notes = {ids[i]: notes_of(self.relation, i, [self.name], names) for _, i in chosen}
        choices = tuple(tuple(ids[i] for c, i in chosen if c == code) for code in group)
        sql = tuple(map(self.options.sql_name, names))
        shown = Group(sql, values, tuple(c.type.sql for c in self.table.columns))
        return Case("names", shown, (sql[self.place],), notes, choices)

    def _join(self, outcomes: Sequence[tuple[tuple[int, ...], Outcome]]) -> None:
        """Carry out what was decided: all rows of a form take the form that its program left."""
        owner: dict[int, int] = {}
        members: dict[int, list[int]] = {}
        examples = self.encoded.examples
        for group, outcome in outcomes:
            told = " and ".join(repr(examples[c]) for c in group)
            subject = f"{self.table.name}.{self.name}"
            if outcome.verdict != "repaired":
                verdict = "two names" if outcome.verdict == "apart" else "left open"
                self.naming.decisions.append(Choice(subject, f"{told}: {verdict}", outcome.reason))
                continue
            left = {row[self.place] for row in outcome.steps[-1].after.rows.values()}
            roots = {owner.get(c, c) for c in group}
            joined = [c for root in roots for c in members.get(root, [root])]
            kept = next((c for c in group if examples[c] in left), None)
            if kept is None or any(not related(examples[a], examples[b]) for n, a in enumerate(joined) for b in joined[:n]):
                self.naming.decisions.append(Choice(subject, f"{told}: two names", "they would chain two names"))
                continue
            kept = owner.get(kept, kept)
            owner |= dict.fromkeys(joined, kept)
            members[kept] = joined
            self._record(group, kept, outcome)
        if owner:
            _recode(self.naming, self.place, self.name, owner)

    def _record(self, group: Sequence[int], kept: int, outcome: Outcome) -> None:
        rows = [i for code in group for i in self.rows[code]]
        ids = tuple(self.relation.row_ids[i] for i in sorted(rows))
        before = tuple(self.encoded.examples[c] for c in group)
        canonical = self.encoded.examples[kept]
        for step in outcome.steps:
            self.naming.repairs.append(
                Repair("canonicalize", step.rows, self.name, before, canonical, step.program.statements,
                       f"the model: {step.program.reason}", "model", scoped=True)
            )  # fmt: skip
        others = tuple(i for i in ids if i not in outcome.steps[-1].rows)
        if others:
            statement = copy_sql(self.options.sql_name(self.name), outcome.steps[-1].rows[0], others)
            reason = f"rows that print a form that was joined: {outcome.reason}"
            self.naming.repairs.append(Repair("canonicalize", others, self.name, before, canonical, (statement,), reason))


def plain(value: Scalar) -> Scalar:
    """A value as SQL holds it."""
    return int(value) if isinstance(value, bool) else value
