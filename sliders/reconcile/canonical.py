"""Canonical values of a column: which printed forms are one name, and which form stands for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sliders.extraction.cell import Scalar
from sliders.reconcile.column_codes import Codes, Encoded
from sliders.reconcile.repairs import Normalization
from sliders.values.fold import legal_form, name_key, signed, turned
from sliders.values.names import country_of, is_country_column


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
    """Join the forms that are one name beyond doubt: the user's terms, articles, names a comma turned, words for a country."""
    if is_country_column(examples):
        _link_countries(examples, links)
    texts = {code: value for code, value in enumerate(examples) if isinstance(value, str)}
    seen: dict[tuple[str, str], int] = {}
    for code, value in texts.items():
        first = seen.setdefault(_key(value), code)
        if first != code and len(name_key(value)) > _INITIALS:
            links.join(first, code, "the same words, but for articles or the spelling of a legal form")
    plain = {_key(value): code for code, value in texts.items() if "," not in value}
    for code, value in texts.items():
        around = turned(value)
        if around and _key(value) not in plain and _key(around) in plain:  # not both: it would chain two names
            links.join(plain[_key(around)], code, "the same words, turned around by a comma")
    by_form = {signed(str(value)): code for code, value in enumerate(examples) if isinstance(value, str)}
    for rule in normalize:
        if rule.column and rule.column != column:
            continue
        codes = [by_form[f] for f in map(signed, (rule.canonical, *rule.variants)) if f in by_form]
        for code in codes[1:]:
            links.join(codes[0], code, f"the user says that these mean {rule.canonical!r}")


def _link_countries(examples: Sequence[Scalar], links: Links) -> None:
    first: dict[str, int] = {}
    for code, value in enumerate(examples):
        country = country_of(str(value))
        if country is not None and first.setdefault(country, code) != code:
            links.join(first[country], code, f"both are words for {country}")


_INITIALS = 2  # letters of a name that an article may belong to: "A", "The A"


def _key(text: str) -> tuple[str, str]:
    return name_key(text), legal_form(text)


def representatives(encoded: Encoded, links: Links, normalize: Sequence[Normalization], column: str) -> dict[int, int]:
    """The code that stands for each form of a name with several: the user's term, else the most frequent, then the longest."""
    examples = encoded.examples
    counts = np.bincount(encoded.codes[encoded.codes >= 0], minlength=len(examples))
    roots = links.roots()
    members: dict[int, list[int]] = {}
    for code in np.flatnonzero(np.bincount(roots, minlength=len(examples))[roots] > 1).tolist():
        members.setdefault(int(roots[code]), []).append(code)
    wanted = {signed(rule.canonical) for rule in normalize if not rule.column or rule.column == column}
    if is_country_column(examples):
        wanted |= {signed(country) for value in examples if (country := country_of(str(value)))}
    found: dict[int, int] = {}
    for codes in members.values():
        kept = max(codes, key=lambda c: (signed(str(examples[c])) in wanted, counts[c], len(str(examples[c])), -c))
        found |= dict.fromkeys(codes, kept)
    return found


def recoded(codes: Codes, owner: Mapping[int, int], size: int) -> Codes:
    """Codes with some in the place of others; empty stays empty."""
    table = np.append(np.arange(size, dtype=np.int64), -1)
    for code, kept in owner.items():
        table[code] = kept
    found: Codes = table[codes]
    return found
