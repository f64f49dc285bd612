"""The way from a value in a table to the words on a page, and to the decisions that changed it.

A *reading* is a cell with a value that the model read in one document.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from sliders.extraction.cell import Cell, Grounding, How, Row, Scalar, Span
from sliders.store.catalog import Catalog
from sliders.store.data_tables import UNVERIFIED
from sliders.store.layout import documents, rows, tables
from sliders.store.materialise import enters
from sliders.store.records import Correction, Derivation, TableVersion

QUOTE_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class Reading:
    """A cell with a value, and its extracted row. `agrees` is True when the table shows
    this value.
    """

    row: Row
    cell: Cell
    agrees: bool

    @property
    def spans(self) -> tuple[Span, ...]:
        """The places of all words that the value rests on; () when it rests on no words."""
        return tuple(span for span in (self.cell.span, *self.cell.parts) if span is not None)


@dataclass(frozen=True, slots=True)
class Change:
    """A value that the table shows in the place of the read one, and the decision of a person
    behind it; None when a repair made it.
    """

    made: Derivation
    decision: Correction | None = None

    @property
    def words(self) -> str:
        """Who or what changed the value, and why."""
        if self.decision is None:
            return self.made.reason
        said = f"decision {self.decision.id} of {self.decision.author or 'the user'}"
        return said + (f": {self.decision.reason}" if self.decision.reason else "")


@dataclass(frozen=True, slots=True)
class Lineage:
    """The origin of the values in one row of a table.

    Args:
        table: the table's name.
        row_id: the row's id.
        shown: the values that the table shows, by column.
        sources: the extracted rows that were merged into the row.
        readings: their cells that have a value.
        changes: the values that were changed after reading.
    """

    table: str
    row_id: str
    shown: Mapping[str, Scalar]
    sources: tuple[Row, ...]
    readings: tuple[Reading, ...]
    changes: tuple[Change, ...]

    @property
    def decided(self) -> dict[str, Change]:
        """The changes that people decided, by column."""
        return {c.made.column: c for c in self.changes if c.made.kind == "correction"}

    def carrying(self) -> Iterator[Reading]:
        """Yields the readings whose value the row shows; for a column without such a reading, all
        its readings.
        """
        carried = {reading.cell.column for reading in self.readings if reading.agrees}
        return (one for one in self.readings if one.agrees or one.cell.column not in carried)


def lineages(
    catalog: Catalog, table: str, row_ids: Iterable[str], version: TableVersion | None = None
) -> dict[str, Lineage]:
    """Returns the lineage of rows, by row id; rows that the table does not have are left out.

    Args:
        version: the version of the table; the current one when left out.
    """
    of = version or catalog.tables.current(table)
    if of is None:
        return {}
    wanted = list(dict.fromkeys(row_ids))
    held = catalog.tables.rows_of(of, wanted)
    unverified = _unverified(catalog, table)
    extracted = catalog.extractions.get([source for row in held for source in row.sources])
    relation, people = catalog.schemas.relation(table), catalog.knowledge.corrections(table)
    decisions = {one.id: one for one in people}
    made = catalog.tables.derivations(of, wanted) if of.parent is not None else {}
    found = {}
    for row in held:
        shown = {c.name: row.values.get(c.sql_name) for c in relation.columns}
        sources = tuple(extracted[source] for source in row.sources if source in extracted)
        changes = (
            Change(one, decisions.get(one.correction or 0)) for one in made.get(row.row_id, ())
        )
        found[row.row_id] = Lineage(
            table,
            row.row_id,
            shown,
            sources,
            tuple(_readings(sources, shown, unverified)),
            tuple(changes),
        )
    return {row_id: found[row_id] for row_id in wanted if row_id in found}


def _unverified(catalog: Catalog, table: str) -> bool:
    """Says whether a table shows unverified values."""
    return any(version.operation == UNVERIFIED for version in catalog.tables.lineage(table))


def _readings(
    sources: Sequence[Row], shown: Mapping[str, Scalar], unverified: bool
) -> Iterator[Reading]:
    for row in sources:
        for cell in row.cells:
            if cell.value is not None and enters(cell, unverified):
                yield Reading(row, cell, cell.value == shown.get(cell.column))


@dataclass(frozen=True, slots=True)
class Evidence:
    """One source of a value.

    Args:
        table: the table's name.
        column: the column's name in the schema.
        row_id: the extracted row's id.
        value: the value that was read.
        printed: the words that it rests on.
        quote: the line around these words, cut to about `2 * QUOTE_CHARACTERS` with "…"; "" for a
            value that rests on no words, such as a judgement by the model's odds.
        document: the document's name.
        document_id: its id.
        start: where the words begin in the document's text; -1 without words.
        end: where they end; -1 without words.
        page: their page.
        grounding: how the words were found.
        agrees: True when the table shows this value.
        rationale: the model's reason.
        model: the model that read it.
        call_id: the call that gave it.
        how: stated, computed or judged.
        odds: the log-probabilities of the choices of a judgement.
        doubt: why the value is unverified; "" when it is verified.
        parts: the quotes of further words that the value rests on.
    """

    table: str
    column: str
    row_id: str
    value: Scalar
    printed: str
    quote: str
    document: str
    document_id: str
    start: int
    end: int
    page: int | None
    grounding: Grounding
    agrees: bool
    rationale: str = ""
    model: str = ""
    call_id: str = ""
    how: How = How.STATED
    odds: tuple[tuple[str, float], ...] = ()
    doubt: str = ""
    parts: tuple[str, ...] = ()


def lineage_of(catalog: Catalog, row_id: str, column: str | None = None) -> list[Evidence]:
    """Returns the evidence for the values of a row of a current table; evidence that agrees with
    the table comes first.

    Args:
        row_id: the row's id, as in the table's `row_id` column.
        column: name in the schema; all columns when left out.

    Returns:
        One entry for each cell with a value, of each extracted row that was merged into the row; []
            when there is no such row. Unverified values are included when the table shows them.
    """
    table = catalog.database.value(
        select(tables.c.name).join_from(rows, tables).where(rows.c.id == row_id)
    )
    if table is None:
        return []
    lineage = lineages(catalog, table, [row_id]).get(row_id)
    if lineage is None:  # the table does not show the row
        alone = catalog.extractions.get([row_id]).values()
        readings = tuple(_readings(tuple(alone), {}, _unverified(catalog, table)))
    else:
        readings = lineage.readings
    chosen = [one for one in readings if column in (None, one.cell.column)]
    texts: dict[str, str] = {}
    found = [_evidence(catalog, one, texts) for one in chosen]
    return sorted(found, key=lambda evidence: not evidence.agrees)


def doubt_of(cell: Cell) -> str:
    """Returns why a value is unverified; "" when it is verified."""
    if cell.absence is None:
        return cell.doubt
    return f"{cell.absence.value}: {cell.detail}" if cell.detail else cell.absence.value


def words_of_odds(odds: tuple[tuple[str, float], ...]) -> str:
    """Returns the probabilities of the choices in words, the likeliest first: "yes 98%, no 2%"; ""
    without odds.
    """
    if not odds:
        return ""
    best = max(value for _, value in odds)
    weights = {choice: math.exp(value - best) for choice, value in odds}
    total = sum(weights.values())
    return ", ".join(
        f"{c} {w / total:.0%}" for c, w in sorted(weights.items(), key=lambda item: -item[1])
    )


def _evidence(catalog: Catalog, reading: Reading, texts: dict[str, str]) -> Evidence:
    row, cell, span = reading.row, reading.cell, reading.cell.span
    document_id = span.document_id if span else row.document_id
    for identifier in {document_id, *(part.document_id for part in cell.parts)} - texts.keys():
        texts[identifier] = catalog.documents.text(identifier)
    quote = _line(texts[document_id], span.start, span.end) if span else ""
    start, end, page = (span.start, span.end, span.page) if span else (-1, -1, None)
    name = catalog.database.value(select(documents.c.name).where(documents.c.id == document_id))
    return Evidence(
        row.table,
        cell.column,
        row.id,
        cell.value,
        cell.printed,
        quote,
        name,
        document_id,
        start,
        end,
        page,
        cell.grounding,
        reading.agrees,
        cell.rationale,
        cell.model,
        cell.call_id,
        cell.how,
        cell.odds,
        doubt_of(cell),
        tuple(_line(texts[p.document_id], p.start, p.end) for p in cell.parts),
    )


def _line(text: str, start: int, end: int) -> str:
    """Returns the line around `text[start:end]`. More than `QUOTE_CHARACTERS` on either side are
    cut at a word, with "…".
    """
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    before, after = text[first:start].lstrip(), text[end : len(text) if last < 0 else last].rstrip()
    if len(before) > QUOTE_CHARACTERS:
        near = before[-QUOTE_CHARACTERS:]
        before = f"…{near.partition(' ')[2] or near}"
    if len(after) > QUOTE_CHARACTERS:
        near = after[:QUOTE_CHARACTERS]
        after = f"{near.rpartition(' ')[0] or near}…"
    return f"{before}{text[start:end]}{after}".strip()
