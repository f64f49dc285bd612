"""How a cost grows with the size: the slope in log-log space, and a plot against n log n
drawn as SVG by hand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

_WIDTH, _HEIGHT, _EDGE = 640, 420, 60


def exponent(sizes: Sequence[int], costs: Sequence[float]) -> tuple[float, float]:
    """Least-squares slopes of log cost and of log (n log n) on log n, over the same sizes."""
    x = [math.log(n) for n in sizes]
    return round(_slope(x, [math.log(max(c, 1e-9)) for c in costs]), 3), round(
        _slope(x, [v + math.log(v) for v in x]), 3
    )


def _slope(x: Sequence[float], y: Sequence[float]) -> float:
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum(
        (a - mean_x) ** 2 for a in x
    )


def plot(sizes: Sequence[int], seconds: Sequence[float], path: Path) -> Path:
    """Seconds by rows on logarithmic axes, beside c n log n through the smallest size."""
    law = [seconds[0] * n * math.log(n) / (sizes[0] * math.log(sizes[0])) for n in sizes]
    values = [*seconds, *law]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])

    def place(n: float, value: float) -> tuple[float, float]:
        across = (math.log10(n) - first) / (last - first)
        up = (math.log10(value) - low) / max(1, high - low)
        return _EDGE + across * (_WIDTH - 2 * _EDGE), _HEIGHT - _EDGE - up * (_HEIGHT - 2 * _EDGE)

    parts = [f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>']
    for power in range(low, high + 1):
        y = place(sizes[0], 10.0**power)[1]
        parts.append(f'<path d="M{_EDGE} {y:.1f}H{_WIDTH - _EDGE}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{_EDGE - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g} s</text>'
        )
    for n in sizes:
        x = place(n, 10.0**low)[0]
        parts.append(
            f'<text x="{x:.1f}" y="{_HEIGHT - _EDGE + 18}" text-anchor="middle">{n:,}</text>'
        )
    for name, series, look in (
        ("c n log n", law, 'stroke="#888" stroke-dasharray="5 4"'),
        ("measured", seconds, 'stroke="#06c" stroke-width="2"'),
    ):
        points = [place(n, value) for n, value in zip(sizes, series, strict=True)]
        parts.append(
            f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" '
            f'fill="none" {look}/>'
        )
        x, y = points[-1]
        below = 18 if series[-1] < max(law[-1], seconds[-1]) else -8
        parts.append(f'<text x="{x:.1f}" y="{y + below:.1f}" text-anchor="end">{name}</text>')
    parts.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 12}" text-anchor="middle">rows</text>')
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="12">'
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([head, *parts, "</svg>"]) + "\n", encoding="utf-8")
    return path
