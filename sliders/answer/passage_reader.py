"""Reading of an answer out of passages: the model quotes the words first, then gives the answer.
Code checks and computes calculations over printed numbers.

The quote is looked up in the passages, so that a citation is always text of the document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from pydantic import ConfigDict, Field, field_validator

from sliders.answer.passages import Passage
from sliders.answer.result import Citation
from sliders.answer.turns import Value
from sliders.errors import CallFailed
from sliders.extraction.cell import Scalar
from sliders.extraction.ground import find
from sliders.llm.dialect import FULL, Dialect
from sliders.llm.model import Model, Request, Usage
from sliders.llm.prompts import load_prompt
from sliders.llm.replies import LenientReply, every_member
from sliders.values.arithmetic import ExpressionError, evaluate
from sliders.values.digits import Amount, amount, faces_in
from sliders.values.notes import scale_in
from sliders.values.numbers import numbers_in, only_number
from sliders.values.vocabulary import SCALES

UNANSWERABLE = "unanswerable"
"""The reply that a prompt asks for when the passages do not hold the answer; `null`
means the same.
"""
LARGEST_COUNT = 20
"""The largest number that a model may count by itself; a larger one must be printed in the
passages.
"""

Mode = Literal["words", "number", "prose"]
TOKENS: Mapping[Mode, int] = {"words": 240, "prose": 320, "number": 280}
"""The most tokens of a reply. A quote of digits takes a token for one or two characters, and must
not stop at the limit.
"""


def short(most: int) -> Any:
    """Returns a text field of a reply, at most `most` characters long under a grammar. Without a
    grammar a longer text is accepted.
    """
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


class ReadInUnit(Read):
    """An answer with the unit that the question asks for."""

    unit: str = short(80)


class CalculationInParts(LenientReply):
    """As `Calculation`; a list where several things are asked for, names among them."""

    model_config = ConfigDict(json_schema_extra=every_member)

    quote: str = short(240)
    expression: str | list[str] = ""


@dataclass(frozen=True, slots=True)
class PassageForm:
    """How passages are shown to a model, and how it replies.

    Args:
        dialect: the dialect of the prompts.
        text: makes the text that the model sees out of a passage's text.
        tokens: the most tokens of a reply, by mode.
        answer: the type of a reply with an answer.
        calculation: the type of a reply with a calculation.
    """

    dialect: Dialect
    text: Callable[[str], str]
    tokens: Mapping[Mode, int]
    answer: type[LenientReply]
    calculation: type[LenientReply]

    def shown(self, passages: Sequence[Passage]) -> list[tuple[str, str]]:
        """Returns the header of each passage, and the text that the model sees."""
        return [(passage.header, self.text(passage.shown)) for passage in passages]


IN_PARTS = PassageForm(
    FULL,
    str,
    {mode: 4 * tokens for mode, tokens in TOKENS.items()},
    ReadInUnit,
    CalculationInParts,
)
"""The form for large models: tables unchanged, replies with units and of several parts."""


@dataclass(frozen=True, slots=True)
class PassageReading:
    """The result of one call over passages.

    Args:
        answered: False when the passages do not hold the answer.
        value: the answer.
        text: the answer in words.
        citations: the words that carry the answer, or that a later call needs; () when the passages
            do not print the quote.
        reason: why there is no answer.
        confidence: the mean log-probability (natural) of the reply's tokens; None when the server
            gives none.
        usage: tokens and calls.
        lacking: the part of the answer that was left out; "" for none.
        failed: nothing was read, so that it is unknown what the passages hold.
    """

    answered: bool
    value: Value = None
    text: str = ""
    citations: tuple[Citation, ...] = ()
    reason: str = ""
    confidence: float | None = None
    usage: Usage = field(default_factory=Usage)
    lacking: str = ""
    failed: bool = False


def is_refusal(text: object) -> bool:
    """Says whether a reply is the prompt's word for "the passages do not hold the answer"."""
    return text is None or str(text).strip(" .\"'\n").casefold() in ("", UNANSWERABLE, "null")


def read_request(
    question: str,
    passages: Sequence[Passage],
    mode: Mode = "words",
    *,
    logprobs: bool = False,
    form: PassageForm = IN_PARTS,
) -> Request:
    """Returns the request that reads an answer out of passages."""
    prompt = load_prompt("answer/calculate" if mode == "number" else "answer/read", form.dialect)
    values: dict[str, Any] = {"question": question, "passages": form.shown(passages)}
    if mode != "number":
        values["prose"] = mode == "prose"
    return Request(
        "answer",
        prompt.render(**values),
        prompt.hash,
        max_tokens=form.tokens[mode],
        logprobs=logprobs,
        reply=form.calculation if mode == "number" else form.answer,
    )


