"""Fixed retrieval, whole context and the planner; three ablations (OkraLong, tables 1 and 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

from benchmarks.planning.bench import (
    Bench,
    Case,
    fixed_retrieval,
    mean,
    routed,
    short_retrieval,
    whole_context,
    whole_tokens,
)
from sliders.answer import Route, choose_route
from sliders.api import Workspace
from sliders.engine import understand as routing

SUITES = ("tatqa_contexts", "finqa_pages", "qasper_papers", "hotpotqa_pooled", "twowiki_small")


def _arms(case: Case) -> dict[str, Any]:
    question = case.gold.question

    async def retrieval(ws: Workspace) -> Any:
        return await fixed_retrieval(ws, question), {}

    async def short(ws: Workspace) -> Any:
        return await short_retrieval(ws, question), {}

    async def whole(ws: Workspace) -> Any:
        return await whole_context(ws, question), {"needs": whole_tokens(ws)}

    async def ours(ws: Workspace) -> Any:
        return await routed(ws, question), {}

    async def precise(ws: Workspace) -> Any:
        return await routed(ws, question, cascade=True), {}

    return {
        "retrieval": retrieval,
        "short_retrieval": short,
        "whole": whole,
        "ours": ours,
        "precise": precise,
    }


def _without_workflow(hints: Any, corpus: Any) -> Route:
    return replace(choose_route(hints, corpus), workflow="lookup", calculate=False, prose=False)


def _without_adjustment(hints: Any, corpus: Any) -> Route:
    return replace(choose_route(hints, corpus), segments=5, tokens=256)


def _without_assembly(hints: Any, corpus: Any) -> Route:
    return replace(choose_route(hints, corpus), weights=(0, 1))


ABLATIONS = {
    "without_workflow": _without_workflow,
    "without_adjustment": _without_adjustment,
    "without_assembly": _without_assembly,
}


def compare(bench: Bench) -> dict[str, Any]:
    """Scores, tokens and seconds of each arm, and the issue's ratios."""
    table: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for suite in SUITES:
        cases = bench.cases(suite)
        for arm in _arms(
            cases[0]
        ):  # arm by arm: a server with a prefix cache then reads a shared context once
            for case in cases:
                run = _arms(case)[arm]
                known = bench.ledger.get(f"workflows:ours:{case.key}")
                if arm == "precise" and known and known["status"] != "not_found":
                    result = known  # nothing to read again: the same answer at the same cost
                else:
                    result = bench.measured("workflows", arm, case, run)
                table.setdefault(arm, {}).setdefault(suite, []).append(result)
    report: dict[str, Any] = {"by_set": {}, "average": {}}
    for arm, suites in table.items():
        report["by_set"][arm] = {s: _line(rows, arm) for s, rows in suites.items()}
        lines = list(report["by_set"][arm].values())
        report["average"][arm] = {
            k: round(mean([line[k] for line in lines if line[k] is not None]), 4) for k in lines[0]
        }
    average = report["average"]
    for arm in ("retrieval", "short_retrieval"):
        gain = average["ours"]["score"] - average[arm]["score"]
        report[f"workflows.gain_vs_{arm}"] = round(100 * gain, 2)
        report[f"workflows.tokens_vs_{arm}"] = _ratio(
            average["ours"]["tokens"], average[arm]["tokens"]
        )
    # Whole context is scored on what fits; precise mode is compared on the same questions.
    fitted = [
        (p, w)
        for s in SUITES
        for p, w in zip(table["precise"][s], table["whole"][s], strict=True)
        if w["status"] != "failed"
    ]
    every = [
        (p, w) for s in SUITES for p, w in zip(table["precise"][s], table["whole"][s], strict=True)
    ]
    report["precise.score_vs_whole"] = _ratio(
        mean([p["score"] for p, _ in fitted]), mean([w["score"] for _, w in fitted])
    )
    report["precise.tokens_vs_whole"] = _ratio(
        mean([p["tokens"] for p, _ in every]), mean([w["needs"] for _, w in every])
    )
    return report


def ablations(bench: Bench, suite: str = "tatqa_contexts") -> dict[str, Any]:
    """The planner with one part taken out."""
    report: dict[str, Any] = {}
    cases = bench.cases(suite)
    for name, rule in ABLATIONS.items():
        rows = []
        for case in cases:

            async def run(ws: Workspace, case: Case = case) -> Any:
                return await routed(ws, case.gold.question), {}

            with patch.object(routing, "choose_route", rule):
                rows.append(bench.measured("ablation", name, case, run))
        report[f"ablation.{name}"] = _line(rows, name)
    return report


def _line(rows: list[dict[str, Any]], arm: str) -> dict[str, Any]:
    scored = [r for r in rows if r["status"] != "failed"]
    tokens = [r["needs"] if arm == "whole" else r["tokens"] for r in rows]
    return {
        "score": round(mean([r["score"] for r in scored]), 4) if scored else None,
        "tokens": round(mean(tokens), 1),
        "seconds": round(mean([r["seconds"] for r in scored]), 2),
    }


def _ratio(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None
