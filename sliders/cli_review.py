"""Commands that look at a workspace and correct it: tables, runs, why, conflicts, decisions of people, verify."""

from __future__ import annotations

import dataclasses
import getpass
from pathlib import Path
from typing import Annotated

import typer

from sliders.cli_shell import (
    DEFAULT_WORKSPACE,
    JsonOption,
    Output,
    PlainOption,
    QuietOption,
    WorkspaceOption,
    opened,
    pairs,
)
from sliders.store.audit import verify_audit

TableArgument = Annotated[str, typer.Argument(help="Name of the table.")]
WhereOption = Annotated[
    list[str], typer.Option("--where", metavar="COLUMN=VALUE", help="Which rows; may be given several times.")
]
OtherOption = Annotated[
    list[str], typer.Option("--other", metavar="COLUMN=VALUE", help="The other rows; may be given several times.")
]
AuthorOption = Annotated[str, typer.Option("--author", help="Who decides; the user's name when left out.")]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why, for the records.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file to the program."""
    for command in (verify, why, conflicts, undo, tables, runs):
        app.command()(command)
    app.command("set-value")(set_value)
    app.command()(merge)
    app.command()(split)


def verify(
    file: Annotated[Path, typer.Argument(help="An audit database or a workspace.")], as_json: JsonOption = False
) -> int:
    """Check that every value of a file walks back to the words on a page; exit code 1 when something does not."""
    problems = verify_audit(file)
    output = Output(as_json)
    output.result("\n".join(problems) or f"{file}: every value walks back to its words", problems)
    return 1 if problems else 0


def why(
    subject: Annotated[str, typer.Argument(help="A row id, a document's name, a chunk id or a table.")],
    workspace: WorkspaceOption = DEFAULT_WORKSPACE, as_json: JsonOption = False,
) -> None:
    """Say why a row is here with its words on the page, or why a document is not in the answer."""
    output = Output(as_json, quiet=True)
    with opened(workspace, output, write=False) as ws:
        found = ws.why(subject)
    output.result(str(found), dataclasses.asdict(found))


def conflicts(
    table: Annotated[str | None, typer.Argument(help="Name of a table; all when left out.")] = None,
    workspace: WorkspaceOption = DEFAULT_WORKSPACE, as_json: JsonOption = False,
) -> None:
    """List contradictions that nothing settled; `set-value`, `merge` and `split` settle them."""
    output = Output(as_json, quiet=True)
    with opened(workspace, output, write=False) as ws:
        found = ws.conflicts(table)
    output.result("\n".join(str(c) for c in found) or "no open conflicts", [dataclasses.asdict(c) for c in found])


def undo(
    table: TableArgument,
    version: Annotated[
        int | None, typer.Option("--version", help="The version to show; the one before when left out.")
    ] = None,
    workspace: WorkspaceOption = DEFAULT_WORKSPACE, as_json: JsonOption = False,
) -> None:
    """Show an earlier version of a table again; no version is deleted."""
    output = Output(as_json, quiet=True)
    with opened(workspace, output) as ws:
        shown = ws.undo(table, version)
    output.result(f"{table}: version {shown.version} ({shown.operation}), {shown.rows} rows", dataclasses.asdict(shown))


def set_value(
    table: TableArgument,
    column: Annotated[str, typer.Argument(help="The column that gets the value.")],
    value: Annotated[str, typer.Argument(help="The value, as it would be printed.")],
    where: WhereOption, author: AuthorOption = "", reason: ReasonOption = "",
    workspace: WorkspaceOption = DEFAULT_WORKSPACE,
    as_json: JsonOption = False, quiet: QuietOption = False, plain: PlainOption = False,
) -> None:
    """Decide a value; the decision holds for rows that come later too."""
    output = Output(as_json, quiet, plain)
    with opened(workspace, output) as ws:
        number = ws.set_value(table, column, value, pairs(where, "--where"), author=author or _user(), reason=reason)
        counts = ws.reconcile([table])
    output.result(f"decision {number}; {table}: {counts[table]} rows", {"decision": number, "rows": counts[table]})


def merge(
    table: TableArgument, where: WhereOption, other: OtherOption, author: AuthorOption = "", reason: ReasonOption = "",
    workspace: WorkspaceOption = DEFAULT_WORKSPACE,
    as_json: JsonOption = False, quiet: QuietOption = False, plain: PlainOption = False,
) -> None:
    """Decide that two sets of rows are one thing."""
    output = Output(as_json, quiet, plain)
    with opened(workspace, output) as ws:
        number = ws.merge(table, pairs(where, "--where"), pairs(other, "--other"), author=author or _user(),
                          reason=reason)
        counts = ws.reconcile([table])
    output.result(f"decision {number}; {table}: {counts[table]} rows", {"decision": number, "rows": counts[table]})


def split(
    table: TableArgument, where: WhereOption, other: OtherOption, author: AuthorOption = "", reason: ReasonOption = "",
    workspace: WorkspaceOption = DEFAULT_WORKSPACE,
    as_json: JsonOption = False, quiet: QuietOption = False, plain: PlainOption = False,
) -> None:
    """Decide that two sets of rows are never one thing."""
    output = Output(as_json, quiet, plain)
    with opened(workspace, output) as ws:
        number = ws.split(table, pairs(where, "--where"), pairs(other, "--other"), author=author or _user(),
                          reason=reason)
        counts = ws.reconcile([table])
    output.result(f"decision {number}; {table}: {counts[table]} rows", {"decision": number, "rows": counts[table]})


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def tables(
    name: Annotated[str | None, typer.Argument(metavar="[TABLE]", help="Show the rows of one table.")] = None,
    workspace: WorkspaceOption = DEFAULT_WORKSPACE, as_json: JsonOption = False,
) -> None:
    """List the data tables and the documents, or show the rows of one table."""
    output = Output(as_json, quiet=True)
    with opened(workspace, output, write=False) as ws:
        if name is not None:
            frame = ws.tables[name]
            output.result(frame.to_string(index=False), frame.to_dict(orient="records"))
            return
        known = {table: list(frame.columns) for table, frame in ws.tables.items()}
        sizes = {table: len(frame) for table, frame in ws.tables.items()}
        documents = ws.session.catalog.documents.all()
    lines = [f"table {table}: {sizes[table]} rows ({', '.join(columns)})" for table, columns in known.items()]
    lines += [f"document {d.name}: {d.characters} characters, version {d.version}" for d in documents]
    output.result("\n".join(lines) or "nothing yet: add documents and ask", {
        "tables": [{"name": t, "rows": sizes[t], "columns": c} for t, c in known.items()],
        "documents": [{"name": d.name, "id": d.id, "version": d.version} for d in documents],
    })


def runs(workspace: WorkspaceOption = DEFAULT_WORKSPACE, as_json: JsonOption = False) -> None:
    """List what was asked and done, with calls, tokens and cost of each run."""
    output = Output(as_json, quiet=True)
    lines, data = [], []
    with opened(workspace, output, write=False) as ws:
        for run in ws.runs():
            spent = ws.session.catalog.calls.usage(run.id).values()
            calls, tokens, cost = sum(u.calls for u in spent), sum(u.tokens for u in spent), sum(u.cost for u in spent)
            lines.append(f"{run.id}  {run.started[:19]}  {run.kind}  {run.status}  {calls} calls  {tokens} tokens  "
                         f"${cost:.4f}  {run.question}".rstrip())
            data.append({"id": run.id, "kind": run.kind, "question": run.question, "status": run.status,
                         "started": run.started, "finished": run.finished, "calls": calls, "tokens": tokens,
                         "cost": cost, "outcome": run.outcome})
    output.result("\n".join(lines) or "no runs yet", data)
