"""Rows of a table with one row for each (document, period), read from printed tables by code (contracts 1 to 4).

The amounts come from the grid: number beside row label and column header, scale from the caption. Code picks the row
label where a column's name says it clearly; else the model chooses among the printed labels, and copies nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sliders.documents.document import Document, TableCell
from sliders.errors import ModelRefusal, TruncatedReply
from sliders.extraction.captions import captioned, captions_in, common_name, keeps_legal_form, names_organisation
from sliders.extraction.cell import Absence, Cell, Grounding, Row, Span
from sliders.extraction.coerce import CoerceContext, coerce
from sliders.extraction.extractor import row_id
from sliders.extraction.line_items import match_line, shown_label
from sliders.extraction.periods import Period, stated_period
from sliders.extraction.statements import Statement, StatementLine, printed_header, statements_of
from sliders.llm.model import Model, Request
from sliders.llm.prompts import load_prompt
from sliders.schema.names import spoken_name
from sliders.schema.periods import PeriodTable, scaled_by_name
from sliders.schema.types import Column, ColumnType

_COVER = 20_000


@dataclass(frozen=True, slots=True)
class Choice:
    """The line of each amount column that was found, and what the calls for it cost."""

    lines: Mapping[str, StatementLine]
    tokens: int = 0


def line_prompt(column: Column, labels: Sequence[str]) -> Request:
    """The request that chooses among printed row labels."""
    prompt = load_prompt("extraction/choose_line")
    said = column.description or spoken_name(column.name)
    return Request(
        stage="extract",
        messages=prompt.render(lines=list(labels), amount=said),
        prompt_hash=prompt.hash,
        json_schema={
            "type": "object",
            "properties": {"line": {"type": "string", "enum": [*labels, "none"]}},
            "required": ["line"],
            "additionalProperties": False,
        },
        max_tokens=80,
    )


async def choose_lines(columns: Sequence[Column], statements: Sequence[Statement], model: Model | None) -> Choice:
    """For each amount column its line: by code where one label says it clearly, else chosen by the model."""
    lines = [line for statement in statements for line in statement.lines]
    chosen: dict[str, StatementLine] = {}
    tokens = 0
    for column in columns:
        match = match_line(column, lines)
        if match.line is not None:
            chosen[column.name] = match.line
        elif match.candidates and model is not None:
            by_label = {shown_label(line): line for line in match.candidates}
            try:
                reply = await model.generate(line_prompt(column, list(by_label)))
            except (ModelRefusal, TruncatedReply):
                continue  # no line is chosen: the cell is not stated rather than guessed
            tokens += reply.usage.tokens
            said = reply.data.get("line") if isinstance(reply.data, dict) else None
            if said in by_label:
                chosen[column.name] = by_label[str(said)]
    return Choice(chosen, tokens)


def period_rows(
    table: str, roles: PeriodTable, document: Document, chunk_id: str, choice: Choice, context: CoerceContext
) -> tuple[Row, ...]:
    """One row for each year of which at least one chosen line states an amount, as printed from left to right.

    A second filing that states the same year gives a row of its own: the row's identity holds the document.
    """
    assert roles.period is not None
    statements = statements_of(document)
    wanted = roles.period
    rows = []
    for ordinal, year in enumerate(_years(statements, choice)):
        cells = []
        header: Cell | None = None
        for column in roles.amounts:
            found = _amount_at(choice.lines.get(column.name), year)
            if found is None:
                cells.append(Cell(column.name, absence=Absence.NOT_STATED, detail="no line of its tables states it"))
                continue
            period, printed, line = found
            cells.append(_amount(document, column, printed, line, context))
            header = header or _header(document, wanted, statements[line.table], period, printed)
        assert header is not None
        rows.append(Row(row_id(table, document.id, year, 0), table, document.id, chunk_id, ordinal, (header, *cells)))
    return tuple(rows)


def _years(statements: Sequence[Statement], choice: Choice) -> list[int]:
    found = [
        period.year
        for statement in statements
        for period in statement.periods
        if period.annual and any(_amount_at(line, period.year) for line in choice.lines.values())
    ]
    return list(dict.fromkeys(found))


def _amount_at(line: StatementLine | None, year: int) -> tuple[Period, TableCell, StatementLine] | None:
    if line is None:
        return None
    for period, cell in line.cells.items():
        if period.year == year and period.annual:
            return period, cell, line
    return None


def _amount(document: Document, column: Column, cell: TableCell, line: StatementLine, context: CoerceContext) -> Cell:
    parsed = coerce(cell.text, scaled_by_name(column), context=replace(context, note=line.note))
    span = Span(document.id, cell.start, cell.end, document.page_at(cell.start))
    why = f"line {line.label!r}" + (f"; {parsed.rationale}" if parsed.rationale else "")
    return Cell(
        column.name, parsed.value, cell.text, Grounding.EXACT, span, parsed.unit or parsed.currency, parsed.scale,
        parsed.absence, parsed.detail, why,
    )  # fmt: skip


def _header(document: Document, column: Column, statement: Statement, period: Period, cell: TableCell) -> Cell:
    start, end = printed_header(document, statement, period, cell)
    value = period.year if column.type in (ColumnType.INTEGER, ColumnType.NUMBER) else str(period.year)
    printed = document.text[start:end]
    grounding = Grounding.EXACT if printed == str(period.year) else Grounding.DERIVED
    span = Span(document.id, start, end, document.page_at(start))
    return Cell(column.name, value, printed, grounding, span, rationale="the header of the amount's column")


def document_cells(columns: Sequence[Column], filing: Sequence[Column], document: Document) -> tuple[Cell, ...]:
    """The cells that hold for a whole filing and that its layout states: its own period, and captioned values."""
    cells = [cell for column in filing if (cell := _filing_cell(column, document)) is not None]
    captions = captions_in(document.text)
    for column in columns:
        caption = captioned(column, captions)
        if caption is None:
            continue
        cells.append(_printed_cell(column, document, caption.start, caption.end, f"captioned {caption.words!r}"))
    return tuple(cells)


def _printed_cell(column: Column, document: Document, start: int, end: int, why: str) -> Cell:
    if names_organisation(column) and not keeps_legal_form(column):
        part = common_name(document.text[start:end], document.name)
        start, end = start + part[0], start + part[1]
    printed = document.text[start:end]
    span = Span(document.id, start, end, document.page_at(start))
    return Cell(column.name, printed, printed, Grounding.EXACT, span, rationale=why)


def with_common_name(column: Column, cell: Cell, document: Document) -> Cell:
    """A company's name that the model copied, as the company is called."""
    if cell.span is None or cell.absence is not None or not names_organisation(column) or keeps_legal_form(column):
        return cell
    if document.text[cell.span.start : cell.span.end] != cell.value:
        return cell
    short = _printed_cell(column, document, cell.span.start, cell.span.end, "the name without its legal form")
    return replace(short, call_id=cell.call_id, model=cell.model, prompt_hash=cell.prompt_hash)


