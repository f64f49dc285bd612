"""Reconciliation of one table: the same thing, told many times, becomes one row, and nothing is lost.

Order (SLIDERS, section on reconciliation, made deterministic first): canonical forms, key, missing key cells, groups,
clear merges, contradictions by rule, what is left by a model or left open and visible, human corrections on top.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from sliders.llm.model import Model
from sliders.reconcile.agent import Case, settle_cases
from sliders.reconcile.agent import Option as Shown
from sliders.reconcile.canonical import Variants
from sliders.reconcile.collector import paused
from sliders.reconcile.corrections import apply_grouping, check_corrections, matching_rows
from sliders.reconcile.guard import Group, check_result
from sliders.reconcile.keys import ENTRIES, KeyChooser, KeyPlan, assign_groups, fill_missing_keys
from sliders.reconcile.merge import (
    Cluster,
    Frame,
    Merged,
    Part,
    Pending,
    finish_cluster,
    merge_groups,
    row_id,
    total,
)
from sliders.reconcile.naming import name_columns, open_signature
from sliders.reconcile.profile import ColumnProfile, Encoded, encode, encode_ids, profile_columns
from sliders.reconcile.repair import propose_repair
from sliders.reconcile.settle import Verdict
from sliders.reconcile.statements import group_sql, set_sql
from sliders.reconcile.values import (
    LEFT_OPEN,
    Candidate,
    Choice,
    Conflict,
    DocumentSource,
    Options,
    ReconciledRow,
    Reconciliation,
    Relation,
    Repair,
    Settlement,
)
from sliders.schema.types import Table


async def reconcile_table(
    table: Table, relation: Relation, options: Options | None = None, model: Model | None = None
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
    work = _Work(table, relation, options or Options())
    await work.prepare(model)
    with paused():
        merged = work.group()
    await work.ask(merged.clusters, model)
    with paused():
        result = work.finish(merged)
        check_result(relation, result, table.column_names)
    return result


class _Work:
    """One run over one table."""

    def __init__(self, table: Table, relation: Relation, options: Options) -> None:
        self.table, self.relation, self.options = table, relation, options
        self.names = table.column_names
        check_corrections(options.corrections, self.names)
        self.repairs: list[Repair] = []
        self.decisions: list[Choice] = []
        self.settlements: list[Settlement] = []
        self.variants: dict[str, Variants] = {}
        self.encoded: list[Encoded] = []
        self.profiles: tuple[ColumnProfile, ...] = ()
        self.plan = KeyPlan((), False, False, False, False, "")
        self.documents = encode_ids(relation.document_ids)
        self.chunks = encode_ids(relation.chunk_ids)
        self.touched = 0
        self.calls = 0
        self.raw: list[Encoded] = []

    async def prepare(self, model: Model | None) -> None:
        """Encode, canonicalize, choose the key."""
        columns = self.table.columns
        with paused():
            self.raw = [encode(self.relation.column(name)) for name in self.names]
        profiles = profile_columns(columns, self.raw, self.documents, self.chunks)
        naming = await name_columns(self.table, self.relation, self.raw, profiles, self.options, model)
        self.encoded, self.variants, self.calls = naming.encoded, naming.variants, naming.calls
        self.repairs, self.decisions, self.settlements = naming.repairs, naming.decisions, naming.settlements
        self.profiles = profile_columns(columns, self.encoded, self.documents, self.chunks)
        chooser = KeyChooser(self.table, self.profiles, self.encoded, self.documents, self.chunks)
        self.plan = ENTRIES if self.options.entries and not self.table.key else chooser.choose()
        key = ", ".join(self.plan.columns) or "none"
        reach = "across documents" if self.plan.across else "inside documents" if self.plan.within else "nothing"
        self.decisions.append(Choice(f"key of {self.table.name}", f"{key} ({reach})", self.plan.reason))

    def group(self) -> Merged:
        """Groups of rows, clear ones merged."""
        size = len(self.relation.row_ids)
        origins = {name: np.arange(size, dtype=np.int64) for name in self.names}
        codes = {name: e.codes.copy() for name, e in zip(self.names, self.encoded, strict=True)}
        filled = fill_missing_keys(self.plan, self.profiles, codes, self.documents, origins)
        for name, rows in filled.items():
            ids = tuple(self.relation.row_ids[r] for r in rows)
            value = self.relation.column(name)[int(origins[name][rows[0]])]
            reason = "the only value of its document, stated in two rows or more"
            sql = set_sql(self.table.name, name, value, ids)
            self.repairs.append(Repair("fill_key", ids, name, (None,), value, sql, reason))
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
        )
        if self.options.changed is not None:
            new = np.fromiter((d in self.options.changed for d in self.relation.document_ids), bool, size)
            self.touched = len(np.unique(groups[new]))
        else:
            self.touched = len(np.unique(groups))
        return merge_groups(self.frame, groups, self.plan, forced, self.options)

    async def ask(self, clusters: Sequence[Cluster], model: Model | None) -> None:
        """Settle what is open from memory, then by the model; what it does not settle stays open."""
        known = {s.signature: s for s in self.options.settled}
        waiting = []
        for cluster in clusters:
            for pending in cluster.pending:
                signature = self._signature(cluster, pending)
                remembered = known.get(signature) or (known.get(open_signature(signature, model)) if model else None)
                if remembered is None:
                    waiting.append((cluster, pending, signature))
                    continue
                self.settlements.append(remembered)
                if remembered.choice >= 0:
                    pending.verdict = Verdict(remembered.choice, "resolve_conflict", remembered.reason)
        if model is None or not waiting:
            return
        await self._choose(waiting, model)
        if self.options.programs:
            for cluster in clusters:
                await self._repair(cluster, model)

    async def _choose(self, waiting: list[tuple[Cluster, Pending, str]], model: Model) -> None:
        if self.options.max_calls is not None:
            waiting = waiting[: max(0, self.options.max_calls - self.calls) * self.options.batch]
        cases = [self._case(cluster, pending) for cluster, pending, _ in waiting]
        picks, calls = await settle_cases(model, self.table, cases, self.options.batch)
        self.calls += calls
        for (_, pending, signature), pick in zip(waiting, picks, strict=True):
            reason = f"the model: {pick.reason}"
            if pick.option is not None:
                pending.verdict = Verdict(pick.option, "resolve_conflict", reason)
                self.settlements.append(Settlement(signature, pick.option, reason))
            else:
                if pick.answered:
                    self.settlements.append(Settlement(open_signature(signature, model), LEFT_OPEN, reason))
                self.decisions.append(Choice(f"{self.table.name}.{self.names[pending.column]}", "left open", reason))

    async def _repair(self, cluster: Cluster, model: Model) -> None:
        """Let the model write a repair of a cluster's first open contradiction; the guard checks it."""
        still = [p for p in cluster.pending if p.verdict is None]
        bound = self.options.max_calls
        if not still or (bound is not None and self.calls >= bound):
            return
        ids, origins = self.relation.row_ids, self.frame.origins
        columns = [self.frame.values[c] for c in range(len(self.names))]
        rows = {ids[r]: tuple(v[int(o[r])] for v, o in zip(columns, origins, strict=True)) for r in cluster.rows}
        open_names = [self.names[p.column] for p in still]
        words = [self._words(r, open_names) for r in cluster.rows]
        additive = self.options.additive | {c.name for c in self.table.columns if c.additive}
        found = await propose_repair(model, self.table, Group(self.names, rows), words, open_names, additive)
        self.calls += found.calls
        subject = f"{self.table.name} {', '.join(map(str, cluster.key))}"
        if found.program is None or len(found.values) != 1:
            self.decisions.append(Choice(subject, "left open", found.reason))
            return
        pending = next(p for p in still if self.names[p.column] == found.program.column)
        sides = [n for n, s in enumerate(pending.sides) if s.value == found.values[0]]
        if found.program.operation == "aggregate":
            pending.verdict = Verdict(0, "aggregate", found.reason)
        elif sides:
            pending.verdict = Verdict(sides[0], "resolve_conflict", found.reason)

    def _words(self, row: int, columns: Sequence[str]) -> str:
        sources = [self.relation.source(row, name) for name in columns]
        said = "; ".join(f'"{s.quote or s.printed}"' + (f" ({s.section})" if s.section else "") for s in sources)
        document_id = self.relation.document_ids[row]
        document = self.relation.documents.get(document_id, DocumentSource(document_id))
        return f"{said} | {document.name or document.id} {document.date}".rstrip()

    def _case(self, cluster: Cluster, pending: Pending) -> Case:
        about = ", ".join(str(k) for k in cluster.key if k is not None)
        options = tuple(
            Shown(
                str(s.value),
                s.source.quote or s.source.printed,
                s.source.unit,
                s.source.section,
                s.document.name,
                s.document.date,
                s.source.rationale,
            )
            for s in pending.sides
        )
        return Case(self.names[pending.column], about, options)

    def _signature(self, cluster: Cluster, pending: Pending) -> str:
        sides = [f"{s.value!r}|{s.source.quote}|{s.document.id}" for s in pending.sides]
        parts = ("conflict", self.table.name, self.names[pending.column], repr(cluster.key), *sides)
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:24]

    def finish(self, merged: Merged) -> Reconciliation:
        """Assemble rows, repairs and open conflicts."""
        parts = list(merged.parts)
        conflicts: list[Conflict] = []
        for cluster in merged.clusters:
            self._record(cluster, conflicts)
            parts.extend(finish_cluster(self.frame, cluster))
        parts.sort(key=lambda p: min(p.rows))
        if merged.duplicates:
            several = [p for p in parts if len(p.rows) > 1]
            ids = tuple(self.relation.row_ids[r] for p in several for r in p.rows)
            sql = group_sql(self.table.name, self.names, self.plan.columns)
            reason = f"{len(ids)} rows tell of {len(several)} things without contradiction"
            self.repairs.insert(0, Repair("deduplicate", ids, "", (len(ids),), len(several), sql, reason))
        if merged.kept_apart:
            why = "equal keys, but most other columns contradict: kept as records of their own"
            self.decisions.append(Choice(self.table.name, f"{merged.kept_apart} rows kept apart", why))
        rows = self._corrected(self._rows(parts))
        return Reconciliation(
            table=self.table.name,
            columns=(*self.names, *(f"{name}_canonical" for name in self.variants)),
            rows=tuple(rows),
            key=self.plan.columns,
            across_documents=self.plan.across,
            repairs=tuple(self.repairs),
            conflicts=tuple(conflicts),
            decisions=tuple(self.decisions),
            settlements=tuple(self.settlements),
            conflict_groups=sum(1 for c in merged.clusters if c.pending),
            touched_groups=self.touched,
            calls=self.calls,
        )

    def _record(self, cluster: Cluster, conflicts: list[Conflict]) -> None:
        ids = self.relation.row_ids
        done = [*cluster.settled, *((p, p.verdict) for p in cluster.pending if p.verdict is not None)]
        for pending, verdict in done:
            name = self.names[pending.column]
            value = total(pending.sides) if verdict.operation == "aggregate" else pending.sides[verdict.side].value
            rows = tuple(ids[r] for r in cluster.rows)
            sql = set_sql(self.table.name, name, value, rows)
            before = tuple(s.value for s in pending.sides)
            self.repairs.append(Repair(verdict.operation, rows, name, before, value, sql, verdict.reason))
        for pending in cluster.pending:
            if pending.verdict is None:
                conflicts.append(self._conflict(cluster, pending))

    def _conflict(self, cluster: Cluster, pending: Pending) -> Conflict:
        ids = self.relation.row_ids
        candidates = tuple(
            Candidate(s.value, tuple(ids[r] for r in s.rows), s.source, s.document.id, s.document.name, s.document.date)
            for s in pending.sides
        )
        return Conflict(self.names[pending.column], cluster.key, candidates, "no criterion tells the sources apart")

    def _rows(self, parts: Sequence[Part]) -> list[ReconciledRow]:
        ids, document_ids = self.relation.row_ids, self.relation.document_ids
        origins = [o.tolist() for o in self.frame.origins]
        values = self.frame.values
        extra = []
        for name, variants in self.variants.items():
            place = self.names.index(name)
            examples, codes = self.raw[place].examples, self.raw[place].codes
            canonical = [examples[r] for r in variants.representative]
            forms = [canonical[variants.clusters[c]] if c >= 0 else None for c in codes.tolist()]
            extra.append((place, forms))
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

    def _corrected(self, rows: list[ReconciledRow]) -> list[ReconciledRow]:
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
                sql = set_sql(self.table.name, correction.column, correction.value, row.sources)
                reason = correction.reason or f"set by {correction.author}"
                self.repairs.append(
                    Repair("correct", row.sources, correction.column, (before,), correction.value, sql, reason)
                )
                rows[place] = ReconciledRow(
                    row.id, tuple(values), row.sources, tuple(supplied), row.document_id, (*row.flags, "corrected")
                )
        return rows
