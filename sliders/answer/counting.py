"""Repairs of what is counted and of which extreme is taken; the question's own words decide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from sliders.answer.profile import NUMERIC, TEXTUAL
from sliders.answer.question import NamedValue, asks_list, kinds, normal
from sliders.answer.scope import Names

_MOST = re.compile(r"\b(?:most|highest|largest|greatest|biggest|maximum|best)\b", re.I)
_LEAST = re.compile(r"\b(?:fewest|least|lowest|smallest|minimum|worst)\b", re.I)
SUPERLATIVE = re.compile(
    r"\b(?:most|least|fewest|highest|lowest|largest|smallest|greatest|biggest|earliest|latest|oldest|newest|youngest|longest"
    r"|shortest|maximum|minimum|best|worst|first|last)\b",
    re.I,
)
_RATIO = re.compile(
    r"\b(?:average|mean|ratio|share|proportion|fraction|percent\w*|rate|margin|median)\b|\bper\s+[a-z]|%", re.I
)
_ONE = re.compile(r"\b(?:most|least|fewest|highest|lowest|largest|smallest|greatest|earliest|latest)\b", re.I)
_DIFFERENT = re.compile(r"\b(?:different|distinct|unique)\b", re.I)
_COUNTED = re.compile(
    r"\b(?:how many|number of)\s+(?:of\s+)?(?:the\s+|these\s+|those\s+)?((?:[\w-]+\s+){0,3}[\w-]+)", re.I
)
_BESIDE = re.compile(r"\band\s+(?:(?:on|in|at|by|from|of|for)\s+)?which\s+([a-z]+(?:\s[a-z]+)?)\s*\?", re.I)
_LINKS = {"over", "above", "under", "below", "of", "per", "in", "at", "by", "the", "and", "or", "to", "number", "count"}
_LABELS = {"id", "name", "no", "number", "code", "title"}


def repair_counts(tree: exp.Query, names: Names, question: str) -> Iterator[str]:
    """Count rows where a count of values would miss or merge some, and sum what already is a number of things."""
    for count in list(tree.find_all(exp.Count)):
        held = _held(count, names, question)
        if held:
            count.replace(exp.Sum(this=exp.column(held)))
            yield f"{held} already is a number: summed, not counted"
            continue
        named = _named_thing(count, names, question)
        if named:
            count.set("this", exp.Distinct(expressions=[exp.column(named)]))
            yield f"each {named} counted once"
            continue
        distinct = isinstance(count.this, exp.Distinct)
        column = count.this.expressions[0] if distinct and len(count.this.expressions) == 1 else count.this
        found = names.resolve(column)
        if not found:
            continue
        name = found[1].column.name
        if _pinned(count, column) or (distinct and not _DIFFERENT.search(question) and not _is_counted(name, question)):
            count.set("this", exp.Star())
            yield f"rows counted, not values of {name}"
        elif not distinct and re.search(r"\bhow many (?:different|distinct|unique)\b", question, re.I):
            if count.find_ancestor(exp.Having, exp.Order) or _grouped(count):
                continue
            count.set("this", exp.Distinct(expressions=[column.copy()]))
            yield f"different values of {name} counted once"


def repair_averages(tree: exp.Query, question: str) -> Iterator[str]:
    """`SUM(x) / COUNT(*)` divides by rows without a value too; the average that is asked for is AVG."""
    if not re.search(r"\b(?:average|mean)\b", question, re.I):
        yield from _stored(tree, question)
        return
    for node in list(tree.find_all(exp.Div)):
        total, count = _uncast(node.this), _uncast(node.expression)
        if not isinstance(total, exp.Sum) or not isinstance(count, exp.Count) or isinstance(count.this, exp.Distinct):
            continue
        summed = total.this.copy()
        if isinstance(summed, exp.Case) and summed.args.get("default") is not None:
            summed.set("default", None)
        node.replace(exp.Avg(this=summed))
        yield "average taken over stated values only"


def _stored(tree: exp.Query, question: str) -> Iterator[str]:
    """A stored value divided by a count of rows, where no ratio is asked for ("per 100,000" is a unit): the value."""
    if _RATIO.search(question) or not isinstance(tree, exp.Select) or tree.args.get("group"):
        return
    for item in list(tree.expressions):
        columns = set(item.find_all(exp.Column))
        if len(columns) == 1 and item.find(exp.Div) and item.find(exp.Count):
            item.replace(next(iter(columns)).copy())
            yield "the stored value is taken as it is"


def _uncast(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Cast | exp.Paren):
        node = node.this
    return node


def repair_parts(tree: exp.Query, question: str, named: Sequence[NamedValue]) -> Iterator[str]:
    """ "How many has X, and how many of them": both counts run over the rows of X, whichever column it stands in."""
    if "part" not in kinds(question) or not isinstance(tree, exp.Select) or tree.args.get("where"):
        return
    table = next(iter(tree.find_all(exp.Table)), None)
    if table is None or tree.args.get("joins") or tree.args.get("group"):
        return
    held = [value for value in named if value.exact and value.table.lower() == table.name.lower()]
    if held and len({value.value for value in held}) == 1:
        tests = [exp.EQ(this=exp.column(one.column), expression=exp.Literal.string(one.value)) for one in held]
        tree.where(exp.or_(*tests), copy=False)
        yield f"counted over the rows of {held[0].value}"


def repair_beside(tree: exp.Query, names: Names, question: str) -> Iterator[str]:
    """ "The smallest X, and on which day?" wants the day beside the extreme."""
    asked = _BESIDE.search(question)
    if asked is None or not isinstance(tree, exp.Select) or len(names.used()) != 1:
        return
    ends = [item.unalias() for item in tree.expressions]
    named = [c.column.name for c in names.used()[0].columns if column_words(c.column.name) == _stems(normal(asked.group(1)))]
    if len(ends) == len(named) == 1 and isinstance(ends[0], exp.Max | exp.Min) and not tree.args.get("group"):
        tree.select(exp.column(named[0]), copy=False)
        yield f"{named[0]} beside the extreme, as asked"


def repair_extremes(tree: exp.Query, names: Names, question: str) -> Iterator[str]:
    """One extreme that was asked for is one row: the best group alone, and the other columns from the same row."""
    if not isinstance(tree, exp.Select):
        return
    if asks_list(question):
        limit = tree.args.get("limit")
        if limit is not None and limit.expression.name == "1" and not _ONE.search(question):
            tree.set("limit", None)
            yield "a list was asked for: all rows are kept"
        return
    if len(SUPERLATIVE.findall(question)) != 1 or tree.args.get("distinct") or tree.args.get("having"):
        return
    yield from _in_one(tree, names, question)
    measures = [item for item in tree.expressions if item.unalias().find(exp.AggFunc)]
    if tree.args.get("limit"):
        return
    down = bool(_MOST.search(question))
    if tree.args.get("group"):
        if len(measures) == 1 and (down or _LEAST.search(question)):
            tree.order_by(exp.Ordered(this=measures[0].unalias().copy(), desc=down, nulls_first=not down), copy=False)
            tree.limit(1, copy=False)
            yield "only the group that was asked for is kept"
        return
    ends = [item.unalias() for item in tree.expressions if isinstance(item.unalias(), exp.Max | exp.Min)]
    if not ends or len(ends) != len(measures) or len(tree.expressions) < 2:
        return
    numeric = [end for end in ends if (found := names.resolve(end.this)) and found[1].column.type in NUMERIC]
    key = (numeric or ends)[0]
    tree.set("expressions", [_taken(item) for item in tree.expressions])
    tree.where(exp.Not(this=exp.Is(this=key.this.copy(), expression=exp.Null())), copy=False)
    tree.order_by(exp.Ordered(this=key.this.copy(), desc=isinstance(key, exp.Max)), copy=False)
    tree.limit(1, copy=False)
    yield "the other columns are taken from the row of the extreme"


def _in_one(tree: exp.Select, names: Names, question: str) -> Iterator[str]:
    """ "The most points in one match" is the largest number of a row: neither a sum nor a count of rows."""
    if not re.search(r"\bin (?:one|a single|any one)\b", question, re.I):
        return
    for total in list(tree.find_all(exp.Sum)):
        total.replace(exp.Max(this=total.this.copy()))
        yield "in one: the largest, not the sum"
    said = set(re.findall(rf"{SUPERLATIVE.pattern} ([a-z]+)\b", question.lower()))
    held = [(t, c.column.name) for t in names.used() for c in t.columns if c.column.type in NUMERIC and c.column.name in said]
    counts = [count for count in tree.find_all(exp.Count) if isinstance(count.this, exp.Star)]
    if len(held) != 1 or any(column.name == held[0][1] for column in tree.find_all(exp.Column)):
        return
    end = exp.Min if _LEAST.search(question) else exp.Max
    for count in counts:
        count.replace(end(this=exp.column(held[0][1], table=names.alias_of(held[0][0]))))
        yield f"in one: the extreme of {held[0][1]}, not a count of rows"


def _taken(item: exp.Expr) -> exp.Expr:
    bare = item.unalias()
    value: exp.Expr = bare.this.copy() if isinstance(bare, exp.Max | exp.Min) else bare.copy()
    return value


def _stems(text: str) -> list[str]:
    return [
        re.sub(r"ies$", "y", word) if word.endswith("ies") else re.sub(r"(?<=\w\w\w)s$", "", word)
        for word in text.split()
    ]


def column_words(name: str) -> list[str]:
    """The words of a column's name, singular."""
    return _stems(normal(name.replace("_", " ")))


