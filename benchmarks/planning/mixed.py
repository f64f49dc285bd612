"""Routing on a mix of sets: is the chosen workflow the cheapest one that answers rightly? And
input that goes wrong.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from benchmarks.planning.bench import Bench, Case, routed
from sliders.api import Workspace
from sliders.errors import PlanError
from sliders.schema import Directive, Ignore, Locate, Verify

SUITES = (
    "tatqa_contexts",
    "finqa_pages",
    "qasper_papers",
    "hotpotqa_pooled",
    "twowiki_small",
    "musique_pooled",
    "ntsb_aviation",
    "restaurant_listings_e2e",
    "wiki_people",
    "sroie_receipts",
)
_TABLES = SUITES[6:]
_DOCUMENTS = 5
READING = ("lookup", "split", "stepwise", "whole_context")
_EQUAL = 1.1
"""A workflow within this factor of the cheapest one's tokens counts as the cheapest."""


def compare(bench: Bench, extraction: bool) -> dict[str, Any]:
    """Each question by the chosen workflow and by the others.

    Extraction, the dearest, is run where it is chosen, and for all where `extraction` is set.
    Questions that no workflow that was run answers rightly are counted apart. Sets whose questions
    go over many documents are asked over their first ones, each question in a workspace of its own.
    """
    each = max(1, bench.questions * 3 // 8) if bench.questions < 8 else 3
    confusion: Counter[str] = Counter()
    cheapest = judged = none_right = 0
    for suite in SUITES:
        for case in bench.cases(suite, each, _DOCUMENTS if suite in _TABLES else None):
            chosen = _arm(bench, case, "auto")
            names = [
                n
                for n in (*READING, *(("extract_and_query",) if extraction else ()))
                if n != chosen["workflow"]
            ]
            results = {chosen["workflow"]: chosen} | {
                name: _arm(bench, case, name) for name in names
            }
            right = {name: r["tokens"] for name, r in results.items() if r["score"] == 1.0}
            if not right:
                none_right += 1
                confusion[f"{chosen['workflow']} -> none"] += 1
                continue
            judged += 1
            best = min(right, key=lambda name: right[name])
            confusion[f"{chosen['workflow']} -> {best}"] += 1
            if chosen["workflow"] in right and right[chosen["workflow"]] <= _EQUAL * right[best]:
                cheapest += 1
    return {
        "routing.cheapest_right": round(cheapest / judged, 4) if judged else None,
        "routing.questions": judged,
        "routing.none_right": none_right,
        "routing.confusion": dict(sorted(confusion.items())),
    }


def _arm(bench: Bench, case: Case, workflow: str) -> dict[str, Any]:
    async def run(ws: Workspace) -> Any:
        return await routed(ws, case.gold.question, workflow=workflow), {}

    return bench.measured("routing", workflow, case, run)


BAD: dict[str, tuple[str, tuple[Directive, ...]]] = {
    "contradiction": (
        "What was the total revenue in 2019?",
        (
            Locate(("revenue table",)),
            Ignore(("revenue table",)),
            Verify(("revenue",), ("revenue",)),
        ),
    ),
    "missing_element": (
        "What was the total revenue in 2019?",
        (Locate(("chapter on martial arts",), ("code",)),),
    ),
    "other_language": ("Wie hoch waren die gesamten Einnahmen der Firma im Jahr 2019?", ()),
    "empty": ("  ", ()),
    "very_long": (
        "The company was founded a long time ago. " * 2500 + "What was the total revenue in 2019?",
        (),
    ),
}


def bad_input(bench: Bench) -> dict[str, str]:
    """What happens with input that goes wrong: a status and the decisions, or the
    message of the refusal.
    """
    case = bench.cases("tatqa_contexts", 1)[0]
    out: dict[str, str] = {}
    for name, (question, directives) in BAD.items():

        async def run(ws: Workspace, question: str = question, directives: Any = directives) -> Any:
            return await routed(ws, question, directives=directives), {}

        try:
            result = bench.measured(f"bad_{name}", "auto", case, run)
            out[name] = f"{result['status']} by {result['workflow']}; " + "; ".join(
                result["decisions"]
            )
        except PlanError as error:
            out[name] = f"refused: {error}"
    return out
