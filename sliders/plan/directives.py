"""Hints: what the user's own words say about where to look, what to skip and how to check (HALO, section 4).

Each hint is a frozen value. These patterns read them out of the question where the model does not (`hint_reader`). More
classes can be registered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar, runtime_checkable

from sliders.errors import PlanError


@runtime_checkable
class Directive(Protocol):
    """A hint: can be read from one sentence, and says in words what it will do."""

    @classmethod
    def parse(cls, sentence: str) -> Self | None:
        """The hint that the sentence gives, None when it gives none of this class."""
        ...

    def describe(self) -> str:
        """One line for `explain`."""
        ...


_KIND_WORDS: dict[str, str] = {
    "table": r"tables?|statements?|figures? table", "list_item": r"lists?|bullet points?",
    "caption": r"captions?", "heading": r"headings?|titles?",
    "paragraph": r"(?:running |body )?text|paragraphs?|prose", "code": r"code|listings?",
}  # fmt: skip
_PLACE = (
    r"(?:section|chapter|table|statement|appendix|note|part|page|paragraph|abstract|introduction|conclusion|schedule|"
    r"heading|text|list|caption|balance sheet|footnote)s?"
)
_LOOK = re.compile(
    rf"(?:\b(?:look|search|check|focus|find (?:it|this|the answer)"
    rf"|the answer (?:is|will be|can be found|should be|may be)(?: likely| probably| usually)?"
    rf"|it(?:'s| is) (?:likely |probably |usually )?|located|stated|given|shown|use only)"
    rf"(?: (?:up|only|mainly|first|just|at|on|in|under|within|inside|into))*)\s+"
    rf"(?P<what>[^.;:!?\n]*?\b{_PLACE}\b[^.;:!?\n]*)",
    re.I,
)
_ASKED_AFTER = re.compile(r",\s*(?:what|which|who|how|when|where|is|are|was|were|does|do|did|has|have)\b.*", re.I)
_LOOK_PAGES = re.compile(r"\bpages?\s+(\d{1,4})(?:\s*(?:-|–|to|and|through)\s*(\d{1,4}))?", re.I)
_IGNORE = re.compile(
    r"\b(?:ignore|skip(?: over)?|disregard|leave out|pay no attention to|do(?:n't| not) (?:look (?:at|in)|"
    r"read|consider|"
    r"use)|exclude(?: the)? (?:content|parts?|sections?) (?:about|on)|avoid reading)\s+(?P<what>[^.;!?\n]+)",
    re.I,
)
_CONTRAST = re.compile(
    r"\b(?P<yes>\w[\w\s%$&/'-]{1,60}?)(?:,\s*(?:and |but )?not|\s*\(\s*not|,?\s+NOT)\b\s+(?:the |a |an |any )?"
    r"(?P<no>(?!\w+ing\b)\w[\w\s%$&/'-]{1,60})"
)
_RATHER = re.compile(
    r"\b(?P<yes>\w[\w\s%$&/'-]{1,60}?),?\s+(?:rather than|instead of|as opposed to|but not)\s+(?:the |a |an |any )?"
    r"(?P<no>\w[\w\s%$&/'-]{1,60})",
    re.I,
)
_ONLY = re.compile(
    r"\b(?:only (?:return|report|give|use|count|consider|accept)|return only|report only|use only|give only|"
    r"make sure (?:it is|to use|to report|you use)|be sure to use|verify that it is|it must be|should be)\s+"
    r"(?P<yes>[^.;!?\n]+)",
    re.I,
)
_AVOID = re.compile(
    r"\b(?:do(?:n't| not) (?:return|report|give|include|confuse it with|mix it up with|mistake it for)|avoid|"
    r"never report|"
    r"not to be confused with)\s+(?P<no>[^.;!?\n]+)",
    re.I,
)
_SAME = (
    re.compile(
        r"\btreat\s+(?P<a>[^.;!?\n]+?)\s+(?:and|as)\s+(?P<b>[^.;!?\n]+?)\s+"
        r"as (?:(?:being )?(?:the same|equivalent|equal|identical|synonyms?|one)(?: thing| term)?)",
        re.I,
    ),
    re.compile(r"\b(?P<a>[\w][\w\s&.'-]{0,40}?)\s+(?:is the same as|means the same as|is another name for|equals)\s+"
               r"(?P<b>[\w][\w\s&.'-]{0,40})", re.I),
    re.compile(r"\b(?P<a>[\w][\w\s&.'-]{0,40}?)\s+and\s+(?P<b>[\w][\w\s&.'-]{0,40}?)\s+"
               r"(?:mean the same|are the same(?: thing)?|are synonyms|are equivalent)", re.I),
)  # fmt: skip
_PREFER = re.compile(
    r"\b(?:prefer|prioriti[sz]e|trust|favou?r)\s+(?P<a>[^.;!?\n]+?)\s+(?:over|to|before|above|more than)"
    r"\s+(?P<b>[^.;!?\n]+)",
    re.I,
)
_WINS = re.compile(
    r"\b(?P<a>[\w][\w\s&.'/-]{1,60}?)\s+(?:wins(?=\s+(?:over|if|when|where)\b|\W*$)|takes precedence|prevails|overrides)"
    r"(?:\s+over)?\s*(?P<b>[^.;!?\n]*)",
    re.I,
)
_SUPERSEDES = re.compile(
    r"\b(?P<a>(?:newer|newest|later|latest|(?:most|more) recent)\s[\w\s-]{1,40}?)\s+supersedes?\s*(?P<b>[^.;!?\n]*)", re.I
)
_ITEMS = re.compile(r"\s*(?:,|;|\band\b|\bor\b|/)\s*(?:the |any |all )?", re.I)
_ARTICLE = re.compile(r"^(?:the|any|all|a|an|general|that|those|these|in|on|at|under)\s+", re.I)
_TAIL = re.compile(
    r"\s+(?:that|which) (?:is|are|do|does)\b.*$|\s+(?:please|for this|when answering|"
    r"in (?:the|this) (?:document|report|filing|paper|question))\b.*$", re.I
)  # fmt: skip


def _clean(text: str) -> str:
    text = _TAIL.sub("", text.strip().strip("\"'“”()").strip())
    previous = ""
    while text != previous:
        previous, text = text, _ARTICLE.sub("", text).strip()
    return text.rstrip(".,;:").strip()


def _items(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for part in _ITEMS.split(text) if (item := _clean(part)) and len(item) > 1))


@dataclass(frozen=True, slots=True)
class Locate:
    """Where to look: `hints` name sections or tables, `kinds` are element kinds, `pages` ranges (first, last)."""

    hints: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    pages: tuple[tuple[int, int], ...] = ()

    @classmethod
    def parse(cls, sentence: str) -> Locate | None:
        """See `Directive.parse`."""
        pages = tuple((int(a), int(b or a)) for a, b in _LOOK_PAGES.findall(sentence) if _LOOK.search(sentence) or b)
        found = _LOOK.search(sentence)
        hints: list[str] = []
        kinds: list[str] = []
        if found:
            for item in _items(_LOOK_PAGES.sub("", _ASKED_AFTER.sub("", found.group("what")))):
                kind = next((k for k, words in _KIND_WORDS.items() if re.fullmatch(words, item, re.I)), None)
                if kind:
                    kinds.append(kind)
                elif item.lower() not in {"page", "pages"}:
                    hints.append(item)
        return cls(tuple(hints), tuple(kinds), pages) if hints or kinds or pages else None

    def describe(self) -> str:
        """See `Directive.describe`."""
        parts = [f'"{hint}"' for hint in self.hints] + [f"every {kind.replace('_', ' ')}" for kind in self.kinds]
        parts += [f"page {a}" if a == b else f"pages {a} to {b}" for a, b in self.pages]
        return "look only in " + ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Ignore:
    """What to skip: subjects of content, wherever they stand."""

    topics: tuple[str, ...]

    @classmethod
    def parse(cls, sentence: str) -> Ignore | None:
        """See `Directive.parse`."""
        found = _IGNORE.search(sentence)
        topics = _items(found.group("what")) if found else ()
        return cls(topics) if topics else None

    def describe(self) -> str:
        """See `Directive.describe`."""
        return "skip what is about " + ", ".join(f'"{topic}"' for topic in self.topics)


@dataclass(frozen=True, slots=True)
class Verify:
    """How to check: what the answer should be about (`positive`) and what it must not be (`negative`)."""

    positive: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()

    @classmethod
    def parse(cls, sentence: str) -> Verify | None:
        """See `Directive.parse`."""
        positive: list[str] = []
        negative: list[str] = []
        # "Who was elected instead of X?" asks; only a plain contrast is a hint inside of a question.
        asks = sentence.endswith("?")
        found = _CONTRAST.search(sentence) or (None if asks else _RATHER.search(sentence))
        if found:
            positive.append(_last_phrase(found.group("yes")))
            negative.append(_clean(found.group("no")))
        elif not asks:
            if found := _ONLY.search(sentence):
                positive.append(_clean(found.group("yes")))
            if found := _AVOID.search(sentence):
                negative += _items(found.group("no"))
        positive = [p for p in positive if p]
        negative = [n for n in negative if n]
        return cls(tuple(positive), tuple(negative)) if positive or negative else None

    def describe(self) -> str:
        """See `Directive.describe`."""
        parts = [f'prefer answers about "{p}"' for p in self.positive] + [f'not about "{n}"' for n in self.negative]
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Normalize:
    """Terms that mean the same; the first one is the canonical one."""

    terms: tuple[str, ...]

    @classmethod
    def parse(cls, sentence: str) -> Normalize | None:
        """See `Directive.parse`."""
        for pattern in _SAME:
            if found := pattern.search(sentence):
                terms = tuple(dict.fromkeys(t for g in ("a", "b") for t in _items(found.group(g))))
                if len(terms) > 1:
                    return cls(terms)
        return None

    def describe(self) -> str:
        """See `Directive.describe`."""
        return "the same: " + ", ".join(f'"{term}"' for term in self.terms)


@dataclass(frozen=True, slots=True)
class Precede:
    """Which source wins where two disagree; an empty `over` means over every other source."""

    prefer: str
    over: str = ""

    @classmethod
    def parse(cls, sentence: str) -> Precede | None:
        """See `Directive.parse`."""
        told = None if sentence.endswith("?") else _WINS.search(sentence)  # "Who has three wins?" asks
        found = _PREFER.search(sentence) or told or _SUPERSEDES.search(sentence)
        prefer = _clean(found.group("a")) if found else ""
        return cls(prefer, _clean(found.group("b"))) if found and prefer else None

    def describe(self) -> str:
        """See `Directive.describe`."""
        return f'"{self.prefer}" wins over ' + (f'"{self.over}"' if self.over else "every other source")


CLASSES: list[type[Directive]] = [Precede, Normalize, Ignore, Locate, Verify]
"""The classes of hints that are read from text, in the order in which they are tried."""


def register(cls: type[Directive]) -> type[Directive]:
    """Add a class of the user; usable as a decorator. It is tried before the built-in ones.

    Raises PlanError: it has no `parse` or no `describe`.
    """
    for name in ("parse", "describe"):
        if not callable(getattr(cls, name, None)):
            raise PlanError(f"the hint class {cls.__name__} has no method {name}(); add it before you register it")
    if cls not in CLASSES:
        CLASSES.insert(0, cls)
    return cls


D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Hints:
    """A question and the hints that came with it; `notes` are lines for the user (contradictions that were dropped)."""

    question: str
    directives: tuple[Directive, ...] = ()
    notes: tuple[str, ...] = ()

    def of(self, cls: type[D]) -> tuple[D, ...]:
        """The hints of one class."""
        return tuple(d for d in self.directives if isinstance(d, cls))

    def without(self, *classes: type[Directive]) -> Hints:
        """The same with some classes switched off."""
        return Hints(self.question, tuple(d for d in self.directives if not isinstance(d, classes)), self.notes)

    def lines(self) -> tuple[str, ...]:
        """The hints as they were understood, a line each, for the user."""
        return (*(f"hint: {d.describe()}" for d in self.directives), *(f"note: {note}" for note in self.notes))


_SENTENCE = re.compile(r"[^.!?\n;]+(?:\.(?=\d)[^.!?\n;]*)*[.!?;]*\s*")
_ASKS = re.compile(
    r"\?|^\s*(?:what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|has|have|can|list|name|give|count|"
    r"find|compute|calculate|compare)\b",
    re.I,
)


def parse_hints(text: str, extra: Sequence[Directive] = ()) -> Hints:
    """The question without the sentences that are hints only, and the hints, those of `extra` first.

    A sentence that asks and hints at once stays in the question. Contradictions are dropped and said.
    """
    found: list[Directive] = list(extra)
    kept: list[str] = []
    for sentence in _SENTENCE.findall(text[:20_000]):
        parsed = [d for cls in CLASSES if (d := cls.parse(sentence.strip())) is not None]
        # "ignore X" and "do not report X" are read by more than one class: the first one that reads it has it.
        found.extend(parsed[:1])
        if not parsed or _ASKS.search(sentence):
            kept.append(sentence)
    question = "".join(kept).strip()
    if not question or len(text) > 20_000:
        question = text.strip()
    directives, notes = settle(tuple(dict.fromkeys(found)))
    return Hints(question, directives, notes)


def settle(directives: Sequence[Directive]) -> tuple[tuple[Directive, ...], tuple[str, ...]]:
    """The hints without contradictions: what is both wanted and refused is dropped, with a line that says so."""
    notes: list[str] = []
    wanted = {h.lower() for d in directives if isinstance(d, Locate) for h in d.hints}
    skipped = {t.lower() for d in directives if isinstance(d, Ignore) for t in d.topics}
    both = wanted & skipped
    for topic in sorted(both):
        notes.append(f'hints contradict each other: look in "{topic}" and ignore "{topic}"; both are dropped')
    positive = {p.lower() for d in directives if isinstance(d, Verify) for p in d.positive}
    negative = {n.lower() for d in directives if isinstance(d, Verify) for n in d.negative}
    for term in sorted(positive & negative):
        notes.append(f'hints contradict each other: the answer must and must not be "{term}"; both are dropped')
    pairs = {(d.prefer.lower(), d.over.lower()) for d in directives if isinstance(d, Precede)}
    circular = {pair for pair in pairs if pair[::-1] in pairs}
    for prefer, over in sorted(pair for pair in circular if pair[0] <= pair[1]):
        notes.append(f'hints contradict each other: "{prefer}" and "{over}" each win over the other; both are dropped')
    kept = [_cut(d, both, positive & negative, circular) for d in directives]
    return tuple(d for d in kept if d is not None), tuple(notes)


def _cut(directive: Directive, places: set[str], terms: set[str], circular: set[tuple[str, str]]) -> Directive | None:
    """A directive without its contradicted parts, None when nothing is left."""
    if isinstance(directive, Locate):
        hints = tuple(h for h in directive.hints if h.lower() not in places)
        return Locate(hints, directive.kinds, directive.pages) if hints or directive.kinds or directive.pages else None
    if isinstance(directive, Ignore):
        topics = tuple(t for t in directive.topics if t.lower() not in places)
        return Ignore(topics) if topics else None
    if isinstance(directive, Verify):
        positive = tuple(p for p in directive.positive if p.lower() not in terms)
        negative = tuple(n for n in directive.negative if n.lower() not in terms)
        return Verify(positive, negative) if positive or negative else None
    if isinstance(directive, Precede) and (directive.prefer.lower(), directive.over.lower()) in circular:
        return None
    return directive


_LEAD = re.compile(
    r"^.*\b(?:return|report|use|give|want|need|mean|is the|are the|was the|were the|"
    r"what is|what was|of the|for|the)\s+",
    re.I,
)


def _last_phrase(text: str) -> str:
    """The noun phrase right before "not": what stands after the last verb or article."""
    return _clean(_LEAD.sub("", text))
