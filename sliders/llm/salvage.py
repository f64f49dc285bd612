"""What can be saved of a broken JSON reply: the complete items of a list whose tail is missing or bad.

Pure functions over text. The scanner is written by hand because a JSON parser stops at the first error and keeps
nothing.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_THINK = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_DECODER = json.JSONDecoder(strict=False)  # raw newlines inside strings are common and harmless
_MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Parsed:
    """JSON read from a reply. `salvaged` says that a broken tail was cut off a list."""

    data: Any
    salvaged: bool = False


def strip_wrapping(text: str) -> str:
    """The reply without reasoning blocks and code fences around it."""
    if text.lstrip().startswith(("{", "[")):
        return text.strip().removesuffix("```").strip()  # such a tag inside JSON is text
    text = _THINK.sub("", text)
    if "</think>" in text.lower():
        text = text[text.lower().rindex("</think>") + len("</think>") :]
    text = text.strip()
    if not text.startswith(("{", "[")):
        fenced = _FENCE.search(text)
        if fenced and fenced.group(1).strip():
            return fenced.group(1).strip()
    return text.removesuffix("```").strip()


def parse_json(text: str) -> Any:
    """The JSON value of a whole reply; tolerates fences, reasoning, prose around it, and trailing commas.

    Raises:
        ValueError: there is no complete JSON value in it.
    """
    body = strip_wrapping(text)
    for candidate in (body, _TRAILING_COMMA.sub(r"\1", body)):
        try:
            return _DECODER.decode(candidate)
        except (ValueError, RecursionError):
            continue
    return _last_value(body)


def _last_value(text: str) -> Any:
    """The last complete object or list in prose: an earlier one may have been quoted from the input."""
    position, found, work = 0, None, 16 * len(text) + 64
    while (match := re.compile(r"[{\[]").search(text, position)) and work > 0:
        work -= len(text) - match.start()
        try:
            found, position = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            position = match.start() + 1
            # A value that never closes would make its own inner parts look like the reply.
            if not _closes(text, match.start()):
                break
    if found is None:
        raise ValueError("the reply holds no complete JSON value")
    return found


def _closes(text: str, start: int) -> bool:
    depth, in_string, escaped = 0, False, False
    for char in text[start:]:
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return True
    return False


def salvage(text: str) -> Parsed | None:
    """The complete items of a reply that breaks off, or None when nothing can be kept.

    Handles a list, and an object that holds one (also nested: `{"a": {"rows": [...`): members that are complete stay,
    the list keeps its complete items, everything after the break is dropped. A scalar or an item that is cut is never
    kept.
    """
    body = strip_wrapping(text)
    start = min((i for i in (body.find("{"), body.find("[")) if i >= 0), default=-1)
    if start < 0:
        return None
    try:
        return Parsed(_DECODER.raw_decode(body, start)[0])
    except (ValueError, RecursionError):
        pass
    data = _read(body, start, 0)
    return None if data is _BROKEN or not _has_items(data) else Parsed(data, salvaged=True)


class _Broken:
    """Marks a value of which nothing can be kept."""


_BROKEN = _Broken()


def _read(text: str, position: int, depth: int) -> Any:
    """The part of the broken value at `position` that is complete."""
    if depth > _MAX_DEPTH or position >= len(text):
        return _BROKEN
    if text[position] == "[":
        return _read_list(text, position + 1)
    if text[position] == "{":
        return _read_object(text, position + 1, depth)
    return _BROKEN


def _complete(text: str, position: int) -> tuple[Any, int] | None:
    """The value at `position` and the place after it, when both it and its end are certain."""
    try:
        value, end = _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError):
        return None
    # A number at the very end of the text may lack digits: 12 of 1248.
    if isinstance(value, int | float) and not isinstance(value, bool) and not text[end:].strip():
        return None
    return value, end


def _read_list(text: str, position: int) -> list[Any]:
    items: list[Any] = []
    while True:
        position = _skip_space(text, position)
        step = _complete(text, position)
        if step is None:
            return items
        items.append(step[0])
        position = _skip_space(text, step[1])
        if not text.startswith(",", position):
            return items
        position += 1


def _read_object(text: str, position: int, depth: int) -> Any:
    members: dict[str, Any] = {}
    while True:
        position = _skip_space(text, position)
        key = _complete(text, position)
        if key is None or not isinstance(key[0], str):
            return members or _BROKEN
        position = _skip_space(text, key[1])
        if not text.startswith(":", position):
            return members or _BROKEN
        position = _skip_space(text, position + 1)
        step = _complete(text, position)
        if step is None:
            rest = _read(text, position, depth + 1)
            if rest is not _BROKEN:
                members[key[0]] = rest
            return members or _BROKEN
        members[key[0]] = step[0]
        position = _skip_space(text, step[1])
        if not text.startswith(",", position):
            return members
        position += 1


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _has_items(data: Any) -> bool:
    """Whether a list with at least one item was kept; an object cut before its list is no answer."""
    if isinstance(data, list):
        return bool(data)
    return isinstance(data, dict) and any(
        _has_items(value) for value in data.values() if isinstance(value, dict | list)
    )
