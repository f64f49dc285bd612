"""What `sliders` says without a command: what is here, and what to do next."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from sliders.api import Workspace
from sliders.cli.shell import DEFAULT_WORKSPACE
from sliders.compact.model_file import EMBEDDED
from sliders.engine.session import Session
from sliders.settings import Settings
from sliders.store.database import workspace_is_there

_MOST_LISTED = 3


def next_steps(path: str | Path = "", chosen: Settings | None = None) -> str:
    """What is in the workspace at hand, and the commands that follow from it.

    Raises:
        StoreError: it is no workspace.
    """
    path = path or os.environ.get("SLIDERS_WORKSPACE", DEFAULT_WORKSPACE)
    settings = chosen or Settings.from_env()
    there = EMBEDDED.path(settings.cache_dir).is_file()
    embedded = "the embedded model (fetched at the first question: 1.1 GB)"
    if there:
        embedded = "the embedded model"
    model = embedded if settings.is_local else f"model {settings.model}"
    if not workspace_is_there(path):
        return _lines(
            f"No workspace here yet ({path}).\nQuestions are read by {model}.",
            ('sliders ask FOLDER "question"', "read documents, answer, and keep everything in it"),
            ('sliders ask FOLDER "question" --dry-run', "only say what it would take"),
            ("sliders add FOLDER", "only read the documents in"),
            ("sliders --install-completion", "complete commands with the tab key"),
            ("sliders --help", "all commands"),
        )
    with Workspace(path, settings=settings, write=False) as ws:
        return _known(ws.session, ws.session.catalog.database.name, model)


def _known(session: Session, place: str, model: str) -> str:
    documents = session.catalog.documents.count()
    asked = [run for run in session.catalog.journal.runs() if run.kind == "ask"]
    head = (
        f"Workspace {place}: {documents} documents, {len(asked)} runs of questions.\n"
        f"Questions are read by {model}."
    )
    if not documents:
        return _lines(head, ("sliders add FOLDER", "read documents in"))
    lines = [head, *(f"  asked: {run.question}" for run in asked[-_MOST_LISTED:])]
    steps = [('sliders ask "question"', "ask these documents")]
    if asked and asked[-1].status in ("running", "stopped", "failed"):
        questions = asked[-1].settings.get("questions") or [asked[-1].question]
        again = " ".join(map(shlex.quote, questions))
        steps.insert(0, (f"sliders ask {again}", "go on where the last run stopped"))
    if session.filled:
        steps += [
            ("sliders tables", "what is known"),
            ("sliders why DOCUMENT", "what became of it, or why a row is here"),
            ("sliders view --open", "look at the last answer in the browser"),
            ("sliders conflicts", "what contradicts itself"),
            ("sliders diff", "what changed since the question before"),
            ("sliders export audit.db", "a file for everybody else"),
        ]
    return _lines("\n".join(lines), *steps, ("sliders --help", "all commands"))


def _lines(head: str, *steps: tuple[str, str]) -> str:
    width = max(len(command) for command, _ in steps)
    return "\n".join([head, "", *(f"  {command:<{width}}  {told}" for command, told in steps)])
