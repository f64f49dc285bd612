"""Literals in comparisons of a statement that no row has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from sliders.answer.finding import Finding, listed
from sliders.answer.profile import ColumnProfile, TableProfile
from sliders.answer.references import References
from sliders.sentences import Sentences
from sliders.sql.names import nearest
from sliders.sql.quoting import quote_literal
from sliders.values.expected import NUMERIC, TEXTUAL

say = Sentences("answer")

_ALIKE = 60.0  # of 100: less like a literal is no form of it, and named beside it would tempt
EQUAL = (exp.EQ, exp.NEQ, exp.In, exp.Like)


def _listed_whole(column: ColumnProfile) -> bool:
    """True when a value that is not listed in the column's profile occurs in no row."""
    return column.complete and column.column.type not in NUMERIC


def _literals_of(node: exp.Expr) -> list[str]:
    """The strings that a test for equality compares with."""
    sides = node.expressions if isinstance(node, exp.In) else [node.expression]
    return [side.name for side in sides if isinstance(side, exp.Literal) and side.is_string]


def _an_alternative_holds(node: exp.Expr, names: References) -> bool:
    """True when a row has another literal of the IN list, or of a test that an OR puts beside this
    one.
    """
    whole = node
    while isinstance(whole.parent, exp.Or | exp.Paren):
        whole = whole.parent
    for test in whole.find_all(*EQUAL):
        owner = names.of(test.this)
        if (
            owner is not None
            and _listed_whole(owner[1])
            and any(_held(test, text, owner[1]) for text in _literals_of(test))
        ):
            return True
    return False


def unheld_literals(tree: exp.Query, names: References) -> Iterator[Finding]:
    """Yields a finding for each literal in a test for equality that no row has, with values that
    the column has. A literal whose alternatives in the same IN list or OR have a row is left out.
    """
    for node in tree.find_all(*EQUAL):
        owner = names.of(node.this)
        if owner is None or not _listed_whole(owner[1]) or _an_alternative_holds(node, names):
            continue
        for literal in _literals_of(node):
            if not _held(node, literal, owner[1]):
                yield _unheld(literal, owner[1], names)


def _unheld(literal: str, known: ColumnProfile, names: References) -> Finding:
    name = known.column.name
    near = (
        [quote_literal(t) for t in nearest(literal.strip("%"), known.texts, _ALIKE)]
        if known.column.type in TEXTUAL
        else []
    )
    shown = say("nearest", values=", ".join(near)) if near else listed(known)
    elsewhere = _elsewhere(literal.strip("%"), names.profiles, name)
    text = say("literal", literal=literal, column=name, values=shown, elsewhere=elsewhere)
    return Finding("literal", f"{name}={literal}", text, bool(near))


def _held(node: exp.Expr, literal: str, column: ColumnProfile) -> bool:
    if not isinstance(node, exp.Like):
        return literal in column.texts
    pattern = re.escape(literal).replace("%", ".*").replace("_", ".")
    return any(re.fullmatch(pattern, text, re.IGNORECASE | re.DOTALL) for text in column.texts)


def _elsewhere(literal: str, profiles: Sequence[TableProfile], but: str) -> str:
    places = [
        f"{p.view.name}.{c.column.name}"
        for p in profiles
        for c in p.columns
        if c.column.name != but
        and c.column.type in TEXTUAL
        and literal.casefold() in (t.casefold() for t in c.texts)
    ]
    return say("elsewhere", places=", ".join(places[:3])) if places else ""
