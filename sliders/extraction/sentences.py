"""A number that the model left empty, out of the one sentence that tells it: by code, without a call.

A small model asked for a number writes a figure of its own, or nothing, where the document tells it in words ("the
pilot and all nine passengers were killed"). Code finds the sentences about the column and adds up what they state; it
answers only when they agree.
"""

from __future__ import annotations

import re

from sliders.chunks.sentences import sentence_spans
from sliders.extraction.coerce import CoerceContext, Coerced, coerce
from sliders.extraction.lexicon import stem
from sliders.extraction.quantities import outcome_stems
from sliders.schema.names import spoken_name
from sliders.schema.schema import Column, ColumnType

_GENERAL = frozenset(
    stem(word) for word in "number total count amount people person persons passengers of the a all in".split()
)


def told_in_sentence(column: Column, text: str, context: CoerceContext) -> tuple[int, int, Coerced] | None:
    """Span and value of the sentence that tells an integer column, or of the clause that tells a yes-or-no one; None
    unless all that parse say the same."""
    if column.type is ColumnType.BOOLEAN:
        return _clause(column, text, context)
    if column.type is not ColumnType.INTEGER:
        return None
    telling = _telling(column)
    if not telling:
        return None
    found: list[tuple[int, int, Coerced]] = []
    for start, end in sentence_spans(text):
        words = {stem(w.strip(".,;:()\"'").lower()) for w in text[start:end].split()}
        if not telling & words:
            continue
        parsed = coerce(text[start:end].strip(), column, context=context)
        if parsed.value is not None and parsed.derived:
            found.append((start, end, parsed))
    return found[0] if found and len({p.value for _, _, p in found}) == 1 else None


_BREAK = re.compile(r"[.;:,!?\n]|\b(?:and|but|while|although|which|it)\b", re.IGNORECASE)


def _clause(column: Column, text: str, context: CoerceContext) -> tuple[int, int, Coerced] | None:
    """The clause that has the telling last word of the column's name ("friendly"), from its beginning to that word."""
    last = spoken_name(column.name).split()[-1]
    head = stem(last)
    if len(last) < _TELLING_LENGTH:
        return None
    found: list[tuple[int, int, Coerced]] = []
    for word in re.finditer(r"[^\W\d_]+(?:[’'][a-z]+)?", text):
        if stem(word.group().lower()) != head:
            continue
        breaks = [b.end() for b in _BREAK.finditer(text, 0, word.start())]
        start = breaks[-1] if breaks else 0
        start += len(text[start : word.end()]) - len(text[start : word.end()].lstrip())
        parsed = coerce(text[start : word.end()], column, context=context)
        if parsed.value is None:
            return None
        found.append((start, word.end(), parsed))
    return found[0] if found and len({p.value for _, _, p in found}) == 1 else None


_TELLING_LENGTH = 5


def states_outcome(column: Column) -> bool:
    """Whether the column counts an outcome (killed, injured ...) whose sentences code reads reliably."""
    words = [*spoken_name(column.name).split(), *column.description.lower().replace(";", " ").split()]
    return any(outcome_stems(stem(word)) for word in words)


def _telling(column: Column) -> frozenset[str]:
    """Stems that a sentence about the column has: of its telling words, and of those that state the same outcome."""
    words = [*spoken_name(column.name).split(), *column.description.lower().replace(";", " ").split()]
    own = {stem(w) for w in words} - _GENERAL
    return frozenset(own | {other for s in own for other in outcome_stems(s)})
