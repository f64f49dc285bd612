"""The Excel workbook of a workspace: a sheet for each data table, then sheets with the evidence of
the values, the documents that were read, and the completeness of each column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import chain, islice
from typing import Any

from sqlalchemy import func, select

from sliders.errors import StoreError
from sliders.schema.names import free_name
from sliders.schema.types import Column, ColumnType
from sliders.store.catalog import Catalog
from sliders.store.layout import CELL_ABSENCE, CURRENT, chunks, documents, rows
from sliders.store.lineage import doubt_of, lineages
from sliders.store.records import Relation

NO_TABLES = "no tables"
"""The sheet of a workbook without any table."""
_MOST_ROWS, _MOST_TEXT = 1_048_576, 32_767
"""The rows of an Excel sheet, and the characters of one of its cells."""
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_FIRST_YEAR = 1900
"""The first year of Excel's dates; earlier dates stay texts."""
_NARROW, _WIDE, _LOOKED_AT = 8, 60, 200
"""The least and the most width of a column, in characters, and the lines that decide it."""
_AT_ONCE = 500
_DOUBTED, _HEAD = "FFFFE699", "FFD9E1F2"
_EVIDENCE = (
    "table row_id column value words document page how grounding doubt reason source "
    "document_id".split()
)
_DOCUMENTS = "document title media_type rows warnings source document_id".split()
_COLUMNS = (
    "table column type measured_in meaning extracted_rows values unverified judged computed "
    "empty".split()
)

Line = Sequence[Any]
Told = Callable[[Line], Mapping[int, str]]
"""A function that gives the comments for the values of a line, by column number."""


def write_tables(catalog: Catalog, book: Any) -> None:
    """Fills a workbook with all sheets.

    Args:
        book: an openpyxl `Workbook` in its write-only mode.

    Raises:
        StoreError: a table has more rows than a sheet can hold.
    """
    sheets = _Sheets(book)
    relations = [r for r in catalog.schemas.relations() if r.current_version is not None]
    for relation in relations:
        _write_table(catalog, sheets, relation)
    if not relations:
        sheets.add(NO_TABLES, (), ())
        return
    sheets.add("evidence", _EVIDENCE, _evidence(catalog, relations), links="source")
    sheets.add("documents", _DOCUMENTS, _documents(catalog), links="source")
    reasons, lines = _completeness(catalog, relations)
    sheets.add("completeness", [*_COLUMNS, *reasons], lines)


def _nothing(_line: Line) -> Mapping[int, str]:
    return {}


@dataclass(slots=True)
class _Sheets:
    """The sheets of a workbook while it is written, line by line."""

    book: Any
    names: set[str] = field(default_factory=set)

    def add(
        self,
        name: str,
        head: Sequence[str],
        lines: Iterable[Line],
        *,
        meanings: Mapping[int, str] | None = None,
        doubts: Told = _nothing,
        links: str = "",
    ) -> None:
        """Adds a sheet with a head that stays in sight, a filter, and widths that fit; printed, its
        columns stand on one page.

        Args:
            meanings: the comments of the head, by column number.
            doubts: gives the doubts of a line; its doubtful values are coloured, with a comment.
            links: the name of a column of paths or addresses, which become links.

        Raises:
            StoreError: there are more lines than a sheet can hold.
        """
        sheet = self.book.create_sheet(self._free(name))
        lines = iter(lines)
        first = list(islice(lines, _LOOKED_AT))
        last = _set_widths(sheet, (head, *first))
        sheet.freeze_panes = "A2"
        _on_one_page(sheet)
        sheet.append([_cell(sheet, w, (meanings or {}).get(n), _HEAD) for n, w in enumerate(head)])
        link = head.index(links) if links else None
        count = 1
        for count, line in enumerate(chain(first, lines), 2):
            if count > _MOST_ROWS:
                raise StoreError(
                    f"{name!r} has more rows than a sheet ({_MOST_ROWS}); export CSV or Parquet"
                )
            sheet.append(_line(sheet, line, doubts(line), link))
        if head:
            sheet.auto_filter.ref = f"A1:{last}{count}"

    def _free(self, name: str) -> str:
        base = re.sub(r"[\[\]:*?/\\]", "_", name).strip("'")[:28] or "table"
        folded = base.casefold()
        free = base + free_name(folded, self.names)[len(folded) :]
        self.names.add(free.casefold())
        return free


