"""Groups of rows that may be one thing, found by comparing whole records, for a table without a
usable key. A model that reads the rows decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sliders.reconcile.canonical import Links
from sliders.reconcile.column_codes import Codes, ColumnTraits, Encoded
from sliders.reconcile.resolution import Match, Resolved, cluster, link
from sliders.schema.types import ColumnType, Table
from sliders.values.expected import TEXTUAL

_MOST_RECORDS, _LARGEST = 20_000, 6
_SHARE = 10  # rows for each group that is offered


def record_groups(
    table: Table, encoded: Sequence[Encoded], profiles: Sequence[ColumnTraits], documents: Codes
) -> list[list[int]]:
    """Returns groups of rows of different documents that may be one thing, the likeliest first, at
    most one group for ten rows.

    Rows are compared by all their text; rows with contradicting figures are left out. Two documents
    are matched one to one; more documents are clustered. The groups are guesses.
    """
    texts = [
        n
        for n, c in enumerate(table.columns)
        if c.type is ColumnType.TEXT and not profiles[n].prose
    ]
    size, sources = len(documents), len(np.unique(documents))
    if not any(profiles[n].identifying for n in texts) or sources < 2 or size > _MOST_RECORDS:
        return []
    figures = [encoded[n].codes for n, c in enumerate(table.columns) if c.type not in TEXTUAL]
    found = _resolved([encoded[n] for n in texts], documents if sources == 2 else None)
    matches = [m for m in (*found.matches, *found.open) if _may_be_one(m, documents, figures)]
    links = Links(size)
    best: dict[int, float] = {}
    for match in sorted(matches, key=lambda m: -m.score):
        links.join(match.left, match.right, "alike as whole records")
        best.setdefault(match.left, match.score)
        best.setdefault(match.right, match.score)
    members: dict[int, list[int]] = {}
    for row in best:
        members.setdefault(links.find(row), []).append(row)
    groups = [sorted(rows) for rows in members.values() if len(rows) <= _LARGEST]
    groups = [rows for rows in groups if len({int(documents[r]) for r in rows}) == len(rows)]
    return sorted(groups, key=lambda rows: -max(best[r] for r in rows))[: max(1, size // _SHARE)]


def _may_be_one(match: Match, documents: Codes, figures: Sequence[Codes]) -> bool:
    """Says whether two rows are of different documents and their figures agree; one figure may
    differ when another agrees.
    """
    pairs = [(codes[match.left], codes[match.right]) for codes in figures]
    shared = [left == right for left, right in pairs if left >= 0 and right >= 0]
    apart = shared.count(False)
    agree = apart < 2 and (not apart or any(shared))
    return bool(documents[match.left] != documents[match.right]) and agree


def _resolved(columns: Sequence[Encoded], documents: Codes | None) -> Resolved:
    """Returns matches of rows by their text.

    Args:
        documents: the document of each row, for two sources; None for a list of any documents.
    """
    size = len(columns[0].codes)
    order = np.arange(size) if documents is None else np.argsort(documents, kind="stable")
    texts = []
    for column in columns:
        examples = [*map(str, column.examples), ""]  # an empty cell has code -1
        texts.append([examples[code] for code in column.codes[order].tolist()])
    if documents is None:
        return cluster(texts)
    found = link(texts, int((documents == documents[order[0]]).sum()))

    def back(matches: Sequence[Match]) -> tuple[Match, ...]:
        return tuple(Match(int(order[m.left]), int(order[m.right]), m.score) for m in matches)

    return replace(found, matches=back(found.matches), open=back(found.open))
