"""Names on which nobody decided: the rows that would be one thing if they were one name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sliders.reconcile.keys import KeyPlan
from sliders.reconcile.merge import Frame
from sliders.store.facts import OpenNames


def with_rows(every: Sequence[OpenNames], frame: Frame, plan: KeyPlan) -> Iterator[OpenNames]:
    """Yields names on which nobody decided, with the rows that differ in the name alone among their
    key cells.
    """
    holders = {name: _holders(every, frame, name) for name in plan.columns}
    for names in every:
        if names.column not in holders:
            yield names
            continue
        others = [
            frame.codes[frame.names.index(name)] for name in plan.columns if name != names.column
        ]
        things: dict[tuple[int, ...], dict[int, int]] = {}
        for side, forms in enumerate(names.sides):
            for row in (row for form in forms for row in holders[names.column].get(form, ())):
                key = tuple(int(codes[row]) for codes in others)
                where = () if plan.across else (int(frame.documents[row]),)
                if -1 not in key:
                    things.setdefault((*key, *where), {}).setdefault(side, row)
        ids = frame.relation.row_ids
        yield replace(
            names,
            rows=tuple(
                tuple(ids[r] for r in rows.values()) for rows in things.values() if len(rows) > 1
            ),
        )


def _holders(every: Sequence[OpenNames], frame: Frame, column: str) -> dict[str, list[int]]:
    """The rows that print each form of a column's open names."""
    wanted = {
        form for names in every if names.column == column for forms in names.sides for form in forms
    }
    found: dict[str, list[int]] = {}
    for row, value in enumerate(frame.relation.column(column) if wanted else ()):
        if isinstance(value, str) and value in wanted:
            found.setdefault(value, []).append(row)
    return found
