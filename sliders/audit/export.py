"""Export: the audit database, and the data tables as CSV, Parquet and Excel files."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sliders.answer.result_shape import no_formula
from sliders.audit.seal import key_of
from sliders.audit.workbook import NO_TABLES, typed, types_of
from sliders.errors import SettingsError, StoreError
from sliders.schema.types import ColumnType
from sliders.sql.connect import connect
from sliders.store.catalog import Catalog
from sliders.store.database import Database
from sliders.store.file import SqliteFile
from sliders.store.records import ExportFormat, Relation

_SUFFIXES: dict[str, ExportFormat] = {
    ".db": "sqlite",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".xlsx": "excel",
}


def export(
    catalog: Catalog, target: Path, format: ExportFormat | None = None, sign: Path | None = None
) -> list[Path]:
    """Exports a workspace, and returns the paths of the files.

    Args:
        target: a file (audit database, Excel) or a folder (CSV, Parquet).
        format: the format; when left out, it follows from the suffix of `target`.
        sign: the file with the key that signs an audit database.

    Raises:
        SettingsError: the format is unclear or has no signature, its extra is not installed, or the
            key is too short.
        StoreError: a file cannot be written, or exists and is no earlier export.
    """
    chosen = format or _SUFFIXES.get(target.suffix.lower())
    key = b"" if sign is None else key_of(sign)
    if chosen == "sqlite":
        return [export_audit(catalog, target, key)]
    if chosen == "datasette":
        return export_datasette(catalog, target, key)
    if key:
        raise SettingsError("only an audit database is signed; export to a file that ends in .db")
    if chosen == "excel":
        return [export_excel(catalog, target)]
    if chosen in ("csv", "csv-safe"):
        return export_csv(catalog, target, no_formulas=chosen == "csv-safe")
    if chosen == "parquet":
        return export_parquet(catalog, target)
    raise SettingsError(
        f"{str(target)!r} does not say its format; name it: --format sqlite, csv, parquet or excel"
    )


def export_audit(catalog: Catalog, path: str | Path, key: bytes = b"") -> Path:
    """Writes the audit database, and returns its path. It is one plain SQLite file for Datasette,
    DB Browser or pandas; an earlier one is replaced.

    The data tables have their own names; documents, chunks, cells, calls and decisions are in
    tables named `audit_...`, joined by foreign keys; the view `audit_evidence` shows each value
    with its quote, document and page.

    Args:
        key: the key that the file is signed with (see `seal`); b"" for no signature.

    Raises:
        StoreError: the path is the workspace itself or a file that is no audit database, or cannot
            be written.
    """
    from sliders.audit.audit_file import write_audit  # it brings pandas along, which takes a second

    target = Path(path)
    source = catalog.database.path
    if source is not None and target.exists() and os.path.samefile(target, source):
        raise StoreError(f"{str(target)!r} is the workspace itself; export to another file")
    if not target.parent.is_dir():
        raise StoreError(f"the folder of {str(target)!r} does not exist; create it first")
    _only_replace(target, _is_audit)
    unfinished = target.with_name(target.name + ".part")
    try:
        unfinished.unlink(missing_ok=True)
        write_audit(catalog, unfinished, _current(catalog), key)
        os.replace(unfinished, target)
    except (sqlite3.Error, UnicodeEncodeError) as error:
        raise SqliteFile(target, write=True).sentence(error) from error
    except OSError as error:
        raise StoreError(
            f"{str(target)!r} cannot be written: {error.strerror}; choose another place"
        ) from error
    finally:
        for rest in (unfinished, unfinished.with_name(unfinished.name + "-journal")):
            with contextlib.suppress(OSError):
                rest.unlink(missing_ok=True)
    return target


def export_datasette(catalog: Catalog, path: Path, key: bytes = b"") -> list[Path]:
    """Writes the audit database and, beside it, the metadata with which Datasette shows titles,
    units, facets and a query for each question. Returns both paths.

    Raises:
        StoreError: as `export_audit`, or the metadata cannot be written.
    """
    from sliders.audit.datasette_metadata import datasette_metadata, metadata_path

    database = export_audit(catalog, path, key)
    with contextlib.closing(connect(database.resolve().as_uri())) as written:
        listed = written.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE 'audit\\_%' ESCAPE '\\'"
        )
        hidden = [name for (name,) in listed]
    target = metadata_path(database)
    _only_replace(target, lambda old: old.read_text(encoding="utf-8").startswith("title: "))
    with _writing(target):
        target.write_text(datasette_metadata(catalog, database, hidden), encoding="utf-8")
    return [database, target]


def _current(catalog: Catalog) -> Iterator[Relation]:
    return (
        relation for relation in catalog.schemas.relations() if relation.current_version is not None
    )


def export_csv(catalog: Catalog, folder: str | Path, *, no_formulas: bool = False) -> list[Path]:
    """Writes a UTF-8 CSV file for each data table, and returns the paths. `no_formulas` puts a '
    before text that a spreadsheet would take for a formula.

    Raises:
        StoreError: a file cannot be written.
    """
    paths = []
    for path, _, columns, rows in _files(catalog, folder, ".csv", _is_csv_export):
        with _writing(path), path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(map(no_formula, row) if no_formulas else row for row in rows)
        paths.append(path)
    return paths


def export_parquet(catalog: Catalog, folder: str | Path) -> list[Path]:
    """Writes a Parquet file for each data table, and returns the paths.

    Raises:
        SettingsError: the extra is not installed.
        StoreError: a file cannot be written.
    """
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise SettingsError(
            "Parquet needs pyarrow; install it with: pip install 'sliders[export]'"
        ) from error

    def is_export(old: Path) -> bool:
        return "row_id" in parquet.read_schema(old).names

    paths = []
    for path, relation, names, rows in _files(catalog, folder, ".parquet", is_export):
        kinds = types_of(catalog, relation)
        values = list(zip(*rows, strict=True)) or [()] * len(names)
        arrays = [
            _array(arrow, data, kinds.get(name)) for name, data in zip(names, values, strict=True)
        ]
        with _writing(path):
            parquet.write_table(arrow.table(arrays, names=list(names)), path)
        paths.append(path)
    return paths


def _array(arrow: Any, data: tuple[Any, ...], kind: ColumnType | None) -> Any:
    """A column of a Parquet file in the schema's type; as text when one of its values is of another
    type.
    """
    types = {
        ColumnType.INTEGER: arrow.int64(),
        ColumnType.NUMBER: arrow.float64(),
        ColumnType.BOOLEAN: arrow.bool_(),
        ColumnType.DATE: arrow.date32(),
        ColumnType.DATETIME: arrow.timestamp("us"),
    }
    if kind in types:
        with contextlib.suppress(arrow.ArrowInvalid, arrow.ArrowTypeError):
            return arrow.array([typed(value, kind) for value in data], types[kind])
    return arrow.array([None if value is None else str(value) for value in data], arrow.string())


def export_excel(catalog: Catalog, path: str | Path) -> Path:
    """Writes a workbook, and returns its path: a sheet for each data table, and the sheets
    "evidence", "documents" and "completeness". Doubted values are coloured. Texts stay texts and
    never become formulas.

    Raises:
        SettingsError: the extra is not installed.
        StoreError: a table has more rows than a sheet, or the file cannot be written.
    """
    try:
        from openpyxl import Workbook, load_workbook
    except ImportError as error:
        raise SettingsError(
            "Excel needs openpyxl; install it with: pip install 'sliders[export]'"
        ) from error
    from sliders.audit.workbook import write_tables

    target = Path(path)

    def is_export(path: Path) -> bool:
        return _is_book_export(load_workbook(io.BytesIO(path.read_bytes()), read_only=True))

    _only_replace(target, is_export)
    workbook = Workbook(write_only=True)
    write_tables(catalog, workbook)
    book = io.BytesIO()
    workbook.save(book)
    with _writing(target):
        target.write_bytes(book.getbuffer())
    return target


def _only_replace(path: Path, is_export: Callable[[Path], bool]) -> None:
    """Checks that a path is free or holds an earlier export: a document, or a workspace with paid
    work, must not be overwritten.

    Raises:
        StoreError: the path holds something else.
    """
    if not path.exists() or not path.stat().st_size:
        return
    try:
        ours = path.is_file() and is_export(path)
    except (StoreError, OSError, ValueError, LookupError, csv.Error, zipfile.BadZipFile):
        ours = False  # it is not even of this format
    if not ours:
        raise StoreError(
            f"{str(path)!r} exists and is no earlier export; delete it, or choose another name"
        )


def _is_audit(path: Path) -> bool:
    with Database(path, write=False) as database:
        return bool(database.value("SELECT count(*) FROM sqlite_master WHERE name = 'audit_meta'"))


def _is_csv_export(path: Path) -> bool:
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file), [])[-1:] == ["row_id"]


def _is_book_export(book: Any) -> bool:
    first = book.worksheets[0]
    return first.title == NO_TABLES or "row_id" in next(first.iter_rows(values_only=True), ())


def _files(
    catalog: Catalog, folder: str | Path, suffix: str, is_export: Callable[[Path], bool]
) -> Iterator[tuple[Path, Relation, tuple[str, ...], Iterator[tuple[Any, ...]]]]:
    """Yields for each data table the file to write, the columns and the rows."""
    for relation in _current(catalog):
        with _writing(Path(folder)):
            Path(folder).mkdir(parents=True, exist_ok=True)
        safe = re.sub(r'[<>:"/\\|?*\x00-\x1f]', "_", relation.relation).strip(". ") or "table"
        path = Path(folder) / f"{safe}{suffix}"
        _only_replace(path, is_export)
        yield path, relation, *catalog.tables.read(relation.name)


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{str(path)!r} cannot be written: {error.strerror}; choose another place"
        ) from error
