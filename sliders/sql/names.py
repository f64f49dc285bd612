"""The known names nearest to an unknown one, and the tables that a SELECT reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rapidfuzz import fuzz, process, utils
from sqlglot import exp

_NEAREST = 5


def did_you_mean(name: str, known: Iterable[str], least: float = 0.6) -> str:
    """Returns a question that offers the nearest known names; "" when none has a similarity of at
    least `least` (0 to 1).
    """
    close = process.extractOne(name, list(known), scorer=fuzz.ratio, score_cutoff=100 * least)
    return f"did you mean {close[0]!r}?" if close else ""


def nearest(word: str, texts: Sequence[str], least: float = 0.0) -> list[str]:
    """Returns the few texts most similar to a word, best first, with a similarity of at least
    `least` (0 to 100).
    """
    found = process.extract(
        word,
        list(dict.fromkeys(texts)),
        scorer=fuzz.WRatio,
        processor=utils.default_process,
        limit=_NEAREST,
        score_cutoff=least,
    )
    return [text for text, _, _ in found]


def read_by(select: exp.Select) -> list[exp.Expr]:
    """Returns the tables and subqueries in the FROM clause and the joins, in this order."""
    source = select.args.get("from_") or select.args.get("from")
    return [source.this, *(join.this for join in select.args.get("joins") or ())] if source else []
