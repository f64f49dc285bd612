"""The model call that reads the hints in questions and judges the kinds of the questions (HALO,
section 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel, Field

from sliders.compact.hint_patterns import parse_hints
from sliders.errors import BudgetExceeded, CallFailed
from sliders.llm.dialect import FULL
from sliders.llm.model import Model, Request
from sliders.llm.prompts import joined_hash, load_prompt
from sliders.schema.hint_replies import HintReply, hints_told
from sliders.schema.hints import KINDS, HintReader, Hints, QuestionKind

_LONGEST = 4_000
_AT_ONCE = 30


class HintsReply(BaseModel):
    """The kinds of several questions in their order, and the hints of those that give some."""

    kinds: list[str] = Field(default_factory=list)
    hints: list[HintReply] = Field(default_factory=list)


def hints_request(questions: Sequence[str]) -> Request:
    """Returns the request that judges the kinds of several questions and reads their hints."""
    prompt, advice = load_prompt("engine/read_hints", FULL), load_prompt("schema/advice", FULL)
    messages = prompt.render(
        questions=[q[:_LONGEST] for q in questions], advice=advice.system.content
    )
    room = 200 + 200 * len(questions)
    hashed = joined_hash(prompt, advice)
    return Request("plan", messages, hashed, reply=HintsReply, max_tokens=room)


async def read_all_hints(texts: Sequence[str], model: Model) -> list[Hints]:
    """Returns the hints of each question. When the model gives no usable reply, patterns in code
    read them.
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
            replace(hints_told(text, told.get(n)), kind=_kind(kinds.get(n, "")))
            for n, text in enumerate(batch, 1)
        ]
    return found


BY_MODEL = HintReader(read_all_hints, lambda texts: [hints_request(texts)])
"""Hints that a model reads."""


def _kind(said: str) -> QuestionKind | None:
    return next((kind for kind in KINDS if kind == said.strip().casefold().replace("_", " ")), None)
