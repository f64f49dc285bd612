"""Tables and `RESULTS.md`, drawn from stored rows; the words around them stand in `page.md`."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.checkout import STORED
from benchmarks.growth import stored_points
from benchmarks.report import bootstrap
from benchmarks.store import Results

_HERE = Path(__file__).parent
_COLUMNS = (
    "suite",
    "system",
    "model",
    "documents",
    "questions",
    "accuracy",
    "calls",
    "tokens",
    "seconds",
    "failed",
)
SEED = 0


def comparison(results: Results, runs: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """One row a run: accuracy over all its questions with a 95% bootstrap interval;
    calls, tokens, seconds a question.

    A failed question counts as failed and stays out of accuracy, but what its calls cost is
    counted; a run without any answer has no accuracy.
    """
    rows = []
    for run in results.rows("SELECT * FROM runs ORDER BY suite, system, documents"):
        if runs is not None and run["run_id"] not in runs:
            continue
        answers = results.rows(
            "SELECT * FROM answers WHERE run_id = ? ORDER BY question_id", (run["run_id"],)
        )
        if not answers and not run["finished"]:
            continue  # stopped before its first answer: that says nothing of the system
        good = [a for a in answers if a["status"] != "failed"]
        hits = [bool(a["right"]) for a in good]
        paid = [a for a in answers if a["status"] != "failed" or a["calls"]]
        n = max(1, len(paid))
        tokens = sum(a["prompt_tokens"] + a["completion_tokens"] for a in paid)
        low, high = bootstrap(hits, SEED)
        failed = run["questions"] - len(good) if run["finished"] else len(answers) - len(good)
        error = run["error"] or next((a["error"] for a in answers if a["status"] == "failed"), "")
        rows.append(
            {
                "run_id": run["run_id"],
                "suite": run["suite"],
                "system": run["system"],
                "model": run["model"],
                "documents": run["documents"],
                "questions": run["questions"],
                "right": sum(hits),
                "answered": len(good),
                "accuracy": sum(hits) / len(hits) if hits else None,
                "low": low,
                "high": high,
                "calls": sum(a["calls"] for a in paid) / n,
                "tokens": tokens / n,
                "seconds": sum(a["seconds"] for a in paid) / n,
                "failed": failed,
                "error": error,
                "started": run["started"],
                "commit": run["commit_id"],
            }
        )
    return rows


def flat(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """`<suite>.<system>.accuracy`, `.tokens`, `.seconds` (each a question) and
    `.failed` (questions).
    """
    said: dict[str, Any] = {}
    for row in rows:
        for name in ("accuracy", "tokens", "seconds", "failed"):
            value = row[name]
            said[f"{row['suite']}.{row['system']}.{name}"] = (
                round(value, 4) if isinstance(value, float) else value
            )
    return said


def _cell(row: dict[str, Any], column: str) -> str:
    value = row[column]
    if column == "accuracy":
        if value is None:
            return "failed"
        return (
            f"{value:.0%} ({row['right']}/{row['answered']}; {row['low']:.0%} to {row['high']:.0%})"
        )
    if column == "calls":
        return f"{value:.1f}"
    return f"{value:,.0f}" if isinstance(value, float) else str(value)


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(
        [*lines, *("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)]
    )


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """The comparison as a Markdown table, and the errors of systems that failed below it."""
    said = table(_COLUMNS, [[_cell(row, c) for c in _COLUMNS] for row in rows])
    errors = [
        f"- {row['suite']} {row['system']}: {_one_line(row['error'])}"
        for row in rows
        if row["failed"]
    ]
    return said + ("\n\nFailing systems and their errors:\n" + "\n".join(errors) if errors else "")


def _one_line(text: str, width: int = 300) -> str:
    words = " ".join(text.split())
    return words if len(words) <= width else "… " + words[-width:]


def _packages(results: Results) -> str:
    """The peers and their versions, as their newest runs had them."""
    rows = results.rows("SELECT system, max(packages) AS packages FROM runs GROUP BY system")
    own = {row["system"]: (row["system"], f"{row['system']}-ai") for row in rows}
    return ", ".join(
        pin
        for row in rows
        for pin in json.loads(row["packages"])
        if pin.lower().replace("_", "-").split("==")[0].split("[")[0] in own[row["system"]]
    )


def _stored(name: str) -> list[dict[str, str]]:
    with (STORED / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def newest_sets(reader: str) -> list[dict[str, str]]:
    """The last measurement of each set with a reader."""
    rows = sorted(_stored("sets"), key=lambda row: row["measured"])
    return list({row["set"]: row for row in rows if row["reader"] == reader}.values())


def _sets(reader: str) -> str:
    header = ("set", "documents", "right", "silent", "tokens a question", "measured")
    return table(
        header,
        [
            [
                row["set"],
                row["documents"],
                f"{row['right']} of {row['questions']}",
                row["silent"],
                f"{int(row['tokens']):,}",
                f"{row['measured']}, {row['commit']}",
            ]
            for row in newest_sets(reader)
        ],
    )


def _sums() -> str:
    """Right, wrong and silent answers over all sets, for each reader."""
    said = []
    for reader, name in (("strong", "a strong reader"), ("embedded", "the embedded model")):
        rows = newest_sets(reader)
        asked, right, silent = (
            sum(int(row[key]) for row in rows) for key in ("questions", "right", "silent")
        )
        said.append(
            f"With {name}, {right} of {asked} answers are right; of the {asked - right} others, "
            f"{asked - right - silent} say that something is missing or in doubt, and {silent} do "
            "not."
        )
    return " ".join(said)


def _systems(results: Results) -> str:
    """A line for each system, a column for each set and model; below, when each was measured."""
    rows = comparison(results)
    columns = list(dict.fromkeys((r["suite"], r["documents"], r["model"]) for r in rows))
    cells = {(r["system"], (r["suite"], r["documents"], r["model"])): r for r in rows}
    systems = sorted(
        {row["system"] for row in rows}, key=lambda name: ("sliders" not in name, name)
    )
    header = ["system", *(f"`{s}`, {d} documents, {model}" for s, d, model in columns)]
    lines = [
        [system, *(_system_cell(cells.get((system, column))) for column in columns)]
        for system in systems
    ]
    days = sorted({row["started"][:10] for row in rows})
    commits = ", ".join(sorted({row["commit"] for row in rows}))
    return (
        f"{table(header, lines)}\n\nRight answers, tokens for each question in brackets. Measured "
        f"{' to '.join(dict.fromkeys((days[0], days[-1])))}, commits {commits}."
    )


def _system_cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    failed = f", {row['failed']} failed" if row["failed"] else ""
    return f"{row['right']} of {row['answered']}{failed} ({row['tokens']:,.0f})"


_ENGINE = (
    ("of 64 slots in use, on average", "utilisation", "{:.0%}"),
    ("documents of the largest run", "scale_36m.documents", "{:,.0f}"),
    ("their tokens with all prompts", "scale_36m.tokens", "{:,.0f}"),
    ("seconds to add them", "scale_36m.add_s", "{:.0f}"),
    ("seconds of its question", "scale_36m.ask_s", "{:.0f}"),
    ("most memory, MB", "scale_36m.peak_mb", "{:.0f}"),
    ("seconds grow with the tokens to the power of", "scale_exponent", "{:.2f}"),
    ("seconds and calls of a question asked again", "warm_same_s", "{:.1f}, none"),
)


def _engine(results: Results) -> str:
    rows = results.rows("SELECT name, value, taken, commit_id FROM measures ORDER BY taken")
    newest = {row["name"]: row for row in rows}
    kept = [(said, newest.get(f"engine: {name}"), form) for said, name, form in _ENGINE]
    return table(
        ("figure", "value", "measured", "commit"),
        [
            [said, form.format(row["value"]), row["taken"][:10], row["commit_id"]]
            for said, row, form in kept
            if row
        ],
    )


def _trust() -> str:
    header = ("what", "how often", "measured", "commit", "`python -m benchmarks.`")
    return table(
        header, [[*list(row.values())[:-1], f"`{row['command']}`"] for row in _stored("figures")]
    )


def page(results: Results) -> str:
    """The whole results page as Markdown."""
    points = stored_points()
    return (
        (_HERE / "page.md")
        .read_text(encoding="utf-8")
        .format(
            strong=_sets("strong"),
            embedded=_sets("embedded"),
            systems=_systems(results),
            packages=_packages(results) or "none",
            growth=growth_table(points),
            grown=f"{points[-1]['taken'][:10]}, {points[-1]['at']}",
            engine=_engine(results),
            sums=_sums(),
            trust=_trust(),
        )
    )


def growth_table(points: Sequence[dict[str, Any]]) -> str:
    """The end of each line of the picture."""
    last = {point["axis"]: point for point in points}.values()
    return table(
        ("what grows", "size", "questions", "calls", "tokens", "tokens of whole prompts"),
        [
            [
                p["axis"],
                p["size"],
                p["questions"],
                p["calls"],
                f"{p['tokens']:,}",
                f"{p['prompt']:,}",
            ]
            for p in last
        ],
    )


def write_page(results: Results, path: Path = _HERE / "RESULTS.md") -> Path:
    """Write `RESULTS.md` and the rows behind it as CSV beside it."""
    path.write_text(page(results), encoding="utf-8")
    results.export(path.parent / "stored")
    return path
