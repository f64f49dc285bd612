"""Gold answers over part of a suite's documents: the SQL of `notes` runs again
over their gold rows.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.cells import column_type
from benchmarks.scoring import Prediction, score_answer
from benchmarks.suites import GoldQuestion, Suite


def _frames(directory: Path, documents: Collection[str] | None) -> dict[str, pd.DataFrame]:
    frames = {
        f.stem: pd.read_csv(f, dtype=str, keep_default_na=False)
        for f in sorted((directory / "tables").glob("*.csv"))
    }
    if documents is None:
        return frames
    kept = {name: f[f["doc"].isin(documents)] for name, f in frames.items() if "doc" in f.columns}
    for name, frame in frames.items():
        if name in kept:
            continue
        keys = next(
            (c for c in frame.columns for k in kept.values() if c in k.columns and c != "doc"), None
        )
        if keys is not None:  # rows that refer to a kept document by an id
            ids = {v for k in kept.values() if keys in k.columns for v in k[keys]}
            kept[name] = frame[frame[keys].isin(ids)]
    return kept


def _database(
    frames: dict[str, pd.DataFrame], types: dict[str, dict[str, str]]
) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    affinity = {"integer": "INTEGER", "number": "REAL", "boolean": "INTEGER"}
    for name, frame in frames.items():
        columns = ", ".join(f'"{c}" {affinity.get(types[name][c], "TEXT")}' for c in frame.columns)
        connection.execute(f'CREATE TABLE "{name}" ({columns})')
        rows = [[v if v != "" else None for v in row] for row in frame.to_numpy().tolist()]
        marks = ", ".join("?" * len(frame.columns))
        connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
    return connection


def _shaped(rows: Sequence[Sequence[Any]], like: Any) -> Any:
    if isinstance(like, list) and like and isinstance(like[0], list):
        return [list(row) for row in rows]
    if isinstance(like, list):
        return (
            [row[0] for row in rows]
            if rows and len(rows[0]) == 1
            else list(rows[0])
            if rows
            else []
        )
    return rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 else None


def _rerun(question: GoldQuestion, connection: sqlite3.Connection) -> Any:
    found = re.search(r"SQL: (select .*)", question.notes, re.I | re.S)
    if not found or re.search(
        r"\blimit\b", found[1], re.I
    ):  # with fewer rows, a tie may decide what LIMIT keeps
        return None
    try:
        return _shaped(connection.execute(found[1].strip().rstrip(";")).fetchall(), question.answer)
    except sqlite3.Error:
        return None


def over_documents(suite: Suite, documents: int) -> Suite:
    """The suite over its first documents, with every gold answer worked out again for them.

    A question stays when its evidence is listed and wholly kept, or when its SQL gives the gold
    answer over all documents (so the SQL can be trusted) and any answer over the kept ones.
    """
    if documents >= len(suite.documents):
        return suite
    kept_docs = suite.documents[:documents]
    names = {d.name for d in kept_docs}
    everything = _frames(suite.directory, None)
    types = {
        name: {c: column_type(list(f[c])) for c in f.columns} for name, f in everything.items()
    }
    whole, part = _database(everything, types), _database(_frames(suite.directory, names), types)
    questions = []
    for question in suite.questions:
        if question.docs is not None:
            if set(question.docs) <= names:
                questions.append(question)
            continue
        check = _rerun(question, whole)
        if check is None or not score_answer(question, Prediction("answered", check)).right:
            continue
        answer = _rerun(question, part)
        if answer is not None and answer != [] and "null" not in json.dumps(answer):
            questions.append(replace(question, answers=(answer,)))
    return replace(suite, documents=kept_docs, questions=tuple(questions))
