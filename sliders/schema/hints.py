"""Hints: the user's own words about where to look, what to skip and how to check (HALO,
section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeVar, get_args

from sliders.llm.model import Model, Request

QuestionKind = Literal[
    "fact", "explanation", "calculation", "several", "steps", "all", "no question"
]
"""The kinds of questions: one fact, a text that explains, figures for a calculation, a fact about
each of several things, a fact that leads to the next, something over all documents. "no question"
asks nothing of the documents.
"""
KINDS: tuple[QuestionKind, ...] = get_args(QuestionKind)


@dataclass(frozen=True, slots=True)
class Locate:
    """A hint where to look: `hints` name sections or tables, `kinds` are element kinds, `pages`
    ranges (first, last).
    """

    hints: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    pages: tuple[tuple[int, int], ...] = ()

    def __str__(self) -> str:
        parts = [f'"{hint}"' for hint in self.hints] + [
            f"every {kind.replace('_', ' ')}" for kind in self.kinds
        ]
        parts += [f"page {a}" if a == b else f"pages {a} to {b}" for a, b in self.pages]
        return "look only in " + ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Ignore:
    """A hint what to skip: subjects, wherever they are discussed."""

    topics: tuple[str, ...]

    def __str__(self) -> str:
        return "skip what is about " + ", ".join(f'"{topic}"' for topic in self.topics)


@dataclass(frozen=True, slots=True)
class Verify:
    """A hint how to check: what the answer should be about (`positive`), and what it must not be
    (`negative`).
    """

    positive: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f'prefer answers about "{p}"' for p in self.positive] + [
            f'not about "{n}"' for n in self.negative
        ]
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Normalize:
    """A hint that terms mean the same; the first term is the canonical one."""

    terms: tuple[str, ...]

    def __str__(self) -> str:
        return "the same: " + ", ".join(f'"{term}"' for term in self.terms)


@dataclass(frozen=True, slots=True)
class Precede:
    """A hint which source wins when two disagree; an empty `over` means over every other source."""

    prefer: str
    over: str = ""

    def __str__(self) -> str:
        return f'"{self.prefer}" wins over ' + (
            f'"{self.over}"' if self.over else "every other source"
        )


Directive = Locate | Ignore | Verify | Normalize | Precede
D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Hints:
    """A question and the hints that came with it; `notes` are lines for the user
    (contradictions that were dropped).

    `kind` is the model's judgement, None where no model was asked.
    """

    question: str
    directives: tuple[Directive, ...] = ()
    notes: tuple[str, ...] = ()
    kind: QuestionKind | None = None

    def of(self, cls: type[D]) -> tuple[D, ...]:
        """The hints of one class."""
        return tuple(d for d in self.directives if isinstance(d, cls))

    def told(self) -> tuple[tuple[str, str], ...]:
        """Returns the hints as they were understood: pairs of "hint" or "note" and its words."""
        return (*(("hint", str(d)) for d in self.directives), *(("note", n) for n in self.notes))

    def lines(self) -> tuple[str, ...]:
        """Returns the hints as they were understood, a line each, for the user."""
        return tuple(": ".join(pair) for pair in self.told())

    def with_given(self, directives: Sequence[Directive]) -> Hints:
        """Returns these hints after others that were given beside the question; contradictory ones
        are dropped.
        """
        if not directives:
            return self
        every = tuple(dict.fromkeys([*directives, *self.directives]))
        settled, notes = settle_hints(every)
        return replace(self, directives=settled, notes=(*self.notes, *notes))

    @property
    def narrow(self) -> bool:
        """True when they say more than what the answer is; such a question is asked by itself."""
        return len(self.directives) > len(self.of(Verify))


def settle_hints(directives: Sequence[Directive]) -> tuple[tuple[Directive, ...], tuple[str, ...]]:
    """Returns the hints without contradictions, and a line for each pair that was dropped because
    one wants what the other refuses.
    """
    places = _low(h for d in directives if isinstance(d, Locate) for h in d.hints)
    places &= _low(t for d in directives if isinstance(d, Ignore) for t in d.topics)
    terms = _low(p for d in directives if isinstance(d, Verify) for p in d.positive)
    terms &= _low(n for d in directives if isinstance(d, Verify) for n in d.negative)
    pairs = {(d.prefer.lower(), d.over.lower()) for d in directives if isinstance(d, Precede)}
    circular = {pair for pair in pairs if pair[::-1] in pairs}
    told = [f'look in "{place}" and ignore "{place}"' for place in sorted(places)]
    told += [f'the answer must and must not be "{term}"' for term in sorted(terms)]
    told += [f'"{a}" and "{b}" each win over the other' for a, b in sorted(circular) if a <= b]
    kept: list[Directive] = []
    for directive in directives:
        match directive:
            case Locate():
                directive = replace(directive, hints=_without(directive.hints, places))
            case Ignore():
                directive = Ignore(_without(directive.topics, places))
            case Verify():
                directive = Verify(
                    _without(directive.positive, terms), _without(directive.negative, terms)
                )
            case Precede() if (directive.prefer.lower(), directive.over.lower()) in circular:
                continue
        if directive not in (Locate(), Ignore(()), Verify()):
            kept.append(directive)
    return tuple(kept), tuple(
        f"hints contradict each other: {line}; both are dropped" for line in told
    )


def _low(words: Iterable[str]) -> set[str]:
    return {word.lower() for word in words}


def _without(words: Sequence[str], dropped: set[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word.lower() not in dropped)


class ReadHints(Protocol):
    """Returns the hints of each question."""

    async def __call__(self, texts: Sequence[str], model: Model) -> list[Hints]: ...


@dataclass(frozen=True, slots=True)
class HintReader:
    """The functions that read hints: `read` does, `requests` returns the calls that it needs for
    some questions.
    """

    read: ReadHints
    requests: Callable[[Sequence[str]], list[Request]]
