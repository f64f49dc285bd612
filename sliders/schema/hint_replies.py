"""The hints in a question as a model reads them: the shape of its reply, and the hints made from
it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, Field

from sliders.retrieval.sentences import sentence_spans
from sliders.schema.hints import (
    Directive,
    Hints,
    Ignore,
    Locate,
    Normalize,
    Precede,
    Verify,
    settle_hints,
)


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


def hints_told(text: str, told: HintReply | None) -> Hints:
    """Returns the hints of a question from a model's reply; none for None. A place or subject that
    does not stand in the question is dropped.
    """
    if told is None:
        return Hints(text)
    directives, notes = settle_hints(_directives(told, text))
    rest = told.rest.strip() if directives and _words(told.rest) <= _words(text) else ""
    return Hints(_with_sentences(rest, text, directives) if rest else text, directives, notes)


def _with_sentences(rest: str, text: str, directives: Sequence[Directive]) -> str:
    """Returns the rest of a question. Sentences about what the answer is or is not are put back
    when it lost their words.
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
