"""The traces of removed documents: words and lines that no other document of the workspace has,
wherever they are quoted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from sliders.store import codec

GONE = "[removed]"
_WORD = re.compile(r"\w+")
_SHORTEST_WORD, _SHORTEST_LINE = 3, 12
_NOTHING = re.compile(r"(?!)")


def words_of(text: str) -> set[str]:
    """The words and numbers of a text, in lower case, without those of one or two characters."""
    return {word.casefold() for word in _WORD.findall(text) if len(word) >= _SHORTEST_WORD}


def _lines_of(text: str) -> set[str]:
    lines = (line.strip() for line in text.splitlines())
    return {line for line in lines if len(line) >= _SHORTEST_LINE}


class Traces:
    """The traces of texts.

    Args:
        texts: the removed texts, names and values.
        names: the names of the documents; each is a trace as a whole.
    """

    def __init__(self, texts: Iterable[str], names: Iterable[str]) -> None:
        self._words: set[str] = set()
        self._lines: set[str] = set()
        self.names = frozenset(names)
        listed = "|".join(map(re.escape, sorted(self.names, key=len, reverse=True)))
        self._named = re.compile(rf"(?<![\w/.-])(?:{listed})(?![\w/-])") if listed else _NOTHING
        for text in texts:
            self._words |= words_of(text)
            self._lines |= _lines_of(text)

    def spare(self, text: str) -> None:
        """Removes the words of another text from the traces."""
        self._words -= words_of(text)
        if self._lines:
            self._lines -= _lines_of(text)

    def within(self, value: object) -> bool:
        """True when a stored value holds a trace; it may be a text, JSON with texts, or a
        number.
        """
        return any(self._in_text(text) for text in _strings(value))

    def without(self, value: Any) -> Any:
        """Returns a stored value with `GONE` in the place of each trace."""
        if isinstance(value, str) and (inner := _json(value)) is not None:
            return codec.dump(self.without(inner))
        if isinstance(value, str):
            return self._told(value)
        if isinstance(value, dict):
            return {self._told(key): self.without(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.without(one) for one in value]
        return None if self.within(value) else value

    def _in_text(self, text: str) -> bool:
        return (
            bool(self._named.search(text))
            or not self._words.isdisjoint(words_of(text))
            or not self._lines.isdisjoint(_lines_of(text))
        )

    def _told(self, text: str) -> str:
        if not self._in_text(text):
            return text
        text = self._named.sub(GONE, text)
        kept = (GONE if line.strip() in self._lines else line for line in text.split("\n"))
        return _WORD.sub(
            lambda word: GONE if word[0].casefold() in self._words else word[0], "\n".join(kept)
        )


def _json(text: str) -> Any:
    """The list or object that a text holds as JSON, None for any other text."""
    if not text.startswith(("[", "{")):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        inner = _json(value)
        if inner is None:
            yield value
        else:
            yield from _strings(inner)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _strings(key)
            yield from _strings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _strings(one)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
