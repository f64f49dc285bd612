"""Citations: from the final SQL back to the words on the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from sliders.answer.citations import columns_used
from sliders.answer.measured import measured_columns
from sliders.answer.result import Citation
from sliders.answer.tracing import traces
from sliders.answer.turns import TableView
from sliders.engine.session import Session
from sliders.errors import QueryError, StoreError
from sliders.extraction.cell import Row
from sliders.retrieval.sentences import sentence_spans
from sliders.sql.statement import parse_select
from sliders.store.cage import run_readonly
from sliders.store.lineage import Change, Lineage, Reading, doubt_of, lineages, words_of_odds
from sliders.store.records import Relation

MOST, MOST_RESULT_ROWS = 20, 50
"""The most rows of tables that are cited. Each of the first `MOST_RESULT_ROWS` result rows gets a
row of every table that it comes from in any case.
"""
_TRACED = 5_000
_AROUND = 300
_Rows = Sequence[Sequence[Any]]
_Place = tuple[int | None, str, str]
"""The number of a result row, the SQL name of a table, and the id of a row of this table."""


def cite(
    session: Session, sql: str, views: Sequence[TableView], shown: _Rows = ()
) -> tuple[Citation, ...]:
    """Returns citations for the rows that gave the result, of the columns that the statement uses.

    They are grouped by result row. First come the columns that the result shows or adds up, then
    keys, then columns that the statement only reads.

    Args:
        sql: the statement.
        views: the tables that it reads.
        shown: the rows of the result.
    """
    places = _chosen(_traced(session, sql, views, shown))
    used, out = columns_used(sql, views), list[Citation]()
    names = {d.id: d.name for d in session.catalog.documents.all(superseded=True)}
    relations = {r.relation.lower(): r for r in session.catalog.schemas.relations()}
    known: dict[tuple[str, str], list[Citation]] = {}
    for view in views:
        table = view.name.lower()
        wanted = {column.lower() for column in used.get(view.name, ())}
        rows = [row_id for _, of, row_id in places if of == table]
        if rows:
            known |= {
                (table, row_id): found
                for row_id, found in _of_rows(session, relations[table], rows, wanted, names)
            }
    for number, table, row_id in places:
        out += [replace(one, result_row=number) for one in known.get((table, row_id), ())]
    ranks = _ranks(sql, views)

    def order(one: Citation) -> tuple[bool, int, int, bool]:
        rank = ranks.get(one.column.lower(), _ONLY_READ)
        return one.result_row is None, one.result_row or 0, rank, not _carries(one, shown)

    return tuple(dict.fromkeys(sorted(out, key=order)))


_MATTERS, _KEY, _ONLY_READ = range(3)


def _ranks(sql: str, views: Sequence[TableView]) -> dict[str, int]:
    """Returns the rank of each column that the result shows, adds up or ranks by, by its name in
    lower case.
    """
    try:
        tree = parse_select(sql)
    except QueryError:
        return {}
    named = {c.name.lower() for item in tree.selects for c in item.find_all(exp.Column)}
    keys = {name.lower() for view in views for name in view.table.key}
    return {
        name: _KEY if name in keys else _MATTERS for name in named | set(measured_columns(tree))
    }


def _carries(citation: Citation, shown: _Rows) -> bool:
    """Says whether the value of a citation is shown in its result row."""
    rows = (
        shown
        if citation.result_row is None
        else shown[citation.result_row : citation.result_row + 1]
    )
    return any(citation.value == value for row in rows for value in row if value is not None)


def _traced(session: Session, sql: str, views: Sequence[TableView], shown: _Rows) -> list[_Place]:
    """Returns the rows of tables that each result row comes from, in the result's order."""
    found: dict[_Place, None] = {}
    for trace in traces(sql, views) if sql else ():
        statement = f"SELECT * FROM ({trace.sql}) AS traced LIMIT {_TRACED}"
        try:
            result = run_readonly(
                session.catalog.database, statement, tables=[view.name for view in views]
            )
        except (StoreError, QueryError) as error:
            session.decide("answer", "citations", "left out", str(error))
            continue
        tables = [table.lower() for _, table in trace.rows]
        for number, line in _numbered(result.rows, trace.shown, shown):
            ids = line[len(line) - len(tables) :]
            found |= dict.fromkeys(
                (number, table, str(i))
                for table, i in zip(tables, ids, strict=True)
                if i is not None
            )
    return sorted(found, key=lambda place: (place[0] is None, place[0] or 0))


