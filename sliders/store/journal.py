"""The journal: runs, decisions and SQL attempts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from sqlalchemy import or_, select, update

from sliders.store import codec
from sliders.store.database import Database
from sliders.store.layout import attempts, decisions, runs
from sliders.store.records import Decision, Run, RunStatus, SqlAttempt


class Journal:
    """What happened, when and why, in one run. Decisions and attempts belong to that run,
    unless they name another.

    Args:
        beside: the journal of another run of this process; none of the two takes the other's run
            for one that was killed.
    """

    def __init__(self, database: Database, beside: Journal | None = None) -> None:
        self._database = database
        self._running: set[int] = set() if beside is None else beside._running
        self.open_run: int | None = None
        """Number of the run that is open, None outside one."""

    def start_run(
        self, kind: str, question: str = "", settings: Mapping[str, Any] | None = None
    ) -> int:
        """Open a run ("ask", "extract", "query" ...); its number. Decisions from
        now on belong to it.

        Of a file, which one process writes, runs of earlier processes that still run were killed:
        they are stopped now.
        """
        if not self._database.on_server:
            killed = (runs.c.status == "running") & runs.c.id.not_in(sorted(self._running))
            self._database.execute(
                update(runs).where(killed).values(status="stopped", finished=codec.now())
            )
        self.open_run = self._database.add(
            runs,
            kind=kind,
            question=question,
            status="running",
            started=codec.now(),
            settings=codec.dump(dict(settings or {})),
            outcome="{}",
        )
        self._running.add(self.open_run)
        return self.open_run

    def finish_run(
        self, run: int, status: RunStatus, outcome: Mapping[str, Any] | None = None
    ) -> None:
        """Close a run with what is kept of it as plain JSON."""
        ended = {
            "status": status,
            "finished": codec.now(),
            "outcome": codec.dump(dict(outcome or {})),
        }
        self._database.execute(update(runs).where(runs.c.id == run).values(**ended))
        self._running.discard(run)
        if self.open_run == run:
            self.open_run = None

    def runs(self) -> list[Run]:
        """All runs, oldest first; one that was killed is "running" until the next one starts."""
        lines = self._database.query(
            select(*(runs.c[field.name] for field in fields(Run))).order_by(runs.c.id)
        )
        return [
            Run(
                number,
                kind,
                question,
                status,
                started,
                finished or "",
                codec.load(settings),
                codec.load(outcome),
            )
            for number, kind, question, status, started, finished, settings, outcome in lines
        ]

    def record(self, decided: Iterable[Decision] | Decision) -> None:
        """Store one decision or many."""
        run = self.open_run
        lines = [
            (
                run if d.run is None else d.run,
                d.stage,
                d.subject,
                d.verdict,
                d.reason,
                d.tokens,
                d.at or codec.now(),
            )
            for d in ((decided,) if isinstance(decided, Decision) else decided)
        ]
        if lines:
            self._database.add_many(
                decisions, lines, ("run", "stage", "subject", "verdict", "reason", "tokens", "at")
            )

    def decisions(
        self,
        *,
        run: int | None = None,
        stage: str | None = None,
        subject: str | None = None,
        verdict: str | None = None,
        mentions: str | None = None,
    ) -> list[Decision]:
        """Decisions in order of time.

        `mentions` finds words in the subject or reason, whatever their case.
        """
        wanted = {"run": run, "stage": stage, "subject": subject, "verdict": verdict}
        found = select(*(decisions.c[field.name] for field in fields(Decision))).order_by(
            decisions.c.id
        )
        found = found.where(
            *(decisions.c[name] == value for name, value in wanted.items() if value is not None)
        )
        if mentions is not None:
            there = (
                column.icontains(mentions, autoescape=True)
                for column in (decisions.c.subject, decisions.c.reason)
            )
            found = found.where(or_(*there))
        return [Decision(*line) for line in self._database.query(found)]

    def record_attempt(self, attempt: SqlAttempt) -> None:
        """Store a statement that an agent tried."""
        values = {field.name: getattr(attempt, field.name) for field in fields(SqlAttempt)}
        values |= {
            "run": self.open_run if attempt.run is None else attempt.run,
            "at": attempt.at or codec.now(),
        }
        self._database.add(attempts, **values)
