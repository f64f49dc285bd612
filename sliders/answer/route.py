"""Kind and hints of a question to the cheapest workflow that can answer (OkraLong, section 3.4):
rules that can be printed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sliders.retrieval.sentences import sentence_spans
from sliders.schema.hints import Hints, Normalize, QuestionKind, Verify

WorkflowName = Literal[
    "reply", "lookup", "split", "stepwise", "candidates", "whole_context", "extract_and_query"
]
WORKFLOWS: tuple[WorkflowName, ...] = (
    "reply",
    "lookup",
    "split",
    "stepwise",
    "candidates",
    "whole_context",
    "extract_and_query",
)

CHARACTERS_A_TOKEN = 4
MAX_STEPS = 4
"""Searches of the step-wise workflow."""
_FACTS, _CONTEXTUAL = 5, 8
_MIDDLE, _LARGE = 256, 400
_SHARE = 0.4
"""Segments below this share of the best score are filtered out of the context: on held-out
questions of four sets the evidence that was found stayed the same from 0.1 to 0.4, with 8% fewer
tokens, and fell above.
"""
_WHOLE = 0.7
"""Documents up to this share of what the passages may take are read whole for an explanation; for
other questions those that are no longer than a segment: of a page of two or three segments, the
best one most often answers.
"""
_FIRST = 3
"""Segments that are read before the others: of a list of facts most stand in the best ones,
and a refusal reads on.
"""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The text that a question is asked of."""

    documents: int
    characters: int


@dataclass(frozen=True, slots=True)
class Route:
    """The chosen workflow with its search: `segments` of at most `tokens`, `weights`
    of words and meaning.

    A segment must reach `share` of the best score; `calculate` lets code work out a calculation;
    `prose` asks for sentences; `first` is how many segments are read before the others, which
    follow only where those do not answer (0: all at once). `reasons` are lines for `explain`.
    """

    workflow: WorkflowName
    segments: int = _FACTS
    tokens: int = _MIDDLE
    weights: tuple[float, float] = (1, 1)
    calculate: bool = False
    prose: bool = False
    reasons: tuple[str, ...] = ()
    share: float = _SHARE
    first: int = 0

    @property
    def budget(self) -> int:
        """Most tokens of passages that the first call may see."""
        return self.segments * self.tokens

    def describe(self) -> str:
        """One line for `explain`."""
        if self.workflow in ("reply", "extract_and_query", "whole_context"):
            return self.workflow.replace("_", " ")
        return (
            f"{self.workflow}: {self.segments} segments of {self.tokens} tokens"
            + (f", the best {self.first} first" if self.first else "")
            + (", calculated by code" if self.calculate else "")
        )

    def cost(self) -> str:
        """The calls that it makes at most; "" where the workflow reads no passages."""
        one, seen = f"{self.tokens} tokens of passages", f"{self.budget} tokens of passages"
        calls = {
            "lookup": f"{2 if self.first else 1} of {seen}",
            "split": f"2 of {seen}",
            "stepwise": f"{MAX_STEPS + 1} of {seen}",
            "candidates": f"{self.segments} of {one}",
            "whole_context": "1 of all documents",
        }
        most = calls.get(self.workflow, "")
        if not most or self.workflow == "whole_context":
            return most
        return f"{most}; where nothing answers one more reads what fits"


def choose_route(hints: Hints, corpus: Corpus) -> Route:
    """The route of a question.

    Where no model judged its kind, several documents are extracted and queried, the way that can
    answer any question, and one is looked into. An explanation reads 8 segments and facts 5, of
    which the best are read before the others. What has to be counted, ranked or summed over
    documents is extracted and queried.
    """
    kind = hints.kind
    read = _reading_route(kind)
    first = 0 if read.prose else _FIRST

    def way(workflow: WorkflowName, reason: str) -> Route:
        return replace(read, workflow=workflow, reasons=(*read.reasons, reason))

    if corpus.documents > 1 and kind in (None, "all"):
        told = "a table can answer any question"
        if kind:
            told = "counts and ranks over documents need a table"
        return replace(way("extract_and_query", told), first=first)
    if corpus.characters <= (read.tokens if first else _WHOLE * read.budget) * CHARACTERS_A_TOKEN:
        return way("whole_context", "the documents are no longer than the passages would be")
    if hints.of(Verify):
        return way("candidates", "constraints on the answer: an answer from each passage, ranked")
    if kind == "several":
        apart = way("split", "several things are named: each is searched for")
        return replace(apart, segments=read.segments + 1)
    if kind == "steps":
        return way("stepwise", "one fact leads to the next: step by step")
    return replace(read, first=first)


def _reading_route(kind: QuestionKind | None) -> Route:
    """A look into the documents, as wide as a question of that kind needs."""
    prose, calculate = kind == "explanation", kind == "calculation"
    return Route(
        "lookup",
        segments=_CONTEXTUAL if prose else _FACTS,
        tokens=_LARGE if prose or calculate else _MIDDLE,
        calculate=calculate,
        prose=prose,
        reasons=(
            f"kind of question: {kind}" if kind else "no model judged what kind of question it is",
        ),
    )


INSIST = (
    "As the model reads it, this asks nothing of the documents. Ask it in other words; or have it "
    "answered all the same by naming how to read: --workflow lookup on the command line, "
    'ask(question, workflow="lookup") in Python.'
)


def search_words(question: str, hints: Hints) -> str:
    """The question with the other names of terms that the user says mean the same."""
    low = question.lower()
    same = [d.terms for d in hints.of(Normalize) if any(term.lower() in low for term in d.terms)]
    return " ".join(
        [question, *(term for terms in same for term in terms if term.lower() not in low)]
    )


def with_verify(hints: Hints) -> str:
    """The question with what Verify says where its own words do not say it."""
    low, verify = hints.question.lower(), hints.of(Verify)
    said = [f"It is {p}." for d in verify for p in d.positive if p.lower() not in low]
    said += [f"It is not {n}." for d in verify for n in d.negative if n.lower() not in low]
    return " ".join([hints.question, *said])


LONGEST_QUESTION = 600
"""Words. A longer question is cut to the sentences that ask, and those nearest to them."""


def shortened(question: str) -> str:
    """A question of at most `LONGEST_QUESTION` words: the sentences that ask first, then the
    last ones, in order.
    """
    if len(question.split()) <= LONGEST_QUESTION:
        return question
    sentences = [question[start:end] for start, end in sentence_spans(question)]
    room, kept = LONGEST_QUESTION, list[int]()
    for number in sorted(range(len(sentences)), key=lambda n: ("?" not in sentences[n], -n)):
        if (words := len(sentences[number].split())) <= room:
            kept.append(number)
            room -= words
    return "".join(sentences[n] for n in sorted(kept)).strip() or " ".join(
        question.split()[-LONGEST_QUESTION:]
    )


def explained(route: Route, hints: Hints) -> tuple[tuple[str, str], ...]:
    """What the planner does: pairs such as ("workflow", "lookup") and ("because", a reason)."""
    cost = route.cost()
    return (
        ("workflow", route.describe()),
        *(("because", reason) for reason in route.reasons),
        *([("calls at most", cost)] if cost else []),
        *hints.told(),
    )


def explain_lines(route: Route, hints: Hints) -> tuple[str, ...]:
    """What the planner does, line by line."""
    return tuple(": ".join(pair) for pair in explained(route, hints))
