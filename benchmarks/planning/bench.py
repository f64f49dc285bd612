"""What every part of the planner's benchmark needs: a resumable ledger, workspaces of sets,
one measured question.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from benchmarks.planning.labels import EVALS
from benchmarks.scoring import Prediction, score_answer
from benchmarks.subset import over_documents
from benchmarks.suites import GoldQuestion, load_suite
from benchmarks.values import token_f1
from sliders.answer import Answer, PassageSource, SearchContext, fitting
from sliders.api import Workspace
from sliders.engine import ask_questions, connect, passage_source
from sliders.llm import Message, Model, Request, Response
from sliders.schema import Directive
from sliders.settings import Settings

PLAIN = (
    "{passages}\n\nQuestion: {question}\nAnswer with the bare value, name or few words only. "
    "If the text does not hold the answer, say unanswerable."
)
_REPLY_TOKENS = 120
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Case:
    """One question of a set; `documents` are those that it is asked of, all when empty; `apart`
    keeps a workspace of its own, so that what was extracted for another question does not count.
    """

    suite: str
    gold: GoldQuestion
    documents: tuple[str, ...] = ()
    apart: bool = False

    @property
    def key(self) -> str:
        """Name in the ledger."""
        return f"{self.suite}/{self.gold.id}"


class Ledger:
    """Results that were measured, one line each, so that a run that was stopped goes on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[str, dict[str, Any]] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                self._rows[entry["key"]] = entry["result"]

    def get(self, key: str) -> dict[str, Any] | None:
        """A result, None when it was not measured."""
        return self._rows.get(key)

    def put(self, key: str, result: dict[str, Any]) -> dict[str, Any]:
        """Keep a result."""
        self._rows[key] = result
        with self._path.open("a", encoding="utf-8") as file:
            file.write(
                json.dumps({"key": key, "result": result}, ensure_ascii=False, default=str) + "\n"
            )
        return result


@dataclass
class Bench:
    """Model, ledger and workspaces of a run; every question gets a fresh call log:
    tokens are counted in full.
    """

    folder: Path
    settings: Settings
    questions: int
    evals: Path = EVALS
    ledger: Ledger = field(init=False)
    _open: dict[str, Workspace] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        name = "".join(c if c.isalnum() else "_" for c in self.settings.model)
        self.ledger = Ledger(self.folder / f"planner_{name}.jsonl")

    def cases(
        self, suite: str, number: int | None = None, documents: int | None = None
    ) -> list[Case]:
        """Questions spread over a set; over its first documents alone, each in a workspace of
        its own, where given.
        """
        loaded = load_suite(self.evals / suite)
        if documents is not None:
            loaded = over_documents(loaded, documents)
        alone = suite in ("tatqa_contexts", "finqa_pages", "qasper_papers", "financebench_pdfs")
        names = tuple(d.name for d in loaded.documents) if documents is not None else ()
        golds = spread(loaded.questions, number or self.questions)
        return [
            Case(suite, g, (g.docs or ("",))[:1] if alone else names, bool(names)) for g in golds
        ]

    def workspace(self, case: Case) -> Workspace:
        """The workspace of the case's documents; segment vectors stay in it between runs."""
        name = f"{case.suite}_{case.gold.id if case.apart else '_'.join(case.documents)}".replace(
            "/", "_"
        ).rstrip("_")
        if name not in self._open:
            for other in list(self._open):
                self._open.pop(other).close()
            ws = Workspace(self.folder / f"{name}.db", settings=self.settings)
            docs = self.evals / case.suite / "dev" / "docs"
            if not ws.session.catalog.documents.all():
                for path in [docs / d for d in case.documents] or [docs]:
                    ws.add(path)
            self._open[name] = ws
        ws = self._open[name]
        ws.session.models = connect(self.settings)
        return ws

    def close(self) -> None:
        """Close what is open."""
        for ws in self._open.values():
            ws.close()
        self._open.clear()

    def measured(self, part: str, arm: str, case: Case, run: Any) -> dict[str, Any]:
        """The kept result of an arm, or that of `run(workspace)`: an Answer with its
        tokens, seconds and score.
        """
        key = f"{part}:{arm}:{case.key}"
        known = self.ledger.get(key)
        if known is not None:
            return known
        ws = self.workspace(case)
        started = time.perf_counter()
        answer, extra = asyncio.run(_closing(ws, run))
        stages: dict[str, int] = {}
        for (stage, _), usage in ws.session.models.meter.by_stage_and_model.items():
            stages[stage] = stages.get(stage, 0) + usage.tokens
        return self.ledger.put(
            key,
            {
                "score": score(case.gold, answer),
                "tokens": answer.usage.tokens,
                "seconds": round(time.perf_counter() - started, 2),
                "status": answer.status,
                "workflow": answer.workflow,
                "text": answer.text[:300],
                "decisions": list(answer.decisions),
                "stages": stages,
                "rows": [list(row) for row in answer.rows[:5]],
                **extra,
            },
        )


