"""Cells against gold tables: rows aligned by document and by value, then compared cell by cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.scoring import same
from benchmarks.suites import GoldTable
from benchmarks.values import is_blank, normal_text, parse_bool, parse_date, parse_number

_EXACT_ASSIGNMENT = 400  # rows a document; beyond, rows are paired greedily


@dataclass(frozen=True, slots=True)
class CellScore:
    """Counts of cells. `blank_right` is an empty cell where gold is empty, `invented` a value
    where gold is empty.

    `extra` counts the filled cells of predicted rows that match no gold row.
    """

    table: str
    right: int = 0
    wrong: int = 0
    missing: int = 0
    blank_right: int = 0
    invented: int = 0
    extra: int = 0
    extra_rows: int = 0
    missing_rows: int = 0
    gold_rows: int = 0

    @property
    def scored(self) -> int:
        """Gold cells that count."""
        return self.right + self.wrong + self.missing + self.blank_right + self.invented

    @property
    def accuracy(self) -> float:
        """Share of gold cells that are right, an empty cell being right where gold is empty."""
        return (self.right + self.blank_right) / self.scored if self.scored else 0.0

    @property
    def grounded_wrong(self) -> float:
        """Share of filled cells in matched rows that are wrong or invented."""
        filled = self.right + self.wrong + self.invented
        return (self.wrong + self.invented) / filled if filled else 0.0

    @property
    def recall(self) -> float:
        """Share of gold values found."""
        stated = self.right + self.wrong + self.missing
        return self.right / stated if stated else 0.0

    def __add__(self, other: CellScore) -> CellScore:
        counts = {k: v + asdict(other)[k] for k, v in asdict(self).items() if k != "table"}
        return CellScore("all", **counts)

    def as_dict(self) -> dict[str, Any]:
        """Counts and shares, rounded to four places."""
        shares = {
            "accuracy": self.accuracy,
            "grounded_wrong": self.grounded_wrong,
            "recall": self.recall,
        }
        return asdict(self) | {"scored": self.scored} | {k: round(v, 4) for k, v in shares.items()}


@dataclass(frozen=True, slots=True)
class CellError:
    """One cell that is not right, for reading."""

    table: str
    document: str
    column: str
    gold: str
    predicted: str
    kind: str


def column_type(values: Sequence[str]) -> str:
    """The schema type that a gold column's printed values have: boolean, integer,
    number, date or text.
    """
    stated = [v for v in values if v.strip()]
    if not stated:
        return "text"
    if {v.casefold() for v in stated} <= {"0", "1"} or all(
        v.casefold() in {"yes", "no", "true", "false"} for v in stated
    ):
        return "boolean"
    if all(
        v.lstrip("-").isdigit() and len(v) < 10 and not (v.startswith("0") and v != "0")
        for v in stated
    ):
        return "integer"
    if all(v.lstrip("-").replace(".", "", 1).isdigit() and len(v) < 13 for v in stated) and any(
        "." in v for v in stated
    ):
        return "number"
    if all((parse_date(v) or "").count("-") == 2 for v in stated):
        return "date"
    return "text"


def pinned_schema(tables: Sequence[GoldTable]) -> dict[str, Any]:
    """The gold tables as a schema to pin: names and types only, no descriptions;
    grain from the rows a document.
    """
    pinned = []
    for table in tables:
        columns = [{"name": c, "type": column_type(list(table.frame[c]))} for c in table.columns]
        once = bool(table.doc) and bool(table.frame[table.doc].is_unique)
        pinned.append(
            {"name": table.name, "grain": "document" if once else "many", "columns": columns}
        )
    return {"tables": pinned}


def same_cell(kind: str, gold: str, value: Any) -> bool:
    """Type-aware equality of one gold cell (as printed) and one predicted value."""
    if kind == "boolean":
        return parse_bool(gold) is parse_bool(value)
    if kind in {"integer", "number"}:
        a, b = parse_number(value), parse_number(gold)
        return a is not None and b is not None and abs(a - b) <= 1e-6 * max(1.0, abs(b))
    if kind == "date":
        return parse_date(gold) == parse_date(str(value))
    return same(gold, value)


def _stem(name: Any) -> str:
    return PurePath(str(name)).name.casefold()


def _by_document(rows: list[dict[str, Any]], column: str) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(_stem(row.get(column, "")) if column else "", []).append(row)
    return groups


def _key(kind: str, value: Any) -> Any:
    """A hashable stand-in for a value, equal for equal cells; None for an empty one."""
    if is_blank(value):
        return None
    if kind == "boolean":
        return parse_bool(value)
    if kind in {"integer", "number"}:
        number = parse_number(value)
        return None if number is None else round(number, 6)
    return parse_date(str(value)) or normal_text(value)


def _agreement(
    gold: list[dict[str, Any]],
    rows: list[dict[str, Any]],
    table: GoldTable,
    kinds: Mapping[str, str],
) -> np.ndarray:
    """Matrix of agreement; a column counts the more, the more distinct values
    it has in this group.
    """
    matrix = np.zeros((len(gold), len(rows)))
    for column in table.columns:
        left = [_key(kinds[column], row[column]) for row in gold]
        right = [_key(kinds[column], row.get(column)) for row in rows]
        codes = {
            key: i
            for i, key in enumerate(dict.fromkeys([*left, *right]), start=1)
            if key is not None
        }
        a, b = (np.array([codes.get(k, 0) for k in keys], dtype=int) for keys in (left, right))
        weight = len({*left} - {None}) / max(1, len(gold)) + 0.05
        matrix += weight * ((a[:, None] == b[None, :]) & (a[:, None] > 0))
    return matrix


def assign(scores: np.ndarray) -> list[tuple[int, int]]:
    """Pairs (row, column) of a one-to-one assignment with the largest sum;
    pairs without any agreement are left out.
    """
    if 0 in scores.shape:
        return []
    if max(scores.shape) > _EXACT_ASSIGNMENT:
        return _greedy(scores)
    flipped = scores.shape[0] > scores.shape[1]
    matrix = scores.T if flipped else scores
    pairs = [(j, i) if flipped else (i, j) for i, j in _hungarian(-matrix)]
    return sorted((i, j) for i, j in pairs if scores[i, j] > 0)


def _greedy(scores: np.ndarray) -> list[tuple[int, int]]:
    order = np.argsort(-scores, axis=None, kind="stable")
    rows, columns, pairs = set[int](), set[int](), []
    for flat in order:
        i, j = (int(x) for x in np.unravel_index(flat, scores.shape))
        if scores[i, j] <= 0:
            break
        if i not in rows and j not in columns:
            rows.add(i)
            columns.add(j)
            pairs.append((i, j))
    return sorted(pairs)


def _hungarian(cost: np.ndarray) -> list[tuple[int, int]]:
    """Shortest augmenting paths (Jonker and Volgenant); needs no more rows than columns."""
    n, m = cost.shape
    u, v = np.zeros(n + 1), np.zeros(m + 1)
    owner = np.zeros(m + 1, dtype=int)
    for i in range(1, n + 1):
        owner[0], column = i, 0
        best, way = np.full(m + 1, np.inf), np.zeros(m + 1, dtype=int)
        used = np.zeros(m + 1, dtype=bool)
        while owner[column]:
            used[column] = True
            row = owner[column]
            reduced = cost[row - 1] - u[row] - v[1:]
            better = ~used[1:] & (reduced < best[1:])
            best[1:][better] = reduced[better]
            way[1:][better] = column
            following = int(np.argmin(np.where(used[1:], np.inf, best[1:]))) + 1
            delta = best[following]
            u[owner[used]] += delta
            v[used] -= delta
            best[1:][~used[1:]] -= delta
            column = following
        while column:
            previous = int(way[column])
            owner[column] = owner[previous]
            column = previous
    return [(int(owner[j]) - 1, j - 1) for j in range(1, m + 1) if owner[j]]


def score_table(
    table: GoldTable, predicted: pd.DataFrame | None, documents: Sequence[str] | None = None
) -> tuple[CellScore, list[CellError]]:
    """Score one predicted table (columns of the gold table and `document`);
    None counts as a table without rows.

    `documents` limits gold to rows of these files, for a run over part of a suite.
    """
    kinds = {c: column_type(list(table.frame[c])) for c in table.columns}
    gold_rows = table.frame.to_dict("records")
    if documents is not None and table.doc:
        kept = {_stem(d) for d in documents}
        gold_rows = [row for row in gold_rows if _stem(row[table.doc]) in kept]
    rows = [] if predicted is None else predicted.to_dict("records")
    by_gold, by_row = (
        _by_document(gold_rows, table.doc),
        _by_document(rows, "document" if table.doc else ""),
    )
    total, errors = CellScore(table.name), list[CellError]()
    for document in by_gold | by_row:
        wanted, given = by_gold.get(document, []), by_row.get(document, [])
        pairs = dict(assign(_agreement(wanted, given, table, kinds)))
        if len(wanted) == len(given) == 1:
            pairs = {0: 0}
        for i, gold in enumerate(wanted):
            row = given[pairs[i]] if i in pairs else None
            total += _score_row(table, kinds, gold, row, document, errors)
        extra = [given[j] for j in set(range(len(given))) - set(pairs.values())]
        if not table.partial:
            filled = sum(not is_blank(row.get(c)) for row in extra for c in table.columns)
            total += CellScore(table.name, extra=filled, extra_rows=len(extra))
            for row in extra:
                said = "; ".join(f"{c}={row[c]}" for c in table.columns if not is_blank(row.get(c)))
                errors.append(CellError(table.name, document, "*", "", said, "extra row"))
    named = {k: v for k, v in asdict(total).items() if k != "table"}
    return CellScore(table.name, **named), errors


def _score_row(
    table: GoldTable,
    kinds: Mapping[str, str],
    gold: Mapping[str, Any],
    row: Mapping[str, Any] | None,
    document: str,
    errors: list[CellError],
) -> CellScore:
    counts = {"gold_rows": 1, "missing_rows": int(row is None)}
    for column in table.columns:
        wanted, value = gold[column], (row or {}).get(column)
        unscored = column in table.skip_blanks and is_blank(wanted)
        if unscored or (column in table.only_if and gold[table.only_if[column]] != "1"):
            continue
        kind = _cell_verdict(kinds[column], wanted, value, row is None)
        counts[kind] = counts.get(kind, 0) + 1
        if kind not in {"right", "blank_right"}:
            errors.append(
                CellError(
                    table.name,
                    document,
                    column,
                    str(wanted),
                    "" if is_blank(value) else str(value),
                    kind,
                )
            )
    return CellScore(table.name, **counts)


def _cell_verdict(kind: str, gold: str, value: Any, no_row: bool) -> str:
    if is_blank(gold):
        if no_row:
            return "missing"
        return "blank_right" if is_blank(value) else "invented"
    if is_blank(value):
        return "missing"
    return "right" if same_cell(kind, gold, value) else "wrong"
