"""The notebook magics of `%load_ext sliders`: `%%sliders ask` and `%%sliders query`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from sliders.errors import SettingsError

if TYPE_CHECKING:
    import pandas as pd

    from sliders.answer.result import Answer

_DEFAULT = "sliders.db"


class _Words(argparse.ArgumentParser):
    """The options of a magic; a wrong option raises an exception instead of ending the kernel."""

    def error(self, message: str) -> NoReturn:
        raise SettingsError(
            f"%%sliders: {message}; write %%sliders ask [DOCS]... or %%sliders query, with "
            "-w WORKSPACE, --model NAME and --base-url ADDRESS where they are needed"
        )


def _options() -> _Words:
    words = _Words(prog="%%sliders", add_help=False)
    words.add_argument("command", choices=("ask", "query"))
    words.add_argument("documents", nargs="*")
    words.add_argument("-w", "--workspace", default=_DEFAULT)
    words.add_argument("--model")
    words.add_argument("--base-url")
    return words


def sliders_magic(line: str, cell: str) -> list[Answer] | Answer | pd.DataFrame:
    """Runs a cell: each line of `ask` is a question, the cell of `query` is one SELECT.

    Args:
        line: the words behind `%%sliders`.
        cell: the cell below.

    Returns:
        The answer, or a list of them, or the frame of the query; the notebook shows it.

    Raises:
        SettingsError: the words are not understood.
        SlidersError: see `Workspace.ask` and `Workspace.query`.
    """
    from sliders.api import Workspace

    given = _options().parse_args(shlex.split(line))
    overrides: dict[str, Any] = {"base_url": given.base_url} if given.base_url else {}
    with Workspace(given.workspace, model=given.model, **overrides) as ws:
        if given.documents:
            ws.add(given.documents)
        if given.command == "query":
            return ws.query(cell.strip().rstrip(";"))
        questions = [question.strip() for question in cell.splitlines() if question.strip()]
        answers = ws.ask_many(questions)
    return answers[0] if len(answers) == 1 else answers


def register(register_magic: Callable[..., Any]) -> None:
    """Registers the magics.

    Args:
        register_magic: IPython's `register_magic_function`.
    """
    register_magic(sliders_magic, magic_kind="cell", magic_name="sliders")
