"""How a model is asked: full or compact. The model's dialect decides it in this module alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sliders.answer.passage_reader import IN_PARTS, PassageForm
from sliders.answer.sql_writer import STEPS, SqlWriter
from sliders.compact.gate import BY_ODDS
from sliders.compact.hint_patterns import PATTERNS
from sliders.compact.induce import DRAFTS
from sliders.compact.read_passages import ONE_ANSWER
from sliders.compact.read_values import VALUES
from sliders.compact.repair_choices import CHOICES
from sliders.compact.write_sql import BARE_SQL
from sliders.engine.hints import BY_MODEL
from sliders.extraction.extract import ChunkReader
from sliders.extraction.gate import BY_OUTLINE, Gate
from sliders.extraction.prompt import card_prompt
from sliders.extraction.read import CELLS
from sliders.llm.dialect import DialectName
from sliders.llm.model import Model, Request
from sliders.reconcile.repair_agent import PROGRAMS, Repairer
from sliders.schema.hints import HintReader
from sliders.schema.induce import TABLES, Induction


@dataclass(frozen=True, slots=True)
class Ways:
    """The functions that ask a model, in the form of one dialect. `card` makes the request for the
    cards of documents, from their names and beginnings; None when code makes the cards.
    """

    hints: HintReader
    induction: Induction
    gate: Gate
    reader: ChunkReader
    card: Callable[[Sequence[tuple[str, str]]], Request] | None
    repairer: Repairer
    sql: SqlWriter
    passages: PassageForm


_WAYS: dict[DialectName, Ways] = {
    "full": Ways(BY_MODEL, TABLES, BY_OUTLINE, CELLS, card_prompt, PROGRAMS, STEPS, IN_PARTS),
    "compact": Ways(PATTERNS, DRAFTS, BY_ODDS, VALUES, None, CHOICES, BARE_SQL, ONE_ANSWER),
}


def ways_of(model: Model) -> Ways:
    """Returns the functions that ask this model."""
    return _WAYS[model.dialect.name]
