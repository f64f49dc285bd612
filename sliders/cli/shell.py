"""The parts that all commands share: options, output modes, opening a workspace, printing
results.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from sliders.errors import SettingsError, StoreError
from sliders.progress import counted
from sliders.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

    from sliders.api import Workspace
    from sliders.engine.ingest import AddReport
    from sliders.schema.types import Schema

T = TypeVar("T")
DEFAULT_WORKSPACE = "sliders.db"
MODEL = ("model", "dialect", "base_url", "api_key")
LIMITS = ("max_tokens", "max_cost", "max_minutes")
EXTRACTION = (
    "workspace",
    *MODEL,
    "extract_model",
    "doubt_model",
    *LIMITS,
    "concurrency",
    "unverified",
)
CLUSTER = ("executor", "ray_address")
SHOWN = ("as_json", "quiet", "plain")
Format = Literal["table", "csv", "json", "markdown"]
Workflow = Literal[
    "extract_and_query", "auto", "lookup", "split", "stepwise", "candidates", "whole_context"
]

_OPTIONS: Mapping[str, Any] = {
    "workspace": Annotated[
        str,
        typer.Option(
            "--workspace",
            "-w",
            envvar="SLIDERS_WORKSPACE",
            metavar="<path|url>",
            help=(
                "The workspace: a file, or postgresql+psycopg://user@host/database?schema=NAME; "
                "`ask` and `add` make it."
            ),
        ),
    ],
    "model": Annotated[
        str | None,
        typer.Option("--model", help="Model name, or a GGUF file; the embedded one when left out."),
    ],
    "dialect": Annotated[
        Literal["auto", "full", "compact"] | None,
        typer.Option(
            "--dialect",
            help="How the model is asked; auto: compact for the embedded one and small GGUF files.",
        ),
    ],
    "base_url": Annotated[
        str | None, typer.Option("--base-url", help="Address of an OpenAI-compatible server.")
    ],
    "api_key": Annotated[
        str | None, typer.Option("--api-key", help="Its key; better in OPENAI_API_KEY.")
    ],
    "extract_model": Annotated[
        str | None, typer.Option("--extract-model", help="Another model for the extraction.")
    ],
    "doubt_model": Annotated[
        str | None,
        typer.Option("--doubt-model", help="A second model, asked about doubtful cells alone."),
    ],
    "max_tokens": Annotated[
        int | None, typer.Option("--max-tokens", help="Stop cleanly after so many tokens.")
    ],
    "max_cost": Annotated[
        float | None, typer.Option("--max-cost", help="Stop cleanly after so many US dollars.")
    ],
    "max_minutes": Annotated[
        float | None, typer.Option("--max-minutes", help="Stop cleanly after so many minutes.")
    ],
    "concurrency": Annotated[
        int | None, typer.Option("--concurrency", help="Requests in flight at a time.")
    ],
    "batch": Annotated[
        bool | None,
        typer.Option(
            "--batch",
            help="Read by the provider's Batch interface: half the price, replies within hours.",
            show_default=False,
        ),
    ],
    "unverified": Annotated[
        bool | None,
        typer.Option(
            "--unverified",
            help="Also use values that were not found in the text or did not parse.",
            show_default=False,
        ),
    ],
    "audit_share": Annotated[
        float | None,
        typer.Option(
            "--audit-share",
            help=(
                "Share (0 to 1) of the left-out parts that are read after all, to measure how they "
                "would change an answer."
            ),
        ),
    ],
    "ocr": Annotated[
        Literal["auto", "off", "all"] | None,
        typer.Option(
            "--ocr",
            help="What OCR reads: scans and pictures, nothing, or office files' pictures too.",
        ),
    ],
    "executor": Annotated[
        Literal["local", "ray"] | None,
        typer.Option(
            "--executor", help="Where documents and chunks are read: here, or on a Ray cluster."
        ),
    ],
    "ray_address": Annotated[
        str | None,
        typer.Option(
            "--ray-address", help="The cluster's address; one on this machine when left out."
        ),
    ],
    "as_json": Annotated[
        bool,
        typer.Option("--json", help="Machine-readable result on standard output, nothing else."),
    ],
    "quiet": Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")],
    "plain": Annotated[
        bool,
        typer.Option(
            "--plain",
            help="Progress as plain lines, tables with a line for each value: for screen readers.",
        ),
    ],
    "format": Annotated[
        Format,
        typer.Option("--format", help="How the result is printed; json is the same as --json."),
    ],
    "limit": Annotated[
        int, typer.Option("--limit", min=0, help="Rows that a table shows, 0 for all of them.")
    ],
    "csv_safe": Annotated[
        bool,
        typer.Option("--csv-safe", help="CSV with a ' before text that begins like a formula."),
    ],
}
"""The options that commands share: those of `CommandCall`, and settings under their own names."""
_DEFAULTS: Mapping[str, Any] = {
    "workspace": DEFAULT_WORKSPACE,
    **dict.fromkeys((*SHOWN, "csv_safe"), False),
    "format": "table",
    "limit": 100,
}
AsExampleOption = Annotated[
    str,
    typer.Option(
        "--as-example",
        metavar="WORDS",
        help="Words of the document that show the value: readers of other documents get them as an "
        "example.",
    ),
]
ForOption = Annotated[
    Literal["datasette"] | None,
    typer.Option(
        "--for",
        help="An audit database, and metadata beside it: titles, units, facets, a query for each "
        "question.",
    ),
]
WorkflowOption = Annotated[
    Workflow,
    typer.Option(
        "--workflow",
        help=(
            "Answer by tables and SQL, by auto (the cheapest way that can), or by "
            "one way of reading."
        ),
    ),
]


@dataclass(frozen=True, slots=True)
class CommandCall:
    """The options of a command: its workspace, the form of its output, and the settings that its
    flags name.
    """

    workspace: str = DEFAULT_WORKSPACE
    as_json: bool = False
    quiet: bool = True
    plain: bool = False
    format: Format = "table"
    csv_safe: bool = False
    limit: int = 0
    flags: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Makes `--json` and `--format json` the same, and sets CSV for `--csv-safe`.

        Raises:
            SettingsError: the options name two formats.
        """
        if self.csv_safe and self.format in ("table", "csv"):
            object.__setattr__(self, "format", "csv")
        elif self.csv_safe:
            raise SettingsError(f"--csv-safe and --format {self.format} ask for two formats")
        if self.as_json and self.format not in ("table", "json"):
            raise SettingsError(f"--json and --format {self.format} ask for two formats: name one")
        object.__setattr__(self, "as_json", self.as_json or self.format == "json")

    @contextmanager
    def opened(self, *, write: bool = True, new: bool = False) -> Iterator[Workspace]:
        """Opens the workspace for the `with` block, with progress on standard error.

        Args:
            write: False opens it for reading, beside a process that writes.
            new: True makes the workspace when there is none.

        Raises:
            StoreError: there is no workspace.
            SettingsError: a flag or variable has a wrong value.
        """
        from sliders.api import Workspace
        from sliders.progress import Display, choose_mode
        from sliders.store.database import workspace_is_there

        place, settings = self.workspace, Settings.from_env(**self.flags)
        if not new and not workspace_is_there(place):
            raise StoreError(
                f"workspace {place!r} does not exist; check the path, or make it: sliders add "
                f"FOLDER -w {place}"
            )
        with (
            Display(choose_mode(quiet=self.quiet or self.as_json, plain=self.plain)) as display,
            Workspace(place, settings=settings, report=display.update, write=write) as ws,
        ):
            yield ws

    def known(self, sql: str) -> pd.DataFrame | None:
        """Returns the result of a query whose cells are all known, read beside a process that may
        be writing; None when cells must be read first.
        """
        from sliders.engine.query_results import known_frame

        with ExitStack() as stack:
            try:
                ws = stack.enter_context(self.opened(write=False))
            except StoreError:
                # what is wrong with it, or that it has to be brought up to date,
                # is the writer's to say
                return None
            return known_frame(ws.session, sql)

    def show(self, text: str, data: Any) -> None:
        """Prints the result on standard output: `data` as JSON, or `text`."""
        print(
            json.dumps(plain_json(data), ensure_ascii=False, indent=2, default=str)
            if self.as_json
            else text
        )


