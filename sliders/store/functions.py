"""SQL functions that SQLite lacks: statistics for analysts, and the union of row sources for repairs."""

from __future__ import annotations

import json
import math
import sqlite3
import statistics
from collections import Counter
from typing import Any, cast

Number = int | float


class _Numbers:
    """Collects the numbers of a group; NULLs are left out, as SQL's own aggregates do."""

    name = ""

    def __init__(self) -> None:
        self.values: list[Number] = []

    def step(self, value: object) -> None:
        if value is None:
            return
        if not isinstance(value, (int, float)):
            raise ValueError(f"{self.name}() needs numbers, got {value!r}")
        self.values.append(value)


class _Median(_Numbers):
    name = "median"

    def finalize(self) -> Number | None:
        return statistics.median(self.values) if self.values else None


class _SampleDeviation(_Numbers):
    """Standard deviation of a sample (n - 1); NULL for fewer than two values."""

    name = "stdev"

    def finalize(self) -> float | None:
        return statistics.stdev(self.values) if len(self.values) > 1 else None


class _PopulationDeviation(_Numbers):
    name = "stdev_pop"

    def finalize(self) -> float | None:
        return statistics.pstdev(self.values) if self.values else None


class _Variance(_Numbers):
    name = "variance"

    def finalize(self) -> float | None:
        return float(statistics.variance(self.values)) if len(self.values) > 1 else None


class _Percentile(_Numbers):
    """`percentile(x, p)`: the value below which p percent of x lie, between neighbours in proportion."""

    name = "percentile"

    def __init__(self) -> None:
        super().__init__()
        self.percent = 50.0

    def step(self, value: object, percent: object = 50) -> None:
        if not isinstance(percent, (int, float)) or not 0 <= percent <= 100:
            raise ValueError(f"percentile() needs a percent from 0 to 100, got {percent!r}")
        self.percent = float(percent)
        super().step(value)

    def finalize(self) -> float | None:
        if not self.values:
            return None
        ordered = sorted(self.values)
        place = (len(ordered) - 1) * self.percent / 100
        low = math.floor(place)
        high = min(low + 1, len(ordered) - 1)
        return float(ordered[low] + (ordered[high] - ordered[low]) * (place - low))


class _Mode:
    """The most frequent value; the first one seen wins a tie."""

    def __init__(self) -> None:
        self.counts: Counter[object] = Counter()

    def step(self, value: object) -> None:
        if value is not None:
            self.counts[value] += 1

    def finalize(self) -> object:
        return self.counts.most_common(1)[0][0] if self.counts else None


class _SourcesUnion:
    """`sources_union(row_id, _sources)`: JSON list of the extracted rows that a merged row stands for."""

    def __init__(self) -> None:
        self.sources: dict[str, None] = {}

    def step(self, row_id: object, sources: object) -> None:
        for source in json.loads(str(sources)) if sources else [str(row_id)]:
            self.sources[source] = None

    def finalize(self) -> str | None:
        return json.dumps(list(self.sources), ensure_ascii=False, separators=(",", ":")) if self.sources else None


ANALYST_AGGREGATES: dict[str, tuple[int, type]] = {
    "median": (1, _Median),
    "stdev": (1, _SampleDeviation),
    "stdev_pop": (1, _PopulationDeviation),
    "variance": (1, _Variance),
    "percentile": (2, _Percentile),
    "mode": (1, _Mode),
}


def register_functions(connection: sqlite3.Connection) -> None:
    """Make `median stdev stdev_pop variance percentile mode sources_union` known to a connection."""
    for name, (arguments, aggregate) in {**ANALYST_AGGREGATES, "sources_union": (2, _SourcesUnion)}.items():
        connection.create_aggregate(name, arguments, cast("Any", aggregate))
