"""Commands that look at a workspace, verify its pages, and take decisions of people."""

from __future__ import annotations

import dataclasses
import getpass
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sliders.cli import complete
from sliders.cli.complete import (
    ColumnArgument,
    RunArgument,
    SubjectArgument,
    TableArgument,
    WhereOption,
)
from sliders.cli.serve import HostOption, PortOption, TokenOption
from sliders.cli.shell import (
    DEFAULT_WORKSPACE,
    MODEL,
    SHOWN,
    AsExampleOption,
    CommandCall,
    frame_text,
    pairs,
    records,
    say_released,
    takes,
)
from sliders.errors import ModelUnavailable
from sliders.hidden import hide
from sliders.progress import counted
from sliders.store.records import Correction

if TYPE_CHECKING:
    from sliders.api import Workspace

OtherOption = Annotated[
    list[str], typer.Option("--other", metavar="COLUMN=VALUE", help="Same for the other rows.")
]
AuthorOption = Annotated[
    str, typer.Option("--author", help="Who decides; the user's name when left out.")
]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why, for the records.")]
AgainstOption = Annotated[
    int | None,
    typer.Option(
        "--against", metavar="RUN", help="Also show the changes between this run and another one."
    ),
]
ServeOption = Annotated[
    bool,
    typer.Option(
        "--serve", help="Serve it with whole tables in Datasette, to this machine, until Ctrl-C."
    ),
]
_PAGE = Path("audit.html")


def register(app: typer.Typer) -> None:
    """Add the commands of this file to the program."""
    for command in (
        view,
        verify,
        check,
        why,
        conflicts,
        decisions,
        undo,
        tables,
        runs,
        set_value,
        merge,
        split,
        revoke,
        diff,
    ):
        app.command(command.__name__.replace("_", "-"))(command)


@takes("workspace", "as_json")
def view(
    call: CommandCall,
    run: RunArgument = None,
    against: AgainstOption = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")] = _PAGE,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    served: ServeOption = False,
    port: PortOption = 8001,
    host: HostOption = "127.0.0.1",
    token: TokenOption = None,
) -> None:
    """Write a run's audit page, one file that works offline: answer, SQL, rows, words, cost."""
    if served:
        from sliders.audit.page.serve import serve

        def listening(address: str) -> None:
            _listening(address, show, call)

        return serve(call.workspace, run, against, port, listening, host, token)
    with call.opened(write=False) as ws:
        path = ws.view(run, out, against)
    if show:
        webbrowser.open(path.absolute().as_uri())
    return call.show(str(path), {"path": str(path)})


def _listening(address: str, show: bool, call: CommandCall) -> None:
    call.show(f"{address} (Ctrl-C ends it)", {"address": address})
    sys.stdout.flush()
    if show:
        webbrowser.open(address)


@takes("as_json")
def verify(
    call: CommandCall,
    file: Annotated[
        str,
        typer.Argument(
            metavar="<path|url>",
            help="An audit database or a workspace.",
            envvar="SLIDERS_WORKSPACE",
        ),
    ] = DEFAULT_WORKSPACE,
    key: Annotated[
        Path | None, typer.Option(help="The key that an export is signed with.", metavar="KEYFILE")
    ] = None,
) -> int:
    """Check that a file is as it was written, and that its values lead back to words on a page;
    exit code 1 when a check fails.
    """
    from sliders.audit.verify import check_audit

    found = check_audit(file, key)
    lines = found.problems or (f"{hide(file)}: every value walks back to its words",)
    notes = (*(f"note: {note}" for note in found.notes), f"not proven: {found.unproven}")
    call.show("\n".join((*lines, *notes)), dataclasses.asdict(found))
    return 1 if found.problems else 0


