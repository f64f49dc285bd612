"""Sentences of findings, for the model and for people, taken by name from files like prompts.

`prompts/findings/<room>.md` holds one sentence a line, `name: sentence`, with the values of a
finding in braces, in the form of Python's format strings.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_SENTENCE = re.compile(r"^(\w+): (.*)$", re.MULTILINE)


class Sentences:
    """The sentences of one room; a call returns one with its values filled in.

    >>> Sentences("values")("no_date", words="soon")
    "'soon' is not a date"
    """

    def __init__(self, room: str) -> None:
        self._room = room

    def __call__(self, name: str, /, **values: object) -> str:
        """Returns the sentence of that name.

        Raises:
            KeyError: the room's file has no such sentence, or a value is missing.
        """
        return _read(self._room)[0][name].format(**values)

    @property
    def hash(self) -> str:
        """The SHA-256 of the file, which is stored with every call that uses its sentences."""
        return _read(self._room)[1]


@cache
def _read(room: str) -> tuple[Mapping[str, str], str]:
    text = (prompt_dir() / "findings" / f"{room}.md").read_text(encoding="utf-8")
    return dict(_SENTENCE.findall(text)), hashlib.sha256(text.encode("utf-8")).hexdigest()


@cache
def prompt_dir() -> Path:
    """The folder of prompts and findings: inside the installed package, or the checkout's
    `prompts/`.
    """
    package = Path(__file__).resolve().parent
    packaged = package / "_prompts"
    return packaged if packaged.is_dir() else package.parent / "prompts"
