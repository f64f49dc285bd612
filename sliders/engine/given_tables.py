"""Tables that the user gives with their rows (a CSV, Excel or Parquet file, a pandas frame). They
can be joined in SQL and in questions. No model reads them, and each value is cited as words of its
file.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sliders.documents.document import GIVEN, Document, Element, TableCell, TableGrid
from sliders.documents.separated import separated_values
from sliders.engine.session import Session
from sliders.engine.table_stages import settle_tables
from sliders.errors import DocumentError, SchemaError, SettingsError
from sliders.extraction.cell import Absence, Cell, Grounding, Row, Scalar, Span
from sliders.progress import counted
from sliders.retrieval.chunk import Chunk, ChunkContext
from sliders.schema.names import free_name, snake_name
from sliders.schema.types import Column, ColumnType, Schema, Table
from sliders.store.records import Task
from sliders.values.digits import DecimalMark, infer_decimal, read_digits

if TYPE_CHECKING:
    import pandas as pd

_WHOLE = re.compile(r"[+-]?(?:0|[1-9]\d{0,17})")
_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_SEPARATED = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:[.,]\d+)*")
_TRUTHS = {"true": True, "false": False}
_BETWEEN = " | "


@dataclass(frozen=True, slots=True)
class GivenTable:
    """A table that was added: its name, its rows, the outcome ("new", "same" or "changed"), and
    what the reader of its file has to tell.
    """

    name: str
    rows: int
    outcome: str
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        rows = counted(self.rows, "row")
        return "; ".join([f"{self.name}: {rows} ({self.outcome})", *self.warnings])


def frames_of(path: Path) -> dict[str, pd.DataFrame]:
    """Returns the tables of a file, by name: one table of a CSV or Parquet file, a table for each
    sheet of a workbook.

    Raises:
        SettingsError: the file cannot be read, or is of another kind.
    """
    import pandas as pd

    suffix = path.suffix.lower()
    try:
        if suffix in (".xlsx", ".xlsm"):
            sheets = pd.read_excel(path, sheet_name=None, dtype=object)
            filled = {name: sheet for name, sheet in sheets.items() if len(sheet.columns)}
            return filled if len(filled) > 1 else dict.fromkeys([path.stem], *filled.values())
        if suffix == ".parquet":
            return {path.stem: pd.read_parquet(path)}
        if suffix in (".csv", ".tsv"):
            return {path.stem: separated_frame(path)}
    except ImportError as error:
        raise SettingsError(
            f"{str(path)!r} needs pyarrow and openpyxl; install them with: "
            "pip install 'sliders[export]'"
        ) from error
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{str(path)!r} cannot be read as a table: {error}; correct it, or save it again"
        ) from error
    raise SettingsError(
        f"{str(path)!r} is no table that is read; give CSV, TSV, Excel (.xlsx), Parquet or a frame"
    )


def separated_frame(path: Path) -> pd.DataFrame:
    """Returns the rows of a file of separated values, all values as text, read as a document is;
    `attrs["warnings"]` is what its reader tells.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is no table.
    """
    import pandas as pd

    try:
        values = separated_values(path.read_bytes(), path.name)
    except DocumentError as error:
        raise ValueError(str(error)) from error
    names, lines = values.rows[0], values.rows[1:]
    width = len(names)
    for number, line in enumerate(lines, 1):
        if any(cell.strip() for cell in line[width:]):
            raise ValueError(f"row {number} has {len(line)} values, the header {width} names")
    frame = pd.DataFrame([[*line, *[""] * width][:width] for line in lines], columns=names)
    frame.attrs["warnings"] = values.warnings
    return frame


async def add_tables(
    session: Session, source: pd.DataFrame | str | os.PathLike[str], name: str = ""
) -> list[GivenTable]:
    """Adds the tables of a file, or one frame.

    Raises:
        SettingsError: the file cannot be read, or a frame has no name.
        SchemaError: the schema has a table of that name that is read from documents.
    """
    if not isinstance(source, str | os.PathLike):
        if not name:
            raise SettingsError("a frame has no name; give one: add_table(frame, name='vendors')")
        return [await add_table(session, source, name)]
    frames = frames_of(Path(source))
    if name and len(frames) == 1:
        frames = dict.fromkeys([name], *frames.values())
    return [
        await add_table(session, frame, named, Path(source).name) for named, frame in frames.items()
    ]


async def add_table(
    session: Session, frame: pd.DataFrame, name: str, file: str = "frame"
) -> GivenTable:
    """Adds a table with its rows. It replaces a table of that name that the user gave earlier.

    Args:
        name: the name of the table in SQL.
        file: the name of the file with the rows.

    Raises:
        SettingsError: the frame has no columns or no rows.
        SchemaError: the schema has a table of that name that is read from documents.
    """
    named = snake_name(name) or "table"
    standing = session.schema
    if any(t.name == named and not t.given for t in standing.tables):
        raise SchemaError(
            f"the schema has a table {named!r} that is read from documents; give another name"
        )
    if not len(frame.columns) or frame.empty:
        raise SettingsError(f"table {named!r} has no columns or no rows; nothing was added")
    columns, lines = _printed(frame)
    filled = [[line[n] for line in lines if line[n]] for n in range(len(columns))]
    kinds, marks = list(map(_kind, filled)), list(map(_mark, filled))
    listed = tuple(Column(c, k, pinned=True) for c, k in zip(columns, kinds, strict=True))
    table = Table(named, listed, row=f"a row of {named}", pinned=True, given=True)
    warnings = tuple(frame.attrs.get("warnings", ()))
    document, cells = _document(table, lines, file, warnings)
    with session.catalog.database.transaction():
        added = session.catalog.documents.add(document, lambda _: True)
        session.catalog.schemas.save(
            Schema((*(t for t in standing.tables if t.name != named), table)),
            f"table {named} given",
        )
        if added.outcome != "same":
            _save(session, table, document, cells, marks)
    await settle_tables(session, tables=[named])
    return GivenTable(named, len(lines), added.outcome, warnings)


def _printed(frame: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, each once, and the values as they are printed."""
    names: list[str] = []
    for number, column in enumerate(frame.columns, 1):
        name = " ".join(str(column).split()) or f"column_{number}"
        names.append(name + free_name(name.lower(), [n.lower() for n in names])[len(name) :])
    gone = frame.isna().to_numpy()
    lines = [
        ["" if empty else _words(value) for value, empty in zip(row, missing, strict=True)]
        for row, missing in zip(frame.astype(object).to_numpy(), gone, strict=True)
    ]
    return names, lines