@takes("workspace", "as_json")
def check(
    call: CommandCall,
    gold: Annotated[
        Path | None,
        typer.Argument(help="A CSV or Excel file of rows that a person filled."),
    ] = None,
    table: Annotated[str, typer.Option("--table", help="The table that they belong to.")] = "",
    on: Annotated[
        list[str],
        typer.Option("--on", metavar="COLUMN", help="Column to match rows on; repeatable."),
    ] = [],  # noqa: B006
) -> int:
    """Compare a table with rows that a person filled by hand; without a file, run the checks that
    a pinned schema declares. Exit code 1 when something differs.
    """
    with call.opened(write=False) as ws:
        if gold is None:
            failed = ws.failed_checks()
            text = "\n".join(map(str, failed)) or "every check of the schema holds"
            call.show(text, [dataclasses.asdict(one) for one in failed])
            return 1 if failed else 0
        found = ws.check(gold, table, on)
    call.show(str(found), found.to_dict())
    return 0 if found else 1


@takes("workspace", "as_json")
def why(
    call: CommandCall,
    subject: SubjectArgument,
) -> None:
    """Say why a row is here with its words on the page, or why a document is not in the answer."""
    with call.opened(write=False) as ws:
        found = ws.why(subject)
    call.show(str(found), dataclasses.asdict(found))


@takes("workspace", "as_json")
def conflicts(
    call: CommandCall,
    table: Annotated[str | None, typer.Argument(help="Name of a table; all when left out.")] = None,
) -> None:
    """List contradictions that nobody settled; `set-value`, `merge` and `split` settle them."""
    with call.opened(write=False) as ws:
        found = ws.conflicts(table)
    call.show(
        "\n".join(str(c) for c in found) or "no open conflicts",
        [dataclasses.asdict(c) for c in found],
    )


@takes("workspace", "as_json")
def undo(
    call: CommandCall,
    table: TableArgument,
    version: Annotated[
        int | None,
        typer.Option("--version", help="The version to show; the one before when left out."),
    ] = None,
) -> None:
    """Show an earlier version of a table again; no version is deleted."""
    from sliders.engine import corrections

    with call.opened() as ws:
        shown = corrections.undo(ws.session, table, version)
        for decision in ws.decisions(table):
            said = (
                f"decision {decision.id} is in force and applies again at the next: sliders "
                f"reconcile {table}; take it back with: sliders revoke {decision.id}"
            )
            print(f"sliders: {said}", file=sys.stderr)
        call.show(
            f"{table}: version {shown.version} ({shown.operation}), {counted(shown.rows, 'row')}",
            dataclasses.asdict(shown),
        )
        sys.stdout.flush()
        corrections.undo_is_told(ws.session, table)  # killed before, it is not done twice


@takes("workspace", "as_json")
def decisions(
    call: CommandCall,
    table: Annotated[str | None, typer.Argument(help="Name of a table; all when left out.")] = None,
) -> None:
    """List the decisions of people that are in force (`set-value`, `merge`, `split`)."""
    with call.opened(write=False) as ws:
        found = ws.decisions(table)
    lines = [
        f"decision {c.id}: {_told(c)} ({c.author or 'the user'}, {c.created[:10]})" for c in found
    ]
    call.show("\n".join(lines) or "no decisions in force", [dataclasses.asdict(c) for c in found])


def _told(decision: Correction) -> str:
    sides = {
        name: ", ".join(f"{k}={v}" for k, v in decision.subject.get(name, {}).items())
        for name in ("where", "other")
    }
    if decision.kind == "set_value":
        said = f"{decision.table}.{decision.column} = {decision.value!r} where {sides['where']}"
    else:
        said = (
            f"{decision.kind} rows of {decision.table} with {sides['where']} and with "
            f"{sides['other']}"
        )
    return f"{said}; {decision.reason}" if decision.reason else said