def mentions(question: str, name: str) -> bool:
    """Whether every word of a column's name stands in the question."""
    words = set(_stems(normal(question)))
    return all(word in words for word in column_words(name) if word not in _LINKS)


def _counted(question: str) -> list[list[str]]:
    return [_stems(normal(match)) for match in _COUNTED.findall(question)]


def _is_counted(name: str, question: str) -> bool:
    """Whether the things that the question counts are what the column names (companies: company, company_id)."""
    words = [word for word in column_words(name) if word not in _LABELS]
    return bool(words) and any(
        words == noun[: len(words)] or words == noun[-len(words) :] for noun in _counted(question)
    )


def _held(count: exp.Count, names: Names, question: str) -> str:
    """The one numeric column that is the number asked for (how many people were killed: people_killed), else empty."""
    if count.find_ancestor(exp.Having, exp.Order, exp.Group) or _grouped(count):
        return ""
    counted = {noun[0] for noun in _counted(question)}
    columns = [profile.column for table in names.used() for profile in table.columns]
    numeric = [column.name for column in columns if column.type in NUMERIC]
    stated = [name for name in numeric if column_words(name)[-1] not in _LABELS]
    held = [name for name in stated if column_words(name)[0] in counted and mentions(question, name)]
    return held[0] if len(held) == 1 else ""


