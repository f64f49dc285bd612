"""The commands `ask`, `add`, `schema`, `extract`, `reconcile`, `query`, `explain` and `export`, and
`run`, the one place of the program that catches every exception.

A command imports its modules only when it runs: help and tab completion need only the names.
"""

from __future__ import annotations

import dataclasses
import sys
import webbrowser
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sliders.cli import model as cli_model
from sliders.cli import refresh as cli_refresh
from sliders.cli import review as cli_review
from sliders.cli import serve as cli_mcp
from sliders.cli.complete import DocumentsArgument
from sliders.cli.shell import (
    CLUSTER,
    EXTRACTION,
    LIMITS,
    MODEL,
    SHOWN,
    CommandCall,
    ForOption,
    WorkflowOption,
    frame_text,
    pairs,
    plain_schema,
    result_data,
    say_released,
    schema_text,
    show_added,
    show_plan,
    takes,
)
from sliders.errors import EXIT_CODES, BudgetExceeded, PlanError, SettingsError, SlidersError
from sliders.hidden import safe
from sliders.progress import counted
from sliders.store.records import ExportFormat

if TYPE_CHECKING:
    from sliders.answer.result import Answer

app = typer.Typer(
    name="sliders",
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help=(
        "Turn a pile of documents into a relational database built for the question, and "
        "answer with SQL."
    ),
)
STOPPED, INTERRUPTED = EXIT_CODES[BudgetExceeded], EXIT_CODES[KeyboardInterrupt]


def _version(asked: bool) -> None:
    if asked:
        from importlib import metadata

        print(f"sliders {metadata.version('sliders')}")
        raise typer.Exit


@app.callback()
def _program(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """The options of the program itself."""
    if context.invoked_subcommand is None:
        from sliders.cli.start import next_steps

        print(next_steps() if sys.stdout.isatty() else context.get_help())


TablesArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[TABLE]...", help="Tables; all when left out.")
]