def _on_one_page(sheet: Any) -> None:
    """Has the columns of a sheet printed on one page."""
    from openpyxl.worksheet.properties import PageSetupProperties

    sheet.page_setup.orientation, sheet.page_setup.fitToHeight = "landscape", 0
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)


def _set_widths(sheet: Any, lines: Sequence[Line]) -> str:
    """Fits the widths of the columns to these lines. Returns the letter of the last column; "" when
    there is none.
    """
    from openpyxl.utils import get_column_letter

    letter = ""
    for number in range(len(lines[0])):
        letter = get_column_letter(number + 1)
        longest = max(len("" if line[number] is None else str(line[number])) for line in lines)
        sheet.column_dimensions[letter].width = min(_WIDE, max(_NARROW, longest + 2))
    return letter


def _line(sheet: Any, line: Line, doubts: Mapping[int, str], link: int | None) -> list[Any]:
    """The cells of a line; `link` is the column that becomes a link."""
    shown = [_cell(sheet, v, doubts.get(n), _DOUBTED) for n, v in enumerate(line)]
    if link is not None and line[link]:
        shown[link].hyperlink = str(line[link])
    return shown


def _cell(sheet: Any, value: Any, comment: str | None = None, colour: str = "") -> Any:
    """A cell of a sheet, coloured when it has a comment or stands in the head. A text stays a text
    and never becomes a formula.
    """
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.comments import Comment
    from openpyxl.styles import Font, PatternFill

    if isinstance(value, date) and value.year < _FIRST_YEAR:
        value = value.isoformat()
    text = _FORBIDDEN.sub("", value)[:_MOST_TEXT] if isinstance(value, str) else value
    cell = WriteOnlyCell(sheet, text)
    if isinstance(value, str):
        cell.data_type = "s"
    if isinstance(value, date):
        cell.number_format = "yyyy-mm-dd hh:mm" if isinstance(value, datetime) else "yyyy-mm-dd"
    if comment or colour == _HEAD:
        cell.fill = PatternFill("solid", fgColor=colour)
    if colour == _HEAD:
        cell.font = Font(bold=True)
    if comment:
        cell.comment = Comment(_FORBIDDEN.sub("", comment)[:_MOST_TEXT], "sliders")
    return cell


def _write_table(catalog: Catalog, sheets: _Sheets, relation: Relation) -> None:
    """One data table, its dates and yes/no values as Excel's own."""
    names, lines = catalog.tables.read(relation.name)
    by_name = {c.sql_name: c.name for c in relation.columns}
    described = columns_of(catalog, relation)
    of = types_of(catalog, relation)
    kinds = [of.get(name, ColumnType.TEXT) for name in names]
    meanings = {
        n: meaning(described[by_name[name]]) for n, name in enumerate(names) if name in by_name
    }
    places = {c.name: names.index(c.sql_name) for c in relation.columns}
    beside = {
        places[c.companion_of]: names.index(c.sql_name)
        for c in relation.companions
        if c.role == "doubt"
    }
    sheets.add(
        relation.relation,
        names,
        ([typed(v, kind) for v, kind in zip(line, kinds, strict=True)] for line in lines),
        meanings={n: said for n, said in meanings.items() if said},
        doubts=lambda line: {n: str(line[d]) for n, d in beside.items() if line[d]},
    )


def typed(value: Any, kind: ColumnType) -> Any:
    """Returns a stored value as Python's own type: dates and booleans are stored as texts and
    numbers. An incomplete date, or one with a time zone, stays a text.
    """
    if kind is ColumnType.BOOLEAN and value in (0, 1):
        return bool(value)
    if not isinstance(value, str) or kind not in (ColumnType.DATE, ColumnType.DATETIME):
        return value
    try:
        moment = datetime.fromisoformat(value) if len(value) >= len("2000-01-01") else None
    except ValueError:
        return value
    if moment is None or moment.tzinfo is not None:
        return value
    return moment.date() if kind is ColumnType.DATE else moment