@takes("workspace", *MODEL, *SHOWN)
def revoke(
    call: CommandCall,
    number: Annotated[int, typer.Argument(help="The decision, as `sliders decisions` lists it.")],
) -> None:
    """Take a decision back; the table is repaired without it."""
    with call.opened() as ws:
        table = ws.revoke(number).table
        rows = _apply(ws, table, f"decision {number} is taken back")
    call.show(
        f"decision {number} is taken back; {table}: {counted(rows, 'row')}",
        {"decision": number, "rows": rows},
    )


@takes("workspace", *MODEL, *SHOWN)
def set_value(
    call: CommandCall,
    table: TableArgument,
    column: ColumnArgument,
    value: Annotated[
        str,
        typer.Argument(
            help="The value, as it would be printed; put -- before one with a leading dash."
        ),
    ],
    where: WhereOption,
    author: AuthorOption = "",
    reason: ReasonOption = "",
    words: AsExampleOption = "",
) -> None:
    """Decide a value; the decision holds for rows that come later too. Rows that it makes
    alike may need the model.
    """
    rows, who = pairs(where, "--where"), author or _user()
    with call.opened() as ws:
        number = ws.set_value(table, column, value, rows, author=who, reason=reason, example=words)
        _decided(call, ws, table, number, rows)


@takes("workspace", *MODEL, *SHOWN)
def merge(
    call: CommandCall,
    table: TableArgument,
    where: WhereOption,
    other: OtherOption,
    author: AuthorOption = "",
    reason: ReasonOption = "",
) -> None:
    """Decide that two sets of rows are one thing."""
    sides = pairs(where, "--where"), pairs(other, "--other")
    with call.opened() as ws:
        known = ws.conflicts(table)
        number = ws.merge(table, *sides, author=author or _user(), reason=reason)
        _decided(call, ws, table, number, *sides)
        if left := [conflict for conflict in ws.conflicts(table) if conflict not in known]:
            told = (
                "the merge waits: its rows contradict each other in "
                f"{', '.join(dict.fromkeys(c.column for c in left))}"
            )
            how = (
                f"sliders set-value {table} {left[0].column} VALUE --where "
                f"document={left[0].candidates[0].document}"
            )
            print(f"sliders: {told}; decide each, as in: {how}", file=sys.stderr)


@takes("workspace", *MODEL, *SHOWN)
def split(
    call: CommandCall,
    table: TableArgument,
    where: WhereOption,
    other: OtherOption,
    author: AuthorOption = "",
    reason: ReasonOption = "",
) -> None:
    """Decide that two sets of rows are never one thing."""
    sides = pairs(where, "--where"), pairs(other, "--other")
    with call.opened() as ws:
        number = ws.split(table, *sides, author=author or _user(), reason=reason)
        _decided(call, ws, table, number, *sides)


def _decided(
    call: CommandCall, ws: Workspace, table: str, number: int, *sides: dict[str, str]
) -> None:
    """Applies a new decision and prints it; says on standard error which sides name no row."""
    from sliders.engine.corrections import matching

    for side in sides:
        if not matching(ws.session, table, side):
            named = ", ".join(f"{column}={value}" for column, value in side.items())
            print(
                f"sliders: no row of {table} has {named} now; the decision waits for such rows",
                file=sys.stderr,
            )
    rows = _apply(ws, table, f"decision {number} is kept")
    call.show(
        f"decision {number}; {table}: {counted(rows, 'row')}", {"decision": number, "rows": rows}
    )


def _apply(ws: Workspace, table: str, done: str) -> int:
    """Repairs a table, reports its open contradictions, and returns the number of its rows.

    Raises:
        ModelUnavailable: a needed model cannot be reached; the decision stays in force.
    """
    say_released(ws, [table])
    try:
        rows = ws.reconcile([table])[table]
    except ModelUnavailable as error:
        told = (
            f"{done}, but the table is not repaired yet: {error}; then run: sliders "
            f"reconcile {table}"
        )
        raise ModelUnavailable(told) from error
    if left := len(ws.conflicts(table)):
        told = counted(left, "contradiction is", "contradictions are")
        print(f"sliders: {told} open in {table}; see: sliders conflicts {table}", file=sys.stderr)
    return rows


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


