"""A question goes down a hierarchy of classes, level by level (Semantic Decomposition, section 4.1).

Every level has a fall-back class, so that each input ends somewhere that is defined. What is not a question about the
documents is seen by code first, which costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

import yaml

from sliders.errors import ModelRefusal, PlanError, TruncatedReply
from sliders.llm.dialect import Dialect
from sliders.llm.model import Model, Request, Usage
from sliders.llm.prompts import load_prompt

FALLBACK = "other"
_MAX_DEPTH = 8

InputKind = Literal["question", "small_talk", "nonsense", "command", "statement"]


@dataclass(frozen=True, slots=True)
class ClassNode:
    """A class with its meaning and its sub-classes; among sub-classes there is always one called `fallback`."""

    name: str
    description: str = ""
    children: tuple[ClassNode, ...] = ()
    fallback: str = FALLBACK

    def child(self, name: str) -> ClassNode:
        """The sub-class of that name, the fall-back when there is none."""
        for node in self.children:
            if node.name == name:
                return node
        return next(node for node in self.children if node.name == self.fallback)


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The path of classes that an input was given, its text at the last level, and what asking cost.

    `fell_back` says that some level could not place it.
    """

    path: tuple[str, ...]
    text: str
    fell_back: bool = False
    usage: Usage = field(default_factory=Usage)


def hierarchy(source: object, *, fallback: str = FALLBACK) -> ClassNode:
    """A hierarchy from nested Enums, a mapping, or YAML text; every level gets a fall-back class.

    A mapping maps a name to a description, to a mapping of sub-classes, or to `{description, classes}`. An Enum's
    member stands for a class, its value is the description, or another Enum with the sub-classes.

    Raises:
        PlanError: the source cannot be read as a hierarchy.
    """
    if isinstance(source, ClassNode):
        return source
    if isinstance(source, str):
        try:
            source = yaml.safe_load(source)
        except yaml.YAMLError as error:
            raise PlanError(f"the class hierarchy is not valid YAML: {error}; give name: description pairs") from error
    children = _children(source, fallback, 1)
    if not children:
        raise PlanError("the class hierarchy has no classes; give a mapping, YAML or an Enum with at least one")
    return ClassNode("input", "", children, fallback)


def _children(source: object, fallback: str, depth: int) -> tuple[ClassNode, ...]:
    if depth > _MAX_DEPTH:
        raise PlanError(f"the class hierarchy is more than {_MAX_DEPTH} levels deep; flatten it")
    if isinstance(source, type) and issubclass(source, Enum):
        entries: list[tuple[str, object]] = [(member.name.lower(), member.value) for member in source]
    elif isinstance(source, Mapping):
        entries = [(str(name), value) for name, value in source.items()]
    elif isinstance(source, Sequence) and not isinstance(source, str):
        entries = [(str(name), "") for name in source]
    else:
        raise PlanError(
            f"a class hierarchy cannot be read from {type(source).__name__}; give a mapping, YAML or an Enum"
        )
    nodes = [_node(name, value, fallback, depth) for name, value in entries]
    if nodes and all(node.name != fallback for node in nodes):
        nodes.append(ClassNode(fallback, "none of the others"))
    return tuple(nodes)


def _node(name: str, value: object, fallback: str, depth: int) -> ClassNode:
    if value is None or isinstance(value, str):
        return ClassNode(name, value or "")
    if isinstance(value, Mapping) and "classes" in value:
        described = str(value.get("description", ""))
        return ClassNode(name, described, _children(value["classes"], fallback, depth + 1), fallback)
    return ClassNode(name, "", _children(value, fallback, depth + 1), fallback)


def level_request(text: str, node: ClassNode, dialect: Dialect, *, resummarise: bool = False) -> Request:
    """The call of one level: which of the sub-classes, and with `resummarise` the text said again more briefly."""
    names = [child.name for child in node.children]
    properties: dict[str, Any] = {"class": {"type": "string", "enum": names}}
    if resummarise:
        properties["summary"] = {"type": "string", "maxLength": 300}
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    prompt = load_prompt("plan/classify", dialect)
    messages = prompt.render(
        text=text[:4_000], classes=[(child.name, child.description) for child in node.children], resummarise=resummarise
    )
    return Request("plan", messages, prompt.hash, schema, max_tokens=120 if resummarise else 24)


