"""Looking at a result before it is an answer: what is odd about it, in words that help to write the next statement."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sliders.answer import match
from sliders.answer.counting import mentions
from sliders.answer.profile import NUMERIC, SHOWN_VALUES, TEXTUAL, TableProfile, quote
from sliders.answer.question import NamedValue, asks_number, bounds, dates, items_asked, normal, numbers
from sliders.answer.scope import DIALECT, Names
from sliders.answer.shape import empty
from sliders.answer.values import QueryResult, RunSql
from sliders.errors import QueryError, StoreError
from sliders.schema.lint import SUPERLATIVES, subject
from sliders.schema.names import with_article

_MISSING = re.compile(
    r"\b(?:not|no|never|none|without|still|yet|alive|lack\w*|empty|missing|unknown|unstated)\b|n't\b", re.I
)
"""What may ask for rows without a value."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is odd, for the model to read; `weight` orders candidates: 3 no answer, 2 wrong shape, 1 a doubt."""

    text: str
    weight: int


def review(
    question: str,
    tree: exp.Query,
    result: QueryResult,
    profiles: Sequence[TableProfile],
    named: Sequence[NamedValue],
    run_sql: RunSql,
) -> list[Finding]:
    """Everything that is odd about a statement and its result; empty when nothing is."""
    names = Names(tree, profiles)
    found = list(_no_rows(tree, result, names, run_sql))
    if not found:
        found += _wrong_shape(question, result)
    found += _loose_scalars(tree, run_sql)
    found += _void(tree, names)
    found += _silent(question, tree, names)
    found += _invented(question, tree, names, named)
    for name in unread_numbers(question, tree, profiles):
        found.append(Finding(f"The question speaks of {name}, but the statement does not read it.", 1))
    found += _unused(question, tree, named, names)
    found += _other_rows(question, tree, profiles)
    if re.search(r"\b(?:average|mean)\b", question, re.I) and not tree.find(exp.Avg, exp.Div):
        found.append(Finding("The question asks for an average, but the statement computes none.", 2))
    return found


def is_zero(result: QueryResult) -> bool:
    """Whether the result is one row with a single zero."""
    return len(result.rows) == 1 and len(result.rows[0]) == 1 and result.rows[0][0] == 0


def _no_rows(tree: exp.Query, result: QueryResult, names: Names, run_sql: RunSql) -> list[Finding]:
    nothing = not result.rows or empty(result.rows)
    if not nothing and not is_zero(result):
        return []
    causes = failing_conditions(tree, names, run_sql)
    if nothing and tree.find(exp.Table) is None:
        return [Finding("The statement reads no table. Look at the columns again: does none hold what is asked?", 3)]
    if nothing:
        what = "no row" if not result.rows else "only NULL"
        return [Finding(f"The result is {what}. " + " ".join(causes), 3)]
    causes += _contradictions(tree)
    return [Finding("The result is 0. " + " ".join(causes), 3)] if causes else []


def _contradictions(tree: exp.Query) -> list[str]:
    """Two equalities on one column that no row can meet together."""
    tested: dict[str, set[str]] = {}
    for node in tree.find_all(exp.EQ, exp.Like):
        if isinstance(node.parent, exp.And | exp.Where) and isinstance(node.expression, exp.Literal):
            tested.setdefault(node.this.sql(DIALECT), set()).add(node.expression.name)
    return [f"No row can have two different values of {column}." for column, texts in tested.items() if len(texts) > 1]


def failing_conditions(tree: exp.Query, names: Names, run_sql: RunSql) -> list[str]:
    """Text conditions that no row meets, each with the nearest values that the column really holds."""
    causes = []
    for node in tree.find_all(exp.EQ, exp.Like, exp.ILike, exp.In):
        found = names.resolve(node.this)
        literals = [literal for literal in node.find_all(exp.Literal) if literal.is_string]
        if not found or not literals or found[1].column.type not in TEXTUAL:
            continue
        owner, profile = found
        bare = node.copy()
        for column in bare.find_all(exp.Column):
            column.set("table", None)
        try:
            met = run_sql(f'SELECT COUNT(*) FROM "{owner.view.name}" WHERE {bare.sql(DIALECT)}').rows[0][0]
        except (QueryError, StoreError):
            continue
        if not met:
            causes += _elsewhere(literals[0].name, names, profile.column.name)
            near = ", ".join(quote(text) for text in match.nearest(literals[0].name.strip("%"), profile.texts))
            causes.append(f"No row has {bare.sql(DIALECT)}; {profile.column.name} holds {near or 'nothing'}.")
    return causes


