"""Rules that a proposed table must keep, and their repairs; what the model proposes is never taken as it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sliders.schema.names import snake_name, spoken_name
from sliders.schema.types import Column, ColumnType, Table

_WHOLE_SET = frozenset(
    [
        "count",
        "counts",
        "number",
        "total",
        "sum",
        "rank",
        "ranking",
        "average",
        "mean",
        "answer",
        "figure",
        "figures",
        "result",
        "difference",
        "index",
        "position",
        "number_of_documents",
        "number_of_reports",
        "number_of_rows",
        "max",
        "min",
        "maximum",
        "minimum",
    ]
)
SUPERLATIVES = frozenset(
    [
        "highest",
        "lowest",
        "most",
        "least",
        "largest",
        "smallest",
        "biggest",
        "oldest",
        "youngest",
        "earliest",
        "latest",
        "maximum",
        "minimum",
        "max",
        "min",
        "top",
        "average",
        "avg",
        "mean",
        "greatest",
        "longest",
        "shortest",
    ]
)
_WHOLE_TEXT = frozenset({"content", "contents", "text", "body", "detail", "details", "information", "title", "file"})
_DOCUMENTS = frozenset({"report", "document", "file", "page", "text"})
_DATE_WORDS = re.compile(r"(^|_)(date|day_of|born_on|died_on)(_|$)|_date$|^date")


@dataclass(frozen=True, slots=True)
class LintIssue:
    """One thing that was wrong with a proposal: the column (or table), the rule, and what was done."""

    subject: str
    rule: str
    action: str


def lint_table(table: Table, question: str = "") -> tuple[Table, tuple[LintIssue, ...]]:
    """The table without columns that SQL must compute, with sane and unique names and plausible types.

    Pinned columns are never touched.
    """
    issues: list[LintIssue] = []
    kept: list[Column] = []
    seen: set[str] = set()
    for column in table.columns:
        repaired = column if column.pinned else _repair(column, table, question, issues)
        if repaired is None:
            continue
        if repaired.name in seen and not column.pinned:
            issues.append(LintIssue(column.name, "a column stands once", "dropped"))
            continue
        seen.add(repaired.name)
        kept.append(repaired)
    name = table.name if table.pinned else snake_name(table.name, "facts")
    return replace(table, name=name, columns=tuple(kept)), tuple(issues)


def without_total(question: str) -> str:
    """The question about each thing, without the words that ask for the sum of them.

    >>> without_total("How many people were hurt in total?"), without_total("What is the total cost?")
    ('How many people were hurt?', 'What is the cost?')
    """
    return _TOTAL.sub("", question)


_TOTAL = re.compile(r",? (?:in (?:total|all|sum)|altogether|overall|all told)\b|\btotal (?=[a-z])", re.IGNORECASE)


def _repair(column: Column, table: Table, question: str, issues: list[LintIssue]) -> Column | None:
    name = snake_name(column.name, "fact")
    parts = [p for p in name.split("_") if p]
    if name in _WHOLE_SET or _counts_rows(parts, column.type, table, question):
        issues.append(LintIssue(column.name, "counts, ranks and answers are SQL's work", "dropped"))
        return None
    if name in ("unit", "units") and not re.search(r"\bunits?\b", question, re.IGNORECASE) and len(table.columns) > 1:
        issues.append(LintIssue(column.name, "a unit stands with its number", "dropped"))
        return None
    own = set() if table.grain == "many" and column.type is ColumnType.TEXT else _row_nouns(table)
    stated = column.type in (ColumnType.INTEGER, ColumnType.NUMBER)  # a document may say how many there are
    counted = set() if column.type is ColumnType.DATE else _counted_often(question, 2 if stated else 1)
    if len(table.columns) > 1 and name.rstrip("s") in own | counted:
        issues.append(LintIssue(column.name, "the row itself is no fact", "dropped"))
        return None
    of_document = parts[0] in _DOCUMENTS and parts[1:] in ([], ["name"]) and column.type is ColumnType.TEXT
    if of_document or (parts[0].rstrip("s") in _row_nouns(table) and parts[1:] and set(parts[1:]) <= _WHOLE_TEXT):
        issues.append(LintIssue(column.name, "the document's name and text stand beside every row", "dropped"))
        return None
    trimmed = _without_superlatives(parts)
    if not trimmed:
        issues.append(LintIssue(column.name, "a superlative over rows is SQL's work", "dropped"))
        return None
    new_name = snake_name("_".join(trimmed))
    if new_name != column.name:
        issues.append(LintIssue(column.name, "names are plain snake case", f"renamed to {new_name}"))
    return replace(
        column, name=new_name, type=_plausible_type(column, new_name), description=_plain_description(column)
    )


def _counts_rows(parts: Sequence[str], kind: ColumnType, table: Table, question: str) -> bool:
    """`accident_count` or `number_of_accidents` in a table of accidents counts the table's own rows."""
    nouns = {w.rstrip("s") for w in spoken_name(table.name).split()} | {"document", "report", "row", "file"}
    nouns |= counted_nouns(question)
    if parts[-1:] == ["number"] and kind is ColumnType.INTEGER and "number" not in question.lower():
        parts = [*parts[:-1], "count"]  # "how many reports": `report_number`
    if len(parts) >= 2 and parts[-1] == "count" and re.search(r"\bhow many of (?:them|these|those)\b", question, re.I):
        return True
    if len(parts) >= 2 and parts[-1] in ("count", "rank", "total"):
        return all(p.rstrip("s") in nouns for p in parts[:-1])
    if parts[:2] in (["number", "of"], ["count", "of"]):
        return all(p.rstrip("s") in nouns for p in parts[2:])
    return False


