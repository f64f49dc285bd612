"""What reconciliation does to answers: one extracted workspace, its questions answered from the
reconciled tables and from the tables as extracted, in one table.

    python -m benchmarks.reconcile --on-off WORKSPACE ... [--model NAME --base-url URL]
        [--suites DIR] [--json FILE]

A workspace is the file that `benchmarks.run` left for a suite, `<anything>_<suite>/answers.db`
or `<suite>=FILE`. It is copied, never changed. The model (the embedded one when none is named)
writes SQL; nothing is extracted again, so both sides differ in the tables alone, and a suite
whose tables are the same is answered once. `--again` reconciles the copy anew with the code
and the model at hand.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.results import table
from benchmarks.scoring import Prediction, score_answer
from benchmarks.suites import GoldQuestion, Suite, load_suite
from benchmarks.systems.sliders_system import plain
from sliders import Workspace
from sliders.answer import TableView, answer_question
from sliders.engine import known_need, settle_data_table, ways_of
from sliders.llm import Model
from sliders.store import Terms, run_readonly


@dataclass(frozen=True, slots=True)
class Side:
    """One side of the comparison: ids of the questions that are right, rows in all
    tables, and SQL calls.
    """

    right: tuple[str, ...]
    rows: int
    calls: int


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `--on-off`."""
    parser.add_argument(
        "--on-off",
        nargs="+",
        metavar="WORKSPACE",
        help="workspaces: SUITE=FILE or .../x_SUITE/answers.db",
    )
    parser.add_argument("--suites", type=Path, default=Path("../shared/evals"))
    parser.add_argument("--base-url", default="", help="OpenAI-compatible endpoint that writes SQL")
    parser.add_argument("--model", default="local", help="its model name")
    parser.add_argument("--api-key", default="none")
    parser.add_argument("--dialect", default="auto")
    parser.add_argument(
        "--again", action="store_true", help="reconcile anew with this code and model"
    )


def located(given: str, suites: Path) -> tuple[Suite, Path]:
    """The suite of a workspace and its file."""
    name, _, file = given.rpartition("=")
    path = Path(file)
    if not name:
        known = sorted((p.name for p in suites.iterdir()), key=len, reverse=True)
        name = next(n for n in known if path.resolve().parent.name.endswith(n))
    return load_suite(suites / name), path


def copied(path: Path, folder: Path) -> Path:
    """A copy of a workspace, with what its log still holds."""
    for suffix in ("", "-wal"):
        source = path.with_name(path.name + suffix)
        if source.exists():
            shutil.copy2(source, folder / f"answers.db{suffix}")
    return folder / "answers.db"


def as_extracted(ws: Workspace) -> None:
    """Show every table as it was extracted."""
    tables = ws.session.catalog.tables
    for one in ws.schema.tables:
        current = tables.current(one.name)
        known = {v.version: v for v in tables.versions(one.name)}
        root = current
        while root is not None and root.parent is not None:
            root = known[root.parent]
        if root is not None and root != current:
            tables.undo(one.name, root.version)


async def side(ws: Workspace, questions: Sequence[GoldQuestion], model: Model) -> Side:
    """Answer the questions from the tables as they are shown."""
    catalog = ws.session.catalog
    shown = [
        (t, version)
        for t in ws.schema.tables
        if (version := catalog.tables.current(t.name)) is not None
    ]
    right, calls = [], 0
    for question in questions:
        needed = known_need(ws.session, question.question)
        first = next(iter(needed.columns), "") if needed else ""
        views, names = [], []
        for one, _ in sorted(shown, key=lambda pair: pair[0].name != first):
            relation = catalog.schemas.relation(one.name)
            columns = tuple(replace(c, name=relation.sql_name(c.name)) for c in one.columns)
            views.append(TableView(replace(one, name=relation.relation, columns=columns)))
            names.append(relation.relation)

        def run(sql: str, names: Sequence[str] = tuple(names)) -> Any:
            return run_readonly(catalog.database, sql, tables=names)

        answer = await answer_question(
            question.question, views, run, model, writer=ways_of(model).sql
        )
        calls += answer.usage.calls
        prediction = Prediction(answer.status, plain(answer.value), answer.text)
        if score_answer(question, prediction).right:
            right.append(question.id)
    return Side(tuple(right), sum(version.rows for _, version in shown), calls)


def content(ws: Workspace) -> list[list[tuple[Any, ...]]]:
    """The rows of all tables as they are shown, without their ids."""
    frames = (
        ws.tables[one.name]
        for one in ws.schema.tables
        if ws.session.catalog.tables.current(one.name)
    )
    return [sorted(map(tuple, frame.astype(str).to_numpy().tolist())) for frame in frames]


async def compare_one(
    suite: Suite, path: Path, given: argparse.Namespace
) -> tuple[Side, Side, int]:
    """Both sides of one suite, and its number of questions."""
    questions = [q for q in suite.questions if q.answer_type != "table_file"]
    asked = {
        "model": given.model,
        "base_url": given.base_url or None,
        "api_key": given.api_key,
        "dialect": given.dialect,
    }
    sides: list[Side] = []
    before: list[Any] = []
    for on in (True, False):
        with (
            tempfile.TemporaryDirectory() as folder,
            Workspace(copied(path, Path(folder)), **asked) as ws,
        ):
            if not on or given.again:
                as_extracted(ws)
            if on and given.again:
                for one in ws.schema.tables:
                    tables = ws.session.catalog.settled
                    if (last := tables.of(one.name)) is not None:
                        tables.keep(one.name, replace(last, terms=Terms(0)), ())
                    await settle_data_table(ws.session, one)
            told = content(ws)
            model = ws.session.models.model_for("answer")
            sides.append(sides[0] if sides and told == before else await side(ws, questions, model))
            before = told
    return sides[0], sides[1], len(questions)


def compare(given: argparse.Namespace) -> dict[str, float]:
    """Figures of all workspaces, flat, printed as one table."""
    figures: dict[str, float] = {}
    lines = []
    for one in given.on_off:
        suite, path = located(one, given.suites)
        on, off, count = asyncio.run(compare_one(suite, path, given))
        won, lost = sorted(set(on.right) - set(off.right)), sorted(set(off.right) - set(on.right))
        figures |= {
            f"{suite.name}.questions": count,
            f"{suite.name}.on": len(on.right),
            f"{suite.name}.off": len(off.right),
            f"{suite.name}.rows_on": on.rows,
            f"{suite.name}.rows_off": off.rows,
        }
        lines.append(
            [
                suite.name,
                count,
                len(on.right),
                len(off.right),
                on.rows,
                off.rows,
                on.calls + off.calls,
                " ".join(won) or "-",
                " ".join(lost) or "-",
            ]
        )
    header = [
        "suite",
        "questions",
        "right, on",
        "right, off",
        "rows, on",
        "rows, off",
        "calls",
        "won",
        "lost",
    ]
    print(table(header, lines))
    return figures
