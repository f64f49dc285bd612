"""Hints read by patterns: for models that do not read hints, and before anything is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sliders.llm.model import Model
from sliders.schema.hints import (
    Directive,
    HintReader,
    Hints,
    Ignore,
    Locate,
    Normalize,
    Precede,
    Verify,
    settle_hints,
)

_KIND_WORDS: dict[str, str] = {
    "table": r"tables?|statements?|figures? table",
    "list_item": r"lists?|bullet points?",
    "caption": r"captions?",
    "heading": r"headings?|titles?",
    "paragraph": r"(?:running |body )?text|paragraphs?|prose",
    "code": r"code|listings?",
}
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
_ASKED_AFTER = re.compile(
    r",\s*(?:what|which|who|how|when|where|is|are|was|were|does|do|did|has|have)\b.*", re.I
)
_LOOK_PAGES = re.compile(r"\bpages?\s+(\d{1,4})(?:\s*(?:-|–|to|and|through)\s*(\d{1,4}))?", re.I)
_IGNORE = re.compile(
    r"\b(?:ignore|skip(?: over)?|disregard|leave out|pay no attention to|do(?:n't|"
    r" not) (?:look (?:at|in)|read|consider|"
    r"use)|exclude(?: the)? (?:content|parts?|sections?) (?:about|on)|"
    r"avoid reading)\s+(?P<what>[^.;!?\n]+)",
    re.I,
)
_CONTRAST = re.compile(
    r"\b(?P<yes>\w[\w\s%$&/'-]{1,60}?)(?:,\s*(?:and |but )?not|\s*\(\s*not|,?\s+NOT)\b\s+(?:the |"
    r"a |an |any )?(?P<no>(?!\w+ing\b)\w[\w\s%$&/'-]{1,60})"
)
_RATHER = re.compile(
    r"\b(?P<yes>\w[\w\s%$&/'-]{1,60}?),?\s+(?:rather than|instead of|as opposed to|"
    r"but not)\s+(?:the |a |an |any )?(?P<no>\w[\w\s%$&/'-]{1,60})",
    re.I,
)
_ONLY = re.compile(
    r"\b(?:only (?:return|report|give|use|count|consider|accept)|return only|report only|use only|"
    r"give only|make sure (?:it is|to use|to report|you use)|be sure to use|verify that it is|"
    r"it must be|should be)\s+(?P<yes>[^.;!?\n]+)",
    re.I,
)
_AVOID = re.compile(
    r"\b(?:do(?:n't| not) (?:return|report|give|include|confuse it with|mix it up with|"
    r"mistake it for)|avoid|never report|"
    r"not to be confused with)\s+(?P<no>[^.;!?\n]+)",
    re.I,
)
_SAME = (
    re.compile(
        r"\btreat\s+(?P<a>[^.;!?\n]+?)\s+(?:and|as)\s+(?P<b>[^.;!?\n]+?)\s+"
        r"as (?:(?:being )?(?:the same|equivalent|equal|identical|synonyms?|one)(?: thing| term)?)",
        re.I,
    ),
    re.compile(
        r"\b(?P<a>[\w][\w\s&.'-]{0,40}?)\s+(?:is the same as|means the same as|is another name for|"
        r"equals)\s+(?P<b>[\w][\w\s&.'-]{0,40})",
        re.I,
    ),
    re.compile(
        r"\b(?P<a>[\w][\w\s&.'-]{0,40}?)\s+and\s+(?P<b>[\w][\w\s&.'-]{0,40}?)\s+"
        r"(?:mean the same|are the same(?: thing)?|are synonyms|are equivalent)",
        re.I,
    ),
)
_PREFER = re.compile(
    r"\b(?:prefer|prioriti[sz]e|trust|favou?r)\s+(?P<a>[^.;!?\n]+?)\s+(?:over|to|before|above|"
    r"more than)\s+(?P<b>[^.;!?\n]+)",
    re.I,
)
_WINS = re.compile(
    r"\b(?P<a>[\w][\w\s&.'/-]{1,60}?)\s+(?:wins(?=\s+(?:over|if|when|where)\b|\W*$)|"
    r"takes precedence|prevails|overrides)(?:\s+over)?\s*(?P<b>[^.;!?\n]*)",
    re.I,
)
_SUPERSEDES = re.compile(
    r"\b(?P<a>(?:newer|newest|later|latest|(?:most|more) "
    r"recent)\s[\w\s-]{1,40}?)\s+supersedes?\s*(?P<b>[^.;!?\n]*)",
    re.I,
)
_ITEMS = re.compile(r"\s*(?:,|;|\band\b|\bor\b|/)\s*(?:the |any |all )?", re.I)
_ARTICLE = re.compile(r"^(?:the|any|all|a|an|general|that|those|these|in|on|at|under)\s+", re.I)
_TAIL = re.compile(
    r"\s+(?:that|which) (?:is|are|do|does)\b.*$|\s+(?:please|for this|when answering|"
    r"in (?:the|this) (?:document|report|filing|paper|question))\b.*$",
    re.I,
)

_LEAD = re.compile(
    r"^.*\b(?:return|report|use|give|want|need|mean|is the|are the|was the|were the|"
    r"what is|what was|of the|for|the)\s+",
    re.I,
)


def _clean(text: str) -> str:
    text = _TAIL.sub("", text.strip().strip("\"'“”()").strip())
    previous = ""
    while text != previous:
        previous, text = text, _ARTICLE.sub("", text).strip()
    return text.rstrip(".,;:").strip()


def _items(text: str) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            item for part in _ITEMS.split(text) if (item := _clean(part)) and len(item) > 1
        )
    )


def _locate(sentence: str) -> Locate | None:
    found = _LOOK.search(sentence)
    pages = tuple((int(a), int(b or a)) for a, b in _LOOK_PAGES.findall(sentence) if found or b)
    hints: list[str] = []
    kinds: list[str] = []
    for item in (
        _items(_LOOK_PAGES.sub("", _ASKED_AFTER.sub("", found.group("what")))) if found else ()
    ):
        kind = next(
            (k for k, words in _KIND_WORDS.items() if re.fullmatch(words, item, re.I)), None
        )
        if kind:
            kinds.append(kind)
        elif item.lower() not in {"page", "pages"}:
            hints.append(item)
    return Locate(tuple(hints), tuple(kinds), pages) if hints or kinds or pages else None


def _ignore(sentence: str) -> Ignore | None:
    found = (
        None if sentence.endswith("?") else _IGNORE.search(sentence)
    )  # "Did they ignore the checklist?" asks
    topics = _items(found.group("what")) if found else ()
    return Ignore(topics) if topics else None


def _verify(sentence: str) -> Verify | None:
    # "Who was elected instead of X?" asks; only a plain contrast is a hint inside of a question.
    asks = sentence.endswith("?")
    if found := _CONTRAST.search(sentence) or (None if asks else _RATHER.search(sentence)):
        # The noun phrase right before "not": the words after the last verb or article.
        positive, negative = (
            [_clean(_LEAD.sub("", found.group("yes")))],
            [_clean(found.group("no"))],
        )
    else:
        only, avoid = (None, None) if asks else (_ONLY.search(sentence), _AVOID.search(sentence))
        positive = [_clean(only.group("yes"))] if only else []
        negative = list(_items(avoid.group("no"))) if avoid else []
    hint = Verify(tuple(filter(None, positive)), tuple(filter(None, negative)))
    return None if hint == Verify() else hint


def _normalize(sentence: str) -> Normalize | None:
    patterns = () if sentence.endswith("?") else _SAME
    for found in filter(None, (pattern.search(sentence) for pattern in patterns)):
        terms = tuple(dict.fromkeys(t for g in ("a", "b") for t in _items(found.group(g))))
        if len(terms) > 1:
            return Normalize(terms)
    return None


def _precede(sentence: str) -> Precede | None:
    patterns = (
        () if sentence.endswith("?") else (_PREFER, _WINS, _SUPERSEDES)
    )  # "Who has three wins?" asks
    found = next(
        (found for pattern in patterns if (found := pattern.search(sentence)) is not None), None
    )
    prefer = _clean(found.group("a")) if found else ""
    return Precede(prefer, _clean(found.group("b"))) if found and prefer else None


_READERS: tuple[Callable[[str], Directive | None], ...] = (
    _precede,
    _normalize,
    _ignore,
    _locate,
    _verify,
)
"""The readers in the order of trying: several match "ignore X" and "do not report X", and the first
match counts.
"""
_SENTENCE = re.compile(r"[^.!?\n;]+(?:\.(?=\d)[^.!?\n;]*)*[.!?;]*\s*")
_ASKS = re.compile(
    r"\?|^\s*(?:what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|has|have|can|list|name|give|count|"
    r"find|compute|calculate|compare)\b",
    re.I,
)


def parse_hints(text: str) -> Hints:
    """Returns the question without sentences that are only hints, and the hints.

    A sentence that also asks, or that says what the answer is, stays in the question.
    Contradictions are dropped, with a note.
    """
    found: list[Directive] = []
    kept: list[str] = []
    for sentence in _SENTENCE.findall(text[:20_000]):
        hint = next((one for read in _READERS if (one := read(sentence.strip())) is not None), None)
        found += [hint] if hint is not None else []
        if hint is None or isinstance(hint, Verify) or _ASKS.search(sentence):
            kept.append(sentence)
    question = "".join(kept).strip()
    if not question or len(text) > 20_000:
        question = text.strip()
    return Hints(question, *settle_hints(tuple(dict.fromkeys(found))))


async def hints_by_patterns(texts: Sequence[str], model: Model) -> list[Hints]:
    """Returns the hints of each question; the model is not asked."""
    return [parse_hints(text) for text in texts]


PATTERNS = HintReader(hints_by_patterns, lambda texts: [])
"""Hints without a call."""
