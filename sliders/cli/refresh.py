"""`sliders refresh`: asks questions that are saved in a file again, over new and changed documents,
and says what changed since the last time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sliders.cli.shell import CLUSTER, EXTRACTION, SHOWN, CommandCall, show_added, takes
from sliders.errors import EXIT_CODES, BudgetExceeded, SettingsError, StoreError

if TYPE_CHECKING:
    from sliders.api import Workspace
    from sliders.audit.diff import Difference

_KNOWN = {"documents", "questions", "schema"}


@dataclass(frozen=True, slots=True)
class SavedQuestions:
    """The content of a file of saved questions: the documents, the questions, and the file of a
    pinned schema ("" for none). Relative paths count from the folder of the file.
    """

    documents: tuple[str, ...]
    questions: tuple[str, ...]
    schema: str = ""


def saved_questions(path: Path) -> SavedQuestions:
    """Reads a file of saved questions.

    Raises:
        SettingsError: the file cannot be read as YAML, has no `questions:`, or has unknown keys.
    """
    import yaml

    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"{str(path)!r} cannot be read as YAML: {error}; correct it") from error
    if not isinstance(data, Mapping) or not data.get("questions") or {*data} - _KNOWN:
        raise SettingsError(
            f"{str(path)!r} is no file of saved questions; write `questions:` with a list, "
            "`documents:` with files, folders or globs, and `schema:` with a file to pin"
        )
    questions = _texts(path, data, "questions")
    documents = _texts(path, data, "documents")
    folder = path.absolute().parent
    schema = data.get("schema")
    return SavedQuestions(
        tuple(text if "://" in text else str(folder / text) for text in documents),
        questions,
        str(folder / str(schema)) if schema else "",
    )


def _texts(path: Path, data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    listed = data.get(name) or ()
    listed = (listed,) if isinstance(listed, str) else listed
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str) for one in listed):
        raise SettingsError(f"{str(path)!r}: `{name}` is no list of texts; put each in quotes")
    return tuple(listed)


@takes(*EXTRACTION, *CLUSTER, *SHOWN)
def refresh(
    call: CommandCall,
    file: Annotated[
        Path, typer.Argument(help="A YAML file with `questions:`, `documents:` and `schema:`.")
    ],
) -> int:
    """Ask saved questions again: read new and changed documents, answer, say what changed since the
    last time. Exit code 1 when an answer changed or failed.
    """
    from sliders.cli.printed_answers import answer_data, answers_printed
    from sliders.documents.discovery import discover

    saved = saved_questions(file)
    found = discover(list(saved.documents), every=True) if saved.documents else []
    with call.opened(new=bool(saved.documents)) as ws:
        added = ws.add(found)
        show_added(added)
        if saved.schema:
            ws.pin_schema(Path(saved.schema))
        answers = ws.ask_many(saved.questions)
        changes = _since(ws)
    data = {
        "documents": {"new": added.new, "same": added.same, "changed": added.changed},
        "answers": [answer_data(answer) for answer in answers],
        "changes": None if changes is None else changes.to_dict(),
    }
    told = str(changes) if changes is not None else "first run: nothing to compare with"
    call.show(f"{answers_printed(answers, call)}\n\n{told}", data)
    gaps = [gap for answer in answers for gap in answer.completeness.missing]
    if any(gap.kind == "stopped" for gap in gaps):
        return EXIT_CODES[BudgetExceeded]
    failed = any(answer.status == "failed" for answer in answers)
    return int(failed or (changes is not None and bool(changes.answers)))


def _since(ws: Workspace) -> Difference | None:
    """The changes since the last run that asked any of these questions; None when there is none."""
    last = ws.runs()[-1].id
    try:
        found = ws.diff(last)
    except StoreError:  # nobody asked them before
        return None
    return found if last in (found.first, found.second) else None


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(refresh)
