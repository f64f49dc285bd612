"""The small adversarial cases of `cases.yaml` as worlds."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from benchmarks.fidelity.gold import Fact, FactTable, World, options_of, rows_of
from benchmarks.suites import GoldQuestion

_CASES = Path(__file__).with_name("cases.yaml")


def _case_column(said: str) -> tuple[str, dict[str, Any]]:
    """Name and options of "name:type(unit, currency, scale or a|b)"."""
    name, kind, inside = re.fullmatch(r"(\w+)(?::(\w+)(?:\((.*)\))?)?", said).groups("")  # type: ignore[union-attr]
    values = inside.split("|") if "|" in inside else []
    options = options_of(kind or "text", name.replace("_", " "), values, not values)
    for part in () if values else inside.split():
        of = (
            "currency" if re.fullmatch("[A-Z]{3}", part) else "scale" if part in _SCALES else "unit"
        )
        options[of] = part
    return name, options


_FILLER = "\n\n".join(
    f"Chapter {n:03d} of this long report has little to say, and says it at length." * 4
    for n in range(400)
)
_SCALES = ("thousands", "millions", "billions")


def _case_table(
    name: str, columns: str, *rows: Sequence[Any], documents: Mapping[str, str]
) -> FactTable:
    options = dict(map(_case_column, re.split(r",\s*", columns)))
    files = list(documents)
    pairs = [
        (files[row[0] - 1], dict(zip(options, map(_said, row[1:]), strict=True))) for row in rows
    ]
    many = len({doc for doc, _ in pairs}) < len(pairs)
    plain = [(doc, {c: v["v"] for c, v in row.items()}) for doc, row in pairs]
    found = rows_of(plain, documents, many)
    out = []
    for row, (_, said) in zip(found, pairs, strict=True):
        out.append(
            replace(
                row,
                facts={c: _case_fact(v, row.facts[c]) for c, v in said.items() if c in row.facts},
            )
        )
    return FactTable(
        name, options, tuple(out), "many" if many else "document", f"one of the {name}"
    )


def _said(cell: Any) -> Mapping[str, Any]:
    value = cell if isinstance(cell, Mapping) else {"v": cell}
    return {**value, "v": value["v"].isoformat() if isinstance(value["v"], dt.date) else value["v"]}


def _case_fact(said: Mapping[str, Any], fact: Fact) -> Fact:
    if "w" not in said:
        return fact
    words = (said["w"],) if isinstance(said["w"], str) else tuple(map(str, said["w"]))
    return replace(fact, words=words, how=said.get("how", "stated"), why=said.get("why", ""))


def _answer_kind(answer: Any) -> str:
    if isinstance(answer, list):
        return "table" if isinstance(answer[0], list) else "list"
    return "number" if isinstance(answer, int | float) else "string"


def _case(said: Mapping[str, Any]) -> World:
    docs, name = said["docs"], said["case"]
    documents = (
        docs if isinstance(docs, Mapping) else {f"d{n}.txt": text for n, text in enumerate(docs, 1)}
    )
    documents = {d: text.replace("[...]", _FILLER) for d, text in documents.items()}
    tables = tuple(_case_table(t, *part, documents=documents) for t, part in said["tables"].items())
    questions = tuple(
        (GoldQuestion(f"{name}-{number}", question, (answer,), _answer_kind(answer)), sql)
        for number, (question, sql, answer) in enumerate(said["ask"], 1)
    )
    return World(name, documents, tables, questions)


def cases(path: Path = _CASES) -> list[World]:
    """The small adversarial cases."""
    return [_case(said) for said in yaml.safe_load(path.read_text(encoding="utf-8"))]
