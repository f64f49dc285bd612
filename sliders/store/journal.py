"""The journal: runs, decisions and SQL attempts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from sqlalchemy import select, update

from sliders.store import codec
from sliders.store.database import Database
from sliders.store.layout import attempts, decision_rows, decisions, runs
from sliders.store.records import Decision, Run, RunStatus, SqlAttempt

_COLUMNS = {
    field.name: {"table": "table_name", "column": "column_name", "chunk": "chunk_id"}.get(
        field.name, field.name
    )
    for field in fields(Decision)
    if field.name != "rows"
}
"""The columns of a stored decision, by its fields."""
_ALWAYS = frozenset({"stage", "kind", "verdict", "reason"})
_DECISIONS = select(decisions.c.id, *(decisions.c[column] for column in _COLUMNS.values()))
_NAMED = (
    select(decision_rows.c.decision, decision_rows.c.row_id)
    .join_from(decision_rows, decisions)
    .order_by(decision_rows.c.decision, decision_rows.c.row_id)
)


class Journal:
    """The record of one run: decisions and SQL attempts belong to it, unless they name another run.

    Args:
        beside: the journal of another run of this process, so that neither takes the other's run
            for a killed one.
    """

    def __init__(self, database: Database, beside: Journal | None = None) -> None:
        self._database = database
        self._running: set[int] = set() if beside is None else beside._running
        self.open_run: int | None = None
        """Number of the run that is open, None outside one."""

    def start_run(
        self, kind: str, question: str = "", settings: Mapping[str, Any] | None = None
    ) -> int:
        """Opens a run ("ask", "extract", "query" ...), and returns its number. Decisions from now
        on belong to it.

        A file has one writer; so runs of earlier processes that are still "running" were killed,
        and become "stopped".
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
        """Closes a run, with its outcome as plain JSON."""
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
        """Returns all runs, oldest first. A run that was killed is "stopped" when it is read from a
        file to which no process writes; elsewhere it is "running" until the next run starts.
        """
        lines = self._database.query(
            select(*(runs.c[field.name] for field in fields(Run))).order_by(runs.c.id)
        )
        ended = any(line[3] == "running" for line in lines) and not (
            self._database.engine.may_be_written()
        )
        return [
            Run(
                number,
                kind,
                question,
                "stopped" if ended and status == "running" else status,
                started,
                finished or "",
                codec.load(settings),
                codec.load(outcome),
            )
            for number, kind, question, status, started, finished, settings, outcome in lines
        ]

    def record(self, decided: Iterable[Decision] | Decision) -> None:
        """Stores one decision or several."""
        listed = [decided] if isinstance(decided, Decision) else list(decided)
        lines = [self._line(one) for one in listed]
        if any(one.rows for one in listed):
            with self._database.transaction():
                for one, line in zip(listed, lines, strict=True):
                    number = self._database.add(decisions, **line)
                    rows = ((number, row) for row in dict.fromkeys(one.rows))
                    self._database.add_many(decision_rows, rows)
        elif lines:
            self._database.add_many(
                decisions, (tuple(line.values()) for line in lines), tuple(lines[0])
            )

    def _line(self, one: Decision) -> dict[str, Any]:
        """A decision as the columns of its table."""
        given = {column: getattr(one, name) for name, column in _COLUMNS.items()}
        run = self.open_run if one.run is None else one.run
        given |= {"run": run, "at": one.at or codec.now()}
        kept = {c: value if value != "" or c in _ALWAYS else None for c, value in given.items()}
        return {c.name: kept[c.name] for c in decisions.c if c.name in kept}

    def decisions(self, *, row: str | None = None, **wanted: str | int) -> list[Decision]:
        """Returns decisions in order of time.

        Args:
            row: the id of an extracted row that they name.
            wanted: values that their fields must have.
        """
        here = [decisions.c[_COLUMNS[name]] == value for name, value in wanted.items()]
        if row is not None:
            named = select(decision_rows.c.decision).where(decision_rows.c.row_id == row)
            here.append(decisions.c.id.in_(named))
        lines = self._database.query(_DECISIONS.where(*here).order_by(decisions.c.id))
        rows: dict[int, list[str]] = {}
        for number, one in self._database.query(_NAMED.where(*here)):
            rows.setdefault(number, []).append(one)
        found = []
        for number, *line in lines:
            told: dict[str, Any] = dict(zip(_COLUMNS, line, strict=True))
            told = {name: "" if value is None else value for name, value in told.items()}
            told["run"] = told["run"] or None
            found.append(Decision(**told, rows=tuple(rows.get(number, ()))))
        return found

    def record_attempt(self, attempt: SqlAttempt) -> None:
        """Stores a statement that an agent tried."""
        values = {field.name: getattr(attempt, field.name) for field in fields(SqlAttempt)}
        values |= {
            "run": self.open_run if attempt.run is None else attempt.run,
            "at": attempt.at or codec.now(),
        }
        self._database.add(attempts, **values)