def split_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Splits the words of `sliders ask` into documents and questions.

    The last word is always a question. Each other word is a document when it names one (a file, a
    folder, a glob or an address), and a question when it does not.

    Returns:
        The documents and the questions, each in the order of the words.
    """
    from sliders.documents.discovery import means_documents

    named = [*map(means_documents, words[:-1]), *(False for _ in words[-1:])]
    told = list(zip(words, named, strict=True))
    documents = [word for word, is_document in told if is_document]
    return documents, [word for word, is_document in told if not is_document]


WordsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="[DOCS]... QUESTION...", help="Files, folders, globs or addresses, then questions."
    ),
]
SchemaOption = Annotated[
    Path | None,
    typer.Option(
        "--schema", help="Pin tables and columns: a YAML, JSON or SQL (CREATE TABLE) file."
    ),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Only say what it would cost; no model is called.")
]
OpenOption = Annotated[
    bool, typer.Option("--open", help="Open the audit page of the answer in the browser.")
]


@app.command()
@takes(
    *EXTRACTION,
    "batch",
    "audit_share",
    "ocr",
    *CLUSTER,
    *SHOWN,
    "format",
    "csv_safe",
)
def ask(
    call: CommandCall,
    words: WordsArgument,
    schema: SchemaOption = None,
    workflow: WorkflowOption = "extract_and_query",
    dry_run: DryRunOption = False,
    show: OpenOption = False,
) -> int:
    """Answer questions over documents: add, extract, reconcile, SQL, citations.
    Run it again to go on.
    """
    from sliders.documents.discovery import discover

    documents, questions = _documents_and_questions(words, call.workspace)
    # A wrong path is reported before a workspace is made.
    found = discover(documents, every=True) if documents else []
    with call.opened(new=bool(documents)) as ws:
        if found:
            show_added(ws.add(found))
        if schema is not None:
            ws.pin_schema(schema)
        if dry_run:
            show_plan(ws, questions, workflow, call)
            return 0
        answers = ws.ask_many(questions, workflow=workflow)
        if show:
            page = "audit.html" if "://" in call.workspace else call.workspace
            written = ws.view(path=Path(page).with_suffix(".html"))
            webbrowser.open(written.absolute().as_uri())
    return _show_answers(answers, call)


def _documents_and_questions(words: Sequence[str], workspace: str) -> tuple[list[str], list[str]]:
    """Splits the words of `ask` into documents and questions (`split_words`), and checks them.

    Raises:
        SettingsError: the last word is a document, so that no question was asked.
        PlanError: a question is empty, or there are no documents and no workspace.
    """
    from sliders.documents.discovery import is_there
    from sliders.store.database import workspace_is_there

    documents, questions = split_words(words)
    if any(not question.strip() for question in questions):
        raise PlanError("the question is empty; ask something about the documents")
    if questions and not documents and is_there(questions[-1]):
        raise SettingsError(
            f"no question was asked about {questions[-1]}; add the question at the end, in quotes"
        )
    if not documents and not workspace_is_there(workspace):
        raise PlanError(
            f"no documents: none were named, and workspace {workspace!r} does not exist; name "
            "files or folders before the question"
        )
    return documents, questions


def _show_answers(answers: Sequence[Answer], call: CommandCall) -> int:
    """Prints the answers. Returns 1 when one failed, `STOPPED` (3) for a spent budget, else 0."""
    from sliders.cli.printed_answers import answer_data, answers_printed

    data = [answer_data(answer) for answer in answers] if call.as_json else []
    text = answers_printed(answers, call)
    call.show(text, data[0] if len(data) == 1 else data)
    if any(answer.status == "failed" for answer in answers):
        return 1
    gaps = [gap for answer in answers for gap in answer.completeness.missing]
    return STOPPED if any(gap.kind == "stopped" for gap in gaps) else 0


_ADDED = ("new", "same", "changed", "passed_over", "renamed", "gone", "warnings")


@app.command()
@takes("workspace", "ocr", *CLUSTER, *SHOWN)
def add(
    call: CommandCall,
    documents: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DOCS]...", help="Files, folders, globs or addresses."),
    ] = None,
    tables: Annotated[
        list[Path] | None,
        typer.Option(
            "--table", help="A table of your own: CSV, Excel or Parquet; no model reads it."
        ),
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Take out documents whose file is gone from a folder.")
    ] = False,
) -> None:
    """Read documents into the workspace; documents that it has already are not read again."""
    from sliders.documents.discovery import discover
    from sliders.engine.ingest import AddReport

    if not documents and not tables:
        raise SettingsError("nothing to add; name documents, or a table of your own with --table")
    found = discover(documents, every=True) if documents else []
    with call.opened(new=True) as ws:
        report = ws.add(found, prune=prune) if found else AddReport()
        given = [table for path in tables or () for table in ws.add_table(path)]
    show_added(report)
    call.show(
        "\n".join([str(report)] * bool(found) + [str(table) for table in given]),
        {
            "tables": {table.name: table.rows for table in given},
            "failed": [f.message for f in report.failures],
        }
        | {name: getattr(report, name) for name in _ADDED},
    )


@app.command()
@takes("workspace", *SHOWN)
def remove(
    call: CommandCall,
    documents: DocumentsArgument,
) -> None:
    """Remove documents, with everything that was read from them or quotes them."""
    with call.opened() as ws:
        removed = ws.remove(documents)
    call.show(
        f"removed: {removed}; files that were exported before still hold them",
        dataclasses.asdict(removed),
    )


@app.command()
@takes("workspace", *MODEL, *SHOWN)
def schema(
    call: CommandCall,
    questions: Annotated[
        list[str] | None, typer.Argument(metavar="[QUESTION]...", help="Questions to serve.")
    ] = None,
    pin: Annotated[
        Path | None,
        typer.Option("--pin", help="Pin tables and columns of a YAML, JSON or SQL file."),
    ] = None,
    as_yaml: Annotated[
        bool, typer.Option("--yaml", help="Print it as YAML that can be changed and pinned again.")
    ] = False,
) -> None:
    """Show the schema; with questions, add the columns that they need; with --pin, fix parts
    of it.
    """
    with call.opened(write=bool(questions or pin), new=pin is not None) as ws:
        if pin is not None:
            ws.pin_schema(pin)
        found = ws.induce(questions) if questions else ws.schema
    if as_yaml:
        from sliders.schema.written import schema_yaml

        print(schema_yaml(found), end="")
        return
    call.show(schema_text(found), plain_schema(found.tables))


@app.command()
@takes("workspace", *MODEL, *LIMITS, "concurrency", "unverified", "batch", *CLUSTER, *SHOWN)
def extract(call: CommandCall, tables: TablesArgument = None) -> None:
    """Fill every column of the schema's tables from the documents, and reconcile them."""
    with call.opened() as ws:
        counts = ws.extract(tables or None)
    call.show(
        "\n".join(f"{name}: {counted(count, 'row')} extracted" for name, count in counts.items())
        or "no tables yet: ask a question, or pin a schema",
        counts,
    )


@app.command()
@takes("workspace", *MODEL, *SHOWN)
def reconcile(
    call: CommandCall,
    tables: TablesArgument = None,
    criteria: Annotated[
        list[str] | None,
        typer.Option(
            "--criterion",
            help=(
                "Which source wins from now on, the strongest first: newer_document, "
                "audited_over_unaudited, primary_over_addendum, table_over_prose, "
                "verbatim_over_derived."
            ),
        ),
    ] = None,
) -> None:
    """Repair tables from what was extracted: duplicates, name variants, conflicts, corrections."""
    with call.opened() as ws:
        say_released(ws, tables or [table.name for table in ws.schema.tables])
        counts = ws.reconcile(tables or None, criteria=criteria or None)
    call.show(
        "\n".join(f"{name}: {counted(count, 'row')}" for name, count in counts.items())
        or "no tables yet",
        counts,
    )


