"""One world through the whole pipeline, pinned or induced, and what arrived of
what the reader said.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import sqlglot
from sqlglot import exp

import sliders
from benchmarks.cells import score_table
from benchmarks.fidelity.gold import Fact, FactTable, World, database, rows_value
from benchmarks.fidelity.reader import PerfectReader
from benchmarks.scoring import Prediction, score_answer
from benchmarks.suites import GoldTable
from benchmarks.systems.sliders_system import CRASHES, plain

_BEYOND = ("invented", "extra row")
"""Kinds of errors that are about what nobody said."""


@dataclass(slots=True)
class Tally:
    """Counts of one run. `cells` were given, `cells_kept` stand with that value;
    `cells_invented` were never given.
    """

    cells: int = 0
    cells_kept: int = 0
    cells_invented: int = 0
    rows: int = 0
    rows_lost: int = 0
    rows_extra: int = 0
    statements: int = 0
    sql_as_written: int = 0
    questions: int = 0
    answers_right: int = 0
    failures: int = 0
    harm: list[str] = field(default_factory=list)

    def __add__(self, other: Tally) -> Tally:
        return Tally(**{k: v + getattr(other, k) for k, v in asdict(self).items()})

    @property
    def whole(self) -> bool:
        """Whether nothing was harmed."""
        return not (self.failures or self.rows_lost or self.rows_extra or self.cells_invented) and (
            self.cells == self.cells_kept
            and self.statements == self.sql_as_written
            and self.questions == self.answers_right
        )

    def as_dict(self, secret: bool) -> dict[str, Any]:
        """Counts and shares; what was harmed only where it may be shown."""
        pairs = (
            ("cells_kept", "cells"),
            ("sql_as_written", "statements"),
            ("answers_right", "questions"),
        )
        shares = {
            f"{a}_share": round(getattr(self, a) / max(1, getattr(self, b)), 4) for a, b in pairs
        }
        counts = {k: v for k, v in asdict(self).items() if k != "harm"}
        return counts | shares | ({} if secret else {"harm": self.harm})


def schema_of(world: World) -> dict[str, Any]:
    """The world's tables as a schema to pin."""
    return {
        "tables": [
            {
                "name": t.name,
                "row": t.row,
                "grain": t.grain,
                "columns": [{"name": c, **o} for c, o in t.columns.items()],
            }
            for t in world.tables
        ]
    }


def normal_sql(sql: str) -> str:
    """A statement without what is dialect: case of keywords and names, quoting of names,
    white space, aliases' AS.
    """
    try:
        tree = sqlglot.parse_one(sql, dialect="sqlite")
    except sqlglot.ParseError:
        return " ".join(sql.split())
    for name in tree.find_all(exp.Identifier):
        name.set("quoted", False)
        name.set("this", name.name.lower())
    return tree.sql(dialect="sqlite", normalize_functions="upper")


def _printed(value: object) -> str:
    return (
        ""
        if value is None
        else ("yes" if value else "no")
        if isinstance(value, bool)
        else str(value)
    )


def _said_table(
    table: FactTable, given: Mapping[tuple[str, int], Mapping[str, Fact]] | None
) -> GoldTable:
    """The cells that were given; all facts without `given`."""
    rows = []
    for number, row in enumerate(table.rows):
        facts = row.facts if given is None else given.get((table.name, number))
        if facts is not None:
            rows.append(
                {"doc": row.document}
                | {c: _printed(facts[c].value) if c in facts else "" for c in table.columns}
            )
    return GoldTable(
        table.name, pd.DataFrame(rows, columns=["doc", *table.columns]), tuple(table.columns), "doc"
    )


