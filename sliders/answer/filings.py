"""Figures that several filings state for one period: which filing a statement must read.

A question that names a filing ("as stated in the 2020 report") reads that one; any other reads the newest filing that
states the period, as a restated figure replaces the one before it. A small model leaves the choice out, and adds up or
lists the same figure twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sliders.answer.counting import mentions
from sliders.answer.profile import TEXTUAL, TableProfile, identifier, quote
from sliders.answer.question import NamedValue
from sliders.answer.scope import DIALECT, Names
from sliders.schema.periods import period_roles
from sliders.schema.types import ColumnType

_YEAR = r"(?:FY\s?|fiscal (?:year )?)?((?:19|20)\d\d)"
_PAPER = r"(?:10-?[KQ]s?|20-?Fs?|(?:annual |quarterly )?(?:reports?|filings?)|editions?)\b"
_FIRST = re.compile(rf"{_YEAR}(?:\s*(?:,|and|or|&|vs\.?)\s*(?:the |its |their )?{_YEAR})?\s+{_PAPER}", re.IGNORECASE)
_AFTER = re.compile(rf"{_PAPER}\s+(?:for|of|from)\s+(?:the )?{_YEAR}(?:\s*(?:and|or|&)\s*{_YEAR})?", re.IGNORECASE)
_YEARED = re.compile(r"(\w+?)_(?:fy_?|fiscal_)?((?:19|20)\d\d)", re.IGNORECASE)
_ANY_YEAR = re.compile(r"(?<![\d-])((?:19|20)\d\d)(?![\d-])")
_DIFFERENCE = re.compile(r"\bdifference\b|\bhow much (?:more|less|higher|lower)\b|\bby how much\b", re.IGNORECASE)
_DIFFERS = re.compile(r"\bdifferent(?:ly)?\b|\bdiffers?\b|\bdisagree|\brestate[ds]?\b|\bcontradict", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Filed:
    """A table of figures by thing, period and filing, in SQL names."""

    table: str
    thing: str
    period: str
    filing: str


def filings_named(question: str) -> tuple[int, ...]:
    """The years of the filings that a question names, in order.

    >>> filings_named("Which sold more in 2019, according to the FY2020 and the FY2021 10-K?")
    (2020, 2021)
    """
    found = [year for pattern in (_FIRST, _AFTER) for match in pattern.finditer(question) for year in match.groups()]
    return tuple(dict.fromkeys(int(year) for year in found if year))


def periods_named(question: str) -> tuple[int, ...]:
    """The years of the figures that a question asks for: all but those that only name a filing."""
    rest = _AFTER.sub(" ", _FIRST.sub(" ", question))
    return tuple(dict.fromkeys(int(year) for year in _ANY_YEAR.findall(rest)))


def _filed(profile: TableProfile) -> _Filed | None:
    roles = period_roles(profile.view.table)
    filing = next((c for c in roles.filing if c.type is not ColumnType.DATE), None)
    keyed = [c for c in roles.entities if c.type in TEXTUAL]
    thing = next((c for c in keyed if c.name in profile.view.table.key), keyed[0] if keyed else None)
    if roles.period is None or filing is None or thing is None:
        return None
    return _Filed(profile.view.name, thing.name, roles.period.name, filing.name)


def repair_filings(tree: exp.Query, names: Names, question: str) -> Iterator[str]:
    """Makes a statement over such a table read one filing: the named one, else the newest that states the period."""
    named = filings_named(question)
    tables = [table.name for table in tree.find_all(exp.Table)]
    if len(named) > 1 or not isinstance(tree, exp.Select) or len(set(tables)) < len(tables):
        return
    if named:
        for profile in names.used():
            yield from _read_filing(tree, names, profile, named[0])
    if len(names.used()) != 1 or (filed := _filed(names.used()[0])) is None:
        return
    if named:
        yield from _period_of_question(tree, filed, question, named[0])
        return
    tests = _tests(tree, filed.filing)
    for test in tests:
        test.replace(exp.true())
    columns = ", ".join(map(identifier, (filed.thing, filed.period)))
    newest = f"SELECT {columns}, MAX({identifier(filed.filing)}) FROM {identifier(filed.table)} GROUP BY {columns}"
    tree.where(f"({columns}, {identifier(filed.filing)}) IN ({newest})", copy=False, dialect=DIALECT)
    if tests and not _tests(tree, filed.period) and len(years := periods_named(question)) == 1:
        tree.where(f"{identifier(filed.period)} = {years[0]}", copy=False, dialect=DIALECT)
    yield "where several filings state a period, the newest is read"


def _read_filing(tree: exp.Select, names: Names, profile: TableProfile, year: int) -> Iterator[str]:
    """Adds the condition on the filing's year to a table that has such a column."""
    filing = next((c.name for c in period_roles(profile.view.table).filing if c.type is not ColumnType.DATE), None)
    if filing is None:
        return
    tests = [t for t in _tests(tree, filing) if (found := names.resolve(t.this)) and found[0] is profile]
    if any(test.expression.name == str(year) for test in tests):
        return
    for test in tests:
        test.replace(exp.true())
    place = f"{identifier(names.alias_of(profile))}.{identifier(filing)}"
    tree.where(f"{place} = {year}", copy=False, dialect=DIALECT)
    yield f"the filing of {year} is read, as the question says"


