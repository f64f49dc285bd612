"""Rows of one document: which rows are parts of one thing, and which are entries of their own.

A key joins rows of one document. But rows that share a key are different things when one model call
read them from one chunk, or when their words stand in different lines of one list or grid (printed
table). Then the place of the words becomes part of the key of the whole table.

In all arrays, a row is its number in the relation. A *code* is the number of a distinct value in
its column, -1 for an empty cell. A *group* is the number that rows with the same codes share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sliders.reconcile.column_codes import Codes, combine
from sliders.reconcile.keys import KeyPlan, group_extremes, sorted_groups
from sliders.reconcile.relation import MemoryRelation

_NO_PLACE = -1


def repeated(groups: Codes) -> Codes:
    """Returns the numbers of the rows that share their group with another row.

    Args:
        groups: the group of each row; rows with a group below 0 are left out.
    """
    counts = np.bincount(groups[groups >= 0], minlength=1)
    return np.flatnonzero((groups >= 0) & (counts[np.maximum(groups, 0)] > 1)).astype(np.int64)


def places_in_key(
    plan: KeyPlan, codes: Mapping[str, Codes], relation: MemoryRelation, documents: Codes
) -> Codes | None:
    """Returns a number for the place of each row's words, which then becomes part of the key; None
    when the key alone tells the rows apart.

    Args:
        plan: the key.
        codes: the codes of each column, by name.
        relation: the rows.
        documents: the document of each row, as a number.
    """
    if plan.per_document or not plan.columns or not relation.starts:
        return None
    own = combine(documents, *(codes[name] for name in plan.columns))
    rows = repeated(own)
    if not len(rows):
        return None
    place = _places(plan, codes, relation, own, rows)
    readings = np.unique(np.array(relation.readings)[rows], return_inverse=True)[1].astype(np.int64)
    again = np.zeros(len(own), np.int64)
    again[rows] = _turns(
        combine(own[rows], readings, place[rows] - place.min()), _told(codes, relation, rows)
    )
    place = combine(place - place.min(), again)
    words = [
        np.asarray(relation.starts[n], np.int64)[rows] for n in plan.columns if n in relation.starts
    ]
    apart = _differ(combine(own[rows], readings), place[rows])
    if apart or any(_in_one_list(relation, own[rows], start, rows) for start in words):
        return place
    return None


def _told(codes: Mapping[str, Codes], relation: MemoryRelation, rows: Codes) -> Codes:
    """Returns one number for each row; rows that hold the same values from the same words get the
    same number.
    """
    starts = [np.asarray(column, np.int64) for column in relation.starts.values()]
    parts = [*codes.values(), *starts]
    told = np.stack([part[rows] for part in parts], axis=1)
    return np.unique(told, axis=0, return_inverse=True)[1].astype(np.int64).reshape(-1)


def _turns(groups: Codes, told: Codes) -> Codes:
    """Returns the position of each row in its group, from 0; rows of a group with the same number
    in `told` share a position.
    """
    pairs, first, back = np.unique(combine(groups, told), return_index=True, return_inverse=True)
    order, starts = sorted_groups(groups[first])
    turn = np.empty(len(pairs), np.int64)
    turn[order] = np.arange(len(pairs)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    return turn[back.reshape(-1)]


def _places(
    plan: KeyPlan, codes: Mapping[str, Codes], relation: MemoryRelation, own: Codes, rows: Codes
) -> Codes:
    """Returns the offset at which the words of each row begin, in characters of its document. The
    words are those of the key column that tells most rows apart, else of another column. A row
    whose words have no place gets a negative number that no other row has.
    """
    starts = {
        name: np.asarray(relation.starts[name], np.int64)
        for name in codes
        if name in relation.starts
    }

    def apart(name: str) -> int:
        placed = rows[starts[name][rows] >= 0]
        if len(placed):
            return len(
                np.unique(own[placed] * (int(starts[name].max()) + 2) + starts[name][placed])
            )
        return 0

    groups = len(np.unique(own[rows]))
    key = sorted((n for n in plan.columns if n in starts), key=lambda n: -apart(n))
    others = sorted((n for n in starts if n not in plan.columns), key=lambda n: -apart(n))
    ordered = [*key, *others] if key and apart(key[0]) > groups else [*others, *key]
    place = np.full(len(own), _NO_PLACE, np.int64)
    for name in ordered:
        place = np.where(place < 0, starts[name], place)
    return np.where(place < 0, _NO_PLACE - 1 - np.arange(len(own), dtype=np.int64), place)


def _differ(groups: Codes, values: Codes) -> bool:
    """Says whether any group has rows with different values."""
    order, starts = sorted_groups(groups)
    ordered = values[order]
    return bool((np.minimum.reduceat(ordered, starts) < np.maximum.reduceat(ordered, starts)).any())


def _in_one_list(relation: MemoryRelation, own: Codes, place: Codes, rows: Codes) -> bool:
    """Says whether rows that share a key stand in different lines of one list or grid."""
    lists, lines = lines_of_rows(relation, rows, place)
    listed = lists >= 0
    return bool(listed.any()) and _differ(combine(own[listed], lists[listed]), lines[listed])


def lines_of_rows(relation: MemoryRelation, rows: Codes, place: Codes) -> tuple[Codes, Codes]:
    """Returns two arrays: for each row, the number of the list or grid that holds its words, and
    the number of the line. Both are -1 for words outside of any list.

    Args:
        relation: the relation, which knows the lists of each document.
        rows: the numbers of the rows.
        place: for each of these rows, the offset of its words in characters of its document; -1 for
            none.
    """
    lists, lines = np.full(len(rows), -1, np.int64), np.full(len(rows), -1, np.int64)
    if relation.lists_of is None:
        return lists, lines
    identifiers = np.array(relation.document_ids)[rows]
    for identifier in dict.fromkeys(identifiers.tolist()):
        found = relation.lists_of(identifier)
        here = np.flatnonzero((identifiers == identifier) & (place >= 0))
        if not len(found) or not len(here):
            continue
        bounds = np.array(found, np.int64)  # start, end, number of the list
        line = np.searchsorted(bounds[:, 0], place[here], side="right") - 1
        inside = (line >= 0) & (place[here] < bounds[line, 1])
        lists[here[inside]], lines[here[inside]] = bounds[line[inside], 2], line[inside]
    return lists, lines


def joined_rows(groups: Codes, finer: Codes, columns: Sequence[Codes]) -> Codes:
    """Returns for each row the number of the first row of its unit. Rows of a group form one unit
    when no column contradicts another row of the group; else the same holds for rows of a finer
    group; every other row is a unit of its own.

    Args:
        groups: the group of each row; rows of one group may be one thing.
        finer: the smaller group of each row: rows of one document with one key.
        columns: the codes of the columns that may contradict each other.
    """
    units = np.arange(len(groups), dtype=np.int64)
    left = np.ones(len(groups), bool)
    for part in (groups, finer):
        rows = repeated(np.where(left, part, -1))
        if not len(rows):
            break
        order, starts = sorted_groups(part[rows])
        whole = np.ones(len(starts), bool)
        for codes in columns:
            low, high = group_extremes(codes[rows], order, starts)
            whole &= ~((high >= 0) & (low < high))
        sizes = np.diff(np.r_[starts, len(order)])
        kept = np.repeat(whole, sizes)
        units[rows[order[kept]]] = np.repeat(rows[order[starts]], sizes)[kept]
        left[rows[order[kept]]] = False
    return units


def united(groups: Codes, together: Sequence[Sequence[int]]) -> Codes:
    """Returns the group of each row after joining.

    Args:
        groups: the group of each row.
        together: lists of row numbers; the groups of all rows in one list become one group.
    """
    if not together:
        return groups
    into: dict[int, int] = {}

    def root(group: int) -> int:
        while (above := into.get(group, group)) != group:
            group = above
        return group

    for rows in together:
        roots = {root(group) for group in groups[list(rows)].tolist()}
        into |= dict.fromkeys(roots, min(roots))
    numbers = np.arange(int(groups.max(initial=-1)) + 1, dtype=np.int64)
    for group in into:
        numbers[group] = root(group)
    return numbers[groups]
