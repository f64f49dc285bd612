"""Reads an answer out of passages: the words first, then the answer; calculations over printed numbers are checked and
worked out by code.

The quote is looked up in the passages, so a citation is always what the document prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import ConfigDict, Field, field_validator

from sliders.answer.passages import Passage
from sliders.answer.result import Citation
from sliders.answer.turns import Value
from sliders.errors import ModelRefusal, TruncatedReply
from sliders.extraction.cell import Scalar
from sliders.extraction.ground import find
from sliders.llm.dialect import Dialect
from sliders.llm.model import Model, Request, Usage
from sliders.llm.prompts import load_prompt
from sliders.llm.replies import LenientReply, every_member
from sliders.values.arithmetic import ExpressionError, evaluate
from sliders.values.digits import faces_in
from sliders.values.numbers import numbers_in, only_number

UNANSWERABLE = "unanswerable"
"""What a prompt asks for where the passages do not hold the answer; `null` says the same."""
LARGEST_COUNT = 20
"""Up to here a model may count what the passages list; any other number must be printed in them."""

Mode = Literal["words", "number", "prose"]
_TOKENS: dict[Mode, int] = {"words": 240, "prose": 320, "number": 280}
"""A quote of digits alone takes a token for every one or two characters: its reply must not stop at the limit."""


def short(most: int) -> Any:
    """A text of a reply that a grammar keeps below `most` characters; a longer one is taken where there is none."""
    return Field(default="", json_schema_extra={"maxLength": most})


class Read(LenientReply):
    """An answer with the words that hold it; a list where several things are asked for."""

    model_config = ConfigDict(json_schema_extra=every_member)

    quote: str = short(240)
    answer: str | int | float | list[str | int | float] | None = None

    @field_validator("answer", mode="before")
    @classmethod
    def _in_words(cls, answer: Any) -> Any:
        return {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else answer


class Calculation(LenientReply):
    """Printed numbers put into an expression, with the words that print them."""

    model_config = ConfigDict(json_schema_extra=every_member)

    quote: str = short(240)
    expression: str = short(160)


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


def is_refusal(text: object) -> bool:
    """Whether a reply says, in the prompt's own word, that the passages do not hold the answer."""
    return text is None or str(text).strip(" .\"'\n").casefold() in ("", UNANSWERABLE, "null")


def read_request(
    question: str, passages: Sequence[Passage], dialect: Dialect, mode: Mode = "words", *, logprobs: bool = False
) -> Request:
    """The call that reads an answer."""
    prompt = load_prompt("answer/calculate" if mode == "number" else "answer/read", dialect)
    values: dict[str, Any] = {"question": question, "passages": [p.read_by(dialect) for p in passages]}
    if mode != "number":
        values["prose"] = mode == "prose"
    room = _TOKENS[mode] if dialect.sql == "text" else 4 * _TOKENS[mode]
    reply = Calculation if mode == "number" else Read
    return Request("answer", prompt.render(**values), prompt.hash, max_tokens=room, logprobs=logprobs, reply=reply)


async def read(
    question: str, passages: Sequence[Passage], model: Model, mode: Mode = "words", *, logprobs: bool = False
) -> Reading:
    """Answer from passages; "unanswerable" where they do not hold it."""
    if not passages:
        return Reading(False, reason="no passage was found")
    try:
        reply = await model.generate(read_request(question, passages, model.dialect, mode, logprobs=logprobs))
    except (ModelRefusal, TruncatedReply) as error:
        spent = error.usage if isinstance(error.usage, Usage) else Usage()
        return Reading(False, reason=f"the model gave no usable reply: {error}", usage=spent)
    data = reply.data if isinstance(reply.data, dict) else {}
    confidence = sum(reply.token_logprobs) / len(reply.token_logprobs) if reply.token_logprobs else None
    quote = str(data.get("quote") or "")
    if mode == "number":
        return _calculated(str(data.get("expression") or ""), quote, passages, confidence, reply.usage)
    given = data.get("answer")
    items = given if isinstance(given, list) else [given]
    return _answered(items, quote, passages, confidence, reply.usage)


