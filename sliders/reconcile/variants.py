"""Pairs of printed forms that may be one name: other punctuation, misspellings, abbreviations,
short forms and acronyms, with the evidence of their rows.

A form alone proves little ("Jon Smith" may be another man than "John Smith"), and neither do rows
that agree. Both only suggest pairs; a model that reads the rows, or a person, decides. A *code* is
the number of a distinct value in its column.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from rapidfuzz.distance import DamerauLevenshtein

from sliders.extraction.cell import Scalar
from sliders.reconcile.canonical import pairs_by_words
from sliders.reconcile.column_codes import Codes
from sliders.values.folding import (
    LEGAL_FORMS,
    legal_form,
    name_key,
    name_parts,
    name_tokens,
    signed,
    turned,
    unaccented,
)
from sliders.values.names import country, written_forms

Kind = Literal[
    "spelling",
    "turned",
    "misspelling",
    "word form",
    "abbreviation",
    "short form",
    "acronym",
    "legal form",
    "language",
]
SAME_WORDS: tuple[Kind, ...] = ("spelling", "turned", "language")
"""The kinds of pair with the same words and legal form, or with one meaning in two languages. Rows
that contradict each other do not speak against such a pair.
"""
_BLOCK = 12  # a token that more values share is too common to compare them by
_TELLING = 0.2  # an equal value proves nothing above this chance agreement
_ROWS_READ = 50
_STEM, _ENDING = 4, 3  # letters
_TAIL = 3  # words of a legal form


@dataclass(frozen=True, slots=True)
class VariantPair:
    """Two codes that may be one name.

    `dotted` is True when the shorter form has a full stop, shortens more than initials, and fits
    only one name of the column. `ambiguous` is True when the shorter form fits several names, or
    lacks the legal form in which several names differ.
    """

    left: int
    right: int
    kind: Kind
    dotted: bool = False
    ambiguous: bool = False


def variant_pairs(examples: Sequence[Scalar], asking: bool = False) -> list[VariantPair]:
    """Returns candidate pairs among one column's distinct values. Only values that share words,
    rare words, prefixes or acronyms are compared.

    Args:
        asking: True when a model reads the rows of each pair; then weaker pairs are returned too.
    """
    names = {code: name_tokens(v) for code, v in enumerate(examples) if isinstance(v, str)}
    found = {
        pair: VariantPair(*pair, _same_words(pair, examples)) for pair in pairs_by_words(examples)
    }
    for members in _blocks(names, examples):
        for n, left in enumerate(members):
            for right in members[n + 1 :]:
                if (left, right) not in found and left != right:
                    kind = (_asked_kind if asking else _kind)(
                        str(examples[left]), str(examples[right])
                    )
                    if kind == "short form" and not _is_name(
                        str(examples[min(left, right, key=lambda c: len(names[c]))])
                    ):
                        continue
                    if kind is not None and kind not in SAME_WORDS:
                        found[left, right] = VariantPair(min(left, right), max(left, right), kind)
    for left, right in _other_forms(names, examples) if asking else ():
        if (left, right) not in found and (
            kind := _asked_kind(str(examples[left]), str(examples[right]))
        ) is not None:
            found[left, right] = VariantPair(left, right, kind)
    return list(_unambiguous(list(found.values()), names, examples))


def _other_forms(names: Iterable[int], examples: Sequence[Scalar]) -> Iterator[tuple[int, int]]:
    """Yields pairs of codes whose names are equal when letters are written out ("ä" as "ae"), or in
    another language.
    """
    homes: dict[object, list[int]] = defaultdict(list)
    for code in names:
        text = str(examples[code])
        for key in {*written_forms(text), country(text)} - {""}:
            homes[key].append(code)
    for members in homes.values():
        if len(members) <= _BLOCK:
            yield from combinations(members, 2)


def _blocks(
    names: Mapping[int, tuple[str, ...]], examples: Sequence[Scalar]
) -> Iterator[list[int]]:
    """Yields codes of names to compare: they share a rare word, the first or last six letters, or
    an acronym with its words.
    """
    blocks: dict[str, list[int]] = defaultdict(list)
    for code, tokens in names.items():
        for token in set(tokens):
            blocks[token].append(code)
        if len(flat := "".join(tokens)) >= 7:
            blocks["^" + flat[:6]].append(code)
            blocks["$" + flat[-6:]].append(code)
        for initials in _initials(str(examples[code])):
            if len(initials) >= 3:
                blocks[initials].append(code)
    return (members for members in blocks.values() if 1 < len(members) <= _BLOCK)


def _same_words(pair: tuple[int, int], examples: Sequence[Scalar]) -> Kind:
    return "spelling" if len({name_key(str(examples[code])) for code in pair}) == 1 else "turned"


def _initials(printed: str) -> set[str]:
    """Returns the first letters of a name's words: of all words, and of the capitalised ones
    ("University of Arlen").
    """
    words = _WORD.findall(printed)
    while len(words) > 1 and words[-1].lower() in LEGAL_FORMS:
        words.pop()
    if len(words) < 2:
        return set()
    return {
        unaccented("".join(w[0] for w in some))
        for some in (words, [w for w in words if not w[0].islower()])
    } - {""}


_WORD = re.compile(r"\w+")


def variant_kind(left: tuple[str, ...], right: tuple[str, ...]) -> Kind | None:
    """Returns how two names, as tokens, may be one; None when they cannot be, because numbers,
    signs or too many letters differ.
    """
    if _exact(left) != _exact(right) or left == right:
        return None
    short, full = sorted((left, right), key=lambda t: (len(t), len("".join(t))))
    if len(short) == len(full):
        differing = [(a, b) for a, b in zip(short, full, strict=True) if a != b]
        if all(
            len(a) < len(b) and (b.startswith(a) or (len(a) == 1 and b[0] == a))
            for a, b in differing
        ):
            return "abbreviation" if len(short) > len(differing) else None
        if len(differing) == 1 and min(map(len, differing[0])) >= 4:
            limit = 1 if max(map(len, differing[0])) < 8 else 2
            if DamerauLevenshtein.distance(*differing[0], score_cutoff=limit) <= limit:
                return "misspelling"
        if len(short) > 1 and len(differing) == 1 and _same_stem(*differing[0]):
            return "word form"
        return None
    if len(short) == 1 and len(short[0]) >= 2 and short[0] == "".join(w[0] for w in full):
        return "acronym"
    if full[: len(short)] == short or full[-len(short) :] == short:
        return "short form"
    return None


def _same_stem(left: str, right: str) -> bool:
    """Says whether two words begin alike and differ only in a short ending: "dairy" and
    "dairies".
    """
    shared = next(
        (n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )
    return shared >= _STEM and max(len(left), len(right)) - shared <= _ENDING


def _kind(left: str, right: str) -> Kind | None:
    """Returns how two printed names may be one; None when they cannot be, as with two
    legal forms.
    """
    (a, first), (b, second) = name_parts(left), name_parts(right)
    forms = {first, second}
    if several_forms(forms):
        return None
    if a == b:
        return "legal form" if len(forms) > 1 else "spelling"
    if any(
        "," in one and name_key(turned(one)) == name_key(other)
        for one, other in ((left, right), (right, left))
    ):
        return "turned"
    if any(
        len(one) == 1 and len(one[0]) > 1 and one[0] in _initials(full)
        for one, full in ((a, right), (b, left))
    ):
        return "acronym"
    dotted = shortened(left, right) or shortened(right, left)
    return variant_kind(a, b) or ("abbreviation" if dotted else None)


def _asked_kind(left: str, right: str) -> Kind | None:
    """Returns how two names may be one when a model will compare them: as `_kind`, and also by
    written-out letters, by language, and by words that a full stop shortens.
    """
    kind = _kind(left, right)
    forms = {legal_form(left), legal_form(right)}
    if kind is not None or several_forms(forms):
        return kind
    if written_forms(left) & written_forms(right):
        return "legal form" if len(forms) > 1 else "spelling"
    if (named := country(left)) and named == country(right):
        return "language"
    short, full = sorted((left.split(), right.split()), key=len)
    tail = len(full) - len(short)
    if 0 < tail <= _TAIL and shortened(" ".join(short), " ".join(full[: len(short)])):
        return "abbreviation"
    return None


def several_forms(forms: Iterable[str]) -> bool:
    """Says whether there are two legal forms among these, so that their names are different."""
    return len(set(forms) - {""}) > 1


def related(left: Scalar, right: Scalar) -> bool:
    """Says whether two forms could be one name at all: a variant, or names of different length with
    a shared word or an acronym's letters.
    """
    a, b = sorted((name_tokens(str(left)), name_tokens(str(right))), key=len)
    if len(a) == len(b) or several_forms(map(legal_form, (str(left), str(right)))):
        return _asked_kind(str(left), str(right)) is not None
    initials = "".join(word[0] for word in b)
    acronym = (
        len(a) == 1 and len(b) > 1 and (a[0].startswith(initials) or initials.startswith(a[0]))
    )
    return acronym or bool(set(a) & set(b)) or _asked_kind(str(left), str(right)) is not None


def _exact(tokens: Sequence[str]) -> list[str]:
    """Returns the tokens with a digit or a sign, in which no character may differ."""
    return sorted(t for t in tokens if not t.isalpha())


def _is_name(printed: str) -> bool:
    """Says whether any word is capitalised. Without capitals, "fish shop" is no short form of "old
    fish shop" but another kind of thing.
    """
    return not all(word[0].islower() for word in printed.split())


def shortened(short: str, full: str) -> tuple[str, str] | None:
    """Returns the words of a name that a full stop shortens, and the words of the fuller name that
    they stand for; None when the names differ in anything else, or share no whole word.
    """
    pairs = list(zip(short.split(), full.split(), strict=False))
    differing = [(part, word) for part, word in pairs if signed(part) != signed(word)]
    if len(short.split()) != len(full.split()) or not 0 < len(differing) < len(pairs):
        return None
    if not all(
        part.endswith(".") and _shortens(signed(part), signed(word)) for part, word in differing
    ):
        return None
    return " ".join(part for part, _ in differing), " ".join(word for _, word in differing)


def _shortens(part: str, word: str) -> bool:
    """Says whether `part` is the beginning of the word, or its first and last letter with letters
    between.
    """
    letters = iter(word)
    ends = len(part) > 1 and part[0] == word[0] and part[-1] == word[-1] and len(part) < len(word)
    return word.startswith(part) or (ends and all(letter in letters for letter in part))


def _unambiguous(
    listed: Sequence[VariantPair], names: dict[int, tuple[str, ...]], examples: Sequence[Scalar]
) -> Iterator[VariantPair]:
    """Yields pairs whose shorter side fits one name only, and whose longer side is no compound. A
    phrase of two names ("The Mill in Arlen") would chain both.
    """
    fuller: dict[int, set[tuple[str, ...]]] = defaultdict(set)
    registered: dict[int, set[str]] = defaultdict(set)
    shorter: dict[int, list[set[str]]] = defaultdict(list)
    for pair in listed:
        if pair.kind not in _NO_SHORTER:
            short, full = _short_first(pair, names, examples)
            registered[short].add(legal_form(str(examples[full])))
            if pair.kind != "legal form":
                fuller[short].add(names[full])
            if pair.kind == "short form":
                shorter[full].append(set(names[short]))
    for pair in listed:
        if pair.kind in _NO_SHORTER:
            yield pair
            continue
        short, full = _short_first(pair, names, examples)
        one = len(fuller[short]) == 1 and not several_forms(registered[short])
        if pair.kind == "legal form":
            yield replace(pair, ambiguous=several_forms(registered[short]))
            continue
        if pair.kind == "abbreviation":
            words = shortened(str(examples[short]), str(examples[full]))
            form = words is not None and all(len(signed(word)) > 1 for word in words[0].split())
            yield replace(pair, dotted=one and form, ambiguous=not one)
            continue
        compound = pair.kind == "short form" and any(
            not set(names[short]) & other for other in shorter[full]
        )
        if one and not compound:
            yield pair


_NO_SHORTER: tuple[Kind, ...] = (*SAME_WORDS, "misspelling", "word form")
"""The kinds of pair in which neither form is short for the other."""


def _short_first(
    pair: VariantPair, names: dict[int, tuple[str, ...]], examples: Sequence[Scalar]
) -> tuple[int, int]:
    def length(code: int) -> tuple[int, int, str]:
        return len(names[code]), len("".join(names[code])), legal_form(str(examples[code]))

    short, full = sorted((pair.left, pair.right), key=length)
    return short, full


class RowEvidence:
    """The evidence of the rows of two values, in the table's other columns."""

    def __init__(self, own: Codes, others: Sequence[tuple[Codes, float]]) -> None:
        order = np.argsort(own, kind="stable")
        self._order, self._sorted = order, own[order]
        self._others = others

    def _values(self, codes: Codes, value: int) -> set[int]:
        start, end = np.searchsorted(self._sorted, (value, value + 1))
        return {int(c) for c in codes[self._order[start : min(end, start + _ROWS_READ)]] if c >= 0}

    def supports(self, left: int, right: int, form: bool = False) -> bool | None:
        """Returns True when a telling column agrees and none contradicts, False when most
        contradict, and None when the rows say nothing.

        Args:
            form: True when the printed form itself suggests one name; then as many columns may
                contradict as
                agree.
        """
        agreeing, contradicting = 0, 0
        for codes, chance in self._others:
            a, b = self._values(codes, left), self._values(codes, right)
            if not a or not b:
                continue
            if a & b:
                agreeing += chance <= _TELLING
            else:
                contradicting += 1
        if agreeing and contradicting <= (agreeing if form else 0):
            return True
        return False if contradicting > max(1, agreeing) else None
