"""What a reply's text holds: JSON inside what surrounds it, and the complete items of a list whose tail is broken."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic_core import from_json

_THINK = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_MARK = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
_NUMBER_AT_END = re.compile(r"(?<![\w.+-])-?\d[\d.eE+-]*\s*\Z")
_FAULT = re.compile(r"at line (\d+) column (\d+)")


def unwrapped(text: str) -> str:
    """The reply without reasoning and code fences around it."""
    text = text.strip()
    if not text.startswith(("{", "[")):  # such a mark inside JSON is text
        text = _THINK.sub("", text).rpartition("</think>")[2].strip()
        if not text.startswith(("{", "[")) and (fenced := _FENCE.search(text)) and fenced[1].strip():
            return fenced[1].strip()
    return text.removesuffix("```").strip()


def is_closed(text: str) -> bool:
    """Whether every bracket of `text` is closed, so that no part of a value passes for the whole."""
    return not _open_brackets(text)


def complete_items(text: str) -> Any | None:
    """The complete items of a reply that breaks off or has a fault; None when nothing can be kept.

    Handles a list and an object that holds one (also nested): members before the break stay, the list keeps its
    complete items, what follows is dropped. A value that is cut is never kept.
    """
    start = min((i for i in (text.find("{"), text.find("[")) if i >= 0), default=-1)
    if start < 0:
        return None
    body = text[start:]
    try:
        return json.loads(body, strict=False)  # line breaks inside strings are common and harmless
    except (ValueError, RecursionError):
        pass
    for _ in range(2):
        # A number at the end may lack digits: 12 of 1248.
        body = _NUMBER_AT_END.sub("", body)
        try:
            data = from_json(body, allow_partial=True)
        except ValueError as fault:
            body = _before(body, str(fault))
            continue
        _drop_cut_item(data, _open_brackets(body))
        return data if _has_items(data) else None
    return None


def _before(text: str, fault: str) -> str:
    """The text up to the place that the parser names."""
    place = _FAULT.search(fault)
    if place is None:
        return ""
    lines = text.encode("utf-8", "replace").split(b"\n")
    line, column = int(place[1]), int(place[2])
    whole = b"\n".join([*lines[: line - 1], lines[line - 1][: max(0, column - 1)]])
    return whole.decode("utf-8", "ignore")


def _open_brackets(text: str) -> list[str]:
    stack: list[str] = []
    for mark in _MARK.findall(text):
        if mark in ("{", "["):
            stack.append(mark)
        elif mark in ("}", "]") and stack:
            stack.pop()
    return stack


def _drop_cut_item(data: Any, brackets: list[str]) -> None:
    """Take the item in which the text breaks off from the outermost list that is open."""
    if "[" not in brackets:
        return
    outermost = brackets.index("[")
    for _ in range(outermost):
        data = list(data.values())[-1]
    if len(brackets) > outermost + 1:
        data.pop()


def _has_items(data: Any) -> bool:
    """Whether a list with at least one item was kept; an object cut before its list is no answer."""
    if isinstance(data, list):
        return bool(data)
    return isinstance(data, dict) and any(_has_items(v) for v in data.values() if isinstance(v, dict | list))
