"""Context filtering: accuracy and consistency (Semantic Decomposition, section 5.2)."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.planning.bench import Bench, mean, spread
from benchmarks.planning.labels import gold
from sliders.engine import connect
from sliders.llm import Dialect, Message, Model, Request, Response
from sliders.retrieval import select_context

ALPHA, REPEATS = 2.5, 5
_TEMPERATURE = 0.7
_OTHERS = 7
_TURN = re.compile(r"^\s*(?:\[)?(D\d+:\d+)\]?[:\s]\s*(.+)$", re.M)


def eci(correct: Sequence[int], repeats: int = REPEATS, alpha: float = ALPHA) -> float:
    """Mean over the items of (right evaluations / evaluations) to the power alpha."""
    return mean([(right / repeats) ** alpha for right in correct])


@dataclass
class Sampled:
    """A model that samples, so that repeating a call measures its consistency."""

    inner: Model

    @property
    def name(self) -> str:
        """The model's name."""
        return self.inner.name

    @property
    def context_tokens(self) -> int:
        """The model's window."""
        return self.inner.context_tokens

    @property
    def dialect(self) -> Dialect:
        """How the model is asked."""
        return self.inner.dialect

    def count_tokens(self, text: str) -> int:
        """The model's count."""
        return self.inner.count_tokens(text)

    async def generate(self, request: Request) -> Response:
        """The request with a temperature."""
        return await self.inner.generate(replace(request, temperature=_TEMPERATURE))


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns of a dialogue and which of them the question needs."""

    question: str
    turns: tuple[str, ...]
    needed: frozenset[int]


def conversations(bench: Bench, number: int, suite: str = "locomo_dialogues") -> list[Conversation]:
    """Each question with its evidence turns among turns of other places, in order."""
    turns: dict[str, str] = {}
    for path in sorted((bench.evals / suite / "dev" / "docs").glob("*.txt")):
        turns |= dict(_TURN.findall(path.read_text(encoding="utf-8")))
    names = list(turns)
    out = []
    for row in gold(suite, bench.evals):
        needed = [n for n in re.findall(r"D\d+:\d+", row["notes"]) if n in turns]
        if needed:
            others = [n for n in names if n not in needed]
            shown = sorted(
                [*needed, *random.Random(row["id"]).sample(others, _OTHERS)], key=names.index
            )
            out.append(
                Conversation(
                    row["question"],
                    tuple(turns[n] for n in shown),
                    frozenset(shown.index(n) for n in needed),
                )
            )
    return spread(out, number)


_FILTER = (
    "Messages of a conversation:\n{turns}\n\nQuestion: {question}\n"
    'Which messages are needed to answer it? Reply with JSON: {{"needed": [numbers]}}'
)
_SCHEMA = {
    "type": "object",
    "properties": {"needed": {"type": "array", "items": {"type": "integer"}, "maxItems": 10}},
    "required": ["needed"],
    "additionalProperties": False,
}


async def _by_model(bench: Bench, one: Conversation) -> list[int]:
    models = connect(bench.settings)
    listed = "\n".join(f"{n}. {turn}" for n, turn in enumerate(one.turns))
    prompt = _FILTER.format(turns=listed, question=one.question)
    try:
        request = Request("plan", (Message("user", prompt),), json_schema=_SCHEMA, max_tokens=60)
        reply = await Sampled(models.model_for("plan")).generate(request)
    finally:
        await models.aclose()
    data = reply.data if isinstance(reply.data, dict) else {}
    return [int(n) for n in data.get("needed", [])]


def filtering(bench: Bench, number: int) -> dict[str, Any]:
    """Keeping the needed turns by embeddings (the same every time) and by the model (sampled)."""
    embedded: list[int] = []
    model: list[int] = []
    kept_needed: list[float] = []
    model_needed: list[float] = []
    for one in conversations(bench, number):
        kept = set(select_context(list(one.turns), one.question, 10_000).kept)
        embedded += [REPEATS * ((n in kept) == (n in one.needed)) for n in range(len(one.turns))]
        kept_needed.append(len(kept & one.needed) / len(one.needed))
        key = f"filter:{one.question}"
        known = bench.ledger.get(key)
        if known is None:
            known = bench.ledger.put(
                key, {"kept": [asyncio.run(_by_model(bench, one)) for _ in range(REPEATS)]}
            )
        model_needed += [len(set(once) & one.needed) / len(one.needed) for once in known["kept"]]
        for n in range(len(one.turns)):
            model.append(sum((n in kept_once) == (n in one.needed) for kept_once in known["kept"]))
    return {
        "filter.eci": round(eci(embedded), 4),
        "filter.accuracy": round(mean([r / REPEATS for r in embedded]), 4),
        "filter.needed_kept": round(mean(kept_needed), 4),
        "filter.model_eci": round(eci(model), 4),
        "filter.model_needed_kept": round(mean(model_needed), 4),
        "filter.model_accuracy": round(mean([r / REPEATS for r in model]), 4),
    }
