"""The repairs of a run, each with the SQL that does it: missing keys, what was settled in a cluster, merges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sliders.reconcile.merge import Cluster, Frame, Part
from sliders.reconcile.relation import MemoryRelation
from sliders.reconcile.statements import copy_sql, fill_sql, merge_sql
from sliders.reconcile.values import Options, Repair


def filled_keys(relation: MemoryRelation, sql_name: str, name: str, rows: Sequence[int], origins: Iterable[int]) -> Repair:
    """Empty key cells that take the value of their document.

    Args:
        origins: the row that each row's value comes from.
    """
    ids, donors = relation.row_ids, np.asarray(origins)
    statements = tuple(fill_sql(sql_name, [(ids[r], ids[int(donors[r])]) for r in rows]))
    value = relation.column(name)[int(donors[rows[0]])]
    reason = "the only value of its document, stated in two rows or more"
    return Repair("fill_key", tuple(ids[r] for r in rows), name, (None,), value, statements, reason)


def cluster_repairs(frame: Frame, cluster: Cluster, options: Options) -> list[Repair]:
    """What code settled in a cluster, then the programs of the model."""
    if cluster.dropped:
        return []
    ids, repairs = frame.relation.row_ids, []
    rows = tuple(ids[r] for r in cluster.rows)
    for pending, ruling in cluster.settled:
        name, chosen = frame.names[pending.column], pending.sides[ruling.side]
        others = [ids[r] for side in pending.sides if side is not chosen for r in side.rows]
        statement = copy_sql(options.sql_name(name), ids[chosen.rows[0]], others)
        before = tuple(s.value for s in pending.sides)
        repairs.append(Repair(ruling.operation, rows, name, before, chosen.value, (statement,), ruling.reason))
    sides = {options.sql_name(frame.names[p.column]): p for p in cluster.pending}
    for step in cluster.steps:
        program, columns = step.program, step.after.columns
        open_ = sides.get(program.column)
        before = tuple(s.value for s in open_.sides) if open_ else ()
        place = columns.index(program.column) if program.column in columns else None
        first = next(iter(step.after.rows.values()))
        after = len(step.after.rows) if place is None else first[place]
        column = "" if place is None else frame.names[place]
        reason = f"the model: {program.reason}"
        repairs.append(
            Repair(program.operation, step.rows, column, before, after, program.statements, reason, "model", scoped=True)
        )
    return repairs


def merging_repairs(
    frame: Frame, parts: Sequence[Part], clusters: Sequence[Cluster], options: Options
) -> list[Repair]:
    """What brings the rows of one thing together: cells that are filled, then rows that are merged."""
    if not parts or not frame.names:
        return []
    ids, repairs = frame.relation.row_ids, []
    stays = np.fromiter((p.stays for p in parts), np.int64, len(parts))
    picks = np.array([p.picks for p in parts], dtype=np.int64)
    ruled = _ruled(clusters)
    filled: list[str] = []
    for column, codes in enumerate(frame.codes):
        given = picks[:, column]
        differs = (given >= 0) & (codes[stays] != codes[np.maximum(given, 0)])
        pairs = [(int(stays[n]), int(given[n])) for n in np.flatnonzero(differs)]
        pairs = [(r, g) for r, g in pairs if codes[r] < 0 or (r, column) not in ruled]
        filled += fill_sql(options.sql_name(frame.names[column]), [(ids[r], ids[g]) for r, g in pairs])
    several = [p for p in parts if len(p.rows) > 1]
    members = tuple(ids[r] for p in several for r in p.rows)
    if filled:
        reason = "an empty cell takes what another row of the same thing states; where it is open, what most sources state"
        repairs.append(Repair("consolidate", members, "", (len(members),), len(several), tuple(filled), reason))
    if several:
        merged = [(ids[r], ids[p.stays]) for p in several for r in p.rows if r != p.stays]
        reason = f"{len(members)} rows tell of {len(several)} things without contradiction"
        statements = tuple(merge_sql(merged))
        repairs.append(Repair("deduplicate", members, "", (len(members),), len(several), statements, reason))
    return repairs


def _ruled(clusters: Sequence[Cluster]) -> set[tuple[int, int]]:
    """Cells (row, column) that a statement before has set already."""
    return {
        (row, pending.column)
        for cluster in clusters if not cluster.dropped
        for pending in [*(p for p, _ in cluster.settled), *(p for p in cluster.pending if p.verdict)]
        for row in cluster.rows
    }  # fmt: skip