async def decompose(text: str, model: Model, tree: ClassNode, *, resummarise: bool = False) -> Decomposition:
    """Go down the hierarchy until a leaf; a level that the model does not answer falls back and ends the way down."""
    node, usage, path = tree, Usage(), []
    fell_back = False
    while node.children:
        try:
            reply = await model.generate(level_request(text, node, model.dialect, resummarise=resummarise))
        except (ModelRefusal, TruncatedReply) as error:
            usage += error.usage if isinstance(error.usage, Usage) else Usage()
            path.append(node.fallback)
            return Decomposition(tuple(path), text, True, usage)
        usage += reply.usage
        data = reply.data if isinstance(reply.data, dict) else {}
        chosen = node.child(str(data.get("class", "")))
        fell_back = fell_back or chosen.name == node.fallback
        path.append(chosen.name)
        summary = data.get("summary")
        if resummarise and isinstance(summary, str) and summary.strip():
            text = summary.strip()
        node = chosen
    return Decomposition(tuple(path), text, fell_back, usage)


BUILT_IN = hierarchy(
    {
        "question": {
            "description": "wants facts that documents may hold: a question, or list, show, count, find, compare, summarize",
            "classes": {
                "lookup": "one fact of one thing",
                "explanation": "how or why, a description or summary",
                "calculation": "a number to be worked out of a few printed numbers",
                "comparison": "two or more named things side by side",
                "chain": "a thing is described by another thing that must be found first",
                "aggregation": "counts, sums, averages, ranks or lists over many documents or records",
            },
        },
        "command": "wants something done other than finding facts: write, send, delete, open, book",
        "statement": "says how something is and wants nothing",
        "small_talk": "greets, thanks, or talks about the assistant or its feelings",
        "nonsense": "has no meaning",
    },
    fallback="nonsense",
)


@dataclass(frozen=True, slots=True)
class Task:
    """What a question asks for.

    `sub_questions` is the question itself when it does not split; `attributes` are facts that must be read,
    `predicates` conditions on them, `time_range` as printed, `shape` what the answer looks like.
    """

    kind: str
    sub_questions: tuple[str, ...]
    attributes: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    time_range: str = ""
    shape: Literal["number", "text", "date", "yes_no", "list", "table"] = "text"
    usage: Usage = field(default_factory=Usage)


_STRINGS = {"type": "array", "items": {"type": "string", "maxLength": 120}, "maxItems": 5}
_TASK_SCHEMA = {
    "type": "object",
    "properties": {"sub_questions": _STRINGS, "attributes": _STRINGS, "conditions": _STRINGS},
    "required": ["sub_questions", "attributes", "conditions"],
    "additionalProperties": False,
}


def task_request(question: str, dialect: Dialect) -> Request:
    """The call that takes a question apart."""
    prompt = load_prompt("plan/decompose", dialect)
    return Request("plan", prompt.render(question=question[:4_000]), prompt.hash, _TASK_SCHEMA, max_tokens=220)


async def understand(question: str, model: Model, kind: str) -> Task:
    """Sub-questions, attributes and conditions by the model; time range and shape by code."""
    usage = Usage()
    data: dict[str, Any] = {}
    try:
        reply = await model.generate(task_request(question, model.dialect))
        usage, data = reply.usage, reply.data if isinstance(reply.data, dict) else {}
    except (ModelRefusal, TruncatedReply) as error:
        usage = error.usage if isinstance(error.usage, Usage) else usage
    return Task(
        kind, _texts(data.get("sub_questions")) or (question,), _texts(data.get("attributes")),
        _texts(data.get("conditions")), time_range(question), shape_of(question), usage,
    )  # fmt: skip


def _texts(value: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(v).strip() for v in value if str(v).strip())) if isinstance(value, list) else ()


_RANGE = re.compile(
    r"\b(?:between|from|since|before|after|until|during|in)\s+(?:(?:fiscal(?: year)?|FY|early|late)\s*)?"
    r"(?:[A-Z][a-z]+ )?"
    r"(?:19|20)\d\d(?:\s*(?:and|to|-|–|through|until)\s*(?:[A-Z][a-z]+ )?(?:19|20)\d\d)?",
)
_SHAPES: tuple[tuple[str, str], ...] = (
    ("yes_no", r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will)\b"),
    ("number", r"\bhow (?:many|much)\b|\b(?:total|average|sum|number|percent\w*|ratio|difference|share)\b"),
    ("date", r"\bwhen\b|\b(?:what|which) (?:date|year|day|month)\b"),
    ("table", r"\btable\b|\bfor each\b|\bper \w+\b|\bby (?:year|month|company|country)\b"),
    ("list", r"^(?:list|name)\b|\b(?:which|what) (?:\w+ )?(?:are|were|have|\w+s) \b|\ball (?:the )?\w+s\b"),
)


def time_range(question: str) -> str:
    """The period that the question names, as printed; empty without one."""
    found = _RANGE.search(question)
    return found.group() if found else ""


def shape_of(question: str) -> Literal["number", "text", "date", "yes_no", "list", "table"]:
    """What the answer should look like, by the question's wording."""
    low = question.lower().strip()
    for shape, pattern in _SHAPES:
        if re.search(pattern, low):
            return shape  # type: ignore[return-value]
    return "text"
