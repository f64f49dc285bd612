"""A question as a value: everything that belongs to one question on its way through the stages."""

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
    normalize: tuple[Normalization, ...] = ()
    precede: tuple[Precedence, ...] = ()

    @property
    def terms(self) -> str:
        """The hints that change how data tables are settled, in words; "" without such hints."""
        return f"{self.normalize}{self.precede}" if self.normalize or self.precede else ""

    def explained(self) -> tuple[tuple[str, str], ...]:
        """Returns how the question is answered, as `explain` shows it: pairs of a label
        and words.
        """
        return explained(self.route, self.hints)
