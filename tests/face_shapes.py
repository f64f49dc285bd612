"""The part of the face that only shows when commands run: exit codes, keys of JSON, tools of
agents, tables of the files.

Every command runs through the function of the console script over four small documents.
A server on loopback answers by rules.
"""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
import json
import os
import re
import signal
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import sliders
import sliders.errors
from sliders.cli import main
from tests.fake_server import FakeServer, Scripted

DOCUMENTS = {
    "anchor.md": "# Report\n\nThe name is Anchor.\n\nThe cost is 12 euros.\n",
    "anchor_again.md": "# Report\n\nThe name is Anchor.\n\nThe cost is 30 euros.\n",
    "beacon.md": "# Report\n\nThe name is Beacon.\n\nThe cost is about 8 euros.\n",
    "weather.md": "# Report\n\nIt rained all day and nothing was bought.\n",
}
ROWS = (
    ("anchor.md", "Anchor", 12, "12 euros"),
    ("anchor_again.md", "Anchor", 30, "30 euros"),
    ("beacon.md", "Beacon", 8, "about 8 euros"),
)
TOTAL, LARGEST, NOTHING = (
    "What is the total cost?",
    "What is the largest cost?",
    "Which cost is above 999?",
)
REFUSED, LATE = (
    "Which cost does the server refuse?",
    "Which cost is asked for when the user interrupts?",
)
STATEMENTS = {
    TOTAL: "SELECT SUM(cost) FROM costs",
    LARGEST: "SELECT name FROM costs ORDER BY cost DESC LIMIT 1",
    NOTHING: "SELECT cost FROM costs WHERE cost > 999",
    REFUSED: "SELECT missing FROM costs",
}


def reply(body: Mapping[str, Any]) -> Scripted:
    """The reply of the server to a request, by the names in the shape of the
    reply that is asked for.
    """
    shape = (body.get("response_format") or {}).get("json_schema", {}).get("schema") or {}
    prompt, asked = (
        "\n".join(str(message["content"]) for message in body["messages"]),
        set(shape.get("properties", {})),
    )
    if REFUSED in prompt and "sql" in asked:
        return Scripted(status=400, error="refused")
    if LATE in prompt:
        os.kill(os.getpid(), signal.SIGINT)
    return Scripted(json.dumps(_data(prompt, asked)))


def _data(prompt: str, asked: set[str]) -> dict[str, Any]:
    if "tables" in asked:
        columns = [
            {"name": "name", "type": "text"},
            {"name": "cost", "type": "number", "unit": "euros"},
        ]
        table = {
            "name": "costs",
            "row": "a thing",
            "rows_per_document": "one",
            "key": ["name"],
            "columns": columns,
        }
        needs = [
            {"question": number, "columns": ["costs.name", "costs.cost"]}
            for number in range(1, prompt.count("?") + 1)
        ]
        return {"tables": [{**table, "key_scope": "collection"}], "needs": needs, "not_covered": []}
    if "rows" in asked:
        rows = [row for row in ROWS if DOCUMENTS[row[0]].split("\n\n", 1)[1].strip() in prompt]
        return {"rows": [{"table": "costs", "cells": _cells(*row[1:])} for row in rows]}
    if "sql" in asked:
        return {
            "action": "answer",
            "sql": STATEMENTS[max(STATEMENTS, key=prompt.rfind)],
            "reason": "",
        }
    if "parts" in asked:
        return {"parts": list(range(1, prompt.count("<part number=") + 1))}
    return {name: [] for name in asked}


def _cells(name: str, cost: int, words: str) -> dict[str, Any]:
    return {"name": {"value": name, "words": [name]}, "cost": {"value": cost, "words": [words]}}