def _frame(table: FactTable, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame | None:
    """The final table of that name, else the one that shares most columns."""
    best = max(
        frames.values(), key=lambda f: len(set(f.columns) & set(table.columns)), default=None
    )
    frame = frames.get(table.name, best)
    return (
        None
        if frame is None
        else frame.assign(document=[Path(str(d)).name for d in frame["document"]])
    )


def tally_cells(world: World, reader: PerfectReader, frames: Mapping[str, pd.DataFrame]) -> Tally:
    """What of the given cells stands in the final tables."""
    total = Tally()
    told = {name for name, _ in reader.given}
    for table in (t for t in world.tables if t.name in told):
        frame = _frame(table, frames)
        score, errors = score_table(_said_table(table, reader.given), frame)
        whole, others = score_table(_said_table(table, None), frame)
        total += Tally(
            cells=score.right + score.wrong + score.missing,
            cells_kept=score.right,
            cells_invented=whole.invented,
            rows=score.gold_rows,
            rows_lost=score.missing_rows,
            rows_extra=whole.extra_rows,
            harm=[
                (
                    f"cell {e.kind}: {e.table}.{e.column} {e.document}: {e.predicted!r}, the "
                    f"reader said {e.gold!r}"
                )
                for e in [
                    *(e for e in errors if e.kind not in _BEYOND),
                    *(e for e in others if e.kind in _BEYOND),
                ]
            ],
        )
    return total


def run(world: World, reader: PerfectReader, mode: str) -> Tally:
    """Documents in, questions asked, tables and answers compared with what the
    reader said and knows.

    Args:
        mode: "pinned" and "induced" ask all questions together, "stepwise" and "split" one after
            the other with what is known by then; with "split" the reader sees small parts, and
            questions that what it told does not answer are left out.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in world.documents]
        for path, text in zip(files, world.documents.values(), strict=True):
            path.write_text(text, encoding="utf-8")
        try:
            with sliders.Workspace(Path(folder, "workspace.db"), model=reader.model) as ws:
                ws.add([str(p) for p in files])
                if mode == "pinned":
                    ws.pin_schema(schema_of(world))
                asked = [q.question for q, _ in world.questions]
                answers = (
                    [ws.ask(q) for q in asked]
                    if mode in ("stepwise", "split")
                    else ws.ask_many(asked)
                )
                tally = tally_cells(world, reader, {name: ws.tables[name] for name in ws.tables})
        except CRASHES as error:
            return Tally(
                failures=1,
                questions=len(world.questions),
                harm=[f"crash: {type(error).__name__}: {error}"],
            )
    answerable = answered_by(world, reader.given) if mode == "split" else None
    for (question, _), answer in zip(world.questions, answers, strict=True):
        if answerable is not None and question.id not in answerable:
            continue
        tally += _tally_answer(question, answer, reader.statements.get(question.question))
    return tally


def answered_by(world: World, given: Mapping[tuple[str, int], Mapping[str, Fact]]) -> set[str]:
    """The questions whose SQL gives the right answer over the cells that were said."""
    told = [
        replace(
            t,
            rows=tuple(
                replace(row, facts=given[t.name, n])
                for n, row in enumerate(t.rows)
                if (t.name, n) in given
            ),
        )
        for t in world.tables
    ]
    connection, out = database(told), set()
    for question, sql in world.questions:
        value = rows_value(connection.execute(sql).fetchall())
        if score_answer(question, Prediction("answered", value)).right:
            out.add(question.id)
    return out


def _tally_answer(question: Any, answer: Any, said: str | None) -> Tally:
    verdict = score_answer(
        question, Prediction(str(answer.status), plain(answer.value), str(answer.text))
    )
    tally = Tally(questions=1, answers_right=int(verdict.right))
    if said is not None:
        tally.statements = 1
        tally.sql_as_written = int(normal_sql(answer.sql or "") == normal_sql(said))
        if not tally.sql_as_written:
            tally.harm.append(f"sql: {answer.sql!r}, the reader wrote {said!r}")
    else:
        tally.harm.append(f"never asked for SQL: {question.question!r} ({answer.reason})")
    if not verdict.right:
        tally.harm.append(
            f"answer: {question.question!r}: {answer.status} {plain(answer.value)!r}, right is "
            f"{question.answer!r}"
        )
    return tally
