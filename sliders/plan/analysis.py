"""What kind of task a question is, from its words and its first retrieved segments (OkraLong, sections 3.2 and A).

A linear classifier over the shipped embeddings and a few features of wording and retrieval; the weights and the record
of their training lie in `data/`. (The embedded model, asked the same, is right half as often.)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from sliders.chunks.embeddings import Embedder, default_embedder
from sliders.chunks.retrieval import RankedSegment
from sliders.plan.features import WORDS, Corpus, Features, question_vector, retrieval_features, shape_features, word_features

TaskClass = Literal["arithmetic", "extractive", "abstractive", "multi_source", "multi_bridge", "aggregation"]

TASK_CLASSES: tuple[TaskClass, ...] = (
    "abstractive", "aggregation", "arithmetic", "extractive", "multi_bridge", "multi_source",
)  # fmt: skip
SEGMENTS, SEGMENT_TOKENS = 3, 150
_SURE = 0.5
EMBEDDING_WEIGHT = 3.0
"""The unit vector of a question counts this much beside its words."""
_FEWER_WORDS = 128
"""Slots of words for the evidence head, which has few examples."""


@dataclass(frozen=True, slots=True)
class TaskProfile:
    """What the planner knows of a question before it spends anything.

    `evidence` says whether the first segments already hold what the answer needs; `confidence` is the probability of `task`.
    """

    task: TaskClass
    evidence: bool = False
    confidence: float = 0.0

    def describe(self) -> str:
        """One line for `explain`."""
        found = "evidence in the first segments" if self.evidence else "evidence not yet seen"
        return f"{self.task.replace('_', ' ')} question ({self.confidence:.0%}), {found}"


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
    vector = EMBEDDING_WEIGHT * question_vector(question, embedder)
    return np.hstack([word_features(question), shape_features(question), vector])


def evidence_row(
    question: str, wording: Features, passages: Sequence[RankedSegment], corpus: Corpus, shares: Features
) -> Features:
    """Input of the evidence head, shape (f,); `wording` is the question's `wording_row`, `shares` are the class probabilities.

    What the passages show is there for each class once more: a word that is missing says more of a bridge than of a calculation.
    """
    shown, words = retrieval_features(question, passages, corpus), wording[:WORDS].reshape(_FEWER_WORDS, -1).sum(axis=1)
    return np.hstack([shown, shares, np.outer(shares, shown).ravel(), words, wording[WORDS:]])


class Analyzer:
    """The shipped classifier with the shipped embeddings, which its weights were trained with."""

    def __init__(self) -> None:
        self._heads, self._embedder = _shipped(), default_embedder()

    def _shares(self, wording: Features, corpus: Corpus) -> Features:
        """Probabilities of `TASK_CLASSES`, shape (6,); one document alone has nothing to aggregate over."""
        shares: Features = self._heads["task"].probabilities(wording)[0]
        if corpus.documents <= 1:
            shares[self._heads["task"].classes.index("aggregation")] = 0.0
            shares /= shares.sum()
        return shares

    def analyze(self, question: str, passages: Sequence[RankedSegment], corpus: Corpus) -> TaskProfile:
        """The profile of a question from the best three segments of 150 tokens.

        A question that the classifier is not sure of (another language often is one) gets the careful default: extractive,
        no evidence.
        """
        wording = wording_row(question, self._embedder)
        shares = self._shares(wording, corpus)
        best = int(shares.argmax())
        if shares[best] < _SURE:
            return TaskProfile("extractive")
        row = evidence_row(question, wording, passages[:SEGMENTS], corpus, shares)
        evidence = self._heads["evidence"].probabilities(row)[0]
        return TaskProfile(
            cast(TaskClass, self._heads["task"].classes[best]),
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
def _shipped() -> Mapping[str, Head]:
    folder = files("sliders.plan").joinpath("data")
    record = json.loads(folder.joinpath("analyzer.json").read_text(encoding="utf-8"))
    parts = ("weights", "bias", "mean", "scale")
    with folder.joinpath("analyzer.npz").open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return {
            name: Head(tuple(classes), *(arrays[f"{name}/{part}"].astype(np.float64) for part in parts))
            for name, classes in record["heads"].items()
        }
