"""What the perfect reader knows: documents, tables of facts with their words, and
questions with their SQL.
"""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

from benchmarks.cells import column_type
from benchmarks.fidelity.words import Place, Scalar, places, sentence
from benchmarks.scoring import Prediction, score_answer
from benchmarks.suites import GoldQuestion, GoldTable, load_suite
from benchmarks.values import is_blank, parse_bool, parse_date, parse_number

_FAR = 700
"""Characters between a row's own words and a value of it that is no accident."""
_LINE = 200
_LONE, _TELLING = 2, 4
_FEW = 8


@dataclass(frozen=True, slots=True)
class Fact:
    """One cell as the reader says it, with the place of its first words (None where
    no words were given).
    """

    value: Scalar
    words: tuple[str, ...] = ()
    how: str = "stated"
    why: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class FactRow:
    """One row of a document: `anchor` is where it stands, `shared` names what all rows of the
    document have in common.
    """

    document: str
    facts: Mapping[str, Fact]
    anchor: Place = (0, 0)
    shared: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FactTable:
    """One table; `columns` are the options of each column, as a pinned schema or a
    schema reply takes them.
    """

    name: str
    columns: Mapping[str, Mapping[str, Any]]
    rows: tuple[FactRow, ...]
    grain: str = "many"
    row: str = ""


@dataclass(frozen=True, slots=True)
class World:
    """A set or a case. `documents` holds texts by file name; `secret` says that only
    counts may be shown.
    """

    name: str
    documents: Mapping[str, str]
    tables: tuple[FactTable, ...]
    questions: tuple[tuple[GoldQuestion, str], ...]
    skipped: int = 0
    secret: bool = False


def typed(kind: str, printed: Any) -> Scalar:
    """The value of a gold cell; blank is None."""
    if is_blank(printed):
        return None
    if kind == "boolean":
        return parse_bool(printed)
    if kind in ("integer", "number"):
        number = parse_number(printed)
        return number if number is None or not float(number).is_integer() else int(number)
    return parse_date(str(printed)) or str(printed) if kind == "date" else str(printed)


# words


