"""The kind that a model judges a question to be of, against the sets' own labels."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmarks.planning.bench import Bench, mean
from benchmarks.planning.labels import Labelled, labelled
from sliders.engine import connect, ways_of

QUESTIONS = 60


async def judged(bench: Bench, texts: Sequence[str]) -> list[str]:
    """The kinds of the texts as the model that reads hints judges them; "" where it does not."""
    models = connect(bench.settings)
    try:
        model = models.model_for("plan")
        return [read.kind or "" for read in await ways_of(model).hints.read(texts, model)]
    finally:
        await models.aclose()


def compare(bench: Bench, number: int = QUESTIONS) -> dict[str, Any]:
    """How many are judged right, how many questions are refused, and how many inputs
    that are none are not.
    """
    rows = labelled(number, folder=bench.evals)
    known = bench.ledger.get("kinds")
    if known is None or known["texts"] != [row.text for row in rows]:
        texts = [row.text for row in rows]
        known = bench.ledger.put(
            "kinds", {"texts": texts, "kinds": asyncio.run(judged(bench, texts))}
        )
    return measured(rows, known["kinds"])


def measured(rows: Sequence[Labelled], kinds: Sequence[str]) -> dict[str, Any]:
    """Figures of the judgements."""
    pairs = [(row.kind, said) for row, said in zip(rows, kinds, strict=True)]
    asked = [said for kind, said in pairs if kind != "no question"]
    none = [said for kind, said in pairs if kind == "no question"]
    majority = Counter(kind for kind, _ in pairs).most_common(1)[0][1]
    return {
        "analyzer.kind": round(mean([float(kind == said) for kind, said in pairs]), 4),
        "analyzer.kind_majority": round(majority / len(pairs), 4),
        "analyzer.kind_questions": len(pairs),
        "analyzer.refused_questions": asked.count("no question"),
        "analyzer.answered_no_questions": len(none) - none.count("no question"),
        "analyzer.confusion": dict(
            sorted(Counter(f"{kind} -> {said or 'not judged'}" for kind, said in pairs).items())
        ),
    }
