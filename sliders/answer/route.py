"""The choice of the cheapest workflow that can answer a question, from its kind and its hints
(OkraLong, section 3.4), by rules that `explain` can print.
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
"""The most searches of the step-wise workflow."""
_FACTS, _CONTEXTUAL = 5, 8
_MIDDLE, _LARGE = 256, 400
_SHARE = 0.4
"""Segments below this share of the best score are left out. On held-out questions of four sets, the
evidence found was the same from 0.1 to 0.4, with 8% fewer tokens, and less above.
"""
_FRAME = 450
"""The tokens of a call beside its passages: the rules before them, and the reply."""
_AGAIN = 0.3
"""The share of questions that the first segments do not answer."""
_STEPS = 3
"""The usual searches of the step-wise workflow."""
_FIRST = 3
"""The number of segments that are read before the others. The best segments hold most facts; when
they do not answer, the others are read.
"""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The size of the text that a question is asked about."""

    documents: int
    characters: int

    @property
    def whole(self) -> int:
        """The tokens of a call that reads all of it."""
        return self.characters // CHARACTERS_A_TOKEN + _FRAME


@dataclass(frozen=True, slots=True)
class Route:
    """The chosen workflow, with the settings of its search.

    Args:
        workflow: its name.
        segments: the number of segments.
        tokens: the most tokens of a segment.
        weights: the weights of words and of meaning.
        calculate: True when the answer is a calculation, which code computes.
        prose: True when the answer is sentences.
        reasons: lines for `explain`.
        share: segments below this share of the best score are left out.
        first: the number of segments that are read before the others; 0 reads all at once.
        whole: the tokens that one call takes for all documents; 0 where they are not known.
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
    whole: int = 0

    @property
    def price(self) -> int:
        """The tokens that a question usually takes; 0 where the documents' length decides it, and
        for tables, which `estimate` counts.
        """
        call = _FRAME + self.budget
        first = _FRAME + self.first * self.tokens + round(_AGAIN * call) if self.first else call
        prices = {
            "lookup": first,
            "split": _FRAME + call,
            "stepwise": _STEPS * call,
            "candidates": self.segments * (_FRAME + self.tokens),
            "whole_context": self.whole,
        }
        return prices.get(self.workflow, 0)

    @property
    def budget(self) -> int:
        """The most tokens of passages that the first call reads."""
        return self.segments * self.tokens

    def describe(self) -> str:
        """Returns one line for `explain`."""
        if self.workflow in ("reply", "extract_and_query", "whole_context"):
            return self.workflow.replace("_", " ")
        return (
            f"{self.workflow}: {self.segments} segments of {self.tokens} tokens"
            + (f", the best {self.first} first" if self.first else "")
            + (", calculated by code" if self.calculate else "")
        )

    def cost(self) -> str:
        """Returns the most calls that the workflow makes, in words; "" when it reads no
        passages.
        """
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
    """Returns the route of a question.

    When no model judged the kind of question, several documents are extracted and queried, which
    can answer any question, and a single document is read. An explanation reads 8 segments and a
    fact 5, the best of them first. Counts, ranks and sums over documents are extracted and queried.
    Documents are read whole where that takes no more tokens than the other way of reading.
    """
    kind = hints.kind
    read = replace(_reading_route(kind), whole=corpus.whole)
    first = 0 if read.prose else _FIRST

    def way(workflow: WorkflowName, reason: str) -> Route:
        return replace(read, workflow=workflow, reasons=(*read.reasons, reason))

    if corpus.documents > 1 and kind in (None, "all"):
        told = "a table can answer any question"
        if kind:
            told = "counts and ranks over documents need a table"
        return replace(way("extract_and_query", told), first=first)
    if hints.of(Verify):
        found = way("candidates", "constraints on the answer: an answer from each passage, ranked")
    elif kind == "several":
        apart = way("split", "several things are named: each is searched for")
        found = replace(apart, segments=read.segments + 1)
    elif kind == "steps":
        found = way("stepwise", "one fact leads to the next: step by step")
    else:
        found = replace(read, first=first)
    if corpus.whole <= found.price:
        least = f"read whole it takes {corpus.whole:,} tokens, {found.workflow} {found.price:,}"
        return way("whole_context", least)
    return found


def _reading_route(kind: QuestionKind | None) -> Route:
    """Returns the route that reads passages, as many as a question of that kind needs."""
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
    """Returns the question with the other names of terms, when the user said that they mean the
    same.
    """
    low = question.lower()
    same = [d.terms for d in hints.of(Normalize) if any(term.lower() in low for term in d.terms)]
    return " ".join(
        [question, *(term for terms in same for term in terms if term.lower() not in low)]
    )


def with_verify(hints: Hints) -> str:
    """Returns the question with the conditions of its Verify hints that its own words
    do not say.
    """
    low, verify = hints.question.lower(), hints.of(Verify)
    said = [f"It is {p}." for d in verify for p in d.positive if p.lower() not in low]
    said += [f"It is not {n}." for d in verify for n in d.negative if n.lower() not in low]
    return " ".join([hints.question, *said])


LONGEST_QUESTION = 600
"""The most words of a question. A longer question is cut to the sentences that ask and the
sentences next to them.
"""


def shortened(question: str) -> str:
    """Returns a question of at most `LONGEST_QUESTION` words: the sentences that ask, then the last
    sentences, in their order.
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
    """Returns the plan as pairs of a label and words, such as ("workflow", "lookup") and
    ("because", a reason).
    """
    cost, price = route.cost(), f"about {route.price:,}"
    price += f"; read whole {route.whole:,}" if route.price != route.whole else ""
    return (
        ("workflow", route.describe()),
        *(("because", reason) for reason in route.reasons),
        *([("calls at most", cost)] if cost else []),
        *([("tokens", price)] if route.price and route.whole else []),
        *hints.told(),
    )


def explain_lines(route: Route, hints: Hints) -> tuple[str, ...]:
    """Returns the plan line by line."""
    return tuple(": ".join(pair) for pair in explained(route, hints))
