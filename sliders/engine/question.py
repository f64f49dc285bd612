"""A question as a value: everything that belongs to one question on its way through the stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sliders.answer.passages import PassageSource
from sliders.answer.route import Route, WorkflowName, explained, with_verify
from sliders.reconcile.repairs import Normalization, Precedence
from sliders.schema.hints import Hints

TABLES: WorkflowName = "extract_and_query"
"""The workflow that fills tables and answers with SQL."""


@dataclass(frozen=True, slots=True)
class Need:
    """The columns that a question needs, by table.

    Args:
        uncovered: the part of the question that no column covers.
        reason: why there are no columns.
        draft: the statement that the model drafted.
        hints: its hints, where they were read together with its columns.
        ended: why the asking ended early, or "" when it did not.
    """

    question: str
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    uncovered: str = ""
    reason: str = ""
    draft: str = ""
    hints: Hints | None = None
    ended: Literal["", "incomplete", "failed"] = ""


@dataclass(slots=True)
class Question:
    """A question with its hints, its workflow, and the notes for the user.

    `hints` hold the question without words that only say where to look. `alone` means that the
    question is asked by itself, since its hints leave out text that other questions need.
    """

    text: str = ""
    hints: Hints = field(default_factory=lambda: Hints(""))
    route: Route = field(default_factory=lambda: Route(TABLES))
    alone: bool = False
    source: PassageSource | None = None
    """The documents that it may be answered from; None until they are searched."""
    notes: list[str] = field(default_factory=list)
    out_of_scope: frozenset[str] = frozenset()
    """The ids of chunks that hints leave out; they are not asked for this question, and not
    recorded as asked.
    """
    need: Need | None = None
    """The columns that it needs, where they were planned together with its hints."""
    normalize: tuple[Normalization, ...] = ()
    precede: tuple[Precedence, ...] = ()

    @property
    def words(self) -> str:
        """The question as tables answer it: asked by itself, it has the words of its hints."""
        return with_verify(self.hints) if self.alone else self.text

    @property
    def terms(self) -> str:
        """The hints that change how data tables are settled, in words; "" without such hints."""
        return f"{self.normalize}{self.precede}" if self.normalize or self.precede else ""

    def explained(self) -> tuple[tuple[str, str], ...]:
        """Returns how the question is answered, as `explain` shows it: pairs of a label
        and words.
        """
        return explained(self.route, self.hints)
