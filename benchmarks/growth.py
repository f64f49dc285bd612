"""`python -m benchmarks.growth --evals DIR`: how calls and tokens grow with documents, questions
and pages, with readers that make no mistake, so that only the way of asking counts.

The points go to `benchmarks/stored/growth.csv` and the picture to `docs/growth.svg`; `--redraw`
draws it again from the stored points. `exponent` is the slope of a cost in log-log space.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.checkout import ROOT, STORED
from benchmarks.store import commit, now

POINTS, PICTURE = STORED / "growth.csv", ROOT / "docs" / "growth.svg"
_DOCUMENTS, _QUESTIONS, _REPORTS = (1, 2, 4, 8, 16, 35), (1, 2, 4, 8, 19), (1, 2, 4, 7)
_WIDTH, _HEIGHT, _EDGE = 300, 260, 44


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


def measured(evals: Path) -> Iterator[dict[str, Any]]:
    """The points: `axis` says what grows, `size` is its number, `prompt` what the documents would
    take if they stood whole in one prompt for each question.
    """
    import sliders
    from benchmarks.economy.child import measure, measure_reports
    from benchmarks.economy.reports import load
    from benchmarks.fidelity.gold import suite_world

    world = suite_world(evals / "ntsb_aviation", True)
    for documents in _DOCUMENTS:
        part = dict(list(world.documents.items())[:documents])
        some = replace(world, documents=part, questions=world.questions[:1])
        yield _point("documents", len(part), measure(sliders, some))
    for questions in _QUESTIONS:
        asked = replace(world, questions=world.questions[:questions])
        yield _point("questions", len(asked.questions), measure(sliders, asked))
    facts = load()
    for reports in _REPORTS:
        part = dict(list(facts["documents"].items())[:reports])
        figures = measure_reports(sliders, evals, facts | {"documents": part})
        yield _point("pages", figures["pages"], figures)


def _point(axis: str, size: int, figures: dict[str, Any]) -> dict[str, Any]:
    whole = figures["document_tokens"] * figures["questions"]
    kept = {name: figures[name] for name in ("questions", "calls", "tokens")}
    point = {"axis": axis, "size": size, **kept, "prompt": whole, "taken": now(), "at": commit()}
    print(point, flush=True)
    return point


def stored_points(path: Path = POINTS) -> list[dict[str, Any]]:
    """The points of the last run."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    numbers = ("size", "questions", "calls", "tokens", "prompt")
    return [row | {name: int(row[name]) for name in numbers} for row in rows]


def picture(points: Sequence[dict[str, Any]]) -> str:
    """A panel for each axis as SVG: tokens as measured, and those of prompts with all documents."""
    axes = list(dict.fromkeys(point["axis"] for point in points))
    panels = [
        f'<g transform="translate({i * _WIDTH} 0)">{_panel(axis, points)}</g>'
        for i, axis in enumerate(axes)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH * len(axes)} {_HEIGHT}" '
        'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>'
        + "\n".join(panels)
        + "</svg>\n"
    )


def _panel(axis: str, points: Sequence[dict[str, Any]]) -> str:
    here = [point for point in points if point["axis"] == axis]
    most, high = here[-1]["size"], max(point["tokens"] for point in here) * 1.15
    right, floor = _WIDTH - 12, _HEIGHT - _EDGE

    def place(size: float, tokens: float) -> str:
        x = _EDGE + size / most * (right - _EDGE)
        return f"{x:.1f},{floor - tokens / high * (floor - 30):.1f}"

    def path(name: str) -> str:
        """The line, cut where it leaves the panel."""
        drawn, last = [], (0.0, 0.0)
        for size, tokens in [(float(point["size"]), float(point[name])) for point in here]:
            if tokens > high:
                share = (high - last[1]) / (tokens - last[1])
                drawn = drawn or [place(*last)]
                drawn.append(place(last[0] + share * (size - last[0]), high))
                break
            drawn.append(place(size, tokens))
            last = size, tokens
        return " ".join(drawn)

    parts = [
        f'<path d="M{_EDGE} 30V{floor}H{right}" fill="none" stroke="#999"/>',
        f'<polyline points="{path("prompt")}" fill="none" stroke="#888" stroke-dasharray="5 4"/>',
        f'<polyline points="{path("tokens")}" fill="none" stroke="#06c" stroke-width="2"/>',
        *(
            f'<circle cx="{at[0]}" cy="{at[1]}" r="3" fill="#06c"/>'
            for point in here
            if (at := place(point["size"], point["tokens"]).split(","))
        ),
        f'<text x="{_EDGE}" y="20">tokens, by {axis} (dashed: whole prompts)</text>',
        f'<text x="{right}" y="{floor + 18}" text-anchor="end">{most:,} {axis}</text>',
        f'<text x="{_EDGE}" y="{floor + 18}">0</text>',
    ]
    for share in (0.5, 1.0):
        tokens = high / 1.15 * share
        y = place(0, tokens).split(",")[1]
        said = f"{tokens / 1000:,.0f}k"
        parts.append(f'<text x="{_EDGE - 6}" y="{y}" text-anchor="end">{said}</text>')
    return "".join(parts)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure unless `--redraw`, and draw; 0 when it is done."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--evals", type=Path, default=Path("../shared/evals"))
    parser.add_argument("--redraw", action="store_true", help="only draw the stored points")
    args = parser.parse_args(argv)
    if not args.redraw:
        points = list(measured(args.evals))
        with POINTS.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(points[0]))
            writer.writeheader()
            writer.writerows(points)
    PICTURE.write_text(picture(stored_points()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
