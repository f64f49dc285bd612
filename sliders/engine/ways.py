"""The ways of asking a model: chosen here by its dialect, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass

from sliders.compact.induce import DRAFTS
from sliders.compact.repair_choices import CHOICES
from sliders.llm.model import Model
from sliders.reconcile.repair_agent import PROGRAMS, Repairer
from sliders.schema.induce import TABLES, Induction


@dataclass(frozen=True, slots=True)
class Ways:
    """What each room asks of a model, by its implementation for one dialect."""

    induction: Induction
    repairer: Repairer


_WAYS = {
    "full": Ways(induction=TABLES, repairer=PROGRAMS),
    "compact": Ways(induction=DRAFTS, repairer=CHOICES),
}


def ways_of(model: Model) -> Ways:
    """The ways in which a model is asked."""
    return _WAYS[model.dialect.name]
