"""Prompts: files that are filled with values. Every variable must get a value, and no value can
pass for an instruction.

A prompt file is `prompts/<room>/<verb>.md`. The text before the first line `---user---` is the
system message; more `---user---` and `---assistant---` lines start further messages. The file is
cut into messages before it is rendered, so no value can start a message.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

from jinja2 import Environment, StrictUndefined, meta

from sliders.llm.dialect import Dialect
from sliders.llm.model import Message
from sliders.sentences import Sentences, prompt_dir

Role = Literal["system", "user", "assistant"]

_ROLE_LINE = re.compile(r"^---(user|assistant)---[ \t]*$", re.MULTILINE)
_ROLE_MARK = re.compile(
    r"---(?=(?:user|assistant|system)---)|(?<=\b(?:user))---|(?<=\b(?:assistant))---|(?<=\b(?:system))---"
)
# Marks that chat templates turn into tokens of their own, in the families in use:
# ChatML, Llama 2 and 3, Gemma, DeepSeek.
_CONTROL = re.compile(
    r"<[|｜][^<>\n]{0,60}[|｜]>|<</?SYS>>|</?s>|\[/?INST\]|</?(?:start|end)_of_turn>|</?think>|</?tool_(?:call|response)>",
    re.IGNORECASE,
)
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_TAG = re.compile(r"</?([A-Za-z][\w-]*)(?:\s[^<>\n]*)?>")
_GUARDS = str.maketrans({"<": "‹", ">": "›", "[": "⁅", "]": "⁆"})


def defuse(text: str, fences: frozenset[str] = frozenset()) -> str:
    """`text` as plain data: chat-template marks, role lines and the named fences are made harmless.

    Characters are replaced one by one by look-alikes, so the length stays and every other character
    keeps its place.

    Args:
        text: a value that goes into a prompt.
        fences: names of tags (`document`) and the marks ``"```"`` and ``'\"\"\"'`` that the prompt
            uses as delimiters.
    """
    text = LONE_SURROGATE.sub("\ufffd", text)  # no server takes them
    text = _CONTROL.sub(lambda m: m.group().translate(_GUARDS), text)
    if "---" in text:
        text = _ROLE_MARK.sub("‐‐‐", text)
    if fences:
        text = _TAG.sub(
            lambda m: m.group().translate(_GUARDS) if m.group(1).lower() in fences else m.group(),
            text,
        )
        for mark, harmless in (("```", "'''"), ('"""', "'''")):
            if mark in fences:
                text = text.replace(mark, harmless)
    return text


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt file. `hash` is the SHA-256 of its text and is stored with every call."""

    name: str
    source: str
    hash: str
    variables: frozenset[str]
    _parts: tuple[tuple[Role, Any], ...]

    @classmethod
    def from_text(cls, name: str, source: str) -> Prompt:
        """Makes a prompt from the text of its file."""
        marks = _ROLE_LINE.split(source)
        raw: list[tuple[Role, str]] = [("system", marks[0])]
        raw += [
            (cast(Role, role), body) for role, body in zip(marks[1::2], marks[2::2], strict=True)
        ]
        fences = _fences(source)
        environment = Environment(
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=lambda value: value if value is None else defuse(str(value), fences),
        )
        variables: set[str] = set()
        parts: list[tuple[Role, Any]] = []
        for role, body in raw:
            if body.strip():
                variables |= meta.find_undeclared_variables(environment.parse(body))
                parts.append((role, environment.from_string(body)))
        digest = hashlib.sha256(source.encode("utf-8")).hexdigest()
        return cls(name, source, digest, frozenset(variables), tuple(parts))

    @property
    def system(self) -> Message:
        """The first message, which must have no variables: prompts that begin with the same message
        share the server's prefix cache.

        Raises:
            TypeError: the prompt has no system message.
        """
        role, template = self._parts[0]
        if role != "system":
            raise TypeError(f"prompt {self.name} has no system message")
        return Message(role, template.render().strip())

    def render(self, **values: Any) -> tuple[Message, ...]:
        """The messages of a call.

        Raises TypeError: a variable of the prompt is missing, or a value is given that the
        prompt does not use.
        """
        missing, unused = self.variables - set(values), set(values) - self.variables
        if missing or unused:
            told = [f"missing {', '.join(sorted(missing))}"] if missing else []
            told += [f"unused {', '.join(sorted(unused))}"] if unused else []
            raise TypeError(
                f"prompt {self.name}: {'; '.join(told)}; it takes "
                f"{', '.join(sorted(self.variables)) or 'nothing'}"
            )
        rendered = ((role, template.render(values).strip()) for role, template in self._parts)
        return tuple(Message(role, content) for role, content in rendered if content)


def _fences(source: str) -> frozenset[str]:
    tags = {match.group(1).lower() for match in _TAG.finditer(source)}
    return frozenset(tags | {mark for mark in ("```", '"""') if mark in source})


def joined_hash(*parts: Prompt | Sentences) -> str:
    """The hash of a call that is made of several files: prompts, and files with the sentences of
    findings.
    """
    return hashlib.sha256("".join(part.hash for part in parts).encode()).hexdigest()


@cache
def load_prompt(name: str, dialect: Dialect) -> Prompt:
    """The prompt `<room>/<verb>` of a dialect.

    Raises FileNotFoundError: the package holds no such prompt.
    """
    folder = prompt_dir() / dialect.name
    path = folder / f"{name}.md"
    if not path.is_file():
        known = ", ".join(sorted(str(p.relative_to(folder))[:-3] for p in folder.glob("*/*.md")))
        raise FileNotFoundError(f"there is no prompt {name!r}; the prompts are: {known or 'none'}")
    return Prompt.from_text(name, path.read_text(encoding="utf-8"))
