"""Pictures of a workspace: its cost, the values of a column, the course of a run.

They need matplotlib (`pip install 'sliders[report]'`). Each is a `Plot`, which a notebook shows.
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sliders.api import Workspace
from sliders.errors import SchemaError, SettingsError, StoreError
from sliders.progress import counted
from sliders.values.expected import NUMERIC

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _DOUBT = "#27598f", "#c2571a"


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture that a notebook shows; `figure` is matplotlib's own."""

    figure: Figure

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to a file; the format follows from its suffix (.png, .svg, .pdf)."""
        self.figure.savefig(path)

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        self.figure.savefig(out, format="png", dpi=110)
        return out.getvalue()


def _axes(width: float, height: float) -> tuple[Figure, Axes]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SettingsError("plots need matplotlib: pip install 'sliders[report]'") from error
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def cost_by_stage(workspace: Workspace, run: int | None = None) -> Plot:
    """Returns the tokens of each stage as bars, of one run or of all.

    Raises:
        SettingsError: matplotlib is not installed.
    """
    spent = workspace.session.catalog.calls.usage(run)
    figure, axes = _axes(7, 0.6 + 0.45 * max(1, len(spent)))
    names = list(spent)[::-1]
    prompts = [spent[name].prompt_tokens for name in names]
    axes.barh(names, prompts, color=_INK, label="prompt")
    axes.barh(
        names,
        [spent[name].completion_tokens for name in names],
        left=prompts,
        color=_DOUBT,
        label="generated",
    )
    for place, name in enumerate(names):
        one = spent[name]
        money = f", ${one.cost:.4f}" if one.cost else ""
        axes.annotate(
            f" {counted(one.calls, 'call')}, {one.seconds:.0f} s{money}",
            (one.tokens, place),
            va="center",
            fontsize=8,
        )
    axes.margins(x=0.25)
    axes.set_xlabel("tokens")
    axes.legend(frameon=False, loc="lower right")
    return Plot(figure)


def spread(workspace: Workspace, table: str, column: str) -> Plot:
    """Returns the values of one column: numbers on a line with their quartiles, other values as
    counts; unverified values are drawn apart.

    Raises:
        SchemaError: there is no such table or column.
        StoreError: the column has no values yet.
        SettingsError: matplotlib is not installed.
    """
    known = workspace.schema.table(table)
    described = known.column(column)
    relation = workspace.session.catalog.schemas.relation(table)
    name = relation.sql_name(column)
    frame = workspace.tables[table]
    if name not in frame:
        raise SchemaError(
            f"table {table!r} shows no column {column!r}; list its columns with: sliders schema"
        )
    doubted = _doubted(workspace, table, column)
    stated = frame[frame[name].notna()]
    values = [
        (v, row in doubted)
        for v, row in zip(stated[name].tolist(), stated["row_id"].tolist(), strict=True)
    ]
    if not values:
        raise StoreError(f"{table}.{column} has no values to show; ask something that needs it")
    if described.type in NUMERIC:
        figure, axes = _axes(7, 2.2)
        _along_a_line(axes, values)
        axes.set_xlabel(f"{column} ({described.measured_in})" if described.measured_in else column)
        return Plot(figure)
    return _counted(values)


def _counted(values: Sequence[tuple[Any, bool]]) -> Plot:
    """Counts of the twenty most frequent values, unverified ones apart."""
    counts = Counter((str(value), doubt) for value, doubt in values)
    of_kind = Counter(str(value) for value, _ in values)
    kinds = sorted(of_kind, key=lambda kind: of_kind[kind])[-20:]
    sure, unsure = ([counts[kind, doubt] for kind in kinds] for doubt in (False, True))
    figure, axes = _axes(7, 0.6 + 0.3 * len(kinds))
    axes.barh(kinds, sure, color=_INK, label="verified")
    axes.barh(kinds, unsure, left=sure, color=_DOUBT, label="unverified")
    axes.set_xlabel("rows")
    if any(unsure):
        axes.legend(frameon=False)
    return Plot(figure)


def _along_a_line(axes: Axes, values: Sequence[tuple[Any, bool]]) -> None:
    axes.boxplot(
        [v for v, _ in values],
        orientation="horizontal",
        widths=0.5,
        showfliers=False,
        medianprops={"color": _INK},
    )
    for doubt, color, label in ((False, _INK, "verified"), (True, _DOUBT, "unverified")):
        points = [
            (v, 1 + 0.12 * (number % 5 - 2))
            for number, (v, unsure) in enumerate(values)
            if unsure is doubt
        ]
        if points:
            axes.scatter(
                [x for x, _ in points],
                [y for _, y in points],
                color=color,
                s=18,
                alpha=0.7,
                label=label,
                zorder=3,
            )
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.legend(frameon=False, fontsize=8)


def _doubted(workspace: Workspace, table: str, column: str) -> set[str]:
    """The ids of rows in the data table whose value in the column is unverified."""
    catalog = workspace.session.catalog
    cells = ((row.id, row.cell(column)) for row in catalog.extractions.iterate(table))
    doubted = {
        row_id
        for row_id, cell in cells
        if cell is not None and (cell.doubt or cell.absence is not None)
    }
    merged = catalog.tables.merged_rows(table)
    return doubted | {row_id for row_id, sources in merged.items() if set(sources) & doubted}


def timeline(workspace: Workspace, run: int | None = None) -> Plot:
    """Returns the calls of one run (the last one when left out) over time, a line for each stage.

    Raises:
        StoreError: the run made no calls.
        SettingsError: matplotlib is not installed.
    """
    number = run if run is not None else max((r.id for r in workspace.runs()), default=0)
    calls = workspace.session.catalog.calls.times(number)
    if not calls:
        raise StoreError(f"run {number} made no calls; see: sliders runs")
    stages = list(dict.fromkeys(stage for stage, *_ in calls))
    start = min(ended - seconds for _, ended, seconds, _ in calls)
    figure, axes = _axes(7, 0.8 + 0.4 * len(stages))
    for place, stage in enumerate(reversed(stages)):
        own = [(ended, seconds, cached) for name, ended, seconds, cached in calls if name == stage]
        paid = [
            (ended - seconds - start, max(seconds, 0.01))
            for ended, seconds, cached in own
            if not cached
        ]
        axes.broken_barh(paid, (place - 0.35, 0.7), color=_INK, alpha=0.7)
        known = [ended - start for ended, _, cached in own if cached]
        axes.scatter(known, [place] * len(known), color=_DOUBT, s=10, zorder=3)
    axes.set_yticks(range(len(stages)), list(reversed(stages)))
    axes.set_xlabel("seconds since the first call (dots: calls that were known)")
    return Plot(figure)