@app.command()
@takes("workspace", *MODEL, *LIMITS, "unverified", "batch", *SHOWN, "format", "csv_safe", "limit")
def query(
    call: CommandCall,
    sql: Annotated[
        str, typer.Argument(help="One SELECT over the data tables, or over docs: all documents.")
    ],
    describe: Annotated[
        list[str] | None,
        typer.Option("--describe", metavar="NAME=WORDS", help="What an attribute of docs means."),
    ] = None,
) -> int:
    """Run a SELECT (read-only, with limits); missing cells that it needs are extracted first."""
    frame, stopped = call.known(sql) if not describe else None, False
    if frame is None:
        with call.opened() as ws:
            frame = ws.query(sql, pairs(describe or [], "--describe"))
            stopped = ws.runs()[-1].status == "stopped"
    notes = frame.attrs["notes"]
    for note in [] if call.as_json else notes:
        print(f"sliders: {note}", file=sys.stderr)
    if call.as_json:
        call.show("", result_data(frame, frame.attrs.get("units", ()), notes))
    else:
        print(frame_text(frame, call))
    return 1 if frame.attrs.get("failed") else STOPPED if stopped else 0


@app.command()
@takes("workspace", *MODEL, "doubt_model", *SHOWN)
def explain(
    call: CommandCall,
    questions: Annotated[
        list[str], typer.Argument(metavar="QUESTION...", help="Questions over the workspace.")
    ],
    workflow: WorkflowOption = "extract_and_query",
) -> None:
    """Estimate the calls, tokens, money and minutes of questions; for other workflows, say which
    one and why. No model is called.
    """
    from sliders.engine.query_results import is_sql

    # To plan a query or a reading workflow updates the index of segments: the workspace is
    # opened for writing.
    writes = workflow != "extract_and_query" or any(is_sql(question) for question in questions)
    with call.opened(write=writes) as ws:
        if any(is_sql(question) for question in questions):
            plans = [ws.explain(question) for question in questions]
            call.show("\n\n".join(plans), plans)
            return
        show_plan(ws, questions, workflow, call)


@app.command()
@takes("workspace", *SHOWN)
def export(
    call: CommandCall,
    target: Annotated[
        Path, typer.Argument(help="A file (sqlite, excel) or a folder (csv, parquet).")
    ],
    format: Annotated[
        ExportFormat | None,
        typer.Option("--format", help="When left out, it follows from .db, .sqlite or .xlsx."),
    ] = None,
    csv_safe: Annotated[
        bool,
        typer.Option("--csv-safe", help="CSV with a ' before text that begins like a formula."),
    ] = False,
    purpose: ForOption = None,
    sign: Annotated[
        Path | None,
        typer.Option(help="A file with the key to sign an audit database with.", metavar="KEYFILE"),
    ] = None,
) -> None:
    """Write the audit database (opens in Datasette, DB Browser, pandas), or the tables as
    csv, parquet or excel.
    """
    if purpose and format not in (None, "sqlite", purpose):
        raise SettingsError(f"--for {purpose} and --format {format} ask for two formats")
    if csv_safe and format not in (None, "csv"):
        raise SettingsError(f"--csv-safe and --format {format} ask for two formats")
    with call.opened(write=False) as ws:
        chosen: ExportFormat | None = purpose or ("csv-safe" if csv_safe else format)
        paths = [str(path) for path in ws.export(target, chosen, sign)]
    if purpose:
        print("sliders: open it: datasette", *paths[:1], "--metadata", *paths[1:], file=sys.stderr)
    call.show("\n".join(paths) or "no tables yet", paths)


cli_refresh.register(app)
cli_review.register(app)
cli_mcp.register(app)
app.add_typer(cli_model.app, name="model")


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line (of `sys.argv` when None). Returns the exit code: 0 done, 1 failed, 2 a
    wrong word or setting, 3 stopped by a budget, 130 interrupted.

    It never prints secrets or terminal escapes.
    """
    with (
        redirect_stdout(safe(sys.stdout, messages=False)),
        redirect_stderr(safe(sys.stderr, messages=True)),
    ):
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = app(
            args=None if arguments is None else list(arguments),
            prog_name="sliders",
            standalone_mode=False,
        )
    except typer.TyperException as error:
        said, place = (
            error.format_message(),
            getattr(getattr(error, "ctx", None), "command_path", "sliders"),
        )
        return _fail(
            f"{said if said.endswith(('.', '?')) else f'{said}.'} See: {place} --help",
            error.exit_code,
        )
    except SlidersError as error:
        return _fail(
            str(error), next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind))
        )
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        gone = isinstance(error, FileNotFoundError) and not error.filename
        where = "the folder of this command is gone" if gone else error.filename or "the system"
        return _fail(f"{where}: {error.strerror or error}", 1)
    except Exception as error:  # noqa: BLE001 - the user gets one line, whatever broke
        return _fail(
            f"unexpected {type(error).__name__}: {error}; please report it with the command", 1
        )
    if code == INTERRUPTED:  # typer swallows the exception itself
        return _fail(
            "interrupted; what was done is kept, the same command goes on from there", code
        )
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int) -> int:
    """Prints an error as one line, and returns the exit code."""
    print("sliders: " + " ".join(message.split()), file=sys.stderr)
    return code


def main() -> None:
    """The console script: runs the command line and exits."""
    sys.exit(run())