def _counted_often(questions: str, times: int) -> set[str]:
    """Nouns that so many of the questions (one a line) count."""
    counts = Counter(noun for line in questions.splitlines() for noun in counted_nouns(line))
    return {noun for noun, n in counts.items() if n >= times}


def counted_nouns(question: str) -> set[str]:
    """What a question counts ("how many of the old barns" counts barns): rows, never a column.

    Different things of a kind are counted in the column that names them.
    """
    found = re.findall(r"how many (?:of (?:the|these|those) )?((?:[a-z-]+ ){0,2}?[a-z-]+?s)\b", question.lower())
    return {words.split()[-1].rstrip("s") for words in found if words.split()[0] not in ("different", "distinct", "unique")}


_SUBJECTS = (
    r"^which ([a-z]+)\b", r"^(?:list|name|give) (?:all )?(?:the )?([a-z]+?)s? (?:who|that|which|with)\b",
    r"^how many times did an? ([a-z]+)\b", r"^did any ([a-z]+)\b",
)  # fmt: skip


def subject(question: str) -> str:
    """The kind of thing that a question is about, in the singular; "" where its form does not say.

    >>> subject("Which keeper lit the lamp most often?"), subject("Who left?"), subject("How many?")
    ('keeper', 'person', '')
    """
    if re.match(r"(?:who|whose|whom)\b", question.strip().lower()):
        return "person"
    for pattern in _SUBJECTS:
        if found := re.search(pattern, question.strip().lower()):
            return found[1].removesuffix("s") if len(found[1]) > _SHORT else found[1]
    return ""


_SHORT = 3


def _row_nouns(table: Table) -> set[str]:
    return {w.rstrip("s") for w in (spoken_name(table.row).split() or [""])[-1:]} | {"report", "document", "file"}


def _without_superlatives(parts: list[str]) -> list[str]:
    return [p for p in parts if p not in SUPERLATIVES]


def _plausible_type(column: Column, name: str) -> ColumnType:
    if column.type in (ColumnType.TEXT, ColumnType.DATETIME) and _DATE_WORDS.search(name):
        return ColumnType.DATE
    if column.type is ColumnType.DATE and re.search(r"(^|_)(year|month|quarter|weekday)$", name):
        return ColumnType.INTEGER if name.endswith("year") else ColumnType.TEXT
    return column.type


def _plain_description(column: Column) -> str:
    text = re.sub(r"\s+", " ", column.description).strip().rstrip(".")
    return "" if text.lower() in (column.name.lower(), spoken_name(column.name)) else text[:160]
