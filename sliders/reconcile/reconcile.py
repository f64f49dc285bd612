"""Reconciliation of one table: rows about the same thing become one row, and nothing is lost.

Order (SLIDERS, section on reconciliation, made deterministic first): names, key, groups, clear
merges, contradictions that code can settle, then the model's SQL for the rest, then the decisions
of people on top. Contradictions that nobody settles stay open and visible. The result is repairs:
SQL over the table as extracted, which `workbench` runs; the same SQL runs again years later.

A *cluster* is a group of rows that may be one thing. A *dispute* is a column in which the rows of a
cluster differ. A *code* is the number of a distinct value in its column, -1 for an empty cell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sliders.extraction.cell import Scalar
from sliders.llm.model import Model
from sliders.reconcile.column_codes import (
    Codes,
    Encoded,
    encode,
    encode_ids,
    profile_columns,
)
from sliders.reconcile.decided_values import DecidedValues
from sliders.reconcile.decider import Memory
from sliders.reconcile.garbage_pause import paused
from sliders.reconcile.guard import Outcome
from sliders.reconcile.human_corrections import (
    apply_grouping,
    check_corrections,
    joins_names,
)
from sliders.reconcile.keying import KeyCase
from sliders.reconcile.keyless import Compared, Keyless
from sliders.reconcile.keys import ENTRIES, KeyChooser, KeyPlan, assign_groups, told_key
from sliders.reconcile.merge import (
    Cluster,
    Dispute,
    Frame,
    Groups,
    Merged,
    Part,
    compatible_pieces,
    merge_groups,
    roles_of,
)
from sliders.reconcile.naming import name_columns
from sliders.reconcile.open_names import with_rows
from sliders.reconcile.parts import joined_rows, places_in_key, united
from sliders.reconcile.recording import cluster_repairs, merging_repairs
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
from sliders.schema.types import Table
from sliders.values.expected import NUMERIC

_DISPUTED = 2  # groups with contradictions from which on the key is in question


async def reconcile_table(
    table: Table,
    relation: MemoryRelation,
    options: Options | None = None,
    model: Model | None = None,
    repairer: Repairer = PROGRAMS,
) -> Reconciliation:
    """Returns the repairs of one table.

    Args:
        table: the table's schema. Its `grain` and `key` hold only when the data agree, unless the
            user pinned them.
        relation: the rows, by column.
        options: criteria for sources, hints, corrections, and the settlements of earlier runs.
        model: asked about cases that code leaves open; None leaves these open.
        repairer: the functions by which the model repairs.

    Raises:
        RepairError: a key, hint or correction names a column or row that does not exist.
        ModelUnavailable: the model cannot be reached.
    """
    options = options or Options()
    work = _ReconcileRun(table, relation, options, Memory(table, options, model, repairer))
    await work.prepare()
    with paused():
        merged = work.group()
    if await work.reconsider_key(merged):
        with paused():
            merged = work.group()
    await work.ask(merged.clusters)
    with paused():
        return work.finish(merged)


class _ReconcileRun:
    """One reconciliation of one table."""

    def __init__(
        self, table: Table, relation: MemoryRelation, options: Options, memory: Memory
    ) -> None:
        self.table, self.relation, self.options, self.memory = table, relation, options, memory
        self.names = table.column_names
        check_corrections(options.corrections, self.names)
        self.documents = encode_ids(relation.document_ids)
        self.chunks = encode_ids(relation.chunk_ids)
        ids = tuple(dict.fromkeys(relation.document_ids))
        names = tuple(relation.documents.get(one, DocumentSource(one)).name or one for one in ids)
        # In the order of DOCUMENT.
        self.sources = (Encoded(self.documents, names), Encoded(self.documents, ids))
        self.candidates: list[list[int]] = []

    async def prepare(self) -> None:
        """Encodes the values, finds the names' canonical forms, and chooses the key."""
        table, options = self.table, self.options
        with paused():
            self.printed = [encode(self.relation.column(name)) for name in self.names]
        profiles = profile_columns(table, self.printed, self.documents, self.chunks)
        naming = await name_columns(
            table, self.relation, self.printed, profiles, options, self.memory
        )
        self.named = self.memory.asked
        self.encoded, self.naming, self.decisions = naming.encoded, naming, naming.decisions
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
        self.decisions.append(Choice("key", f"{key} ({reach})", plan.reason))

    async def reconsider_key(self, merged: Merged) -> bool:
        """Asks the model for the key when it is in question; its answer counts only when the data
        agree. Returns True when the groups change.

        A key is in question when its groups contradict themselves repeatedly, or when rows of
        several documents share it and either the schema or the data say that it holds across
        documents.
        """
        plan = self.plan
        if self.memory.model is None or plan.certain:
            return False
        case = self._in_question(merged.clusters)
        if case is None:
            return False
        verdict = await self.memory.key(self.profiles, case)
        if (said := verdict.reply) is None:
            self.decisions.append(Choice("key", "kept", verdict.reason))
            return False
        if objection := self.chooser.objection(said.key):
            refused = f"refused: {', '.join(said.key)}"
            self.decisions.append(Choice("key", refused, objection))
            return False
        new = told_key(plan, said, verdict.reason)
        if (new.columns, new.across) != (plan.columns, plan.across):
            self._decide_key(new)
            return True
        self.plan = new
        self.decisions.append(Choice("key", "kept", new.reason))
        for cluster in merged.clusters:
            forced = int(self.groups[cluster.rows[0]]) in self.forced
            cluster.one_row |= self._certain and not cluster.doubtful and not forced
        return self._certain and bool(merged.split)

    @property
    def _certain(self) -> bool:
        """True when the user or the model said that rows of one key are one thing, and no reading
        tells some of these rows apart.
        """
        return (self.plan.certain or self.plan.sure) and not (
            self.plan.across and self.places is not None
        )

    def _in_question(self, clusters: Sequence[Cluster]) -> KeyCase | None:
        """Returns the case about the key, with the rows that put it in question; None when it is
        not in question.
        """
        plan = self.plan
        disputes = () if plan.per_document else clusters
        groups = [c.rows for c in disputes if c.pending and not c.doubtful]
        disputed = self.memory.writes_programs and len(groups) >= _DISPUTED
        key = plan.columns
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
        """Groups the rows by key, and merges the clear groups."""
        key = self.plan.columns
        names = self.naming.likely if self.plan.across and not self.plan.certain else {}
        codes = {
            name: names.get(name, one).codes if name in key else one.agreeing
            for name, one in zip(self.names, self.encoded, strict=True)
        }
        self.repairs: list[Repair] = []
        self.places = places_in_key(self.plan, codes, self.relation, self.documents)
        if self.places is not None and not self.plan.sure:
            self.plan = replace(self.plan, across=False)
        places = None if self.plan.across else self.places
        groups = assign_groups(self.plan, codes, self.documents, places)
        self.frame = self._frame_of(codes, groups)
        self.decided = DecidedValues(
            self.frame, self.options, self.printed, self.encoded, self.sources
        )
        alike = self._alike_without_key(codes, groups)
        self.groups, self.forced = self._as_people_say(united(groups, alike))
        self.touched = self._touched()
        counts = [Counter(self.groups[rows].tolist()) for rows in alike]
        keyless = frozenset(g for count in counts for g, n in count.items() if n > 1) - self.forced
        doubtful = self._doubtful(self.groups) | keyless
        likely = self.plan.likely and self.plan.across
        known = Groups(self.groups, self.forced, doubtful, keyless, self._certain, likely)
        rules = not self.memory.writes_programs
        return merge_groups(self.frame, known, self.plan, self.options, rules)

    def _frame_of(self, codes: Mapping[str, Codes], groups: Codes) -> Frame:
        """Returns the table with its codes and groups under the key."""
        inside = replace(self.plan, across=False)
        own = assign_groups(inside, codes, self.documents) if self.plan.across else groups
        listed = list(codes.values())
        return Frame(
            relation=self.relation,
            names=self.names,
            units=tuple(column.unit for column in self.table.columns),
            roles=roles_of(self.table, self.profiles, self.plan, len(groups)),
            codes=listed,
            values=[self.relation.column(name) for name in self.names],
            documents=self.documents,
            chunks=self.chunks,
            joined=joined_rows(groups, own, listed),
        )

    def _touched(self) -> int:
        """Returns the number of groups with rows of documents that are new since the last run."""
        changed = self.options.changed
        if changed is None:
            return len(np.unique(self.groups))
        new = np.array([d in changed for d in self.relation.document_ids], dtype=bool)
        return len(np.unique(self.groups[new]))

    def _as_people_say(self, groups: Codes) -> tuple[Codes, frozenset[int]]:
        key = self.plan.columns
        about_rows = [c for c in self.options.corrections if not joins_names(c, self.table, key)]
        printed, shown = [*self.printed, *self.sources], [*self.encoded, *self.sources]
        return apply_grouping(groups, about_rows, self.names, printed, shown)

    def _alike_without_key(self, codes: Mapping[str, Codes], groups: Codes) -> list[list[int]]:
        """Returns groups of rows that may be one thing although a part of their key is empty."""
        if not self.plan.columns or (self.plan.per_document and not self.plan.across):
            return []
        beside = [
            (codes[c.name], c.type in NUMERIC)
            for c, role in zip(self.table.columns, self.frame.roles, strict=True)
            if c.name not in self.plan.columns and role != "prose"
        ]
        figures = [codes for codes, figure in beside if figure]
        compared = Compared(figures, [codes for codes, figure in beside if not figure])
        keyless = Keyless(self.plan, codes, compared, self.documents, self.relation, groups)
        return [*([] if self.places is not None else keyless.alike()), *keyless.told_again()]

    def _undecided(self) -> list[list[int]]:
        """Returns groups of rows of several documents that share a key and contradict each other
        little, when nobody said how far the key reaches or whether the rows are one.
        """
        plan = self.plan
        if plan.across or plan.sure or plan.certain or not plan.suggested:
            return []
        shared = self.chooser.repeated(plan.suggested)
        pieces = [piece for rows in shared for piece in compatible_pieces(self.frame, rows)]
        repeated = [piece for piece in pieces if len({int(self.documents[r]) for r in piece}) > 1]
        if not repeated or not self.options.corrections:
            return repeated
        groups, _ = self._as_people_say(united(self.groups, repeated))
        by_group = (Counter(groups[rows].tolist()) for rows in repeated)
        return [
            [r for r in rows if told[groups[r]] > 1]
            for rows, told in zip(repeated, by_group, strict=True)
        ]

    def _doubtful(self, groups: Codes) -> frozenset[int]:
        """Puts rows that may be one thing into groups of their own, unless most of their columns
        contradict each other. Returns these groups.
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
        """Returns the value that the table shows in a cell after the repairs by code."""
        if int(self.frame.codes[column][row]) >= 0:
            ruled = (
                d.sides[d.ruling.side]
                for d in cluster.disputes
                if d.column == column and d.by_code and d.ruling
            )
            row = next((side.rows[0] for side in ruled), row)
        return plain(self.frame.values[column][row])

    async def ask(self, clusters: Sequence[Cluster]) -> None:
        """Settles the open clusters: by people's decisions, from memory, then by the model. The
        rest stays open.
        """
        self.decided.rule(clusters)
        rows_are_read = self.memory.writes_programs
        asked = [
            c for c in clusters if (c.pending or c.doubtful) and (rows_are_read or not c.keyless)
        ]
        names = {self.options.sql_name(c): forms for c, forms in self.naming.names.items()}
        cases = [
            case_of(self.table, self.frame, c, partial(self._value, cluster=c), self.options, names)
            for c in asked
        ]
        for cluster, outcome in zip(asked, await self.memory.decide(cases), strict=True):
            if outcome is not None:
                self._take(cluster, outcome)

    def _take(self, cluster: Cluster, outcome: Outcome) -> None:
        """Carries out the decision on a cluster."""
        cluster.outcome = outcome
        if outcome.verdict != "repaired":
            verdict = "kept apart" if outcome.verdict == "apart" else "left open"
            rows = tuple(self._ids(cluster.rows[:20]))
            reason = f"the model: {outcome.reason}"
            self.decisions.append(Choice("rows", verdict, reason, rows=rows))
            return
        after = outcome.steps[-1].after.rows if outcome.steps else {}
        about = {step.program.column: step.program for step in outcome.steps if step.program.column}
        for dispute in cluster.pending:
            left = {values[dispute.column] for values in after.values()} - {None}
            sides = (
                n
                for n, s in enumerate(dispute.sides)
                if self._value(s.rows[0], dispute.column, cluster) in left
            )
            program = about.get(self.options.sql_name(self.names[dispute.column]))
            if program is None:
                dispute.ruling = Ruling(next(sides, 0), "resolve_conflict", outcome.reason)
            else:
                side = 0 if program.operation == "aggregate" else next(sides, 0)
                dispute.ruling = Ruling(side, program.operation, program.reason)

    def finish(self, merged: Merged) -> Reconciliation:
        """Returns the repairs and the open conflicts."""
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
        made = (*self.repairs, *self.naming.repairs)
        self.repairs += self.decided.repairs(parts, made)
        self.repairs += self.naming.repairs
        self._tell_apart(merged)
        in_question = sum(bool(c.pending or c.doubtful) for c in merged.clusters)
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
            left_open=tuple(map(self._ids, self._left_open(merged))),
            settlements=tuple(self.memory.kept),
            conflict_groups=self.named + in_question,
            touched_groups=self.touched,
            calls=self.memory.calls,
        )

    def _tell_apart(self, merged: Merged) -> None:
        """Records why rows with one key are kept apart."""
        if merged.kept_apart:
            why = "equal keys, but most other columns contradict: kept as records of their own"
            self.decisions.append(Choice("rows", f"{merged.kept_apart} rows kept apart", why))
        if self.places is not None and not self.plan.across:
            why = (
                "one reading of one part gives several rows of a key, or they are lines of one list"
            )
            self.decisions.append(Choice("key", "the place of the words belongs to it", why))

    def _left_open(self, merged: Merged) -> Iterator[Sequence[int]]:
        """Yields groups of rows that may be one thing and that nobody decided on."""
        yield from (cluster.rows for cluster in merged.clusters if _is_open(cluster))
        yield from merged.split if self.plan.across and not self.plan.sure else ()
        yield from self._undecided()

    def _conflict(self, cluster: Cluster, dispute: Dispute) -> Conflict:
        candidates = tuple(
            Candidate(s.value, self._ids(s.rows), s.source, s.document.id, s.document.name)
            for s in dispute.sides
        )
        why = "no criterion tells the sources apart"
        return Conflict(self.names[dispute.column], cluster.key, candidates, why)

    def _ids(self, rows: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.relation.row_ids[row] for row in rows)

    def _keyless(self, cluster: Cluster) -> list[Conflict]:
        """Returns the open conflicts of rows that lack a part of their key: about the columns in
        which they differ.
        """
        why = "a part of the key is empty: these rows may be one thing"
        conflicts = (self._conflict(cluster, dispute) for dispute in cluster.disputes)
        return [replace(conflict, reason=why) for conflict in conflicts]

    def _unsure_merges(
        self, merged: Merged, parts: Sequence[Part]
    ) -> Iterator[tuple[tuple[str, ...], ...]]:
        """Yields merged rows that neither a person nor a model that reads them confirmed, split
        into the rows that would stand apart: by document, or, when the key is certain, by reading
        and by name.
        """
        if not self.plan.across or (
            self.plan.sure and self.places is None and not self.naming.likely
        ):
            return
        answered = (c for c in merged.clusters if c.outcome and c.outcome.verdict == "repaired")
        reads = self.memory.writes_programs
        decided = {row for cluster in answered if reads for row in cluster.rows}
        for part in parts:
            if len(part) == 1 or part[0] in decided or int(self.groups[part[0]]) in self.forced:
                continue
            apart = self._apart(sorted(part))
            if len(apart) > 1:
                yield tuple(map(self._ids, apart))

    def _apart(self, part: Sequence[int]) -> list[list[int]]:
        found: dict[object, list[int]] = {}
        readings = Counter(self.relation.readings[r] for r in part)
        keyed = [n for n in self.plan.columns if n in self.naming.likely]
        certain = [self.encoded[self.names.index(name)].codes for name in keyed]
        for row in part:
            told_apart = self.places is not None and readings[self.relation.readings[row]] > 1
            by: object = int(self.documents[row])
            if self.plan.sure:
                place = int(self.places[row]) if told_apart and self.places is not None else None
                by = (place, *(int(codes[row]) for codes in certain))
            found.setdefault(by, []).append(row)
        return list(found.values())


def _is_open(cluster: Cluster) -> bool:
    """True when the model was asked whether the rows of a cluster are one thing, and did not
    decide.
    """
    return cluster.outcome is not None and cluster.outcome.verdict == "open"