@takes("workspace", "as_json", "plain", "format", "csv_safe", "limit")
def tables(
    call: CommandCall,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]", help="Show the rows of one table.", autocompletion=complete.tables
        ),
    ] = None,
) -> None:
    """List data tables, documents and files that were not read, or show the rows of a table."""
    with call.opened(write=False) as ws:
        if name is not None:
            frame = ws.tables[name]
            shown = frame.drop(columns="document_id")
            if call.as_json:
                call.show("", records(frame))
            else:
                print(frame_text(shown, call))
            return
        lines, data = _held(ws)
    call.show("\n".join(lines) or "nothing yet: add documents and ask", data)


def _held(ws: Workspace) -> tuple[list[str], dict[str, Any]]:
    """Tables, documents and files that were not read: as lines, and as plain JSON."""
    from sliders.engine.unread_files import unread_files

    frames = {name: (list(frame.columns), len(frame)) for name, frame in ws.tables.items()}
    extractions, documents = ws.session.catalog.extractions, ws.session.catalog.documents.all()
    filling = frozenset[str]().union(*(extractions.documents_with_rows(name) for name in frames))
    files = unread_files(ws.session)
    lines = [
        f"table {n}: {counted(rows, 'row')} ({', '.join(c)})" for n, (c, rows) in frames.items()
    ]
    lines += [
        f"document {d.name}: {counted(d.characters, 'character')}, version {d.version}"
        + ("" if d.id in filling or not frames else ", no row in any table")
        + "".join(f"; {warning}" for warning in d.warnings)
        for d in documents
    ]
    lines += [f"file {file.name}: {file.kind}; {file.reason}" for file in files]
    shown = [
        {"name": d.name, "id": d.id, "version": d.version}
        | {"rows": d.id in filling, "warnings": d.warnings}
        for d in documents
    ]
    return lines, {
        "tables": [{"name": n, "rows": rows, "columns": c} for n, (c, rows) in frames.items()],
        "documents": shown,
        "files_not_read": [dataclasses.asdict(file) for file in files],
    }


@takes("workspace", "as_json")
def runs(call: CommandCall) -> None:
    """List what was asked and done, with calls, tokens and cost of each run."""
    lines, data = [], []
    with call.opened(write=False) as ws:
        for run in ws.runs():
            spent = ws.session.catalog.calls.usage(run.id).values()
            calls, tokens, cost = (
                sum(u.calls for u in spent),
                sum(u.tokens for u in spent),
                sum(u.cost for u in spent),
            )
            money = f"${cost:.4f}  " if cost else ""
            lines.append(
                (
                    f"{run.id}  {run.started[:19]}  {run.kind}  {run.status}  "
                    f"{counted(calls, 'call')}  {counted(tokens, 'token')}  {money}{run.question}"
                ).rstrip()
            )
            data.append(
                {
                    "id": run.id,
                    "kind": run.kind,
                    "question": run.question,
                    "status": run.status,
                    "started": run.started,
                    "finished": run.finished,
                    "calls": calls,
                    "tokens": tokens,
                    "cost": cost,
                    "outcome": run.outcome,
                }
            )
    call.show("\n".join(lines) or "no runs yet", data)


@takes("workspace", "as_json")
def diff(
    call: CommandCall,
    first: Annotated[
        int | None, typer.Argument(metavar="[RUN]", help="Number of a run; see `sliders runs`.")
    ] = None,
    second: Annotated[
        int | None, typer.Argument(metavar="[RUN]", help="Number of another run.")
    ] = None,
) -> None:
    """Say what changed between two runs, each change with its cause; when left out, the last two
    runs that asked the same.
    """
    with call.opened(write=False) as ws:
        found = ws.diff(first, second)
    call.show(str(found), found.to_dict())
