"""The tolerant reader: it finds the JSON in a reply with other text around it, and keeps the
complete items of a reply whose end is broken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from sliders.llm.replies import Shape, shallow

_FENCE = re.compile(
    r"^[ \t>]*+(`{3,}+|~{3,}+)[^\n]*+\n(.*?)(?:^[ \t>]*+\1|\Z)", re.DOTALL | re.MULTILINE
)
_FENCE_IN_A_LINE = re.compile(r"(```)(?:json\b)?(.*?)(?:```|\Z)", re.DOTALL)
_MARK = re.compile(r'"(?:[^"\\]|\\.?)*+"?|[\[\]{}]', re.DOTALL)
_NUMBER_AT_END = re.compile(r"(?<![\w.+-])-?\d[\d.eE+-]*\s*\Z")
_FAULT = re.compile(r"at line (\d+) column (\d+)")
_LOOSE = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.?)*+(?:"|\Z))|(?P<single>'(?:[^'\\]|\\.?)*+(?:'|\Z))"""
    r"""|(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z)|\#[^\n]*)|(?P<number>-?\d[\w.+-]*)"""
    r"""|(?P<word>-?[^\W\d][\w$]*)(?P<colon>\s*:)?""",
    re.DOTALL,
)
_COMMA_AT_END = re.compile(r'("(?:[^"\\]|\\.?)*+(?:"|\Z))|,(\s*+[\]}])', re.DOTALL)
_WORDS = {"true": "true", "false": "false"}
_MOST_VALUES, _MOST_LINES = 500, 20_000
"""JSON values of one reply, and lines of JSON, that are looked at."""
_CALLED = ("arguments", "parameters", "input")


class Several(ValueError):
    """A reply in which more than one JSON value fits; `last` is the last of them."""

    def __init__(self, last: BaseModel) -> None:
        super().__init__("the reply: it holds several JSON values that differ; give one")
        self.last = last


def fitting(text: str, shape: Shape) -> BaseModel:
    """Returns the JSON value of a reply that fits a shape.

    It is searched in the whole text, in each fence, in each outermost pair of brackets, and in JSON
    lines. Comments, single quotes, Python's words, NaN, JSON in a string, a bare list or item, one
    wrapper around it, and a tool call written as text are all read.

    Raises:
        ValidationError: there is a value, and it does not fit.
        Several: more than one value fits.
        ValueError: there is no JSON.
    """
    wrong: ValueError | None = None
    for values in _values(text):
        fits: dict[str, BaseModel] = {}
        for value in values:
            try:
                one = _fitted(value, shape)
            except ValidationError as error:
                wrong = wrong or error
            else:
                fits[one.model_dump_json()] = one
        if len(fits) > 1:
            raise Several(list(fits.values())[-1])
        if fits:
            return next(iter(fits.values()))
    raise wrong or ValueError("the reply: it is no JSON")


def _values(text: str) -> Iterator[list[Any]]:
    """Yields the JSON values in a text, one list for each place in which they are searched."""
    text = text.strip().lstrip("\ufeff")
    yield _parsed([text])
    for fence in (_FENCE, _FENCE_IN_A_LINE):
        yield _parsed([found[2] for found in islice(fence.finditer(text), _MOST_VALUES)])
    segments = _parsed(_outermost(text)[:_MOST_LINES])
    if len(segments) > 1 and all(isinstance(one, dict) for one in segments):
        yield [segments]  # JSON lines
    if len(segments) <= _MOST_VALUES:
        yield segments


def _parsed(texts: list[str]) -> list[Any]:
    values = []
    for text in texts:
        loose = (_as_json,) if text.lstrip().startswith(("{", "[")) else ()
        for written in (str, *loose):
            try:
                value = json.loads(written(text), strict=False, parse_constant=lambda _: None)
            except (ValueError, RecursionError):
                continue
            if not shallow(value):
                break
            values += _parsed([value]) if isinstance(value, str) else [value]
            break
    return values


def _as_json(text: str) -> str:
    """Returns text as JSON when it is written as programs write it: with comments, single quotes,
    names without quotes, other words for null, and trailing commas.
    """

    def written(token: re.Match[str]) -> str:
        if token["single"] is not None:
            inside = token["single"][1:-1].replace("\\'", "'").replace('\\"', '"')
            return '"' + inside.replace('"', '\\"') + '"'
        if token["comment"] is not None:
            return ""
        if token["word"] is None:
            return token[0]
        if token["colon"] is not None:
            return f'"{token["word"]}"{token["colon"]}'
        return _WORDS.get(token["word"].lower(), "null")

    return _COMMA_AT_END.sub(
        lambda m: m[1] if m[1] is not None else m[2], _LOOSE.sub(written, text)
    )


def _outermost(text: str) -> list[str]:
    """Returns the outermost brackets of a text, each with its content. When the last bracket is not
    closed, none is returned, since the parts before it are not the whole.
    """
    depth = start = 0
    found = []
    for mark in _MARK.finditer(text):
        if mark[0] in ("{", "["):
            start = start if depth else mark.start()
            depth += 1
        elif mark[0] in ("}", "]") and depth:
            depth -= 1
            if not depth:
                found.append(text[start : mark.end()])
    return [] if depth else found


def _fitted(value: Any, shape: Shape) -> BaseModel:
    """Returns a value in the first form in which it fits.

    Raises ValidationError: it fits in no form; the error is about the original value.
    """
    first: ValidationError | None = None
    for form in _forms(value, shape.model_json_schema()):
        try:
            return shape.model_validate(form)
        except ValidationError as error:
            first = first or error
    assert first is not None
    raise first


def _forms(value: Any, schema: Mapping[str, Any], depth: int = 0) -> Iterator[Any]:
    """Yields a value as it came, as the list that the schema asks for, and without a wrapper around
    it.
    """
    yield value
    members = schema.get("properties") or {}
    needed = [name for name in schema.get("required") or members if name in members]
    lists = [name for name in needed if _is_list(members[name])]
    if isinstance(value, list):
        if len(lists) == 1:
            yield {lists[0]: value}
        if len(value) == 1:
            yield value[0]
    if not isinstance(value, dict):
        return
    if len(lists) == len(needed) == 1 and not members.keys() & value.keys():
        yield {lists[0]: [value]}
    inner = next((value[name] for name in _CALLED if name in value and "name" in value), None)
    if len(value) == 1 and not members.keys() & value.keys():
        inner = next(iter(value.values()))
    if isinstance(inner, str):
        inner = next(iter(_parsed([inner])), None)
    if isinstance(inner, dict | list) and inner and depth < 2:
        yield from _forms(inner, schema, depth + 1)


def _is_list(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "array"


def complete_items(text: str) -> Any | None:
    """The complete items of a reply that breaks off or has a fault; None when nothing can be kept.

    The reply may be a list or an object that holds one (also nested): members before the break
    stay, the list keeps its complete items, the rest is dropped. A value that is cut is never kept.
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
    """The text before the position that the parser's message names."""
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
    """Removes the item in which the text breaks off from the outermost open list."""
    if "[" not in brackets:
        return
    outermost = brackets.index("[")
    for _ in range(outermost):
        data = list(data.values())[-1]
    if len(brackets) > outermost + 1:
        data.pop()


def _has_items(data: Any) -> bool:
    """True when a list with at least one item was kept; an object that was cut before its list is
    no answer.
    """
    if isinstance(data, list):
        return bool(data)
    return isinstance(data, dict) and any(
        _has_items(v) for v in data.values() if isinstance(v, dict | list)
    )