def _answered(
    items: Sequence[object], quote: str, passages: Sequence[Passage], confidence: float | None, usage: Usage
) -> Reading:
    """One thing or a list of things: refusals and repetitions are left out, a number must be printed or a small count."""
    texts = [p.text for p in passages]
    said = [str(item).strip(" \n,;:") for item in items if not is_refusal(item)]
    made_up = {item: number for item in said if (number := unprinted(item, texts)) is not None}
    counted = len(said) == 1 and all(number.is_integer() and number <= LARGEST_COUNT for number in made_up.values())
    kept = said if counted else [item for item in dict.fromkeys(said) if item not in made_up]
    if not kept:
        reason = "the passages do not hold the answer"
        if made_up:
            reason = f"the number {next(iter(made_up.values())):g} of the reply is printed nowhere in the passages"
        return Reading(False, reason=reason, confidence=confidence, usage=usage)
    found = cite_quote(quote, passages) if len(kept) == 1 else ()
    found = found or tuple(dict.fromkeys(c for item in kept for c in cite_quote(item, passages))) or cite_quote(quote, passages)
    values = [value_of(item) for item in kept]
    reasons = [] if found else ["the model's quote is not in the passages"]
    if made_up:
        left = ", ".join(made_up)
        reasons.append("the number is no printed one: the model counted" if counted else f"left out, printed nowhere: {left}")
    value = values if len(values) > 1 else values[0]
    return Reading(True, value, ", ".join(kept), found, "; ".join(reasons), confidence, usage)


def _calculated(expression: str, quote: str, passages: Sequence[Passage], confidence: float | None, usage: Usage) -> Reading:
    texts = [p.text for p in passages]
    expression = expression.strip(" ,;:")
    if is_refusal(expression):
        return Reading(False, reason="the passages do not hold the numbers", confidence=confidence, usage=usage)
    citations = cite_quote(quote, passages)
    worked = work_out(expression, texts)
    if worked is None:
        if not _in_words(expression):
            reason = f"the calculation {expression!r} cannot be worked out"
            return Reading(False, reason=reason, confidence=confidence, usage=usage)
        return Reading(True, expression, expression, citations, "" if citations else "no quote was found", confidence, usage)
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
    number = only_number(answer)
    return answer if number is None else number.value


def cite_quote(quote: str, passages: Sequence[Passage]) -> tuple[Citation, ...]:
    """The place of a quote in the passages; empty when no passage prints it."""
    quote = quote.strip()
    if len(quote) < 2:
        return ()
    for passage in passages:
        found = find(quote, passage.text)
        if found.start >= 0:
            start = passage.start
            return (_citation(passage, start + found.start, start + found.end, found.status.value),)
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


_CONSTANTS = frozenset({0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 12.0, 100.0, 365.0, 1000.0})


@dataclass(frozen=True, slots=True)
class Worked:
    """A calculation's result; `numbers` are those that it uses, `unknown` those of them that no passage prints."""

    value: float
    numbers: tuple[float, ...]
    unknown: tuple[float, ...] = ()


def work_out(expression: str, texts: Iterable[str]) -> Worked | None:
    """The value of an expression of numbers, + - * / and brackets; None when it is none or has no finite value.

    Small whole numbers and 100, 365, 1000 may stand in it without being printed.
    """
    try:
        value = float(evaluate(expression.lstrip("= ")))
    except ExpressionError:
        return None
    used = tuple(faces_in(expression.lstrip("= ").partition("=")[0], "."))
    printed = _printed(texts)
    return Worked(value, used, tuple(n for n in used if n not in _CONSTANTS and not _held(n, printed)))


def _printed(texts: Iterable[str]) -> set[float]:
    """Every number of the texts, with its scale word and without: "$32.5 million" may stand in a sum as 32.5."""
    return {number for text in texts for number in (*faces_in(text), *(abs(float(n.value)) for n in numbers_in(text)))}


def unprinted(answer: str, texts: Iterable[str]) -> float | None:
    """The number that the whole answer is, when no text prints it, in figures or in words; None for any other answer."""
    number = only_number(answer, words=True)
    if number is None:
        return None
    printed = _printed(texts)
    value = abs(float(number.value))
    return None if _held(value, printed) or printed & set(faces_in(answer)) else value


def _held(number: float, printed: set[float]) -> bool:
    """Whether a number is printed, as such or as a percentage ("5%" used as 0.05)."""
    return any(abs(number - p) <= 1e-9 * max(1.0, p) or abs(number * 100 - p) <= 1e-9 * max(1.0, p) for p in printed)
