"""Tests of a statement that no row can meet, or that nobody asked for: a name in pieces, a file of the prompt's examples."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from sliders.answer.profile import TEXTUAL, ColumnProfile, TableProfile
from sliders.answer.question import normal
from sliders.answer.scope import Names


def repair_pieces(tree: exp.Query, names: Names, question: str) -> Iterator[str]:
    """One test of the value that the question names, in place of tests of its pieces, which no row can meet together."""
    where = tree.find(exp.Where)
    if where is None or not isinstance(where.this, exp.And) or tree.args.get("joins"):
        return
    tests = list(where.this.flatten())
    texts = [(test, found[1]) for test in tests if (found := _text_test(test, names)) is not None]
    clash = next((c for test, c in texts if _several(c, texts)), None)
    if clash is None or not clash.complete:
        return
    asked = f" {normal(question)} "
    meant = max((text for text in clash.texts if f" {normal(text)} " in asked), key=len, default="")
    if not meant:
        return
    whole = exp.EQ(this=exp.column(clash.column.name), expression=exp.Literal.string(meant))
    pieces = [
        test for test, other in texts
        if f" {normal(test.expression.name)} " in f" {normal(meant)} "
        or (other is clash and f" {normal(test.expression.name)} " not in asked)  # another word for it, which is not said
    ]  # fmt: skip
    kept = [test for test in tests if not any(test is piece for piece in pieces)]
    where.set("this", exp.and_(whole, *kept))
    yield f"{clash.column.name}: the pieces of {meant!r} tested as one value"


def repair_documents(tree: exp.Query, names: Names, question: str) -> Iterator[str]:
    """Without tests of the file's name where the question has no word of it: the model took it from an example."""
    columns = {profile.view.document.lower() for profile in names.used() if profile.view.document}
    asked, run_on = set(_name_words(question)), re.sub(r"[^a-z]+", "", question.casefold())
    for test in list(tree.find_all(exp.EQ, exp.Like)):
        literal = test.expression
        if not isinstance(test.this, exp.Column) or test.this.name.lower() not in columns or not isinstance(literal, exp.Literal):
            continue
        said = _name_words(re.sub(r"\.\w{2,4}$", "", literal.name.strip("%")))
        told = asked & set(said) or any(len(word) >= _LONG and word in run_on for word in said)
        if not said or told or not isinstance(test.parent, exp.And | exp.Where):
            continue
        test.replace(exp.true())
        yield f"rows of all documents: the question does not name {literal.name!r}"


_LONG = 5
_YEAR = re.compile(r"(?:19|20)\d\d")


def _name_words(text: str) -> list[str]:
    words = re.findall(r"[a-z]{3,}|\d+[a-z]?\b", text.casefold())
    return [w for w in words if not _YEAR.fullmatch(w)]


def _text_test(test: exp.Expr, names: Names) -> tuple[TableProfile, ColumnProfile] | None:
    if not isinstance(test, exp.EQ) or not isinstance(test.expression, exp.Literal) or not test.expression.is_string:
        return None
    found = names.resolve(test.this)
    return found if found and found[1].column.type in TEXTUAL else None


def _several(column: ColumnProfile, texts: list[tuple[exp.Expr, ColumnProfile]]) -> bool:
    return len({test.expression.name for test, other in texts if other is column}) > 1
