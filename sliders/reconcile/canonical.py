"""Forms of one name: sets of values that are one name, and the form that stands for each set.

A *code* is the number of a distinct value in its column (-1 for an empty cell).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sliders.extraction.cell import Scalar
from sliders.reconcile.column_codes import Codes
from sliders.reconcile.repairs import Normalization
from sliders.values.folding import name_parts, signed, turned


class Links:
    """Disjoint sets of codes, with the reason for each link. The smallest code of a set is its
    root.
    """

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))
        self._reasons: dict[int, str] = {}
        self._members: dict[int, list[int]] = {}

    def find(self, code: int) -> int:
        """Returns the root of the set that holds a code."""
        parent = self._parent
        while parent[code] != code:
            parent[code] = parent[parent[code]]
            code = parent[code]
        return code

    def join(self, left: int, right: int, reason: str) -> None:
        """Joins the sets of two codes; the smaller of their roots becomes the root."""
        a, b = self.find(left), self.find(right)
        if a != b:
            low, high = min(a, b), max(a, b)
            self._parent[high] = low
            self._reasons[low] = self._reasons.get(low) or self._reasons.pop(high, "") or reason
            self._members[low] = [*self._members.pop(low, [low]), *self._members.pop(high, [high])]

    def members(self, code: int) -> list[int]:
        """Returns all codes of the set that holds this code."""
        return self._members.get(self.find(code), [code])

    def sets(self) -> list[list[int]]:
        """Returns the sets that have several codes."""
        return list(self._members.values())

    def roots(self) -> Codes:
        """Returns the root of every code."""
        return np.fromiter(
            (self.find(i) for i in range(len(self._parent))), np.int64, len(self._parent)
        )

    def reason(self, code: int) -> str:
        """Returns the reason why the codes in this code's set are one name; "" for a code that was
        never joined.
        """
        return self._reasons.get(self.find(code), "")


def pairs_by_words(examples: Sequence[Scalar]) -> list[tuple[int, int]]:
    """Returns pairs of codes whose names have the same words and legal form, and differ only in
    punctuation, accents or the order around a comma.

    The pairs are suggestions: two different names can have the same words.
    """
    keys = {
        code: name_parts(value) for code, value in enumerate(examples) if isinstance(value, str)
    }
    first: dict[tuple[tuple[str, ...], str], int] = {}
    pairs = [
        (one, code) for code, key in keys.items() if (one := first.setdefault(key, code)) != code
    ]
    commas = [code for code in keys if "," in str(examples[code])]
    plain = {keys[code]: code for code in keys.keys() - set(commas)} if commas else {}
    for code in commas:
        around = turned(str(examples[code]))
        # Not both: it would chain two names.
        if around and keys[code] not in plain and name_parts(around) in plain:
            pairs.append((plain[name_parts(around)], code))
    return [(min(pair), max(pair)) for pair in pairs]


def terms_of(
    examples: Sequence[Scalar], normalize: Sequence[Normalization], column: str
) -> list[tuple[str, list[int]]]:
    """Returns the terms that the user defined for this column, each with the codes of the forms
    that stand for it.
    """
    by_form: dict[str, list[int]] = {}
    rules = [rule for rule in normalize if not rule.column or rule.column == column]
    for code, value in enumerate(examples) if rules else ():
        if isinstance(value, str):
            by_form.setdefault(signed(value), []).append(code)
    found = []
    for rule in rules:
        forms = dict.fromkeys(map(signed, (rule.canonical, *rule.variants)))
        if codes := [code for form in forms for code in by_form.get(form, ())]:
            found.append((rule.canonical, codes))
    return found


def recoded(codes: Codes, owner: Mapping[int, int], size: int) -> Codes:
    """Returns codes with some replaced by others; empty cells stay empty.

    Args:
        owner: the new code by the old one.
        size: the number of codes.
    """
    table = np.append(np.arange(size, dtype=np.int64), -1)
    for code, kept in owner.items():
        table[code] = kept
    found: Codes = table[codes]
    return found
