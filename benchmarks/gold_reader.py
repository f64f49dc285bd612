"""A model double that knows the gold tables: it finds a value only in a segment that holds it,
and counts every token.

A document holds a value where a printed form of it stands; a value of which no printed form is
found is held by the segment nearest to the attribute's name. So retrieval that misses the segment
costs recall, as it would with a model.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sliders.api import Workspace
from sliders.documents import Document
from sliders.engine import ExtractionCall, LocalRunner, Session, description_vector
from sliders.extraction import Absence, Cell, Extraction, Grounding, Row, Span
from sliders.llm import Model
from sliders.retrieval import SegmentIndex
from sliders.schema import Column, Table
from sliders.values import Scalar

_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_SHORT = 2
Place = tuple[int, int]
Gold = Mapping[tuple[str, str, str], Scalar]
"""Value by table, document name and column."""


class GoldReader(LocalRunner):
    """See the module; a call costs nothing beside its segments."""

    def __init__(
        self,
        gold: Gold,
        index: SegmentIndex,
        names: Mapping[str, str],
        holders: dict[tuple[str, str, str], dict[int, Place]] | None = None,
    ) -> None:
        self.gold, self.segments, self.names = gold, index, names
        self.tokens = 0
        self.calls = 0
        self._holders = {} if holders is None else holders

    def of(self, workspace: Workspace) -> Session:
        """The session of a workspace whose documents this one reads."""
        return replace(workspace.session, runner=self)

    def frame_tokens(self, model: Model) -> int:
        return 0

    async def read(
        self, reading: ExtractionCall, model: Model, second: Model | None = None
    ) -> list[Extraction]:
        (asked,), found = reading.asked, []
        for part in reading.parts:
            cells = self.cells(part.document, asked.table, asked.columns, part.pieces)
            row = Row("", asked.table.name, part.document.id, part.chunk.id, 0, cells)
            found.append(Extraction(part.chunk.id, (row,)))
        return found

    def cells(
        self, document: Document, table: Table, columns: Sequence[Column], places: Sequence[Place]
    ) -> tuple[Cell, ...]:
        """What one call finds in segments of a document."""
        spans = self.segments.entries[document.id].spans.tolist()
        rows = {(start, end): (row, tokens) for row, (start, end, tokens) in enumerate(spans)}
        sent = [rows[place] for place in places]
        self.tokens += sum(size for _, size in sent)
        self.calls += 1
        segments = [row for row, _ in sent]
        return tuple(self._cell(document, table, column, segments) for column in columns)

    def _cell(self, document: Document, table: Table, column: Column, rows: Sequence[int]) -> Cell:
        value = self.gold.get((table.name, self.names[document.id], column.name))
        if value is None:
            return Cell(column.name, absence=Absence.NOT_STATED)
        holders = self.holders(document, table, column, value)
        for row in rows:
            if row in holders:
                start, end = holders[row]
                return Cell(
                    column.name,
                    value,
                    document.text[start:end],
                    Grounding.EXACT,
                    Span(document.id, start, end),
                )
        return Cell(column.name, absence=Absence.NOT_STATED)

    def holders(
        self, document: Document, table: Table, column: Column, value: Scalar
    ) -> dict[int, Place]:
        """Segments that hold a value, with its place."""
        key = (document.id, table.name, column.name)
        if key not in self._holders:
            self._holders[key] = self._find(document, table, column, value)
        return self._holders[key]

    def _find(
        self, document: Document, table: Table, column: Column, value: Scalar
    ) -> dict[int, Place]:
        spans = self.segments.entries[document.id].spans.tolist()
        found: dict[int, Place] = {}
        for form in printed_forms(value):
            pattern = r"\s+".join(map(re.escape, form.split()))
            for match in re.finditer(rf"(?<!\w){pattern}(?!\w)", document.text, re.IGNORECASE):
                row = next(
                    (n for n, (start, end, _) in enumerate(spans) if start <= match.start() < end),
                    None,
                )
                if row is not None:
                    found.setdefault(row, (match.start(), min(match.end(), spans[row][1])))
        query = description_vector(self.segments.embedder, table, column)
        nearness = self.segments.vectors(document.id) @ query
        if not found:
            row = int(nearness.argmax())
            return {row: (spans[row][0], spans[row][0] + 1)}
        if len(str(value)) <= _SHORT:
            row = max(found, key=lambda n: float(nearness[n]))
            return {row: found[row]}
        return found


def printed_forms(value: Scalar) -> list[str]:
    """How a value may be printed."""
    text = str(value)
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        day = dt.date.fromisoformat(text)
        month, short = day.strftime("%B"), day.strftime("%b")
        forms = [text]
        for name in (month, short, short + "."):
            forms += [
                f"{day.day} {name} {day.year}",
                f"{name} {day.day}, {day.year}",
                f"{name} {day.day} , {day.year}",
            ]
        return forms
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        number = int(value) if float(value).is_integer() else value
        forms = [str(number), f"{number:,}"]
        return forms + (
            [_WORDS[number]] if isinstance(number, int) and 0 <= number < len(_WORDS) else []
        )
    return [text]


def as_values(column: Sequence[str]) -> tuple[str, list[Scalar]]:
    """Type and values of a CSV column: integer, number, date or text; an empty field is null."""
    filled = [text for text in column if text]
    if filled and all(re.fullmatch(r"-?\d+(\.0)?", text) for text in filled):
        return "integer", [int(float(text)) if text else None for text in column]
    if filled and all(re.fullmatch(r"-?\d+\.\d+", text) for text in filled):
        return "number", [float(text) if text else None for text in column]
    if filled and all(re.fullmatch(r"\d{4}-\d\d-\d\d", text) for text in filled):
        return "date", [text or None for text in column]
    return "text", [text or None for text in column]


__all__ = ["GoldReader", "as_values", "printed_forms"]