def _elsewhere(text: str, names: Names, name: str) -> list[str]:
    """Where a value that this column does not hold does stand."""
    places = [
        f"{table.view.name}.{column.column.name}"
        for table in names.profiles
        for column in table.columns
        if column.column.type in TEXTUAL and column.column.name != name and match.same(text.strip("%"), column.texts)
    ]
    return [f"{quote(text)} is a value of {' and '.join(places)}: join that table."] if places else []


def _wrong_shape(question: str, result: QueryResult) -> list[Finding]:
    asked, width = items_asked(question), len(result.columns)
    if asks_number(question):
        if len(result.rows) > 1 and not re.search(r"\b(?:each|every|per)\b", question, re.I):
            return [Finding(f"The question asks for one number, but the result has {len(result.rows)} rows.", 2)]
        if width == 1 and isinstance(result.rows[0][0], str) and not _numeric(result.rows[0][0]):
            return [Finding("The question asks for a number, but the result is text.", 2)]
    if width < asked:
        return [Finding(f"The question asks for {asked} things, but only {width} is selected.", 2)]
    return []


def _invented(question: str, tree: exp.Query, names: Names, named: Sequence[NamedValue]) -> list[Finding]:
    """A filter on a name that the question does not say, copied from the profile of the column."""
    return [
        Finding(f"The statement filters on {node.expression.sql(DIALECT)}, which the question does not name.", 2)
        for node in invented_filters(question, tree, names, named)
    ]


def invented_filters(question: str, tree: exp.Query, names: Names, named: Sequence[NamedValue]) -> list[exp.EQ]:
    """The equalities with a name that the question does not say."""
    words = set(normal(question).split())
    found = []
    for node in tree.find_all(exp.EQ):
        at = names.resolve(node.this)
        literal = node.expression
        if not at or not isinstance(literal, exp.Literal) or at[1].column.type not in TEXTUAL:
            continue
        name = at[1].column.name
        if any(value.value == literal.name for value in named):
            continue
        telling = at[1].distinct > SHOWN_VALUES or any(value.column == name for value in named)
        if telling and not any(word in words for word in normal(literal.name).split()):
            found.append(node)
    return found


def _void(tree: exp.Query, names: Names) -> list[Finding]:
    """ "Is not X" for an X that the column does not hold: every row passes, nothing is tested."""
    found = []
    for node in tree.find_all(exp.NEQ):
        at, literal = names.resolve(node.this), node.expression
        if not at or not literal.is_string or at[1].column.type not in TEXTUAL or not at[1].complete:
            continue
        if literal.name not in at[1].texts:
            test = node.sql(DIALECT)
            found.append(Finding(f"{test} tests nothing: {at[1].column.name} holds no such value.", 3))
    return found


def _silent(question: str, tree: exp.Query, names: Names) -> list[Finding]:
    """Rows without a value counted as if they had the one that is asked for, in a column that holds none at all."""
    if _MISSING.search(question):
        return []
    found = []
    for node in tree.find_all(exp.Is):
        at = names.resolve(node.this)
        plain = isinstance(node.expression, exp.Null) and not isinstance(node.parent, exp.Not)
        if at and plain and at[1].rows == at[1].nulls:
            found.append(Finding(f"{at[1].column.name} holds nothing: what is missing cannot answer the question.", 3))
    return found


def unread_numbers(question: str, tree: exp.Query, profiles: Sequence[TableProfile]) -> list[str]:
    """The number columns that the question speaks of by their own names, and that the statement does not read.

    A single word is a name only behind an extreme ("the most points"), where the statement reads no number at all.
    """
    used = {column.name.lower() for column in tree.find_all(exp.Column)}
    names = {p.column.name for t in profiles for p in t.columns if p.column.type in NUMERIC}
    extremes = set(_EXTREME.findall(question.lower()))
    counts_alone = not used & {name.lower() for name in names}
    named = {name for name in names if (mentions(question, name) if "_" in name else counts_alone and name in extremes)}
    return [name for name in sorted(named) if name.lower() not in used]


