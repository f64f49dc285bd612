"""The text of `sliders` without a command: the content of the workspace, and the next step."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from sliders.api import Workspace
from sliders.cli.shell import DEFAULT_WORKSPACE
from sliders.compact.model_file import EMBEDDED
from sliders.engine.session import Session
from sliders.engine.synchronous import server_address
from sliders.engine.unread_files import unread_files
from sliders.progress import counted
from sliders.settings import LOCAL, Settings
from sliders.store.database import workspace_is_there
from sliders.store.records import Run


def next_steps(path: str | Path = "", chosen: Settings | None = None) -> str:
    """Returns five lines: the content of the workspace, and the next step.

    Raises:
        StoreError: the file is no workspace.
    """
    path = path or os.environ.get("SLIDERS_WORKSPACE", DEFAULT_WORKSPACE)
    settings = chosen or Settings.from_env()
    there = EMBEDDED.path(settings.cache_dir).is_file()
    embedded = "the embedded model (fetched at the first question: 1.1 GB)"
    if there:
        embedded = "the embedded model"
    model = embedded if settings.is_local and settings.model == LOCAL else f"model {settings.model}"
    if not workspace_is_there(path):
        return "\n".join(
            (
                f"No workspace here yet ({path}).",
                f"Questions are read by {model}.",
                'Next:  sliders ask FOLDER "question"  (--dry-run only says what it would take)',
                "Or:    sliders add FOLDER",
                "Help:  sliders --help, sliders --install-completion",
            )
        )
    with Workspace(path, settings=settings, write=False) as ws:
        return "\n".join(_known(ws.session, model))


def _known(session: Session, model: str) -> list[str]:
    """The lines about a workspace: its content, the model, the last question, the next step, and
    other commands.
    """
    count, place = session.catalog.documents.count(), session.catalog.database.name
    asked = [run for run in session.catalog.journal.runs() if run.kind == "ask"]
    held = [counted(count, "document"), counted(len(asked), "run") + " of questions"]
    if unread := len(unread_files(session)):
        held.insert(1, counted(unread, "file") + " not read")
    reader, options = _reader(session.settings, model, asked)
    lines = [f"Workspace {place}: {', '.join(held)}.", reader]
    questions = asked[-1].settings.get("questions") or [asked[-1].question] if asked else []
    if asked:
        more = f", and {len(questions) - 1} more" if len(questions) > 1 else ""
        lines.append(f"Asked last: {questions[-1]} ({asked[-1].status}{more})")
    others = ["sliders tables", "sliders view --open", "sliders diff", "sliders --help"]
    if not count:
        step = "sliders add FOLDER"
    elif asked and asked[-1].status in ("running", "stopped", "failed"):
        again = " ".join(map(shlex.quote, questions))
        step = f"sliders ask {again}{options}  (go on where it stopped)"
    else:
        step = f'sliders ask "question"{options}'
    return [*lines, f"Next:  {step}", f"Also:  {', '.join(others if asked else others[-1:])}"]


def _reader(settings: Settings, model: str, asked: Sequence[Run]) -> tuple[str, str]:
    """Returns the model that answers questions, in words, and the options that name the model of
    the last questions; "" when it is the configured model.

    Args:
        model: the configured model, in words.
    """
    last = asked[-1].settings if asked else {}
    configured = server_address(settings)
    used, server = last.get("model", settings.model), last.get("base_url", configured)
    if (used, server) == (settings.model, configured):
        return f"Questions are read by {model}.", ""
    options = f" --model {shlex.quote(used)}" + (
        f" --base-url {shlex.quote(server)}" if server else ""
    )
    return f"The last questions were read by model {used}; without options, {model} reads.", options