def types_of(catalog: Catalog, relation: Relation) -> dict[str, ColumnType]:
    """The types of a table's columns, by SQL name."""
    described = columns_of(catalog, relation)
    return {c.sql_name: described[c.name].type for c in relation.columns}


def columns_of(catalog: Catalog, relation: Relation) -> dict[str, Column]:
    """The columns of a table's schema, by name."""
    schema = catalog.schemas.current()
    assert schema is not None  # a relation is of a schema
    return {column.name: column for column in schema.table(relation.name).columns}


def meaning(column: Column) -> str:
    """The description of a column with its unit."""
    return ". ".join(part for part in (column.description.rstrip("."), column.measured_in) if part)


def _evidence(catalog: Catalog, relations: Sequence[Relation]) -> Iterator[Line]:
    """A line for each reading behind a value that the tables show, and for each value that was
    changed after it was read.
    """
    known = {d.id: d for d in catalog.documents.all(superseded=True)}
    for relation in relations:
        kinds = {name: c.type for name, c in columns_of(catalog, relation).items()}
        row_ids = [row_id for (row_id,) in catalog.tables.read(relation.name, ["row_id"])[1]]
        for start in range(0, len(row_ids), _AT_ONCE):
            found = lineages(catalog, relation.name, row_ids[start : start + _AT_ONCE])
            for row_id, lineage in found.items():
                for reading in lineage.carrying():
                    cell, span = reading.cell, reading.cell.span
                    document = known[span.document_id if span else reading.row.document_id]
                    value = typed(cell.value, kinds[cell.column])
                    yield (
                        *(relation.relation, row_id, relation.sql_name(cell.column), value),
                        *(cell.printed, document.name, span.page if span else None),
                        *(cell.how.value, cell.grounding.value, doubt_of(cell), cell.rationale),
                        *(document.source, document.id),
                    )
                for change in lineage.changes:
                    made = change.made
                    value = typed(made.value, kinds[made.column])
                    yield (
                        *(relation.relation, row_id, relation.sql_name(made.column), value),
                        *(None, None, None, made.kind, None, None, made.reason, None, None),
                    )


def _documents(catalog: Catalog) -> Iterator[Line]:
    """A line for each document, also for a document without rows."""
    counted = (
        select(documents.c.id, func.count())
        .select_from(
            rows.join(documents, documents.c.key == rows.c.document_key).join(
                chunks, chunks.c.key == rows.c.chunk_key
            )
        )
        .where(CURRENT)
        .group_by(documents.c.id)
    )
    count: dict[str, int] = dict(catalog.database.query(counted))
    for one in catalog.documents.all():
        said = "\n".join(one.warnings)
        yield (
            *(one.name, one.title, one.media_type, count.get(one.id, 0)),
            *(said, one.source, one.id),
        )


def _completeness(
    catalog: Catalog, relations: Sequence[Relation]
) -> tuple[list[str], list[list[Any]]]:
    """A line for each column: the number of its values by evidence, and of its empty cells by
    reason.
    """
    empty = CELL_ABSENCE.subquery()
    counted = select(empty.c.table_name, empty.c.column_name, empty.c.why, func.count()).group_by(
        empty.c.table_name, empty.c.column_name, empty.c.why
    )
    missing: dict[tuple[str, str], dict[str, int]] = {}
    for table, column, why, number in catalog.database.query(counted):
        missing.setdefault((table, column), {})[why] = number
    reasons = sorted({why for found in missing.values() for why in found})
    lines = []
    for relation in relations:
        count = catalog.extractions.count(relation.name)
        for name, column in columns_of(catalog, relation).items():
            rests = catalog.extractions.reliability(relation.name, [name])
            why = missing.get((relation.name, name), {})
            lines.append(
                [
                    *(relation.relation, relation.sql_name(name), column.type.value),
                    *(column.measured_in, column.description, count, rests.values),
                    *(rests.unverified, rests.judged, rests.computed, sum(why.values())),
                    *(why.get(reason, 0) for reason in reasons),
                ]
            )
    return reasons, lines
