"""The session of a run: the catalog (the open workspace), models, embedder, the receiver of
progress, and the question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace

from sliders.engine.connections import ModelSet
from sliders.engine.question import Question
from sliders.engine.runner import LocalRunner
from sliders.llm.model import Usage
from sliders.progress import Progress
from sliders.retrieval.embeddings import Embedder
from sliders.retrieval.segment_index import SegmentIndex
from sliders.schema.types import Schema, Table
from sliders.settings import Settings
from sliders.store.catalog import Catalog
from sliders.store.records import About, Decision

Report = Callable[[Progress], None]


def silent(_progress: Progress) -> None:
    """Ignores progress; the default of `Session.report`."""


@dataclass(slots=True)
class Session:
    """One open workspace with its models.

    Each run has a session of its own (`for_run`), and each question of a run has one that holds it
    (`asking`). Runs at the same time share the workspace and nothing else.
    """

    catalog: Catalog
    models: ModelSet
    settings: Settings
    embedder: Embedder
    report: Report = silent
    runner: LocalRunner = field(default_factory=LocalRunner)
    question: Question = field(default_factory=Question)
    indexes: list[SegmentIndex] = field(default_factory=list)
    """The index of the optimizer, kept between queries once it exists."""
    spent: Usage = field(default_factory=Usage)
    """The usage of the last run."""

    def for_run(self) -> Session:
        """Returns the session of one run, with a journal, claims and a meter of its own."""
        catalog = self.catalog.for_run()
        return replace(
            self, catalog=catalog, models=self.models.for_run(catalog.calls), question=Question()
        )

    def standing(self) -> AbstractAsyncContextManager[None]:
        """While the block runs, the data tables stay as the question's hints settle them."""
        return self.catalog.claims.standing(self.question.terms)

    def asking(self, question: Question) -> Session:
        """Returns the session of the same run for one of its questions."""
        return replace(self, question=question)

    @property
    def schema(self) -> Schema:
        """The current schema."""
        return self.catalog.schemas.current() or Schema()

    @property
    def filled(self) -> list[Table]:
        """The tables of the schema that have a data table."""
        return [
            table
            for table in self.schema.tables
            if self.catalog.tables.current(table.name) is not None
        ]

    @property
    def data_tables(self) -> list[str]:
        """The SQL names of all data tables."""
        return [
            r.relation for r in self.catalog.schemas.relations() if r.current_version is not None
        ]

    def decide(
        self,
        stage: str,
        kind: About,
        verdict: str,
        reason: str,
        tokens: int = 0,
        *,
        document: str = "",
        chunk: str = "",
        table: str = "",
        column: str = "",
        rows: Sequence[str] = (),
    ) -> None:
        """Writes one row of the table of decisions."""
        about = (document, chunk, table, column, tuple(rows))
        self.catalog.journal.record(Decision(stage, kind, verdict, reason, tokens, *about))

    def note(self, line: str) -> None:
        """Adds a line for the user, shown with the answer; the same line is added once."""
        if line not in self.question.notes:
            self.question.notes.append(line)

    def progress(
        self, stage: str, done: int = 0, total: int = 0, rows: int = 0, detail: str = ""
    ) -> None:
        """Reports progress."""
        spent = self.models.meter.total
        self.report(Progress(stage, done, total, rows, spent.tokens, spent.cost, detail))