def year_columns(tree: exp.Query, profiles: Sequence[TableProfile]) -> list[str]:
    """Names like `revenue_2020` where the year is a column: the amount itself, of that year where it is the only one.

    A small model takes each year for a column; a statement that compares two of them is set right afterwards.
    """
    done: list[str] = []
    years: set[int] = set()
    filed = next((f for p in profiles if (f := _filed(p)) is not None), None)
    real = {c.column.name.lower() for p in profiles if filed is not None and p.view.name == filed.table for c in p.columns}
    for column in list(tree.find_all(exp.Column)):
        match = _YEARED.fullmatch(column.name)
        if match is None or match[1].lower() not in real or column.name.lower() in real:
            continue
        column.set("this", exp.to_identifier(match[1]))
        years.add(int(match[2]))
        done.append(f"{column.name} of {match[2]}")
    if filed is not None and isinstance(tree, exp.Select) and len(years) == 1 and not _tests(tree, filed.period):
        tree.where(f"{identifier(filed.period)} = {years.pop()}", copy=False, dialect=DIALECT)
    return done


def _tests(tree: exp.Select, column: str) -> list[exp.EQ]:
    """The equalities of a column with a literal in the WHERE clause."""
    where = tree.args.get("where")
    found = where.find_all(exp.EQ) if where else ()
    return [
        test
        for test in found
        if isinstance(test.this, exp.Column) and test.this.name == column and isinstance(test.expression, exp.Literal)
    ]


def _period_of_question(tree: exp.Select, filed: _Filed, question: str, filing: int) -> Iterator[str]:
    """The figure's year where the statement tests the filing's year alone, or takes it for the figure's."""
    years = periods_named(question)
    tests = _tests(tree, filed.period)
    if len(years) != 1 or any(test.expression.name == str(years[0]) for test in tests):
        return
    for test in tests:
        if test.expression.name == str(filing):
            test.replace(exp.true())
    if not _tests(tree, filed.period):
        tree.where(f"{identifier(filed.period)} = {years[0]}", copy=False, dialect=DIALECT)
        yield f"the figures of {years[0]} are read"


def two_filings_sql(question: str, profiles: tuple[TableProfile, ...], named: tuple[NamedValue, ...]) -> str | None:
    """The statement that sets the figures of two named filings for one period side by side.

    "By how much do they differ" gives the first minus the second, or which is which where none is first; "which differ"
    gives the things. None where the question does not name two filings, or its amount is not clear.
    """
    filings, years = filings_named(question), periods_named(question)
    found = [(p, filed) for p in profiles if (filed := _filed(p)) is not None]
    if len(filings) != 2 or len(years) > 1 or len(found) != 1 or not _DIFFERS.search(question + _says_difference(question)):
        return None
    profile, filed = found[0]
    year = years[0] if years else min(filings)
    amounts = _amounts(question, profile)
    if not amounts:
        return None
    table, thing, period, filing = map(identifier, (filed.table, filed.thing, filed.period, filed.filing))
    values = [value.value for value in named if value.column == filed.thing and value.table == filed.table]
    joined = f"FROM {table} AS a JOIN {table} AS b ON a.{thing} = b.{thing} AND a.{period} = b.{period}"
    where = f"WHERE a.{filing} = {filings[0]} AND b.{filing} = {filings[1]} AND a.{period} = {year}"
    if values:
        where += f" AND a.{thing} IN ({', '.join(map(quote, values))})"
    if _DIFFERENCE.search(question):
        if len(amounts) != 1:
            return None
        amount = identifier(amounts[0])
        return f"SELECT ABS(a.{amount} - b.{amount}) AS difference {joined} {where}"
    differ = " OR ".join(f"a.{identifier(name)} <> b.{identifier(name)}" for name in amounts)
    return f"SELECT DISTINCT a.{thing} {joined} {where} AND ({differ})"


def _says_difference(question: str) -> str:
    return " different" if _DIFFERENCE.search(question) else ""


def _amounts(question: str, profile: TableProfile) -> list[str]:
    """The amount columns whose names the question says, in whole or but for "total"."""
    names = [column.name for column in period_roles(profile.view.table).amounts]
    return [n for n in names if mentions(question, n) or mentions(question, re.sub(r"^(?:total|net)_(?=.*[a-z])", "", n))]
