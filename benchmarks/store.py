"""Results as rows in a SQLite file: runs, answers and measures; nothing of documents,
questions or gold is kept.
"""

from __future__ import annotations

import csv
import json
import platform
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.environments import OUT

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    run_id TEXT PRIMARY KEY, suite TEXT NOT NULL, system TEXT NOT NULL, model TEXT NOT NULL,
    mode TEXT NOT NULL, documents INTEGER NOT NULL, questions INTEGER NOT NULL,
    started TEXT NOT NULL, finished TEXT NOT NULL DEFAULT '', error TEXT NOT NULL DEFAULT '',
    seed INTEGER NOT NULL DEFAULT 0, machine TEXT NOT NULL, version TEXT NOT NULL,
    packages TEXT NOT NULL, commit_id TEXT NOT NULL, corpus_characters INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS answers (
    run_id TEXT NOT NULL REFERENCES runs, question_id TEXT NOT NULL, status TEXT NOT NULL,
    right INTEGER NOT NULL, calls INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL, seconds REAL NOT NULL, errors INTEGER NOT NULL DEFAULT 0,
    error TEXT NOT NULL DEFAULT '', PRIMARY KEY (run_id, question_id)
);
CREATE TABLE IF NOT EXISTS measures (
    name TEXT NOT NULL, value REAL NOT NULL, unit TEXT NOT NULL DEFAULT '', taken TEXT NOT NULL,
    machine TEXT NOT NULL, commit_id TEXT NOT NULL, PRIMARY KEY (name, commit_id)
);
"""
_TABLES = ("runs", "answers", "measures")


def machine() -> str:
    """Processor, cores, memory and Python, in words."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    cores = 0
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        model = next(
            (x.split(":", 1)[1].strip() for x in lines if x.startswith("model name")), model
        )
        cores = sum(x.startswith("processor") for x in lines)
    memory = Path("/proc/meminfo")
    gigabytes = int(memory.read_text().split()[1]) / 1e6 if memory.exists() else 0.0
    return (
        f"{model}, {cores} cores, {gigabytes:.0f} GB, {platform.system()}, Python "
        f"{platform.python_version()}"
    )


def commit() -> str:
    """Short id of the checkout's commit, with a plus sign when files of it are changed;
    empty outside a checkout.
    """
    here = Path(__file__).parent
    said = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
        cwd=here,
        capture_output=True,
        text=True,
        check=False,
    )
    return said.stdout.strip()


def now() -> str:
    """UTC to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def package_version() -> str:
    """The installed version of the measured package."""
    try:
        return metadata.version("sliders")
    except metadata.PackageNotFoundError:
        return "source"


@dataclass(frozen=True, slots=True)
class RunKey:
    """What makes a run the same run: asked again, it goes on where it stopped."""

    suite: str
    system: str
    model: str
    mode: str
    documents: int
    questions: tuple[str, ...]

    @property
    def id(self) -> str:
        """Readable and stable id."""
        import hashlib

        asked = hashlib.sha256("\n".join(self.questions).encode()).hexdigest()[:8]
        return (
            f"{self.suite}.{self.system}.{self.model}.d{self.documents}.q"
            f"{len(self.questions)}.{asked}"
        )


class Results:
    """The store; opened for the length of a `with` block, and safe for threads."""

    def __init__(self, path: Path = OUT / "results.db") -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, check_same_thread=False)
        self._lock = threading.Lock()
        self._db.row_factory = sqlite3.Row
        self._db.executescript(_SCHEMA)

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    @contextmanager
    def _change(self) -> Iterator[None]:
        with self._lock, self._db:
            yield

    def begin(
        self, key: RunKey, packages: Sequence[str], corpus_characters: int, fresh: bool = False
    ) -> str:
        """Open a run, or the one that stands; `fresh` forgets what it had."""
        with self._change():
            if fresh:
                self._db.execute("DELETE FROM answers WHERE run_id = ?", (key.id,))
                self._db.execute("DELETE FROM runs WHERE run_id = ?", (key.id,))
            self._db.execute(
                "INSERT OR IGNORE INTO runs (run_id, suite, system, model, mode, documents, "
                "questions, started, machine, version, packages, commit_id, corpus_characters) "
                "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
                (
                    key.id,
                    key.suite,
                    key.system,
                    key.model,
                    key.mode,
                    key.documents,
                    len(key.questions),
                    now(),
                    machine(),
                    package_version(),
                    json.dumps(list(packages)),
                    commit(),
                    corpus_characters,
                ),
            )
        return key.id

    def answered(self, run_id: str) -> set[str]:
        """Ids of the questions that a run has an answer for; those that failed are asked again."""
        rows = self._db.execute(
            "SELECT question_id FROM answers WHERE run_id = ? AND status != 'failed'", (run_id,)
        )
        return {row[0] for row in rows}

    def add(self, run_id: str, **answer: Any) -> None:
        """Write one answer; the names are the columns of `answers`."""
        names = ", ".join(answer)
        marks = ", ".join("?" * (len(answer) + 1))
        with self._change():
            self._db.execute(
                f"INSERT OR REPLACE INTO answers (run_id, {names}) VALUES ({marks})",
                (run_id, *answer.values()),
            )

    def finish(self, run_id: str, error: str = "") -> None:
        """Close a run; an error says why it ended early."""
        with self._change():
            self._db.execute(
                "UPDATE runs SET finished = ?, error = ? WHERE run_id = ?",
                (now(), error[:2000], run_id),
            )

    def measure(self, name: str, value: float, unit: str = "") -> None:
        """Write one figure that is not an answer ("engine: utilisation")."""
        with self._change():
            self._db.execute(
                "INSERT OR REPLACE INTO measures VALUES (?,?,?,?,?,?)",
                (name, value, unit, now(), machine(), commit()),
            )

    def keep(self, group: str, figures: Mapping[str, float | None]) -> None:
        """Write the flat figures of another benchmark as "group: name";
        those that were not measured are left out.
        """
        for name, value in figures.items():
            if value is not None:
                self.measure(f"{group}: {name}", float(value))

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Rows of a query as dicts."""
        with self._lock, closing(self._db.execute(sql, tuple(values))) as cursor:
            return [dict(row) for row in cursor]

    def export(self, folder: Path) -> list[Path]:
        """Write every table as CSV, so that results can be committed and read in a diff."""
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for table in _TABLES:
            rows = self.rows(f"SELECT * FROM {table} ORDER BY 1, 2")
            if rows:
                path = folder / f"{table}.csv"
                with path.open("w", newline="", encoding="utf-8") as file:
                    writer = csv.DictWriter(file, list(rows[0]))
                    writer.writeheader()
                    writer.writerows(rows)
                written.append(path)
        return written

    def load(self, folder: Path) -> int:
        """Read the CSV files of `export`; rows and runs that stand already win.

        Returns how many rows were new.
        """
        before = self._db.total_changes
        standing = {row["run_id"] for row in self.rows("SELECT run_id FROM runs")}
        for table in _TABLES:
            path = folder / f"{table}.csv"
            if path.exists():
                with path.open(newline="", encoding="utf-8") as file:
                    self._insert(
                        table,
                        (row for row in csv.DictReader(file) if row.get("run_id") not in standing),
                    )
        return self._db.total_changes - before

    def _insert(self, table: str, rows: Iterable[dict[str, Any]]) -> None:
        with self._change():
            for row in rows:
                marks = ", ".join("?" * len(row))
                self._db.execute(
                    f"INSERT OR IGNORE INTO {table} ({', '.join(row)}) VALUES ({marks})",
                    tuple(row.values()),
                )
