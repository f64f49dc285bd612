"""Canonical values of a column: which printed forms are one name, and which form stands for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sliders.extraction.cell import Scalar
from sliders.extraction.parse_names import country_of, is_country_column
from sliders.reconcile.profile import Codes, Encoded
from sliders.reconcile.values import Normalization
from sliders.words import fold, legal_form, name_key, name_tokens


@dataclass(frozen=True, slots=True)
class Variants:
    """Variants of one column.

    `clusters[code]` is the cluster of a value, `representative[cluster]` the code that names it; `merged` counts
    the clusters with several forms; `reasons` says why, by cluster.
    """

    clusters: Codes
    representative: Codes
    merged: int
    reasons: dict[int, str]


class Links:
    """Disjoint sets over value codes, each link with its reason."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))
        self._reasons: dict[int, str] = {}

    def find(self, code: int) -> int:
        """The root of a code's set."""
        parent = self._parent
        while parent[code] != code:
            parent[code] = parent[parent[code]]
            code = parent[code]
        return code

    def join(self, left: int, right: int, reason: str) -> None:
        """Put two codes into one set; the smaller root stays."""
        a, b = self.find(left), self.find(right)
        if a != b:
            low, high = min(a, b), max(a, b)
            self._parent[high] = low
            self._reasons[low] = self._reasons.get(low) or self._reasons.get(high) or reason

    def roots(self) -> Codes:
        """The root of every code."""
        return np.fromiter((self.find(i) for i in range(len(self._parent))), np.int64, len(self._parent))

    def reason(self, root: int) -> str:
        """Why the set of that root is one."""
        return self._reasons.get(root, "")


def link_by_rule(examples: Sequence[Scalar], links: Links, normalize: Sequence[Normalization], column: str) -> None:
    """Join the forms that are one name beyond doubt: the user's terms, word order, legal forms, words for a country."""
    if is_country_column(examples):
        _link_countries(examples, links)
    texts = {code: value for code, value in enumerate(examples) if isinstance(value, str)}
    forms: dict[str, set[str]] = {}
    for value in texts.values():
        forms.setdefault(name_key(value), set()).add(legal_form(value))
    seen: dict[tuple[str, str], int] = {}
    for code, value in texts.items():
        key = name_key(value)
        several = len(forms[key] - {""}) > 1  # Moss Ltd, Moss Inc: which of them is Moss?
        first = seen.setdefault((key, legal_form(value) if several else ""), code)
        if first != code and _same_shape(str(examples[first]), value):
            links.join(first, code, "the same words, but for order, articles or legal form")
    by_form = {fold(str(value)): code for code, value in enumerate(examples) if isinstance(value, str)}
    for rule in normalize:
        if rule.column and rule.column != column:
            continue
        codes = [by_form[f] for f in map(fold, (rule.canonical, *rule.variants)) if f in by_form]
        for code in codes[1:]:
            links.join(codes[0], code, f"the user says that these mean {rule.canonical!r}")


def _link_countries(examples: Sequence[Scalar], links: Links) -> None:
    first: dict[str, int] = {}
    for code, value in enumerate(examples):
        country = country_of(str(value))
        if country is not None and first.setdefault(country, code) != code:
            links.join(first[country], code, f"both are words for {country}")


def _same_shape(left: str, right: str) -> bool:
    """Names of one token ("A", "The A") are joined only when nothing but a legal form differs."""
    a, b = name_tokens(left), name_tokens(right)
    if len(a) > 1 or len(b) > 1:
        return True
    return a == b and len(a[0]) > 2


def variants_of(encoded: Encoded, links: Links, normalize: Sequence[Normalization], column: str) -> Variants:
    """Clusters of a column's codes; each is named by its user's term, else by its most frequent, then longest form."""
    size = len(encoded.examples)
    counts = np.bincount(encoded.codes[encoded.codes >= 0], minlength=size)
    roots = links.roots()
    wanted = {fold(rule.canonical) for rule in normalize if not rule.column or rule.column == column}
    if is_country_column(encoded.examples):
        wanted |= {fold(country) for value in encoded.examples if (country := country_of(str(value)))}
    unique, clusters = np.unique(roots, return_inverse=True)
    clusters = clusters.astype(np.int64).reshape(-1)
    sizes = np.bincount(clusters, minlength=len(unique))
    representative = unique.astype(np.int64).copy()
    several = np.flatnonzero(sizes > 1)
    members: dict[int, list[int]] = {int(c): [] for c in several}
    for code in np.flatnonzero(sizes[clusters] > 1) if len(several) else ():
        members[int(clusters[code])].append(int(code))
    for cluster, codes in members.items():
        representative[cluster] = max(
            codes,
            key=lambda c: (fold(str(encoded.examples[c])) in wanted, counts[c], len(str(encoded.examples[c])), -c),
        )
    reasons = {int(c): links.reason(int(unique[c])) for c in several}
    return Variants(clusters, representative, len(several), reasons)


def apply_variants(codes: Codes, variants: Variants) -> Codes:
    """Cluster codes in place of value codes; empty stays empty."""
    return np.where(codes < 0, -1, variants.clusters[np.maximum(codes, 0)] if len(variants.clusters) else -1)