def takes(*options: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Returns a decorator that adds shared options to a command; its function gets them as its
    first argument, a `CommandCall`.
    """

    def wrap(function: Callable[..., T]) -> Callable[..., T]:
        own = list(signature(function, eval_str=True).parameters.values())[1:]
        shared = [
            Parameter(
                name, Parameter.KEYWORD_ONLY, default=_DEFAULTS.get(name), annotation=_OPTIONS[name]
            )
            for name in options
        ]

        def run(**given: Any) -> T:
            flags = {name: given.pop(name) for name in options}
            told = {name: flags.pop(name) for name in _DEFAULTS if name in flags}
            return function(CommandCall(**told, flags=flags), **given)

        run.__name__, run.__doc__ = function.__name__, function.__doc__
        run.__signature__ = Signature(  # type: ignore[attr-defined]
            [*(p.replace(kind=Parameter.KEYWORD_ONLY) for p in own), *shared]
        )
        run.__annotations__ = {}
        return run

    return wrap


def plain_json(data: Any) -> Any:
    """Returns plain JSON; a missing value, or a number that is not finite, is null."""
    if isinstance(data, Mapping):
        return {str(name): plain_json(value) for name, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [plain_json(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Returns the rows of a frame by column name; the second of two columns with one name is
    `name_2`.
    """
    names: list[str] = []
    for name in map(str, frame.columns):
        same = sum(
            known == name or (known.startswith(f"{name}_") and known[len(name) + 1 :].isdigit())
            for known in names
        )
        names.append(f"{name}_{same + 1}" if name in names else name)
    rows = zip(frame.astype(object).to_numpy(), frame.isna().to_numpy(), strict=True)
    return [
        {n: None if gone else v for n, v, gone in zip(names, *row, strict=True)} for row in rows
    ]


def say_released(ws: Workspace, tables: Sequence[str]) -> None:
    """Says on standard error that repairs of these tables which were undone are made again."""
    from sliders.engine.undone_repairs import undone_rows

    for table in tables:
        if held := len(undone_rows(ws.session, table)):
            repairs = f"repairs of {counted(held, 'row')} of {table} that were undone"
            print(f"sliders: {repairs} are made again", file=sys.stderr)


def result_data(frame: pd.DataFrame, units: Sequence[str], notes: Sequence[str]) -> dict[str, Any]:
    """Returns a result as the JSON of `ask` and `query`: column names, known units, rows by column
    name, and notes.
    """
    rows = records(frame)
    names = list(rows[0]) if rows else list(map(str, frame.columns))
    known = {name: unit for name, unit in zip(names, units, strict=False) if unit}
    return {"columns": names, "units": known, "rows": rows, "notes": list(notes)}


def frame_text(frame: pd.DataFrame, call: CommandCall) -> str:
    """Returns a frame in the format of the call; missing values are empty."""
    from sliders.answer.result_shape import table_of
    from sliders.cli.printed_tables import csv_text, markdown_table, printed_table

    columns, units = list(map(str, frame.columns)), frame.attrs.get("units", ())
    most = call.limit if call.format == "table" and call.limit else None
    rows = [tuple(row.values()) for row in records(frame[:most])]
    if call.format == "csv":
        return csv_text(columns, rows, units, call.csv_safe)
    if not rows:
        return "no rows"
    table = table_of(columns, rows, units)
    if call.format == "markdown":
        return markdown_table(table)
    return printed_table(table, call.plain, total=len(frame))


def show_added(report: AddReport) -> None:
    """Prints failed files, passed-over files and warnings on standard error, a line each."""
    from sliders.answer.doubts import named

    for failure in report.failures:
        print(f"sliders: skipped {' '.join(failure.message.split())}", file=sys.stderr)
    for warning in report.warnings:
        print(f"sliders: {warning}", file=sys.stderr)
    if report.passed_over:
        files = counted(len(report.passed_over), "file")
        print(
            f"sliders: passed over {files} of kinds that are not read: "
            f"{named(report.passed_over)}; list them with: sliders tables",
            file=sys.stderr,
        )


def show_plan(
    ws: Workspace, questions: Sequence[str], workflow: Workflow, call: CommandCall
) -> None:
    """Prints the estimated cost of tables and the hints in the questions; for other workflows, the
    workflow and the reasons for it.
    """
    from sliders.compact.hint_patterns import parse_hints

    if workflow != "extract_and_query":
        plans = [ws.plan(question, workflow=workflow) for question in questions]
        call.show(
            "\n\n".join("\n".join(lines) for lines in plans), [list(lines) for lines in plans]
        )
        return
    found = ws.estimate(questions)
    hints = [line for question in questions for line in parse_hints(question).lines()]
    totals = {
        "calls": found.calls,
        "tokens": found.tokens,
        "cost": found.cost,
        "minutes": found.minutes,
    }
    call.show("\n".join([str(found), *hints]), {**totals, **asdict(found), "hints": hints})


def pairs(given: list[str], option: str) -> dict[str, str]:
    """Returns words of the form `column=value` as a mapping; `option` is named in the error.

    Raises:
        SettingsError: a word has no "=".
    """
    out: dict[str, str] = {}
    for word in given:
        name, mark, value = word.partition("=")
        if not mark or not name.strip():
            raise SettingsError(f"{option} {word!r} has no '='; write it as column=value")
        out[name.strip()] = value.strip()
    return out


def schema_text(schema: Schema) -> str:
    """A schema for the terminal: a line for each table and column."""
    lines = []
    for table in schema.tables:
        lines.append(f"{table.name}: {table.row or 'rows'}" + (" (pinned)" if table.pinned else ""))
        for column in table.columns:
            unit = f" in {column.measured_in}" if column.measured_in else ""
            lines.append(
                f"  {column.name} {column.type.value}{unit}  {column.description}".rstrip()
            )
    return "\n".join(lines) or "no tables yet: ask a question, or pin a schema"


def plain_schema(tables: Any) -> list[Mapping[str, Any]]:
    """A schema as plain JSON."""
    return [
        {
            "name": t.name,
            "row": t.row,
            "grain": t.grain,
            "pinned": t.pinned,
            "columns": [
                {
                    "name": c.name,
                    "type": c.type.value,
                    "unit": c.unit,
                    "scale": c.scale,
                    "currency": c.currency,
                    "description": c.description,
                }
                for c in t.columns
            ],
        }
        for t in tables
    ]
