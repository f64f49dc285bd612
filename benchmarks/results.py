"""Tables, plots and `RESULTS.md`, drawn from stored rows; nothing in them is typed by hand."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

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
                "corpus_characters": run["corpus_characters"],
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


def published() -> str:
    """The published figures, each table marked as such."""
    data = yaml.safe_load((_HERE / "published.yaml").read_text(encoding="utf-8"))
    parts = []
    for one in data["tables"]:
        rows = [[name, *values, "published"] for name, values in one["rows"].items()]
        note = f"\n\n{one['note']}" if one.get("note") else ""
        parts.append(
            f"**{one['title']}** ({one['source']})\n\n"
            f"{table(['system', *one['columns'], ''], rows)}{note}"
        )
    return "\n\n".join(parts)


def _facts(results: Results) -> str:
    runs = results.rows("SELECT DISTINCT machine, version, commit_id FROM runs")
    dates = results.rows("SELECT min(started) AS first, max(finished) AS last FROM runs")[0]
    lines = [f"- machine: {m}" for m in sorted({r["machine"] for r in runs})]
    for name, key in (("sliders", "version"), ("commit", "commit_id")):
        lines.append(f"- {name}: {', '.join(sorted({str(r[key]) for r in runs})) or 'none'}")
    lines += [f"- dates: {dates['first']} to {dates['last']}", f"- seed of the bootstrap: {SEED}"]
    return "\n".join(lines)


def _packages(results: Results) -> str:
    rows = []
    for run in results.rows(
        "SELECT system, max(packages) AS packages FROM runs GROUP BY system ORDER BY system"
    ):
        pins = json.loads(run["packages"])
        if pins:
            name = run["system"]
            main = [
                p
                for p in pins
                if p.lower().replace("_", "-").split("==")[0].split("[")[0] in _ours(name)
            ]
            rows.append([name, ", ".join(main or pins[:1]), len(pins)])
    return table(["system", "version", "pinned packages"], rows) if rows else ""


def _ours(system: str) -> set[str]:
    return {system, f"{system}-ai"}


def _measures(results: Results) -> str:
    rows = results.rows(
        "SELECT name, value, unit, taken, commit_id FROM measures ORDER BY name, taken"
    )
    newest = {row["name"]: row for row in rows}
    return table(
        ["figure", "value", "unit", "taken", "commit"],
        [
            [r["name"], f"{r['value']:g}", r["unit"], r["taken"], r["commit_id"]]
            for r in newest.values()
        ],
    )


def page(results: Results) -> str:
    """The whole results page as Markdown."""
    rows = comparison(results)
    parts = ["# Results", "Generated by `python -m benchmarks.compare --redraw` from stored rows."]
    if rows:
        parts += [_facts(results), "## Side by side", _HOW_TO_READ, markdown(rows)]
        packages = _packages(results)
        parts += ["## Versions of the peers", packages] if packages else []
    if results.rows("SELECT 1 FROM measures LIMIT 1"):
        parts += ["## Other figures", _measures(results)]
    parts += [
        "## Published figures",
        "As their authors printed them; not measured here.",
        published(),
    ]
    return "\n\n".join(parts) + "\n"


_HOW_TO_READ = (
    "Calls, tokens and seconds are means a question. Tokens are prompt and generated ones, counted "
    "at one proxy for all systems. A question on which a system fails is left out of accuracy, "
    "never counted as wrong; the calls that it made are counted."
)


def write_page(results: Results, path: Path = _HERE / "RESULTS.md") -> Path:
    """Write `RESULTS.md` and the rows behind it as CSV beside it."""
    path.write_text(page(results), encoding="utf-8")
    results.export(path.parent / "stored")
    readme = path.parent.parent / "README.md"
    if readme.is_file():
        readme.write_text(
            _with_headline(readme.read_text(encoding="utf-8"), comparison(results)),
            encoding="utf-8",
        )
    return path


_FROM, _TO = "<!-- results: generated -->\n", "<!-- /results -->"


def headline(rows: Sequence[dict[str, Any]]) -> str:
    """Accuracy of each system on each suite over what it answered, and tokens a question, for
    each size that was run.
    """
    suites = sorted({row["suite"] for row in rows})
    systems = sorted({row["system"] for row in rows})
    cells = defaultdict[tuple[str, str], list[str]](list)
    for row in rows:
        cells[row["system"], row["suite"]].append(
            f"{row['documents']} documents: {_headline_cell(row)}"
        )
    lines = [[system, *("; ".join(cells[system, suite]) for suite in suites)] for system in systems]
    return table(("system", *suites), lines)


def _headline_cell(row: dict[str, Any]) -> str:
    if row["accuracy"] is None:
        return f"failing ({row['tokens']:,.0f} tokens)"
    failing = f", {row['failed']} failing" if row["failed"] else ""
    return f"{row['accuracy']:.0%} of {row['answered']}{failing} ({row['tokens']:,.0f} tokens)"


def _with_headline(readme: str, rows: Sequence[dict[str, Any]]) -> str:
    """The page with the headline table between its two marks; as it is where it has no marks, or
    nothing was measured.
    """
    start, end = readme.find(_FROM), readme.find(_TO)
    if start < 0 or end < start or not rows:
        return readme
    return f"{readme[: start + len(_FROM)]}{headline(rows)}\n{readme[end:]}"


def plots(rows: Sequence[dict[str, Any]], folder: Path) -> list[Path]:
    """Accuracy against tokens a question, and tokens against corpus size;
    needs the `report` extra.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    drawn = [row for row in rows if row["accuracy"] is not None and row["tokens"] > 0]
    by_system = defaultdict[str, list[dict[str, Any]]](list)
    for row in drawn:
        by_system[row["system"]].append(row)
    written = []
    for name, x, y, labels, logarithmic in (
        ("accuracy_tokens", "tokens", "accuracy", ("tokens a question", "accuracy"), False),
        (
            "tokens_corpus",
            "corpus_characters",
            "tokens",
            ("corpus, characters", "tokens a question"),
            True,
        ),
    ):
        figure, axes = plt.subplots(figsize=(7, 4.5))
        for system, points in sorted(by_system.items()):
            points = sorted(points, key=lambda p: p[x])
            axes.plot(
                [p[x] for p in points],
                [p[y] for p in points],
                "o-" if logarithmic else "o",
                label=system,
            )
        axes.set(xscale="log", xlabel=labels[0], ylabel=labels[1])
        if logarithmic:
            axes.set_yscale("log")
        else:
            axes.set_ylim(-0.02, 1.02)
        if by_system:
            axes.legend(fontsize=8)
        axes.grid(alpha=0.3)
        figure.tight_layout()
        written.append(folder / f"{name}.svg")
        figure.savefig(written[-1], metadata={"Date": None})
        plt.close(figure)
    return written