def _words(value: Any) -> str:
    if isinstance(value, datetime):
        whole = value.time() == datetime.min.time()
        return value.date().isoformat() if whole else value.isoformat(timespec="seconds")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return " ".join(str(value).split())


def _kind(filled: Sequence[str]) -> ColumnType:
    """The narrowest type of all values; a number with leading zeros is a text."""
    if not filled:
        return ColumnType.TEXT
    if all(_WHOLE.fullmatch(words) for words in filled):
        return ColumnType.INTEGER
    if all(_NUMBER.fullmatch(words) for words in filled) or _mark(filled):
        return ColumnType.NUMBER
    if all(words.lower() in _TRUTHS for words in filled):
        return ColumnType.BOOLEAN
    if all(_moment(words) is not None for words in filled):
        days = all(len(words) == len("2000-01-01") for words in filled)
        return ColumnType.DATE if days else ColumnType.DATETIME
    return ColumnType.TEXT


def _mark(filled: Sequence[str]) -> DecimalMark:
    """The decimal mark of numbers of which some have separators ("1.234,5"); "" where they do not
    show it, or are no numbers.
    """
    if not all(_SEPARATED.fullmatch(words) for words in filled):
        return ""
    mark = infer_decimal("\n".join(words.lstrip("+-") for words in filled), least=1)
    return mark if mark and all(_number(words, mark) is not None for words in filled) else ""


def _number(words: str, mark: DecimalMark) -> float | None:
    read = read_digits(words.lstrip("+-"), decimal=mark)
    return None if read is None else float(-read if words[0] == "-" else read)


def _moment(words: str) -> datetime | None:
    try:
        return datetime.fromisoformat(words) if len(words) >= len("2000-01-01") else None
    except ValueError:
        return None


def _value(words: str, kind: ColumnType, mark: DecimalMark) -> Scalar:
    match kind:
        case ColumnType.INTEGER:
            return int(words)
        case ColumnType.NUMBER:
            return _number(words, mark) if mark else float(words)
        case ColumnType.BOOLEAN:
            return _TRUTHS[words.lower()]
        case _:
            return words


def _document(
    table: Table, lines: Sequence[Sequence[str]], file: str, warnings: tuple[str, ...]
) -> tuple[Document, list[list[TableCell]]]:
    """Returns the table as a document with a line for each row, and the place of every cell. The
    name of the document ends in the table's name, since the file itself may be a document too; its
    source is the table's name.
    """
    text = _BETWEEN.join(table.column_names) + "\n"
    parts, grid, offset, starts = [text], list[list[TableCell]](), len(text), list[int]()
    for line in lines:
        starts.append(offset)
        placed = []
        for words in line:
            placed.append(TableCell(words, offset, offset + len(words)))
            offset += len(words) + len(_BETWEEN)
        offset += 1 - len(_BETWEEN)
        grid.append(placed)
        parts.append(_BETWEEN.join(line) + "\n")
    text = "".join(parts)
    element = Element(
        *("table", 0, len(text), 0, None),
        TableGrid(table.column_names, tuple(map(tuple, grid))),
        tuple(starts),
    )
    identity = hashlib.sha256(f"{table.name}\x1f{text}".encode("utf-8", "surrogatepass"))
    document = Document(
        *(identity.hexdigest()[:16], f"{file}#{table.name}", text),
        *(table.name, (element,), ()),
        media_type=GIVEN,
        source=f"table:{table.name}",
        warnings=warnings,
    )
    return document, grid


def _save(
    session: Session,
    table: Table,
    document: Document,
    grid: Sequence[Sequence[TableCell]],
    marks: Sequence[DecimalMark],
) -> None:
    """Stores the rows: every value is the words of its cell."""
    chunk = Chunk(
        *(f"{document.id}/0", document.id, 0, 0, len(document.text), document.text, 0),
        ChunkContext(document.title),
    )
    session.catalog.chunks.save(document.id, [chunk])
    rows = (
        Row(
            *(f"{document.id}-{number}", table.name, document.id, chunk.id, number),
            tuple(
                Cell(c.name, absence=Absence.NOT_STATED)
                if not cell.text
                else Cell(
                    *(c.name, _value(cell.text, c.type, mark), cell.text, Grounding.EXACT),
                    Span(document.id, cell.start, cell.end),
                )
                for c, cell, mark in zip(table.columns, line, marks, strict=True)
            ),
        )
        for number, line in enumerate(grid)
    )
    session.catalog.extractions.save(list(rows), [Task(table.name, table.column_names, chunk.id)])
    session.decide("documents", "table", "given", counted(len(grid), "row"), document=document.name)