async def read(
    question: str,
    passages: Sequence[Passage],
    model: Model,
    mode: Mode = "words",
    *,
    logprobs: bool = False,
    form: PassageForm = IN_PARTS,
) -> PassageReading:
    """Asks the model for the answer in passages."""
    if not passages:
        return PassageReading(False, reason="no passage was found")
    try:
        reply = await model.generate(
            read_request(question, passages, mode, logprobs=logprobs, form=form)
        )
    except CallFailed as error:
        spent = error.usage if isinstance(error.usage, Usage) else Usage()
        return PassageReading(False, reason=str(error), usage=spent, failed=True)
    data = reply.data if isinstance(reply.data, dict) else {}
    confidence = (
        sum(reply.token_logprobs) / len(reply.token_logprobs) if reply.token_logprobs else None
    )
    quote = str(data.get("quote") or "")
    given = data.get("expression" if mode == "number" else "answer")
    items = given if isinstance(given, list) else [given]
    if mode == "number" and len(items) < 2:
        return _calculated(
            str(next(iter(items), None) or ""), quote, passages, confidence, reply.usage
        )
    if mode == "number":
        items = [
            item if work_out(str(item), ()) is None else f"{_WORK_OUT}{str(item).lstrip(_WORK_OUT)}"
            for item in items
        ]
    factor = SCALES.get(scale_in(str(data.get("unit") or "")), 1)
    return _answered(items, quote, passages, confidence, reply.usage, factor)


def _answered(
    items: Sequence[object],
    quote: str,
    passages: Sequence[Passage],
    confidence: float | None,
    usage: Usage,
    factor: int = 1,
) -> PassageReading:
    """Returns the reading of a reply with one answer or several; `factor` is the scale that the
    question asks for. Refusals and repetitions are left out. A number must be printed, computed, or
    a small count.
    """
    things = _things(items, [p.shown for p in passages])
    quoted, left_out = cite_quote(quote, passages), things.left_out
    kept = [item for item in dict.fromkeys(things.said) if item not in left_out]
    if not kept:
        why = _why_nothing(things)
        return PassageReading(
            False, citations=quoted, reason=why, confidence=confidence, usage=usage
        )
    named = tuple(dict.fromkeys(c for item in kept for c in cite_quote(item, passages)))
    found = (quoted or named) if len(kept) == 1 else (named or quoted)
    done = things.done
    values = [done[item] if item in done else _in_scale(item, factor) for item in kept]
    reasons = [] if found else ["the model's quote is not in the passages"]
    reasons += [f"worked out: {item.lstrip(_WORK_OUT)}" for item in kept if item in done]
    if things.counted and things.made_up:
        reasons.append("the number is no printed one: the model counted")
    lacking = f"left out, printed nowhere: {', '.join(left_out)}" if left_out else ""
    return PassageReading(
        True,
        values if len(values) > 1 else values[0],
        text=", ".join(f"{done[item]}" if item in done else item for item in kept),
        citations=found,
        reason="; ".join(filter(None, [*reasons, lacking])),
        confidence=confidence,
        usage=usage,
        lacking=lacking,
    )


@dataclass(frozen=True, slots=True)
class _Things:
    """The answers that a reply names: `done` are computed results, `made_up` are numbers that no
    passage prints, `counted` is True when all of these are small enough to be counts.
    """

    said: Sequence[str]
    worked: Collection[str]
    done: Mapping[str, Amount]
    made_up: Mapping[str, float]
    counted: bool

    @property
    def left_out(self) -> list[str]:
        """The answers that no printed number supports."""
        return [
            item
            for item in self.said
            if (item in self.worked and item not in self.done)
            or (item in self.made_up and not self.counted)
        ]


def _things(items: Sequence[object], texts: Sequence[str]) -> _Things:
    """Returns the answers of a reply, without refusals, checked against the passages."""
    said = [str(item).strip(" \n,;:") for item in items if not is_refusal(item)]
    worked = {item: work_out(item, texts) for item in said if item.startswith("=")}
    done = {
        item: amount(round(Decimal(str(one.value)), 6))
        for item, one in worked.items()
        if one and not one.unknown
    }
    made_up = {
        item: number
        for item in said
        if item not in worked and (number := unprinted(item, texts)) is not None
    }
    small = all(number.is_integer() and number <= LARGEST_COUNT for number in made_up.values())
    return _Things(said, worked, done, made_up, counted=len(said) == 1 and small)


def _why_nothing(things: _Things) -> str:
    """Returns why a reply gives no answer."""
    if things.made_up:
        number = next(iter(things.made_up.values()))
        return f"the number {number:g} of the reply is printed nowhere in the passages"
    if things.left_out:
        expression = things.left_out[0]
        return f"the calculation {expression!r} cannot be worked out from printed numbers"
    return "the passages do not hold the answer"


_WORK_OUT = "= "


def _in_scale(answer: str, factor: int) -> Scalar:
    """Returns the value of an answer in the scale that the question asks for. A number with a scale
    of its own is converted.
    """
    number = only_number(answer)
    if factor == 1 or number is None or not number.scale:
        return value_of_words(answer)
    return amount(round(Decimal(str(number.value)) / factor, 9))


