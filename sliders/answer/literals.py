"""Literals that a column does not hold: the values that they mean, the column or table where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from sliders.answer import match
from sliders.answer.missing import ask_other
from sliders.answer.profile import TEXTUAL, ColumnProfile, TableProfile
from sliders.answer.question import normal
from sliders.answer.scope import Names
from sliders.schema.types import ColumnType

YES = {"yes", "true", "1", "y"}
NO = {"no", "false", "0", "n"}
MAX_LISTED = 5
"""Most values that one literal may stand for before a LIKE takes their place."""


def repair_literals(tree: exp.Query, names: Names, question: str) -> Iterator[str]:
    for node in list(tree.find_all(exp.EQ, exp.NEQ, exp.Like, exp.ILike)):
        left, right = node.this, node.expression
        if isinstance(left, exp.Literal):
            left, right = right, left
        column = left.this if isinstance(left, exp.Lower | exp.Upper | exp.Trim) else left
        found = names.resolve(column)
        if not found or not isinstance(_literal(right), exp.Literal | exp.Boolean):
            continue
        note = _literal_repair(node, column, _literal(right), found, names, question)
        if note:
            yield note
    for listed in list(tree.find_all(exp.In)):
        found = names.resolve(listed.this)
        if found and found[1].column.type in TEXTUAL and listed.expressions:
            yield from _in_list(listed, found[1], question)


def _literal(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Lower | exp.Upper) else node


def _literal_repair(
    node: exp.Expr,
    column: exp.Expr,
    literal: exp.Expr,
    found: tuple[TableProfile, ColumnProfile],
    names: Names,
    question: str,
) -> str:
    owner, profile = found
    if profile.column.type is ColumnType.BOOLEAN:
        return _as_flag(literal)
    if profile.column.type not in TEXTUAL or not profile.complete:
        return ""
    if not literal.is_string:
        return _text_flag(node, column, literal, profile)
    text = literal.name.strip("%") if isinstance(node, exp.Like | exp.ILike) else literal.name
    variants = _variants(literal.name, profile.texts, profile.column.name) if isinstance(node, exp.EQ) else []
    if literal.name in profile.texts and len(variants) > 1 and not _says_more(question, literal.name, variants):
        _replace_test(node, column, literal.name, variants)
        return f"{profile.column.name}: {literal.name!r} read as {', '.join(variants[:MAX_LISTED])}"
    if literal.name in profile.texts or (isinstance(node, exp.Like | exp.ILike) and _like_hits(literal.name, profile)):
        return ""
    exact = match.same(text, profile.texts)
    if not exact:
        moved = _other_column(column, text, owner, profile)
        if moved:
            return moved
    values = exact or _near_values(text, profile, question)
    if not values:
        return ask_other(column, text, owner, profile, names)
    _replace_test(node, column, text, values)
    more = ", ..." if len(values) > MAX_LISTED else ""
    return f"{profile.column.name}: {text!r} read as {', '.join(values[:MAX_LISTED])}{more}"


def _variants(text: str, texts: Sequence[str], column: str) -> list[str]:
    """The spellings of a value, and the values that add a number to it: a make with its model is of that make."""
    start = text.casefold() + " "
    numbered = [t for t in texts if t.casefold().startswith(start) and re.search(r"\d", t[len(start) :])]
    last = column.rsplit("_", 1)[-1]  # the column's own word is not repeated in its values
    acronyms = [t for t in texts if t in _acronyms(text, last) or text in _acronyms(t, last)]
    return list(dict.fromkeys([*match.same(text, texts), *numbered, *acronyms]))


def _acronyms(text: str, last: str) -> set[str]:
    """ "visual flight rules" is VFR, and so is "visual flight" in a column of rules."""
    words = re.findall(r"[A-Za-z]+", text)
    letters = "".join(word[0] for word in words).upper() if len(words) > 1 else ""
    return {short for short in (letters, letters + last[:1].upper()) if letters and len(short) > _SHORTEST_ACRONYM}


_SHORTEST_ACRONYM = 2


def _says_more(question: str, literal: str, variants: Sequence[str]) -> bool:
    """Whether the question itself tells one spelling from the others."""
    asked = f" {normal(question)} "
    return any(f" {normal(text)} " in asked and len(normal(text)) > len(normal(literal)) for text in variants)


def _near_values(text: str, profile: ColumnProfile, question: str) -> list[str]:
    near = match.near(text, profile.texts)
    asked = [value for value in near if f" {normal(value)} " in f" {normal(question)} "]
    return asked or near


def _like_hits(pattern: str, profile: ColumnProfile) -> bool:
    test = re.compile("".join(".*" if c == "%" else "." if c == "_" else re.escape(c) for c in pattern), re.I | re.S)
    return any(test.fullmatch(text) for text in profile.texts)


def _other_column(column: exp.Expr, text: str, owner: TableProfile, profile: ColumnProfile) -> str:
    """The literal is no value of this column but one of exactly one other column of the table."""
    others = [c for c in owner.columns if c is not profile and c.column.type in TEXTUAL and match.same(text, c.texts)]
    if len(others) != 1:
        return ""
    column.set("this", exp.to_identifier(others[0].column.name))
    value = match.same(text, others[0].texts)[0]
    for literal in column.parent.find_all(exp.Literal) if column.parent else ():
        literal.replace(exp.Literal.string(value))
    return f"{text!r} is a value of {others[0].column.name}, not of {profile.column.name}"


def _replace_test(node: exp.Expr, column: exp.Expr, text: str, values: list[str]) -> None:
    negated = isinstance(node, exp.NEQ)
    test: exp.Expr
    if len(values) > MAX_LISTED and all(text.casefold() in value.casefold() for value in values):
        test = exp.Like(this=column.copy(), expression=exp.Literal.string(f"%{text}%"))
    elif len(values) == 1:
        test = exp.EQ(this=column.copy(), expression=exp.Literal.string(values[0]))
    else:
        test = exp.In(this=column.copy(), expressions=[exp.Literal.string(value) for value in values])
    node.replace(exp.Not(this=exp.Paren(this=test)) if negated else test)


def _in_list(node: exp.In, profile: ColumnProfile, question: str) -> Iterator[str]:
    for literal in list(node.expressions):
        if not literal.is_string or literal.name in profile.texts or not profile.complete:
            continue
        values = match.same(literal.name, profile.texts) or _near_values(literal.name, profile, question)
        if len(values) == 1:
            yield f"{profile.column.name}: {literal.name!r} read as {values[0]}"
            literal.replace(exp.Literal.string(values[0]))


def _as_flag(literal: exp.Expr) -> str:
    word = literal.name.lower() if isinstance(literal, exp.Literal) else str(literal.this).lower()
    if isinstance(literal, exp.Literal) and not literal.is_string:
        return ""
    if word in YES | NO:
        literal.replace(exp.Literal.number(1 if word in YES else 0))
        return f"{word} written as {1 if word in YES else 0}"
    return ""


def _text_flag(node: exp.Expr, column: exp.Expr, literal: exp.Expr, profile: ColumnProfile) -> str:
    """A text column of yes and no compared with 1, 0, true or false."""
    word = literal.name if isinstance(literal, exp.Literal) else str(literal.this).lower()
    if word in profile.texts:
        literal.replace(exp.Literal.string(word))
        return ""
    group = YES if word.lower() in YES else NO if word.lower() in NO else set()
    meant = [text for text in profile.texts if text.lower() in group]
    if len(meant) != 1:
        return ""
    literal.replace(exp.Literal.string(meant[0]))
    return f"{profile.column.name}: {word} read as {meant[0]}"
