"""What kind of task a question is, from its words and its first retrieved segments (OkraLong, sections 3.2 and A).

A linear classifier over the shipped embeddings and a few features of wording and retrieval; the weights and the record
of their training lie in `data/`. The prompted model is the alternative.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from sliders.chunks.embeddings import Embedder
from sliders.errors import ModelRefusal, PlanError, TruncatedReply
from sliders.llm.dialect import Dialect
from sliders.llm.model import Model, Request, Usage
from sliders.llm.prompts import load_prompt
from sliders.plan.features import (
    QUESTION_CHARACTERS,
    Corpus,
    Features,
    Passage,
    question_features,
    question_vector,
    retrieval_features,
)

TaskClass = Literal["arithmetic", "extractive", "abstractive", "multi_source", "multi_bridge", "aggregation"]
Pattern = Literal["exact", "semantic", "both"]

TASK_CLASSES: tuple[TaskClass, ...] = (
    "abstractive", "aggregation", "arithmetic", "extractive", "multi_bridge", "multi_source",
)  # fmt: skip
SEGMENTS, SEGMENT_TOKENS = 3, 150
EMBEDDING_WEIGHT = 3.0
"""The unit vector of a question counts this much beside the 0/1 features of its wording."""


@dataclass(frozen=True, slots=True)
class TaskProfile:
    """What the planner knows of a question before it spends anything.

    `evidence` says whether the first segments already hold what the answer needs; `confidence` is the probability of
    `task`; `by` is "classifier", "model" or "default".
    """

    task: TaskClass
    pattern: Pattern = "both"
    evidence: bool = False
    confidence: float = 0.0
    by: str = "classifier"
    usage: Usage = field(default_factory=Usage)

    def describe(self) -> str:
        """One line for `explain`."""
        found = "evidence in the first segments" if self.evidence else "evidence not yet seen"
        return f"{self.task.replace('_', ' ')} question ({self.confidence:.0%}), {self.pattern} search, {found}"


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """A softmax classifier: `weights` (features, classes), `bias` (classes,), inputs scaled by `mean` and `scale`."""

    classes: tuple[str, ...]
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    def probabilities(self, rows: Features) -> Features:
        """Class probabilities, shape (n, classes), of rows of shape (n, features)."""
        logits = (np.atleast_2d(rows) - self.mean) / self.scale @ self.weights + self.bias
        logits -= logits.max(axis=1, keepdims=True)
        powers = np.exp(logits)
        shares: Features = powers / powers.sum(axis=1, keepdims=True)
        return shares


def wording_row(question: str, embedder: Embedder) -> Features:
    """Input of the class and kind heads, shape (f,)."""
    return np.hstack([question_features(question), EMBEDDING_WEIGHT * question_vector(question, embedder)])


def evidence_row(question: str, passages: Sequence[Passage], corpus: Corpus, shares: Features) -> Features:
    """Input of the evidence and pattern heads, shape (f,); `shares` are the class probabilities.

    What the passages show is there for each class once more: a word that is missing says more of a bridge than of a
    calculation.
    """
    shown = retrieval_features(question, passages, corpus)
    return np.hstack([shown, shares, question_features(question), np.outer(shares, shown).ravel()])


class Analyzer:
    """The shipped classifier.

    Args:
        heads: by name "task", "pattern", "evidence", "kind".
        embedder: must be the one that the weights were trained with.
    """

    def __init__(self, heads: Mapping[str, Head], embedder: Embedder) -> None:
        self._heads = dict(heads)
        self._embedder = embedder

    @classmethod
    def shipped(cls, embedder: Embedder) -> Analyzer:
        """The weights of the package.

        Raises:
            PlanError: they were trained with another embedder.
        """
        heads, trained_with = _shipped()
        if embedder.name != trained_with:
            raise PlanError(
                f"the analyzer's weights were trained with {trained_with}, not {embedder.name}; "
                "train others with benchmarks/train_analyzer.py or use that embedder"
            )
        return cls(heads, embedder)

    def task_probabilities(self, question: str, corpus: Corpus) -> Features:
        """Probabilities of `TASK_CLASSES`, shape (6,); one document alone has nothing to aggregate over."""
        shares: Features = self._heads["task"].probabilities(wording_row(question, self._embedder))[0]
        if corpus.documents <= 1:
            shares[self._heads["task"].classes.index("aggregation")] = 0.0
            shares /= shares.sum()
        return shares

    def analyze(self, question: str, passages: Sequence[Passage], corpus: Corpus) -> TaskProfile:
        """The profile of a question from the best three segments of 150 tokens.

        A question whose words are foreign to the classifier gets the careful default: extractive, both searches, no
        evidence.
        """
        if foreign(question):
            return TaskProfile("extractive", "both", False, 0.0, "default")
        shares = self.task_probabilities(question, corpus)
        best = int(shares.argmax())
        row = evidence_row(question, passages[:SEGMENTS], corpus, shares)
        evidence = self._heads["evidence"].probabilities(row)[0]
        pattern = self._heads["pattern"]
        return TaskProfile(
            cast(TaskClass, self._heads["task"].classes[best]),
            cast(Pattern, pattern.classes[int(pattern.probabilities(row)[0].argmax())]),
            self._heads["evidence"].classes[int(evidence.argmax())] == "yes",
            float(shares[best]),
        )

    def input_kind(self, text: str) -> tuple[str, float]:
        """What the input is ("question", "small_talk", "nonsense", "command", "statement"), and how sure that is."""
        head = self._heads["kind"]
        shares = head.probabilities(wording_row(text, self._embedder))[0]
        best = int(shares.argmax())
        return head.classes[best], float(shares[best])


@lru_cache(maxsize=1)
def _shipped() -> tuple[dict[str, Head], str]:
    folder = files("sliders.plan").joinpath("data")
    record = json.loads(folder.joinpath("analyzer.json").read_text(encoding="utf-8"))
    with folder.joinpath("analyzer.npz").open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        heads = {
            name: Head(tuple(classes), *(arrays[f"{name}/{part}"].astype(np.float64)
                                         for part in ("weights", "bias", "mean", "scale")))
            for name, classes in record["heads"].items()
        }  # fmt: skip
    return heads, str(record["embedder"])


_ENGLISH = frozenset({
    "the", "of", "and", "to", "in", "is", "was", "for", "on", "are", "with", "as", "by", "at", "from", "what",
    "which", "who", "how", "many", "did", "does", "has", "have", "were", "be", "that", "an", "a", "this", "it",
    "its", "their", "or", "not", "when", "where", "why", "much", "each", "all", "between", "list", "name", "give",
})  # fmt: skip


def foreign(question: str) -> bool:
    """Whether a question of some length has none of the commonest English words, or is mostly in another script."""
    letters = [c for c in question if c.isalpha()]
    if letters and sum(not c.isascii() for c in letters) > 0.3 * len(letters):
        return True
    words = question.lower().split()
    return len(words) >= 5 and sum(word.strip("?,.") in _ENGLISH for word in words) <= len(words) // 12


_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "question_type": {"type": "string", "enum": list(TASK_CLASSES)},
        "information": {"type": "string", "enum": ["exact", "semantic", "both"]},
        "containing": {"type": "string", "enum": ["yes", "no"]},
    },
    "required": ["question_type", "information", "containing"],
    "additionalProperties": False,
}


def analysis_request(question: str, passages: Sequence[Passage], dialect: Dialect) -> Request:
    """The call of the prompted alternative."""
    prompt = load_prompt("plan/analyze", dialect)
    messages = prompt.render(question=question[:QUESTION_CHARACTERS], passages=[p.text for p in passages[:SEGMENTS]])
    return Request("plan", messages, prompt.hash, _SCHEMA, max_tokens=60)


async def analyze_by_prompt(question: str, passages: Sequence[Passage], model: Model) -> TaskProfile:
    """The profile by asking the model; a reply that does not parse gives the default profile."""
    try:
        reply = await model.generate(analysis_request(question, passages, model.dialect))
    except (ModelRefusal, TruncatedReply) as error:
        spent = error.usage if isinstance(error.usage, Usage) else Usage()
        return TaskProfile("extractive", "both", False, 0.0, "default", spent)
    data = reply.data if isinstance(reply.data, dict) else {}
    task = data.get("question_type")
    pattern = data.get("information")
    return TaskProfile(
        task if task in TASK_CLASSES else "extractive", pattern if pattern in ("exact", "semantic", "both") else "both",
        data.get("containing") == "yes", 0.0, "model", reply.usage,
    )  # fmt: skip
