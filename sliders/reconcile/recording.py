"""The repairs of a run, each with its SQL: rulings in clusters, merges, and values that people
decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sliders.extraction.cell import Scalar
from sliders.reconcile.guard import RepairStep
from sliders.reconcile.merge import Cluster, Frame, Part, provisional
from sliders.reconcile.repairs import DecidedCorrection, Options, Repair
from sliders.reconcile.statements import complete_sql, copy_sql, merge_sql, set_sql


def cluster_repairs(
    frame: Frame, cluster: Cluster, parts: Sequence[Part], options: Options
) -> Iterator[Repair]:
    """Yields the repairs of a cluster: the rulings of code, then the programs of the model, then
    the values that are shown while a contradiction stays open.
    """
    if cluster.apart:
        return
    yield from _ruled_by_code(frame, cluster, options)
    in_question = {options.sql_name(frame.names[d.column]): d for d in cluster.pending}
    for step in cluster.outcome.steps if cluster.outcome else ():
        open_ = in_question.get(step.program.column)
        before = tuple(side.value for side in open_.sides) if open_ else ()
        yield _program_repair(frame, step, before)
    if cluster.one_row:
        yield from _standing_in(frame, cluster, parts[0][0], options)


def _ruled_by_code(frame: Frame, cluster: Cluster, options: Options) -> Iterator[Repair]:
    """Yields the contradictions that code settled; values that a person decided come later."""
    ids = frame.relation.row_ids
    rows = tuple(ids[r] for r in cluster.rows)
    for dispute in cluster.disputes:
        ruling = dispute.ruling
        if ruling is None or not dispute.by_code or ruling.operation == "correct":
            continue
        name, chosen = frame.names[dispute.column], dispute.sides[ruling.side]
        others = [ids[r] for side in dispute.sides if side is not chosen for r in side.rows]
        sql = (copy_sql(options.sql_name(name), ids[chosen.rows[0]], others),)
        before = tuple(side.value for side in dispute.sides)
        yield Repair(ruling.operation, rows, name, before, chosen.value, sql, ruling.reason)


def _program_repair(frame: Frame, step: RepairStep, before: tuple[Scalar, ...]) -> Repair:
    """Returns the repair for a program of the model, with the values before it."""
    program, columns = step.program, step.after.columns
    place = columns.index(program.column) if program.column in columns else None
    first = next(iter(step.after.rows.values()))
    return Repair(
        operation=program.operation,
        rows=step.rows,
        column="" if place is None else frame.names[place],
        before=before,
        after=len(step.after.rows) if place is None else first[place],
        statements=program.statements,
        reason=f"the model: {program.reason}",
        author="model",
        scoped=True,
    )


def _standing_in(frame: Frame, cluster: Cluster, stays: int, options: Options) -> Iterator[Repair]:
    """Yields repairs that set the value that a row shows while a contradiction stays open."""
    ids = frame.relation.row_ids
    rows = tuple(ids[r] for r in cluster.rows)
    for dispute in cluster.disputes:
        source = provisional(dispute).rows[0]
        codes, name = frame.codes[dispute.column], frame.names[dispute.column]
        if dispute.ruling is None and codes[stays] != codes[source]:
            statement = copy_sql(options.sql_name(name), ids[source], [ids[stays]])
            values = frame.values[dispute.column]
            reason = "open; what most sources state stands in"
            yield Repair(
                "consolidate", rows, name, (values[stays],), values[source], (statement,), reason
            )


def merging_repairs(frame: Frame, parts: Sequence[Part], options: Options) -> Iterator[Repair]:
    """Yields the repairs that merge the rows of one thing and then fill its empty cells."""
    several = [part for part in parts if len(part) > 1]
    if not several:
        return
    ids = frame.relation.row_ids
    members = tuple(ids[r] for part in several for r in part)
    reason = f"{len(members)} rows tell of {len(several)} things without contradiction"
    statements = tuple(merge_sql([(ids[r], ids[part[0]]) for part in several for r in part[1:]]))
    yield Repair("deduplicate", members, "", (len(members),), len(several), statements, reason)
    rows = np.array([r for part in several for r in part], dtype=np.int64)
    stays = np.array([part[0] for part in several for _ in part], dtype=np.int64)
    gaps = [
        n
        for n, codes in zip(frame.names, frame.codes, strict=True)
        if (codes[stays[codes[rows] >= 0]] < 0).any()
    ]
    if gaps:
        statements = tuple(complete_sql(options.sql_name(name)) for name in gaps)
        reason = "an empty cell takes what another row of the same thing states"
        yield Repair("consolidate", members, "", (len(members),), len(several), statements, reason)


def corrected(
    frame: Frame, correction: DecidedCorrection, rows: Sequence[int], stays: int, options: Options
) -> Repair:
    """Returns the repair that sets a value that a person decided.

    Args:
        frame: the table.
        correction: the decision.
        rows: the numbers of the rows that were merged into one.
        stays: the number of the row that stands for them and gets the value.
        options: the options of the reconciliation.
    """
    ids, place = frame.relation.row_ids, frame.names.index(correction.column)
    before = tuple(dict.fromkeys(frame.values[place][r] for r in rows))
    value = int(correction.value) if isinstance(correction.value, bool) else correction.value
    sql = set_sql(options.sql_name(correction.column), value, (ids[stays],))
    reason = correction.reason or f"set by {correction.author}"
    sources = tuple(ids[r] for r in rows)
    return Repair(
        "correct",
        sources,
        correction.column,
        before,
        correction.value,
        (sql,),
        reason,
        "person",
        correction=correction.id,
    )
