"""The public face: `ask` for one question, `Workspace` for many."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from sliders.answer.result import Answer, Citation
from sliders.chunks.embeddings import Embedder, default_embedder
from sliders.errors import StoreError
from sliders.executor import asking, citing, fill, settle
from sliders.executor.ingest import AddReport, Paths, add_paths, add_text
from sliders.executor.session import Report, Session, silent
from sliders.llm.connect import connect
from sliders.llm.model import Model, Usage
from sliders.schema.pinning import schema_from
from sliders.schema.schema import Schema
from sliders.settings import Budget, Settings
from sliders.store.catalog import Catalog
from sliders.store.database import Database

T = TypeVar("T")


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, in a notebook (where a loop runs already) on a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    box: list[Any] = []

    def target() -> None:
        try:
            box.append((True, asyncio.run(work)))
        except BaseException as error:
            box.append((False, error))

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    good, value = box[0]
    if not good:
        raise value
    return value  # type: ignore[no-any-return]


class Workspace:
    """A workspace file with documents, tables and answers; use it as a context manager.

    Args:
        path: the SQLite file; made when it does not exist.
        model: a model name of the server, "local" for the embedded one, or a `Model` (a double in tests).
        settings: everything else; keyword overrides (`base_url=`, `max_tokens=`, `concurrency=` ...) win over it.
        report: called with `Progress` while it works.
        embedder: makes vectors of texts; the shipped one when left out.

    Raises:
        WorkspaceLocked: another process writes to it.
        WorkspaceTooNew: written by a newer version.
        SettingsError: a setting cannot be used.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, model: str | Model | Mapping[str, Model] | None = None,
        settings: Settings | None = None, report: Report = silent, embedder: Embedder | None = None, **overrides: Any,
    ) -> None:
        name = model if isinstance(model, str) else None
        double = None if model is None or isinstance(model, str) else model
        if settings is None or overrides or name:
            settings = Settings.from_env(model=name, **overrides)
        self.path = Path(path)
        self._database = Database(self.path)
        try:
            catalog = Catalog(self._database)
            models = connect(settings, catalog.calls, model=double)
        except BaseException:
            self._database.close()
            raise
        self.session = Session(catalog, models, settings, embedder or default_embedder(), report)

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was done is kept."""
        self._database.close()

    # documents

    def add(self, paths: Paths) -> AddReport:
        """Read files, folders (recursive) and globs into the workspace.

        Raises:
            DocumentError: nothing was found, or nothing could be read.
        """
        return add_paths(self.session, paths)

    def add_text(self, text: str, name: str) -> AddReport:
        """Add a text under a name.

        Raises:
            DocumentError: the text is empty.
        """
        return add_text(self.session, text, name)

    # schema

    def pin_schema(self, source: object) -> Schema:
        """Fix tables and columns: a dict, YAML, pydantic model(s), DDL or `Schema`; pinned parts are never changed.

        Raises:
            SchemaError: the source cannot be read.
        """
        pinned = schema_from(source)
        current = self.schema
        named = {t.name for t in pinned.tables}
        merged = Schema((*pinned.tables, *(t for t in current.tables if t.name not in named)))
        self.session.catalog.schemas.save(merged, "pinned")
        return merged

    @property
    def schema(self) -> Schema:
        """The schema that stands."""
        return self.session.catalog.schemas.current() or Schema()

    # questions

    def ask(self, question: str) -> Answer:
        """Answer a question; what is known already is not asked again.

        Raises:
            PlanError: the question is empty, or there is no document.
            ModelUnavailable: the model cannot be reached.
        """
        return self.ask_many([question])[0]

    def ask_many(self, questions: Sequence[str]) -> list[Answer]:
        """Answer several questions with one schema and one pass of extraction."""
        return run_sync(self.ask_many_async(questions))

    async def ask_async(self, question: str) -> Answer:
        """As `ask`, inside an event loop."""
        return (await self.ask_many_async([question]))[0]

    async def ask_many_async(self, questions: Sequence[str]) -> list[Answer]:
        """As `ask_many`, inside an event loop."""
        journal = self.session.catalog.journal
        self.session.models = self.session.models.for_run()
        run = journal.start_run("ask", " / ".join(questions), {"model": self.session.settings.model})
        try:
            answers = await asking.ask_many(self.session, questions)
        except BaseException as error:
            journal.finish_run(run, "failed", {"error": f"{type(error).__name__}: {error}"})
            raise
        finally:
            await self.session.models.aclose()
        journal.finish_run(run, "done", {"answers": [answer.to_dict() for answer in answers]})
        return answers

    # tables

    def extract(self, tables: Sequence[str] | None = None) -> dict[str, int]:
        """Fill every column of the schema's tables; rows by table."""
        return run_sync(self.extract_async(tables))

    async def extract_async(self, tables: Sequence[str] | None = None) -> dict[str, int]:
        """As `extract`, inside an event loop."""
        self.session.models = self.session.models.for_run()
        journal = self.session.catalog.journal
        run = journal.start_run("extract", "", {"model": self.session.settings.model})
        try:
            await asking.complete_pinned(self.session)
            counts = {}
            for table in self.schema.tables:
                if tables is None or table.name in tables:
                    await fill.fill(self.session, table, table.column_names)
                    await settle.settle(self.session, table)
                    counts[table.name] = self.session.catalog.extractions.count(table.name)
        except BaseException as error:
            journal.finish_run(run, "failed", {"error": f"{type(error).__name__}: {error}"})
            raise
        finally:
            await self.session.models.aclose()
        journal.finish_run(run, "done", {"rows": counts})
        return counts

    @property
    def tables(self) -> Tables:
        """The data tables as pandas frames, by name."""
        return Tables(self.session)

    def citations(self, row_ids: Sequence[str]) -> list[Citation]:
        """The words on the page behind rows of data tables."""
        return citing.citations_of(self.session, row_ids)

    @property
    def usage(self) -> Usage:
        """What the last run cost."""
        return self.session.models.meter.total


class Tables(Mapping[str, pd.DataFrame]):
    """The current version of each data table, read on access."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in {t for t in self}:
            raise StoreError(f"there is no table {name!r}; tables are: {', '.join(self) or 'none yet'}")
        relation = self._session.catalog.schemas.relation(name)
        columns = [c.sql_name for c in relation.columns] + ["document", "document_id", "row_id"]
        quoted = ", ".join('"' + c.replace('"', '""') + '"' for c in columns)
        rows = self._session.catalog.database.query(f'SELECT {quoted} FROM "{relation.relation}"')
        return pd.DataFrame(rows, columns=columns)

    def __iter__(self) -> Iterator[str]:
        schema = self._session.catalog.schemas.current() or Schema()
        return (t.name for t in schema.tables if self._session.catalog.tables.current(t.name) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def ask(
    documents: Paths, question: str, *, model: str | Model | None = None, workspace: str | os.PathLike[str] | None = None,
    budget: Budget | None = None, **overrides: Any,
) -> Answer:
    """Answer one question over files; a workspace that is named is kept for the next one.

    Raises:
        SlidersError: see `Workspace` and `Workspace.ask`.
    """
    if budget is not None:
        overrides |= {k: getattr(budget, k) for k in ("max_tokens", "max_cost", "max_minutes")}
    with tempfile.TemporaryDirectory() as folder, Workspace(
        workspace or Path(folder) / "workspace.db", model=model, **overrides
    ) as ws:
        ws.add(documents)
        return ws.ask(question)
