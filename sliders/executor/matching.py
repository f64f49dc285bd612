"""Which values of two tables are one name, by reconciliation's rules: case, accents, word order, legal forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sliders.extraction.cell import Scalar
from sliders.reconcile.canonical import Links, link_by_rule


def canonical_forms(values: Sequence[Scalar]) -> dict[Scalar, Scalar]:
    """The form that stands for each value; values with one form are one name. Null has none: it joins nothing."""
    distinct = [value for value in dict.fromkeys(values) if value is not None]
    links = Links(len(distinct))
    link_by_rule(distinct, links, (), "")
    return {value: distinct[root] for value, root in zip(distinct, links.roots().tolist(), strict=True)}


def matcher(values: Sequence[Scalar]) -> Callable[[Scalar], bool]:
    """Whether a value is one name with any of these."""
    known = [value for value in dict.fromkeys(values) if value is not None]
    forms = canonical_forms(known)
    answers: dict[Scalar, bool] = dict.fromkeys(known, True)

    def matches(value: Scalar) -> bool:
        if value is None:
            return False
        if value not in answers:
            joined = canonical_forms([*known, value])
            answers[value] = any(joined[value] == joined[other] for other in forms)
        return answers[value]

    return matches
