"""Induced tables over documents that print tables of periods: one row for each year of each document.

A small model asked for columns writes one a year ("revenue_2020") or mixes the filing's year with the figure's. Which
amounts a question names is told by the printed row labels; the periods are told by the printed headers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sliders.documents.document import Document
from sliders.executor.session import Session
from sliders.extraction.captions import Caption, captioned, captions_in, names_organisation
from sliders.extraction.line_items import item_words, match_line
from sliders.extraction.scales import scale_in
from sliders.extraction.statements import StatementLine, statements_of
from sliders.schema.names import snake_name, spoken_name
from sliders.schema.periods import period_roles
from sliders.schema.types import Column, ColumnType, Grain, Table

_SAMPLED = 24
_LONGEST = 5
_SHARE = 0.3
_ENDS = re.compile(r"\b(?:fiscal|financial) (?:year|period|quarter)\b.*\b(?:end|ended|ends|ending)\b", re.IGNORECASE)
_CODES = re.compile(r"\b(USD|EUR|GBP|JPY|CHF|CAD|AUD)\b")
_NUMBERS = (ColumnType.INTEGER, ColumnType.NUMBER)
_PERIOD_WORDS = frozenset("fiscal financial year years date quarter period fy q1 q2 q3 q4".split())

_COMPUTED = frozenset("growth change difference ratio margin percentage percent average share rank count total_number".split())

YEAR = Column("fiscal_year", ColumnType.INTEGER, "fiscal year that the figures are for")
FILING_YEAR = Column("filing_fiscal_year", ColumnType.INTEGER, "fiscal year of the filing that states the figures")
YEAR_END = Column("fiscal_year_end", ColumnType.DATE, "last day of the fiscal year that the filing covers")
COMPANY = Column("company", ColumnType.TEXT, "name of the company")


@dataclass(frozen=True, slots=True)
class PrintedPeriods:
    """What sampled documents print: the lines of their period tables, the captions of their covers, the usual scale."""

    lines: tuple[tuple[StatementLine, ...], ...]
    captions: tuple[tuple[Caption, ...], ...]
    scale: str


def printed_periods(session: Session) -> PrintedPeriods | None:
    """What the documents print, None unless most of them print tables whose columns are periods."""
    stored = session.catalog.documents.all()
    step = max(1, len(stored) // _SAMPLED)
    documents = [session.catalog.documents.get(d.id) for d in stored[::step][:_SAMPLED]]
    with_tables = [(d, lines) for d in documents if (lines := _annual_lines(d))]
    if not documents or 2 * len(with_tables) <= len(documents):
        return None
    scales = Counter(scale_in(line.note) for _, lines in with_tables for line in lines)
    scales.pop("", None)
    return PrintedPeriods(
        tuple(lines for _, lines in with_tables),
        tuple(captions_in(d.text) for d, _ in with_tables),
        scales.most_common(1)[0][0] if scales else "",
    )


def _annual_lines(document: Document) -> tuple[StatementLine, ...]:
    statements = statements_of(document)
    return tuple(line for s in statements for line in s.lines if any(p.annual for p in line.cells))


def shape(proposal: Table, question: str, printed: PrintedPeriods) -> Table:
    """The proposed table as the documents' own tables can fill it: amounts, periods, the filing's year, its company.

    A question that names no printed amount gets one row a filing.
    """
    named = asked_amounts(question, printed)
    amounts = [_scaled(c, question, printed) for c in (*named, *_proposed_amounts(proposal, named, printed))]
    if not amounts and any(_is_other_number(c) and not _tells_time(c) for c in proposal.columns):
        return proposal  # it asks for a number that no table of periods prints
    said = [item_words(c.name) for c in amounts]
    facts = [c for c in proposal.columns if _is_fact(c, printed) and not any(w <= item_words(c.name) for w in said)]
    company = [COMPANY] if any(captioned(COMPANY, captions) for captions in printed.captions) else []
    if not company:
        company = [replace(c, name=COMPANY.name) for c in proposal.columns if names_organisation(c)][:1]
    else:
        facts = [c for c in facts if not _is_name(c)]
    if _ENDS.search(question):
        facts = [*(c for c in facts if c.type is not ColumnType.DATE), YEAR_END]
    facts = [c for c in facts if c.name not in {x.name for x in (*company, *amounts)}]
    if not amounts:
        if not facts:
            return proposal
        columns = (*company, replace(YEAR, description="fiscal year that the filing covers"), *facts)
        return replace(proposal, name="filings", columns=columns, row="a filing", grain="document")
    key = (*(c.name for c in company), FILING_YEAR.name, YEAR.name)
    columns = (*company, YEAR, *amounts, FILING_YEAR, *facts)
    return replace(proposal, name="financials", columns=columns, row="a fiscal year in a filing", grain="many", key=key)


def period_grain(table: Table) -> Grain | None:
    """The grain of a pinned table over such documents: as declared, and many rows where it has periods and amounts."""
    if table.grain == "document":
        return "document"
    roles = period_roles(table)
    return "many" if roles.period is not None and roles.amounts else None


def _proposed_amounts(proposal: Table, named: Sequence[Column], printed: PrintedPeriods) -> list[Column]:
    """Amounts that the model proposes and some document's lines may state, without the years in their names."""
    known = [item_words(column.name) for column in named]
    found = []
    for column in filter(_is_other_number, proposal.columns):
        words = [w for w in spoken_name(column.name).split() if w not in _PERIOD_WORDS and not any(map(str.isdigit, w))]
        plain = replace(column, name=snake_name("_".join(words), "amount"))
        wanted = item_words(plain.name)
        if not wanted or any(wanted <= other or other <= wanted for other in known):
            continue
        matches = [match_line(plain, lines) for lines in printed.lines]
        if any(m.line is not None or m.candidates for m in matches):
            found.append(replace(plain, type=ColumnType.NUMBER))
            known.append(wanted)
    return found


