"""The printed forms of one column. Some forms are one name for certain, others are only shown as
one name; one form stands for each name.

A *code* is the number of a distinct value in the column, -1 for an empty cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from sliders.extraction.cell import Scalar
from sliders.reconcile.canonical import Links, recoded, terms_of
from sliders.reconcile.column_codes import Encoded
from sliders.reconcile.human_corrections import names_said
from sliders.reconcile.relation import MemoryRelation
from sliders.reconcile.repairs import Options, Repair
from sliders.reconcile.statements import canonical_sql, printed_sql
from sliders.reconcile.variants import related
from sliders.schema.types import Column, ColumnType
from sliders.values.folding import signed

_RESPELLED = "the same words, but for case, white space or Unicode form"


class Forms:
    """The forms of one column, by code. Forms that differ in case, white space or Unicode form are
    one name for certain; then the user's hints and people's decisions join and part forms.
    """

    def __init__(
        self, column: Column, encoded: Encoded, options: Options, names_rows: bool = False
    ) -> None:
        self.examples = encoded.examples
        self._column, self._encoded, self._options = column.name, encoded, options
        size = len(self.examples)
        self._counts = np.bincount(encoded.codes[encoded.codes >= 0], minlength=size)
        self._sure, self._shown = Links(size), Links(size)
        self._chosen: dict[int, int] = {}  # by a model, for each form that it joined
        self._people: set[int] = set()
        self._picked: set[int] = set()
        self._apart: set[frozenset[int]] = set()
        self._terms: dict[int, str] = {}
        for term, codes in terms_of(self.examples, options.normalize, column.name):
            self._link(codes, f"the user says that these mean {term!r}")
            self._terms |= dict.fromkeys(codes, term)
        if column.type is ColumnType.TEXT:  # classes of two rows that are one thing are two classes
            self._hear_people(names_rows)

    def _hear_people(self, names_rows: bool) -> None:
        """Joins and parts the forms that people decided on. Rows that are one thing may have two
        names, so in a column that names rows, only forms that could be one name are joined.
        """
        codes: dict[str, list[int]] = {}
        said = names_said(self._options.corrections, self._column)
        for code, value in enumerate(self.examples) if said else ():
            codes.setdefault(signed(str(value)), []).append(code)
        for (left, right), one in said.items():
            pairs = [
                (a, b)
                for a in codes.get(signed(left), ())
                for b in codes.get(signed(right), ())
                if a != b
            ]
            if one and names_rows and not related(left, right):
                continue
            if one:
                self._people.update(code for pair in pairs for code in pair)
                for pair in pairs:
                    self._link(pair, "a person says that they are one")
            else:
                self._apart |= set(map(frozenset, pairs))

    def _link(self, codes: Sequence[int], reason: str) -> None:
        for code in codes[1:]:
            self._sure.join(codes[0], code, reason)
            self._shown.join(codes[0], code, reason)

    def settled(self, left: int, right: int) -> bool:
        """Says whether two forms are one name for certain, or are two names by a
        person's decision.
        """
        return self._sure.find(left) == self._sure.find(right) or not self._may_join((left, right))

    def _may_join(self, codes: Sequence[int]) -> bool:
        together = (
            {member for code in codes for member in self._sure.members(code)}
            if self._apart
            else set()
        )
        return not any(pair <= together for pair in self._apart)

    def certain_of(self, code: int) -> int:
        """Returns the form that stands for a certain name, by any of its forms."""
        return self._chief(self._sure.members(code))

    def _chief(self, codes: Sequence[int]) -> int:
        """Returns the form that stands for several: the model's choice, else the most frequent
        form, then the longest.
        """
        chosen = [self._chosen[code] for code in codes if code in self._chosen]
        return max(
            chosen or codes,
            key=lambda c: (chosen.count(c), self._counts[c], len(str(self.examples[c])), -c),
        )

    def certain(self) -> Encoded:
        """Returns the column with one code for each certain name."""
        return self._one_code(self._sure.sets()) or self._encoded

    def likely(self) -> Encoded | None:
        """Returns the column with one code for each name that is certain or that the rows support;
        None when the rows support no further name. A choice of a model that did not read the rows
        does not count as support.
        """
        names = [codes for codes in self._shown.sets() if not self._picked.intersection(codes)]
        if all(len({self._sure.find(code) for code in codes}) == 1 for codes in names):
            return None
        return self._one_code([*self._sure.sets(), *names])

    def _one_code(self, names: Iterable[Sequence[int]]) -> Encoded | None:
        """Returns the column with one code for each of these names; None without names."""
        owners = {code: self._chief(codes) for codes in names for code in codes}
        if not owners:
            return None
        return Encoded(recoded(self._encoded.codes, owners, len(self.examples)), self.examples)

    def printed(self, code: int) -> tuple[str, ...]:
        """Returns all printed forms of a certain name, by any of its codes."""
        return tuple(
            str(form) for member in self._sure.members(code) for form in self._spelled(member)
        )

    def _spelled(self, code: int) -> tuple[Scalar, ...]:
        return self._encoded.respelled.get(code, (self.examples[code],))

    def join(
        self, codes: Sequence[int], chosen: int, reason: str, fit: Callable[[Sequence[int]], bool]
    ) -> bool:
        """Joins forms that a model, after reading their rows, decided to be one name. Returns True
        when they were joined.

        Args:
            codes: the forms.
            chosen: the form that stands for them.
            reason: the model's reason.
            fit: a test whether all forms that a model joined, now and before, may be one name.
        """
        before = [
            member
            for code in codes
            for member in self._sure.members(code)
            if member in self._chosen
        ]
        joined = tuple(dict.fromkeys((*codes, *before)))
        if not fit(joined) or not self._may_join(codes):
            return False
        self._link(codes, f"the model: {reason}")
        self._chosen |= dict.fromkeys(joined, next((self._chosen[code] for code in before), chosen))
        return True

    def shown_with(self, code: int) -> list[int]:
        """Returns all forms that are shown as one name with a form."""
        return self._shown.members(code)

    def show_together(self, codes: Sequence[int], reason: str, by_model: bool) -> None:
        """Shows forms as one name although nobody decided on them."""
        self._picked.update(codes if by_model else ())
        for code in codes[1:]:
            self._shown.join(codes[0], code, f"suggested, and nobody decided: {reason}")

    def names(self) -> Mapping[Scalar, Scalar]:
        """Returns the canonical form of each printed form that is joined with others
        for certain.
        """
        found: dict[Scalar, Scalar] = {}
        for codes in self._several(self._sure):
            name = self._name(codes)
            found |= {form: name for code in codes for form in self._spelled(code)}
        return found

    def _several(self, links: Links) -> Iterator[Sequence[int]]:
        """Yields the codes of each name that has several printed forms, or another term by the
        user.
        """
        yield from links.sets()
        alone = dict.fromkeys((*self._encoded.respelled, *self._terms))
        yield from ([code] for code in alone if len(links.members(code)) == 1)

    def _name(self, codes: Sequence[int]) -> Scalar:
        return next(
            (self._terms[code] for code in codes if code in self._terms),
            self.examples[self._chief(codes)],
        )

    def repairs(self, relation: MemoryRelation) -> Iterator[Repair]:
        """Yields the repairs that fill the column of canonical forms: first the printed values,
        then each name in the place of its forms.
        """
        names = list(self._several(self._shown))
        home = {code: number for number, codes in enumerate(names) for code in codes}
        rows: list[list[str]] = [[] for _ in names]
        for row, code in zip(
            relation.row_ids, self._encoded.codes.tolist() if names else (), strict=bool(names)
        ):
            if code in home:
                rows[home[code]].append(row)
        canonical, column = (
            self._options.canonical_name(self._column),
            self._options.sql_name(self._column),
        )
        first = [printed_sql(canonical, column)]
        for codes, ids in zip(names, rows, strict=True):
            forms, name = (
                tuple(form for code in codes for form in self._spelled(code)),
                self._name(codes),
            )
            if others := [form for form in forms if form != name]:
                statements = (*first, canonical_sql(canonical, column, others, name))
                first = []
                yield Repair(
                    "canonicalize",
                    tuple(ids),
                    self._column,
                    forms,
                    name,
                    statements,
                    *self._said(codes),
                )

    def _said(self, codes: Sequence[int]) -> tuple[str, Literal["code", "model", "person"]]:
        """Returns why forms are one name, and who decided it."""
        reasons = [*map(self._sure.reason, codes), *map(self._shown.reason, codes)]
        reasons += [_RESPELLED for code in codes if code in self._encoded.respelled]
        reasons += [
            f"the user's term is {self._terms[code]!r}"
            for code in codes
            if code in self._terms and len(codes) == 1
        ]
        author: Literal["code", "model", "person"] = "code"
        if any(code in self._people for code in codes):
            author = "person"
        elif any(code in self._chosen or code in self._picked for code in codes):
            author = "model"
        return "; ".join(dict.fromkeys(filter(None, reasons))), author
