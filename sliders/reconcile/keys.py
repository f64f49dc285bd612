"""The choice of a table's key: the columns whose values identify the thing that a row is about,
tested on the table's own rows.

A key holds *within* a document: rows of one document with equal keys are one thing. It holds
*across* documents only when the schema, the user or the model says so. When the other columns agree
across documents far beyond chance, that is a reason to ask the model, and decides nothing alone.
Agreement is measured as Cohen's kappa (0: as by chance, 1: always equal). A *code* is the number of
a distinct value in its column, -1 for an empty cell. A *group* is the rows with one key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np

from sliders.errors import RepairError
from sliders.reconcile.column_codes import Codes, ColumnTraits, Encoded, combine, unique_share
from sliders.reconcile.keying import KeyReply
from sliders.schema.row_names import called_as_row
from sliders.schema.types import ColumnType, Table
from sliders.values.expected import TEXTUAL

ENTITY_AGREEMENT = 0.6  # kappa from which rows with one key are one thing
DECLARED_AGREEMENT = 0.5  # kappa that is enough when the schema names the key
_WORST_AGREEMENT = 0.2  # kappa below which a column contradicts the key as a rule
_MIN_COVERAGE = 0.5
_MIN_UNIQUE = 0.97
_MIN_COMPARISONS = 5
_WHOLE = 2  # columns beside the key that two rows need to be compared as a whole
_EMPTY = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """The key of a table, and how far it holds.

    Args:
        columns: the key's columns; () for none.
        per_document: True when a document holds one row.
        within: True when rows of one document with equal keys are one thing.
        across: True when rows of several documents with equal keys are one thing.
        certain: True when the user pinned the key; then contradictions never split a group.
        reason: why this key was chosen.
        sure: True when `across` comes from the user or the model.
        likely: True when `across` comes from a model that is not sure.
        suggested: a key that may hold across documents, by the data alone.
    """

    columns: tuple[str, ...]
    per_document: bool
    within: bool
    across: bool
    certain: bool
    reason: str
    sure: bool = False
    likely: bool = False
    suggested: tuple[str, ...] = ()


ENTRIES = KeyPlan(
    (), False, False, False, False, "every row is an entry of a list, and stands for itself"
)


def told_key(plan: KeyPlan, said: KeyReply, reason: str) -> KeyPlan:
    """Returns the plan with the key that the model named."""
    across = said.scope == "collection" and bool(said.key)
    columns = said.key if across or not plan.per_document else plan.columns
    within = plan.per_document or bool(columns)
    why = f"the model: {reason}"
    likely = across and not said.sure
    return KeyPlan(columns, plan.per_document, within, across, False, why, said.sure, likely)


@dataclass(frozen=True, slots=True)
class KeyAgreement:
    """The agreement of the other columns inside the groups of a key: the mean and the lowest kappa
    over the columns, and the number of comparisons.
    """

    kappa: float
    worst: float
    comparisons: int

    def __str__(self) -> str:
        return f"kappa {self.kappa:.2f} in {self.comparisons} comparisons"


def group_extremes(codes: Codes, order: Codes, starts: Codes) -> tuple[Codes, Codes]:
    """Returns the smallest and the largest code of each group; (int64 max, -1) for a group without
    codes.
    """
    if not len(starts):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    ordered = codes[order]
    low = np.minimum.reduceat(np.where(ordered < 0, _EMPTY, ordered), starts)
    return low, np.maximum.reduceat(ordered, starts)


def sorted_groups(groups: Codes) -> tuple[Codes, Codes]:
    """Returns the row numbers sorted by group (stable), and the place where each group starts."""
    order = np.argsort(groups, kind="stable").astype(np.int64)
    ordered = groups[order]
    starts = (
        np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else np.empty(0)
    )
    return order, starts.astype(np.int64)


def agreement(columns: Sequence[tuple[Codes, float]], groups: Codes) -> KeyAgreement:
    """Returns the agreement of columns inside groups.

    Args:
        columns: the codes of each column, with its chance agreement (0 to 1).
        groups: the group of each row; rows below 0 are left out.
    """
    kept = np.flatnonzero(groups >= 0)
    order, starts = sorted_groups(groups[kept])
    kappas, comparisons = [], 0
    for codes, chance in columns:
        if chance > 0.99:
            continue
        part = codes[kept]
        low, high = group_extremes(part, order, starts)
        filled = (
            np.add.reduceat((part[order] >= 0).astype(np.int64), starts) if len(starts) else starts
        )
        compared = filled >= 2
        count = int(compared.sum())
        if not count:
            continue
        rate = float((low[compared] == high[compared]).mean())
        kappas.append((rate - chance) / (1 - chance))
        comparisons += count
    if not kappas:
        return KeyAgreement(0.0, 0.0, 0)
    return KeyAgreement(float(np.mean(kappas)), min(kappas), comparisons)


def refutes_document_grain(columns: Sequence[Codes], documents: Codes, chunks: Codes) -> bool:
    """Says whether chunks hold several different rows, so that a document cannot have one row
    alone.
    """
    order, starts = sorted_groups(chunks)
    if not len(starts):
        return False
    contradictions = np.zeros(len(starts), np.int64)
    for codes in columns:
        low, high = group_extremes(codes, order, starts)
        contradictions += (high >= 0) & (low < high)
    several = {int(d) for d in documents[order[starts[contradictions >= 2]]]}
    return len(several) > 0.3 * len(np.unique(documents))


class KeyChooser:
    """Chooses the key of one table by its rows."""

    def __init__(
        self,
        table: Table,
        profiles: Sequence[ColumnTraits],
        encoded: Sequence[Encoded],
        documents: Codes,
        chunks: Codes,
    ) -> None:
        self._table, self._documents, self._chunks = table, documents, chunks
        self._profiles = {p.name: p for p in profiles}
        self._codes = {p.name: e.codes for p, e in zip(profiles, encoded, strict=True)}
        self._said = {p.name: e.agreeing for p, e in zip(profiles, encoded, strict=True)}
        hard = [self._codes[p.name] for p in profiles if not p.prose]
        self._refuted = table.grain == "document" and refutes_document_grain(
            hard, documents, chunks
        )
        self.per_document = table.grain == "document" and not self._refuted

    def choose(self) -> KeyPlan:
        """Returns the key of the table, and how far it holds.

        It is the schema's key when there is one, without columns that are empty in every row.
        Otherwise it is the document when each document is one row, else the key that the data show
        best, else no key.

        Raises:
            RepairError: the schema's key names a column that the table does not have.
        """
        unknown = [c for c in self._table.key if c not in self._profiles]
        if unknown:
            known = ", ".join(self._profiles)
            raise RepairError(
                f"the key of table {self._table.name!r} names {unknown}, which the table does not "
                f"have; use its columns: {known}"
            )
        if self._table.key:
            told = tuple(
                n for n in self._table.key if self._profiles[n].coverage
            )  # a column without values tells no rows apart
            return self._declared(told or self._table.key)
        return self._of_documents() if self.per_document else self._discovered()

    def objection(self, key: Sequence[str]) -> str:
        """Returns why the data contradict a key that the user or the model named; "" when they do
        not.
        """
        if not key:
            return ""
        measured = [n for n in key if not self._profiles[n].identifying]
        if measured:
            return f"{measured[0]} is an amount or a text, and identifies nothing"
        codes = combine(*(self._codes[n] for n in key))
        if (filled := float((codes >= 0).mean())) < _MIN_COVERAGE:
            return f"only {filled:.0%} of the rows have all of it"
        if (unique := unique_share(codes, self._chunks)) < _MIN_UNIQUE:
            return (
                f"rows of one passage share it ({unique:.0%} are unique), so it throws "
                "different things together"
            )
        return ""

    def repeated(self, key: Sequence[str]) -> list[list[int]]:
        """Returns groups of row numbers: rows of several documents that share a key."""
        codes = _spanning(combine(*(self._codes[n] for n in key)), self._documents)
        groups: dict[int, list[int]] = {}
        for row in np.flatnonzero(codes >= 0).tolist():
            groups.setdefault(int(codes[row]), []).append(row)
        return list(groups.values())

    def told_twice(self, key: Sequence[str]) -> list[list[int]]:
        """Returns groups of row numbers: rows of several documents that are equal in the key and in
        all other columns. [] when the table has fewer than two other columns.
        """
        profiles = [
            p
            for name, p in self._profiles.items()
            if name not in key and not p.prose and p.coverage
        ]
        if len(profiles) < _WHOLE:
            return []
        others = [self._said[p.name] for p in profiles]
        told = np.sum([codes >= 0 for codes in others], axis=0) >= _WHOLE
        keyed = combine(*(self._codes[n] for n in key))
        spanning = _spanning(np.where(told, keyed, -1), self._documents)
        rows = np.flatnonzero(spanning >= 0)  # few as a rule: the others need not be compared
        if not len(rows):
            return []
        same = combine(spanning[rows], *(codes[rows] + 1 for codes in others))
        again = _spanning(same, self._documents[rows])
        kept = np.flatnonzero(again >= 0)
        order, starts = sorted_groups(again[kept])
        return (
            [some.tolist() for some in np.split(rows[kept[order]], starts[1:])] if len(kept) else []
        )

    def _declared(self, key: tuple[str, ...]) -> KeyPlan:
        """Returns the plan for the key that the schema declares."""
        across = self._table.key_scope == "collection"
        if self._table.pinned:
            reason = "the key was pinned by the user"
            return KeyPlan(key, self.per_document, True, across, True, reason, sure=across)
        found = self.agreement(key)
        suggested = key if not across and self._repeats(key, found) else ()
        reason = f"the schema's key; the other columns agree across documents with {found}"
        return KeyPlan(key, self.per_document, True, across, False, reason, suggested=suggested)

    def _repeats(self, key: tuple[str, ...], found: KeyAgreement) -> bool:
        """Says whether several documents seem to be about one thing by this key: the other columns
        agree, or several documents repeat some row in all columns.
        """
        return found.kappa >= DECLARED_AGREEMENT or bool(self.told_twice(key))

    def _of_documents(self) -> KeyPlan:
        """Returns the plan for one row in each document. When rows of several documents have one
        name and seem to tell of one thing, the name is a suggested key.
        """
        named = called_as_row(self._table) if self._table.row else None
        if named is not None and self._usable(named.name):
            found = self.agreement((named.name,))
            if self._repeats((named.name,), found):
                reason = f"documents of one {named.name} agree with {found}"
                return KeyPlan((), True, True, False, False, reason, suggested=(named.name,))
        reason = "each document is one row; none names it across documents"
        return KeyPlan((), True, True, False, False, reason)

    def _discovered(self) -> KeyPlan:
        """Returns the plan that the data show best. The first text column is tried beside the
        candidates, and must agree as well as these.
        """
        candidates, first = self.candidates(), self._first_text()
        if first and first not in candidates:
            candidates.append(first)
        best, most = None, 0
        for key in candidates:
            found = self.agreement(key)
            most = max(most, found.comparisons)
            enough = found.comparisons >= _MIN_COMPARISONS
            said = key == first and enough and found.kappa >= DECLARED_AGREEMENT
            if said or self._names_an_entity(key, found):
                reason = f"repeated across documents with {found}"
                return KeyPlan(key, False, True, False, False, reason, suggested=key)
            inside = self.agreement(key, across=False)
            if best is None and inside.comparisons and inside.kappa >= ENTITY_AGREEMENT:
                reason = (
                    f"repeated inside documents with kappa {inside.kappa:.2f}; across documents "
                    f"{found.kappa:.2f}"
                )
                best = KeyPlan(key, False, True, False, False, reason)
        return best or self._no_key(bool(candidates), most)

    def _first_text(self) -> tuple[str, ...]:
        """Returns the first usable text column; () when there is none, or when the schema does not
        say what a row is.
        """
        texts = (
            name
            for name in self._table.column_names
            if self._usable(name) and self._table.column(name).type is ColumnType.TEXT
        )
        return tuple(islice(texts, 1 if self._table.row else 0))

    def _no_key(self, tried: bool, comparisons: int) -> KeyPlan:
        """Returns the plan without a key: every row stands alone.

        Args:
            tried: True when there were candidates, of which none was believed.
            comparisons: the most comparisons across documents that a candidate had.
        """
        why = "rows of equal names contradict each other" if tried else "no column names one thing"
        if tried and comparisons < _MIN_COMPARISONS:
            why = (
                "rows of equal names have too few values to compare across documents "
                f"({comparisons}; {_MIN_COMPARISONS} are needed)"
            )
        if self._refuted:
            why += "; the chunks hold several rows a document, so the grain is many"
        return KeyPlan((), False, False, False, False, f"every row is a record of its own: {why}")

    def _names_an_entity(self, key: tuple[str, ...], found: KeyAgreement) -> bool:
        """Says whether to believe a key that nobody declared: it holds a name, the other columns
        agree, and none of them contradicts it as a rule.
        """
        named = any(self._table.column(c).type in TEXTUAL for c in key)
        agrees = found.kappa >= ENTITY_AGREEMENT and found.worst >= _WORST_AGREEMENT
        return named and agrees and found.comparisons >= _MIN_COMPARISONS

    def _usable(self, name: str) -> bool:
        """Says whether a column can be part of a key."""
        profile = self._profiles[name]
        return profile.identifying and profile.coverage >= _MIN_COVERAGE

    def candidates(self) -> list[tuple[str, ...]]:
        """Returns column sets that name a row uniquely inside its chunk: the smallest sets first,
        then the columns with the fewest empty cells.
        """
        names = [name for name in self._codes if self._usable(name)]
        names.sort(key=lambda n: -self._profiles[n].coverage * self._profiles[n].unique_in_chunk)
        found: list[tuple[str, ...]] = []
        for size in (1, 2, 3):
            scored = []
            for key in combinations(names[: 8 if size < 3 else 5], size):
                if any(set(smaller) <= set(key) for smaller in found):
                    continue
                codes = combine(*(self._codes[n] for n in key))
                coverage = float((codes >= 0).mean())
                if coverage >= _MIN_COVERAGE and unique_share(codes, self._chunks) >= _MIN_UNIQUE:
                    scored.append((-coverage, key))
            found.extend(key for _, key in sorted(scored))
        return found

    def _others(self, key: tuple[str, ...]) -> list[tuple[Codes, float]]:
        """Returns the codes and chance agreement of the columns that are not in the key."""
        return [
            (codes, self._profiles[name].chance)
            for name, codes in self._said.items()
            if name not in key
            and not self._profiles[name].prose
            and self._profiles[name].coverage > 0
        ]

    def agreement(self, key: tuple[str, ...], across: bool = True) -> KeyAgreement:
        """Returns the agreement inside the key's groups that span several documents; with `across`
        False, inside the groups of one document that span several chunks.
        """
        codes = [self._codes[n] for n in key]
        if across:
            return agreement(self._others(key), _spanning(combine(*codes), self._documents))
        return agreement(
            self._others(key), _spanning(combine(*codes, self._documents), self._chunks)
        )


def _spanning(groups: Codes, units: Codes) -> Codes:
    """Returns the groups, with -1 for groups whose rows all lie in one unit (a document or a
    chunk).
    """
    order, starts = sorted_groups(groups)
    low, high = group_extremes(units, order, starts)
    several = np.zeros(int(groups.max(initial=-1)) + 2, dtype=bool)
    several[groups[order[starts]][low < high]] = True
    several[-1] = False  # where code -1 lands
    return np.where(several[groups], groups, -1)


def assign_groups(
    plan: KeyPlan, codes: Mapping[str, Codes], documents: Codes, places: Codes | None = None
) -> Codes:
    """Returns the group of each row, from 0. A row with an incomplete key is a group of its own, or
    belongs to the group of its document when the plan has one row for each document.

    Args:
        places: the places of the rows' words, when these belong to the key.
    """
    size = len(documents)
    alone = np.arange(size, dtype=np.int64)
    if plan.per_document:
        if not (plan.across and plan.columns):
            return documents.copy()
        firsts = []
        for name in plan.columns:
            first = np.full(int(documents.max(initial=-1)) + 1, -1, dtype=np.int64)
            filled = np.flatnonzero(codes[name] >= 0)[::-1]
            first[documents[filled]] = codes[name][
                filled
            ]  # of several rows of a document the first is written last
            firsts.append(first)
        key = combine(*firsts)[documents]
        return np.where(key >= 0, key, key.max(initial=-1) + 1 + documents)
    if not plan.columns or not (plan.within or plan.across):
        return alone
    beside = (
        ()
        if plan.across
        else (documents,)
        if places is None
        else (documents, places - places.min())
    )
    key = combine(*(codes[name] for name in plan.columns), *beside)
    return np.where(key >= 0, key, key.max(initial=-1) + 1 + alone)