async def _closing(ws: Workspace, run: Any) -> tuple[Answer, dict[str, Any]]:
    try:
        result: tuple[Answer, dict[str, Any]] = await run(ws)
        return result
    finally:
        await ws.session.models.aclose()


def score(gold: GoldQuestion, answer: Answer) -> float:
    """1 for a right answer; else the token F1 of an answer in words; 0 for numbers and refusals."""
    if score_answer(gold, Prediction(answer.status, answer.value, answer.text)).right:
        return 1.0
    if answer.status != "answered" or gold.answer_type == "number":
        return 0.0
    return round(max(token_f1(str(a), answer.text) for a in gold.answers), 4)


async def routed(
    ws: Workspace,
    question: str,
    *,
    workflow: str = "auto",
    directives: Sequence[Directive] = (),
    cascade: bool = False,
) -> Answer:
    """One question through the planner."""
    ws.session.models = ws.session.models.for_run()
    (answer,) = await ask_questions(ws.session, [question], workflow, directives, cascade=cascade)
    return answer


async def plain_answer(ws: Workspace, question: str, passages: str) -> Answer:
    """The baselines' single call: passages, question, short answer."""
    ws.session.models = ws.session.models.for_run()
    model: Model = ws.session.models.model_for("answer")
    prompt = PLAIN.format(passages=passages, question=question)
    reply: Response = await model.generate(
        Request("answer", (Message("user", prompt),), max_tokens=_REPLY_TOKENS)
    )
    refused = reply.text.strip().lower().startswith("unanswerable")
    return Answer(
        question,
        "not_found" if refused else "answered",
        None if refused else reply.text.strip(),
        reply.text.strip(),
        usage=reply.usage,
        workflow="baseline",
    )


async def fixed_retrieval(ws: Workspace, question: str) -> Answer:
    """Standard retrieval as OkraLong sets it up (section 4.2): the five nearest windows of
    512 tokens, one call.
    """
    texts = [
        w
        for d in ws.session.catalog.documents.all()
        for w in _windows(ws, ws.session.catalog.documents.text(d.id))
    ]
    vectors = ws.session.embedder.embed([question, *texts])
    nearest = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")[:5]
    return await plain_answer(ws, question, "\n\n".join(texts[n] for n in nearest))


async def short_retrieval(ws: Workspace, question: str) -> Answer:
    """Retrieval with this project's own segments: dense, five of 256 tokens, one call."""
    source: PassageSource = passage_source(ws.session, question)
    found = source.search(question, SearchContext(5, 256, (0, 1)))
    return await plain_answer(ws, question, "\n\n".join(f"[{p.header}]\n{p.text}" for p in found))


def _windows(ws: Workspace, text: str, tokens: int = 512) -> list[str]:
    """A text cut after words into windows of at most so many tokens."""
    count = ws.session.models.model_for("answer").count_tokens
    out, current, used = list[str](), list[str](), 0
    for word in re.findall(r"\S+\s*", text):
        size = count(word)
        if used + size > tokens and current:
            out.append("".join(current))
            current, used = [], 0
        current.append(word)
        used += size
    return [*out, "".join(current)] if current else out


def whole_tokens(ws: Workspace) -> int:
    """Tokens of all documents together."""
    count = ws.session.models.model_for("answer").count_tokens
    stored = ws.session.catalog.documents.all()
    return sum(count(ws.session.catalog.documents.text(d.id)) for d in stored)


async def whole_context(ws: Workspace, question: str) -> Answer:
    """Everything in one call where it fits; else a failed answer that only counts the tokens."""
    source = passage_source(ws.session, question)
    room = ws.session.models.model_for("answer").context_tokens - 400
    passages = source.whole(room)
    if passages is None:
        return Answer(question, "failed", None, "does not fit", workflow="baseline")
    return await plain_answer(
        ws, question, "\n\n".join(f"[{p.header}]\n{p.text}" for p in fitting(passages, room))
    )


def spread(items: Sequence[Item], number: int) -> list[Item]:
    """So many items, evenly spaced."""
    return list(items[:: max(1, len(items) // number)][:number])


def mean(values: Sequence[float]) -> float:
    """The mean, 0 of nothing."""
    return sum(values) / len(values) if values else 0.0
