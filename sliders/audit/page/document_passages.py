"""The documents of an audit page: the passages around the words that values rest on, and the list
of silent documents, which gave no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sliders.audit.page.page_content import (
    Block,
    ShownAnswer,
    ShownDocument,
    ShownPassage,
    ShownTable,
    ShownValue,
    Silent,
)
from sliders.documents.document import Document, Element
from sliders.store.catalog import Catalog
from sliders.store.records import StoredDocument

MOST_CHARACTERS = 1_200_000
MOST_SILENT = 500
_CONTEXTS = (60_000, 12_000, 3_000, 800, 200, 40)
_READABLE = 100
_BEGINNING = 1_500

Spans = list[tuple[int, int]]


def shown_documents(
    catalog: Catalog,
    tables: Sequence[ShownTable],
    answers: Sequence[ShownAnswer],
    silent: Sequence[Silent],
) -> tuple[dict[str, ShownDocument], tuple[str, ...]]:
    """Returns the documents by id that the values on the page come from, and notes on what was cut.

    Texts are whole when they fit into the page together (`MOST_CHARACTERS`). Otherwise each is cut
    to passages around the words that values rest on, and a note says so.
    """
    spans: dict[str, Spans] = {}
    for value in _values(tables, answers):
        for source in value.sources:
            spans.setdefault(source.document, [])
            for place in source.places:
                spans.setdefault(place.document, []).append((place.start, place.end))
    for table in tables:
        for row in table.rows:
            spans.setdefault(row.document, [])
    for one in silent:
        if one.id:
            spans.setdefault(one.id, [])
    stored = {d.id: d for d in catalog.documents.all(superseded=True) if d.id in spans}
    context = next(
        (c for c in _CONTEXTS if _size(stored, spans, c) <= MOST_CHARACTERS), _CONTEXTS[-1]
    )
    found = {
        identifier: _shown(catalog, line, spans[identifier], context)
        for identifier, line in stored.items()
    }
    cut = any(
        sum(len(p.text) for p in document.passages) < document.characters
        for document in found.values()
    )
    told = (
        f"Documents are shown around the words that values rest on ({context:,} characters "
        "on either side)."
    )
    return found, (told,) if cut else ()


def _values(tables: Sequence[ShownTable], answers: Sequence[ShownAnswer]) -> Iterable[ShownValue]:
    yield from (value for table in tables for row in table.rows for value in row.values)
    yield from (citation.value for answer in answers for citation in answer.citations)


def _size(stored: dict[str, StoredDocument], spans: dict[str, Spans], context: int) -> int:
    return sum(
        b - a for i, d in stored.items() for a, b in _windows(spans[i], d.characters, context)
    )


def _windows(spans: Spans, length: int, context: int) -> Spans:
    """Returns stretches of a text (start, end) with `context` characters around each span; the
    beginning of the text when there is no span.
    """
    out: Spans = []
    if not spans:
        return [(0, min(_BEGINNING, length))]
    for start, end in sorted(spans):
        low, high = max(0, start - context), min(length, end + context)
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out


def _shown(catalog: Catalog, line: StoredDocument, spans: Spans, context: int) -> ShownDocument:
    document = catalog.documents.get(line.id)
    windows = _windows(spans, len(document.text), context)
    return ShownDocument(
        line.name,
        line.title,
        line.characters,
        bool(line.superseded_by),
        tuple((p.number, p.start) for p in document.pages),
        tuple(
            ShownPassage(a, document.text[a:b], tuple(_blocks(document, a, b))) for a, b in windows
        ),
    )


def _blocks(document: Document, start: int, end: int) -> Iterable[Block]:
    for element in document.elements:
        if element.start < end and element.end > start:
            low, high = max(element.start, start), min(element.end, end)
            grid = (
                _grid(element, document.text)
                if (low, high) == (element.start, element.end)
                else None
            )
            header = element.grid.header if element.grid is not None and grid else ()
            yield Block(element.kind, low, high, element.level, header, grid or ())


def _grid(element: Element, text: str) -> tuple[tuple[tuple[int, int], ...], ...] | None:
    """Returns the place (start, end) of each cell of a table; None when there is no grid, or when
    the text at a cell's place differs from the cell's text.
    """
    if element.grid is None or any(
        text[c.start : c.end] != c.text for row in element.grid.rows for c in row
    ):
        return None
    return tuple(tuple((c.start, c.end) for c in row) for row in element.grid.rows)


def silent_documents(
    catalog: Catalog, tables: Sequence[ShownTable]
) -> tuple[tuple[Silent, ...], tuple[str, ...]]:
    """Returns the documents without a value in these tables, each with the known reasons, and a
    note when the list is cut to `MOST_SILENT`.
    """
    refused = catalog.journal.decisions(stage="documents", verdict="refused")
    out = [Silent(d.document, (d.reason,)) for d in refused]
    reasons = _reasons(catalog, tables) if tables else {}
    gave = {d for table in tables for d in catalog.extractions.documents_with_rows(table.name)}
    empty = _empty_rows(tables)
    for document in catalog.documents.all() if tables else ():
        if document.id not in gave or document.id in empty:
            told = (
                empty.get(document.id)
                or reasons.get(document.id)
                or ["never asked: no part of it was chosen"]
            )
            out.append(
                Silent(
                    document.name,
                    (*document.warnings, *told),
                    document.id if len(out) < _READABLE else "",
                )
            )
    note = f"{MOST_SILENT} of {len(out):,} documents that gave nothing are listed."
    return tuple(out[:MOST_SILENT]), (note,) if len(out) > MOST_SILENT else ()


def _empty_rows(tables: Sequence[ShownTable]) -> dict[str, list[str]]:
    """Returns the documents whose rows have no value at all, with a sentence for each of these
    rows.
    """
    found: dict[str, list[str]] = {}
    full = {s.document for t in tables for r in t.rows for v in r.values for s in v.sources}
    for table in tables:
        for row in table.rows:
            if row.document not in full and all(value.shown is None for value in row.values):
                told = dict.fromkeys(value.empty for value in row.values)
                found.setdefault(row.document, []).append(
                    f"its row of {table.name} has no value: {', '.join(told)}"
                )
    return found


def _reasons(catalog: Catalog, tables: Sequence[ShownTable]) -> dict[str, list[str]]:
    """Returns, by document id, how the extraction of its chunks ended, with the reasons."""
    owner = dict(catalog.chunks.places())
    states = {
        "done": "read, and nothing was found",
        "gated": "gated out",
        "pruned": "pruned by the search",
        "failed": "the call failed",
        "pending": "not read yet",
    }
    found: dict[str, dict[str, None]] = {}
    for table in tables:
        for task in catalog.extractions.tasks(table.name):
            told = states[task.state] + (f": {task.reason}" if task.reason else "")
            found.setdefault(owner.get(task.chunk_id, ""), {})[told] = None
    return {document: list(told) for document, told in found.items()}
