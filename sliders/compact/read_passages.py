"""Passages for a small model: values beside the names of their columns, replies with one answer."""

from __future__ import annotations

from pydantic import ConfigDict

from sliders.answer.passage_reader import TOKENS, PassageForm, Read, short
from sliders.documents.tables import beside_names
from sliders.llm.dialect import COMPACT
from sliders.llm.replies import LenientReply, every_member


class Calculation(LenientReply):
    """Printed numbers put into an expression, with the words that print them."""

    model_config = ConfigDict(json_schema_extra=every_member)

    quote: str = short(240)
    expression: str = short(160)


ONE_ANSWER = PassageForm(COMPACT, beside_names, TOKENS, Read, Calculation)
"""The form for small models: tables as lines, replies with one answer."""
