"""Induced tables over documents that each report the result of a contest: who won, who lost, and the score.

A small model asked for "the lowest score of any team" proposes one score a document, or lists whatever a report names.
That a document tells one result is seen in its own words; scores of sides, margins and totals follow by code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sliders.executor.sampling import beginnings
from sliders.executor.session import Session
from sliders.extraction.scores import GROUPS, results_in, side_of
from sliders.schema.lint import subject
from sliders.schema.literals import literals
from sliders.schema.names import plural, spoken_name, with_article
from sliders.schema.types import Column, ColumnType, Table

_SHARE, _FEWEST, _MOST_A_DOCUMENT = 0.6, 2, 4
_EVENTS = frozenset("game match fixture bout fight contest final".split())
_WON = frozenset(
    "win wins won winner winners winning beat beats beaten lose loses lost loser losing losses defeat defeated defeats "
    "victory victories margin margins decided".split()
)
_SCORED = frozenset("score scores scored scoring points goals runs total appear appears play played".split())
_OF_RESULTS = _WON | _SCORED | GROUPS | _EVENTS | frozenset("outcome result opponents teams sides clubs difference".split())


@dataclass(frozen=True, slots=True)
class PrintedResults:
    """What sampled documents say of results: their beginnings, what they call a side and what a contest ("" if nothing)."""

    texts: tuple[str, ...]
    side: str
    event: str


def printed_results(session: Session) -> PrintedResults | None:
    """What the documents say of results, None unless most of them tell one or few each."""
    texts = beginnings(session)
    told = [len(results_in(text)) for text in texts]
    single = sum(1 <= n <= _MOST_A_DOCUMENT for n in told)
    if single < max(_FEWEST, _SHARE * len(texts)):
        return None
    return PrintedResults(tuple(texts), _commonest(texts, GROUPS), _commonest(texts, _EVENTS))


def _commonest(texts: Sequence[str], nouns: frozenset[str]) -> str:
    said = Counter(w for text in texts for w in re.findall(r"[a-z]+", text.lower()) if w in nouns)
    return said.most_common(1)[0][0] if said else ""


def asks_of_results(question: str, printed: PrintedResults) -> bool:
    """Whether a question is about contests or their sides, not about who or what else takes part in them."""
    words = set(re.findall(r"[a-z]+", question.lower()))
    about = subject(question)
    if about and about not in GROUPS | _EVENTS | {"person", "side"}:
        return False
    group = bool(words & (GROUPS | {f"{noun}s" for noun in GROUPS}))
    if about == "person" or not group:
        return bool(words & _WON) and _names_sides(question, printed)
    return bool(words & (_WON | _SCORED)) and _names_sides(question, printed)


def _names_sides(question: str, printed: PrintedResults) -> bool:
    """Whether the names of a question that the documents have stand where results are told."""
    told = [text[start:end] for text in printed.texts for start, end in results_in(text)]
    names = [name for name in literals(question) if any(name in text for text in printed.texts)]
    return all(any(name in sentence for sentence in told) for name in names)


def shape_results(proposal: Table, question: str, printed: PrintedResults) -> Table:
    """The proposed table for a question about results, with one row for each: winner, loser, score, and other facts of it.

    A question for other numbers of a side ("which team had the most visitors") keeps its proposal.
    """
    others = [c for c in proposal.columns if not _told_by_result(c)]
    if any(c.type in (ColumnType.INTEGER, ColumnType.NUMBER) for c in others):
        return proposal
    side = next((w for w in re.findall(r"[a-z]+", question.lower()) if w in GROUPS), printed.side or "side")
    columns = (
        Column("winner", description=f"{side} that won"),
        Column("loser", description=f"{side} that lost"),
        Column("score", ColumnType.INTEGER, "final score"),
    )
    said = proposal.row.split()[-1] if proposal.row else ""
    event = printed.event or (said if said and said not in GROUPS and said != "person" else "contest")
    return replace(
        proposal, name=plural(event), columns=(*columns, *others), row=with_article(event), grain="document", key=()
    )


def _told_by_result(column: Column) -> bool:
    words = spoken_name(column.name).split()
    return bool(side_of(column.name)) or {w.rstrip("s") for w in words} <= {w.rstrip("s") for w in _OF_RESULTS}
