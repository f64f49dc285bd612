"""Tables with one row for each period of a document: which columns are the period, amounts, and facts of the document."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sliders.schema.names import spoken_name
from sliders.schema.types import Column, ColumnType, Table

_PERIOD = frozenset(("year", "years", "period", "quarter", "fy"))
_FILING = frozenset("filing filed filings report reported reporting document form published publication issue edition".split())
_NO_PERIOD = frozenset("founded built birth born age since established opened start number count term terms".split())
_NUMBERS = (ColumnType.INTEGER, ColumnType.NUMBER)
_SCALED = (
    (re.compile(r"^(?:m|mn|mio)(usd|eur|gbp|chf|jpy|cad)$|^(usd|eur|gbp|chf|jpy|cad)(?:m|mn|mio)$"), "millions"),
    (re.compile(r"^(?:k|t)(usd|eur|gbp|chf)$|^(usd|eur|gbp|chf)k$"), "thousands"),
    (re.compile(r"^(?:bn)(usd|eur|gbp|chf)$|^(usd|eur|gbp|chf)bn$"), "billions"),
    (re.compile(r"^millions?$|^mn$|^mio$"), "millions"),
    (re.compile(r"^thousands?$"), "thousands"),
    (re.compile(r"^billions?$|^bn$"), "billions"),
)


@dataclass(frozen=True, slots=True)
class PeriodTable:
    """The roles of a table's columns.

    `period` tells the rows of one document apart; `filing` and `filing_end` are year and last day of the period that the
    document itself covers; `amounts` are read at row label and period; `entities` hold for the document as a whole.
    """

    period: Column | None
    filing: tuple[Column, ...]
    amounts: tuple[Column, ...]
    entities: tuple[Column, ...]


def period_roles(table: Table) -> PeriodTable:
    """The roles of a table's columns by name and type; `period` is None where a document holds one row."""
    filing = [c for c in table.columns if _speaks_of_period(c) and (_words(c) & _FILING or _is_end(c))]
    rows = [c for c in table.columns if _speaks_of_period(c) and c not in filing and c.type is not ColumnType.DATE]
    if table.grain == "document":
        filing, rows = [*filing, *rows[:1]], []
    period = rows[0] if rows else None
    amounts = tuple(c for c in table.columns if c.type in _NUMBERS and c not in (*filing, *rows))
    rest = tuple(c for c in table.columns if c not in (*filing, *amounts) and c is not period)
    return PeriodTable(period, tuple(filing), amounts, rest)


def _words(column: Column) -> set[str]:
    return set(spoken_name(column.name).split())


def _speaks_of_period(column: Column) -> bool:
    words = _words(column)
    if column.type is ColumnType.DATE:
        return _is_end(column)
    return bool(words & _PERIOD) and not words & _NO_PERIOD and column.type in (*_NUMBERS, ColumnType.TEXT)


def _is_end(column: Column) -> bool:
    """A date on which a fiscal year or period ends."""
    words = _words(column)
    return column.type is ColumnType.DATE and bool(words & _PERIOD) and bool(words & {"end", "ended", "ending", "ends"})


def scaled_by_name(column: Column) -> Column:
    """The column with the scale and currency that its name states ("revenue_musd", "sales_in_millions").

    >>> scaled_by_name(Column("revenue_musd", ColumnType.INTEGER)).scale
    'millions'
    """
    if column.scale or column.type not in _NUMBERS:
        return column
    for word in spoken_name(column.name).split():
        for pattern, scale in _SCALED:
            if match := pattern.match(word):
                code = next((group for group in match.groups() if group), "")
                return replace(column, scale=scale, currency=column.currency or code.upper())
    return column
