"""A question as a value: what belongs to it alone while it goes through the stages."""

from __future__ import annotations

from dataclasses import dataclass, field

from sliders.answer.passages import PassageSource
from sliders.answer.route import Route, WorkflowName, explained
from sliders.reconcile.repairs import Normalization, Precedence
from sliders.schema.hints import Hints

TABLES: WorkflowName = "extract_and_query"
"""The workflow that fills tables and answers with SQL."""


@dataclass(slots=True)
class Question:
    """The words of a question, its hints, the workflow that answers it, and what the user is told.

    `hints` hold the question without what only says where to look. `alone` says that it is asked
    by itself: what its hints leave out must not be missing for other questions.
    """

    text: str = ""
    hints: Hints = field(default_factory=lambda: Hints(""))
    route: Route = field(default_factory=lambda: Route(TABLES))
    alone: bool = False
    source: PassageSource | None = None
    """The documents that it may be answered from, once they were searched."""
    notes: list[str] = field(default_factory=list)
    out_of_scope: frozenset[str] = frozenset()
    """Chunks that hints leave out: not asked for this question, and not recorded as asked."""
    normalize: tuple[Normalization, ...] = ()
    precede: tuple[Precedence, ...] = ()

    @property
    def terms(self) -> str:
        """The terms that decide how data tables stand, in words; "" without hints."""
        return f"{self.normalize}{self.precede}" if self.normalize or self.precede else ""

    def explained(self) -> tuple[tuple[str, str], ...]:
        """How it is answered, as `explain` shows it: kind of line and words."""
        return explained(self.route, self.hints)
