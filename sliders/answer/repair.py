"""Repairs of a statement that need no model: functions, dates, literals and comparisons. Each says what it did."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from sliders.answer.counting import SUPERLATIVE, repair_averages, repair_beside, repair_counts, repair_extremes, repair_parts
from sliders.answer.filings import repair_filings
from sliders.answer.joins import repair_conditions, repair_sides
from sliders.answer.literals import NO, YES, repair_literals
from sliders.answer.periods import repair_periods
from sliders.answer.pieces import repair_documents, repair_pieces
from sliders.answer.profile import DATED, NUMERIC
from sliders.answer.question import NamedValue, bounds, iso_date, numbers
from sliders.answer.scope import Names, drop_condition, stated_tests
from sliders.schema.types import ColumnType

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_SILENCE = re.compile(
    r"(?:\bnot|n't|\bwithout|\bno)\s+(?:\w+\s+)?(?:say|state|stated|mention|mentioned|give|given|specify|specified|tell|known|indicate"
    r"|indicated|report|reported|information|list|listed)|\b(?:missing|unknown|unstated)\b",
    re.I,
)
_TELLS = re.compile(
    r"(?<!^)\b(?:says?|said|state[sd]?|mention(?:s|ed)?|give[sn]?|specif(?:y|ies|ied)|tells?|told|indicate[sd]?|known)\b"
    r"|\bwhether\b",
    re.I,
)
_PARTS = {"%Y": (1, 4), "%m": (6, 2), "%d": (9, 2)}


def repair(tree: exp.Query, names: Names, question: str, named: Sequence[NamedValue] = ()) -> list[str]:
    """Apply every repair in place; returns one line each.

    A literal is replaced only by values that stand in the data, a comparison only by what the question's words say.
    """
    done: list[str] = []
    steps: Sequence[Callable[[], Iterator[str]]] = (
        lambda: repair_conditions(tree, names),
        lambda: repair_sides(tree, names),
        lambda: _date_functions(tree, names),
        lambda: _null_comparisons(tree),
        lambda: _denials(tree, names, question),
        lambda: _truths(tree, names, question),
        lambda: _numeric_literals(tree, names),
        lambda: repair_documents(tree, names, question),
        lambda: repair_pieces(tree, names, question),
        lambda: repair_literals(tree, names, question),
        lambda: _date_literals(tree, names),
        lambda: repair_periods(tree, names, question),
        lambda: repair_filings(tree, names, question),
        lambda: _bound_of_column(tree, names),
        lambda: _stated_bound(tree, names, question),
        lambda: _bounds(tree, question),
        lambda: repair_parts(tree, question, named),
        lambda: repair_averages(tree, question),
        lambda: _rates(tree, names, question),
        lambda: _divisions(tree),
        lambda: repair_counts(tree, names, question),
        lambda: repair_beside(tree, names, question),
        lambda: repair_extremes(tree, names, question),
        lambda: _null_order(tree, names),
    )
    for step in steps:
        done.extend(step())
    return done


def _part(column: exp.Expr, place: tuple[int, int]) -> exp.Expr:
    """Year, month or day of ISO text as an integer (`strftime` reads a bare year as a day number)."""
    cut = exp.Substring(this=column.copy(), start=exp.Literal.number(place[0]), length=exp.Literal.number(place[1]))
    return exp.Cast(this=cut, to=exp.DataType.build("INTEGER"))


def _date_functions(tree: exp.Query, names: Names) -> Iterator[str]:
    for node in list(tree.find_all(exp.Year, exp.Month, exp.Day, exp.TimeToStr, exp.Extract, exp.Anonymous)):
        replaced = _date_function(node)
        if replaced is None:
            continue
        parent = node.parent
        node.replace(replaced)
        if isinstance(parent, exp.Cast):
            parent.replace(parent.this)
        elif isinstance(parent, (*_COMPARISONS, exp.Between, exp.In)):
            _numbers_for_texts(parent)
        if not isinstance(node, exp.TimeToStr):
            yield f"{node.sql()[:60]} written for SQLite"


def _date_function(node: exp.Expr) -> exp.Expr | None:
    for kind, plain in ((exp.Year, "%Y"), (exp.Month, "%m"), (exp.Day, "%d")):
        if isinstance(node, kind):
            return _part(_bare(node.this), _PARTS[plain])
    if (
        isinstance(node, exp.TimeToStr)
        and node.args["format"].name in _PARTS
        and isinstance(_bare(node.this), exp.Column)
    ):
        return _part(_bare(node.this), _PARTS[node.args["format"].name])
    if isinstance(node, exp.Extract) and node.name.upper() in {"YEAR", "MONTH", "DAY"}:
        return _part(_bare(node.expression), _PARTS["%" + {"YEAR": "Y", "MONTH": "m", "DAY": "d"}[node.name.upper()]])
    if isinstance(node, exp.Anonymous) and len(node.expressions) == 2:
        return _between_dates(node.name.lower(), node.expressions[0], node.expressions[1])
    return None


def _between_dates(function: str, start: exp.Expr, end: exp.Expr) -> exp.Expr | None:
    if function == "days_between":
        return exp.maybe_parse(
            f"CAST(JULIANDAY({end.sql('sqlite')}) - JULIANDAY({start.sql('sqlite')}) AS INTEGER)", dialect="sqlite"
        )
    if function == "years_between":
        first, last = start.sql("sqlite"), end.sql("sqlite")
        return exp.maybe_parse(
            f"(CAST(SUBSTR({last}, 1, 4) AS INTEGER) - CAST(SUBSTR({first}, 1, 4) AS INTEGER)"
            f" - (SUBSTR({last}, 6) < SUBSTR({first}, 6)))",
            dialect="sqlite",
        )
    return None


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.TsOrDsToTimestamp | exp.TsOrDsToDate | exp.Date | exp.Paren | exp.Cast):
        node = node.this
    return node


def _numbers_for_texts(node: exp.Expr) -> None:
    for literal in list(node.find_all(exp.Literal)):
        if literal.is_string and literal.name.strip().isdigit() and literal.parent is node:
            literal.replace(exp.Literal.number(int(literal.name)))


def _null_comparisons(tree: exp.Query) -> Iterator[str]:
    for node in list(tree.find_all(exp.EQ, exp.NEQ)):
        if isinstance(node.expression, exp.Null) or (
            node.expression.is_string and node.expression.name.upper() == "NULL"
        ):
            test: exp.Expr = exp.Is(this=node.this.copy(), expression=exp.Null())
            node.replace(exp.Not(this=test) if isinstance(node, exp.NEQ) else test)
            yield "comparison with NULL written as IS NULL"
    for node in list(tree.find_all(exp.NullSafeEQ)):
        if isinstance(node.expression, exp.Literal):
            node.replace(exp.EQ(this=node.this.copy(), expression=node.expression.copy()))
            yield "IS with a value written as ="


def _denials(tree: exp.Query, names: Names, question: str) -> Iterator[str]:
    """ "Is not" asks for the value that says no; only "does not say" asks for a missing one."""
    if not re.search(r"\bnot\b|\bno\b|n't\b", question, re.I) or _SILENCE.search(question):
        return
    for node in list(tree.find_all(exp.Is)):
        found = names.resolve(node.this)
        if not found or not isinstance(node.expression, exp.Null) or isinstance(node.parent, exp.Not):
            continue
        column, texts = found[1].column, {text.lower(): text for text in found[1].texts}
        said = [texts[word] for word in texts if word in NO]
        if len(texts) <= 3 and len(said) == 1 and any(word in YES for word in texts):
            literal = exp.Literal.number(0) if column.type is ColumnType.BOOLEAN else exp.Literal.string(said[0])
            node.replace(exp.EQ(this=node.this.copy(), expression=literal))
            yield f"{column.name}: 'not' read as {said[0]!r}, not as missing"


def _truths(tree: exp.Query, names: Names, question: str) -> Iterator[str]:
    """That something is so asks for yes; that its row says anything of it only where the question asks who says it."""
    if _TELLS.search(question):
        return
    for node in stated_tests(tree):
        found = names.resolve(node.this.this)
        if found and found[1].column.type is ColumnType.BOOLEAN:
            node.replace(exp.EQ(this=node.this.this.copy(), expression=exp.Literal.number(1)))
            yield f"{found[1].column.name}: asked for yes, not for any word of it"


def _numeric_literals(tree: exp.Query, names: Names) -> Iterator[str]:
    """In SQLite a number is always less than a text, so `size > '100'` would be silently false."""
    for node in list(tree.find_all(*_COMPARISONS)):
        found, literal = names.resolve(node.this), node.expression
        if found and found[1].column.type in NUMERIC and literal.is_string:
            digits = literal.name.replace(",", "").strip()
            if re.fullmatch(r"-?\d+(\.\d+)?", digits):
                literal.replace(exp.Literal.number(digits))
                yield f"{found[1].column.name} compared with the number {digits}"


def _date_literals(tree: exp.Query, names: Names) -> Iterator[str]:
    for node in list(tree.find_all(*_COMPARISONS, exp.Between)):
        found = names.resolve(node.this)
        if not found or found[1].column.type not in DATED:
            continue
        values = [node.args["low"], node.args["high"]] if isinstance(node, exp.Between) else [node.expression]
        if not all(isinstance(value, exp.Literal) for value in values):
            continue
        for value in values:
            iso = iso_date(value.name)
            if iso:
                yield f"date {value.name!r} written as {iso}"
                value.replace(exp.Literal.string(iso))
        lengths = {len(value.name) for value in values}
        if all(re.fullmatch(r"\d{4}", value.name) for value in values):
            node.set("this", _part(node.this, _PARTS["%Y"]))
            for value in values:
                value.replace(exp.Literal.number(value.name))
            yield "year compared with the year of the date"
        elif lengths == {7} and all(re.fullmatch(r"\d{4}-\d{2}", value.name) for value in values):
            node.set(
                "this", exp.Substring(this=node.this.copy(), start=exp.Literal.number(1), length=exp.Literal.number(7))
            )
            yield "month compared with the month of the date"


def _bound_of_column(tree: exp.Query, names: Names) -> Iterator[str]:
    """A column that counts things beyond a bound ("berths above 40 feet") has the bound in its number already.

    Where the question asks for an extreme of that count, an extreme of the bounded column stands for it.
    """
    if not isinstance(tree, exp.Select):
        return
    selected = [found[1].column for item in tree.expressions for c in item.find_all(exp.Column) if (found := names.resolve(c))]
    told = {c.name: c.asked for c in selected}
    for node in list(tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE)):
        tested = names.resolve(node.this)
        if not tested or not isinstance(node.expression, exp.Literal):
            continue
        bound, name = set(numbers(node.expression.name)), tested[1].column.name
        counted = [other for other, asked in told.items() if other != name and bound & set(numbers(asked))]
        if bound & set(numbers(told.get(name, ""))) or not counted or not drop_condition(node):
            continue
        yield f"{node.sql()} is what {counted[0]} counts"
        if SUPERLATIVE.search(re.sub(r"\bat (?:least|most)\b", "", told[counted[0]])):
            for end in list(tree.find_all(exp.Min, exp.Max, exp.Ordered)):
                if end.this == node.this:
                    end.set("this", exp.column(counted[0]))
            tree.set("expressions", _extremes_alone(tree.expressions))


def _extremes_alone(items: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Selected items without those whose smallest or largest is selected beside them."""
    ends = [item.unalias().this for item in items if isinstance(item.unalias(), exp.Min | exp.Max)]
    return [item for item in items if item.unalias() not in ends]


