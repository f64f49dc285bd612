"""Which printed row label of a financial table holds the amount that a column asks for.

A column and a label are compared as sets of words after the usual names of one line item are made one ("net sales",
"turnover" and "revenues" are revenue). One clear match is code's; where several or only wider labels match, the caller
lets the model choose among them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sliders.extraction.lexicon import fold, stem
from sliders.extraction.statements import StatementLine
from sliders.schema.names import spoken_name
from sliders.schema.types import Column

_SYNONYMS = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"\(note\s*\w+\)|\[\d+\]|\(\d{1,2}\)", " "),
        (r"\((?:loss|losses|deficit|income|expense|benefit|decrease|increase|used in)\)", " "),
        (r"\bs\s?g\s?&\s?a\b", "selling general administrative"),
        (r"\br\s?&\s?d\b", "research development"),
        (r"\bebit\b", "operating income"),
        (r"\bpp\s?&\s?e\b", "property plant equipment"),
        (
            r"\b(?:capex|capital spending|capital expenditures?|(?:purchases?|additions?|acquisitions?) (?:of|to) "
            r"property(?:,? (?:plant )?(?:and|&) equipment)?(?: and (?:software|intangible assets))?)",
            "capital expenditure",
        ),
        (r"\beps\b|\b(?:net )?(?:income|earnings|profit|loss)(?: loss)? per (?:common |ordinary )?share\b", "earnings per share"),
        (r"\bcost of (?:net )?(?:sales|revenues?|goods sold|products? sold)\b|\bcogs\b", "costofsales"),
        (r"\b(?:net )?(?:sales|revenues?)\b(?! and marketing)|\bturnover\b", "revenue"),
        (r"\b(?:income|profit|loss|earnings) from operations\b|\boperating (?:profit|earnings|loss)\b", "operating income"),
        (r"\b(?:provision|benefit)s? (?:for|from) income taxes\b|\bincome tax(?:es)?(?: expenses?| provision)?\b", "incometax"),
        (
            r"\b(?:net (?:earnings|profits?|loss(?:es)?|result)|(?:profit|loss|income) (?:for|of) the (?:year|period))\b",
            "net income",
        ),
        (r"\bnet income or loss\b|\bnet income loss\b", "net income"),
        (r"\bgross margin\b", "gross profit"),
        (r"\b(?:stock|share)holders?['’]?s?['’]? (?:equity|deficit)\b", "equity"),
        (r"\bcash (?:and|&) (?:cash )?equivalents\b", "cash equivalents"),
        (r"\bnet cash (?:provided|generated|used|flows?) (?:by|from|in)?\b", "cash flow"),
        (r"\binventory\b", "inventories"),
    )
)
_NEUTRAL = frozenset(
    stem(word) for word in (
        "total the a an of and or for in to from by on net consolidated its reported stated amount amounts value figure figures "
        "company fiscal financial year annual yearly usd eur gbp us dollar dollars euro million millions thousand thousands "
        "billion billions mn bn mm musd meur mgbp kusd keur after overall combined less add all filing current"
    ).split()
)  # fmt: skip
_OWNERS = re.compile(r"\battributable to\b(?!.*\b(?:non-?controlling|minority)\b)|\bavailable to (?:common|ordinary)\b")
_OTHERS = re.compile(r"\b(?:non-?controlling|minority) interests?\b")
_CHANGES = re.compile(r"(?:changes?|adjustments?)\b", re.IGNORECASE)
_PER = re.compile(r"\bper\b", re.IGNORECASE)
_MOST_SHOWN = 12


@dataclass(frozen=True, slots=True)
class LabelMatch:
    """The line that a column means, or the lines to choose from when code cannot tell."""

    line: StatementLine | None = None
    candidates: tuple[StatementLine, ...] = ()


@lru_cache(maxsize=4096)
def item_words(words: str) -> frozenset[str]:
    """The telling words of a column name or row label, synonyms made one.

    >>> sorted(item_words("Total net sales")), sorted(item_words("revenue_musd"))
    (['revenu'], ['revenu'])
    """
    text = re.sub(r"[’']s\b", "s", fold(spoken_name(words)).replace("—", " ").replace("–", " "))
    for pattern, replacement in _SYNONYMS:
        text = pattern.sub(f" {replacement} ", text)
    stems = [stem(word) for word in re.findall(r"[a-z][a-z&-]*", text)]
    kept = frozenset(word for word in stems if word not in _NEUTRAL)
    if "net" in stems and "incom" in kept and "operat" not in kept:
        kept |= {"net"}
    return kept


def match_line(column: Column, lines: Sequence[StatementLine]) -> LabelMatch:
    """The line whose label says exactly what the column's name says, else those whose labels say it and more.

    Where a statement divides net income between owners and others, the part of the owners is what is called net income.
    """
    wanted = item_words(column.name)
    if not wanted:
        return LabelMatch()
    scored = sorted(
        ((score, place) for place, line in enumerate(lines) if (score := _distance(wanted, column, line, lines)) is not None),
        key=lambda pair: (pair[0], pair[1]),
    )
    if scored:
        best = scored[0][0]
        tied = [lines[place] for score, place in scored if score == best]
        if best[0] == 0 and len({_values(line) for line in tied if line.table == tied[0].table}) == 1:
            return LabelMatch(tied[0])
    described = item_words(column.description) if column.description else frozenset[str]()
    shown = [lines[place] for _, place in scored] or _sharing(wanted | described, lines)
    unique: dict[str, StatementLine] = {}
    for line in shown:
        unique.setdefault(shown_label(line), line)
    return LabelMatch(None, tuple(unique.values())[:_MOST_SHOWN])


def shown_label(line: StatementLine) -> str:
    """A label as a model is shown it: with its section, where there is one."""
    return f"{line.section}: {line.label}" if line.section and line.section != line.label else line.label


def _distance(
    wanted: frozenset[str], column: Column, line: StatementLine, lines: Sequence[StatementLine]
) -> tuple[int, int, int] | None:
    """How much more a line says than is wanted (0 is the same), None where it does not say it at all."""
    own, section = _base_words(line.label), item_words(line.section)
    if not wanted <= own | section or (own and not own & wanted):
        return None
    extra = len(own - wanted) + (0 if wanted <= own else len(section - wanted) + len(own - wanted))
    extra += bool(_CHANGES.match(line.section) and not _CHANGES.search(spoken_name(column.name)))
    plain = set(spoken_name(column.name).split()) - _UNITS
    spelled = set(re.findall(r"[a-z]+", line.label.lower()))
    total = 0 if "total" in spelled or "consolidated" in spelled else 1
    differs = len({stem(w) for w in plain} ^ {stem(w) for w in spelled})
    rank = 1 + total if not _names_owners(line) else 0 if _divided(lines) else 3
    return (extra, rank, differs)


_UNITS = frozenset("musd meur mgbp kusd keur usd eur gbp million millions thousands in fiscal annual total net".split())


def _base_words(label: str) -> frozenset[str]:
    """The words of a label; of "net income attributable to <owners>" only what stands before."""
    match = _OWNERS.search(fold(label))
    return item_words(label[: match.start()] if match and not _PER.search(label) else label)


def _names_owners(line: StatementLine) -> bool:
    return bool(_OWNERS.search(fold(line.label))) and not _PER.search(line.label)


def _divided(lines: Sequence[StatementLine]) -> bool:
    return any(_OTHERS.search(fold(line.label)) for line in lines)


def _values(line: StatementLine) -> tuple[str, ...]:
    return tuple(cell.text for cell in line.cells.values())


def _sharing(wanted: frozenset[str], lines: Sequence[StatementLine]) -> list[StatementLine]:
    scored = [(len(wanted & item_words(f"{line.section} {line.label}")), line) for line in lines]
    least = max(1, (len(wanted) + 1) // 2)
    return [line for score, line in sorted(scored, key=lambda pair: -pair[0]) if score >= least]
