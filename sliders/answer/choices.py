"""What the wording of a question allows as its answer: yes or no, one of two named things, a date, a number, several."""

from __future__ import annotations

import re

from sliders.extraction.phrases import is_plural

_YES_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b(?!.*\b(?:what|which|who|whom|whose|when|where|"
    r"why|how)\b)(?!.*\bor\b)", re.I | re.S
)  # fmt: skip
_EITHER = re.compile(
    r"^\W*(?:which|who|what|whose)\b.*?[,:]\s*(?P<a>[^,?:]{2,80}?),?\s+or\s+(?P<b>[^,?:]{2,80}?)\s*\?\s*$", re.I | re.S
)  # fmt: skip
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.I)
_DATED = re.compile(r"^\W*when\b|\b(?:what|which) (?:date|year|day)\b|\bdate of (?:birth|death)\b", re.I)
_COUNTED = re.compile(r"^\W*how (?:many|much|old|long|far|tall|high|large)\b", re.I)
_COUNT_WORDS = re.compile(
    r"\b(?:no|none|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|"
    r"thousand|million|once|twice|half|several|dozen)\b", re.I
)  # fmt: skip
_ASKED_NOUN = re.compile(r"^\W*(?:(?:in|for|on|of|at|from|to|with) )?(?:what|which)\s+(?P<rest>.+)", re.I | re.S)
_ENDS_NOUN = re.compile(
    r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|in|of|on|for|to|at|by|from|with|that|who|which)$", re.I
)  # fmt: skip
_RESPECTIVE = re.compile(
    r"\brespectively\b|\b(?:is|are|was|were) the respective\b|^\W*(?:list|name|enumerate) (?:all|the|every|each)\b", re.I
)  # fmt: skip
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_TWO_YEARS = re.compile(r"\bin (?:19|20)\d\d and (?:(?:19|20)\d\d)\b")
_ONE_NUMBER = re.compile(r"\b(?:total|average|mean|sum|difference|change|ratio|increase|decrease)\b", re.I)
_LONGEST_NOUN = 5


def several(question: str) -> bool:
    """Whether the answer is a list: the noun behind "which" or "what" is plural, or values of two years are asked for.

    A plural with one year ("the sales in 2019") is one figure.

    >>> several("Which river ports are named?"), several("What are the ports?"), several("Which port is the oldest?")
    (True, True, False)
    """
    if choices(question):
        return False
    if _RESPECTIVE.search(question) or (_TWO_YEARS.search(question) and not _ONE_NUMBER.search(question)):
        return True
    found = _ASKED_NOUN.match(question)
    if found is None:
        return False
    listed = re.findall(r"[\w'-]+", found["rest"])
    if listed and listed[0].lower() in ("are", "were"):
        return len(set(_YEAR.findall(question))) != 1
    end = next((n for n, word in enumerate(listed[: _LONGEST_NOUN + 1]) if _ENDS_NOUN.match(word)), 0)
    return end > 0 and is_plural(listed[end - 1].lower())


def either(question: str) -> tuple[str, str] | None:
    """The two things that the question lets choose from ("..., A or B?"), without their articles.

    >>> either("Which river is longer, the Loire or the Elbe?")
    ('Loire', 'Elbe')
    """
    found = _EITHER.search(question)
    return None if found is None else (_ARTICLE.sub("", found["a"].strip()), _ARTICLE.sub("", found["b"].strip()))


def choices(question: str) -> tuple[str, ...]:
    """Every answer that a closed question allows; empty for an open one.

    >>> choices("Are both in the same country?"), choices("Where is it?")
    (('yes', 'no'), ())
    """
    named = either(question)
    if named is not None:
        return named
    return ("yes", "no") if _YES_NO.match(question) else ()


def fits(question: str, answer: str) -> bool:
    """Whether an answer is of the kind that the question asks for: what was found on the way to it is not."""
    closed = choices(question)
    if closed:
        low = answer.lower().strip()
        named = any(re.search(rf"(?<!\w){re.escape(choice.lower())}(?!\w)", low) for choice in closed)
        return named or any(len(low) > 3 and low in choice.lower() for choice in closed)
    if _DATED.search(question):
        return any(c.isdigit() for c in answer)
    if _COUNTED.search(question):
        return any(c.isdigit() for c in answer) or bool(_COUNT_WORDS.search(answer))
    return True
