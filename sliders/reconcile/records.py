"""A model's word on open pairs of records, one small call a pair, and how much of it counts.

A small model says yes to nearly every pair that looks alike; what tells is how sure it is beside its own other answers.
So it may add a pair, never undo one that code found: its yes counts when it is among the surer half of its yeses in this
band, and when a signal of the records agrees: they share a number or code (two sources), or none contradicts (one
source, where names seldom hold codes). A band of a few pairs does not show what the model's yes is worth: it is not asked.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import median

import numpy as np

from sliders.errors import BudgetExceeded, ModelRefusal, TruncatedReply
from sliders.llm.dialect import Dialect
from sliders.llm.model import Model, Request
from sliders.llm.prompts import load_prompt
from sliders.reconcile.canonical import Links
from sliders.reconcile.profile import Codes, ColumnProfile, Encoded
from sliders.reconcile.resolution import Match, Resolved, cluster
from sliders.schema.types import ColumnType, Table

_SHOWN = 110  # characters of a record that a prompt shows: its first columns name it
_FEWEST = 10  # pairs that show what a model's yes is worth
_CODE = 4  # characters from which a word with a digit identifies something
_PREFIX = 5  # characters from which a code that another one begins with is the same code


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the model says of a pair: `same` is None where it said neither; `surety` the probability of its word."""

    same: bool | None
    surety: float = 0.0


@dataclass(frozen=True, slots=True)
class Reconsidered:
    """All matches after the model was heard, those among them that it added, and the calls made."""

    matches: tuple[Match, ...]
    added: tuple[Match, ...]
    calls: int


def record_text(names: Sequence[str], columns: Sequence[Sequence[str]], record: int) -> str:
    """A record as a prompt shows it: its columns in order, until the space is used up."""
    parts = [f"{name}: {' '.join(column[record].split())}" for name, column in zip(names, columns, strict=True)
             if column[record].strip()]  # fmt: skip
    return "; ".join(parts)[:_SHOWN]


def match_records_request(left: str, right: str, dialect: Dialect) -> Request:
    """The call that judges one pair of records; pure."""
    prompt = load_prompt("reconcile/match_records", dialect)
    return Request("reconcile", prompt.render(left=left, right=right), prompt.hash, max_tokens=2, logprobs=True)


async def reconsider(
    model: Model, names: Sequence[str], columns: Sequence[Sequence[str]], resolved: Resolved
) -> Reconsidered:
    """Ask about the open pairs, at most one in ten records of them, and add those whose yes counts.

    Args:
        names: of the columns.
        columns: text of each record by column, as it was resolved.

    Raises:
        ModelUnavailable: the model cannot be reached.
    """
    allowed = len(columns[0]) // 10 if columns else 0
    asked = sorted(resolved.open, key=lambda m: -m.score)[:allowed]
    if len(asked) < _FEWEST:
        return Reconsidered(resolved.matches, (), 0)
    texts = [(record_text(names, columns, m.left), record_text(names, columns, m.right)) for m in asked]
    judged = await asyncio.gather(*(_judge(model, left, right) for left, right in texts))
    sureties = [j.surety for j in judged if j.same]
    added: list[Match] = []
    for match, judgement in zip(asked, judged, strict=True):
        agrees = codes_agree(*(" ".join(c[r] for c in columns) for r in (match.left, match.right)))
        counts = agrees is not False if resolved.clusters else agrees is True
        if judgement.same and judgement.surety >= median(sureties) and counts:
            added.append(match)
    return Reconsidered(_with(resolved, added), tuple(added), len(asked))


def codes_agree(left: str, right: str) -> bool | None:
    """Whether two texts share a number or code: a word with a digit; None where one of them holds none."""
    a, b = _codes(left), _codes(right)
    if not a or not b:
        return None
    return any(
        x == y or (min(len(x), len(y)) >= _PREFIX and (x.startswith(y) or y.startswith(x))) for x, y in product(a, b)
    )


def _codes(text: str) -> set[str]:
    words = (re.sub(r"[\W_]", "", word) for word in text.casefold().split())
    return {word for word in words if len(word) >= _CODE and any(char.isdigit() for char in word)}


def _with(resolved: Resolved, added: Sequence[Match]) -> tuple[Match, ...]:
    """The matches and the added ones; two clusters that one of them joins match in every pair."""
    home = {record: group for group in resolved.clusters for record in group}
    found = {(m.left, m.right): m for m in resolved.matches}
    for match in added:
        left, right = home.get(match.left, (match.left,)), home.get(match.right, (match.right,))
        for a, b in product(left, right):
            if a != b:
                found.setdefault((min(a, b), max(a, b)), Match(min(a, b), max(a, b), match.score))
        for record in (joined := tuple(dict.fromkeys((*left, *right)))):
            home[record] = joined
    return tuple(found.values())


async def _judge(model: Model, left: str, right: str) -> Judgement:
    try:
        response = await model.generate(match_records_request(left, right, model.dialect))
    except (ModelRefusal, TruncatedReply, BudgetExceeded):
        return Judgement(None)
    word = re.match(r"\W*(yes|no)\b", response.text, re.IGNORECASE)
    if word is None:
        return Judgement(None)
    logs = response.token_logprobs
    return Judgement(word[1].lower() == "yes", math.exp(logs[0]) if logs else 1.0)


async def record_groups(
    model: Model, table: Table, encoded: Sequence[Encoded], profiles: Sequence[ColumnProfile], documents: Codes
) -> tuple[list[list[int]], int]:
    """Groups of rows of different documents that may be one thing, for a table without a usable key; and the calls made.

    Rows are compared as whole records, by all their text; rows whose figures contradict each other are not. What comes out
    is a guess: a reader of the rows confirms it.

    Raises:
        ModelUnavailable: the model cannot be reached.
    """
    texts = [n for n, c in enumerate(table.columns) if c.type is ColumnType.TEXT and not profiles[n].prose]
    size = len(documents)
    if not any(profiles[n].identifying for n in texts) or len(np.unique(documents)) < 2 or size > _MOST_RECORDS:
        return [], 0
    figures = [encoded[n].codes for n, c in enumerate(table.columns) if c.type not in (ColumnType.TEXT, ColumnType.CATEGORY)]

    def fits(match: Match) -> bool:
        pairs = [(codes[match.left], codes[match.right]) for codes in figures]
        shared = [left == right for left, right in pairs if left >= 0 and right >= 0]
        apart = shared.count(False)
        return documents[match.left] != documents[match.right] and apart < 2 and (not apart or any(shared))

    columns = []
    for n in texts:
        examples = [str(value) for value in encoded[n].examples]
        columns.append([examples[code] if code >= 0 else "" for code in encoded[n].codes.tolist()])
    found = cluster(columns)
    found = replace(found, matches=tuple(filter(fits, found.matches)), open=tuple(filter(fits, found.open)))
    heard = await reconsider(model, [table.columns[n].name for n in texts], columns, found)
    links = Links(size)
    for match in sorted(filter(fits, heard.matches), key=lambda m: -m.score):
        links.join(match.left, match.right, "alike as whole records")
    members: dict[int, list[int]] = {}
    for row in range(size):
        members.setdefault(links.find(row), []).append(row)
    groups = [rows for rows in members.values() if 1 < len(rows) <= _LARGEST]
    return [rows for rows in groups if len({int(documents[r]) for r in rows}) == len(rows)], heard.calls


_MOST_RECORDS, _LARGEST = 20_000, 6
