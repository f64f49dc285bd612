"""Reconciliation of one table: the same thing, told many times, becomes one row,
and nothing is lost.

Order (SLIDERS, section on reconciliation, made deterministic first): names, key, groups, clear
merges, contradictions that code can settle, what is left by a model's SQL or left open and visible,
decisions of people on top. What comes out is repairs: SQL over the table as extracted, which
`workbench` runs; the same SQL runs again years later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sliders.extraction.cell import Scalar
from sliders.llm.model import Model
from sliders.reconcile.column_codes import (
    Codes,
    Encoded,
    comparison_form,
    encode,
    encode_ids,
    profile_columns,
)
from sliders.reconcile.decider import Memory
from sliders.reconcile.garbage_pause import paused
from sliders.reconcile.guard import Outcome
from sliders.reconcile.human_corrections import (
    apply_grouping,
    check_corrections,
    joins_names,
    matching_rows,
)
from sliders.reconcile.keying import KeyCase, propose_key
from sliders.reconcile.keyless import Compared, Keyless
from sliders.reconcile.keys import ENTRIES, KeyChooser, KeyPlan, assign_groups
from sliders.reconcile.merge import (
    Cluster,
    Dispute,
    Frame,
    Merged,
    Part,
    compatible_pieces,
    merge_groups,
    roles_of,
)
from sliders.reconcile.naming import name_columns
from sliders.reconcile.open_names import with_rows
from sliders.reconcile.parts import joined_rows, places_in_key, united
from sliders.reconcile.recording import cluster_repairs, corrected, merging_repairs
from sliders.reconcile.relation import MemoryRelation
from sliders.reconcile.repair_agent import PROGRAMS, Repairer
from sliders.reconcile.repairs import (
    Candidate,
    Choice,
    Conflict,
    DocumentSource,
    Options,
    Reconciliation,
    Repair,
)
from sliders.reconcile.settling import Ruling
from sliders.reconcile.shown_rows import case_of, plain
from sliders.reconcile.whole_records import record_groups
from sliders.schema.types import ColumnType, Table

_DISPUTED = 2  # groups that contradict themselves from which the key is in question


async def reconcile_table(
    table: Table,
    relation: MemoryRelation,
    options: Options | None = None,
    model: Model | None = None,
    repairer: Repairer = PROGRAMS,
) -> Reconciliation:
    """The repairs of one table.

    Args:
        table: the schema; `grain` and `key` are hints that the data must bear out, unless the
            user pinned the table.
        relation: the rows, by column.
        options: source criteria, hints, corrections, what earlier runs settled.
        model: asked only what code leaves open; None leaves it open and visible.
        repairer: how the model repairs.

    Raises:
        RepairError: a key, hint or correction names what the table does not have.
        ModelUnavailable: the model cannot be reached.
    """
    options = options or Options()
    work = _Work(table, relation, options, Memory(table, options, model, repairer))
    await work.prepare()
    with paused():
        merged = work.group()
    if await work.reconsider_key(merged):
        with paused():
            merged = work.group()
    await work.ask(merged.clusters)
    with paused():
        return work.finish(merged)


class _Work:
    """One run over one table."""

    def __init__(
        self, table: Table, relation: MemoryRelation, options: Options, memory: Memory
    ) -> None:
        self.table, self.relation, self.options, self.memory = table, relation, options, memory
        self.names = table.column_names
        check_corrections(options.corrections, self.names)
        self.documents, self.chunks = (
            encode_ids(relation.document_ids),
            encode_ids(relation.chunk_ids),
        )
        ids = tuple(dict.fromkeys(relation.document_ids))
        names = tuple(relation.documents.get(one, DocumentSource(one)).name or one for one in ids)
        self.sources = (
            Encoded(self.documents, names),
            Encoded(self.documents, ids),
        )  # in the order of DOCUMENT
        self.candidates: list[list[int]] = []

    async def prepare(self) -> None:
        """Encode, canonicalize, choose the key."""
        table, options = self.table, self.options
        with paused():
            self.printed = [encode(self.relation.column(name)) for name in self.names]
        profiles = profile_columns(table, self.printed, self.documents, self.chunks)
        naming = await name_columns(
            table, self.relation, self.printed, profiles, options, self.memory
        )
        self.named, self.encoded, self.naming = self.memory.asked, naming.encoded, naming
        self.decisions = naming.decisions
        self.profiles = profile_columns(table, self.encoded, self.documents, self.chunks)
        self.chooser = KeyChooser(table, self.profiles, self.encoded, self.documents, self.chunks)
        self._decide_key(ENTRIES if options.entries and not table.key else self.chooser.choose())
        if self.memory.model is not None and not (
            self.plan.columns or self.plan.per_document or options.entries
        ):
            self.candidates = record_groups(table, self.encoded, self.profiles, self.documents)

    def _decide_key(self, plan: KeyPlan) -> None:
        self.plan = plan
        key = ", ".join(plan.columns) or "none"
        reach = (
            "across documents" if plan.across else "inside documents" if plan.within else "nothing"
        )
        self.decisions.append(Choice(f"key of {self.table.name}", f"{key} ({reach})", plan.reason))

    async def reconsider_key(self, merged: Merged) -> bool:
        """Ask the model for the key where it is in question; code checks what it names;
        True when the groups change.

        In question is a key whose groups contradict themselves again and again, and the reach of
        one that rows of several documents share, where the schema says that it reaches over
        documents, or the data suggest it.
        """
        model, plan = self.memory.model, self.plan
        if model is None or not self.memory.writes_programs or plan.certain:
            return False
        case = self._in_question(merged.clusters)
        if case is None:
            return False
        said, reason = self.memory.key(case.key), "as settled before"
        if said is None:
            said, reason = await propose_key(model, self.table, self.profiles, case)
            self.memory.calls += 1
        if said is None:
            self.decisions.append(Choice(f"key of {self.table.name}", "kept", reason))
            return False
        self.memory.keep_key(case.key, said)
        if objection := self.chooser.objection(said.key):
            self.decisions.append(
                Choice(f"key of {self.table.name}", f"refused: {', '.join(said.key)}", objection)
            )
            return False
        across = said.scope == "collection" and bool(said.key)
        columns = said.key if across or not plan.per_document else plan.columns
        within = plan.per_document or bool(columns)
        same = (columns, across) == (plan.columns, plan.across)
        new = KeyPlan(
            columns, plan.per_document, within, across, False, f"the model: {reason}", sure=True
        )
        if same:
            self.plan = new
            self.decisions.append(Choice(f"key of {self.table.name}", "kept", new.reason))
            for cluster in merged.clusters:
                of_one_key = (
                    not cluster.doubtful and int(self.groups[cluster.rows[0]]) not in self.forced
                )
                cluster.one_row |= self._certain and of_one_key
        else:
            self._decide_key(new)
        return not same or (self._certain and bool(merged.split))

    @property
    def _certain(self) -> bool:
        """Whether a user or the agent said that rows of one key are one thing, and no reading
        tells some of them apart.
        """
        return (self.plan.certain or self.plan.sure) and not (
            self.plan.across and self.places is not None
        )

    def _in_question(self, clusters: Sequence[Cluster]) -> KeyCase | None:
        """The rows that make the key a question, None where it is none."""
        plan = self.plan
        groups = (
            [] if plan.per_document else [c.rows for c in clusters if c.pending and not c.doubtful]
        )
        disputed, key = len(groups) >= _DISPUTED, plan.columns
        if not disputed:
            key = plan.suggested or (plan.columns if plan.across and not plan.sure else ())
            groups = self.chooser.repeated(key) if key else []
        if not groups:
            return None
        columns = [self.relation.column(name) for name in self.names]
        names = self.sources[0].examples
        rows = [
            (str(names[self.documents[r]]), [column[r] for column in columns])
            for some in groups
            for r in some
        ]
        return KeyCase(key, rows, disputed)

    def group(self) -> Merged:
        """Groups of rows, clear ones merged."""
        coded = list(zip(self.names, self.encoded, strict=True))
        codes = {
            name: one.codes if name in self.plan.columns else one.agreeing for name, one in coded
        }
        self.repairs: list[Repair] = []
        self.places = places_in_key(self.plan, codes, self.relation, self.documents)
        if self.places is not None and not self.plan.sure:
            self.plan = replace(self.plan, across=False)
        places = None if self.plan.across else self.places
        groups = assign_groups(self.plan, codes, self.documents, places)
        own = (
            assign_groups(replace(self.plan, across=False), codes, self.documents)
            if self.plan.across
            else groups
        )
        units = joined_rows(groups, own, list(codes.values()))
        self.frame = Frame(
            self.relation,
            self.names,
            tuple(c.unit for c in self.table.columns),
            roles_of(self.table, self.profiles, self.plan, len(groups)),
            list(codes.values()),
            [self.relation.column(name) for name in self.names],
            self.documents,
            self.chunks,
            units,
        )
        alike = self._alike_without_key(codes, groups)
        groups = united(groups, alike)
        groups, self.forced = self._as_people_say(groups)
        self.groups = groups
        changed = self.options.changed
        new = (
            slice(None)
            if changed is None
            else np.array([d in changed for d in self.relation.document_ids], dtype=bool)
        )
        self.touched = len(np.unique(groups[new]))
        keyless = (
            frozenset(
                g for rows in alike for g, n in Counter(groups[rows].tolist()).items() if n > 1
            )
            - self.forced
        )
        doubtful = self._doubtful(groups) | keyless
        rules = not self.memory.writes_programs
        return merge_groups(
            self.frame,
            groups,
            self.plan,
            self.forced,
            self.options,
            rules,
            doubtful,
            keyless,
            self._certain,
        )

    def _as_people_say(self, groups: Codes) -> tuple[Codes, frozenset[int]]:
        about_rows = [
            one
            for one in self.options.corrections
            if not joins_names(one, self.table, self.plan.columns)
        ]
        return apply_grouping(groups, about_rows, self.names, *self._readings(self.encoded))

    def _alike_without_key(self, codes: Mapping[str, Codes], groups: Codes) -> list[list[int]]:
        """Rows that may be one thing though their key, or a part of it, is empty."""
        if not self.plan.columns or (self.plan.per_document and not self.plan.across):
            return []
        beside = [
            (codes[c.name], c.type in (ColumnType.NUMBER, ColumnType.INTEGER))
            for c, role in zip(self.table.columns, self.frame.roles, strict=True)
            if c.name not in self.plan.columns and role != "prose"
        ]
        compared = Compared(
            [c for c, figure in beside if figure], [c for c, figure in beside if not figure]
        )
        keyless = Keyless(self.plan, codes, compared, self.documents, self.relation, groups)
        return [*([] if self.places is not None else keyless.alike()), *keyless.told_again()]

    def _told_twice(self) -> list[list[int]]:
        """Rows that several documents repeat whole, where nobody said how far their key reaches, or
        whether they are one.
        """
        plan = self.plan
        if not self.table.key or plan.across or plan.sure or plan.certain:
            return []
        repeated = self.chooser.told_twice(plan.columns)
        if not repeated or not self.options.corrections:
            return repeated
        groups, _ = self._as_people_say(united(self.groups, repeated))
        by_group = (Counter(groups[rows].tolist()) for rows in repeated)
        return [
            [r for r in rows if told[groups[r]] > 1]
            for rows, told in zip(repeated, by_group, strict=True)
        ]

    def _doubtful(self, groups: Codes) -> frozenset[int]:
        """Put rows that may be one thing into groups of their own, unless they contradict each
        other in most; the groups.
        """
        pieces = [
            piece
            for rows in self.candidates
            for piece in compatible_pieces(self.frame, rows)
            if len(piece) > 1
        ]
        for piece in pieces:
            groups[piece] = groups[piece[0]]
        return frozenset(int(groups[piece[0]]) for piece in pieces)

    def _value(self, row: int, column: int, cluster: Cluster) -> Scalar:
        """What the table holds in a cell once what code settles is repaired."""
        if int(self.frame.codes[column][row]) >= 0:
            ruled = (
                d.sides[d.ruling.side]
                for d in cluster.disputes
                if d.column == column and d.by_code and d.ruling
            )
            row = next((side.rows[0] for side in ruled), row)
        return plain(self.frame.values[column][row])

    async def ask(self, clusters: Sequence[Cluster]) -> None:
        """Settle what is open by what people decided, from memory, then by the model;
        what nobody settles stays open.
        """
        self._rule_by_people(clusters)
        asked = [
            c
            for c in clusters
            if (c.pending or c.doubtful) and (self.memory.writes_programs or not c.keyless)
        ]
        names = {
            self.options.sql_name(column): names for column, names in self.naming.names.items()
        }
        cases = [
            case_of(self.table, self.frame, c, partial(self._value, cluster=c), self.options, names)
            for c in asked
        ]
        for cluster, outcome in zip(asked, await self.memory.decide(cases), strict=True):
            if outcome is not None:
                self._take(cluster, outcome)

    def _rule_by_people(self, clusters: Sequence[Cluster]) -> None:
        """A contradiction in which people's values leave but one is none:
        the value is set when its rows are one.
        """
        says: dict[int, dict[int, Scalar]] = {}
        for correction in (c for c in self.options.corrections if c.kind == "set_value"):
            place, decided = self.names.index(correction.column), comparison_form(correction.value)
            named = [(condition[0], self._named(condition)) for condition in correction.where]
            for cluster, dispute in (
                (c, d) for c in clusters for d in c.disputes if d.column == place
            ):
                forms = [comparison_form(side.value) for side in dispute.sides]
                said = says.setdefault(
                    id(dispute),
                    {r: f for f, s in zip(forms, dispute.sides, strict=True) for r in s.rows},
                )
                said |= dict.fromkeys(said.keys() & self._in_cluster(named, cluster), decided)
                if set(said.values()) == {decided}:
                    side = forms.index(decided) if decided in forms else 0
                    dispute.ruling, dispute.by_code = (
                        Ruling(side, "correct", correction.reason),
                        True,
                    )

    def _readings(self, shown: Sequence[Encoded]) -> tuple[list[Encoded], list[Encoded]]:
        """What decisions name rows by: the columns as they print them and as they are shown,
        and their documents.
        """
        return [*self.printed, *self.sources], [*shown, *self.sources]

    def _named(self, condition: tuple[str, Scalar]) -> set[int]:
        """The rows for which a condition holds by what they print, or by what names and keys the
        table shows of them.
        """
        shown = [
            replace(coded, codes=codes)
            for coded, codes in zip(self.encoded, self.frame.codes, strict=True)
        ]
        return set(matching_rows([condition], self.names, *self._readings(shown)).tolist())

    def _in_cluster(self, named: Sequence[tuple[str, set[int]]], cluster: Cluster) -> set[int]:
        """The rows of a cluster for which conditions hold, by column: what they do not dispute
        one row says for all.

        A document names its row, and so the thing; it is no side of a dispute, as a value is.
        """
        disputed = {self.names[d.column] for d in cluster.disputes}
        rows = set(cluster.rows)
        for column, some in named:
            if column in disputed or cluster.doubtful or some.isdisjoint(cluster.rows):
                rows &= some
        return rows

    def _reached(
        self, condition: tuple[str, Scalar], numbers: Mapping[str, int], repairs: Sequence[Repair]
    ) -> set[int]:
        """The rows for which a condition holds by what they print or by what
        a repair made of it.
        """
        wanted = comparison_form(condition[1])
        made = (
            r.rows
            for r in repairs
            if r.column == condition[0]
            and wanted is not None
            and comparison_form(r.after) == wanted
        )
        return self._named(condition).union(numbers[row] for rows in made for row in rows)

    def _take(self, cluster: Cluster, outcome: Outcome) -> None:
        """Carry out what was decided on a cluster."""
        cluster.outcome = outcome
        if outcome.verdict != "repaired":
            subject = (
                f"{self.table.name} "
                f"{', '.join(self.relation.row_ids[r] for r in cluster.rows[:20])}"
            )
            verdict = "kept apart" if outcome.verdict == "apart" else "left open"
            self.decisions.append(Choice(subject, verdict, f"the model: {outcome.reason}"))
            return
        rows = outcome.steps[-1].after.rows if outcome.steps else {}
        about = {step.program.column: step.program for step in outcome.steps if step.program.column}
        for dispute in cluster.pending:
            left = {values[dispute.column] for values in rows.values()} - {None}
            sides = (
                n
                for n, s in enumerate(dispute.sides)
                if self._value(s.rows[0], dispute.column, cluster) in left
            )
            program = about.get(self.options.sql_name(self.names[dispute.column]))
            operation, reason = (
                (program.operation, program.reason)
                if program
                else ("resolve_conflict", outcome.reason)
            )
            dispute.ruling = Ruling(
                0 if operation == "aggregate" else next(sides, 0), operation, reason
            )

    def finish(self, merged: Merged) -> Reconciliation:
        """Collect repairs and open conflicts."""
        parts = list(merged.parts)
        conflicts: list[Conflict] = []
        for cluster in merged.clusters:
            own = cluster.parts(self.frame)
            self.repairs += cluster_repairs(self.frame, cluster, own, self.options)
            conflicts += [self._conflict(cluster, dispute) for dispute in cluster.still_open]
            conflicts += self._keyless(cluster) if cluster.unanswered else []
            parts += own
        parts.sort(key=min)
        self.repairs += merging_repairs(self.frame, parts, self.options)
        self.repairs += self._corrections(parts)
        self.repairs += self.naming.repairs
        if merged.kept_apart:
            why = "equal keys, but most other columns contradict: kept as records of their own"
            self.decisions.append(
                Choice(self.table.name, f"{merged.kept_apart} rows kept apart", why)
            )
        if self.places is not None and not self.plan.across:
            why = (
                "one reading of one part gives several rows of a key, or they are lines of one list"
            )
            self.decisions.append(
                Choice(f"key of {self.table.name}", "the place of the words belongs to it", why)
            )
        return Reconciliation(
            table=self.table.name,
            rows=len(self.documents) - sum(len(part) - 1 for part in parts),
            key=self.plan.columns,
            across_documents=self.plan.across,
            repairs=tuple(self.repairs),
            conflicts=tuple(conflicts),
            open_names=tuple(with_rows(self.naming.open_names, self.frame, self.plan)),
            decisions=tuple(self.decisions),
            unsure_merges=tuple(self._unsure_merges(merged, parts)),
            left_open=tuple(
                tuple(self.relation.row_ids[r] for r in rows) for rows in self._left_open(merged)
            ),
            settlements=tuple(self.memory.kept),
            conflict_groups=self.named
            + sum(bool(c.pending or c.doubtful) for c in merged.clusters),
            touched_groups=self.touched,
            calls=self.memory.calls,
        )

    def _left_open(self, merged: Merged) -> Iterator[Sequence[int]]:
        """Rows that may be one thing and on which nobody decided."""
        yield from (cluster.rows for cluster in merged.clusters if _is_open(cluster))
        yield from merged.split if self.plan.across and not self.plan.sure else ()
        yield from self._told_twice()

    def _conflict(self, cluster: Cluster, dispute: Dispute) -> Conflict:
        ids = self.relation.row_ids
        candidates = tuple(
            Candidate(
                s.value, tuple(ids[r] for r in s.rows), s.source, s.document.id, s.document.name
            )
            for s in dispute.sides
        )
        return Conflict(
            self.names[dispute.column],
            cluster.key,
            candidates,
            "no criterion tells the sources apart",
        )

    def _keyless(self, cluster: Cluster) -> list[Conflict]:
        """What is open of rows that lack a part of their key: the figures in which they
        differ, else that part.
        """
        why = "a part of the key is empty: these rows may be one thing"
        return [
            replace(self._conflict(cluster, dispute), reason=why) for dispute in cluster.disputes
        ]

    def _unsure_merges(
        self, merged: Merged, parts: Sequence[Part]
    ) -> Iterator[tuple[tuple[str, ...], ...]]:
        """Merged rows that neither a person nor the model made certain, by the rows that would
        stand apart: those of several documents, or, where their key is certain, those that one
        reading tells apart.
        """
        if not self.plan.across or (self.plan.sure and self.places is None):
            return
        decided = {
            r
            for c in merged.clusters
            if c.outcome and c.outcome.verdict == "repaired"
            for r in c.rows
        }
        ids = self.relation.row_ids
        for part in parts:
            if len(part) == 1 or part[0] in decided or int(self.groups[part[0]]) in self.forced:
                continue
            apart = self._apart(sorted(part))
            if len(apart) > 1:
                yield tuple(tuple(ids[r] for r in rows) for rows in apart)

    def _apart(self, part: Sequence[int]) -> list[list[int]]:
        found: dict[object, list[int]] = {}
        readings = Counter(self.relation.readings[r] for r in part)
        for row in part:
            told_apart = self.places is not None and readings[self.relation.readings[row]] > 1
            by: object = int(self.documents[row])
            if self.plan.sure:
                by = int(self.places[row]) if told_apart and self.places is not None else None
            found.setdefault(by, []).append(row)
        return list(found.values())

    def _corrections(self, parts: Sequence[Part]) -> list[Repair]:
        """The values that people decided, for the rows that stand now and of which any source
        bears each condition out.
        """
        found: list[Repair] = []
        home = {row: part for part in parts for row in part} if self.options.corrections else {}
        numbers = (
            {row: n for n, row in enumerate(self.relation.row_ids)}
            if self.options.corrections
            else {}
        )
        for correction in (c for c in self.options.corrections if c.kind == "set_value"):
            made = (*self.repairs, *self.naming.repairs, *found)
            reached = (self._reached(condition, numbers, made) for condition in correction.where)
            standing = sorted(
                set.intersection(*({home.get(row, (row,)) for row in rows} for rows in reached)),
                key=min,
            )
            found += [
                corrected(self.frame, correction, sorted(part), part[0], self.options)
                for part in standing
            ]
        return found


def _is_open(cluster: Cluster) -> bool:
    """Whether the model left it open if the rows of a cluster are one thing."""
    return cluster.outcome is not None and cluster.outcome.verdict == "open"