def _rates(tree: exp.Query, names: Names, question: str) -> Iterator[str]:
    """A column that the question asks for "per 1,000" is printed so already: it is looked up, not divided."""
    for node in list(tree.find_all(exp.Div)):
        unit, column = node.expression, _bare(node.this)
        if not isinstance(unit, exp.Literal) or unit.is_string or names.resolve(column) is None:
            continue
        if re.search(rf"\bper {unit.name}\b", question.replace(",", ""), re.I):
            said = node.sql()
            node.replace(column.copy())
            yield f"{said} is printed so: {column.name}"


def _stated_bound(tree: exp.Query, names: Names, question: str) -> Iterator[str]:
    """ "At least one person was hurt" tests the number of the hurt, not that some column is stated."""
    small = bounds(question)
    tests = [n for n in tree.find_all(exp.Not) if isinstance(n.this, exp.Is) and isinstance(n.parent, exp.Where | exp.And)]
    asked = set(re.findall(r"[a-z]+", question.lower()))
    numeric = [
        c.column.name
        for table in names.profiles
        for c in table.columns
        if c.column.type in NUMERIC and c.column.name.rsplit("_", 1)[-1] in asked
    ]
    own = [test for test in tests if numeric and test.this.this.name == numeric[0]]
    tests = own or [test for test in tests if isinstance(test.parent, exp.Where)]
    if len(small) == 1 and len(tests) == 1 and len(numeric) == 1 and re.search(r"\bat least\b|\bor more\b", question):
        test = exp.GTE(this=exp.column(numeric[0]), expression=exp.Literal.number(small[0]))
        tests[0].replace(test)
        yield f"the question's bound of {small[0]} tested on {numeric[0]}"


