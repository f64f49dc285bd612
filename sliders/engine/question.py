"""A question as a value: everything that belongs to one question on its way through the stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sliders.answer.passages import PassageSource
from sliders.answer.profile import TableProfile
from sliders.answer.result import SqlAnswer
from sliders.answer.route import Route, WorkflowName, explained, with_verify
from sliders.reconcile.repairs import Normalization, Precedence
from sliders.schema.hints import Hints

TABLES: WorkflowName = "extract_and_query"
"""The workflow that fills tables and answers with SQL."""


@dataclass(frozen=True, slots=True)
class StandingAnswer:
    """The agent's answer from the tables that stood when a question came, and these as it saw
    them.
    """

    answer: SqlAnswer
    profiles: Sequence[TableProfile]


@dataclass(frozen=True, slots=True)
class Need:
    """The columns that a question needs, by table.

    Args:
        uncovered: the part of the question that no column covers.
        reason: why there are no columns.
        draft: the SQL that the model drafted for the question.
        hints: the hints of the question, when one call read them together with the columns.
        ended: the status of the answer when the asking ended early; "" when it did not.
        standing: the answer from the tables that stood; None when columns were planned.
    """

    question: str
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    uncovered: str = ""
    reason: str = ""
    draft: str = ""
    hints: Hints | None = None
    ended: Literal["", "incomplete", "failed"] = ""
    standing: StandingAnswer | None = None


@dataclass(slots=True)
class Question:
    """A question with its hints, its workflow, and the notes for the user.

    `hints` also hold the question without the words that only say where to look. `alone` means that
    the question is asked by itself, since its hints leave out text that other questions need.
    """

    text: str = ""
    hints: Hints = field(default_factory=lambda: Hints(""))
    route: Route = field(default_factory=lambda: Route(TABLES))
    alone: bool = False
    source: PassageSource | None = None
    """The documents in which its answer is searched; None before the search."""
    notes: list[str] = field(default_factory=list)
    out_of_scope: frozenset[str] = frozenset()
    """The ids of chunks that hints leave out. They are not read for this question, and not recorded
    as read.
    """
    need: Need | None = None
    """The columns that the question needs, when they were planned together with its hints."""
    normalize: tuple[Normalization, ...] = ()
    precede: tuple[Precedence, ...] = ()

    @property
    def words(self) -> str:
        """The question as it is put to tables; a question that is asked by itself includes the
        words of its hints.
        """
        return with_verify(self.hints) if self.alone else self.text

    @property
    def terms(self) -> str:
        """The hints that change how data tables are settled, in words; "" without such hints."""
        return f"{self.normalize}{self.precede}" if self.normalize or self.precede else ""

    def explained(self) -> tuple[tuple[str, str], ...]:
        """Returns pairs (label, words) that say how the question is answered, for `explain`."""
        return explained(self.route, self.hints)
