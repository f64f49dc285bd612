"""Measure the SQL agent alone: gold tables in, answers out.

    python -m benchmarks.sql_answering SUITES_DIR --base-url URL [--suite NAME ...]
        [--drop COLUMN ...] [--out FILE]

SUITES_DIR holds one folder per suite with `dev/gold.json` and `dev/tables/*.csv` (or Markdown
tables in `dev/docs`).
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import hashlib
import json
import re
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI

from sliders.answer import SqlAnswer, TableView, answer_question, profile_tables
from sliders.engine import ways_of
from sliders.errors import QueryError
from sliders.llm import COMPACT, FULL, Dialect, Request, Response, Usage
from sliders.schema import Column, Table
from sliders.values import ColumnType


@dataclass(frozen=True, slots=True)
class Result:
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool = False


class ServerModel:
    """The smallest `Model` over an OpenAI-compatible server."""

    def __init__(
        self, base_url: str, name: str, replies: Path | None = None, dialect: Dialect = COMPACT
    ) -> None:
        self.name, self.dialect = name, dialect
        self._replies = replies
        self.context_tokens = 8192
        self._client = AsyncOpenAI(base_url=base_url, api_key="none", timeout=300)

    def count_tokens(self, text: str) -> int:
        return len(text) // 4

    async def generate(self, request: Request) -> Response:
        schema = request.reply.model_json_schema() if request.reply else request.json_schema
        key = hashlib.sha256(
            repr((self.name, request.messages, schema, request.temperature)).encode()
        ).hexdigest()
        kept = self._replies / f"{key}.json" if self._replies else None
        if kept and kept.exists():
            text, used, seconds = json.loads(kept.read_text(encoding="utf-8"))
        else:
            text, used, seconds = await self._ask(request, schema)
            if kept:
                kept.write_text(json.dumps([text, used, seconds]), encoding="utf-8")
        data = json.loads(text) if schema else None
        return Response(text, data, usage=Usage(1, 0, used[0], used[1], seconds))

    async def _ask(self, request: Request, schema: Any) -> tuple[str, tuple[int, int], float]:
        started = time.monotonic()
        extra: dict[str, Any] = {}
        if schema:
            extra["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": schema, "strict": True},
            }
        reply = await self._client.chat.completions.create(
            model=self.name,
            messages=[{"role": m.role, "content": m.content} for m in request.messages],  # type: ignore[misc]
            max_tokens=request.max_tokens,
            temperature=request.temperature,
            **extra,
        )
        text = reply.choices[0].message.content or ""
        used = reply.usage
        assert used is not None
        return text, (used.prompt_tokens, used.completion_tokens), time.monotonic() - started


def column_type(values: Sequence[str]) -> ColumnType:
    """The type that every stated value has."""
    stated = [value for value in values if value != ""]
    if stated and all(re.fullmatch(r"\d{4}-\d{2}-\d{2}", value) for value in stated):
        return ColumnType.DATE
    if stated and all(re.fullmatch(r"-?(0|[1-9]\d{0,11})", value) for value in stated):
        return ColumnType.INTEGER
    if (
        stated
        and all(re.fullmatch(r"-?\d{1,12}(\.\d+)?", value) for value in stated)
        and any("." in v for v in stated)
    ):
        return ColumnType.NUMBER
    return ColumnType.TEXT


def load(
    connection: sqlite3.Connection,
    name: str,
    header: list[str],
    rows: list[list[str]],
    dropped: set[str],
) -> TableView:
    """One table with `row_id` and typed columns; a `doc` column becomes `document`."""
    columns = []
    places = [
        place
        for place, column in enumerate(header)
        if f"{name}.{column}" not in dropped and column not in dropped
    ]
    for place in places:
        title = "document" if header[place] == "doc" else header[place]
        columns.append(Column(title, column_type([row[place] for row in rows])))
    spec = ", ".join(f'"{column.name}" {column.type.sql}' for column in columns)
    connection.execute(f'CREATE TABLE "{name}" (row_id TEXT, {spec})')
    for number, row in enumerate(rows):
        cells = [row[place] if row[place] != "" else None for place in places]
        connection.execute(
            f'INSERT INTO "{name}" VALUES ({",".join("?" * (len(cells) + 1))})',
            [f"{name}-{number}", *cells],
        )
    return TableView(Table(name, tuple(columns)), document="")


def csv_tables(folder: Path, connection: sqlite3.Connection, dropped: set[str]) -> list[TableView]:
    views = []
    for path in sorted(folder.glob("*.csv")):
        if path.stem in dropped:
            continue
        with path.open(newline="", encoding="utf-8") as stream:
            header, *rows = list(csv.reader(stream))
        views.append(load(connection, path.stem, header, rows, dropped))
    return views


def markdown_table(path: Path, connection: sqlite3.Connection) -> list[TableView]:
    lines = [
        line.strip()
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith("|")
    ]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))] for line in lines]
    header, rows = cells[0], [row for row in cells[2:]]
    names: list[str] = []
    for place, title in enumerate(header):
        name = re.sub(r"\W+", "_", title.lower()).strip("_") or f"column_{place}"
        names.append(name if name not in names else f"{name}_{place}")
    rows = [
        [cell.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+", cell) else cell for cell in row]
        for row in rows
    ]
    width = len(names)
    return [load(connection, "rows", names, [(row + [""] * width)[:width] for row in rows], set())]


def runner(connection: sqlite3.Connection) -> Any:
    def run(sql: str) -> Result:
        try:
            cursor = connection.execute(sql)
        except sqlite3.Error as error:
            raise QueryError(f"SQLite says: {error}") from error
        return Result(tuple(d[0] for d in cursor.description), tuple(cursor.fetchmany(1000)))

    return run


def same(left: Any, right: Any) -> bool:
    """Two cells, as numbers when both are, else as words."""
    try:
        a, b = float(str(left).replace(",", "")), float(str(right).replace(",", ""))
        return abs(a - b) <= 1e-6 * max(1.0, abs(a), abs(b))
    except ValueError:
        words = [" ".join(re.findall(r"\w+", str(side).casefold())) for side in (left, right)]
        return words[0] == words[1]


def right(value: Any, gold: dict[str, Any]) -> bool:
    """The rules of the suites' README; the columns of a table may stand in any order."""
    answer, kind = gold["answer"], gold["answer_type"]
    flat = value if isinstance(value, list) else [value]
    if kind in {"number", "string"}:
        answers = [answer, *gold.get("answers_all", [])] if not isinstance(answer, list) else answer
        return (
            len(flat) == 1
            and not isinstance(flat[0], list)
            and any(same(flat[0], one) for one in answers)
        )
    if kind == "list":
        left = [item[0] if isinstance(item, list) and len(item) == 1 else item for item in flat]
        return len(left) == len(answer) and all(
            any(same(item, one) for item in left) for one in answer
        )
    wanted = answer if answer and isinstance(answer[0], list) else [answer]
    got = flat if flat and isinstance(flat[0], list) else [flat]
    return len(got) == len(wanted) and all(any(row_same(row, one) for row in got) for one in wanted)


