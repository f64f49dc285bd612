"""Hints on long filings: none, each operator alone, all; wrong hints with and without guards
(HALO, tables 4, 7, 9).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

from benchmarks.planning.bench import Bench, Case, mean, routed, spread, whole_tokens
from benchmarks.scoring import Prediction, score_answer
from benchmarks.suites import GoldQuestion, load_suite
from benchmarks.values import parse_number
from sliders.answer import Ranking, verify_scores
from sliders.answer import reading_workflows as workflows
from sliders.api import Workspace
from sliders.compact import parse_hints
from sliders.engine import workflow as routing
from sliders.schema import Directive, Ignore, Locate, Verify

SUITES = ("financebench_pdfs", "sec_10k_core")
#: What someone who knows filings would say, by the words of the question.
_KNOWLEDGE: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    (
        r"cash flow|capex|capital expenditure|depreciation",
        "statement of cash flows",
        ("cash flows",),
        ("segment",),
    ),
    (
        r"payable|inventor|asset|liabilit|working capital|debt|quick ratio|balance",
        "balance sheet",
        ("consolidated balance",),
        ("pro forma",),
    ),
    (
        r"revenue|sales|income|margin|earnings|profit|cost|expense|eps|tax",
        "income statement",
        ("consolidated total",),
        ("quarterly", "segment"),
    ),
)
_WRONG: tuple[Directive, ...] = (
    Locate(("executive officers section", "legal proceedings section")),
    Ignore(("financial statements", "net sales and income")),
    Verify(("martial arts",), ("finance",)),
)


def hints_for(question: str) -> tuple[Locate, Ignore, Verify]:
    """Locate, Ignore and Verify for a question about a filing."""
    low = question.lower()
    place, positive, negative = "selected financial data", ("reported",), ("estimate",)
    for pattern, where, must, must_not in _KNOWLEDGE:
        if re.search(pattern, low):
            place, positive, negative = where, must, must_not
            break
    return (
        Locate((place,), ("table",)),
        Ignore(("risk factors", "legal proceedings", "forward-looking statements")),
        Verify(positive, negative),
    )


def _printed(bench: Bench) -> list[Case]:
    """Questions of one long report whose answer is a number, and that give no
    hint in their own words.
    """
    every = [c for c in bench.cases(SUITES[0], 1000) if not parse_hints(c.gold.question).directives]
    numeric = [c for c in every if parse_number(str(c.gold.answer)) is not None]
    return spread(numeric, bench.questions)


def _of_filings(bench: Bench) -> list[Case]:
    """Questions for one number of one company among all filings, out of the gold table;
    in the words of the set's own.
    """
    tables = load_suite(bench.evals / SUITES[1]).tables
    frame = next(t.frame for t in tables if t.name == "income_as_filed")
    own = frame[frame["filing_fiscal_year"] == frame["fiscal_year"]]
    cases = []
    for number, row in enumerate(own.to_dict("records")):
        name, column = (("total revenue", "revenue_musd"), ("net income", "net_income_musd"))[
            number // 2 % 2
        ]
        question = (
            f"What was the {name} of {row['company']} in fiscal "
            f"{row['fiscal_year']} (USD millions)?"
        )
        gold = GoldQuestion(
            f"cell-{number}", question, (float(str(row[column])),), "number", tolerance=0.001
        )
        cases.append(Case(SUITES[1], gold))
    return spread(cases, bench.questions)


def _arms(question: str) -> dict[str, tuple[Directive, ...]]:
    place, skip, check = hints_for(question)
    return {
        "none": (),
        "locate": (place,),
        "ignore": (skip,),
        "verify": (check,),
        "all": (place, skip, check),
    }


def compare(bench: Bench) -> dict[str, Any]:
    """Accuracy, MRR and tokens of each arm, then wrong hints."""
    cases = [*_printed(bench), *_of_filings(bench)]
    table: dict[str, list[dict[str, Any]]] = {}
    needed: list[int] = []
    for case in cases:
        key = f"hints:needs:{case.key}"
        known = bench.ledger.get(key) or bench.ledger.put(
            key, {"needs": whole_tokens(bench.workspace(case))}
        )
        needed.append(known["needs"])
        for arm, directives in _arms(case.gold.question).items():
            table.setdefault(arm, []).append(_measure(bench, arm, case, directives))
        table.setdefault("wrong_guarded", []).append(_measure(bench, "wrong_guarded", case, _WRONG))
        with _no_guards():
            table.setdefault("wrong_unguarded", []).append(
                _measure(bench, "wrong_unguarded", case, _WRONG)
            )
    report: dict[str, Any] = {arm: _line(rows) for arm, rows in table.items()}
    report["whole_tokens"] = round(mean(needed), 1)
    report["hints.tokens_vs_whole"] = round(report["all"]["tokens"] / report["whole_tokens"], 4)
    report["hints.accuracy_gain"] = round(
        100 * (report["all"]["accuracy"] - report["none"]["accuracy"]), 2
    )
    report["guards.accuracy_gap"] = round(
        100 * (report["none"]["accuracy"] - report["wrong_guarded"]["accuracy"]), 2
    )
    report["guards.gap_without"] = round(
        100 * (report["none"]["accuracy"] - report["wrong_unguarded"]["accuracy"]), 2
    )
    return report


def _measure(bench: Bench, arm: str, case: Case, directives: Sequence[Directive]) -> dict[str, Any]:
    async def run(ws: Workspace) -> Any:
        answer = await routed(ws, case.gold.question, workflow="candidates", directives=directives)
        ranks = [n for n, row in enumerate(answer.rows, 1) if _right(case, str(row[0]))]
        return answer, {"rank": ranks[0] if ranks else None}

    return bench.measured("hints", arm, case, run)


def _right(case: Case, text: str) -> bool:
    return score_answer(case.gold, Prediction("answered", None, text)).right


def _line(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    stages: dict[str, int] = {}
    for row in rows:
        for stage, tokens in row["stages"].items():
            stages[stage] = stages.get(stage, 0) + tokens
    total = sum(stages.values()) or 1
    line: dict[str, Any] = {"accuracy": round(mean([float(r["score"] == 1.0) for r in rows]), 4)}
    for k in (1, 3, 5):
        line[f"mrr@{k}"] = round(
            mean([1 / r["rank"] if r["rank"] and r["rank"] <= k else 0.0 for r in rows]), 4
        )
    line["tokens"] = round(mean([r["tokens"] for r in rows]), 1)
    line["stages"] = {stage: round(tokens / total, 3) for stage, tokens in stages.items()}
    return line


class _no_guards:
    """Wrong hints are kept: no second run on the whole, no ranking by confidence."""

    def __enter__(self) -> None:
        def always(
            texts: Any, positive: Any, negative: Any, embedder: Any, confidences: Any = ()
        ) -> Ranking:
            scores = verify_scores(texts, positive, negative, embedder)
            order = tuple(sorted(range(len(texts)), key=lambda n: -scores[n]))
            return Ranking(order, scores, "verify")

        self._patches = [
            patch.object(workflows, "rank", always),
            patch.object(routing, "may_switch_off", lambda answer, narrowed: False),
        ]
        for each in self._patches:
            each.start()

    def __exit__(self, *_: object) -> None:
        for each in self._patches:
            each.stop()