@contextlib.contextmanager
def served(folder: Path) -> Iterator[None]:
    """A folder with the documents as the working folder, and settings that name the server;
    no other setting is left.

    Ctrl-C interrupts, also where whoever started this process had it ignored.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    (folder / "docs").mkdir()
    for name, text in DOCUMENTS.items():
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    others = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SLIDERS_", "OPENAI_"))
    }
    with FakeServer(reply) as server, contextlib.chdir(folder):
        given = {
            "MODEL": "reader",
            "BASE_URL": server.base_url,
            "RETRIES": "0",
            "CACHE_DIR": str(folder / "cache"),
        }
        ours = {f"SLIDERS_{name}": value for name, value in given.items()}
        with mock.patch.dict(
            os.environ, others | ours | {"NO_COLOR": "1", "COLUMNS": "80"}, clear=True
        ):
            yield
    signal.signal(signal.SIGINT, before)


def run(*words: str) -> tuple[int, str, str]:
    """Exit code, output and error output of a command line."""
    out, err = io.StringIO(), io.StringIO()
    line = mock.patch.object(sys, "argv", ["sliders", *words])
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), line:
        try:
            main()
            code: Any = 0
        except SystemExit as end:
            code = end.code or 0
    return code, out.getvalue(), "" if err.closed else err.getvalue()


def printed(*words: str) -> Any:
    """The JSON value that a command line prints.

    Raises:
        RuntimeError: it prints none.
    """
    code, out, err = run(*words, "--json")
    try:
        return json.loads(out)
    except json.JSONDecodeError as error:
        raise RuntimeError(
            f"sliders {' '.join(words)} --json printed no JSON and ended with {code}: {err or out}"
        ) from error


def keys(value: Any, path: str = "") -> set[str]:
    """The paths of all keys in a JSON value; [] stands for every element of a list."""
    if isinstance(value, dict) and value:
        return {found for name, inner in value.items() for found in keys(inner, f"{path}.{name}")}
    if isinstance(value, list) and value:
        return {found for inner in value for found in keys(inner, f"{path}[]")}
    return {path + "[]" * isinstance(value, list)}


def longest(paths: set[str]) -> list[str]:
    """Paths without those of which another one says more: of a list that was empty once, of an
    object that was null once.
    """

    def continues(other: str, path: str) -> bool:
        return other != path and other.startswith(
            (path.removesuffix("[]") + ".", path.removesuffix("[]") + "[")
        )

    return sorted(path for path in paths if not any(continues(other, path) for other in paths))


LINES: Mapping[str, Sequence[tuple[str, ...]]] = {
    "add": [("add", "docs")],
    "ask --dry-run": [("ask", TOTAL, "--dry-run")],
    "ask": [("ask", TOTAL), ("ask", LARGEST), ("ask", NOTHING)],
    "schema": [("schema",)],
    "extract": [("extract",)],
    "reconcile": [("reconcile",)],
    "query": [("query", "SELECT name, cost FROM costs")],
    "explain": [("explain", TOTAL)],
    "explain SQL": [("explain", "SELECT name FROM costs")],
    "explain --workflow": [("explain", TOTAL, "--workflow", "lookup")],
    "tables": [("tables",)],
    "tables TABLE": [("tables", "costs")],
    "conflicts": [("conflicts",)],
    "set-value": [("set-value", "costs", "cost", "12", "--where", "name=Anchor")],
    "set-value of one row": [("set-value", "costs", "cost", "9", "--where", "name=Beacon")],
    "decisions": [("decisions",)],
    "why TABLE": [("why", "costs")],
    "why DOCUMENT": [("why", "anchor.md")],
    "merge": [("merge", "costs", "--where", "name=Anchor", "--other", "name=Beacon")],
    "revoke": [("revoke", "3")],
    "split": [("split", "costs", "--where", "name=Anchor", "--other", "name=Beacon")],
    "ask after decisions": [("ask", TOTAL)],
    "diff": [("diff",)],
    "runs": [("runs",)],
    "undo": [("undo", "costs")],
    "verify": [("verify",)],
    "export": [("export", "audit.db"), ("export", "tables", "--format", "csv")],
    "view": [("view",)],
    "model list": [("model", "list")],
    "model path": [("model", "path")],
}
"""Command lines in an order in which each has something to print, by the entry of the
face that they fill.
"""


def json_keys() -> dict[str, list[str]]:
    """The keys of the JSON that each command prints, one command after the
    other in a new workspace.
    """
    found = {}
    for entry, lines in LINES.items():
        found[entry] = longest({path for words in lines for path in keys(printed(*words))})
    found["ask, several questions"] = longest(
        {path.split(".")[0] for path in keys(printed("ask", TOTAL, LARGEST))}
    )
    rows = [row["row_id"] for row in printed("tables", "costs")]
    found["why ROW"] = longest({path for row in rows for path in keys(printed("why", row))})
    stored = r"\[\]\.outcome\.answers\b.*"  # answers as `ask` prints them
    found["runs"] = sorted({re.sub(stored, "[].outcome.answers[]", path) for path in found["runs"]})
    return found


_INTERNAL = re.compile(
    r"sqlite_|.*_(?:fts|search)_(?:config|content|data|docsize|idx)$|costs__v(?!1$)"
)
"""Tables of SQLite itself, those inside a full-text index, and all versions of a
table but the first.
"""


def relations(path: Path) -> dict[str, list[str]]:
    """Tables and views of a SQLite file with their columns and types."""
    with contextlib.closing(sqlite3.connect(path)) as file:
        known = file.execute(
            "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        ).fetchall()
        columns = {
            name: file.execute("SELECT name, type FROM pragma_table_info(?)", [name]).fetchall()
            for _, name in known
        }
    return {
        f"{kind} {name}": [f"{column} {type_}".strip() for column, type_ in columns[name]]
        for kind, name in known
        if not _INTERNAL.match(name)
    }


def exported() -> dict[str, list[str]]:
    """The files that an export as CSV writes, each with its header."""
    headers = {}
    for path in map(Path, printed("export", "csv", "--format", "csv")):
        with path.open(encoding="utf-8", newline="") as file:
            headers[path.name] = next(csv.reader(file))
    return headers


def agents_tools() -> dict[str, list[str]]:
    """The tools that `sliders mcp` gives to an agent, with their parameters
    and what they return.
    """
    from mcp import Client
    from mcp.server.mcpserver import MCPServer

    found: dict[str, list[str]] = {}

    async def look(server: Any) -> None:
        async with Client(server) as client:
            row = printed("tables", "costs")[0]["row_id"]
            given = {
                "ask": {"question": TOTAL},
                "query": {"sql": "SELECT name FROM costs"},
                "why": {"subject": row},
                "add": {"path": "anchor.md"},
            }
            for tool in (await client.list_tools()).tools:
                shape = tool.input_schema
                parameters = [
                    f"takes {name}: {about['type']}" for name, about in shape["properties"].items()
                ]
                result = (
                    await client.call_tool(tool.name, given.get(tool.name, {}))
                ).structured_content
                found[tool.name] = parameters + [f"gives {path}" for path in longest(keys(result))]

    def serve(server: Any, *_: object) -> None:
        asyncio.run(look(server))

    with mock.patch.object(MCPServer, "run", serve):
        code, _, err = run("mcp", "sliders.db", "--allow-add", "docs")
    if code or not found:
        raise RuntimeError(f"sliders mcp ended with {code}: {err}")
    return found


_LINES_THAT_END: Mapping[str, tuple[str, ...]] = {
    "the version is asked for": ("--version",),
    "no command": (),
    "help of a command": ("ask", "--help"),
    "an unknown command": ("cook",),
    "an unknown option": ("ask", "--colour", "docs", TOTAL),
    "an argument is missing": ("query",),
    "an option's value is no number": ("ask", "docs", TOTAL, "--max-tokens", "many"),
    "an option's value is out of range": ("ask", "docs", TOTAL, "--max-tokens", "0"),
    "an option's value is none of the choices": ("ask", "docs", TOTAL, "--workflow", "guess"),
    "a pair without =": ("set-value", "costs", "cost", "1", "--where", "name"),
    "an answered question": ("ask", TOTAL),
    "an answer that is not found": ("ask", NOTHING),
    "the server refuses the request": ("ask", REFUSED),
    "the limit of tokens is reached": ("ask", "Which cost is the smallest?", "--max-tokens", "1"),
    "the user interrupts": ("ask", LATE),
    "an empty question": ("ask", "docs", ""),
    "no question": ("ask", "docs"),
    "no documents and no workspace": ("ask", TOTAL, "-w", "none.db"),
    "no such document": ("add", "missing.md"),
    "no such workspace": ("tables", "-w", "none.db"),
    "a workspace that is no database": ("tables", "-w", "docs/anchor.md"),
    "a schema that cannot be read": ("schema", "--pin", "docs/anchor.md"),
    "no such table": ("tables", "prices"),
    "no such row": ("why", "0123456789abcdef"),
    "no such decision": ("revoke", "99"),
    "no such run": ("diff", "98", "99"),
    "a statement that writes": ("query", "DELETE FROM costs"),
    "a statement that names no column": ("query", "SELECT price FROM costs"),
    "an export without a format": ("export", "somewhere"),
    "an export into a file's folder": ("export", "docs/anchor.md/audit.db"),
    "an audit database that verifies": ("verify", "audit.db"),
    "an audit database with another quote": ("verify", "changed.db"),
}


def exit_codes() -> dict[str, int]:
    """The exit code of a command line for each way in which it may end."""
    with (
        contextlib.closing(sqlite3.connect("audit.db")) as audit,
        contextlib.closing(sqlite3.connect("changed.db")) as changed,
    ):
        audit.backup(changed)
        changed.execute("UPDATE audit_documents SET text = replace(text, '12 euros', '99 euros')")
        changed.commit()
    return {about: run(*words)[0] for about, words in _LINES_THAT_END.items()}


def exit_codes_of_errors() -> dict[str, int]:
    """The exit code for each error that an operation of a workspace may raise."""
    own = [
        error
        for error in vars(sliders.errors).values()
        if isinstance(error, type) and issubclass(error, Exception)
    ]
    found = {}
    for error in (*own, OSError, BrokenPipeError, RuntimeError, KeyboardInterrupt):
        with mock.patch.object(sliders.Workspace, "runs", side_effect=error("raised on purpose")):
            found[error.__name__] = run("runs")[0]
    return found


def attributes() -> dict[str, list[str]]:
    """The public attributes of the values that the operations of a workspace give."""
    with sliders.Workspace("sliders.db") as workspace:
        answer, schema = workspace.ask(TOTAL), workspace.schema
        values = {
            "add": workspace.add("docs"),
            "ask.completeness": answer.completeness,
            "ask.usage": answer.usage,
            "ask.doubts[0]": answer.doubts[0],
            "ask.completeness.missing[0]": answer.completeness.missing[0],
            "ask.range": answer.range,
            "decisions[0]": workspace.decisions()[0],
            "diff": workspace.diff(),
            "estimate": workspace.estimate([TOTAL]),
            "runs[0]": workspace.runs()[0],
            "schema": schema,
            "schema.tables[0]": schema.tables[0],
            "schema.tables[0].columns[0]": schema.tables[0].columns[0],
            "tables": workspace.tables,
            "why": workspace.why("costs"),
        }
    return {
        name: [member for member in dir(value) if not member.startswith("_")]
        for name, value in values.items()
    }


def shapes(folder: Path) -> dict[str, dict[str, Any]]:
    """All of it; the folder is empty."""
    with served(folder):
        return {
            "JSON of a command": json_keys(),
            "workspace": relations(Path("sliders.db")),
            "audit database": relations(Path("audit.db")),
            "export": exported(),
            "tools of an agent": agents_tools(),
            "attributes of the value of Workspace": attributes(),
            "exit code when": exit_codes(),
            "exit code of an error": exit_codes_of_errors(),
        }
