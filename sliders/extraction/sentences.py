"""A number that the model left empty, out of the one sentence that tells it: by code, without a call.

A small model asked for a number writes a figure of its own, or nothing, where the document tells it in words ("the
pilot and all nine passengers were killed"). Code finds the sentences about the column and adds up what they state; it
answers only when they agree.
"""

from __future__ import annotations

import re

from sliders.chunks.sentences import sentence_spans
from sliders.extraction.coerce import CoerceContext, Coerced, coerce
from sliders.extraction.countries import citizenship_in, holds_citizenship
from sliders.extraction.lexicon import stem
from sliders.extraction.named_amounts import stated_amount
from sliders.extraction.numbers import numbers_in
from sliders.extraction.quantities import count_phrase, outcome_stems
from sliders.schema.names import spoken_name
from sliders.schema.types import Column, ColumnType

_GENERAL = frozenset(
    stem(word) for word in "number total count amount people person persons passengers of the a all in".split()
)


def told_in_sentence(
    column: Column, text: str, context: CoerceContext, *, empty: bool = True
) -> tuple[int, int, Coerced] | None:
    """Span and value of the sentence that tells an integer column, of the clause that tells a yes-or-no one, or of the
    word for whose citizen somebody is; None unless all that parse say the same.

    Where the cell is not `empty`, only what code reads more reliably than a model does.
    """
    if not empty and not states_outcome(column) and not holds_citizenship(column):
        return stated_amount(column, text, context)
    if column.type is ColumnType.BOOLEAN:
        return _clause(column, text, context)
    if holds_citizenship(column):
        said = citizenship_in(text)
        return (*said, coerce(text[said[0] : said[1]], column, context=context)) if said else None
    amount = stated_amount(column, text, context)
    if amount is not None and not states_outcome(column):
        return amount
    telling = _telling(column)
    if column.type is not ColumnType.INTEGER or not telling:
        return amount
    found: list[tuple[int, int, Coerced]] = []
    for start, end in sentence_spans(text):
        if telling.isdisjoint(_stems(text[start:end])):
            continue
        parsed = coerce(text[start:end].strip(), column, context=context)
        if parsed.value is not None and (parsed.derived or _counts_them(text[start:end], telling)):
            found.append((start, end, parsed))
    if not found:
        return _no_survivors(column, text) or amount
    return found[0] if len({p.value for _, _, p in found}) == 1 else None


def _counts_them(sentence: str, telling: frozenset[str]) -> bool:
    """Whether the one number of a sentence stands shortly before its telling word ("the three crewmembers were killed")."""
    numbers = numbers_in(sentence)
    at = [i for i, word in enumerate(_stems(sentence)) if word in telling]
    if len(numbers) != 1 or not at or re.fullmatch(r"1\d{3}|20\d\d", numbers[0].text):  # a year counts nobody
        return False
    number = len(sentence[: numbers[0].start].split())
    return 0 < at[0] - number <= _WORDS_BETWEEN


_WORDS_BETWEEN = 6
_NO_SURVIVORS = re.compile(r"\b(?:there were no survivors|no one survived|nobody survived|none survived)\b", re.IGNORECASE)
_ON_BOARD = re.compile(r"\b(?:with|carrying|carried)\s+([^.;]{3,160}?)\s+(?:were\s+)?(?:on board|aboard)\b", re.IGNORECASE)


def _no_survivors(column: Column, text: str) -> tuple[int, int, Coerced] | None:
    """Deaths where nobody survived: those whom the text says were on board, if it says so once."""
    end = _NO_SURVIVORS.search(text)
    if end is None or not counts_deaths(column):
        return None
    boarded = [(m, count_phrase(m[1])) for m in _ON_BOARD.finditer(text, 0, end.start())]
    values = {c.value for _, c in boarded if c.value is not None}
    if len(values) != 1:
        return None
    match, counted = next((m, c) for m, c in boarded if c.value is not None)
    rationale = f"{counted.rationale or match[1]}, and {end.group()!r}"
    return match.start(1), end.end(), Coerced(counted.value, derived=True, rationale=rationale)


def counts_deaths(column: Column) -> bool:
    """Whether an integer column counts the dead."""
    return column.type is ColumnType.INTEGER and any(stem(w) in _DIED for w in spoken_name(column.name).split())


_DIED = outcome_stems(stem("killed"))


def nobody_died(column: Column, text: str) -> tuple[int, int, Coerced] | None:
    """No deaths, for a column that counts them and a whole text that tells who was injured and has no word of death."""
    hurt = next((span for span in sentence_spans(text) if _HURT & set(_stems(text[slice(*span)]))), None)
    if not counts_deaths(column) or hurt is None or _DIED & set(_stems(text)):
        return None
    told = text[slice(*hurt)].strip()
    return *hurt, Coerced(0, derived=True, rationale=f"the text tells of injuries and of no death: {told!r}")


