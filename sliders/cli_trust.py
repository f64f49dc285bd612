"""Commands for looking at what was answered: what changed between two runs."""

from __future__ import annotations

from typing import Annotated

import typer

from sliders.cli_shell import DEFAULT_WORKSPACE, JsonOption, Output, WorkspaceOption, opened


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command()(diff)


def diff(
    first: Annotated[int | None, typer.Argument(metavar="[RUN]", help="Number of a run; see `sliders runs`.")] = None,
    second: Annotated[int | None, typer.Argument(metavar="[RUN]", help="Number of another run.")] = None,
    workspace: WorkspaceOption = DEFAULT_WORKSPACE, as_json: JsonOption = False,
) -> None:
    """Say what changed between two runs (left out: the last two that asked the same), each change with its cause."""
    with opened(workspace, Output(as_json, quiet=True), write=False) as ws:
        found = ws.diff(first, second)
    Output(as_json).result(str(found), found.to_dict())