def _sum_of(text: str, value: Scalar) -> str:
    """The arithmetic of a whole number that a text tells in two parts, else ""."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 < value < 1000:
        return ""
    told = [n for n in range(1, value) if places(text, n)]
    pair = next(((a, value - a) for a in told if value - a in told or value - a == 1), None)
    return f"{pair[0]} + {pair[1]}" if pair else ""


def _unfound(text: str, value: Scalar, near: Place) -> Fact:
    """A fact whose words are not printed: computed where two numbers of a sentence
    give it, else judged.
    """
    start, end = sentence(text, near)
    sum_ = _sum_of(text[start:end], value)
    how, why = ("computed", sum_) if sum_ else ("judged", "this is what the passage says")
    return Fact(value, (text[start:end],), how, why, (start, end))


def _far(text: str, a: Place, b: Place) -> int:
    """Characters between two places; the end of a line counts as many."""
    start, end = min(a[0], b[0]), max(a[0], b[0])
    return end - start + _LINE * text.count("\n", start, end)


def _nearest(text: str, found: Sequence[Place], at: Place, used: set[Place]) -> Place | None:
    free = [p for p in found if p not in used] or list(found)
    return min(free, key=lambda p: _far(text, p, at), default=None)


def located(
    text: str, values: Mapping[str, Scalar], used: set[Place], many: bool, shared: Collection[str]
) -> tuple[dict[str, Fact], Place]:
    """The facts of one row with their words near each other.

    Args:
        used: places that earlier rows begin at.
        shared: columns that have one value for all rows of the document.
    """
    found = {name: places(text, value) for name, value in values.items() if value is not None}
    own = {name: spots for name, spots in found.items() if spots}
    anchor = (0, 0)
    if own:
        rarest = min(
            ([s for n, s in own.items() if n not in shared] or list(own.values())), key=len
        )
        starts = [p for p in rarest if p not in used] or rarest
        anchor = min(
            starts,
            key=lambda p: sum(min(_far(text, q, p) for q in spots) for spots in own.values()),
        )
        used.add(anchor)
    facts = {}
    for name, spots in found.items():
        spot = anchor if anchor in spots else _nearest(text, spots, anchor, used)
        lone = len(spots) <= _LONE and spot is not None and spot[1] - spot[0] >= _TELLING
        if spot is None or (
            many and not lone and name not in shared and _far(text, spot, anchor) > _FAR
        ):
            facts[name] = _unfound(text, values[name], anchor)
        else:
            facts[name] = Fact(values[name], (text[spot[0] : spot[1]],), place=spot)
    return facts, anchor


def rows_of(
    raw: Iterable[tuple[str, Mapping[str, Scalar]]], documents: Mapping[str, str], many: bool
) -> tuple[FactRow, ...]:
    """Rows of document and values, each value with its words."""
    used: dict[str, set[Place]] = {}
    rows, raw = [], list(raw)
    several = Counter(name for name, _ in raw)
    different: dict[tuple[str, str], set[Scalar]] = {}
    for name, values in raw:
        for column, value in values.items():
            different.setdefault((name, column), set()).add(value)
    for name, values in raw:
        shared = frozenset(
            c for c in values if many and several[name] > 1 and len(different[name, c]) == 1
        )
        facts, anchor = located(documents[name], values, used.setdefault(name, set()), many, shared)
        rows.append(FactRow(name, facts, anchor, shared))
    return tuple(rows)


# sets

FileIds = Mapping[str, Mapping[str, str]]


def options_of(kind: str, spoken: str, values: Sequence[Scalar], stated: bool) -> dict[str, Any]:
    """Type, description and reading of a column, as a good schema has them."""
    different = sorted({str(v) for v in values if v is not None})
    told = {
        "boolean": (
            f"Whether {spoken}: true when the document says so, false when it says the "
            "contrary, else empty."
        ),
        "integer": (
            f"The {spoken} as a number; 0 when the document says there is none, empty when "
            "it says nothing."
        ),
    }.get(kind, f"The {spoken} that the document gives; empty when it gives none.")
    if kind == "text" and not stated and 1 < len(different) <= _FEW:
        return {"type": "category", "description": told, "values": different, "reading": "judged"}
    return {
        "type": kind,
        "description": told,
        "reading": "stated" if stated or kind != "boolean" else "judged",
    }


def _file_ids(table: GoldTable) -> dict[str, dict[str, str]]:
    """Columns that no document states and that name the file, with the file of each id:
    a reader writes the document.
    """
    frame, out = table.frame, {}
    for column in (c for c in frame.columns if c not in (*table.columns, table.doc)):
        pairs = frame[[column, table.doc]].drop_duplicates()
        if pairs[column].is_unique and pairs[table.doc].is_unique:
            out[str(column)] = dict(zip(pairs[column], pairs[table.doc], strict=True))
    return out


def _fact_table(table: GoldTable, documents: Mapping[str, str], used: set[str]) -> FactTable:
    frame = table.frame[table.frame[table.doc].isin(list(documents))]
    ids = _file_ids(table)
    wanted = [c for c in frame.columns if c in table.columns or (c in used and c not in ids)]
    names = [c for c in wanted if c != table.doc and any(not is_blank(v) for v in frame[c])]
    kinds = {c: column_type(list(frame[c])) for c in names}
    many = not bool(frame[table.doc].is_unique)
    raw = [
        (r[table.doc], {c: typed(kinds[c], r[c]) for c in names}) for r in frame.to_dict("records")
    ]
    rows = rows_of(raw, documents, many)
    columns = {}
    for name in names:
        facts = [row.facts[name] for row in rows if name in row.facts]
        stated = 2 * sum(f.how == "stated" for f in facts) >= len(facts)
        columns[name] = options_of(
            kinds[name], name.replace("_", " "), [f.value for f in facts], stated
        )
    spoken = re.sub(r"s$", "", table.name.replace("_", " "))
    return FactTable(table.name, columns, rows, "many" if many else "document", f"one {spoken}")


_DERIVED = {  # gold tables that follow from another one
    "income_latest": (
        "SELECT a.company, a.fiscal_year, a.revenue_musd, a.net_income_musd, a.filing_fiscal_year "
        "AS from_filing FROM income_as_filed AS a WHERE a.filing_fiscal_year = (SELECT "
        "MAX(b.filing_fiscal_year) FROM income_as_filed AS b WHERE b.company = a.company AND "
        "b.fiscal_year = a.fiscal_year)"
    )
}


def written(sql: str, tables: Sequence[FactTable], ids: FileIds, stem: bool) -> str:
    """The gold SQL as a reader writes it: booleans as 1 and 0, file ids as documents, a derived
    table by its definition.
    """
    tree = sqlglot.parse_one(sql, dialect="sqlite")
    for column in list(tree.find_all(exp.Column)):
        if column.name in ids or column.name == "doc":
            named = column.parent.expression if isinstance(column.parent, exp.EQ) else None
            if isinstance(named, exp.Literal):
                named.set("this", ids.get(column.name, {}).get(named.this, named.this))
            whole = column.name == "doc" or not stem
            column.set("this", exp.to_identifier("document"))
            if not whole:
                column.replace(
                    exp.func(
                        "REPLACE", column.copy(), exp.Literal.string(".txt"), exp.Literal.string("")
                    )
                )
    booleans = {c for t in tables for c, o in t.columns.items() if o["type"] == "boolean"}
    for node in list(tree.find_all(exp.EQ, exp.NEQ)):
        literal, column = node.expression, node.this
        if (
            isinstance(column, exp.Column)
            and column.name in booleans
            and isinstance(literal, exp.Literal)
        ):
            truth = parse_bool(literal.this)
            literal.replace(exp.Literal.number(int(bool(truth)))) if truth is not None else None
    named = {t.name for t in tree.find_all(exp.Table)}
    for name in sorted(named & set(_DERIVED)):
        with_ = sqlglot.parse_one(
            f"WITH {name} AS ({_DERIVED[name]}) SELECT 1", dialect="sqlite"
        ).args["with_"]
        tree.set("with_", with_)
    return tree.sql(dialect="sqlite")


def database(tables: Sequence[FactTable]) -> sqlite3.Connection:
    """The gold tables in memory, typed as the pipeline types them."""
    connection = sqlite3.connect(":memory:")
    for table in tables:
        names = ", ".join(f'"{c}"' for c in (*table.columns, "document"))
        connection.execute(f'CREATE TABLE "{table.name}" ({names})')
        marks = ", ".join("?" * (len(table.columns) + 1))
        for row in table.rows:
            values = [row.facts[c].value if c in row.facts else None for c in table.columns]
            connection.execute(
                f'INSERT INTO "{table.name}" VALUES ({marks})', (*values, row.document)
            )
    return connection


def rows_value(rows: Sequence[Sequence[Any]]) -> Any:
    """Result rows as an answer: one cell, one column as a list, or the rows."""
    if len(rows) == 1 and len(rows[0]) == 1:
        return rows[0][0]
    return [r[0] for r in rows] if rows and len(rows[0]) == 1 else [list(r) for r in rows]


def _sql_of(question: GoldQuestion) -> str:
    found = re.search(r"SQL: (.*)", question.notes, re.S)
    return found[1].strip().rstrip(";") if found else ""


def _usable(
    questions: Iterable[GoldQuestion], tables: Sequence[FactTable], ids: FileIds
) -> list[tuple[GoldQuestion, str]]:
    """The questions whose gold SQL gives their gold answer over the facts."""
    connection = database(tables)
    out: list[tuple[GoldQuestion, str]] = []
    for question, stem in itertools.product(questions, (False, True)):
        try:
            sql = written(_sql_of(question), tables, ids, stem)
            value = rows_value(connection.execute(sql).fetchall())
        except (sqlglot.ParseError, sqlite3.Error):
            continue
        if (
            all(question is not known for known, _ in out)
            and score_answer(question, Prediction("answered", value)).right
        ):
            out.append((question, sql))
    return out


def suite_world(path: Path, secret: bool) -> World:
    """One evaluation set as a world; only its text documents are read."""
    suite = load_suite(path, derived=True)
    files = tuple(d for d in suite.documents if d.suffix == ".txt")
    documents = {d.name: d.read_text(encoding="utf-8", errors="replace") for d in files}
    asked = [q for q in suite.questions if q.answer_type != "table_file"]
    used = set(re.findall(r"\w+", " ".join(map(_sql_of, asked))))
    gold = [t for t in suite.tables if t.doc]
    tables = tuple(_fact_table(t, documents, used) for t in gold)
    stated = {c for t in tables for c in t.columns}
    ids = {c: files for t in gold for c, files in _file_ids(t).items() if c not in stated}
    usable = _usable(asked, tables, ids)
    return World(suite.name, documents, tables, tuple(usable), len(asked) - len(usable), secret)


def key_of(table: FactTable, within: bool = False) -> list[str]:
    """The fewest columns (up to three) that no two rows (`within`: of one document) share and that
    every row has; [] when there are none.
    """
    names = [c for c, o in table.columns.items() if o["type"] in ("text", "date", "integer")]
    for size in (1, 2, 3):
        for chosen in itertools.combinations(names, size):
            values = [
                tuple(str(r.facts[c].value) if c in r.facts else "" for c in chosen)
                for r in table.rows
            ]
            places_ = [
                (r.document if within else "", v) for r, v in zip(table.rows, values, strict=True)
            ]
            if len(set(places_)) == len(places_) and all(all(v) for v in values):
                return list(chosen)
    return []
