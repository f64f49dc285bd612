"""A name of the question that a statement tests in pieces: `owner = 'Vik' AND owner = 'Lines Ltd'`."""

from __future__ import annotations

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
    pieces = [t for t, _ in texts if f" {normal(t.expression.name)} " in f" {normal(meant)} "]
    kept = [test for test in tests if not any(test is piece for piece in pieces)]
    where.set("this", exp.and_(whole, *kept))
    yield f"{clash.column.name}: the pieces of {meant!r} tested as one value"


def _text_test(test: exp.Expr, names: Names) -> tuple[TableProfile, ColumnProfile] | None:
    if not isinstance(test, exp.EQ) or not isinstance(test.expression, exp.Literal) or not test.expression.is_string:
        return None
    found = names.resolve(test.this)
    return found if found and found[1].column.type in TEXTUAL else None


def _several(column: ColumnProfile, texts: list[tuple[exp.Expr, ColumnProfile]]) -> bool:
    return len({test.expression.name for test, other in texts if other is column}) > 1
