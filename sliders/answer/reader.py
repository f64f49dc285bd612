"""Reads an answer out of passages: the words first, then the answer; calculations are worked out by code.

The quote is looked up in the passages, so a citation is always what the document prints.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sliders.answer.choices import choices, several
from sliders.answer.expression import as_printed, unprinted, work_out
from sliders.answer.passages import Passage
from sliders.answer.result import Citation
from sliders.answer.values import Value
from sliders.errors import ModelRefusal, TruncatedReply
from sliders.extraction.cell import Scalar
from sliders.extraction.grounding import ground
from sliders.extraction.numbers import numbers_in
from sliders.llm.model import Model, Request, Usage
from sliders.llm.prompts import load_prompt

_COUNTS = re.compile(r"\bhow many\b|\bnumber of\b", re.I)
_MOST_ITEMS = 12
_LARGEST_COUNT = 20
"""Up to here a model may count what the passages list; any other number must be printed in them."""

Mode = Literal["words", "number", "prose"]

_TEXT = {"type": "string", "maxLength": 240}
_SHAPES: dict[Mode, dict[str, Any]] = {
    "words": {"quote": _TEXT, "answer": {"type": "string", "maxLength": 200}},
    "prose": {"quote": _TEXT, "answer": {"type": "string", "maxLength": 500}},
    "number": {"quote": _TEXT, "expression": {"type": "string", "maxLength": 160}},
}
_TOKENS: dict[Mode, int] = {"words": 240, "prose": 320, "number": 280}
"""A quote of digits alone takes a token for every one or two characters: its reply must not stop at the limit."""
_NO_ANSWER = re.compile(
    r"^\W*(?:unanswerable|not (?:found|stated|mentioned|available|specified|given|provided|answerable|"
    r"in the (?:context|passages?|text))|no (?:answer|information)\b|unknown|n/?a\b|none\b(?! of)|null\b|"
    r"the (?:passages?|text|document) do(?:es)? "
    r"not\b|answer not in context|cannot be (?:answered|determined))",
    re.I,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """What one call over passages gave.

    `answered` is False for a refusal; `citations` are the words that carry the answer, empty when the model's quote is
    not in the passages; `confidence` is the mean token log-probability (natural log), None where the server gives none.
    """

    answered: bool
    value: Value = None
    text: str = ""
    citations: tuple[Citation, ...] = ()
    reason: str = ""
    confidence: float | None = None
    usage: Usage = field(default_factory=Usage)


def is_refusal(text: str) -> bool:
    """Whether a reply says that the passages do not hold the answer."""
    return not text.strip() or bool(_NO_ANSWER.match(text))


def read_request(
    question: str, passages: Sequence[Passage], mode: Mode = "words", *, logprobs: bool = False
) -> Request:
    """The call that reads an answer."""
    prompt = load_prompt("answer/calculate" if mode == "number" else "answer/read")
    shown = [(p.header, p.text.strip()) for p in passages]
    listed = mode == "words" and several(question)
    values: dict[str, Any] = {"question": question, "passages": shown}
    if mode != "number":
        values |= {"prose": mode == "prose", "several": listed}
    properties = dict(_SHAPES[mode])
    if mode == "words" and (closed := choices(question)):
        properties["answer"] = {"type": "string", "enum": [*closed, "unanswerable"]}
    elif listed:
        item = {"type": "string", "maxLength": 120}
        properties["answer"] = {"type": "array", "items": item, "minItems": 1, "maxItems": _MOST_ITEMS}
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return Request("answer", prompt.render(**values), prompt.hash, schema, max_tokens=_TOKENS[mode], logprobs=logprobs)


async def read(
    question: str, passages: Sequence[Passage], model: Model, mode: Mode = "words", *, logprobs: bool = False
) -> Reading:
    """Answer from passages; "unanswerable" where they do not hold it.

    Raises:
        ModelUnavailable: the model cannot be reached.
        BudgetExceeded: the run's limit is reached.
    """
    if not passages:
        return Reading(False, reason="no passage was found")
    try:
        reply = await model.generate(read_request(question, passages, mode, logprobs=logprobs))
    except (ModelRefusal, TruncatedReply) as error:
        spent = error.usage if isinstance(error.usage, Usage) else Usage()
        return Reading(False, reason=f"the model gave no usable reply: {error}", usage=spent)
    data = reply.data if isinstance(reply.data, dict) else {}
    confidence = sum(reply.token_logprobs) / len(reply.token_logprobs) if reply.token_logprobs else None
    quote = str(data.get("quote") or "")
    if mode == "number":
        return _calculated(str(data.get("expression") or ""), quote, passages, confidence, reply.usage)
    if isinstance(data.get("answer"), list):
        return _listed([str(item) for item in data["answer"]], quote, passages, confidence, reply.usage)
    answer = str(data.get("answer") or "").strip(" \n,;:")
    if is_refusal(answer):
        return Reading(False, reason="the passages do not hold the answer", confidence=confidence, usage=reply.usage)
    texts = [p.text for p in passages]
    answer = as_printed(answer, texts)
    made_up = unprinted(answer, texts)
    if made_up is not None and not (_COUNTS.search(question) and made_up.is_integer() and made_up <= _LARGEST_COUNT):
        reason = f"the number {made_up:g} of the reply is printed nowhere in the passages"
        return Reading(False, reason=reason, confidence=confidence, usage=reply.usage)
    citations = cite_quote(quote, passages) or cite_quote(answer, passages)
    reason = "" if citations else "the model's quote is not in the passages"
    return Reading(True, value_of(answer), answer, citations, reason, confidence, reply.usage)


def _listed(
    items: Sequence[str], quote: str, passages: Sequence[Passage], confidence: float | None, usage: Usage
) -> Reading:
    """A list of things: refusals, repetitions and numbers that no passage prints are left out."""
    texts = [p.text for p in passages]
    said = [as_printed(item.strip(" \n,;:"), texts) for item in items if not is_refusal(item)]
    kept = [item for item in dict.fromkeys(said) if unprinted(item, texts) is None]
    if not kept:
        return Reading(False, reason="the passages do not hold the answer", confidence=confidence, usage=usage)
    found = tuple(dict.fromkeys(c for item in kept for c in cite_quote(item, passages))) or cite_quote(quote, passages)
    values = [value_of(item) for item in kept]
    reason = "" if found else "the model's quote is not in the passages"
    return Reading(True, values if len(values) > 1 else values[0], ", ".join(kept), found, reason, confidence, usage)


def _calculated(
    expression: str, quote: str, passages: Sequence[Passage], confidence: float | None, usage: Usage
) -> Reading:
    texts = [p.text for p in passages]
    expression = as_printed(expression.strip(" ,;:"), texts)
    if is_refusal(expression):
        return Reading(False, reason="the passages do not hold the numbers", confidence=confidence, usage=usage)
    citations = cite_quote(quote, passages)
    worked = work_out(expression, texts)
    if worked is None:
        if not _in_words(expression):
            reason = f"the calculation {expression!r} cannot be worked out"
            return Reading(False, reason=reason, confidence=confidence, usage=usage)
        return Reading(
            True, expression, expression, citations, "" if citations else "no quote was found", confidence, usage
        )
    if worked.unknown:
        named = ", ".join(f"{n:g}" for n in worked.unknown)
        reason = f"the calculation {expression!r} uses numbers that are not printed: {named}"
        return Reading(False, reason=reason, confidence=confidence, usage=usage)
    value = round(worked.value, 6)
    number: float | int = int(value) if value == int(value) else value
    cited = citations or _cite_numbers(worked.numbers, passages)
    return Reading(True, number, f"{number}", cited, f"worked out: {expression.strip()}", confidence, usage)


def _in_words(expression: str) -> bool:
    """Whether it answers in words: a formula with names in place of numbers, or marks alone, does not."""
    return bool(re.search(r"[^\W\d_]{2}", expression)) and not re.search(r"[*=×÷]|\s[/+]\s", expression)


def value_of(answer: str) -> Scalar:
    """The bare number where the answer is one number and nothing else, else the text."""
    found = [n for n in numbers_in(answer) if n.plain and not n.word]
    if len(found) == 1 and not re.search(r"[a-z]{2}", answer[: found[0].start] + answer[found[0].end :], re.I):
        value = float(found[0].value)
        return int(value) if value == int(value) and abs(value) < 1e15 else value
    return answer


def cite_quote(quote: str, passages: Sequence[Passage]) -> tuple[Citation, ...]:
    """The place of a quote in the passages; empty when no passage prints it."""
    quote = quote.strip()
    if len(quote) < 2:
        return ()
    for passage in passages:
        found = ground(quote, passage.text, offset=passage.start)
        if found.start >= 0:
            return (_citation(passage, found.start, found.end, found.status.value),)
    return ()


def _cite_numbers(numbers: Sequence[float], passages: Sequence[Passage]) -> tuple[Citation, ...]:
    """Where the numbers of a calculation are printed, once each."""
    out: list[Citation] = []
    for wanted in dict.fromkeys(abs(n) for n in numbers):
        for passage in passages:
            place = next((n for n in numbers_in(passage.text) if abs(float(n.value)) == wanted), None)
            if place is not None:
                out.append(_citation(passage, passage.start + place.start, passage.start + place.end, "exact"))
                break
    return tuple(out)


def _citation(passage: Passage, start: int, end: int, grounding: str) -> Citation:
    words = passage.text[start - passage.start : end - passage.start]
    return Citation(passage.document, words, passage.page, "", "", "", None, passage.document_id, start, end, grounding)
