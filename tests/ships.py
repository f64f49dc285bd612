"""The ships and towns of the world: long prose with a value here and there (`truth` says which),
and what reads them for a query, from the segments that it is sent alone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sliders.api import Workspace
from sliders.documents import Document
from sliders.engine import DocumentPart, ExtractionCall, LocalRunner, Session
from sliders.errors import BudgetExceeded
from sliders.extraction import Absence, Asked, Cell, Extraction, Grounding, Row, Span
from sliders.llm import Model
from sliders.llm.testing import ScriptedModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType, Scalar

NUMBER, INTEGER = ColumnType.NUMBER, ColumnType.INTEGER
PROSE = (
    "The weather was dull that week and nobody came to see it. A long road leads past the mill to "
    "the harbour. Some said that the old bridge would be closed again in spring. Music was heard "
    "from the square until late. "
)
PORTS = ("Arden", "Brill", "Corfe", "Diss", "Eye")
SHIPS = Table(
    "ships",
    (
        Column("ship", description="name of the vessel"),
        Column("port", description="home port, the town"),
        Column("length", INTEGER, "how long she measures in metres"),
        Column("launched", INTEGER, "year in which she was launched"),
    ),
    row="a vessel",
    grain="document",
)
TOWNS = Table(
    "towns",
    (
        Column("town", description="name of the municipality"),
        Column("population", INTEGER, "number of people"),
    ),
    row="a municipality",
    grain="document",
)
_PRINTED = {
    ("ships", "ship"): r"vessel (\w+)",
    ("ships", "port"): r"home port is the town of (\w+)",
    ("ships", "length"): r"measures (\d+) metres",
    ("ships", "launched"): r"in the year (\d+)",
    ("towns", "town"): r"municipality of (\w+)",
    ("towns", "population"): r"population is (\d+)",
}


def truth(number: int) -> dict[str, Scalar]:
    """What a ship's document states."""
    return {
        "ship": f"Nautilus{number}",
        "port": PORTS[number % len(PORTS)],
        "length": 20 + number,
        "launched": 1900 + number if number % 3 else None,
    }


def ship_text(number: int) -> str:
    """A document about a ship: name, port, length and year at fixed places, prose between them."""
    told = truth(number)
    year = (
        f"She was launched in the year {told['launched']}. "
        if told["launched"]
        else "Nobody knows when she was launched. "
    )
    return (
        f"The vessel {told['ship']} is described here.\n\n{PROSE}\n\n"
        f"Her home port is the town of {told['port']}.\n\n{PROSE}\n\n"
        f"She measures {told['length']} metres in length.\n\n{PROSE}\n\n{year}\n"
    )


def town_text(name: str, people: int) -> str:
    """A document about a town."""
    return (
        f"The municipality of {name} lies on a hill.\n\n{PROSE}\n\n"
        f"Its population is {people} people.\n\n{PROSE}\n"
    )


Places = Sequence[tuple[int, int]]


class SegmentReader(LocalRunner):
    """Finds the values of ships and towns, only in the segments that it is sent. `limit` is a
    budget in calls; `delay` lets others run; `absence` is why what it finds does not enter.
    """

    def __init__(
        self,
        limit: int | None = None,
        delay: bool = False,
        absence: Absence | None = None,
    ) -> None:
        self.absence = absence
        self.calls: list[tuple[str, tuple[str, ...]]] = []
        self.characters = 0
        self._limit, self._delay = limit, delay

    def of(self, ws: Workspace) -> Session:
        """The session of a workspace whose documents this one reads."""
        return replace(ws.session, runner=self)

    def frame_tokens(self, model: Model) -> int:
        return 0

    async def read(
        self, reading: ExtractionCall, model: Model, second: Model | None = None
    ) -> list[Extraction]:
        """The cells of each document that its places show; chunks are the model's to read."""
        if not reading.parts[0].pieces:
            return await super().read(reading, model, second)
        return [await self.one(part, reading) for part in reading.parts]

    async def one(self, part: DocumentPart, reading: ExtractionCall) -> Extraction:
        """What one part gives."""
        if self._limit is not None and len(self.calls) >= self._limit:
            raise BudgetExceeded("the limit of calls is reached")
        if self._delay:
            await asyncio.sleep(0)
        (asked,) = reading.asked
        self.calls.append((part.document.name, tuple(c.name for c in asked.columns)))
        self.characters += sum(end - start for start, end in part.pieces)
        return one_row(
            part,
            asked,
            [self.cell(part.document, asked.table, c, part.pieces) for c in asked.columns],
        )

    def cell(self, document: Document, table: Table, column: Column, places: Places) -> Cell:
        """A value that the places show, or that there is none."""
        pattern = _PRINTED.get((table.name, column.name)) or _PRINTED.get(
            ("ships", column.name), r"(?!x)x"
        )
        for match in re.finditer(pattern, document.text):
            if any(start <= match.start() and match.end() <= end for start, end in places):
                words = match.group(1)
                value: Scalar = int(words) if column.type in (INTEGER, NUMBER) else words
                return Cell(
                    column.name,
                    value,
                    words,
                    Grounding.EXACT,
                    Span(document.id, *match.span(1)),
                    absence=self.absence,
                )
        return Cell(column.name, absence=Absence.NOT_STATED)


def one_row(part: DocumentPart, asked: Asked, cells: Sequence[Cell]) -> Extraction:
    """What a part gives in which these cells are found."""
    chunk = part.chunk
    return Extraction(
        chunk.id, (Row("", asked.table.name, chunk.document_id, chunk.id, 0, tuple(cells)),)
    )


def workspace_of_ships(
    folder: Path, ships: int = 20, towns: bool = False, schema: bool = True
) -> Workspace:
    """A workspace of ships, with towns beside them on request."""
    ws = Workspace(
        folder / "w.db", model=ScriptedModel({}, context_tokens=16_000), embedder=HashEmbedder()
    )
    for number in range(ships):
        ws.add_text(ship_text(number), f"ship_{number:02}.txt")
    for number, town in enumerate(PORTS if towns else ()):
        ws.add_text(town_text(town, 1000 * (number + 1)), f"town_{town}.txt")
    if schema:
        ws.session.catalog.schemas.save(Schema((SHIPS, TOWNS) if towns else (SHIPS,)), "test")
    return ws
