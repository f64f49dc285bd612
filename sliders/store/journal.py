"""The journal: runs, decisions and SQL attempts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sliders.store import codec
from sliders.store.database import Database
from sliders.store.migrations import now
from sliders.store.records import Decision, Run, RunStatus, SqlAttempt


class Journal:
    """What happened, when and why. Decisions and attempts belong to the run that is open, unless they name another."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._run: int | None = None

    @property
    def open_run(self) -> int | None:
        """Number of the run that is open, None outside one."""
        return self._run

    def start_run(self, kind: str, question: str = "", settings: Mapping[str, Any] | None = None) -> int:
        """Open a run ("ask", "extract", "query" ...); its number. Decisions from now on belong to it."""
        self._run = self._database.insert(
            "INSERT INTO sl_runs (kind, question, status, started, settings, outcome) VALUES (?,?,'running',?,?,'{}')",
            (kind, question, now(), codec.dump(dict(settings or {}))),
        )
        return self._run

    def finish_run(self, run: int, status: RunStatus, outcome: Mapping[str, Any] | None = None) -> None:
        """Close a run with what is kept of it as plain JSON."""
        self._database.execute(
            "UPDATE sl_runs SET status = ?, finished = ?, outcome = ? WHERE id = ?",
            (status, now(), codec.dump(dict(outcome or {})), run),
        )
        if self._run == run:
            self._run = None

    def runs(self) -> list[Run]:
        """All runs, oldest first; one that was killed is still "running"."""
        rows = self._database.query(
            "SELECT id, kind, question, status, started, finished, settings, outcome FROM sl_runs ORDER BY id"
        )
        return [
            Run(number, kind, question, status, started, finished or "", codec.load(settings), codec.load(outcome))
            for number, kind, question, status, started, finished, settings, outcome in rows
        ]

    def record(self, decisions: Iterable[Decision] | Decision) -> None:
        """Store one decision or many."""
        many = (decisions,) if isinstance(decisions, Decision) else decisions
        run = self._run
        values = [
            (run if d.run is None else d.run, d.stage, d.subject, d.verdict, d.reason, d.tokens, d.at or now())
            for d in many
        ]
        if values:
            self._database.insert_many(
                "INSERT INTO sl_decisions (run, stage, subject, verdict, reason, tokens, at) VALUES (?,?,?,?,?,?,?)",
                values,
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
        """Decisions in order of time. `mentions` finds words in the subject or reason, whatever their case."""
        rows = self._database.query(
            """SELECT stage, subject, verdict, reason, tokens, run, at FROM sl_decisions
            WHERE (?1 IS NULL OR run = ?1) AND (?2 IS NULL OR stage = ?2) AND (?3 IS NULL OR subject = ?3)
            AND (?4 IS NULL OR verdict = ?4)
            AND (?5 IS NULL OR instr(lower(subject), lower(?5)) OR instr(lower(reason), lower(?5))) ORDER BY id""",
            (run, stage, subject, verdict, mentions),
        )
        return [Decision(*row) for row in rows]

    def record_attempt(self, attempt: SqlAttempt) -> None:
        """Store a statement that an agent tried."""
        self._database.execute(
            """INSERT INTO sl_sql_attempts (run, stage, question, sql, outcome, detail, rows, seconds, at)
            VALUES (?,?,?,?,?,?,?,?,?)""",
            (
                attempt.run if attempt.run is not None else self._run, attempt.stage, attempt.question, attempt.sql,
                attempt.outcome, attempt.detail, attempt.rows, attempt.seconds, attempt.at or now(),
            ),
        )  # fmt: skip
