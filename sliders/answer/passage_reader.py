"""Reads an answer out of passages: the words first, then the answer;
calculations over printed numbers are checked and worked out by code.

The quote is looked up in the passages, so a citation is always what the document prints.
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
"""What a prompt asks for where the passages do not hold the answer; `null` says the same."""
LARGEST_COUNT = 20
"""Up to here a model may count what the passages list; any other number must be printed in them."""

Mode = Literal["words", "number", "prose"]
TOKENS: Mapping[Mode, int] = {"words": 240, "prose": 320, "number": 280}
"""A quote of digits alone takes a token for every one or two characters: its reply must
not stop at the limit.
"""


def short(most: int) -> Any:
    """A text of a reply that a grammar keeps below `most` characters; a longer one is taken
    where there is none.
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
    """How a model is shown passages, and how it replies.

    `dialect` is that of the prompts, `text` makes of a passage's text what the model sees,
    `tokens` are those of a reply by mode, `answer` and `calculation` its shapes.
    """

    dialect: Dialect
    text: Callable[[str], str]
    tokens: Mapping[Mode, int]
    answer: type[LenientReply]
    calculation: type[LenientReply]

    def shown(self, passages: Sequence[Passage]) -> list[tuple[str, str]]:
        """The header of each passage and what the model sees of it."""
        return [(passage.header, self.text(passage.shown)) for passage in passages]


IN_PARTS = PassageForm(
    FULL,
    str,
    {mode: 4 * tokens for mode, tokens in TOKENS.items()},
    ReadInUnit,
    CalculationInParts,
)
"""Tables as they stand; replies with units and of several parts."""


@dataclass(frozen=True, slots=True)
class PassageReading:
    """What one call over passages gave.

    `answered` is False for a refusal; `citations` are the words that carry the answer, or that one
    out of further passages will need, empty when the model's quote is not in the passages;
    `lacking` says what of the answer had to be left out; `confidence` is the mean token
    log-probability (natural log), None where the server gives none. `failed` says that nothing was
    read: `reason` is why, and what the passages hold is not known.
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
    """Whether a reply says, in the prompt's own word, that the passages do not hold the answer."""
    return text is None or str(text).strip(" .\"'\n").casefold() in ("", UNANSWERABLE, "null")


def read_request(
    question: str,
    passages: Sequence[Passage],
    mode: Mode = "words",
    *,
    logprobs: bool = False,
    form: PassageForm = IN_PARTS,
) -> Request:
    """The call that reads an answer."""
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
    """Answer from passages; "unanswerable" where they do not hold it."""
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
    """One thing or a list of things: refusals and repetitions are left out, a number must be
    printed, worked out or a small count; `factor` is the scale that the question asks for.
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
    """The things that a reply names: `done` are those that were worked out, `made_up` the numbers
    that no passage prints; where these are small they may be `counted`.
    """

    said: Sequence[str]
    worked: Collection[str]
    done: Mapping[str, Amount]
    made_up: Mapping[str, float]
    counted: bool

    @property
    def left_out(self) -> list[str]:
        """Things that rest on nothing printed."""
        return [
            item
            for item in self.said
            if (item in self.worked and item not in self.done)
            or (item in self.made_up and not self.counted)
        ]


def _things(items: Sequence[object], texts: Sequence[str]) -> _Things:
    """Things as a reply names them, refusals left out, against the passages."""
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
    """Why a reply gives no answer."""
    if things.made_up:
        number = next(iter(things.made_up.values()))
        return f"the number {number:g} of the reply is printed nowhere in the passages"
    if things.left_out:
        expression = things.left_out[0]
        return f"the calculation {expression!r} cannot be worked out from printed numbers"
    return "the passages do not hold the answer"


_WORK_OUT = "= "


def _in_scale(answer: str, factor: int) -> Scalar:
    """The value of an answer in the scale that the question asks for: a number that names its
    own is brought to it.
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
    """Whether it answers in words: a formula with names in place of numbers, or
    marks alone, does not.
    """
    return bool(re.search(r"[^\W\d_]{2}", expression)) and not re.search(
        r"[*=×÷]|\s[/+]\s", expression
    )


def value_of_words(answer: str) -> Scalar:
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
    """A calculation's result; `numbers` are those that it uses, `unknown` those of them
    that no passage prints.
    """

    value: float
    numbers: tuple[float, ...]
    unknown: tuple[float, ...] = ()


def work_out(expression: str, texts: Iterable[str]) -> Worked | None:
    """The value of an expression of numbers, + - * / and brackets; None when it is none or
    has no finite value.

    Small whole numbers, 100, 365, and what converts scales may stand in it without being printed.
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
    """Every number of the texts, with its scale word and without: "$32.5 million" may
    stand in a sum as 32.5.
    """
    return {
        number
        for text in texts
        for number in (*faces_in(text), *(abs(float(n.value)) for n in numbers_in(text)))
    }


def unprinted(answer: str, texts: Iterable[str]) -> float | None:
    """The number that the whole answer is, when no text prints it, in figures or in words;
    None for any other answer.
    """
    number = only_number(answer, words=True)
    if number is None:
        return None
    printed = _printed(texts)
    value = abs(float(number.value))
    return None if _held(value, printed) or printed & set(faces_in(answer)) else value


def _held(number: float, printed: set[float]) -> bool:
    """Whether a number is printed, as such or as a percentage ("5%" used as 0.05)."""
    return any(
        abs(number - p) <= 1e-9 * max(1.0, p) or abs(number * 100 - p) <= 1e-9 * max(1.0, p)
        for p in printed
    )