def row_same(row: Sequence[Any], gold: Sequence[Any]) -> bool:
    return len(row) == len(gold) and all(any(same(cell, one) for cell in row) for one in gold)


async def measure(
    suite: Path, model: ServerModel, dropped: set[str], limit: int | None
) -> list[dict[str, Any]]:
    gold = json.loads((suite / "dev" / "gold.json").read_text(encoding="utf-8"))[:limit]
    outcomes, cached = [], {}
    for item in gold:
        key = "" if (suite / "dev" / "tables").is_dir() else item["docs"][0]
        if key not in cached:
            connection = sqlite3.connect(":memory:")
            views = (
                markdown_table(suite / "dev" / "docs" / key, connection)
                if key
                else csv_tables(suite / "dev" / "tables", connection, dropped)
            )
            run = runner(connection)
            cached[key] = (views, run, profile_tables(views, run))
        views, run, profiles = cached[key]
        answer: SqlAnswer = await answer_question(
            item["question"], views, run, model, profiles=profiles, writer=ways_of(model).sql
        )
        outcomes.append(
            {
                "suite": suite.name,
                "id": item["id"],
                "question": item["question"],
                "gold": item["answer"],
                "right": right(answer.value, item),
                "value": answer.value,
                "status": answer.status,
                "reason": answer.reason,
                "attempts": [asdict(attempt) for attempt in answer.attempts],
                "calls": answer.usage.calls,
                "prompt_tokens": answer.usage.prompt_tokens,
                "completion_tokens": answer.usage.completion_tokens,
                "seconds": answer.usage.seconds,
            }
        )
        mark = "ok " if outcomes[-1]["right"] else "NF " if answer.status == "not_found" else "BAD"
        print(
            mark,
            item["id"],
            "|",
            item["question"][-110:],
            "|",
            answer.sql[:200].replace("\n", " ") if mark != "ok " else "",
            flush=True,
        )
    return outcomes


async def measure_all(suites: Sequence[Path], options: argparse.Namespace) -> list[dict[str, Any]]:
    dialect = COMPACT if options.dialect == "compact" else FULL
    model = ServerModel(options.base_url, options.model, options.replies, dialect)
    everything: list[dict[str, Any]] = []
    for suite in suites:
        outcomes = await measure(suite, model, set(options.drop), options.limit)
        everything += outcomes
        report(suite.name, outcomes)
    return everything


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", type=Path)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", default="local")
    parser.add_argument("--dialect", choices=["compact", "full"], default="compact")
    parser.add_argument("--suite", action="append", help="only these (repeatable)")
    parser.add_argument(
        "--drop",
        action="append",
        default=[],
        help="leave out a column, table.column, or table (repeatable)",
    )
    parser.add_argument("--limit", type=int)
    parser.add_argument("--out", type=Path)
    parser.add_argument(
        "--replies", type=Path, help="folder that keeps replies: nothing is asked twice"
    )
    options = parser.parse_args()
    if options.replies:
        options.replies.mkdir(parents=True, exist_ok=True)
    names = options.suite or sorted(
        path.parent.parent.name for path in options.suites.glob("*/dev/tables")
    )
    everything = asyncio.run(measure_all([options.suites / name for name in names], options))
    report("all", everything)
    if options.out:
        options.out.write_text(
            json.dumps(everything, ensure_ascii=False, indent=1), encoding="utf-8"
        )


def report(name: str, outcomes: Sequence[dict[str, Any]]) -> None:
    total = len(outcomes)
    mean = {
        key: sum(one[key] for one in outcomes) / total
        for key in ("calls", "prompt_tokens", "completion_tokens", "seconds")
    }
    wrong = sum(not one["right"] and one["status"] == "answered" for one in outcomes)
    print(
        f"== {name}: {sum(one['right'] for one in outcomes)}/{total} right, {wrong} wrong answers; "
        f"a question: {mean['calls']:.2f} calls, "
        f"{mean['prompt_tokens']:.0f} prompt and {mean['completion_tokens']:.0f} generated tokens, "
        f"{mean['seconds']:.1f} s",
        flush=True,
    )


if __name__ == "__main__":
    main()