def _is_other_number(column: Column) -> bool:
    """A proposed number that is no period and nothing that SQL computes out of others."""
    words = spoken_name(column.name).split()
    return column.type in _NUMBERS and bool(set(words) - _PERIOD_WORDS) and not set(words) & _COMPUTED


def _tells_time(column: Column) -> bool:
    return bool(set(spoken_name(column.name).split()) & {"year", "years", "date", "quarter", "period"})


def asked_amounts(question: str, printed: PrintedPeriods) -> list[Column]:
    """The amounts that a question names in words that documents print as row labels, the longest phrases first."""
    words = re.findall(r"[A-Za-z&'’-]+|[^\w\s]", question)
    free = [True] * len(words)
    found: dict[frozenset[str], tuple[int, Column]] = {}
    for size in range(min(_LONGEST, len(words)), 0, -1):
        for at in range(len(words) - size + 1):
            phrase = words[at : at + size]
            if not all(free[at : at + size]) or not all(w[0].isalpha() for w in phrase):
                continue
            following = words[at + size].lower() if at + size < len(words) else ""
            lower = [w.lower() for w in phrase]
            if {lower[0], lower[-1]} & _LINKS or lower[-1] in ("net", "total") or "or" in lower or following in _DERIVED:
                continue
            name = snake_name(" ".join(phrase), "amount")
            wanted = item_words(name)
            if wanted in (_without(phrase[1:], phrase[0]), _without(phrase[:-1], phrase[-1])):
                continue  # the shorter phrase says as much
            column = Column(name, ColumnType.NUMBER)
            if not wanted or _stating(column, printed) < max(1.0, _SHARE * len(printed.lines)):
                continue
            free[at : at + size] = [False] * size
            found.setdefault(wanted, (at, column))
    return [column for _, column in sorted(found.values(), key=lambda pair: pair[0])]


_LINKS = frozenset(
    "of the a an and or in to for from by as is was were did which what how than with per that at on it its their "
    "highest lowest largest smallest combined company companies fiscal year lower higher percentage both same".split()
)


_DERIVED = frozenset("margin margins ratio rate growth multiple yield".split())


def _without(phrase: Sequence[str], dropped: str) -> frozenset[str]:
    """What a phrase says without its first or last word; "total" and "net" belong to the name of an amount."""
    return item_words(" ".join(phrase)) if dropped.lower() not in ("total", "net") else frozenset()


def _stating(column: Column, printed: PrintedPeriods) -> int:
    return sum(match_line(column, lines).line is not None for lines in printed.lines)


def _scaled(column: Column, question: str, printed: PrintedPeriods) -> Column:
    """An amount in the scale that the question asks for, else in the one that the tables are printed in."""
    if "per_share" in column.name or column.name.endswith("eps"):
        return column
    code = _CODES.search(question)
    words = re.findall(r"\b(?:thousands|millions|billions)\b", question, re.IGNORECASE)
    asked = scale_in(words[0].lower()) if words else ""
    return replace(column, scale=asked or printed.scale, currency=code.group() if code else "")


def _is_fact(column: Column, printed: PrintedPeriods) -> bool:
    """Whether a proposed column is a fact of the whole filing: no period, no amount, nothing that SQL computes."""
    words = set(spoken_name(column.name).split())
    if words & _PERIOD_WORDS or any(any(ch.isdigit() for ch in w) for w in words):
        return False
    if column.type in _NUMBERS:
        return False
    return not item_words(column.name) or _stating(column, printed) == 0


def _is_name(column: Column) -> bool:
    words = set(spoken_name(column.name).split())
    return names_organisation(column) or bool(words & {"company", "companies", "firm", "issuer", "registrant"})
