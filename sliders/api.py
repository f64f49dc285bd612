"""The public interface: `ask` for one question, `Workspace` for many."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sliders.answer.result import Answer
from sliders.audit.page import view_file
from sliders.audit.workspace import WorkspaceAudit
from sliders.compact.hint_patterns import parse_hints
from sliders.engine import corrections, examples, query_results, reconcile_memory, undone_repairs
from sliders.engine.ask import ask_questions
from sliders.engine.backend import runner_for
from sliders.engine.cheapest import prices
from sliders.engine.connections import connect
from sliders.engine.estimate import Estimate, estimate
from sliders.engine.fill import fill_cells
from sliders.engine.given_tables import GivenTable, add_tables
from sliders.engine.ingest import AddReport, Paths, add_paths, add_text
from sliders.engine.query_results import TableFrames
from sliders.engine.query_run import explain_query
from sliders.engine.question import TABLES
from sliders.engine.question_columns import describe_pinned, plan_tables
from sliders.engine.remove import Names, remove_documents
from sliders.engine.session import Report, Session, silent
from sliders.engine.synchronous import journaled, plainly, run_sync
from sliders.engine.table_stages import settle_table, settle_tables
from sliders.engine.understand import check, explain
from sliders.errors import BudgetExceeded
from sliders.extraction.cell import Scalar
from sliders.llm.model import Model, Usage
from sliders.markup import Listing, note, table_html
from sliders.notebook import notebook_report
from sliders.progress import counted
from sliders.retrieval.embeddings import Embedder, default_embedder
from sliders.schema.hints import Directive
from sliders.schema.pin import schema_from
from sliders.schema.types import Schema, Table
from sliders.settings import Budget, Settings
from sliders.store.catalog import Catalog
from sliders.store.database import Database, place_of
from sliders.store.facts import OpenConflict
from sliders.store.file import refuse_foreign
from sliders.store.records import Correction, TableVersion
from sliders.store.removal import Removed

if TYPE_CHECKING:
    import pandas as pd


class Workspace(WorkspaceAudit):
    """A workspace with documents, tables and answers; use it as a context manager.

    Args:
        path: the SQLite file, or a PostgreSQL server's
            `postgresql+psycopg://user@host/database?schema=NAME`; made when it does not exist.
        model: a model name of the server, "local" for the embedded one, or a `Model` (a double in
            tests).
        settings: all other settings; keyword arguments (`base_url=`, `max_tokens=`, `concurrency=`
            ...) win over them.
        report: called with a `Progress` while a call works. When left out, a notebook shows a line
            under the cell.
        embedder: turns texts into vectors; the shipped one when left out.
        write: False opens an existing file for reading, beside a process that writes to it.

    Raises:
        WorkspaceLocked: another process writes to the workspace.
        WorkspaceTooNew: a newer version of the package wrote the workspace.
        SettingsError: a setting has a wrong value.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        model: str | Model | Mapping[str, Model] | None = None,
        settings: Settings | None = None,
        report: Report | None = None,
        embedder: Embedder | None = None,
        write: bool = True,
        **overrides: Any,
    ) -> None:
        name, double = (model, None) if model is None or isinstance(model, str) else (None, model)
        made = Settings.from_env if settings is None else settings.changed
        settings = made(model=name, **overrides)
        self.path, self._write = place_of(path), write
        if isinstance(self.path, Path):
            refuse_foreign(self.path)
        runner = runner_for(settings, double)
        self._database = Database(self.path, write=write)
        try:
            catalog = Catalog(self._database)
            models = connect(settings, catalog.calls, model=double, limiter=runner.limiter)
        except BaseException:
            self._database.close()
            raise
        told = report or notebook_report() or silent
        vectors = embedder or default_embedder()
        self.session = Session(catalog, models, settings, vectors, told, runner)

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        """The content of the workspace, as a notebook shows it."""
        runs = [(run.id, run.kind, run.status, run.question) for run in reversed(self.runs())]
        documents = self.session.catalog.documents.count()
        about = note(f"workspace {self._database.title}: {counted(documents, 'document')}")
        told = table_html(("run", "kind", "status", "question"), runs, most=5)
        return about + self.tables._repr_html_() + told

    def close(self) -> None:
        """Closes the workspace; everything done so far is stored."""
        self.session.runner.close()
        self._database.close()

    # documents

    def add(self, paths: Paths, *, prune: bool = False) -> AddReport:
        """Reads files, folders (with subfolders), globs and addresses (`s3://`, `https://` ...)
        into the workspace. `prune` removes documents whose file is gone from a folder.

        Raises:
            DocumentError: there is no file, or no file can be read.
        """
        return add_paths(self.session, paths, prune=prune)

    def add_table(
        self, source: pd.DataFrame | str | os.PathLike[str], name: str = ""
    ) -> list[GivenTable]:
        """Adds a table of your own with its rows. Questions and SQL can join it with the tables
        read from documents, and each value is cited as words of its file. No model is called.

        Args:
            source: a CSV, TSV, Excel or Parquet file (of a workbook each sheet), or a frame.
            name: the table's name in SQL; when left out, the name of the file or sheet.

        Raises:
            SettingsError: the file cannot be read, or a frame has no name.
            SchemaError: a table of that name is read from documents.
        """
        return run_sync(add_tables(self.session, source, name))

    def remove(self, documents: Names) -> Removed:
        """Removes documents (by name, id, source or folder), everything that was read from them,
        and all quotes of them. Answers that used them are marked. Files exported earlier are not
        changed.

        Raises:
            StoreError: there is no such document; nothing is removed.
            WorkspaceLocked: another program reads the file, so that removed words can still be
                found in it; call it again.
        """
        return remove_documents(self.session, documents)

    def add_text(self, text: str, name: str) -> AddReport:
        """Adds a text under a name.

        Raises:
            DocumentError: the text is empty.
        """
        return add_text(self.session, text, name)

    # schema

    def pin_schema(self, source: object) -> Schema:
        """Fixes tables and columns, from a dict, YAML, pydantic model(s), DDL or a `Schema`. Pinned
        parts are never changed. Returns the new schema.

        Raises:
            SchemaError: the source cannot be read.
        """
        pinned = schema_from(source)
        examples.refuse_known_words(self.session, pinned)
        named = {t.name for t in pinned.tables}
        merged = Schema((*pinned.tables, *(t for t in self.schema.tables if t.name not in named)))
        self.session.catalog.schemas.save(merged, "pinned")
        return merged

    async def induce_async(self, questions: Sequence[str]) -> Schema:
        """Extends the schema by the columns that the questions need, and returns it; nothing is
        extracted. Raises ModelUnavailable: the model cannot be reached.
        """
        async with journaled(self.session, "schema", *questions) as (session, _):
            check(session, questions)
            await plan_tables(session, questions)
        return self.schema

    induce = plainly(induce_async)

    @property
    def schema(self) -> Schema:
        """The current schema."""
        return self.session.schema

    # questions

    async def ask_async(
        self,
        question: str,
        *,
        workflow: str = TABLES,
        directives: Sequence[Directive] = (),
    ) -> Answer:
        """Answers a question; cells that are known are not read again.

        Args:
            workflow: "auto" for the cheapest workflow that can answer, or the name of one; see
                `sliders.answer.route`.
            directives: hints (`Locate`, `Ignore`, `Verify`, `Normalize`, `Precede`) beside the
                hints in the question's own words.

        Raises:
            PlanError: the question is empty, the workflow unknown, or there is no document.
            ModelUnavailable: the model cannot be reached.
        """
        return (await self._answers([question], workflow, directives))[0]

    ask = plainly(ask_async)

    def plan(
        self, question: str, directives: Sequence[Directive] = (), workflow: str = "auto"
    ) -> tuple[str, ...]:
        """Returns how `ask(question, workflow=...)` would answer, line by line: workflow, reasons
        and hints. No model is called.

        Raises:
            PlanError: the question is empty, the workflow unknown, or there is no document.
        """
        return explain(self.session, question, directives, workflow)

    async def ask_many_async(
        self, questions: Sequence[str], *, workflow: str = TABLES
    ) -> list[Answer]:
        """Answers several questions with one schema and one pass of extraction, in their order.
        With the workflow "auto", this holds only for questions that need a table, or for which
        tables are cheaper. Raises as `ask`.
        """
        return await self._answers(questions, workflow)

    ask_many = plainly(ask_many_async)

    async def _answers(
        self,
        questions: Sequence[str],
        workflow: str = TABLES,
        directives: Sequence[Directive] = (),
    ) -> list[Answer]:
        """Returns the answers of one run, each with its number and the way to its audit page; they
        are stored as the outcome of the run.
        """
        async with journaled(self.session, "ask", *questions) as (session, outcome):
            answers = await ask_questions(session, questions, workflow, directives)
            return self._kept(session, answers, outcome)

    def _kept(
        self, session: Session, answers: Sequence[Answer], outcome: dict[str, Any]
    ) -> list[Answer]:
        number = session.catalog.journal.open_run or 0
        viewer = partial(view_file, self.path, run=number)
        kept = [replace(answer, run=number, viewer=viewer) for answer in answers]
        outcome["answers"] = [answer.to_dict() for answer in kept]
        gaps = (gap for answer in kept for gap in answer.completeness.missing)
        outcome["stopped"] = any(gap.kind == "stopped" for gap in gaps)
        return kept

    def estimate(self, questions: str | Sequence[str]) -> Estimate:
        """Returns the calls, tokens, money (US dollars) and minutes that the questions would take;
        no model is called.

        Raises:
            PlanError: a question is empty, or there is no document.
        """
        return estimate(self.session, [questions] if isinstance(questions, str) else questions)

    def explain(self, question: str) -> str:
        """Returns the plan and the cost of a question (with its hints) or a query; no model is
        called.

        Raises:
            QueryError: the query is not supported; the message names the place.
        """
        if query_results.is_sql(question):
            return Listing(run_sync(explain_query(self.session, question)))
        taken = self.estimate(question)
        told = (str(taken), prices(self.session, taken), *parse_hints(question).lines())
        return Listing("\n".join(told))

    async def query_async(
        self, sql: str, describe: Mapping[str, str] | None = None
    ) -> pd.DataFrame:
        """Returns the result of one SELECT; missing cells that the query needs are extracted first.

        `docs` is the table of all documents: its columns are the attributes that the query names,
        with a description in `describe` when a name does not say enough. The frame's
        `attrs["notes"]` are lines on what the result lacks, `attrs["explanation"]` is what was
        read, with its cost. Queries that run at the same time share their work.

        Raises:
            QueryError: SQL that is not supported over documents, or an unknown or ambiguous column;
                the message names the place.
            UnsafeStatement: the text is not one SELECT, or names a table that it may not read.
            StoreError: SQLite finds an error in the statement.
            ModelUnavailable: the model cannot be reached.
        """
        if not self._write:
            return query_results.without_earlier(self.session, sql)
        async with journaled(self.session, "query", sql) as (session, outcome), session.standing():
            frame = await query_results.query_frame(session, sql, describe)
            outcome |= {
                "rows": len(frame),
                "tokens": frame.attrs.get("tokens", 0),
                "stopped": frame.attrs.pop("stopped", ""),
            }
        return frame

    query = plainly(query_async)

    # tables

    async def extract_async(self, tables: Sequence[str] | None = None) -> dict[str, int]:
        """Fills every column of the schema's tables. Returns the number of rows by table. Raises
        ModelUnavailable: no document could be read.
        """
        counts: dict[str, int] = {}
        async with journaled(self.session, "extract") as (session, outcome), session.standing():
            await describe_pinned(session)
            chosen = self._chosen(tables)
            filled = await fill_cells(session, {table.name: table.column_names for table in chosen})
            await settle_tables(session, filled.stopped)
            extractions = self.session.catalog.extractions
            counts |= {table.name: extractions.count(table.name) for table in chosen}
            filled.check()
            outcome["rows"] = counts
        return counts

    extract = plainly(extract_async)

    async def reconcile_async(
        self, tables: Sequence[str] | None = None, criteria: Sequence[str] | None = None
    ) -> dict[str, int]:
        """Repairs tables from their cells. Returns the number of rows that are left, by table.

        `criteria` are the rules for the source that wins from now on, the strongest first:
        "newer_document", "audited_over_unaudited", "primary_over_addendum", "table_over_prose",
        "verbatim_over_derived". Code applies them where dates, tables and words decide; the model
        is told all of them.

        Raises:
            BudgetExceeded: the budget ended before all tables were repaired.
        """
        counts, stopped = dict[str, int](), ""
        if criteria is not None:
            reconcile_memory.set_criteria(self.session, criteria)
        async with journaled(self.session, "reconcile") as (session, outcome), session.standing():
            for table in self._chosen(tables):
                undone_repairs.release(session, table.name)
                stopped = await settle_table(session, table, not stopped) or stopped
                current = self.session.catalog.tables.current(table.name)
                counts[table.name] = current.rows if current else 0
            outcome["rows"] = counts
            if stopped:
                raise BudgetExceeded(stopped)
        return counts

    reconcile = plainly(reconcile_async)

    def _chosen(self, tables: Sequence[str] | None) -> list[Table]:
        schema = self.schema
        return list(schema.tables) if tables is None else [schema.table(name) for name in tables]

    def set_value(
        self,
        table: str,
        column: str,
        value: Scalar,
        where: Mapping[str, Scalar],
        *,
        author: str = "",
        reason: str = "",
        example: str = "",
    ) -> int:
        """Decides a value for the rows whose columns have the values of `where`. Returns the number
        of the decision. `example` are words of the rows' document that show the value: readers of
        other documents get both as an example.

        Raises:
            SchemaError: a table or column is not there, or a value or the words do not fit.
        """
        if example:
            examples.add_example(self.session, table, column, value, where, example)
        decide = partial(corrections.correct, self.session, "set_value", table, where)
        return decide(column=column, value=value, author=author, reason=reason)

    def merge(
        self,
        table: str,
        where: Mapping[str, Scalar],
        other: Mapping[str, Scalar],
        *,
        author: str = "",
        reason: str = "",
    ) -> int:
        """Decides that the rows of `where` and of `other` are one thing. Returns the number of the
        decision; see `set_value` for the errors.
        """
        return corrections.correct(
            self.session, "merge", table, where, other=other, author=author, reason=reason
        )

    def split(
        self,
        table: str,
        where: Mapping[str, Scalar],
        other: Mapping[str, Scalar],
        *,
        author: str = "",
        reason: str = "",
    ) -> int:
        """Decides that the rows of `where` and of `other` are two things. Returns the number of the
        decision; see `set_value` for the errors.
        """
        return corrections.correct(
            self.session, "split", table, where, other=other, author=author, reason=reason
        )

    def undo(self, table: str, version: int | None = None) -> TableVersion:
        """Shows an earlier version of a table again: `version`, or the one before the current
        version. Nothing is deleted. Raises StoreError: the table has no such version, or no earlier
        one.
        """
        return corrections.undo(self.session, table, version, told=True)

    def revoke(self, number: int) -> Correction:
        """Takes back a decision of `set_value`, `merge` or `split`, and returns it. It stays in the
        records; `reconcile` then repairs the table without it.

        Raises:
            StoreError: no decision of that number is in force.
        """
        return corrections.revoke(self.session, number)

    def decisions(self, table: str | None = None) -> list[Correction]:
        """Returns the decisions of people that are in force, oldest first; of one table when given.
        Raises SchemaError: there is no such table.
        """
        name = self.schema.table(table).name if table else None
        return self.session.catalog.knowledge.corrections(name)

    def conflicts(self, table: str | None = None) -> list[OpenConflict]:
        """Returns the contradictions that nobody settled; of one table when given. Raises
        SchemaError: there is no such table.
        """
        return corrections.conflicts(self.session, table)

    @property
    def tables(self) -> TableFrames:
        """The data tables as pandas frames, by name."""
        return TableFrames(self.session)

    @property
    def usage(self) -> Usage:
        """The usage (calls, tokens, US dollars) of the last run."""
        return self.session.spent


async def ask_async(
    documents: Paths,
    question: str,
    *,
    model: str | Model | None = None,
    workspace: str | os.PathLike[str] | None = None,
    budget: Budget | None = None,
    **overrides: Any,
) -> Answer:
    """Answers one question over files. A workspace that is named is kept for later questions.

    Raises:
        SlidersError: see `Workspace` and `Workspace.ask`.
    """
    if budget is not None:
        overrides |= {k: getattr(budget, k) for k in ("max_tokens", "max_cost", "max_minutes")}
    with (
        tempfile.TemporaryDirectory() as folder,
        Workspace(workspace or Path(folder) / "workspace.db", model=model, **overrides) as ws,
    ):
        ws.add(documents)
        return await ws.ask_async(question)


ask = plainly(ask_async)