_EXTREME = re.compile(rf"\b(?:{'|'.join(sorted(SUPERLATIVES))}) ([a-z]+)\b")


def _other_rows(question: str, tree: exp.Query, profiles: Sequence[TableProfile]) -> list[Finding]:
    """A question about things of a kind that have a table of their own, which the statement does not read."""
    noun = subject(question)
    read = {table.name.lower() for table in tree.find_all(exp.Table)}
    if not noun:
        return []
    one = with_article(noun)
    rows = {p.view.name: p.view.table.row for p in profiles}
    own = [name for name, row in rows.items() if row == one]
    if not own and re.match(r"how many times did an? ", question.strip(), re.I):
        own = [name for name, row in rows.items() if row.startswith(f"{one} in ")]  # a row for each side of an event
    if len(own) != 1 or own[0].lower() in read or len(profiles) < 2:
        return []
    return [Finding(f"The question is about each {noun}: read the table {own[0]}, which has a row for each.", 2)]


def _loose_scalars(tree: exp.Query, run_sql: RunSql) -> list[Finding]:
    """A subquery used as one value that holds several, and a value compared with itself."""
    found = []
    for node in tree.find_all(exp.Binary):
        if isinstance(node, exp.Sub | exp.Div | exp.GT | exp.LT | exp.NEQ) and node.this == node.expression:
            found.append(Finding(f"{node.sql(DIALECT)} uses the same value twice; join the table with itself.", 2))
        for side in (node.this, node.expression):
            if not isinstance(side, exp.Subquery) or isinstance(node, exp.In):
                continue
            try:
                rows = len(run_sql(side.this.sql(DIALECT)).rows)
            except (QueryError, StoreError):
                continue
            if rows > 1:
                found.append(
                    Finding(f"The subquery {side.sql(DIALECT)[:120]} gives {rows} rows, but only one value is used.", 2)
                )
    return found


def _numeric(text: str) -> bool:
    return bool(re.fullmatch(r"\s*[-+]?[\d.,]+\s*%?\s*", text))


def _unused(question: str, tree: exp.Query, named: Sequence[NamedValue], names: Names) -> list[Finding]:
    sql = tree.sql(DIALECT)
    words = f" {normal(sql)} "
    found = []
    places: dict[str, list[str]] = {}
    for value in named:
        places.setdefault(value.value, []).append(f"{value.table}.{value.column}")
    for text, columns in places.items():
        if f" {normal(text)} " not in words:
            held = f"a value of {' and '.join(columns)}"
            found.append(Finding(f"The question names {quote(text)}, {held}, but the statement does not use it.", 1))
    for written, iso in dates(question):
        if iso not in sql and iso[:7] not in sql:
            found.append(Finding(f"The question says {written} ({quote(iso)}), but the statement does not use it.", 1))
    for iso in re.findall(r"\b\d{4}-\d{2}-\d{2}\b", question):
        if iso not in sql:
            found.append(Finding(f"The question says {iso}, but the statement does not use it.", 1))
    digits = re.findall(r"\d+(?:\.\d+)?", sql) + [f"{number:g}" for number in _counted_beyond(tree, names)]
    for bound in bounds(question):
        if not any(abs(float(digit) - bound) <= 1 for digit in digits):
            found.append(Finding(f"The question sets a bound of {bound}, but the statement does not test it.", 1))
    for number in numbers(re.sub(r"\bper\s+[\d,]+", " ", question)):
        if not any(float(digit) == number for digit in digits) and not any(f"{number:g}" in digit for digit in digits):
            found.append(Finding(f"The question says {number:g}, but the statement does not use it.", 1))
    return found


def _counted_beyond(tree: exp.Query, names: Names) -> set[float]:
    """The bounds that columns of the statement have in their numbers already ("number of berths above 40 feet")."""
    read = [found[1].column.asked for node in tree.find_all(exp.Column) if (found := names.resolve(node))]
    return {number for asked in read for number in numbers(asked.partition("number of")[2])}
