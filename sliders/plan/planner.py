"""Profile and hints to the cheapest workflow that can answer (OkraLong, section 3.4): rules that can be printed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sliders.chunks.sentences import sentence_spans
from sliders.plan.analysis import TaskProfile
from sliders.plan.directives import Hints, Normalize, Verify
from sliders.plan.features import Corpus

WorkflowName = Literal["reply", "lookup", "split", "stepwise", "candidates", "whole_context", "extract_and_query"]
WORKFLOWS: tuple[WorkflowName, ...] = (
    "reply", "lookup", "split", "stepwise", "candidates", "whole_context", "extract_and_query",
)  # fmt: skip

CHARACTERS_A_TOKEN = 4
MAX_STEPS = 4
"""Searches of the step-wise workflow."""
_FACTS, _CONTEXTUAL = 5, 8
_SMALL, _MIDDLE, _LARGE = 150, 256, 400
_SHARE = 0.4
"""Segments below this share of the best score are filtered out of the context: on held-out questions of four sets the
evidence that was found stayed the same from 0.1 to 0.4, with 8% fewer tokens, and fell above."""
_WHOLE = 0.7
"""Documents up to this share of what the passages may take are read whole for an explanation; for other questions those
that are no longer than a segment: of a page of two or three segments, the best one most often answers."""
_FIRST = 3
"""Segments that are read before the others: of a list of facts most stand in the best ones, and a refusal reads on."""


@dataclass(frozen=True, slots=True)
class Route:
    """The chosen workflow with its search: `segments` of at most `tokens`, `weights` of words and meaning.

    `extend` adds the neighbours of the best one; a segment must reach `share` of the best score; `calculate` lets code
    work out a calculation; `prose` asks for sentences; `first` is how many segments are read before the others, which
    follow only where those do not answer (0: all at once). `reasons` are lines for `explain`.
    """

    workflow: WorkflowName
    segments: int = _FACTS
    tokens: int = _SMALL
    weights: tuple[float, float] = (1, 1)
    extend: bool = False
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
            + (f", the best {self.first} first" if self.first else "") + (", extended" if self.extend else "")
            + (", calculated by code" if self.calculate else "")
        )  # fmt: skip

    def cost(self) -> str:
        """What it takes at most, one line for `explain`; "" where the workflow reads no passages."""
        one, seen = f"{self.tokens} tokens of passages", f"{self.budget} tokens of passages"
        calls = {
            "lookup": f"{2 if self.first else 1} of {seen}", "split": f"2 of {seen}",
            "stepwise": f"{MAX_STEPS + 1} of {seen}", "candidates": f"{self.segments} of {one}",
            "whole_context": "1 of all documents",
        }  # fmt: skip
        told = calls.get(self.workflow, "")
        more = "; where nothing answers one more reads what fits" if self.workflow != "whole_context" else ""
        return told and f"calls at most: {told}{more}"


def choose_route(profile: TaskProfile, hints: Hints, corpus: Corpus) -> Route:
    """The route of a question.

    Contextual tasks read 8 segments and facts 5; where the first segments did not show the evidence, segments grow to
    400 and 256 tokens; the best of them are read before the others. What has to be counted, ranked or summed over
    documents is extracted and queried.
    """
    facts = [profile.describe()]
    if profile.task == "aggregation" and corpus.documents > 1:
        return Route("extract_and_query", reasons=(*facts, "counts and ranks over documents need a table"))
    contextual = profile.task in ("abstractive", "arithmetic")
    prose = profile.task == "abstractive"
    read = Route(
        "lookup", _CONTEXTUAL if prose else _FACTS,
        _SMALL if profile.evidence else _LARGE if contextual else _MIDDLE,
        calculate=profile.task == "arithmetic", prose=prose, reasons=tuple(facts),
    )  # fmt: skip
    first = 0 if prose else _FIRST

    def way(workflow: WorkflowName, reason: str, segments: int = 0) -> Route:
        return replace(read, workflow=workflow, segments=segments or read.segments, reasons=(*read.reasons, reason))

    if corpus.characters <= (read.tokens if first else _WHOLE * read.budget) * CHARACTERS_A_TOKEN:
        return way("whole_context", "the documents are no longer than the passages would be")
    if hints.of(Verify):
        return way("candidates", "constraints on the answer: an answer from each passage, ranked")
    if profile.task == "multi_source":
        return way("split", "several things are named: each is searched for", read.segments + 1)
    if profile.task == "multi_bridge":
        return way("stepwise", "one fact leads to the next: step by step")
    return replace(read, extend=read.calculate and profile.evidence, first=first)


_SURE, _SURER = 0.6, 0.85
"""How sure the classifier must be that an input is no question, and where a word of it occurs in the documents."""


REPLIES: dict[str, str] = {
    "small_talk": "Hello. Ask a question about the documents: what they state, how many, which is the largest.",
    "nonsense": "No question can be made out of that. Ask something about the documents in a sentence.",
    "command": "That is not a question about the documents. Questions are answered here; other tasks are not done.",
    "statement": "That says something and asks nothing. Ask a question about the documents.",
}


def not_a_question(text: str, judged: tuple[str, float], known_words: bool) -> str | None:
    """The kind of an input that is no question about the documents, None where it may be one; careful on purpose.

    Args:
        judged: kind and probability by the classifier.
        known_words: whether a word of the input occurs in the documents.
    """
    if not any(char.isalnum() for char in text):
        return "nonsense"
    kind, sure = judged
    if kind == "question" or sure < (_SURER if known_words else _SURE) or (known_words and kind == "nonsense"):
        return None
    return None if kind == "statement" and text.rstrip().endswith("?") else kind


def search_words(question: str, hints: Hints) -> str:
    """The question with the other names of terms that the user says mean the same."""
    low = question.lower()
    same = [d.terms for d in hints.of(Normalize) if any(term.lower() in low for term in d.terms)]
    return " ".join([question, *(term for terms in same for term in terms if term.lower() not in low)])


LONGEST_QUESTION = 600
"""Words. A longer question is cut to the sentences that ask, and those nearest to them."""


def shortened(question: str) -> str:
    """A question of at most `LONGEST_QUESTION` words: the sentences that ask first, then the last ones, in order."""
    if len(question.split()) <= LONGEST_QUESTION:
        return question
    sentences = [question[start:end] for start, end in sentence_spans(question)]
    room, kept = LONGEST_QUESTION, list[int]()
    for number in sorted(range(len(sentences)), key=lambda n: ("?" not in sentences[n], -n)):
        if (words := len(sentences[number].split())) <= room:
            kept.append(number)
            room -= words
    return "".join(sentences[n] for n in sorted(kept)).strip() or " ".join(question.split()[-LONGEST_QUESTION:])


def explain_lines(route: Route, hints: Hints) -> tuple[str, ...]:
    """What the planner does, line by line."""
    because = [f"because: {reason}" for reason in route.reasons]
    return (f"workflow: {route.describe()}", *because, *filter(None, [route.cost()]), *hints.lines())
