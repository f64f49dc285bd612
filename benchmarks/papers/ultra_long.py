"""WikiCeleb100 and FinQ100 (questions as printed, documents brought by the user),
UDA-Bench and QUEST layouts.
"""

from __future__ import annotations

import csv
import re
import sqlite3
from pathlib import Path
from typing import Any

import yaml

from benchmarks.papers.common import PaperDataError, Prepared, number_or_text

_PRINTED = Path(__file__).with_name("printed_questions.yaml")
_READABLE = {".txt", ".md", ".html", ".htm", ".pdf"}


def _printed(name: str, source: Path, limit: int | None) -> Prepared:
    printed = yaml.safe_load(_PRINTED.read_text(encoding="utf-8"))[name]
    documents = (
        sorted(p for p in source.rglob("*") if p.suffix.lower() in _READABLE)
        if source.is_dir()
        else []
    )
    if not documents:
        raise PaperDataError(
            f"{source} holds no documents; bring {printed['documents']} as "
            f"{', '.join(sorted(_READABLE))}"
        )
    prepared = Prepared(name, scope="all")
    for path in documents:
        prepared.documents[path.name] = path
    for number, (question, answer) in enumerate(printed["questions"], start=1):
        if limit is not None and number > limit:
            break
        typed, kind = (answer, "list") if isinstance(answer, list) else number_or_text(answer)
        prepared.ask(
            f"{name}-{number:02d}",
            question,
            typed,
            f"{name}_printed",
            kind,
            notes="gold as printed in the paper, for the paper's snapshot of the documents",
        )
    return prepared


def wikiceleb100(source: Path, limit: int | None = None) -> Prepared:
    """A folder with the 100 articles."""
    return _printed("wikiceleb100", source, limit)


def finq100(source: Path, limit: int | None = None) -> Prepared:
    """A folder with the 100 filings."""
    return _printed("finq100", source, limit)


def udabench(source: Path, limit: int | None = None) -> Prepared:
    """One set of UDA-Bench: `Data/<Set>/*.csv` (gold), `Query/<Set>/<Kind>/*.sql`, and the
    texts in `Docs/<Set>/`.

    `source` is the set's name joined to the checkout: `CHECKOUT#Set`, or a checkout with one set.
    Each query is the question, its gold is the query's result over the gold tables.
    """
    checkout, _, chosen = str(source).partition("#")
    root = Path(checkout)
    sets = (
        sorted(p.name for p in (root / "Query").iterdir() if p.is_dir())
        if (root / "Query").is_dir()
        else []
    )
    if not sets:
        raise PaperDataError(f"{root}/Query is missing; clone the benchmark's repository")
    name = chosen or sets[0]
    return _queries(
        f"udabench_{name}", root / "Data" / name, root / "Query" / name, root / "Docs" / name, limit
    )


def quest(source: Path, limit: int | None = None) -> Prepared:
    """QUEST's layout: a folder with `tables/*.csv`, `queries/*.sql` and `docs/`."""
    return _queries("quest", source / "tables", source / "queries", source / "docs", limit)


def _queries(name: str, gold: Path, queries: Path, docs: Path, limit: int | None) -> Prepared:
    for folder, what in ((gold, "gold CSV files"), (queries, "query files"), (docs, "documents")):
        if not folder.is_dir() or not any(p.is_file() for p in folder.rglob("*")):
            raise PaperDataError(
                f"{folder} holds no {what}; the benchmark's page says where they are"
            )
    prepared = Prepared(name, scope="all")
    for path in sorted(p for p in docs.rglob("*") if p.suffix.lower() in _READABLE):
        prepared.documents[path.name] = path
    connection = sqlite3.connect(":memory:")
    for path in sorted(gold.glob("*.csv")):
        _load(connection, path)
        prepared.tables[path.stem.lower()] = path
    for path in sorted(queries.rglob("*.sql")):
        for number, sql in enumerate(_statements(path.read_text(encoding="utf-8")), start=1):
            if limit is not None and len(prepared.gold) >= limit:
                return prepared
            try:
                rows = [list(row) for row in connection.execute(sql).fetchall()]
            except sqlite3.Error:
                continue  # a query in a dialect that SQLite does not have has no gold here
            prepared.ask(
                f"{path.stem}-{number:03d}", sql, rows, f"sql_{path.parent.name.lower()}", "table"
            )
    return prepared


def _statements(text: str) -> list[str]:
    bare = re.sub(r"--[^\n]*", "", text)
    return [statement.strip() for statement in bare.split(";") if statement.strip()]


def _typed(value: str) -> Any:
    try:
        return int(value)
    except ValueError:
        try:
            return float(value)
        except ValueError:
            return value if value != "" else None


def _load(connection: sqlite3.Connection, path: Path) -> None:
    with path.open(newline="", encoding="utf-8-sig") as file:
        header, *rows = list(csv.reader(file))
    quoted = ['"' + column.replace('"', '""') + '"' for column in header]
    connection.execute(f'CREATE TABLE "{path.stem.lower()}" ({", ".join(quoted)})')
    marks = ", ".join("?" * len(header))
    values = [[_typed(v) for v in (row + [""] * len(header))[: len(header)]] for row in rows]
    connection.executemany(f'INSERT INTO "{path.stem.lower()}" VALUES ({marks})', values)
