"""Hashes of requests, and what changed between two versions; a hash holds no document's text."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any

from benchmarks.trust.server import bodies_heard_by
from sliders.llm import Request
from sliders.llm.testing import requests_heard_by

_DIGITS = 12


def digest(sent: object) -> str:
    """Twelve hex digits of data; the order of its members counts, as it does for a server."""
    text = json.dumps(sent, ensure_ascii=False, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def request_hash(request: Request) -> str:
    """The hash of all that is sent: stage, messages, shape of the reply, limits.

    Members that hold their default are left out, so that a new member changes the hash only where
    it is used.
    """
    # Members that are no part of what a request is, and its file's hash, are seen by no server.
    members = [m for m in fields(request) if m.compare and m.name != "prompt_hash"]
    values = {member.name: (getattr(request, member.name), _default(member)) for member in members}
    sent = {name: value for name, (value, default) in values.items() if value != default}
    sent["messages"] = [[message.role, message.content] for message in request.messages]
    if request.reply is not None:
        sent["reply"] = request.reply.model_json_schema()
    return digest(sorted(sent.items()))


def _default(member: Field[Any]) -> object:
    return None if member.default is MISSING else member.default


@contextmanager
def recorded() -> Iterator[list[str]]:
    """The hashes of the requests that any double of a model, or the scripted server of a command,
    gets inside the block.
    """
    hashes: list[str] = []
    with (
        requests_heard_by(lambda request: hashes.append(request_hash(request))),
        bodies_heard_by(lambda body: hashes.append(digest(body))),
    ):
        yield hashes


@dataclass(frozen=True, slots=True)
class Change:
    """Requests of one run that are new, and those that are no longer sent."""

    run: str
    new: int
    gone: int

    def __str__(self) -> str:
        return f"{self.run} ({self.new} new, {self.gone} gone)"


def changes(before: Mapping[str, Sequence[str]], now: Mapping[str, Sequence[str]]) -> list[Change]:
    """The runs whose requests differ, each request counted as often as it is sent; a run that is
    not stored is all new.
    """
    found = []
    for run, hashes in now.items():
        old, sent = Counter(before.get(run, ())), Counter(hashes)
        found.append(Change(run, (sent - old).total(), (old - sent).total()))
    return [change for change in found if change.new or change.gone]
