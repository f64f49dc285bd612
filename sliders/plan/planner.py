"""Profile and hints to the cheapest workflow that can answer (OkraLong, section 3.4): rules that can be printed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from sliders.plan.analysis import Pattern, TaskProfile
from sliders.plan.directives import Directive, Hints, Normalize, Verify
from sliders.plan.features import Corpus

WorkflowName = Literal["reply", "lookup", "split", "stepwise", "candidates", "whole_context", "extract_and_query"]
WORKFLOWS: tuple[WorkflowName, ...] = (
    "reply", "lookup", "split", "stepwise", "candidates", "whole_context", "extract_and_query",
)  # fmt: skip

CHARACTERS_A_TOKEN = 4
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
_WEIGHTS: dict[Pattern, tuple[float, float]] = {"exact": (3, 2), "semantic": (2, 3), "both": (1, 1)}


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
        exact, semantic = self.weights
        return (
            f"{self.workflow}: {self.segments} segments of {self.tokens} tokens, words : meaning {exact:g}:{semantic:g}"
            + (f", the best {self.first} first" if self.first else "") + (", extended" if self.extend else "")
            + (", calculated by code" if self.calculate else "")
        )  # fmt: skip


_EXPLAINS = re.compile(
    r"\bwhy\b|^\W*how (?!many|much|big|large|long|old|far|often|tall|high|deep)|\bin what way|"
    r"\b(?:explain|describe|summari[sz]e|discuss|elaborate)|\b(?:reasons?|purpose|impact|role) (?:of|for|behind)\b",
    re.I,
)


def choose_route(profile: TaskProfile, hints: Hints, corpus: Corpus) -> Route:
    """The route of a question.

    Contextual tasks read 8 segments and facts 5; where the first segments did not show the evidence, segments grow to
    400 and 256 tokens; the best of them are read before the others. What has to be counted, ranked or summed over
    documents is extracted and queried.
    """
    reasons = [profile.describe()]
    if profile.task == "aggregation" and corpus.documents > 1:
        return Route("extract_and_query", reasons=(*reasons, "counts and ranks over documents need a table"))
    contextual = profile.task in ("abstractive", "arithmetic")
    segments = _CONTEXTUAL if profile.task == "abstractive" else _FACTS
    tokens = _SMALL if profile.evidence else _LARGE if contextual else _MIDDLE
    weights = _WEIGHTS[profile.pattern]
    calculate = profile.task == "arithmetic"
    prose = profile.task == "abstractive" and bool(_EXPLAINS.search(hints.question))
    first = 0 if prose else _FIRST
    few = tokens if first else _WHOLE * segments * tokens
    if corpus.characters <= few * CHARACTERS_A_TOKEN:
        reasons.append("the documents are no longer than the passages would be")
        return Route("whole_context", segments, tokens, weights, False, calculate, prose, tuple(reasons))
    if any(isinstance(d, Verify) for d in hints.directives):
        reasons.append("constraints on the answer: an answer from each passage, ranked")
        return Route("candidates", segments, tokens, weights, False, calculate, prose, tuple(reasons))
    if profile.task == "multi_source":
        reasons.append("several things are named: each is searched for")
        return Route("split", segments + 1, tokens, weights, False, False, False, tuple(reasons))
    if profile.task == "multi_bridge":
        reasons.append("one fact leads to the next: step by step")
        return Route("stepwise", segments, tokens, weights, False, False, False, tuple(reasons))
    extend = profile.task == "arithmetic" and profile.evidence
    return Route("lookup", segments, tokens, weights, extend, calculate, prose, tuple(reasons), first=first)


_GREETING = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|evening|afternoon|night)|thanks?(?: you)?(?: (?:a lot|very much|so much))?|"
    r"bye|"
    r"goodbye|ok(?:ay)?|cool|great|how are you(?: today| doing)?|who are you|what is your name|what can you do|"
    r"can you help me)(?: there)?\W*$",
    re.I,
)
_SURE = 0.6
_WORD = re.compile(r"[^\W\d_]{2,}")
_QUESTION_WORDS = re.compile(
    r"^\W*(?:what|which|who|whose|whom|when|where|why|how|is|are|was|were|do|does|did|has|have|had|list|count|find|compare)\b"
    r".{12,}", re.I | re.S,
)  # fmt: skip

REPLIES: dict[str, str] = {
    "small_talk": "Hello. Ask a question about the documents: what they state, how many, which is the largest.",
    "nonsense": "No question can be made out of that. Ask something about the documents in a sentence.",
    "command": "That is not a question about the documents. Questions are answered here; other tasks are not done.",
    "statement": "That says something and asks nothing. Ask a question about the documents.",
}


def not_a_question(text: str, judged: tuple[str, float] | None, known_words: bool) -> str | None:
    """The kind of an input that is no question about the documents, None where it may be one; careful on purpose.

    Args:
        judged: kind and probability by the classifier, None where its embeddings are not at hand.
        known_words: whether a word of the input occurs in the documents; then only a greeting is turned away.
    """
    if _GREETING.match(text):
        return "small_talk"
    if not _WORD.search(text) and not re.search(r"\d", text):
        return "nonsense"
    if judged is None or judged[0] == "question" or judged[1] < _SURE:
        return None
    kind = judged[0]
    if kind == "statement" and text.rstrip().endswith("?"):
        return None
    if known_words and (kind == "nonsense" or _QUESTION_WORDS.match(text)):
        return None
    return kind


def search_words(question: str, hints: Hints) -> str:
    """The question with the other names of terms that the user says mean the same."""
    added = []
    for directive in hints.of(Normalize):
        assert isinstance(directive, Normalize)
        low = question.lower()
        if any(term.lower() in low for term in directive.terms):
            added += [term for term in directive.terms if term.lower() not in low]
    return " ".join([question, *added])


LONGEST_QUESTION = 600
"""Words. A longer question is cut to the sentences that ask, and those nearest to them."""
_SENTENCE = re.compile(r"[^.?!\n]+[.?!\n]*\s*")


def shortened(question: str) -> str:
    """A question of at most `LONGEST_QUESTION` words: the sentences that ask first, then the last ones, in order."""
    if len(question.split()) <= LONGEST_QUESTION:
        return question
    sentences = _SENTENCE.findall(question)
    order = sorted(range(len(sentences)), key=lambda n: ("?" not in sentences[n], -n))
    kept: set[int] = set()
    room = LONGEST_QUESTION
    for number in order:
        words = len(sentences[number].split())
        if words <= room:
            kept.add(number)
            room -= words
    if not kept:
        return " ".join(question.split()[-LONGEST_QUESTION:])
    return "".join(sentences[n] for n in sorted(kept)).strip()


def explain_lines(route: Route, hints: Hints, off: tuple[type[Directive], ...] = ()) -> tuple[str, ...]:
    """What the planner does, line by line."""
    lines = (f"workflow: {route.describe()}", *(f"because: {reason}" for reason in route.reasons))
    return (*lines, *hints.lines(off))
