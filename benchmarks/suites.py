"""Suites: a folder with `docs/`, `gold.json` and maybe `tables/*.csv`, and what its
README says about scoring.
"""

from __future__ import annotations

import fnmatch
import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from benchmarks.values import parse_number

_CONFIG = Path(__file__).with_name("suites.yaml")


class SuiteError(Exception):
    """A suite folder that cannot be used; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """One question. `answers` holds every accepted answer, the first is the main one;
    `docs` None means all.
    """

    id: str
    question: str
    answers: tuple[Any, ...]
    answer_type: str
    kind: str = ""
    docs: tuple[str, ...] | None = None
    notes: str = ""
    tolerance: float = 0.0

    @property
    def answer(self) -> Any:
        """The main gold answer."""
        return self.answers[0]


@dataclass(frozen=True, slots=True)
class GoldTable:
    """One gold table, every value a string as printed. `doc` names the source file column (""
    when there is none).

    `columns` are those that are pinned and scored; `skip_blanks` those whose blank cells say
    nothing; `only_if` maps a column to one that must be "1" for it to count; `partial` says that
    more rows than these may be right.
    """

    name: str
    frame: pd.DataFrame
    columns: tuple[str, ...]
    doc: str = ""
    skip_blanks: frozenset[str] = frozenset()
    only_if: dict[str, str] = field(default_factory=dict)
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Suite:
    """Documents, questions and gold tables.

    `scope` "question" asks each question of its own `docs` only.
    """

    name: str
    directory: Path
    documents: tuple[Path, ...]
    questions: tuple[GoldQuestion, ...]
    tables: tuple[GoldTable, ...]
    scope: str = "all"

    def documents_of(self, question: GoldQuestion) -> tuple[Path, ...]:
        """The files that a question is asked against."""
        if self.scope != "question" or question.docs is None:
            return self.documents
        return tuple(d for d in self.documents if d.name in question.docs)

    def limited(self, questions: int | None = None, only: str | None = None) -> Suite:
        """The first so many questions, or the one with that id."""
        asked = tuple(q for q in self.questions if only is None or q.id == only)
        return replace(self, questions=asked[:questions])


def suite_config(name: str) -> dict[str, Any]:
    """What the README of the set of that name says about scoring, from `suites.yaml`;
    {} for an unknown set.
    """
    known = yaml.safe_load(_CONFIG.read_text(encoding="utf-8"))
    return dict(known["suites"].get(name) or {})


def _tolerance(kind: str) -> float:
    known = yaml.safe_load(_CONFIG.read_text(encoding="utf-8"))
    for pattern, tolerance in known["tolerance"].items():
        if fnmatch.fnmatch(kind, pattern):
            return float(tolerance)
    return 0.0


def _answer_type(entry: dict[str, Any]) -> str:
    stated = str(entry.get("answer_type") or "")
    answer = entry["answer"]
    if stated:
        return stated
    if isinstance(answer, bool):
        return "bool"
    if isinstance(answer, list):
        return "table" if any(isinstance(item, list) for item in answer) else "list"
    if isinstance(answer, int | float) or parse_number(answer) is not None:
        return "number"
    return "string"


def _question(entry: dict[str, Any], path: Path) -> GoldQuestion:
    missing = [key for key in ("id", "question", "answer") if key not in entry]
    if missing:
        raise SuiteError(
            f"{path}: question {entry.get('id', '?')} has no {', '.join(missing)}; every "
            "entry needs them"
        )
    raw_notes = entry.get("notes") or ""
    notes = raw_notes if isinstance(raw_notes, str) else json.dumps(raw_notes, ensure_ascii=False)
    aliases = re.search(r"aliases: (\[.*?\])(?:;|$)", notes)
    answers = [entry["answer"], *(entry.get("answers_all") or [])]
    if aliases:
        answers += json.loads(aliases[1])
    docs, kind = entry.get("docs", "all"), str(entry.get("kind", ""))
    return GoldQuestion(
        id=str(entry["id"]),
        question=str(entry["question"]),
        answers=tuple(answers),
        answer_type=_answer_type(entry),
        kind=kind,
        docs=None if docs == "all" else tuple(docs),
        notes=notes,
        tolerance=_tolerance(kind),
    )


def _doc_column(frame: pd.DataFrame, others: list[pd.DataFrame]) -> pd.DataFrame:
    """The frame with a `doc` column, taken over from a table that shares an id column
    with one document an id.
    """
    if "doc" in frame.columns:
        return frame
    for other in others:
        for column in frame.columns:
            if "doc" in other.columns and column in other.columns:
                pairs = other[[column, "doc"]].drop_duplicates()
                if pairs[column].is_unique and set(frame[column]) <= set(pairs[column]):
                    return frame.assign(
                        doc=frame[column].map(dict(zip(pairs[column], pairs["doc"], strict=True)))
                    )
    return frame


def _tables(directory: Path, config: dict[str, Any], derived: bool) -> tuple[GoldTable, ...]:
    files = sorted((directory / "tables").glob("*.csv"))
    frames = {f.stem: pd.read_csv(f, dtype=str, keep_default_na=False) for f in files}
    tables = []
    for name, raw in frames.items():
        rules = dict((config.get("tables") or {}).get(name) or {})
        if rules.get("skip") is True or (rules.get("derived") is True and not derived):
            continue
        left_out = set(rules.get("skip") or [])
        if not derived and isinstance(rules.get("derived"), list):
            left_out |= set(rules["derived"])
        frame = _doc_column(raw, list(frames.values()))
        tables.append(
            GoldTable(
                name=name,
                frame=frame,
                columns=tuple(c for c in raw.columns if c != "doc" and c not in left_out),
                doc="doc" if "doc" in frame.columns else "",
                skip_blanks=frozenset(rules.get("skip_blanks") or ()),
                only_if=dict(rules.get("only_if") or {}),
                partial=bool(rules.get("partial")),
            )
        )
    return tuple(tables)


def find_suite(path: str | Path) -> tuple[str, Path]:
    """The name of the set and the folder that holds `gold.json`: the path itself,
    or its `dev` folder.

    Raises:
        SuiteError: neither holds a `gold.json`.
    """
    directory = Path(path).resolve()
    if not (directory / "gold.json").is_file() and (directory / "dev" / "gold.json").is_file():
        directory = directory / "dev"
    if not (directory / "gold.json").is_file():
        raise SuiteError(
            f"{path} holds no gold.json (nor does its dev folder); give a suite folder with "
            "docs/ and gold.json"
        )
    known = yaml.safe_load(_CONFIG.read_text(encoding="utf-8"))["suites"]
    name = next((p for p in reversed(directory.parts) if p in known), "")
    halves = {"dev", "heldout", "reserve", "test"}
    return name or (
        directory.parent.name if directory.name in halves else directory.name
    ), directory


def load_suite(path: str | Path, *, derived: bool = False) -> Suite:
    """Load a suite folder; `derived` also scores gold columns that follow from others.

    Raises:
        SuiteError: no `gold.json`, no documents, or an entry without id, question or answer.
    """
    name, directory = find_suite(path)
    config = suite_config(name)
    beside = directory / "suite.json"
    if beside.is_file():
        stated = json.loads(beside.read_text(encoding="utf-8"))
        name, config = str(stated.get("name", name)), config | stated
    documents = sorted(
        p for p in (directory / "docs").rglob("*") if p.is_file() and not p.name.startswith(".")
    )
    if not documents:
        raise SuiteError(
            f"{directory}/docs holds no documents; a suite needs its documents beside gold.json"
        )
    entries = json.loads((directory / "gold.json").read_text(encoding="utf-8"))
    return Suite(
        name=name,
        directory=directory,
        documents=tuple(documents),
        questions=tuple(_question(entry, directory / "gold.json") for entry in entries),
        tables=_tables(directory, config, derived),
        scope=str(config.get("scope", "all")),
    )