def _filing_cell(column: Column, document: Document) -> Cell | None:
    """Year or last day of the period that a filing covers: as its cover states it, else its newest printed year."""
    found = stated_period(document.text[:_COVER])
    if found is not None:
        period, (start, end) = found[0], found[1:]
        if column.type is not ColumnType.DATE:
            start, end = period.start, period.stop
    else:
        newest = _newest(document)
        if newest is None or (column.type is ColumnType.DATE and not newest[0].end):
            return None
        period, (start, end) = newest
    value = period.end if column.type is ColumnType.DATE else period.year
    if column.type is ColumnType.TEXT:
        value = str(period.year)
    printed = document.text[start:end]
    grounding = Grounding.EXACT if printed == str(value) or column.type is ColumnType.DATE else Grounding.DERIVED
    span = Span(document.id, start, end, document.page_at(start))
    return Cell(column.name, value, printed, grounding, span, rationale="the period that the document covers")


def _newest(document: Document) -> tuple[Period, tuple[int, int]] | None:
    for statement in statements_of(document):
        annual = [p for p in statement.periods if p.annual]
        if annual:
            newest = max(annual, key=lambda p: p.year)
            cell = next((line.cells[newest] for line in statement.lines if newest in line.cells), None)
            if cell is not None:
                return newest, printed_header(document, statement, newest, cell)
    return None