def _named_thing(count: exp.Count, names: Names, question: str) -> str:
    """The text column that names what is counted, where a row is not one of them (companies with several reports)."""
    if not isinstance(count.this, exp.Star) or _grouped(count) or len(names.used()) != 1:
        return ""
    if count.find_ancestor(exp.Having, exp.Order, exp.Sub, exp.Div) or len(_counted(question)) != 1:
        return ""
    first = _counted(question)[0][0]
    columns = [profile for profile in names.used()[0].columns if profile.column.type in TEXTUAL and not profile.nulls]
    named = [one for one in columns if [w for w in column_words(one.column.name) if w not in _LABELS] == [first]]
    return named[0].column.name if len(named) == 1 and named[0].distinct < named[0].rows else ""


def _pinned(count: exp.Count, column: exp.Expr) -> bool:
    """Whether the statement fixes the counted column to one value: then only rows can be meant."""
    select = count.find_ancestor(exp.Select)
    where = select.args.get("where") if select else None
    if where is None:
        return False
    return any(
        isinstance(test.expression, exp.Literal) and test.this == column
        for test in where.find_all(exp.EQ)
        if not test.find_ancestor(exp.Or)
    )


def _grouped(count: exp.Count) -> bool:
    select = count.find_ancestor(exp.Select)
    return bool(select and select.args.get("group"))
