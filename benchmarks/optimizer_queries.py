"""Queries for the optimizer's benchmark, drawn from gold tables with a fixed seed, and
what they should give.
"""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.gold_reader import as_values
from sliders.query import Expression, reduce
from sliders.schema import Column, Table
from sliders.values import ColumnType, Scalar

GROUPS = ("1 filter", "2 to 3 filters", "4 and more filters")


@dataclass(frozen=True, slots=True)
class GoldTable:
    """A gold table: `rows` by document name; `columns` those that queries use."""

    table: Table
    rows: Mapping[str, Mapping[str, Scalar]]


@dataclass(frozen=True, slots=True)
class BenchQuery:
    """One query with its group."""

    suite: str
    sql: str
    group: str
    tables: tuple[str, ...]
    seed: int = 0
    edges: tuple[tuple[str, str], ...] = field(default=())


DESCRIPTIONS = {
    "event_date": "day of the accident",
    "city": "city in which it is",
    "state": "state in which it is",
    "operator": "company or person that operated the aircraft",
    "aircraft_make": "manufacturer of the aircraft",
    "aircraft_model": "model of the aircraft",
    "registration": "registration number of the aircraft",
    "damage": "how badly the aircraft was damaged",
    "weather": "weather conditions at the time, visual or instrument",
    "people_killed": "number of people who were killed",
    "name": "name of the person or place",
    "eat_type": "kind of place to eat",
    "food": "cuisine that is served",
    "price_range": "how expensive it is",
    "customer_rating": "rating by customers",
    "area": "part of the town",
    "near": "what it is near to",
    "family_friendly": "whether children are welcome",
    "birth_date": "day on which the person was born",
    "death_date": "day on which the person died",
    "country_of_citizenship": "country of which the person is a citizen",
    "birth_place_partial": "town in which the person was born",
    "citation": "neutral citation of the judgment",
    "case_name": "name of the case, the parties",
    "applicant": "party that applies or appeals",
    "respondent": "party that responds",
    "judge": "judge who gave the judgment",
    "hearing_date": "day of the hearing",
    "judgment_date": "day of the judgment",
    "applicant_nationality": "the country of which the applicant is a citizen or national",
    "team": "full name of the team",
    "population": "number of inhabitants of the city proper",
}
"""What a user would say of the attributes; plain retrieval is told as well."""


def read_table(path: Path, columns: Sequence[str], document: str = "doc") -> GoldTable:
    """The gold table of a CSV file, one row a document."""
    with path.open(newline="", encoding="utf-8") as handle:
        lines = list(csv.DictReader(handle))
    typed = {name: as_values([line[name] for line in lines]) for name in columns}
    table = Table(
        path.stem,
        tuple(Column(n, ColumnType(typed[n][0]), DESCRIPTIONS[n]) for n in columns),
        grain="document",
    )
    rows = {line[document]: {n: typed[n][1][at] for n in columns} for at, line in enumerate(lines)}
    return GoldTable(table, rows)


def draw(suite: str, gold: GoldTable, count: int, random_: random.Random) -> list[BenchQuery]:
    """`count` queries over one table, the groups and AND/OR in turn; those whose gold result is
    empty are drawn again.
    """
    queries = []
    for number in range(count):
        group = number % len(GROUPS)
        size = (1, random_.choice((2, 3)), min(len(gold.table.columns), random_.choice((4, 5))))[
            group
        ]
        for _ in range(50):
            names = random_.sample(gold.table.column_names, size)
            connective = " OR " if number // len(GROUPS) % 2 else " AND "
            loose = connective == " AND " and size > 1
            conditions = [condition(gold, name, random_, loose) for name in names]
            if group == 2 and number % 2:
                half = size // 2
                other = " AND " if connective == " OR " else " OR "
                where = (
                    f"({other.join(conditions[:half])}){connective}"
                    f"{connective.join(conditions[half:])}"
                )
            else:
                where = connective.join(conditions)
            selected = random_.sample(gold.table.column_names, random_.choice((1, 2)))
            sql = f"SELECT {', '.join(selected)} FROM {gold.table.name} WHERE {where}"
            if matching(gold, sql):
                break
        queries.append(BenchQuery(suite, sql, GROUPS[group], (gold.table.name,), number))
    return queries


def condition(gold: GoldTable, name: str, random_: random.Random, loose: bool) -> str:
    """One filter on a column; `loose` ones keep more rows, so that a conjunction has a result."""
    values = [row[name] for row in gold.rows.values() if row[name] is not None]
    kind = gold.table.column(name).type
    if kind in (ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DATE):
        ordered = sorted(values)  # type: ignore[type-var]
        low, high = sorted(random_.sample(range(len(ordered)), 2))
        if loose:
            low, high = min(low, len(ordered) // 3), max(high, 2 * len(ordered) // 3)
        shape = random_.choice((">=", "<=", "between"))
        if shape == "between":
            return f"{name} BETWEEN {literal(ordered[low])} AND {literal(ordered[high])}"
        return f"{name} {shape} {literal(ordered[low] if shape == '>=' else ordered[high])}"
    counts = Counter(values)
    common = [value for value, _ in counts.most_common(8)]
    few = len(counts) < len(values) / 2
    shape = random_.choice(("=", "in", "<>", "not null") if loose else ("=", "in"))
    if shape == "not null" or (loose and not few):
        return random_.choice(
            (f"{name} IS NOT NULL", f"{name} >= {literal(sorted(values)[len(values) // 3])}")
        )  # type: ignore[type-var]
    if shape == "=":
        return f"{name} = {literal(random_.choice(common if few else values))}"
    if shape == "<>":
        return f"{name} <> {literal(random_.choice(common))}"
    chosen = random_.sample(list(counts), min(len(counts), 3))
    if loose:
        chosen = list(dict.fromkeys([*common[:2], *chosen]))
    return f"{name} IN ({', '.join(literal(value) for value in chosen)})"


def literal(value: Scalar) -> str:
    return (
        str(value) if isinstance(value, (int, float)) else "'" + str(value).replace("'", "''") + "'"
    )


def matching(gold: GoldTable, sql: str) -> list[tuple[Scalar, ...]]:
    """The rows that a single-table query should give."""
    from sliders.query import parse_query

    use = parse_query(sql, [gold.table]).tables[0]
    return [
        tuple(row[name] for name in use.select)
        for row in gold.rows.values()
        if any(row[n] is not None for n in use.attributes) and holds(use.where, row)
    ]


def holds(where: Expression | None, row: Mapping[str, Scalar]) -> bool:
    return reduce(where, row) is True


def row_f1(found: Sequence[Sequence[object]], wanted: Sequence[Sequence[object]]) -> float:
    """F1 of rows as multisets; two empty results agree."""
    have, want = Counter(map(tuple, found)), Counter(map(tuple, wanted))
    right = sum((have & want).values())
    total = sum(have.values()) + sum(want.values())
    return 1.0 if total == 0 else 2 * right / total