def _bounds(tree: exp.Query, question: str) -> Iterator[str]:
    """`at least N` and `N or more` include N, `more than N` does not: the question's words decide."""
    words = question.lower().replace(",", "")
    words = re.sub(r"\b(one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)\b", _digit, words)
    for node in list(tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE)):
        if not isinstance(node.expression, exp.Literal) or node.expression.is_string:
            continue
        stated = {value for value in numbers(words)}
        try:
            value = float(node.expression.name)
        except ValueError:
            continue
        if value not in stated:
            continue
        wanted = _bound(words, f"{value:g}" if value < 1e6 else str(int(value)))
        if wanted and not isinstance(node, wanted) and {wanted, type(node)} in ({exp.GT, exp.GTE}, {exp.LT, exp.LTE}):
            node.replace(wanted(this=node.this.copy(), expression=node.expression.copy()))
            yield f"the question's bound at {value:g} written as {wanted.__name__.lower()}"


def _digit(match_: re.Match[str]) -> str:
    order = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    return str(order.index(match_.group())) if match_.group() in order else "20"


def _bound(words: str, number: str) -> type[exp.Expr] | None:
    """The comparison that stands around `number` in the question."""
    value = rf"(?:\w{{1,3}}\s|[$€£])?{re.escape(number)}(?:\.0+)?(?!\d)"
    unit = r"(?:\s+\w+){0,1}"
    upward, downward = "more|over|above|older|later|greater|higher", "less|fewer|under|below|younger|earlier|lower"
    patterns: tuple[tuple[str, type[exp.Expr]], ...] = (
        (rf"\b(?:at least|no fewer than|no less than|minimum of)\s+{value}", exp.GTE),
        (rf"\b{value}{unit}\s+(?:or|and)\s+(?:{upward})", exp.GTE),
        (rf"\b(?:at most|no more than|up to|maximum of)\s+{value}", exp.LTE),
        (rf"\b{value}{unit}\s+(?:or|and)\s+(?:{downward})", exp.LTE),
        (rf"\b(?<!no )(?:more than|greater than|higher than|over|above|exceed\w*|after)\s+{value}", exp.GT),
        (rf"\b(?<!no )(?:less than|fewer than|lower than|under|below|before)\s+{value}", exp.LT),
    )
    for pattern, kind in patterns:
        if re.search(pattern, words):
            return kind
    return None


def _divisions(tree: exp.Query) -> Iterator[str]:
    for node in list(tree.find_all(exp.Div)):
        if node.find(exp.Cast) or any("." in literal.name for literal in node.find_all(exp.Literal)):
            continue
        if isinstance(node.expression, exp.Literal) and isinstance(node.parent, exp.Mul | exp.Paren):
            continue
        node.set("this", exp.Cast(this=node.this.copy(), to=exp.DataType.build("REAL")))
        yield "division done in decimals"


def _null_order(tree: exp.Query, names: Names) -> Iterator[str]:
    """With a LIMIT, a row or group without a value must not come out as the least or the most frequent one."""
    for select in list(tree.find_all(exp.Select)):
        order = select.args.get("order")
        if not order or not select.args.get("limit"):
            continue
        group = select.args.get("group")
        wanted = (
            list(group.expressions)
            if group
            else [key.this for key in order.expressions[:1] if not key.args.get("desc")]
        )
        for node in wanted:
            for column in [node] if isinstance(node, exp.Column) else node.find_all(exp.Column):
                found = names.resolve(column)
                if found and found[1].nulls and not node.find(exp.AggFunc):
                    select.where(exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null())), copy=False)
                    yield f"rows without {column.name} left out of the order"
