"""Hints and kinds of questions as a model reads them (HALO, section 4)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel, Field

from sliders.compact.hint_patterns import parse_hints
from sliders.errors import BudgetExceeded, CallFailed
from sliders.llm.dialect import FULL
from sliders.llm.model import Model, Request
from sliders.llm.prompts import load_prompt
from sliders.retrieval.sentences import sentence_spans
from sliders.schema.hints import (
    KINDS,
    Directive,
    HintReader,
    Hints,
    Ignore,
    Locate,
    Normalize,
    Precede,
    QuestionKind,
    Verify,
    settle_hints,
)

_LONGEST = 4_000
_AT_ONCE = 30


class Preferred(BaseModel):
    """A source that wins over another one."""

    this: str
    over: str = ""


class HintReply(BaseModel):
    """What a question says about where to look, what to skip and how to check."""

    question: int = 1
    look_in: list[str] = Field(default_factory=list)
    ignore: list[str] = Field(default_factory=list)
    answer_is: list[str] = Field(default_factory=list)
    answer_is_not: list[str] = Field(default_factory=list)
    same: list[list[str]] = Field(default_factory=list)
    prefer: list[Preferred] = Field(default_factory=list)
    rest: str = ""


class HintsReply(BaseModel):
    """The kinds of several questions in their order, and the hints of those that give some."""

    kinds: list[str] = Field(default_factory=list)
    hints: list[HintReply] = Field(default_factory=list)


def hints_request(questions: Sequence[str]) -> Request:
    """The call that judges the kinds of several questions and reads their hints."""
    prompt = load_prompt("engine/read_hints", FULL)
    messages = prompt.render(questions=[q[:_LONGEST] for q in questions])
    return Request(
        "plan", messages, prompt.hash, reply=HintsReply, max_tokens=200 + 200 * len(questions)
    )


async def read_all_hints(texts: Sequence[str], model: Model) -> list[Hints]:
    """The hints of each question. Where the model gives no usable reply, patterns read them.

    What the model names must stand in the question: a place or subject that the user did
    not write is dropped.
    """
    found: list[Hints] = []
    for at in range(0, len(texts), _AT_ONCE):
        batch = texts[at : at + _AT_ONCE]
        try:
            reply = await model.generate(hints_request(batch))
        except (CallFailed, BudgetExceeded):  # a spent budget is said by the stage that comes next
            found += [parse_hints(text) for text in batch]
            continue
        said = HintsReply.model_validate(reply.data)
        told = {hint.question: hint for hint in said.hints}
        kinds = dict(enumerate(said.kinds, 1))
        found += [
            replace(_hints(text, told.get(n)), kind=_kind(kinds.get(n, "")))
            for n, text in enumerate(batch, 1)
        ]
    return found


BY_MODEL = HintReader(read_all_hints, lambda texts: [hints_request(texts)])
"""Hints that a model reads."""


def _kind(said: str) -> QuestionKind | None:
    return next((kind for kind in KINDS if kind == said.strip().casefold().replace("_", " ")), None)


def _hints(text: str, told: HintReply | None) -> Hints:
    if told is None:
        return Hints(text)
    directives, notes = settle_hints(_directives(told, text))
    rest = told.rest.strip() if directives and _words(told.rest) <= _words(text) else ""
    return Hints(_with_sentences(rest, text, directives) if rest else text, directives, notes)


def _with_sentences(rest: str, text: str, directives: Sequence[Directive]) -> str:
    """The rest of a question with the sentences that say what the answer is and what not, where it
    has lost their words.
    """
    said = [
        phrase.casefold()
        for d in directives
        if isinstance(d, Verify)
        for phrase in (*d.positive, *d.negative)
    ]
    lost = [phrase for phrase in said if phrase not in rest.casefold()]
    sentences = (text[start:end].strip() for start, end in sentence_spans(text))
    return " ".join(
        [
            rest,
            *(
                s
                for s in sentences
                if s not in rest and any(phrase in s.casefold() for phrase in lost)
            ),
        ]
    )


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _directives(told: HintReply, text: str) -> list[Directive]:
    lowered = text.casefold()

    def said(values: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(
                v.strip() for v in values if v.strip() and v.strip().casefold() in lowered
            )
        )

    out: list[Directive] = []
    if look := said(told.look_in):
        out.append(Locate(look))
    if skip := said(told.ignore):
        out.append(Ignore(skip))
    positive, negative = said(told.answer_is), said(told.answer_is_not)
    if positive or negative:
        out.append(Verify(positive, negative))
    out += [Normalize(terms) for group in told.same if len(terms := said(group)) > 1]
    out += [Precede(p.this, p.over) for p in told.prefer if said([p.this])]
    return out