_HURT = frozenset(stem(word) for word in ("injured", "injuries", "injury", "uninjured", "unhurt"))


def tells_otherwise(column: Column, text: str, start: int, end: int) -> bool:
    """Whether a bare number stands in a sentence that says nothing of the outcome that the column counts."""
    if not states_outcome(column) or not re.fullmatch(r"[\d.,]+", text[start:end].strip()):
        return False
    telling = _telling(column)
    for first, last in sentence_spans(text):
        if first <= start and end <= last:
            words = _stems(text[first:last])
            return len(words) >= _SENTENCE_WORDS and telling.isdisjoint(words)
    return False


_SENTENCE_WORDS = 5


_BREAK = re.compile(r"[.;:,!?\n]|\b(?:and|but|while|although|which|it)\b", re.IGNORECASE)


def _clause(column: Column, text: str, context: CoerceContext) -> tuple[int, int, Coerced] | None:
    """The clause that has the telling last word of the column's name ("friendly"), from its beginning to that word."""
    *others, last = spoken_name(column.name).split()
    head, beside = stem(last), frozenset(stem(w) for o in others if o in _KIN for w in (o, *_KIN[o]))
    if len(last) < _TELLING_LENGTH:
        return None
    found: list[tuple[int, int, Coerced]] = []
    for word in re.finditer(r"[^\W\d_]+(?:[’'][a-z]+)?", text):
        if stem(word.group().lower()) != head:
            continue
        breaks = [b.end() for b in _BREAK.finditer(text, 0, word.start())]
        start = breaks[-1] if breaks else 0
        after = _BREAK.search(text, word.end())
        if beside and beside.isdisjoint(_stems(text[start : after.start() if after else len(text)].replace("-", " "))):
            continue  # "a friendly welcome" says nothing of families
        start += len(text[start : word.end()]) - len(text[start : word.end()].lstrip())
        parsed = coerce(text[start : word.end()], column, context=context)
        if parsed.value is None:
            return None
        found.append((start, word.end(), parsed))
    if not found and beside & _CHILDREN:
        return _children(text)
    return found[0] if found and len({p.value for _, _, p in found}) == 1 else None


_KIN = {"family": ("families", "child", "children", "kid"), "child": ("children", "kid", "family"), "kid": ("child", "children")}
_CHILDREN = frozenset(stem(word) for word in ("child", "children", "kid"))
_WELCOME = re.compile(
    r"[^.;,!?\n]*?(?:\b(?:children|kids|families)\b[^.;,!?\n]{0,20}\bwelcome\b|\bwelcom\w+\b[^.;,!?\n]{0,20}\b(?:children|kids|families)\b)",
    re.IGNORECASE,
)
_ADULTS = re.compile(r"\badults?[ -]only\b|\bonly (?:for )?adults\b", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|no|never|without)\b|n[’']t\b", re.IGNORECASE)


def _children(text: str) -> tuple[int, int, Coerced] | None:
    """Whether children are welcome, where a text says so in other words than "friendly"."""
    if adults := _ADULTS.search(text):
        return adults.start(), adults.end(), Coerced(False, derived=True, rationale=f"{adults.group()!r} means no children")
    if (welcome := _WELCOME.search(text)) is None:
        return None
    said = welcome.group().strip()
    start = welcome.end() - len(welcome.group().lstrip())
    truth = not _NOT.search(said)
    return start, welcome.end(), Coerced(truth, derived=True, rationale=f"{said!r} says whether children are welcome")


_TELLING_LENGTH = 5


def states_outcome(column: Column) -> bool:
    """Whether the column counts an outcome (killed, injured ...) whose sentences code reads reliably."""
    return any(outcome_stems(stem(word)) for word in words_of(column))


def _telling(column: Column) -> frozenset[str]:
    """Stems that a sentence about the column has: of its telling words, and of those that state the same outcome."""
    own = {stem(word) for word in words_of(column)} - _GENERAL
    return frozenset(own | {other for s in own for other in outcome_stems(s)})


def words_of(column: Column) -> list[str]:
    """The words of a column's name and description."""
    return [*spoken_name(column.name).split(), *column.description.lower().replace(";", " ").split()]


def _stems(sentence: str) -> list[str]:
    """The stem of each word of a sentence, in order."""
    return [stem(word.strip(".,;:()\"'").lower()) for word in sentence.split()]