def _calculated(
    expression: str, quote: str, passages: Sequence[Passage], confidence: float | None, usage: Usage
) -> PassageReading:
    texts = [p.shown for p in passages]
    expression = expression.strip(" ,;:")
    citations = cite_quote(quote, passages)
    if is_refusal(expression):
        reason = "the passages do not hold the numbers"
        return PassageReading(
            False, citations=citations, reason=reason, confidence=confidence, usage=usage
        )
    worked = work_out(expression, texts)
    if worked is None:
        if not _in_words(expression):
            reason = f"the calculation {expression!r} cannot be worked out"
            return PassageReading(False, reason=reason, confidence=confidence, usage=usage)
        return PassageReading(
            True,
            expression,
            expression,
            citations,
            "" if citations else "no quote was found",
            confidence,
            usage,
        )
    if worked.unknown:
        named = ", ".join(f"{n:g}" for n in worked.unknown)
        reason = f"the calculation {expression!r} uses numbers that are not printed: {named}"
        return PassageReading(False, reason=reason, confidence=confidence, usage=usage)
    value = round(worked.value, 6)
    number: float | int = int(value) if value == int(value) else value
    cited = citations or _cite_numbers(worked.numbers, passages)
    return PassageReading(
        True, number, f"{number}", cited, f"worked out: {expression.strip()}", confidence, usage
    )


def _in_words(expression: str) -> bool:
    """Says whether a reply answers in words. A formula with names in the place of numbers, or signs
    alone, does not.
    """
    return bool(re.search(r"[^\W\d_]{2}", expression)) and not re.search(
        r"[*=×÷]|\s[/+]\s", expression
    )


def value_of_words(answer: str) -> Scalar:
    """Returns the number when the answer is one number and nothing else; else the text."""
    number = only_number(answer)
    return answer if number is None else number.value


def cite_quote(quote: str, passages: Sequence[Passage]) -> tuple[Citation, ...]:
    """Returns the citation of a quote; () when no passage prints it."""
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
    """Returns where the numbers of a calculation are printed, each once."""
    out: list[Citation] = []
    for wanted in dict.fromkeys(abs(n) for n in numbers):
        for passage in passages:
            place = next(
                (n for n in numbers_in(passage.text) if abs(float(n.value)) == wanted), None
            )
            if place is not None:
                out.append(
                    _citation(
                        passage, passage.start + place.start, passage.start + place.end, "exact"
                    )
                )
                break
    return tuple(out)


def _citation(passage: Passage, start: int, end: int, grounding: str) -> Citation:
    words = passage.text[start - passage.start : end - passage.start]
    return Citation(
        passage.document,
        words,
        passage.page,
        "",
        "",
        "",
        None,
        passage.document_id,
        start,
        end,
        grounding,
    )


_CONSTANTS = frozenset({0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 12.0, 100.0, 365.0, 1000.0, 1e6, 1e9})


@dataclass(frozen=True, slots=True)
class Worked:
    """The result of a calculation. `numbers` are the numbers that it uses, `unknown` the numbers
    among them that no passage prints.
    """

    value: float
    numbers: tuple[float, ...]
    unknown: tuple[float, ...] = ()


def work_out(expression: str, texts: Iterable[str]) -> Worked | None:
    """Returns the value of an expression of numbers, + - * / and brackets; None when it is no such
    expression or has no finite value. Small whole numbers, 100, 365 and factors of scales need not
    be printed.
    """
    try:
        value = float(evaluate(expression.lstrip("= ")))
    except ExpressionError:
        return None
    used = tuple(faces_in(expression.lstrip("= ").partition("=")[0], "."))
    printed = _printed(texts)
    return Worked(
        value, used, tuple(n for n in used if n not in _CONSTANTS and not _held(n, printed))
    )


def _printed(texts: Iterable[str]) -> set[float]:
    """Returns every number in the texts, with and without its scale word: "$32.5 million" can stand
    in a sum as 32.5.
    """
    return {
        number
        for text in texts
        for number in (*faces_in(text), *(abs(float(n.value)) for n in numbers_in(text)))
    }


def unprinted(answer: str, texts: Iterable[str]) -> float | None:
    """Returns the number that the answer consists of when no text prints it in figures or words;
    None for any other answer.
    """
    number = only_number(answer, words=True)
    if number is None:
        return None
    printed = _printed(texts)
    value = abs(float(number.value))
    return None if _held(value, printed) or printed & set(faces_in(answer)) else value


def _held(number: float, printed: set[float]) -> bool:
    """Says whether a number is printed, as it is or as a percentage ("5%" used as 0.05)."""
    return any(
        abs(number - p) <= 1e-9 * max(1.0, p) or abs(number * 100 - p) <= 1e-9 * max(1.0, p)
        for p in printed
    )
