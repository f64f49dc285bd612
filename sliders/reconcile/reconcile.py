"""Reconciliation of one table: the same thing, told many times, becomes one row, and nothing is lost.

Order (SLIDERS, section on reconciliation, made deterministic first): canonical forms, key, missing key cells, groups,
clear merges, contradictions that code can settle, what is left by a model's SQL or left open and visible, decisions of people
on top. Every step is SQL that runs; `workbench.replay` runs it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from sliders.extraction.cell import Scalar
from sliders.llm.model import Model
from sliders.reconcile.agent import Brief, Outcome, repair_cases
from sliders.reconcile.collector import paused
from sliders.reconcile.corrections import apply_grouping, check_corrections, matching_rows
from sliders.reconcile.guard import check_result
from sliders.reconcile.keying import propose_key
from sliders.reconcile.keys import ENTRIES, KeyChooser, KeyPlan, assign_groups, fill_missing_keys
from sliders.reconcile.memory import Memory
from sliders.reconcile.merge import (
    Cluster,
    Frame,
    Merged,
    Part,
    Pending,
    Role,
    compatible_pieces,
    finish_cluster,
    merge_groups,
    row_id,
)
from sliders.reconcile.naming import Naming, name_columns, plain
from sliders.reconcile.profile import Codes, ColumnProfile, Encoded, encode, encode_ids, profile_columns
from sliders.reconcile.recording import cluster_repairs, filled_keys, merging_repairs
from sliders.reconcile.records import record_groups
from sliders.reconcile.relation import MemoryRelation
from sliders.reconcile.settle import IN_WORDS, Ruling
from sliders.reconcile.showing import case_of
from sliders.reconcile.statements import set_sql
from sliders.reconcile.values import (
    Candidate,
    Case,
    Choice,
    Conflict,
    Options,
    ReconciledRow,
    Reconciliation,
    Repair,
)
from sliders.schema.types import ColumnType, Table


async def reconcile_table(
    table: Table, relation: MemoryRelation, options: Options | None = None, model: Model | None = None
) -> Reconciliation:
    """Reconcile the rows of one table.

    Args:
        table: the schema; `grain` and `key` are hints that the data must bear out, unless the user pinned the table.
        relation: the rows, by column.
        options: source criteria, hints, corrections, what earlier runs settled.
        model: asked only what code leaves open; None leaves it open and visible.

    Raises:
        RepairError: a key, hint or correction names what the table does not have.
        ModelUnavailable: the model cannot be reached.
    """
    work = _Work(table, relation, options or Options(), model)
    await work.prepare()
    with paused():
        merged = work.group()
    if await work.reconsider_key(merged.clusters):
        with paused():
            merged = work.group()
    await work.ask(merged.clusters)
    with paused():
        result = work.finish(merged)
        check_result(relation, result, table.column_names)
    return result


_RECURS = 3  # rows a value of a text column whose values are classes, not names
_DISPUTED = 2  # groups that contradict themselves from which the key is in question


class _Work:
    """One run over one table."""

    def __init__(self, table: Table, relation: MemoryRelation, options: Options, model: Model | None) -> None:
        self.table, self.relation, self.options, self.model = table, relation, options, model
        self.names = table.column_names
        check_corrections(options.corrections, self.names)
        additive = options.additive | {c.name for c in table.columns if c.additive}
        rules = [IN_WORDS[c] for c in options.criteria]
        rules += [f"prefer {p.prefer}" + (f" over {p.over}" if p.over else "") for p in options.precede]
        self.brief = Brief(tuple(rules), frozenset(map(options.sql_name, additive)), options.look, options.batch)
        self.memory = Memory(table.name, options.settled, self.brief.additive)
        self.plan = KeyPlan((), False, False, False, False, "")
        self.documents = encode_ids(relation.document_ids)
        self.chunks = encode_ids(relation.chunk_ids)
        self.decisions: list[Choice] = []
        self.repairs: list[Repair] = []
        self.encoded: list[Encoded] = []
        self.naming = Naming([])
        self.profiles: tuple[ColumnProfile, ...] = ()
        self.candidates: list[list[int]] = []
        self.touched = self.calls = self.asked = 0

    async def prepare(self) -> None:
        """Encode, canonicalize, choose the key."""
        with paused():
            raw = [encode(self.relation.column(name)) for name in self.names]
        profiles = profile_columns(self.table, raw, self.documents, self.chunks)
        naming = await name_columns(
            self.table, self.relation, raw, profiles, self.options, self.model, self.memory, self.brief
        )
        self.naming, self.encoded, self.calls, self.asked = naming, naming.encoded, naming.calls, naming.asked
        self.repairs, self.decisions = naming.repairs, naming.decisions
        self.profiles = profile_columns(self.table, self.encoded, self.documents, self.chunks)
        self.chooser = KeyChooser(self.table, self.profiles, self.encoded, self.documents, self.chunks)
        self.plan = ENTRIES if self.options.entries and not self.table.key else self.chooser.choose()
        self._decide_key()
        usable = self.plan.columns or self.plan.per_document or self.options.entries
        if self.model is not None and not usable:
            self.candidates = record_groups(self.table, self.encoded, self.profiles, self.documents)

    def _decide_key(self) -> None:
        key = ", ".join(self.plan.columns) or "none"
        reach = "across documents" if self.plan.across else "inside documents" if self.plan.within else "nothing"
        self.decisions.append(Choice(f"key of {self.table.name}", f"{key} ({reach})", self.plan.reason))

    async def reconsider_key(self, clusters: Sequence[Cluster]) -> bool:
        """Ask the model for the key where it is in question; code checks what it names; True when the groups change.

        In question is a key whose groups contradict themselves again and again, or one that the schema names and that the
        other columns do not bear out across documents.
        """
        asks = self.model is not None and self.model.dialect.repair == "program"
        if not asks or self.model is None or self.plan.certain or self.plan.per_document:
            return False
        disputed = [c.rows for c in clusters if c.pending and not c.doubtful]
        if len(disputed) < _DISPUTED and self.table.key and not self.plan.across:
            disputed = self.chooser.repeated(self.table.key)
        if len(disputed) < _DISPUTED:
            return False
        columns = [self.relation.column(name) for name in self.names]
        rows = [[column[r] for column in columns] for some in disputed for r in some]
        before, subject = self.plan.columns, f"key of {self.table.name}"
        key, reason = self.memory.key(before), "as settled before"
        if key is None:
            key, reason = await propose_key(self.model, self.table, self.profiles, before, rows)
            self.calls += 1
        self.memory.keep_key(before, key)
        objection = "" if key is None else self.chooser.objection(key)
        if key is None or objection or (key == before and self.plan.across):
            verdict = f"refused: {', '.join(key)}" if key is not None and objection else "kept"
            self.decisions.append(Choice(subject, verdict, objection or reason))
            return False
        self.repairs = [r for r in self.repairs if r.operation != "fill_key"]
        self.plan = KeyPlan(key, False, bool(key), bool(key), False, f"the model: {reason}")
        self._decide_key()
        return True

    def group(self) -> Merged:
        """Groups of rows, clear ones merged."""
        size = len(self.relation.row_ids)
        origins = {name: np.arange(size, dtype=np.int64) for name in self.names}
        codes = {name: e.codes.copy() for name, e in zip(self.names, self.encoded, strict=True)}
        filled = fill_missing_keys(self.plan, self.profiles, codes, self.documents, origins)
        for name, rows in filled.items():
            self.repairs.append(filled_keys(self.relation, self.options.sql_name(name), name, rows, origins[name]))
        groups = assign_groups(self.plan, codes, self.documents)
        groups, forced = apply_grouping(groups, self.options.corrections, self.names, self.encoded)
        self.frame = Frame(
            self.relation,
            self.names,
            tuple(p.prose for p in self.profiles),
            tuple(c.unit for c in self.table.columns),
            [codes[name] for name in self.names],
            [self.relation.column(name) for name in self.names],
            [origins[name] for name in self.names],
            self.documents,
            self.chunks,
            self._roles(),
        )
        if self.options.changed is not None:
            new = np.fromiter((d in self.options.changed for d in self.relation.document_ids), bool, size)
            self.touched = len(np.unique(groups[new]))
        else:
            self.touched = len(np.unique(groups))
        rules = self.model is None or self.model.dialect.repair == "choice"
        doubtful = self._doubtful(groups)
        return merge_groups(self.frame, groups, self.plan, forced, self.options, rules, doubtful)

    def _doubtful(self, groups: Codes) -> frozenset[int]:
        """Put rows that may be one thing into groups of their own, unless they contradict each other in most; the groups."""
        found = []
        for rows in self.candidates:
            for piece in compatible_pieces(self.frame, rows):
                if len(piece) > 1:
                    groups[piece] = groups[piece[0]]
                    found.append(int(groups[piece[0]]))
        return frozenset(found)

    def _roles(self) -> tuple[Role, ...]:
        """What each column is to a group, as its type and its values say."""
        roles: list[Role] = []
        for column, profile in zip(self.table.columns, self.profiles, strict=True):
            if profile.prose:
                roles.append("prose")
            elif self.plan.per_document:
                roles.append("other")
            elif column.name in self.plan.columns:
                roles.append("key")
            elif column.type in (ColumnType.NUMBER, ColumnType.INTEGER) and not profile.identifying:
                roles.append("measure")
            else:
                filled = profile.coverage * len(self.documents)
                recurs = column.type is not ColumnType.TEXT or profile.distinct * _RECURS <= filled
                roles.append("dimension" if profile.identifying and recurs else "other")
        return tuple(roles)

    def value(self, row: int, column: int, cluster: Cluster | None = None) -> Scalar:
        """What the table holds in a cell once names, key cells and what code settles are repaired."""
        if cluster is not None and int(self.frame.codes[column][row]) >= 0:
            ruled = next((p.sides[r.side].rows[0] for p, r in cluster.settled if p.column == column), row)
            row = ruled
        origin = int(self.frame.origins[column][row])
        forms = self.naming.forms.get(self.names[column])
        return plain(self.frame.values[column][origin] if forms is None else forms[origin])

    async def ask(self, clusters: Sequence[Cluster]) -> None:
        """Settle what is open from memory, then by the model; what it does not settle stays open."""
        waiting: list[tuple[Cluster, Case]] = []
        for cluster in clusters:
            if not (cluster.pending or cluster.doubtful):
                continue
            case = case_of(self.table, self.frame, cluster, partial(self.value, cluster=cluster), self.options)
            outcome = self.memory.recall(case, self.model)
            if outcome is None:
                waiting.append((cluster, case))
            else:
                self._take(cluster, outcome)
        if self.model is None or not waiting:
            return
        outcomes, calls = await repair_cases(
            self.model, self.table, [case for _, case in waiting], self.brief, max(0, self.asked - self.calls)
        )
        self.asked += len(waiting)
        self.calls += calls
        for (cluster, case), outcome in zip(waiting, outcomes, strict=True):
            self.memory.keep(case, outcome, self.model)
            self._take(cluster, outcome)

    def _take(self, cluster: Cluster, outcome: Outcome) -> None:
        """Carry out what was decided on a cluster."""
        cluster.outcome = outcome.verdict
        if outcome.verdict != "repaired":
            subject = f"{self.table.name} {', '.join(self.relation.row_ids[r] for r in cluster.rows[:20])}"
            verdict = "kept apart" if outcome.verdict == "apart" else "left open"
            self.decisions.append(Choice(subject, verdict, f"the model: {outcome.reason}"))
            return
        rows = outcome.steps[-1].after.rows if outcome.steps else {}
        place = {self.relation.row_ids[r]: r for r in cluster.rows}
        if rows:
            cluster.target = place[next(iter(rows))]
        about = {step.program.column: step.program for step in outcome.steps if step.program.column}
        for pending in cluster.pending:
            name = self.options.sql_name(self.names[pending.column])
            left = {values[pending.column] for values in rows.values()} - {None}
            sides = [n for n, s in enumerate(pending.sides) if self.value(s.rows[0], pending.column) in left]
            program = about.get(name)
            if program is not None and program.operation == "aggregate":
                pending.verdict = Ruling(0, "aggregate", program.reason)
            else:
                operation = program.operation if program is not None else "resolve_conflict"
                pending.verdict = Ruling(sides[0], operation, program.reason if program is not None else outcome.reason)
        cluster.steps = outcome.steps

    def finish(self, merged: Merged) -> Reconciliation:
        """Assemble rows, repairs and open conflicts."""
        parts = list(merged.parts)
        conflicts: list[Conflict] = []
        for cluster in merged.clusters:
            self.repairs += cluster_repairs(self.frame, cluster, self.options)
            conflicts += [self._conflict(cluster, p) for p in cluster.still_open]
            parts.extend(finish_cluster(self.frame, cluster))
        parts.sort(key=lambda p: p.rows[0])
        self.repairs += merging_repairs(self.frame, parts, merged.clusters, self.options)
        if merged.kept_apart:
            why = "equal keys, but most other columns contradict: kept as records of their own"
            self.decisions.append(Choice(self.table.name, f"{merged.kept_apart} rows kept apart", why))
        rows = self._corrected(self._rows(parts), parts)
        return Reconciliation(
            table=self.table.name,
            columns=(*self.names, *(f"{name}_canonical" for name in self.naming.forms)),
            rows=tuple(rows),
            key=self.plan.columns,
            across_documents=self.plan.across,
            repairs=tuple(self.repairs),
            conflicts=tuple(conflicts),
            decisions=tuple(self.decisions),
            settlements=tuple(self.memory.kept),
            conflict_groups=self.naming.asked + sum(bool(c.pending or c.doubtful) for c in merged.clusters),
            touched_groups=self.touched,
            calls=self.calls,
        )

    def _conflict(self, cluster: Cluster, pending: Pending) -> Conflict:
        ids = self.relation.row_ids
        candidates = tuple(
            Candidate(s.value, tuple(ids[r] for r in s.rows), s.source, s.document.id, s.document.name)
            for s in pending.sides
        )
        return Conflict(self.names[pending.column], cluster.key, candidates, "no criterion tells the sources apart")

    def _rows(self, parts: Sequence[Part]) -> list[ReconciledRow]:
        ids, document_ids = self.relation.row_ids, self.relation.document_ids
        origins = [o.tolist() for o in self.frame.origins]
        values = self.frame.values
        extra = [(self.names.index(name), forms) for name, forms in self.naming.forms.items()]
        keyed = [self.names.index(c) for c in self.plan.columns]
        rows = []
        for part in parts:
            taken = [o[p] if p >= 0 else -1 for o, p in zip(origins, part.picks, strict=True)]
            cells = [column[t] if t >= 0 else None for column, t in zip(values, taken, strict=True)]
            supplied = [ids[t] if t >= 0 else "" for t in taken]
            for place, forms in extra:
                cells.append(forms[taken[place]] if taken[place] >= 0 else None)
                supplied.append(supplied[place])
            for place, amount in part.sums:
                cells[place], supplied[place] = amount, "aggregate"
            flags = part.flags
            if keyed and any(cells[k] is None for k in keyed):
                flags = (*flags, "missing key")
            sources = tuple(ids[r] for r in part.rows)
            rows.append(
                ReconciledRow(
                    row_id(sources), tuple(cells), sources, tuple(supplied), document_ids[part.rows[0]], flags
                )
            )
        return rows

    def _corrected(self, rows: list[ReconciledRow], parts: Sequence[Part]) -> list[ReconciledRow]:
        place_of = {i: n for n, row in enumerate(rows) for i in row.sources} if self.options.corrections else {}
        for number, correction in enumerate(self.options.corrections, 1):
            if correction.kind != "set_value":
                continue
            column = self.names.index(correction.column)
            matched = matching_rows(correction.where, self.names, self.encoded)
            for place in sorted({place_of[self.relation.row_ids[i]] for i in matched.tolist()}):
                row = rows[place]
                values, supplied = list(row.values), list(row.supplied)
                before = values[column]
                values[column], supplied[column] = correction.value, f"correction:{number}"
                stays = self.relation.row_ids[parts[place].stays]
                sql = set_sql(self.options.sql_name(correction.column), plain(correction.value), (stays,))
                reason = correction.reason or f"set by {correction.author}"
                self.repairs.append(
                    Repair("correct", row.sources, correction.column, (before,), correction.value, (sql,), reason, "person")
                )
                rows[place] = ReconciledRow(
                    row.id, tuple(values), row.sources, tuple(supplied), row.document_id, (*row.flags, "corrected")
                )
        return rows