def _numbered(rows: _Rows, width: int, shown: _Rows) -> Iterator[tuple[int | None, Sequence[Any]]]:
    """Yields each traced row with the number of the result row that has its values; rows without
    one are left out.
    """
    places: dict[tuple[Any, ...], list[int]] = {}
    for number, row in enumerate(shown):
        places.setdefault(tuple(row), []).append(number)
    met: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        values = tuple(row[:width])
        if not width or not shown:
            yield (0 if len(shown) == 1 else None), row
        elif values in places:
            equal = places[values]
            yield equal[met[values] % len(equal)], row
            met[values] += 1


def _chosen(places: Sequence[_Place]) -> list[_Place]:
    """Returns one row of each table for every result row, then others while there is room."""
    met: Counter[tuple[int | None, str]] = Counter()
    ranked = []
    for place in places:
        ranked.append((met[place[:2]], place))
        met[place[:2]] += 1
    needed = [p for rank, p in ranked if rank == 0 and (p[0] or 0) < MOST_RESULT_ROWS]
    others = sorted((one for one in ranked if one[0] > 0), key=lambda one: one[0])
    return [*needed, *(place for _, place in others[: max(0, MOST - len(needed))])]


def citations_of(
    session: Session, row_ids: Sequence[str], columns: Iterable[str] = ()
) -> list[Citation]:
    """Returns the words behind rows of data tables. When the sources of a row differ, only sources
    with the shown value are cited. A value that a person decided is cited by the decision.

    Args:
        columns: SQL names of columns; all columns when left out.
    """
    wanted = {name.lower() for name in columns}
    names = {d.id: d.name for d in session.catalog.documents.all(superseded=True)}
    found: dict[Citation, None] = {}
    for relation in session.catalog.schemas.relations():
        for _, citations in _of_rows(session, relation, row_ids, wanted, names):
            found |= dict.fromkeys(citations)
    return list(found)


def _of_rows(
    session: Session,
    relation: Relation,
    row_ids: Sequence[str],
    wanted: set[str],
    names: Mapping[str, str],
) -> Iterator[tuple[str, list[Citation]]]:
    """Yields the citations of rows of a table, by row id."""
    found = lineages(session.catalog, relation.name, row_ids)
    for row_id, lineage in found.items():
        asked = [c.name for c in relation.columns if not wanted or c.sql_name.lower() in wanted]
        cited = [
            _of_decision(lineage, change, names)
            for column, change in lineage.decided.items()
            if column in asked and lineage.sources
        ]
        for reading in lineage.carrying():
            if reading.cell.column in asked and reading.cell.column not in lineage.decided:
                cited += _of_reading(session, reading, names)
        yield row_id, cited


def _of_decision(lineage: Lineage, change: Change, names: Mapping[str, str]) -> Citation:
    """Returns the citation of a value that a person decided."""
    column, row_id = change.made.column, lineage.row_id
    own = (row for row in lineage.sources if row.id == row_id)
    home = next(own, lineage.sources[0]).document_id
    shown = lineage.shown.get(column)
    return Citation(
        names.get(home, home),
        "",
        None,
        lineage.table,
        column,
        row_id,
        shown,
        home,
        how="decided",
        reason=change.words,
    )


def _of_reading(session: Session, reading: Reading, names: Mapping[str, str]) -> list[Citation]:
    """Returns a citation for each place that a value rests on; one without words when it rests on
    none.
    """
    row, cell = reading.row, reading.cell
    about = Citation(
        names.get(row.document_id, row.document_id),
        "",
        None,
        row.table,
        cell.column,
        row.id,
        cell.value,
        row.document_id,
        grounding=cell.grounding.value,
        how=cell.how.value,
        reason=cell.rationale or words_of_odds(cell.odds),
        doubt=doubt_of(cell),
    )
    out = []
    for span in reading.spans:
        quote = session.catalog.documents.text(span.document_id)[span.start : span.end]
        out.append(
            replace(
                about,
                document=names.get(span.document_id, span.document_id),
                quote=quote,
                page=span.page,
                document_id=span.document_id,
                start=span.start,
                end=span.end,
            )
        )
    return out or [about]


def quote_of(session: Session, rows: Sequence[Row]) -> Callable[[str, str], str]:
    """Returns a function that gives the sentence with the words of a cell (in a table, the line),
    by row id and column; "" when unknown.
    """
    spans = {
        (row.id, cell.column): cell.span
        for row in rows
        for cell in row.cells
        if cell.span is not None
    }

    def quote(row_id: str, column: str) -> str:
        span = spans.get((row_id, column))
        if span is None:
            return ""
        text = session.catalog.documents.text(span.document_id)
        low, high = max(0, span.start - _AROUND), min(len(text), span.end + _AROUND)
        around = next(
            (s for s in sentence_spans(text, low, high) if s[0] <= span.start < s[1]),
            (span.start, span.end),
        )
        return " ".join(text[around[0] : max(around[1], span.end)].split())

    return quote
